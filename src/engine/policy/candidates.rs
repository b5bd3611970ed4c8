//! Whether a page may be a seed for its own sake.

use super::rejection_reason::RejectionReason;
use seedbank_formats::ingest::{self, Patterns, SiteMode};
use seedbank_store::records::PageRecord;

/// What a page must be to be a seed.
#[derive(Default)]
pub(crate) struct Candidates {
    pub(super) exclude: Option<Patterns>,
    pub(super) only: Option<Patterns>,
    pub(super) from_graph: Option<Patterns>,
    /// In ten-thousandths.
    pub(super) min_quality: u16,
    pub(super) mode: SiteMode,
}

/// Why a page may not be a seed, and the line of a list that says so.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refusal {
    pub(crate) by: RejectionReason,
    /// The line; `None` where no line names the page, or it is not about lists.
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

    /// Whether pages are left out of the graph.
    pub(crate) const fn graph_exclusions(&self) -> Option<&Patterns> {
        self.from_graph.as_ref()
    }

    /// Whether a page is left out of the graph.
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

    /// Why a page may not be a seed; `None` if it may.
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
