//! Rules about single pages that decide whether a page may be a seed.

use super::rejection_reason::RejectionReason;
use seedbank_algorithms::page::{PageId, PageSet};
use seedbank_formats::ingest::{self, Patterns, SiteMode};
use seedbank_store::records::PageRecord;
use seedbank_store::{Store, StoreError, tables};

/// Conditions on a page to be a seed.
#[derive(Default)]
pub(crate) struct Candidates {
    pub(super) exclude: Option<Patterns>,
    pub(super) only: Option<Patterns>,
    pub(super) exclude_from_graph: Option<Patterns>,
    /// Minimum quality, in ten-thousandths.
    pub(super) min_quality: u16,
    /// Number of consecutive failed fetches that rejects a page; 0 without a limit.
    pub(super) max_failures: u32,
    /// The pages with that many failed fetches; `None` if each is looked up.
    pub(super) failing: Option<PageSet>,
    /// A page that was fetched after this time is no seed; `None` without a limit.
    pub(super) rests_after: Option<u64>,
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
    pub(crate) fn allows_all(&self) -> bool {
        let none_fails = self.failing.as_ref().is_some_and(PageSet::is_empty);
        !self.depends_on_records() && (self.max_failures == 0 || none_fails)
    }

    /// Whether the conditions depend on the records of pages.
    pub(crate) const fn depends_on_records(&self) -> bool {
        self.has_lists() || self.min_quality > 0 || self.rests_after.is_some()
    }

    /// Whether the conditions depend on times of fetches.
    pub(crate) const fn depends_on_times(&self) -> bool {
        self.rests_after.is_some()
    }

    /// Whether a page was fetched too late to be a seed.
    fn rests(&self, page: &PageRecord) -> bool {
        let after = self.rests_after.zip(page.fetched);
        after.is_some_and(|(after, fetched)| fetched > after)
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

    /// Reads the pages with too many failed fetches, for conditions on many pages. Cost: one scan of all failed
    /// fetches, and none without a limit.
    pub(super) fn read_failing(&mut self, store: &Store) -> Result<(), StoreError> {
        let mut failing = PageSet::new();
        if self.max_failures > 0 {
            for entry in store.scan(&tables::FAILURES)? {
                let (page, failures) = entry?;
                if failures.count >= self.max_failures {
                    failing.insert(page.0);
                }
            }
        }
        self.failing = Some(failing);
        Ok(())
    }

    /// Returns the number of pages with too many failed fetches, if they were read.
    pub(crate) fn failing_pages(&self) -> u64 {
        self.failing.as_ref().map_or(0, PageSet::len)
    }

    /// Whether a page has too many failed fetches. Cost: one lookup, or none if the failing pages
    /// were read.
    pub(crate) fn is_failing(&self, store: &Store, page: PageId) -> Result<bool, StoreError> {
        if let Some(failing) = &self.failing {
            return Ok(failing.contains(page.0));
        }
        if self.max_failures == 0 {
            return Ok(false);
        }
        let failures = store.get(&tables::FAILURES, &page)?;
        Ok(failures.is_some_and(|failures| failures.count >= self.max_failures))
    }

    /// Whether a page may be a seed, given whether it [`is_failing`](Self::is_failing).
    pub(crate) fn allows(&self, site: &str, page: &PageRecord, is_failing: bool) -> bool {
        self.allows_all() || self.rejection(site, page, is_failing).is_none()
    }

    /// Returns why a page may not be a seed; `None` if it may.
    pub(crate) fn rejection(
        &self,
        site: &str,
        page: &PageRecord,
        is_failing: bool,
    ) -> Option<Rejection> {
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
        if is_failing {
            return bare(RejectionReason::MaxFailures);
        }
        if self.rests(page) {
            return bare(RejectionReason::Rest);
        }
        None
    }
}
