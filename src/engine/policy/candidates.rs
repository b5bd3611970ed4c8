//! Rules about single pages that decide whether a page may be a seed.

use super::rejection_reason::RejectionReason;
use seedbank_formats::ingest::{self, Patterns, SiteMode};
use seedbank_store::records::PageRecord;

/// Conditions on a page to be a seed.
#[derive(Default)]
pub(crate) struct Candidates {
    pub(super) exclude: Option<Patterns>,
    pub(super) only: Option<Patterns>,
    pub(super) from_graph: Option<Patterns>,
    /// Minimum quality, in ten-thousandths.
    pub(super) min_quality: u16,
    pub(super) mode: SiteMode,
}

/// Why a page may not be a seed, and the list line that rejects it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    pub(crate) by: RejectionReason,
    /// The line; `None` if the reason is not a line of a list.
    pub(crate) line: Option<String>,
}

impl Candidates {
    /// Whether every page may be a seed.
    pub(crate) const fn admit_all(&self) -> bool {
        self.exclude.is_none()
            && self.only.is_none()
            && self.from_graph.is_none()
            && self.min_quality == 0
    }

    /// Returns the pages that are excluded from the graph.
    pub(crate) const fn graph_exclusions(&self) -> Option<&Patterns> {
        self.from_graph.as_ref()
    }

    /// Whether a page is excluded from the graph.
    pub(crate) fn is_left_out(&self, site: &str, page: &PageRecord) -> bool {
        let Some(patterns) = &self.from_graph else {
            return false;
        };
        patterns.has(site, &ingest::url(site, &page.local, self.mode))
    }

    /// Whether a page may be a seed.
    pub(crate) fn admit(&self, site: &str, page: &PageRecord) -> bool {
        self.admit_all() || self.refusal(site, page).is_none()
    }

    /// Returns why a page may not be a seed; `None` if it may.
    pub(crate) fn refusal(&self, site: &str, page: &PageRecord) -> Option<Refusal> {
        if self.admit_all() {
            return None;
        }
        let url = ingest::url(site, &page.local, self.mode);
        let named = |by: RejectionReason, patterns: &Option<Patterns>| {
            let line = patterns.as_ref()?.find(site, &url)?;
            Some(Refusal {
                by,
                line: Some(line.to_owned()),
            })
        };
        let bare = |by: RejectionReason| Some(Refusal { by, line: None });
        if let Some(refusal) = named(RejectionReason::ExcludeFromGraph, &self.from_graph) {
            return Some(refusal);
        }
        if let Some(refusal) = named(RejectionReason::Exclude, &self.exclude) {
            return Some(refusal);
        }
        if self.only.as_ref().is_some_and(|only| !only.has(site, &url)) {
            return bare(RejectionReason::Only);
        }
        if self.min_quality > page.quality() {
            return bare(RejectionReason::MinQuality);
        }
        None
    }
}
