//! Check of seeds, and of the results of cover methods: ranks and positions match, and the covered sets are
//! exactly those that the seeds claim.

use std::collections::BTreeMap;

use super::web_covers::OverWeb;
use super::{Walk, page_set_name};
use crate::error::StoreError;
use crate::tables::records::{RefreshRecord, SeedEvidence};
use crate::tables::{self, CoveredKey, PageSetKey};
use seedbank_algorithms::page::{PageSet, SiteId};

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
        self.web_picks(&seeds.over_web);
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
