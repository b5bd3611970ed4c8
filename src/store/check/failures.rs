//! Check of the failed fetches of pages.

use super::Walk;
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::{Counters, PageState};

impl Walk<'_> {
    /// Compares failed fetches with their pages, and their number with that of the last batch.
    pub(super) fn failures(&mut self, counters: &Counters) -> Result<(), StoreError> {
        let mut pages = 0;
        self.walk(&tables::FAILURES, |walk, page, failures| {
            pages += 1;
            if failures.count == 0 || failures.since > failures.last {
                let what = "it has no failed fetch, or the last one is before the first";
                walk.find("failures", page, what);
            }
            match walk.store.get(&tables::PAGES, &page) {
                Ok(Some(record)) if record.state == PageState::Unlinked => {
                    walk.find("failures", page, "the page is unlinked");
                }
                Ok(Some(record)) if record.fetched.is_some_and(|at| at >= failures.since) => {
                    let what = "the last fetch of the page that did not fail is not before these";
                    walk.find("failures", page, what);
                }
                Ok(Some(_)) => {}
                Ok(None) => walk.require_page("failures", page, page),
                // The check of `pages` reports it.
                Err(e) if e.is_damage() => {}
                Err(e) => return Err(e),
            }
            Ok(())
        })?;
        let expected = match self.store.get(&tables::BATCHES, &counters.batch) {
            Ok(batch) => batch.map_or(0, |batch| batch.failing),
            // The check of `batches` reports it.
            Err(e) if e.is_damage() => return Ok(()),
            Err(e) => return Err(e),
        };
        if pages != expected {
            let what =
                format!("{pages} pages have failed fetches, but the last batch has {expected}");
            self.find("failures", "(all)", what);
        }
        Ok(())
    }
}
