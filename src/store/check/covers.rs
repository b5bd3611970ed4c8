//! Seeds, and what refreshes of cover methods keep of sites: that ranks and picks fit together,
//! that what a seed claims to cover is there, and that no covered set is left over.

use std::collections::BTreeMap;

use super::web_covers::OverWeb;
use super::{Walk, bitmap_name};
use crate::error::StoreError;
use crate::tables::records::{RefreshRecord, SeedEvidence};
use crate::tables::{self, CoveredKey, PageSetKey};
use seedbank_algorithms::page::{PageSet, SiteId};

/// What the walk remembers of seeds.
#[derive(Default)]
pub(super) struct Seeds {
    pub(super) by_refresh: BTreeMap<u32, u32>,
    /// Seeds of cover methods: the ranks that a refresh has on a site.
    by_site: BTreeMap<(u32, SiteId), Vec<u32>>,
    /// How many pages seeds claim to cover at each hop, under the refresh that picked them. A seed
    /// that later refreshes took over is there once.
    picks: Picks,
    pub(super) over_web: OverWeb,
}

/// Numbers of pages by hop, under the refresh, the site and the pick.
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
            if !walk.pages.contains(seed.page.0) {
                walk.report
                    .find("seeds", name(), format!("{} does not exist", seed.page));
            }
            let record = refreshes.get(&refresh);
            if record.is_some_and(|record| record.chosen.is_none()) {
                walk.has_way_back(seed.page, (refresh, rank));
            }
            let evidence = match seed.evidence {
                SeedEvidence::Core { .. } | SeedEvidence::ByPolicy => return Ok(()),
                SeedEvidence::Web(evidence) => {
                    if let Some(what) = seeds.over_web.seed((refresh, rank), &evidence) {
                        walk.report.find("seeds", name(), what);
                    }
                    return Ok(());
                }
                SeedEvidence::Cover(evidence) => evidence,
            };
            let site = seed.page.site();
            let ranks = seeds.by_site.entry((refresh, site)).or_default();
            ranks.push(rank);
            if evidence.pick as usize != ranks.len() {
                walk.report
                    .find("seeds", name(), "its pick does not follow the site's last");
            }
            let pages: Vec<u32> = evidence.hops.iter().map(|hop| hop.pages).collect();
            let pick = (evidence.since, site, evidence.pick);
            let same = seeds.picks.entry(pick).or_insert_with(|| pages.clone());
            if *same != pages {
                walk.report
                    .find("seeds", name(), "another refresh says something else of it");
            }
            Ok(())
        })?;
        self.web_picks(&seeds.over_web);
        Ok(seeds)
    }

    /// Compares sites with seeds; returns which sets must be in `page_sets`.
    pub(super) fn covers(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
        seeds: &mut Seeds,
    ) -> Result<Picks, StoreError> {
        self.walk(&tables::COVERS, |walk, (refresh, site), record| {
            let name = format!("refresh {refresh}, {site}");
            if !refreshes.contains_key(&refresh) {
                walk.report
                    .find("covers", &name, "the refresh does not exist");
            }
            if record.since > refresh {
                walk.report
                    .find("covers", &name, "it was taken over from a later refresh");
            }
            if walk
                .store
                .has(&tables::SITES, &site)
                .is_ok_and(|there| !there)
            {
                walk.report.find("covers", &name, "the site does not exist");
            }
            let found = seeds.by_site.remove(&(refresh, site));
            if found.unwrap_or_default() != record.ranks {
                walk.report.find("covers", &name, "its seeds are others");
            }
            Ok(())
        })?;
        for (refresh, site) in std::mem::take(&mut seeds.by_site).into_keys() {
            self.report.find(
                "covers",
                format!("refresh {refresh}, {site}"),
                "the site has seeds and no record",
            );
        }
        Ok(std::mem::take(&mut seeds.picks))
    }

    /// Checks a covered set and takes it off the list of those that must be there.
    pub(super) fn covered(&mut self, key: CoveredKey, pages: &PageSet, picks: &mut Picks) {
        let name = bitmap_name(PageSetKey::Covered(key));
        let pick = picks.get_mut(&(key.refresh, key.site, key.pick));
        let hop = pick.and_then(|hops| hops.get_mut(key.hop as usize));
        let Some(wanted) = hop else {
            self.report.find("page_sets", name, "no seed covers it");
            return;
        };
        if pages.len() != u64::from(std::mem::take(wanted)) {
            self.report
                .find("page_sets", name, "its seed covers another number of pages");
        } else if pages.bitmaps().any(|(site, _)| site != key.site.0) {
            self.report
                .find("page_sets", name, "it names pages of another site");
        }
    }

    /// Reports the sets that seeds claim to cover and that are missing.
    pub(super) fn uncovered(&mut self, picks: &Picks) {
        for ((refresh, site, pick), hops) in picks {
            for (hop, _) in (0..).zip(hops).filter(|(_, pages)| **pages > 0) {
                let key = CoveredKey {
                    refresh: *refresh,
                    site: *site,
                    pick: *pick,
                    hop,
                };
                let name = bitmap_name(PageSetKey::Covered(key));
                self.report.find("page_sets", name, "it is missing");
            }
        }
    }
}
