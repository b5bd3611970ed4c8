//! Check of the cached results of components against the cores of refreshes and against their index.

use std::collections::{BTreeMap, BTreeSet};

use super::{Walk, hash};
use crate::error::StoreError;
use crate::tables;
use crate::tables::records::RefreshRecord;
use crate::tables::records::component_cache::{CoreOrigin, CoreOriginKey};
use crate::tables::records::evidence::{LinkStatus, PageEvidenceBlock};
use crate::tables::records::page_blocks::BLOCK;
use seedbank_algorithms::page::PageId;

impl Walk<'_> {
    /// Every core of a refresh has one origin. The cache refers to pages and cores of the last refresh of the
    /// plan, to each core at most once; `component_cache_order` has the same components.
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
        let mut order = 0_u64;
        let entry_hash = |series: u32, bound: f64, component: u64| {
            hash(&[
                &series.to_be_bytes(),
                &bound.to_bits().to_be_bytes(),
                &component.to_be_bytes(),
            ])
        };
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
                let ahead = record.ahead.iter().map(|step| step.sigma);
                let mut sigmas = record.cores.iter().map(|core| core.sigma).chain(ahead);
                if record.ahead.is_some_and(|ahead| !ahead.fits(record.next)) {
                    let what = "its next step does not match the bound on the remaining links";
                    walk.find("component_cache", &name, what);
                }
                let best = record.ahead.map(|ahead| ahead.best);
                if best.is_some_and(|best| !walk.pages.contains(best)) {
                    let what = "the best authority of its next step does not exist";
                    walk.find("component_cache", &name, what);
                }
                if !is_number(record.next) || !sigmas.all(is_number) {
                    let what = "its bound or the sigma of a core is not a finite number";
                    walk.find("component_cache", &name, what);
                    return Ok(());
                }
                order = order.wrapping_add(entry_hash(series, record.bound(), component.0));
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
        let mut ordered = 0_u64;
        self.walk(&tables::COMPONENT_CACHE_ORDER, |_, key, ()| {
            let of_key = entry_hash(key.series, key.bound, key.component.0);
            ordered = ordered.wrapping_add(of_key);
            Ok(())
        })?;
        if order != ordered {
            let what = "they differ from the entries of `component_cache` in order of their bounds";
            self.find("component_cache_order", "(all)", what);
        }
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
                let index = key.block.saturating_mul(BLOCK).saturating_add(place);
                // Pages are in the order of their ids, and the smallest id names the component.
                let first = PageId::new(key.site, index);
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
