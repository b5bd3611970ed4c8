//! Rules about single pages that decide whether a page may be a seed.

use super::rejection_reason::RejectionReason;
use seedbank_formats::ingest::{self, Patterns, SiteMode};
use seedbank_store::records::PageRecord;

/// Conditions on a page to be a seed.
#[derive(Default)]
pub(crate) struct Candidates {
    pub(super) exclude: Option<Patterns>,
    pub(super) only: Option<Patterns>,
    pub(super) exclude_from_graph: Option<Patterns>,
    /// Minimum quality, in ten-thousandths.
    pub(super) min_quality: u16,
    pub(super) mode: SiteMode,
}

/// Why a page may not be a seed, and the list line that rejects it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Rejection {
    pub(crate) by: RejectionReason,
    /// The line; `None` if the reason is not a line of a list.
    pub(crate) line: Option<String>,
}

impl Candidates {
    /// Whether every page may be a seed.
    pub(crate) const fn allows_all(&self) -> bool {
        !self.has_lists() && self.min_quality == 0
    }

    /// Whether the conditions depend on URLs.
    pub(crate) const fn has_lists(&self) -> bool {
        self.exclude.is_some() || self.only.is_some() || self.exclude_from_graph.is_some()
    }

    /// Returns the pages that are excluded from the graph.
    pub(crate) const fn graph_exclusions(&self) -> Option<&Patterns> {
        self.exclude_from_graph.as_ref()
    }

    /// Whether a page is excluded from the graph.
    pub(crate) fn is_excluded(&self, site: &str, page: &PageRecord) -> bool {
        let Some(patterns) = &self.exclude_from_graph else {
            return false;
        };
        patterns.has(site, &ingest::url(site, &page.local, self.mode))
    }

    /// Whether a page may be a seed.
    pub(crate) fn allows(&self, site: &str, page: &PageRecord) -> bool {
        self.allows_all() || self.rejection(site, page).is_none()
    }

    /// Returns why a page may not be a seed; `None` if it may.
    pub(crate) fn rejection(&self, site: &str, page: &PageRecord) -> Option<Rejection> {
        if self.allows_all() {
            return None;
        }
        let url = ingest::url(site, &page.local, self.mode);
        let named = |by: RejectionReason, patterns: &Option<Patterns>| {
            let line = patterns.as_ref()?.find(site, &url)?;
            Some(Rejection {
                by,
                line: Some(line.to_owned()),
            })
        };
        let bare = |by: RejectionReason| Some(Rejection { by, line: None });
        if let Some(rejection) = named(RejectionReason::ExcludeFromGraph, &self.exclude_from_graph)
        {
            return Some(rejection);
        }
        if let Some(rejection) = named(RejectionReason::Exclude, &self.exclude) {
            return Some(rejection);
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
