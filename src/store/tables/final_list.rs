//! The list of a refresh: its seeds, or what the plan's limit on changes made of them.
//!
//! ```text
//! seeds      (refresh, rank)   what the method came to, with its evidence
//! listed     (refresh, rank)   the list, where it is another: pages with their rank in `seeds`
//! seed_pages (page, refresh)   the rank of the page on the list: the way back from both
//! ```
//!
//! All three are written and deleted here, so that the way back always is that of the list.

use super::changes::Changes;
use super::records::{FinalListEntry, RefreshId, RefreshRecord, SeedEvidence, SeedRecord};
use super::schema as tables;
use super::store::Store;
use super::table::Key;
use crate::error::StoreError;
use seedbank_algorithms::page::PageId;

impl Store {
    /// The list of a refresh, with ranks from 1, best first. A page that stays on the list although
    /// the method did not come to it has [`SeedEvidence::ByPolicy`].
    ///
    /// Cost: one scan, and a look by key for each seed of a list that is not what the method came to.
    pub fn list(&self, refresh: RefreshId) -> Result<Vec<(u32, SeedRecord)>, StoreError> {
        let prefix = refresh.to_be_bytes();
        let mut list = Vec::new();
        let record = self.get(&tables::REFRESHES, &refresh)?;
        let is_listed = record.is_some_and(|record| record.chosen.is_some());
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
        if !is_listed {
            for entry in self.scan_under(&tables::SEEDS, &prefix)? {
                let ((_, rank), seed) = entry?;
                list.push((rank, seed));
            }
        }
        Ok(list)
    }

    /// The pages on the list of a refresh, with ranks from 1, best first. Cost: one scan.
    fn pages_of_list(
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

    /// The kept refreshes that have a page on their list, in order, each with the page's rank.
    ///
    /// Cost: one entry for each.
    pub fn lists_with(&self, page: PageId) -> Result<Vec<(RefreshId, u32)>, StoreError> {
        let entries = self.scan_under(&tables::SEED_PAGES, &page.bytes())?;
        entries
            .map(|entry| entry.map(|((_, refresh), rank)| (refresh, rank)))
            .collect()
    }

    /// Which of some refreshes have each of some pages on their list, in the order of `refreshes`.
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
    /// Puts a seed that a method came to, and has it on the list.
    pub fn put_seed(
        &mut self,
        (refresh, rank): (RefreshId, u32),
        seed: &SeedRecord,
    ) -> Result<(), StoreError> {
        self.put(&tables::SEEDS, &(refresh, rank), seed)?;
        self.put(&tables::SEED_PAGES, &(seed.page, refresh), &rank)
    }

    /// Puts a list that is another than `chosen`, what the method came to, whose seeds were put before.
    pub fn put_list(
        &mut self,
        refresh: RefreshId,
        chosen: impl IntoIterator<Item = PageId>,
        list: impl IntoIterator<Item = FinalListEntry>,
    ) -> Result<(), StoreError> {
        for page in chosen {
            self.delete(&tables::SEED_PAGES, &(page, refresh))?;
        }
        for (rank, listed) in (1_u32..).zip(list) {
            self.put(&tables::SEED_PAGES, &(listed.page, refresh), &rank)?;
            self.put(&tables::FINAL_LIST, &(refresh, rank), &listed)?;
        }
        Ok(())
    }

    /// Deletes the seeds and the list of a refresh. Cost: one scan of each.
    pub fn delete_list(
        &mut self,
        store: &Store,
        refresh: RefreshId,
        record: &RefreshRecord,
    ) -> Result<(), StoreError> {
        for (_, page) in store.pages_of_list(refresh, record)? {
            self.delete(&tables::SEED_PAGES, &(page, refresh))?;
        }
        let prefix = refresh.to_be_bytes();
        self.delete_under(store, &tables::SEEDS, &prefix)?;
        self.delete_under(store, &tables::FINAL_LIST, &prefix)
    }
}
