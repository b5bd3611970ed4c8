//! Check of batches, plans, refreshes and their results: numbers and references, seeds, cores, caches and evidence.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::{Walk, core_scores_name, hash, mix, page_set_name};
use crate::error::StoreError;
use crate::tables::records::component_cache::{CoreOrigin, CoreOriginKey};
use crate::tables::records::evidence::{LinkStatus, PageEvidenceBlock, Reach, ReachKey, SidePlace};
use crate::tables::records::gain_cache::GainBlock;
use crate::tables::records::page_blocks::{PageBlock, page_at};
use crate::tables::records::{Counters, RefreshId, RefreshRecord, SeedEvidence, WebEvidence};
use crate::tables::table::Hash128;
use crate::tables::{self, CoreScoresKey, CoreScoresPart, CoveredKey, PageSetKey};
use seedbank_algorithms::page::{PageId, PageSet, SiteId};

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
        self.full_caps()?;
        self.component_cache(&refreshes)?;
        self.evidence(&refreshes, seeds.over_web)?;
        self.page_sets(&batches, &refreshes, picks)
    }

    /// Every batch has the set of changed pages, every refresh with cores the set of removed pages, and every
    /// seed of a cover method on a site the sets of covered pages.
    fn page_sets(
        &mut self,
        batches: &BTreeMap<u32, u64>,
        refreshes: &BTreeMap<u32, RefreshRecord>,
        mut picks: Picks,
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

// Check of seeds, and of the results of cover methods: ranks and positions match, and the covered sets are
// exactly those that the seeds claim.

/// Seeds, collected by the check.
#[derive(Default)]
pub(super) struct Seeds {
    pub(super) by_refresh: BTreeMap<u32, u32>,
    /// The ranks of the seeds of a refresh on a site, for cover methods.
    by_site: BTreeMap<(u32, SiteId), Vec<u32>>,
    /// The number of pages that each seed covers at each hop, under the refresh that selected it. A seed
    /// that later refreshes reused is present once.
    picks: Picks,
    pub(super) over_web: OverWeb,
}

/// Numbers of pages by hop, by refresh, site and pick.
pub(super) type Picks = BTreeMap<(u32, SiteId, u32), Vec<u32>>;

impl Walk<'_> {
    pub(super) fn seeds(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<Seeds, StoreError> {
        let mut seeds = Seeds::default();
        self.walk(&tables::SEEDS, |walk, (refresh, rank), seed| {
            *seeds.by_refresh.entry(refresh).or_default() += 1;
            let name = || format!("refresh {refresh}, rank {rank}");
            if !walk.pages.contains(seed.page) {
                walk.find("seeds", name(), format!("{} does not exist", seed.page));
            }
            let record = refreshes.get(&refresh);
            if record.is_some_and(|record| record.chosen.is_none()) {
                walk.is_indexed(seed.page, refresh, rank);
            }
            let evidence = match seed.evidence {
                SeedEvidence::Core { .. } | SeedEvidence::ByPolicy => return Ok(()),
                SeedEvidence::Web(evidence) => {
                    if let Some(what) = seeds.over_web.add(refresh, rank, &evidence) {
                        walk.find("seeds", name(), what);
                    }
                    return Ok(());
                }
                SeedEvidence::Cover(evidence) => evidence,
            };
            let site = seed.page.site();
            let ranks = seeds.by_site.entry((refresh, site)).or_default();
            ranks.push(rank);
            if evidence.pick as usize != ranks.len() {
                let what = "its position does not follow the last one of the site";
                walk.find("seeds", name(), what);
            }
            let pages: Vec<u32> = evidence.hops.iter().map(|hop| hop.pages).collect();
            let pick = (evidence.since, site, evidence.pick);
            let same = seeds.picks.entry(pick).or_insert_with(|| pages.clone());
            if *same != pages {
                walk.find("seeds", name(), "it contradicts another refresh");
            }
            Ok(())
        })?;
        Ok(seeds)
    }

    /// Compares sites with their seeds; returns the sets that must be in `page_sets`.
    pub(super) fn covers(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
        seeds: &mut Seeds,
    ) -> Result<Picks, StoreError> {
        self.walk(&tables::COVERS, |walk, (refresh, site), record| {
            let name = format!("refresh {refresh}, {site}");
            if !refreshes.contains_key(&refresh) {
                walk.find("covers", &name, "the refresh does not exist");
            }
            if record.since > refresh {
                walk.find("covers", &name, "it was reused from a later refresh");
            }
            if walk
                .store
                .has(&tables::SITES, &site)
                .is_ok_and(|exists| !exists)
            {
                walk.find("covers", &name, "the site does not exist");
            }
            let found = seeds.by_site.remove(&(refresh, site));
            if found.unwrap_or_default() != record.ranks {
                walk.find("covers", &name, "its ranks differ from its seeds");
            }
            Ok(())
        })?;
        for (refresh, site) in std::mem::take(&mut seeds.by_site).into_keys() {
            let what = "the site has seeds and no record";
            self.find("covers", format!("refresh {refresh}, {site}"), what);
        }
        Ok(std::mem::take(&mut seeds.picks))
    }

    /// Checks a covered set and removes it from the required ones.
    pub(super) fn covered(&mut self, key: CoveredKey, pages: &PageSet, picks: &mut Picks) {
        let name = page_set_name(PageSetKey::Covered(key));
        let pick = picks.get_mut(&(key.refresh, key.site, key.pick));
        let hop = pick.and_then(|hops| hops.get_mut(key.hop as usize));
        let Some(expected) = hop else {
            self.find("page_sets", name, "no seed covers it");
            return;
        };
        if pages.len() != u64::from(std::mem::take(expected)) {
            self.find("page_sets", name, "its seed covers another number of pages");
        } else if pages.bitmaps().any(|(site, _)| site != key.site.0) {
            self.find("page_sets", name, "it has pages of another site");
        }
    }

    /// Reports the required sets that are missing.
    pub(super) fn missing_covered(&mut self, picks: &Picks) {
        for ((refresh, site, pick), hops) in picks {
            for (hop, _) in (0..).zip(hops).filter(|(_, pages)| **pages > 0) {
                let key = CoveredKey {
                    refresh: *refresh,
                    site: *site,
                    pick: *pick,
                    hop,
                };
                let name = page_set_name(PageSetKey::Covered(key));
                self.find("page_sets", name, "it is missing");
            }
        }
    }
}

// Check of seeds over the whole web: the reached sets are those that the seeds
// claim.

/// The number of pages that a seed reaches at one hop.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ReachedPages {
    expected: u64,
    found: u64,
}

/// Seeds over the web, collected by the check.
#[derive(Default)]
pub(super) struct OverWeb {
    /// The number of pages that each seed reaches at each hop, by the refresh that selected it and its rank. A
    /// seed that later refreshes reused is present once.
    reached: BTreeMap<(u32, u32), Vec<ReachedPages>>,
}

impl OverWeb {
    /// Returns the refreshes that selected seeds.
    pub(super) fn selected_by(&self) -> BTreeSet<u32> {
        self.reached.keys().map(|(refresh, _)| *refresh).collect()
    }

    /// Counts a page that a seed reaches at a hop; returns whether there is such a seed.
    fn count(&mut self, refresh: u32, rank: u32, hop: u32) -> bool {
        let of_pick = self.reached.get_mut(&(refresh, rank));
        let of_hop = of_pick.and_then(|hops| hops.get_mut(hop as usize));
        of_hop.map(|pages| pages.found += 1).is_some()
    }

    /// Adds a seed; returns what is wrong with it.
    pub(super) fn add(
        &mut self,
        refresh: u32,
        rank: u32,
        evidence: &WebEvidence,
    ) -> Option<&'static str> {
        let pages = evidence.hops.iter().map(|hop| ReachedPages {
            expected: hop.all.pages.into(),
            found: 0,
        });
        let pages: Vec<ReachedPages> = pages.collect();
        let of_pick = (evidence.since, rank);
        let same = self.reached.entry(of_pick).or_insert_with(|| pages.clone());
        if *same != pages {
            return Some("it contradicts another refresh");
        }
        (evidence.since > refresh).then_some("it was reused from a later refresh")
    }
}

impl Walk<'_> {
    /// Reports the seeds that reach another number of pages at a hop than `reach` has.
    fn reached_differences(&mut self, over_web: &OverWeb) {
        for (&(refresh, rank), hops) in &over_web.reached {
            for (hop, pages) in hops.iter().enumerate() {
                if pages.found != pages.expected {
                    let name = format!("refresh {refresh}, rank {rank}, hop {hop}");
                    self.find("reach", name, "its seed reaches another number of pages");
                }
            }
        }
    }

    /// The pages of `gain_cache` exist, and so do the seeds that were selected with them. Its candidates are in `reach`.
    /// Returns the refreshes whose gains it has.
    fn gain_cache(&mut self, selected_by: &BTreeSet<u32>) -> Result<BTreeSet<u32>, StoreError> {
        let mut cached = BTreeSet::new();
        self.walk(&tables::GAIN_CACHE, |walk, key, block| {
            cached.insert(key.refresh);
            let name = format!("refresh {}, {}, block {}", key.refresh, key.site, key.block);
            if !selected_by.contains(&key.refresh) {
                walk.find("gain_cache", &name, "no refresh sees it");
            }
            let mut pages = block.0.iter().map(|of| page_at(key.site, key.block, of.0));
            if !pages.all(|page| walk.pages.contains(page)) {
                walk.find("gain_cache", &name, "it has a page that does not exist");
            }
            // An unreadable entry is reported by the check of `reach`.
            let mut candidates = block.0.iter().filter(|of| of.1.gain.is_some());
            if let Ok(reach) = walk.store.get(&tables::REACH, &key)
                && !candidates.all(|of| reach.as_ref().is_some_and(|all| all.at(of.0).is_some()))
            {
                walk.find("gain_cache", &name, "`reach` lacks a candidate");
            }
            Ok(())
        })?;
        Ok(cached)
    }

    /// Every candidate that no seed reaches is in `gain_cache`; `block` is one of `reach`.
    fn gains_of(&mut self, key: &ReachKey, block: &PageBlock<Reach>) {
        let has_gain = |gains: &GainBlock, place: &u32| {
            let at = gains.0.binary_search_by_key(place, |of| of.0);
            at.is_ok_and(|at| gains.0[at].1.gain.is_some())
        };
        let mut candidates = block.0.iter().filter(|of| of.1.score.is_some());
        // An unreadable entry is reported by the check of `gain_cache`.
        if let Ok(gains) = self.store.get(&tables::GAIN_CACHE, key)
            && !candidates.all(|of| gains.as_ref().is_some_and(|all| has_gain(all, &of.0)))
        {
            let name = format!("refresh {}, {}, block {}", key.refresh, key.site, key.block);
            self.find("gain_cache", name, "it lacks a candidate");
        }
    }
}

// Check of final lists and of their index by page.

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

impl Walk<'_> {
    /// Every seed with which a cap is reached is one of the refresh. Whether it is on a site of that name depends on the names of
    /// sites, which the engine knows.
    fn full_caps(&mut self) -> Result<(), StoreError> {
        self.walk(&tables::FULL_CAPS, |walk, (refresh, name), rank| {
            // An unreadable seed is reported by the check of `seeds`.
            let seed = walk.store.get(&tables::SEEDS, &(refresh, rank));
            if seed.is_ok_and(|seed| seed.is_none()) {
                let name = format!("refresh {refresh}, {name}");
                walk.find("full_caps", name, format!("there is no seed {rank}"));
            }
            Ok(())
        })
    }
}

fn name(page: PageId, refresh: u32) -> String {
    format!("{page}, refresh {refresh}")
}

// Check of what is known of the accuracy of cores: every core within a bound has a bound, and those of the last refresh of a
// plan have cached steps; every core after a fixed number of iterations has a residual.

/// Returns which part of `core_scores` every core has besides its scores, according to the parameters of its refresh.
fn accuracy_part(refresh: &RefreshRecord) -> Option<CoreScoresPart> {
    let settings: serde_json::Value = serde_json::from_str(&refresh.settings).ok()?;
    let within = settings.get("within").and_then(serde_json::Value::as_f64);
    if within.is_some_and(|within| within > 0.0) {
        return Some(CoreScoresPart::Bound);
    }
    (settings.get("hits")? == "classic").then_some(CoreScoresPart::Convergence)
}

impl Walk<'_> {
    pub(super) fn step_cache(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<(), StoreError> {
        let plans = refreshes
            .iter()
            .map(|(number, record)| (&record.plan, number));
        let last: BTreeMap<&String, &u32> = plans.collect();
        let mut expected = BTreeSet::new();
        let mut parts = BTreeSet::new();
        // A plan that changed to another method keeps the steps of its last series until it is pruned.
        let mut unused: BTreeSet<u32> = BTreeSet::new();
        for (&refresh, record) in refreshes {
            let is_last = last.get(&record.plan) == Some(&&refresh);
            let Some(series) = record.standings.map(|standings| standings.series) else {
                continue;
            };
            if is_last {
                unused.remove(&series);
            } else {
                unused.insert(series);
            }
            let Some(part) = accuracy_part(record) else {
                continue;
            };
            parts.extend((1..=record.cores).map(|rank| (refresh, rank, part)));
            if record.cores > 0 && is_last && part == CoreScoresPart::Bound {
                // The entry at rank 0 has the groups of all steps.
                expected.extend((0..=record.cores).map(|rank| (series, rank)));
            }
        }
        self.walk(&tables::STEP_CACHE, |walk, key, _| {
            if !expected.remove(&key) && !unused.contains(&key.0) {
                let what = "it belongs to no core of the last refresh of a plan within a bound";
                walk.find("step_cache", step_name(key.0, key.1), what);
            }
            Ok(())
        })?;
        for key in expected {
            let what =
                "it is missing, but the core belongs to the last refresh of a plan within a bound";
            self.find("step_cache", step_name(key.0, key.1), what);
        }
        self.walk(&tables::CORE_SCORES, |walk, key, figures| {
            let core = (key.refresh, key.rank);
            let is_valid = match key.side {
                CoreScoresPart::Authorities | CoreScoresPart::Hubs => return Ok(()),
                CoreScoresPart::Bound => {
                    let core = walk.store.get(&tables::CORES, &core).ok().flatten();
                    let sigma = core.map_or(0.0, |core| core.sigma);
                    figures.len() == 1 && figures[0] >= sigma
                }
                CoreScoresPart::Convergence => {
                    let is_length = |figure: &f64| figure.is_finite() && *figure >= 0.0;
                    figures.len() == 2 && figures.iter().all(is_length)
                }
            };
            if !parts.remove(&(core.0, core.1, key.side)) || !is_valid {
                let what = "it does not fit its core";
                walk.find("core_scores", core_scores_name(key), what);
            }
            Ok(())
        })?;
        for (refresh, rank, side) in parts {
            let key = CoreScoresKey {
                refresh,
                rank,
                side,
            };
            self.find("core_scores", core_scores_name(key), "it is missing");
        }
        Ok(())
    }
}

fn step_name(series: u32, rank: u32) -> String {
    format!("series {series}, core {rank}")
}

// Check of the cached results of components against the cores of refreshes.

impl Walk<'_> {
    /// Every core of a refresh has one origin. The cache refers to pages and cores of the last refresh of the
    /// plan, to each core at most once.
    pub(super) fn component_cache(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<(), StoreError> {
        self.core_origins(refreshes)?;
        let near = self.components(refreshes)?;
        self.near_cores(near)
    }

    fn core_origins(&mut self, refreshes: &BTreeMap<u32, RefreshRecord>) -> Result<(), StoreError> {
        let mut ranks: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        self.walk(&tables::CORE_ORIGINS, |walk, key, rank| {
            let own = key.origin.refresh == key.of;
            if key.origin.refresh > key.of || (own && key.origin.rank != rank) {
                let what = "the core is later than the refresh, or its rank differs";
                walk.find("core_origins", origin_name(key), what);
            }
            if !ranks.entry(key.of).or_default().insert(rank) {
                let what = format!("another core has the rank {rank}");
                walk.find("core_origins", origin_name(key), what);
            }
            Ok(())
        })?;
        for (refresh, record) in refreshes {
            let found = ranks.remove(refresh).unwrap_or_default();
            if !found.into_iter().eq(1..=record.cores) {
                let what = format!("they are not the ranks from 1 to {}", record.cores);
                let name = format!("refresh {refresh}");
                self.find("core_origins", name, what);
            }
        }
        for refresh in ranks.into_keys() {
            let name = format!("refresh {refresh}");
            self.find("core_origins", name, "the refresh does not exist");
        }
        Ok(())
    }

    /// Returns the cores of the cached components, by series.
    fn components(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<BTreeSet<CoreOriginKey>, StoreError> {
        // The last refresh of each series.
        let mut last: BTreeMap<u32, (u32, &RefreshRecord)> = BTreeMap::new();
        for (number, record) in refreshes {
            if let Some(of) = record.standings {
                last.insert(of.series, (*number, record));
            }
        }
        let mut sizes: BTreeMap<(u32, PageId), u32> = BTreeMap::new();
        let mut named = BTreeSet::new();
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        self.walk(
            &tables::COMPONENT_CACHE,
            |walk, (series, component), record| {
                *counts.entry(series).or_default() += 1;
                sizes.insert((series, component), record.pages);
                let name = format!("series {series}, {component}");
                if !walk.pages.contains(component) {
                    let what = "its first page does not exist";
                    walk.find("component_cache", &name, what);
                }
                let is_number = |value: f64| value.is_sign_positive() && value.is_finite();
                let mut sigmas = record.cores.iter().map(|core| core.sigma);
                if !is_number(record.next) || !sigmas.all(is_number) {
                    let what = "its bound or the sigma of a core is not a finite number";
                    walk.find("component_cache", &name, what);
                    return Ok(());
                }
                let refresh = last.get(&series).map_or(0, |last| last.0);
                let mut last_rank = 0;
                for core in &record.cores {
                    let origin = core.origin;
                    let of_refresh = CoreOriginKey {
                        of: refresh,
                        origin,
                    };
                    // Unreadable origins are reported by the check of `core_origins`.
                    let rank = walk.store.get(&tables::CORE_ORIGINS, &of_refresh).ok();
                    let rank = rank.flatten().unwrap_or(0);
                    let stored = walk.store.get(&tables::CORES, &(refresh, rank)).ok();
                    let sigma = stored.flatten().map(|core| core.sigma.to_bits());
                    if rank <= last_rank || sigma != Some(core.sigma.to_bits()) {
                        let what = "it does not match the cores of the last refresh";
                        walk.find("component_cache", &name, what);
                    }
                    last_rank = rank;
                    let of_series = CoreOriginKey { of: series, origin };
                    if !named.insert(of_series) {
                        let what = format!("{} is in two components", core_name(origin));
                        walk.find("component_cache", &name, what);
                    }
                }
                Ok(())
            },
        )?;
        self.series_components(last, counts, sizes)?;
        Ok(named)
    }

    /// Each series has the recorded number of components, with the right pages.
    fn series_components(
        &mut self,
        last: BTreeMap<u32, (u32, &RefreshRecord)>,
        mut counts: BTreeMap<u32, u32>,
        mut sizes: BTreeMap<(u32, PageId), u32>,
    ) -> Result<(), StoreError> {
        for (series, (refresh, record)) in last {
            let (found, expected) = (counts.remove(&series).unwrap_or(0), record.components);
            let name = format!("series {series}");
            if found != expected {
                let what = format!("{found} found, but the last refresh records {expected}");
                self.find("component_cache", &name, what);
            }
            let pages = self.pages_in_components(series, refresh, &mut sizes)?;
            let expected = record.standings.map_or(0, |of| of.counted);
            if pages != expected {
                let what = format!(
                    "{pages} pages found in components, but the refresh records {expected}"
                );
                self.find("page_evidence", format!("refresh {refresh}"), what);
            }
        }
        for ((series, component), _) in sizes {
            let name = format!("series {series}, {component}");
            let what = "its pages are in another component, or their number differs";
            self.find("component_cache", name, what);
        }
        for series in counts.into_keys() {
            let name = format!("series {series}");
            self.find("component_cache", name, "no refresh belongs to it");
        }
        Ok(())
    }

    /// Counts the pages in components that a refresh sees. Removes the components with the right number of
    /// pages and the right name from `sizes`.
    fn pages_in_components(
        &mut self,
        series: u32,
        refresh: u32,
        sizes: &mut BTreeMap<(u32, PageId), u32>,
    ) -> Result<u64, StoreError> {
        let mut found: BTreeMap<PageId, (u32, PageId)> = BTreeMap::new();
        let mut pages = 0;
        let mut seen = None;
        let prefix = series.to_be_bytes();
        // Unreadable blocks are reported by the check of `page_evidence`.
        let all = self.store.scan_under(&tables::PAGE_EVIDENCE, &prefix)?;
        for (key, PageEvidenceBlock(block)) in all.flatten() {
            let place = (key.site, key.block);
            if key.refresh > refresh || seen.replace(place) == Some(place) {
                continue;
            }
            for (place, evidence) in block.map(|block| block.0).unwrap_or_default() {
                let LinkStatus::Counted { component, .. } = evidence.links else {
                    continue;
                };
                // Pages are in the order of their ids, and the smallest id names the component.
                let first = page_at(key.site, key.block, place);
                found.entry(component).or_insert((0, first)).0 += 1;
                pages += 1;
            }
        }
        for (component, (count, first)) in found {
            let key = (series, component);
            if first == component && sizes.get(&key) == Some(&count) {
                sizes.remove(&key);
            } else if !sizes.contains_key(&key) {
                let what = format!("{first} and others are in {component}, which does not exist");
                let name = format!("series {series}");
                self.find("component_cache", name, what);
            }
        }
        Ok(pages)
    }

    fn near_cores(&mut self, mut named: BTreeSet<CoreOriginKey>) -> Result<(), StoreError> {
        self.walk(&tables::NEAR_CORE_CACHE, |walk, key, near| {
            let name = origin_name(key);
            if !named.remove(&key) {
                let what = "no cached component has the core";
                walk.find("near_core_cache", &name, what);
            }
            if near.0.iter().any(|near| !near.score.is_finite()) {
                walk.find("near_core_cache", &name, "a score is not finite");
            }
            for near in &near.0 {
                walk.require_page("near_core_cache", &name, near.page);
            }
            Ok(())
        })?;
        for key in named {
            let name = origin_name(key);
            self.find("near_core_cache", name, "it is missing");
        }
        Ok(())
    }
}

fn core_name(origin: CoreOrigin) -> String {
    format!("core {} of refresh {}", origin.rank, origin.refresh)
}

fn origin_name(key: CoreOriginKey) -> String {
    format!("{}, {}", key.of, core_name(key.origin))
}

// Check of evidence: members and summaries against cores, page evidence against refreshes, reach against the
// covered sets.

/// Hashes the role of a page in a core.
fn role_hash(refresh: RefreshId, core: u32, page: PageId, side: u8, taken: u32, score: f64) -> u64 {
    hash(&[
        &refresh.to_be_bytes(),
        &core.to_be_bytes(),
        &page.0.to_be_bytes(),
        &[side],
        &taken.to_be_bytes(),
        &score.to_be_bytes(),
    ])
}

/// The page evidence of a series: the change of the number of pages at each refresh.
type PageChanges = BTreeMap<u32, i64>;

/// The reach of a site under the refresh that selected the seeds.
#[derive(Default)]
struct ReachCounts {
    pages: u64,
    /// Sum of the hashes of covered pages in `reach`, minus those in `page_sets`.
    covered: u64,
}

impl Walk<'_> {
    pub(super) fn evidence(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
        over_web: OverWeb,
    ) -> Result<(), StoreError> {
        self.member_roles()?;
        self.core_evidence(refreshes)?;
        self.page_evidence(refreshes)?;
        let cached = self.gain_cache(&over_web.selected_by())?;
        self.reach(refreshes, over_web, &cached)
    }

    fn member_roles(&mut self) -> Result<(), StoreError> {
        let mut sums: BTreeMap<u32, u64> = BTreeMap::new();
        self.walk(&tables::CORES, |walk, (refresh, rank), core| {
            let sum = sums.entry(refresh).or_default();
            for (side, pages, number) in [
                (CoreScoresPart::Hubs, &core.hubs, 1),
                (CoreScoresPart::Authorities, &core.authorities, 0),
            ] {
                let key = CoreScoresKey {
                    refresh,
                    rank,
                    side,
                };
                // Unreadable scores are reported by the check of `core_scores`.
                let scores = walk.store.get(&tables::CORE_SCORES, &key).ok().flatten();
                let scores = scores.unwrap_or_default();
                for ((taken, page), score) in (1..).zip(pages).zip(scores) {
                    *sum = sum.wrapping_add(role_hash(refresh, rank, *page, number, taken, score));
                }
            }
            Ok(())
        })?;
        self.walk(&tables::CORE_MEMBERS, |walk, (refresh, page), member| {
            walk.require_page("core_members", format!("refresh {refresh}"), page);
            let sum = sums.entry(refresh).or_default();
            for (number, place) in [(1, member.hub), (0, member.authority)] {
                if let Some(SidePlace { taken, score, .. }) = place {
                    let role = role_hash(refresh, member.core, page, number, taken, score);
                    *sum = sum.wrapping_sub(role);
                }
            }
            Ok(())
        })?;
        for (refresh, sum) in sums {
            if sum != 0 {
                let name = format!("refresh {refresh}");
                let what = "they differ from the pages of its cores";
                self.find("core_members", name, what);
            }
        }
        Ok(())
    }

    fn core_evidence(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<(), StoreError> {
        let mut counts: BTreeMap<u32, u32> = BTreeMap::new();
        self.walk(&tables::CORE_EVIDENCE, |walk, (refresh, rank), evidence| {
            *counts.entry(refresh).or_default() += 1;
            let name = format!("refresh {refresh}, core {rank}");
            for page in evidence.first.iter().copied().chain([evidence.seed]) {
                walk.require_page("core_evidence", &name, page);
            }
            let core = walk.store.get(&tables::CORES, &(refresh, rank));
            let matches = core.ok().flatten().is_some_and(|core| {
                let sizes = (core.hubs.len(), core.authorities.len());
                core.sigma.to_bits() == evidence.sigma.to_bits()
                    && (core.edges, core.seed) == (evidence.edges, evidence.seed)
                    && sizes == (evidence.hubs as usize, evidence.authorities as usize)
                    && (1..=refresh).contains(&evidence.since)
            });
            if !matches {
                walk.find("core_evidence", name, "it does not match its core");
            }
            Ok(())
        })?;
        for (refresh, record) in refreshes {
            let found = counts.get(refresh).copied().unwrap_or(0);
            if found != record.cores {
                let what = format!("{found} found, but the refresh has {} cores", record.cores);
                let name = format!("refresh {refresh}");
                self.find("core_evidence", name, what);
            }
        }
        Ok(())
    }

    /// Every refresh sees the recorded number of pages, and some refresh sees every block.
    fn page_evidence(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
    ) -> Result<(), StoreError> {
        let mut seen_by: BTreeMap<u32, BTreeSet<u32>> = BTreeMap::new();
        for (number, record) in refreshes {
            if let Some(of) = record.standings {
                seen_by.entry(of.series).or_default().insert(*number);
            }
        }
        let mut found: BTreeMap<u32, PageChanges> = BTreeMap::new();
        let mut written: BTreeMap<u32, PageSet> = BTreeMap::new();
        // The next later version of the block: its refresh and its pages.
        let mut later: Option<((u32, SiteId, u32), u32, i64)> = None;
        self.walk(
            &tables::PAGE_EVIDENCE,
            |walk, key, PageEvidenceBlock(block)| {
                let name = format!(
                    "series {}, {}, block {}, refresh {}",
                    key.series, key.site, key.block, key.refresh
                );
                if refreshes.contains_key(&key.refresh) {
                    let of_refresh = PageSetKey::EvidenceBlocks(key.refresh);
                    let blocks = match written.entry(key.refresh) {
                        Entry::Occupied(blocks) => blocks.into_mut(),
                        Entry::Vacant(place) => {
                            // An unreadable set is reported by the check of `page_sets`.
                            let blocks = walk.store.page_set(of_refresh).ok();
                            place.insert(blocks.flatten().unwrap_or_default())
                        }
                    };
                    if !blocks.contains(PageId::new(key.site, key.block).0) {
                        let what = format!("it lacks {}, block {}", key.site, key.block);
                        walk.find("page_sets", page_set_name(of_refresh), what);
                    }
                }
                let entries = block.as_ref().map_or(&[][..], |block| block.0.as_slice());
                for (place, _) in entries {
                    let page = page_at(key.site, key.block, *place);
                    walk.require_page("page_evidence", &name, page);
                }
                let pages = i64::try_from(entries.len()).unwrap_or(i64::MAX);
                let changes = found.entry(key.series).or_default();
                *changes.entry(key.refresh).or_default() += pages;
                let place = (key.series, key.site, key.block);
                let until = later.filter(|later| later.0 == place);
                if let Some((_, refresh, _)) = until {
                    *changes.entry(refresh).or_default() -= pages;
                }
                later = Some((place, key.refresh, pages));
                let next = until.map_or(u32::MAX, |(_, refresh, _)| refresh);
                let seen = seen_by.get(&key.series).is_some_and(|refreshes| {
                    key.refresh < next && refreshes.range(key.refresh..next).next().is_some()
                });
                if !seen {
                    walk.find("page_evidence", name, "no refresh sees it");
                }
                Ok(())
            },
        )?;
        for (number, record) in refreshes {
            let Some(of) = record.standings else { continue };
            let changes = found.get(&of.series);
            let pages: i64 = changes.map_or(0, |c| c.range(..=number).map(|c| c.1).sum());
            if u64::try_from(pages) != Ok(of.pages) {
                let what = format!("{pages} pages found, but the refresh records {}", of.pages);
                let name = format!("refresh {number}");
                self.find("page_evidence", name, what);
            }
        }
        Ok(())
    }

    /// `reach` has all crawled pages of every site with seeds, and the pages that the seeds cover. For the
    /// refreshes `over_web`, it has as many pages as each seed reaches.
    fn reach(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
        mut over_web: OverWeb,
        cached: &BTreeSet<u32>,
    ) -> Result<(), StoreError> {
        let mut sites: BTreeMap<(u32, SiteId), ReachCounts> = BTreeMap::new();
        let selected_by = over_web.selected_by();
        self.walk(&tables::REACH, |walk, key, block| {
            let is_of_site = !selected_by.contains(&key.refresh);
            let mut of_site = is_of_site.then(|| sites.entry((key.refresh, key.site)).or_default());
            let name = format!("refresh {}, {}, block {}", key.refresh, key.site, key.block);
            if let Some(of_site) = &mut of_site {
                of_site.pages += block.0.len() as u64;
            }
            if cached.contains(&key.refresh) {
                walk.gains_of(&key, &block);
            }
            for (place, reach) in &block.0 {
                let page = page_at(key.site, key.block, *place);
                if !walk.pages.contains(page) {
                    walk.find("reach", &name, "it has a page that does not exist");
                }
                let Some(covered) = reach.covered else {
                    continue;
                };
                if let Some(of_site) = &mut of_site {
                    let by = u64::from(covered.pick) << 32 | u64::from(covered.hop);
                    of_site.covered = of_site.covered.wrapping_add(mix(page.0, by));
                } else if !over_web.count(key.refresh, covered.pick, covered.hop) {
                    walk.find("reach", &name, "it has a page that no seed reaches");
                }
            }
            Ok(())
        })?;
        self.walk(&tables::PAGE_SETS, |walk, key, pages| {
            let (of_site, pick, hop) = match key.set {
                PageSetKey::Covered(of) => (sites.get_mut(&(of.refresh, of.site)), of.pick, of.hop),
                _ => return Ok(()),
            };
            let Some(of_site) = of_site else {
                let what = "it is not in `reach`";
                walk.find("reach", page_set_name(key.set), what);
                return Ok(());
            };
            let by = u64::from(pick) << 32 | u64::from(hop);
            for page in &pages {
                of_site.covered = of_site.covered.wrapping_sub(mix(page, by));
            }
            Ok(())
        })?;
        let mut expected = BTreeMap::new();
        self.walk(&tables::COVERS, |_, (refresh, site), record| {
            if refreshes.contains_key(&refresh) && record.seats > 0 {
                expected.insert((record.since, site), u64::from(record.crawled));
            }
            Ok(())
        })?;
        for ((refresh, site), of_site) in &sites {
            let name = format!("refresh {refresh}, {site}");
            match expected.remove(&(*refresh, *site)) {
                Some(crawled) if crawled == of_site.pages && of_site.covered == 0 => {}
                Some(_) => {
                    let what = "it differs from the crawled or the covered pages of the site";
                    self.find("reach", name, what);
                }
                None => self.find("reach", name, "no refresh sees it"),
            }
        }
        self.reached_differences(&over_web);
        for (refresh, site) in expected.into_keys() {
            let name = format!("refresh {refresh}, {site}");
            self.find("reach", name, "it is missing");
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use crate::disk::scratch;
    use crate::tables::records::{
        BatchCounts, BatchKind, BatchRecord, FetchCounts, Observed, Settings,
    };
    use crate::tables::{self, PageSetKey};
    use crate::{Changes, Writer, create};
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
