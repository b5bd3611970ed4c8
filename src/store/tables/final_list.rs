//! The final list of a refresh: the selected seeds, or the list that policies made of them.
//!
//! ```text
//! seeds      (refresh, rank)   the seeds that the method selected, with evidence
//! final_list (refresh, rank)   the final list, if it differs: pages with their rank in `seeds`
//! seed_pages (page, refresh)   index of the final list by page
//! full_caps  (refresh, name)   the sites and domains with as many seeds as the plan allows
//! ```
//!
//! Only this module writes and deletes these tables, so that the index always matches the list.

use super::changes::Changes;
use super::records::{FinalListEntry, RefreshId, RefreshRecord, SeedEvidence, SeedRecord};
use super::schema as tables;
use super::store::Store;
use super::table::Key;
use crate::error::StoreError;
use seedbank_algorithms::page::PageId;

impl Store {
    /// Returns the final list of a refresh with ranks from 1. Pages that the method did not select have
    /// [`SeedEvidence::ByPolicy`].
    ///
    /// Cost: one scan; for a list that policies changed, also a lookup for each seed.
    pub fn list(&self, refresh: RefreshId) -> Result<Vec<(u32, SeedRecord)>, StoreError> {
        let prefix = refresh.to_be_bytes();
        let mut list = Vec::new();
        let record = self.get(&tables::REFRESHES, &refresh)?;
        let has_final_list = record.is_some_and(|record| record.chosen.is_some());
        for entry in self.scan_under(&tables::FINAL_LIST, &prefix)? {
            let ((_, rank), listed) = entry?;
            let seed = match listed.chosen {
                Some(chosen) => self.need(&tables::SEEDS, &(refresh, chosen))?,
                None => SeedRecord {
                    page: listed.page,
                    evidence: SeedEvidence::ByPolicy,
                    succeeds: None,
                },
            };
            list.push((rank, seed));
        }
        if !has_final_list {
            for entry in self.scan_under(&tables::SEEDS, &prefix)? {
                let ((_, rank), seed) = entry?;
                list.push((rank, seed));
            }
        }
        Ok(list)
    }

    /// Returns the pages of the final list of a refresh with ranks from 1. Cost: one scan.
    fn pages_on_list(
        &self,
        refresh: RefreshId,
        record: &RefreshRecord,
    ) -> Result<Vec<(u32, PageId)>, StoreError> {
        let prefix = refresh.to_be_bytes();
        if record.chosen.is_some() {
            let listed = self.scan_under(&tables::FINAL_LIST, &prefix)?;
            return listed
                .map(|entry| entry.map(|((_, rank), listed)| (rank, listed.page)))
                .collect();
        }
        let seeds = self.scan_under(&tables::SEEDS, &prefix)?;
        seeds
            .map(|entry| entry.map(|((_, rank), seed)| (rank, seed.page)))
            .collect()
    }

    /// Returns the stored refreshes with a page on their final list, in order, each with the rank of the
    /// page.
    ///
    /// Cost: reads one entry per refresh.
    pub fn lists_with_page(&self, page: PageId) -> Result<Vec<(RefreshId, u32)>, StoreError> {
        let entries = self.scan_under(&tables::SEED_PAGES, &page.bytes())?;
        entries
            .map(|entry| entry.map(|((_, refresh), rank)| (refresh, rank)))
            .collect()
    }

    /// For each page, returns the refreshes among `refreshes` with the page on their final list.
    ///
    /// Cost: a lookup for each page and refresh.
    pub fn on_lists(
        &self,
        refreshes: &[RefreshId],
        pages: &[PageId],
    ) -> Result<Vec<Vec<RefreshId>>, StoreError> {
        let mut found = vec![Vec::new(); pages.len()];
        for &refresh in refreshes {
            for (page, on) in pages.iter().zip(&mut found) {
                if self.has(&tables::SEED_PAGES, &(*page, refresh))? {
                    on.push(refresh);
                }
            }
        }
        Ok(found)
    }
}

impl Changes {
    /// Adds a seed that the method selected, also to the final list.
    pub fn put_seed(
        &mut self,
        refresh: RefreshId,
        rank: u32,
        seed: &SeedRecord,
    ) -> Result<(), StoreError> {
        self.put(&tables::SEEDS, &(refresh, rank), seed)?;
        self.put(&tables::SEED_PAGES, &(seed.page, refresh), &rank)
    }

    /// Adds a site, or `*.` and a domain, whose number of seeds reaches a limit with the seed of this rank.
    pub fn put_full_cap(
        &mut self,
        refresh: RefreshId,
        name: String,
        rank: u32,
    ) -> Result<(), StoreError> {
        self.put(&tables::FULL_CAPS, &(refresh, name), &rank)
    }

    /// Replaces the final list of a refresh whose method selected the pages `selected`; their seeds must
    /// have been added by [`Changes::put_seed`].
    pub fn put_list(
        &mut self,
        refresh: RefreshId,
        selected: impl IntoIterator<Item = PageId>,
        list: impl IntoIterator<Item = FinalListEntry>,
    ) -> Result<(), StoreError> {
        for page in selected {
            self.delete(&tables::SEED_PAGES, &(page, refresh))?;
        }
        for (rank, listed) in (1_u32..).zip(list) {
            self.put(&tables::SEED_PAGES, &(listed.page, refresh), &rank)?;
            self.put(&tables::FINAL_LIST, &(refresh, rank), &listed)?;
        }
        Ok(())
    }

    /// Deletes the seeds and the final list of a refresh. Cost: one scan of each.
    pub fn delete_list(
        &mut self,
        store: &Store,
        refresh: RefreshId,
        record: &RefreshRecord,
    ) -> Result<(), StoreError> {
        for (_, page) in store.pages_on_list(refresh, record)? {
            self.delete(&tables::SEED_PAGES, &(page, refresh))?;
        }
        let prefix = refresh.to_be_bytes();
        self.delete_under(store, &tables::SEEDS, &prefix)?;
        self.delete_under(store, &tables::FULL_CAPS, &prefix)?;
        self.delete_under(store, &tables::FINAL_LIST, &prefix)
    }
}
