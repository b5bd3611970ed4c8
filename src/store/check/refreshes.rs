//! Batches, plans and refreshes: their numbers, and that no reference dangles.

use std::collections::{BTreeMap, BTreeSet};

use super::covers::{Picks, Seeds};
use super::web_covers::OverWeb;
use super::{Walk, bitmap_name, vector_name};
use crate::Hash128;
use crate::error::StoreError;
use crate::tables::records::{Counters, RefreshRecord};
use crate::tables::{self, PageSetKey};

impl Walk<'_> {
    pub(super) fn history(&mut self, counters: &Counters) -> Result<(), StoreError> {
        // Wider than the numbers, since a damaged one may be the highest possible.
        let mut next = 1_u64;
        let mut batches = BTreeSet::new();
        self.walk(&tables::BATCHES, |walk, batch, _| {
            batches.insert(batch);
            if u64::from(batch) != next {
                walk.report
                    .find("batches", batch, format!("batch {next} was expected here"));
            }
            next = u64::from(batch) + 1;
            Ok(())
        })?;
        if next != u64::from(counters.batch) + 1 {
            self.report.find(
                "batches",
                next,
                format!("the counter has {} as the last one", counters.batch),
            );
        }
        let refreshes = self.refreshes(counters)?;
        let mut named = self.plans(&refreshes)?;
        named.extend(refreshes.values().flat_map(|record| &record.lists));
        self.lists(named)?;
        let mut seeds = self.seeds(&refreshes)?;
        let picks = self.covers(&refreshes, &mut seeds)?;
        self.cores(&refreshes, &seeds)?;
        self.kept_steps(&refreshes)?;
        self.seed_pages(&refreshes)?;
        self.ledger(&refreshes)?;
        self.evidence(&refreshes, &seeds.over_web.picked_by())?;
        self.bitmaps(&batches, &refreshes, picks, seeds.over_web)
    }

    /// Every batch has the set of pages that it changed, every refresh with cores the set of those
    /// that its cores removed, and every pick of a cover, of a site or over the web, the set that it
    /// covers.
    fn bitmaps(
        &mut self,
        batches: &BTreeSet<u32>,
        refreshes: &BTreeMap<u32, RefreshRecord>,
        mut picks: Picks,
        mut over_web: OverWeb,
    ) -> Result<(), StoreError> {
        let mut changed = BTreeSet::new();
        let mut removed = BTreeSet::new();
        self.walk(&tables::PAGE_SETS, |walk, key, pages| {
            let there = match key {
                PageSetKey::Changed(batch) => {
                    changed.insert(batch);
                    batches.contains(&batch)
                }
                PageSetKey::Removed(refresh) => {
                    removed.insert(refresh);
                    refreshes.contains_key(&refresh)
                }
                PageSetKey::EvidenceBlocks(refresh) => {
                    let record = refreshes.get(&refresh);
                    record.is_some_and(|record| record.standings.is_some())
                }
                PageSetKey::History(batch) => {
                    walk.of_former(batch, &pages);
                    batches.contains(&batch)
                }
                PageSetKey::Covered(key) => {
                    walk.covered(key, &pages, &mut picks);
                    true
                }
                PageSetKey::Reached(key) => {
                    walk.reached(key, &pages, &mut over_web);
                    true
                }
            };
            if !there {
                walk.report.find(
                    "page_sets",
                    bitmap_name(key),
                    "its batch or refresh does not exist",
                );
            }
            let are_pages = !matches!(key, PageSetKey::EvidenceBlocks(_));
            if are_pages && !pages.is_subset(&walk.pages) {
                walk.report.find(
                    "page_sets",
                    bitmap_name(key),
                    "it names pages that do not exist",
                );
            }
            Ok(())
        })?;
        self.uncovered(&picks);
        self.not_reached(&over_web);
        self.former_left();
        let with_cores = refreshes.iter().filter(|(_, record)| record.cores > 0);
        let of_batches = batches.difference(&changed);
        let of_refreshes = with_cores
            .map(|(number, _)| *number)
            .filter(|number| !removed.contains(number));
        let missing = of_batches
            .map(|batch| PageSetKey::Changed(*batch))
            .chain(of_refreshes.map(PageSetKey::Removed));
        for key in missing {
            self.report
                .find("page_sets", bitmap_name(key), "it is not there");
        }
        Ok(())
    }

    fn refreshes(
        &mut self,
        counters: &Counters,
    ) -> Result<BTreeMap<u32, RefreshRecord>, StoreError> {
        let mut refreshes = BTreeMap::new();
        self.walk(&tables::REFRESHES, |walk, number, record| {
            if number > counters.refresh {
                walk.report.find(
                    "refreshes",
                    number,
                    format!("the counter has {} as the last one", counters.refresh),
                );
            }
            if record.batch > counters.batch {
                walk.report
                    .find("refreshes", number, "it names a batch that does not exist");
            }
            refreshes.insert(number, record);
            Ok(())
        })?;
        Ok(refreshes)
    }

    /// Every plan's last refresh is there; gives the lists that plans name.
    fn plans(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<BTreeSet<Hash128>, StoreError> {
        let mut plans = BTreeSet::new();
        let mut lists = BTreeSet::new();
        self.walk(&tables::PLANS, |walk, name, plan| {
            plans.insert(name.clone());
            lists.extend(&plan.lists);
            if refreshes
                .get(&plan.last_refresh)
                .is_none_or(|r| r.plan != name)
            {
                walk.report.find(
                    "plans",
                    name,
                    format!("its last refresh {} is missing", plan.last_refresh),
                );
            }
            Ok(())
        })?;
        for (number, refresh) in refreshes {
            if !plans.contains(&refresh.plan) {
                self.report.find(
                    "plans",
                    &refresh.plan,
                    format!("refresh {number} belongs to it, but it is missing"),
                );
            }
        }
        Ok(lists)
    }

    /// Every list is what its key says, and is named; every one that is named is there.
    fn lists(&mut self, mut named: BTreeSet<Hash128>) -> Result<(), StoreError> {
        let name = |hash: &Hash128| format!("list {:032x}", u128::from_be_bytes(*hash));
        self.walk(&tables::PLAN_LISTS, |walk, hash, text| {
            if text.hash() != hash {
                let what = "its lines do not match its hash";
                walk.report.find("plan_lists", name(&hash), what);
            }
            if !named.remove(&hash) {
                let what = "no plan or refresh names it";
                walk.report.find("plan_lists", name(&hash), what);
            }
            Ok(())
        })?;
        for hash in &named {
            let what = "a plan or refresh names it, but it is missing";
            self.report.find("plan_lists", name(hash), what);
        }
        Ok(())
    }

    fn cores(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
        seeds: &Seeds,
    ) -> Result<(), StoreError> {
        let mut cores: BTreeMap<u32, u32> = BTreeMap::new();
        self.walk(&tables::CORES, |walk, (refresh, rank), core| {
            *cores.entry(refresh).or_default() += 1;
            let name = format!("refresh {refresh}, core {rank}");
            let pages = core
                .hubs
                .iter()
                .chain(&core.authorities)
                .chain([&core.seed]);
            for page in pages.filter(|page| !walk.pages.contains(page.0)) {
                walk.report
                    .find("cores", &name, format!("{page} does not exist"));
            }
            let members = core.hubs.len() + core.authorities.len();
            if core.sides.len() != members.div_ceil(8) || !core.hubs.contains(&core.seed) {
                walk.report
                    .find("cores", &name, "its sides or its seed do not fit its pages");
            }
            for (side, pages) in [
                (tables::CoreScoresPart::Hubs, core.hubs.len()),
                (tables::CoreScoresPart::Authorities, core.authorities.len()),
            ] {
                let key = tables::CoreScoresKey {
                    refresh,
                    rank,
                    side,
                };
                let scores = walk.store.get(&tables::CORE_SCORES, &key).ok().flatten();
                if scores.is_none_or(|scores| scores.len() != pages) {
                    walk.report
                        .find("core_scores", vector_name(key), "it does not fit its core");
                }
            }
            Ok(())
        })?;
        self.walk(&tables::CORE_SCORES, |walk, key, _| {
            if walk
                .store
                .has(&tables::CORES, &(key.refresh, key.rank))
                .is_ok_and(|there| !there)
            {
                walk.report
                    .find("core_scores", vector_name(key), "its core does not exist");
            }
            Ok(())
        })?;
        let mut listed = self.listed()?;
        let mut counted = seeds.by_refresh.clone();
        for (number, record) in refreshes {
            for (table, counted, kept) in [
                ("cores", cores.remove(number), record.cores),
                (
                    "seeds",
                    counted.remove(number),
                    record.chosen.unwrap_or(record.seeds),
                ),
                (
                    "final_list",
                    listed.remove(number),
                    record.chosen.map_or(0, |_| record.seeds),
                ),
            ] {
                if counted.unwrap_or(0) != kept {
                    self.report.find(
                        table,
                        format!("refresh {number}"),
                        format!(
                            "{} found, but the refresh records {kept}",
                            counted.unwrap_or(0)
                        ),
                    );
                }
            }
        }
        for (table, left) in [("cores", cores), ("seeds", counted), ("final_list", listed)] {
            for refresh in left.keys() {
                self.report.find(
                    table,
                    format!("refresh {refresh}"),
                    "the refresh does not exist",
                );
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::tables::PageSetKey;
    use crate::tables::records::{BatchCounts, BatchKind, BatchRecord, Settings};
    use crate::{Changes, Writer, create, tables};
    use seedbank_algorithms::page::PageSet;
    use seedbank_algorithms::watch::Unwatched;

    /// A damaged number may be the highest possible.
    #[test]
    fn the_highest_batch_number_is_a_finding() {
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("bank");
        let settings = Settings {
            site_mode: "host".to_owned(),
            url_rules: "whatwg".to_owned(),
            suffix_list: String::new(),
        };
        create(&place, &settings).unwrap();
        let writer = Writer::open(&place, false, &Unwatched).unwrap();
        let record = BatchRecord {
            name: String::new(),
            kind: BatchKind::Delta,
            inputs: Vec::new(),
            digest: [0; 32],
            at: 0,
            seconds: 0.0,
            counts: BatchCounts::default(),
        };
        let mut changes = Changes::new(&writer.spill_folder(), 1 << 20);
        changes.put(&tables::BATCHES, &u32::MAX, &record).unwrap();
        let of_batch = PageSetKey::Changed(u32::MAX);
        changes
            .put(&tables::PAGE_SETS, &of_batch, &PageSet::new())
            .unwrap();
        let mut counters = writer.counters().unwrap();
        counters.batch = u32::MAX;
        writer.commit(changes, counters).unwrap();
        let report = writer.check(&Unwatched).unwrap();
        assert_eq!(report.count, 1, "{:?}", report.findings);
        assert_eq!(report.findings[0].what, "batch 1 was expected here");
    }
}
