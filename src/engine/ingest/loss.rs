//! Loss of pages and links by a batch. If it is too large, the batch is rejected: most likely a
//! delta was ingested as a snapshot, or the export lacks links.
//!
//! Two numbers of the whole bank are compared before and after the batch: that of crawled pages, and
//! that of links. Both changes are sums over pages, so they depend neither on the order of records
//! nor on the number of threads.

use serde::{Deserialize, Serialize};

use crate::engine::error::{BatchLoss, SiteLoss};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::page::{PageId, SiteId};
use seedbank_formats::ingest::within_limit;
use seedbank_store::records::Counters;
use seedbank_store::{Store, tables};

/// A loss of fewer pages is always accepted.
const MIN_LOST_PAGES: u64 = 100;

/// A loss of fewer links is always accepted.
const MIN_LOST_LINKS: u64 = 1_000;

/// Maximum number of sites that an error names.
const MAX_SITES: usize = 5;

/// Change of the bank by a batch, counted in the links pass.
#[derive(Default, Serialize, Deserialize)]
pub(super) struct Loss {
    /// Change of the numbers of crawled pages and of links.
    pages: i64,
    links: i64,
    /// The site of the last page.
    #[serde(skip)]
    site: Option<SiteChange>,
    /// The sites that lose most pages, and those that lose most links; the worst first.
    by_pages: Vec<SiteChange>,
    by_links: Vec<SiteChange>,
    /// Number of sites that lose pages or links.
    losing: u64,
}

/// Change of the numbers of crawled pages and of links of a site.
#[derive(Clone, Copy, Serialize, Deserialize)]
struct SiteChange {
    site: SiteId,
    pages: i64,
    links: i64,
}

impl Loss {
    /// Counts the changes of a page. Pages come in ascending order.
    pub(super) fn count(&mut self, page: PageId, pages: i64, links: i64) {
        if pages == 0 && links == 0 {
            return;
        }
        self.pages += pages;
        self.links += links;
        let site = page.site();
        if let Some(change) = self.site.as_mut().filter(|change| change.site == site) {
            change.pages += pages;
            change.links += links;
            return;
        }
        self.finish_site();
        self.site = Some(SiteChange { site, pages, links });
    }

    /// Adds the change of the last site to the sums; called after its last page.
    pub(super) fn finish_site(&mut self) {
        let Some(change) = self.site.take() else {
            return;
        };
        if change.pages >= 0 && change.links >= 0 {
            return;
        }
        self.losing += 1;
        self.keep_by_pages(change);
        self.keep_by_links(change);
    }

    fn keep_by_pages(&mut self, change: SiteChange) {
        let by_pages = |change: &SiteChange| (change.pages, change.links, change.site);
        keep_worst(&mut self.by_pages, change, by_pages);
    }

    fn keep_by_links(&mut self, change: SiteChange) {
        let by_links = |change: &SiteChange| (change.links, change.pages, change.site);
        keep_worst(&mut self.by_links, change, by_links);
    }

    /// Adds the losses of other sites.
    pub(super) fn add(&mut self, other: Self) {
        self.pages += other.pages;
        self.links += other.links;
        self.losing += other.losing;
        for change in other.by_pages {
            self.keep_by_pages(change);
        }
        for change in other.by_links {
            self.keep_by_links(change);
        }
    }

    /// Rejects the batch if it removes more than `limit` per cent. `before` are the counters before
    /// the batch.
    pub(super) fn check(
        &mut self,
        store: &Store,
        before: &Counters,
        limit: f64,
        snapshot: bool,
    ) -> Result<()> {
        self.finish_site();
        let pages_before = before.crawled;
        let links_before = before.intra_links + before.inter_links;
        let pages_after = pages_before.saturating_add_signed(self.pages);
        let links_after = links_before.saturating_add_signed(self.links);
        let of_pages = excess(pages_before, pages_after, MIN_LOST_PAGES, limit);
        let of_links = excess(links_before, links_after, MIN_LOST_LINKS, limit);
        let Some(least) = of_pages.max(of_links) else {
            return Ok(());
        };
        let worst = if of_pages.is_some() {
            &self.by_pages
        } else {
            &self.by_links
        };
        let mut sites = Vec::with_capacity(worst.len());
        for change in worst {
            sites.push(SiteLoss {
                site: store.need(&tables::SITES, &change.site)?.name,
                pages: change.pages.min(0).unsigned_abs(),
                links: change.links.min(0).unsigned_abs(),
            });
        }
        // Equal losses are in the order of ids, which do not follow names.
        sites.sort_by(|a: &SiteLoss, b| {
            let (pages, links) = (b.pages.cmp(&a.pages), b.links.cmp(&a.links));
            let by_loss = match of_pages {
                Some(_) => pages.then(links),
                None => links.then(pages),
            };
            by_loss.then_with(|| a.site.cmp(&b.site))
        });
        Err(EngineError::TooMuchLost(Box::new(BatchLoss {
            pages_before,
            pages_after,
            links_before,
            links_after,
            limit,
            least_limit: f64::from(least) / 10.0,
            snapshot,
            more_sites: self.losing - sites.len() as u64,
            sites,
        })))
    }
}

/// Inserts a site into a list of those with the smallest keys.
fn keep_worst<K: Ord>(
    worst: &mut Vec<SiteChange>,
    change: SiteChange,
    key: impl Fn(&SiteChange) -> K,
) {
    let place = worst.partition_point(|other| key(other) < key(&change));
    worst.insert(place, change);
    worst.truncate(MAX_SITES);
}

/// If at least `min_lost` are lost, and more than `limit` per cent, returns the smallest limit that
/// accepts the loss, in tenths of a per cent.
fn excess(before: u64, after: u64, min_lost: u64, limit: f64) -> Option<u32> {
    let lost = before.saturating_sub(after);
    if lost < min_lost || within_limit(lost, before, limit) {
        return None;
    }
    // At most 1,000, since no more are lost than there are.
    let tenths = (u128::from(lost) * 1000).div_ceil(u128::from(before));
    Some(u32::try_from(tenths).unwrap_or(1000))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_loss_is_too_much_above_both_limits() {
        for (before, after, limit, least) in [
            (100, 1, 20.0, None),
            (100, 0, 20.0, Some(1000)),
            (100, 0, 100.0, None),
            (500, 400, 20.0, None),
            (500, 399, 20.0, Some(202)),
            (500, 700, 0.0, None),
            (900, 600, 20.0, Some(334)),
            (1_000_000, 999_900, 0.0, Some(1)),
            (0, 0, 0.0, None),
            (0, 5, 0.0, None),
        ] {
            let found = excess(before, after, MIN_LOST_PAGES, limit);
            assert_eq!(found, least, "{before} to {after} at {limit} %");
            if let Some(least) = least {
                let passes =
                    |tenths: u32| within_limit(before - after, before, f64::from(tenths) / 10.0);
                assert!(passes(least) && !passes(least - 1), "{before} to {after}");
            }
        }
    }

    #[test]
    fn the_worst_sites_are_kept_in_any_order() {
        let losses = [-3, 9, -7, -1, -7, -2, -5, -4, 0];
        let mut loss = Loss::default();
        for (site, pages) in (0..).zip(losses) {
            loss.count(PageId::new(SiteId(site), 0), pages, 0);
            loss.count(PageId::new(SiteId(site), 1), 0, -i64::from(site));
        }
        loss.finish_site();
        let sites = |worst: &[SiteChange]| -> Vec<u32> {
            worst.iter().map(|change| change.site.0).collect()
        };
        assert_eq!(sites(&loss.by_pages), [4, 2, 6, 7, 0]);
        assert_eq!(sites(&loss.by_links), [8, 7, 6, 5, 4]);
        assert_eq!((loss.losing, loss.pages, loss.links), (9, -20, -36));
    }
}
