//! Check of evidence: members and summaries against cores, page evidence against refreshes, reach against the
//! covered sets.

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};

use super::{Walk, hash, mix, page_set_name};
use crate::error::StoreError;
use crate::tables::records::evidence::{PageEvidenceBlock, SidePlace};
use crate::tables::records::page_blocks::BLOCK;
use crate::tables::records::{RefreshId, RefreshRecord};
use crate::tables::{self, CoreScoresKey, CoreScoresPart, PageSetKey};
use seedbank_algorithms::page::{PageId, PageSet, SiteId};

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

/// The reach of a site, or of the web, under the refresh that selected the seeds.
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
        over_web: &BTreeSet<u32>,
    ) -> Result<(), StoreError> {
        self.member_roles()?;
        self.core_evidence(refreshes)?;
        self.page_evidence(refreshes)?;
        self.reach(refreshes, over_web)
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
                    let index = u64::from(key.block) * u64::from(BLOCK) + u64::from(*place);
                    let index = u32::try_from(index).unwrap_or(u32::MAX);
                    walk.require_page("page_evidence", &name, PageId::new(key.site, index));
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
    /// refreshes `over_web`, it has the reached pages of all sites together.
    fn reach(
        &mut self,
        refreshes: &BTreeMap<u32, RefreshRecord>,
        over_web: &BTreeSet<u32>,
    ) -> Result<(), StoreError> {
        let mut sites: BTreeMap<(u32, SiteId), ReachCounts> = BTreeMap::new();
        let mut webs: BTreeMap<u32, ReachCounts> = over_web
            .iter()
            .map(|refresh| (*refresh, ReachCounts::default()))
            .collect();
        self.walk(&tables::REACH, |walk, key, block| {
            let of_site = match webs.get_mut(&key.refresh) {
                Some(of_web) => of_web,
                None => sites.entry((key.refresh, key.site)).or_default(),
            };
            let name = format!("refresh {}, {}, block {}", key.refresh, key.site, key.block);
            of_site.pages += block.0.len() as u64;
            for (place, reach) in &block.0 {
                let index = u64::from(key.block) * u64::from(BLOCK) + u64::from(*place);
                let index = u32::try_from(index).unwrap_or(u32::MAX);
                let page = PageId::new(key.site, index);
                if !walk.pages.contains(page) {
                    walk.find("reach", &name, "it has a page that does not exist");
                }
                if let Some(covered) = reach.covered {
                    let by = u64::from(covered.pick) << 32 | u64::from(covered.hop);
                    of_site.covered = of_site.covered.wrapping_add(mix(page.0, by));
                }
            }
            Ok(())
        })?;
        self.walk(&tables::PAGE_SETS, |walk, key, pages| {
            let (of_site, pick, hop) = match key.set {
                PageSetKey::Covered(of) => (sites.get_mut(&(of.refresh, of.site)), of.pick, of.hop),
                PageSetKey::Reached(of) => (webs.get_mut(&of.refresh), of.rank, of.hop),
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
        for (refresh, of_web) in webs {
            if of_web.covered != 0 {
                let name = format!("refresh {refresh}");
                let what = "it differs from the pages that the seeds reach";
                self.find("reach", name, what);
            }
        }
        for (refresh, site) in expected.into_keys() {
            let name = format!("refresh {refresh}, {site}");
            self.find("reach", name, "it is missing");
        }
        Ok(())
    }
}
