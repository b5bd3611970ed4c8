//! Check of batches, plans, refreshes and their results: numbers and references.

use std::collections::{BTreeMap, BTreeSet};

use super::covers::{Picks, Seeds};
use super::web_covers::OverWeb;
use super::{Walk, core_scores_name, page_set_name};
use crate::Hash128;
use crate::error::StoreError;
use crate::tables::records::{Counters, RefreshRecord};
use crate::tables::{self, PageSetKey};
use seedbank_algorithms::page::PageId;

impl Walk<'_> {
    pub(super) fn refresh_tables(&mut self, counters: &Counters) -> Result<(), StoreError> {
        // Wider than the numbers, since a damaged one may be the maximum.
        let mut next = 1_u64;
        // The number of pages that each batch changed.
        let mut batches = BTreeMap::new();
        self.walk(&tables::BATCHES, |walk, batch, record| {
            batches.insert(batch, record.counts.changed);
            if u64::from(batch) != next {
                walk.find("batches", batch, format!("expected batch {next}"));
            }
            next = u64::from(batch) + 1;
            Ok(())
        })?;
        if next != u64::from(counters.batch) + 1 {
            let what = format!("the counter has {} as the last one", counters.batch);
            self.find("batches", next, what);
        }
        let refreshes = self.refreshes(counters)?;
        let mut named = self.plans(&refreshes)?;
        named.extend(refreshes.values().flat_map(|record| &record.lists));
        self.lists(named)?;
        let mut seeds = self.seeds(&refreshes)?;
        let picks = self.covers(&refreshes, &mut seeds)?;
        self.cores(&refreshes, &seeds)?;
        self.step_cache(&refreshes)?;
        self.seed_pages(&refreshes)?;
        self.component_cache(&refreshes)?;
        self.evidence(&refreshes, &seeds.over_web.selected_by())?;
        self.page_sets(&batches, &refreshes, picks, seeds.over_web)
    }

    /// Every batch has the set of changed pages, every refresh with cores the set of removed pages, and every
    /// seed of a cover method, on a site or over the web, the sets of covered pages.
    fn page_sets(
        &mut self,
        batches: &BTreeMap<u32, u64>,
        refreshes: &BTreeMap<u32, RefreshRecord>,
        mut picks: Picks,
        mut over_web: OverWeb,
    ) -> Result<(), StoreError> {
        let mut changed: BTreeMap<u32, u64> = BTreeMap::new();
        let mut removed = BTreeSet::new();
        let mut last = None;
        self.walk(&tables::PAGE_SETS, |walk, part, pages| {
            let key = part.set;
            let is_expected = match key {
                PageSetKey::Changed(batch) => {
                    *changed.entry(batch).or_default() += pages.len();
                    batches.contains_key(&batch)
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
                    walk.history_set(batch, &pages);
                    batches.contains_key(&batch)
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
            if !is_expected {
                let what = "its batch or refresh does not exist";
                walk.find("page_sets", page_set_name(key), what);
            }
            // The parts of a set come in the order of sites.
            let starts = pages.min().map_or(part.first, |page| PageId(page).site());
            let ends = pages.max().map_or(part.first, |page| PageId(page).site());
            let is_after = |(set, site)| set != key || site < part.first;
            if starts < part.first || !last.is_none_or(is_after) {
                let what = "a part has pages of the sites of another one";
                walk.find("page_sets", page_set_name(key), what);
            }
            last = Some((key, ends));
            let are_pages = !matches!(key, PageSetKey::EvidenceBlocks(_));
            if are_pages && !walk.pages.contains_all(&pages) {
                let what = "it has pages that do not exist";
                walk.find("page_sets", page_set_name(key), what);
            }
            Ok(())
        })?;
        self.missing_covered(&picks);
        self.reached_differences(&over_web);
        self.history_differences();
        let with_cores = refreshes.iter().filter(|(_, record)| record.cores > 0);
        for (batch, pages) in &changed {
            if batches.get(batch).is_some_and(|of_batch| of_batch != pages) {
                let name = page_set_name(PageSetKey::Changed(*batch));
                self.find(
                    "page_sets",
                    name,
                    "the batch changed another number of pages",
                );
            }
        }
        let of_batches = batches.keys().filter(|batch| !changed.contains_key(batch));
        let of_refreshes = with_cores
            .map(|(number, _)| *number)
            .filter(|number| !removed.contains(number));
        let missing = of_batches
            .map(|batch| PageSetKey::Changed(*batch))
            .chain(of_refreshes.map(PageSetKey::Removed));
        for key in missing {
            self.find("page_sets", page_set_name(key), "it is missing");
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
                let what = format!("the counter has {} as the last one", counters.refresh);
                walk.find("refreshes", number, what);
            }
            if record.batch > counters.batch {
                let what = "it refers to a batch that does not exist";
                walk.find("refreshes", number, what);
            }
            refreshes.insert(number, record);
            Ok(())
        })?;
        Ok(refreshes)
    }

    /// The last refresh of every plan exists; returns the lists that plans name.
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
                let what = format!("its last refresh {} is missing", plan.last_refresh);
                walk.find("plans", name, what);
            }
            Ok(())
        })?;
        for (number, refresh) in refreshes {
            if !plans.contains(&refresh.plan) {
                let what = format!("refresh {number} belongs to it, but it is missing");
                self.find("plans", &refresh.plan, what);
            }
        }
        Ok(lists)
    }

    /// Every list matches its key and is named; every named list exists.
    fn lists(&mut self, mut named: BTreeSet<Hash128>) -> Result<(), StoreError> {
        let name = |hash: &Hash128| format!("list {:032x}", u128::from_be_bytes(*hash));
        self.walk(&tables::PLAN_LISTS, |walk, hash, text| {
            if text.hash() != hash {
                let what = "its lines do not match its hash";
                walk.find("plan_lists", name(&hash), what);
            }
            if !named.remove(&hash) {
                let what = "no plan or refresh names it";
                walk.find("plan_lists", name(&hash), what);
            }
            Ok(())
        })?;
        for hash in &named {
            let what = "a plan or refresh names it, but it is missing";
            self.find("plan_lists", name(hash), what);
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
            for page in pages {
                walk.require_page("cores", &name, *page);
            }
            let members = core.hubs.len() + core.authorities.len();
            if core.sides.len() != members.div_ceil(8) || !core.hubs.contains(&core.seed) {
                let what = "its member order or its seed does not match its pages";
                walk.find("cores", &name, what);
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
                    let what = "it does not match its core";
                    walk.find("core_scores", core_scores_name(key), what);
                }
            }
            Ok(())
        })?;
        self.walk(&tables::CORE_SCORES, |walk, key, _| {
            if walk
                .store
                .has(&tables::CORES, &(key.refresh, key.rank))
                .is_ok_and(|exists| !exists)
            {
                let what = "its core does not exist";
                walk.find("core_scores", core_scores_name(key), what);
            }
            Ok(())
        })?;
        let mut listed = self.final_lists()?;
        let mut counted = seeds.by_refresh.clone();
        for (number, record) in refreshes {
            for (table, counted, expected) in [
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
                if counted.unwrap_or(0) != expected {
                    let what = format!(
                        "{} found, but the refresh records {expected}",
                        counted.unwrap_or(0)
                    );
                    self.find(table, format!("refresh {number}"), what);
                }
            }
        }
        for (table, left) in [("cores", cores), ("seeds", counted), ("final_list", listed)] {
            for refresh in left.keys() {
                let what = "the refresh does not exist";
                self.find(table, format!("refresh {refresh}"), what);
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::disk::scratch::scratch;
    use crate::tables::PageSetKey;
    use crate::tables::records::{
        BatchCounts, BatchKind, BatchRecord, FetchCounts, Observed, Settings,
    };
    use crate::{Changes, Writer, create, tables};
    use seedbank_algorithms::page::PageSet;
    use seedbank_algorithms::watch::Unwatched;

    /// A damaged number may be the maximum.
    #[test]
    fn the_highest_batch_number_is_a_finding() {
        let folder = scratch();
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
            stale: 0,
            failed: 0,
            failing: 0,
            last_fetch: 0,
            observed: Observed::default(),
            attributed: 0,
            unattributed: FetchCounts::default(),
        };
        let mut changes = Changes::new(&writer.spill_folder(), 1 << 20);
        changes.put(&tables::BATCHES, &u32::MAX, &record).unwrap();
        let of_batch = PageSetKey::Changed(u32::MAX);
        changes.put_page_set(of_batch, &PageSet::new()).unwrap();
        let mut counters = writer.counters().unwrap();
        counters.batch = u32::MAX;
        writer.commit(changes, counters).unwrap();
        let report = writer.check(&Unwatched).unwrap();
        assert_eq!(report.count, 1, "{:?}", report.findings);
        assert_eq!(report.findings[0].what, "expected batch 1");
    }
}
