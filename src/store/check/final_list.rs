//! Check of final lists and of their index by page.

use std::collections::BTreeMap;

use super::Walk;
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::RefreshRecord;
use seedbank_algorithms::page::PageId;

impl Walk<'_> {
    /// Every entry is a page, and matches the seeds of the method; returns the number of entries by refresh.
    pub(super) fn final_lists(&mut self) -> Result<BTreeMap<u32, u32>, StoreError> {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        self.walk(&tables::FINAL_LIST, |walk, (refresh, rank), seed| {
            *counts.entry(refresh).or_default() += 1;
            let name = format!("refresh {refresh}, rank {rank}");
            if !walk.pages.contains(seed.page) {
                let what = format!("{} does not exist", seed.page);
                walk.find("final_list", &name, what);
            }
            let matches = match seed.chosen {
                None => (1..refresh).contains(&seed.last_chosen),
                Some(chosen) => {
                    let seeds = walk.store.get(&tables::SEEDS, &(refresh, chosen));
                    let page = seeds.ok().flatten().map(|seed| seed.page);
                    page == Some(seed.page) && seed.last_chosen == refresh
                }
            };
            if !matches {
                let what = "it does not match the selected seeds";
                walk.find("final_list", name, what);
            }
            walk.is_indexed(seed.page, refresh, rank);
            Ok(())
        })?;
        Ok(counts)
    }

    /// Checks that `seed_pages` has a page with this rank on the final list of this refresh.
    pub(super) fn is_indexed(&mut self, page: PageId, refresh: u32, rank: u32) {
        let found = self.store.get(&tables::SEED_PAGES, &(page, refresh));
        // An unreadable entry is reported by the check of `seed_pages`.
        if found.is_ok_and(|found| found != Some(rank)) {
            let what = format!("it is missing at rank {rank} of the list");
            self.find("seed_pages", name(page, refresh), what);
        }
    }

    /// Every entry of `seed_pages` matches the final list.
    pub(super) fn seed_pages(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<(), StoreError> {
        self.walk(&tables::SEED_PAGES, |walk, (page, refresh), rank| {
            let key = (refresh, rank);
            let page_at = match refreshes.get(&refresh) {
                None => Ok(None),
                Some(record) if record.chosen.is_some() => {
                    let listed = walk.store.get(&tables::FINAL_LIST, &key);
                    listed.map(|listed| listed.map(|listed| listed.page))
                }
                Some(_) => {
                    let seed = walk.store.get(&tables::SEEDS, &key);
                    seed.map(|seed| seed.map(|seed| seed.page))
                }
            };
            if page_at.is_ok_and(|found| found != Some(page)) {
                let what = format!("the list has another page or none at rank {rank}");
                walk.find("seed_pages", name(page, refresh), what);
            }
            Ok(())
        })
    }
}

fn name(page: PageId, refresh: u32) -> String {
    format!("{page}, refresh {refresh}")
}
