//! Lists of refreshes, and the way back from a page to the lists that it is on.

use std::collections::BTreeMap;

use super::Walk;
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::RefreshRecord;
use seedbank_algorithms::page::PageId;

impl Walk<'_> {
    /// Every place of a list is a page, and where it says so one that the method came to; gives how
    /// many there are, by refresh.
    pub(super) fn listed(&mut self) -> Result<BTreeMap<u32, u32>, StoreError> {
        let mut listed: BTreeMap<u32, u32> = BTreeMap::new();
        self.walk(&tables::FINAL_LIST, |walk, (refresh, rank), seed| {
            *listed.entry(refresh).or_default() += 1;
            let name = format!("refresh {refresh}, rank {rank}");
            if !walk.pages.contains(seed.page.0) {
                let what = format!("{} does not exist", seed.page);
                walk.report.find("final_list", &name, what);
            }
            let fits = match seed.chosen {
                None => (1..refresh).contains(&seed.last_chosen),
                Some(chosen) => {
                    let seeds = walk.store.get(&tables::SEEDS, &(refresh, chosen));
                    let page = seeds.ok().flatten().map(|seed| seed.page);
                    page == Some(seed.page) && seed.last_chosen == refresh
                }
            };
            if !fits {
                let what = "it differs from the result of the refresh";
                walk.report.find("final_list", name, what);
            }
            walk.has_way_back(seed.page, (refresh, rank));
            Ok(())
        })?;
        Ok(listed)
    }

    /// Finds where `seed_pages` does not say that a page has this rank on the list of this refresh.
    pub(super) fn has_way_back(&mut self, page: PageId, (refresh, rank): (u32, u32)) {
        let found = self.store.get(&tables::SEED_PAGES, &(page, refresh));
        // What cannot be read is found where the table is walked.
        if found.is_ok_and(|found| found != Some(rank)) {
            let what = format!("it is missing at rank {rank} of the list");
            self.report.find("seed_pages", name(page, refresh), what);
        }
    }

    /// Every page that `seed_pages` names is on that list, at that rank.
    pub(super) fn seed_pages(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<(), StoreError> {
        self.walk(&tables::SEED_PAGES, |walk, (page, refresh), rank| {
            let key = (refresh, rank);
            let on = match refreshes.get(&refresh) {
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
            if on.is_ok_and(|on| on != Some(page)) {
                let what = format!("the list has another page or none at rank {rank}");
                walk.report.find("seed_pages", name(page, refresh), what);
            }
            Ok(())
        })
    }
}

fn name(page: PageId, refresh: u32) -> String {
    format!("{page}, refresh {refresh}")
}
