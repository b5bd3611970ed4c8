//! Set of the pages on inter-site links, as a bitmap.
//!
//! Pages are scattered over all sites, and a large crawl has many sites. Per-thread sets would hold
//! most sites many times (1.6 GB for 18.5 million pages on 513,888 sites). One array shared by all
//! threads takes 2.3 MB for these, and 8 bytes per site.

use std::sync::atomic::{AtomicU64, Ordering};

use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::{Store, StoreError, tables};

/// A set of pages, with room for every page id that the bank has assigned.
pub(crate) struct LinkedPages {
    /// Position of the first page of each site, and at the end the number of positions.
    firsts: Vec<u64>,
    bits: Vec<AtomicU64>,
}

impl LinkedPages {
    /// Creates an empty set for site ids below `sites`. Cost: one scan of sites.
    pub(crate) fn empty(store: &Store, sites: u32, watch: &dyn Watch) -> Result<Self> {
        let mut firsts = Vec::with_capacity(sites as usize + 1);
        let mut next: u64 = 0;
        for entry in store.scan(&tables::SITES)? {
            watch.proceed()?;
            let (site, record) = entry?;
            // Sites without a record have no pages.
            while firsts.len() <= site.0 as usize && firsts.len() < sites as usize {
                firsts.push(next);
            }
            next += u64::from(record.next_page);
        }
        firsts.resize(sites as usize + 1, next);
        let words = usize::try_from(next.div_ceil(64)).map_err(|_| StoreError::Full("page"))?;
        let mut bits = Vec::new();
        bits.resize_with(words, AtomicU64::default);
        Ok(Self { firsts, bits })
    }

    /// Returns the word and bit of a page; `None` if its site never assigned the id.
    fn position(&self, page: PageId) -> Option<(&AtomicU64, u64)> {
        let site = page.site().0 as usize;
        let position = self.firsts.get(site)? + u64::from(page.index());
        if position >= *self.firsts.get(site + 1)? {
            return None;
        }
        let word = self.bits.get(usize::try_from(position / 64).ok()?)?;
        Some((word, 1 << (position % 64)))
    }

    /// Adds a page. Safe to call from many threads.
    pub(crate) fn insert(&self, page: PageId) {
        if let Some((word, bit)) = self.position(page) {
            word.fetch_or(bit, Ordering::Relaxed);
        }
    }

    pub(crate) fn contains(&self, page: PageId) -> bool {
        self.position(page)
            .is_some_and(|(word, bit)| word.load(Ordering::Relaxed) & bit != 0)
    }
}
