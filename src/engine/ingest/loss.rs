//! Loss of pages and links by a batch. If it is too large, the batch is rejected: most likely a
//! delta was ingested as a snapshot, or the export lacks links.
//!
//! Two numbers are compared before and after the batch: that of all crawled pages, and that of the
//! links of pages that have a record in the batch and are crawled both before and after it. Both
//! are sums over pages, so they depend neither on the order of records nor on the number of
//! threads.

use roaring::RoaringTreemap;

use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::within_limit;
use seedbank_store::records::PageState;
use seedbank_store::{Store, tables};

/// A loss of fewer pages is always accepted.
const MIN_LOST_PAGES: u64 = 100;

/// A loss of fewer links is always accepted.
const MIN_LOST_LINKS: u64 = 1_000;

/// Loss by a batch, counted in the links pass.
#[derive(Default)]
pub(super) struct Loss {
    /// Change of the number of crawled pages.
    pages: i64,
    /// Links, before and after, of pages that stay crawled and whose links the batch replaces.
    links_before: u64,
    links_after: u64,
    /// Pages that stay crawled and whose records do not contain links. Their links do not change,
    /// and are counted only if the batch seems to lose too much.
    unchanged: RoaringTreemap,
}

/// The number of links in a record, and its change.
#[derive(Clone, Copy)]
pub(super) struct GivenLinks {
    pub(super) now: usize,
    pub(super) more: i64,
}

impl Loss {
    /// Counts a page with a record, or one that a snapshot omits. `links` is `None` if the page's
    /// links do not change.
    pub(super) fn count(
        &mut self,
        page: PageId,
        old: Option<PageState>,
        new: PageState,
        links: Option<GivenLinks>,
    ) {
        let was = old == Some(PageState::Crawled);
        let is = new == PageState::Crawled;
        self.pages += i64::from(is) - i64::from(was);
        if !(was && is) {
            return;
        }
        match links {
            Some(GivenLinks { now, more }) => {
                let now = now as u64;
                self.links_after += now;
                self.links_before += now.saturating_add_signed(-more);
            }
            None => {
                self.unchanged.insert(page.0);
            }
        }
    }

    /// Rejects the batch if it removes more than `limit` per cent.
    ///
    /// Cost: none, unless the batch seems to lose too much. Then the links of pages whose records
    /// do not contain links are read.
    pub(super) fn check(
        &self,
        store: &Store,
        pages_before: u64,
        limit: f64,
        snapshot: bool,
        watch: &dyn Watch,
    ) -> Result<()> {
        let pages_after = pages_before.saturating_add_signed(self.pages);
        let pages = is_too_much(pages_before, pages_after, MIN_LOST_PAGES, limit);
        let links = |more: u64| {
            let (before, after) = (self.links_before + more, self.links_after + more);
            is_too_much(before, after, MIN_LOST_LINKS, limit)
        };
        // Unchanged links can only reduce the lost share.
        if !pages && !links(0) {
            return Ok(());
        }
        let unchanged = self.links_of_unchanged(store, watch)?;
        if !pages && !links(unchanged) {
            return Ok(());
        }
        Err(EngineError::TooMuchLost {
            pages_before,
            pages_after,
            links_before: self.links_before + unchanged,
            links_after: self.links_after + unchanged,
            limit,
            snapshot,
        })
    }

    fn links_of_unchanged(&self, store: &Store, watch: &dyn Watch) -> Result<u64> {
        let mut links = 0;
        for page in &self.unchanged {
            watch.proceed()?;
            let page = PageId(page);
            let row = store.need(&tables::PAGES, &page)?.row;
            links += store.links_of(page, row)?.len() as u64;
        }
        Ok(links)
    }
}

/// Whether at least `min_lost` are lost, and more than `limit` per cent.
fn is_too_much(before: u64, after: u64, min_lost: u64, limit: f64) -> bool {
    let lost = before.saturating_sub(after);
    lost >= min_lost && !within_limit(lost, before, limit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_too_much_above_both_limits() {
        for (before, after, limit, too_much) in [
            (100, 1, 20.0, false),
            (100, 0, 20.0, true),
            (100, 0, 100.0, false),
            (500, 400, 20.0, false),
            (500, 399, 20.0, true),
            (500, 700, 0.0, false),
            (1_000_000, 999_900, 0.0, true),
            (0, 0, 0.0, false),
            (0, 5, 0.0, false),
        ] {
            let found = is_too_much(before, after, MIN_LOST_PAGES, limit);
            assert_eq!(found, too_much, "{before} to {after} at {limit} %");
        }
    }
}
