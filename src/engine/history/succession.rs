//! Finds successors of dead seeds. A seed is dead if it is gone, spam in a plan that excludes spam, or no
//! longer a hub.
//!
//! The first choice is another hub of its core: the one with the best hub score among those that still
//! link to an eligible authority of the core. Otherwise it is the page with the most similar row, by the
//! exact Jaccard similarity of inter-site targets with the last row of the dead seed. If the history no
//! longer has that row, the authorities of the core replace it. Ties go to the smallest URL. Successors
//! depend on the current state, so they may change with the next batch.
//!
//! Cost: the hubs of the core and their rows; for similar rows the rows that share a target, of which only
//! those that could still be the most similar are read.

use std::collections::{BTreeMap, BTreeSet};

use super::timeline::PageTimelines;
use crate::engine::EngineError;
use crate::engine::eligibility::Admitted;
use crate::engine::plan::{CorePlan, ResolvedPlan};
use seedbank_algorithms::page::{PageId, RowId};
use seedbank_algorithms::rank::TIED;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, SiteMode};
use seedbank_store::links::LinkKey;
use seedbank_store::records::{RefreshId, SeedEvidence, Succession};
use seedbank_store::tables::{self, CoreScoresKey, CoreScoresPart};
use seedbank_store::{Store, StoreError};

/// Finder of successors in the current state.
pub(crate) struct Successors<'a> {
    store: &'a Store,
    mode: SiteMode,
    admitted: Admitted,
    by_cores: bool,
    timelines: &'a PageTimelines<'a>,
}

/// Seed of a stored refresh.
#[derive(Clone, Copy)]
pub(crate) struct OldSeed {
    pub(crate) page: PageId,
    /// Refresh, and rank of its core there; `None` for a cover method or a list from outside.
    pub(crate) core: Option<(RefreshId, u32)>,
}

impl<'a> Successors<'a> {
    pub(crate) fn new(
        store: &'a Store,
        mode: SiteMode,
        plan: &ResolvedPlan,
        timelines: &'a PageTimelines<'a>,
    ) -> Self {
        let by_cores = matches!(plan, ResolvedPlan::Cores(_));
        let mut admitted = plan.page_scope().seeds;
        // Cover methods include spam pages, but spam is no useful successor.
        admitted.spam &= by_cores;
        Self {
            store,
            mode,
            admitted,
            by_cores,
            timelines,
        }
    }

    /// Returns the successor of a seed; `None` if the seed is not dead, or no page is similar.
    pub(crate) fn find(&self, seed: OldSeed) -> Result<Option<(PageId, Succession)>, EngineError> {
        if !self.is_dead(seed.page)? {
            return Ok(None);
        }
        let core = match seed.core {
            Some(key) => Some((key, self.store.need(&tables::CORES, &key)?)),
            None => None,
        };
        let last = self.timelines.timeline(seed.page)?.last_row();
        let mut targets = self.timelines.targets(seed.page, last)?;
        if let (true, Some((_, core))) = (targets.is_empty(), &core) {
            targets.clone_from(&core.authorities);
            targets.sort_unstable();
        }
        if let Some(((refresh, rank), core)) = core {
            let key = CoreScoresKey {
                refresh,
                rank,
                side: CoreScoresPart::Hubs,
            };
            let scores = self.store.need(&tables::CORE_SCORES, &key)?;
            let authorities: BTreeSet<PageId> = core.authorities.into_iter().collect();
            let hubs = core.hubs.into_iter().zip(scores);
            if let Some((page, row)) = self.best_hub(seed.page, hubs, &authorities)? {
                let succession = Succession {
                    page: seed.page,
                    same_core: true,
                    similarity: jaccard(&targets, &row),
                };
                return Ok(Some((page, succession)));
            }
        }
        let similar = self.most_similar(seed.page, &targets)?;
        Ok(similar.map(|(page, similarity)| {
            let succession = Succession {
                page: seed.page,
                same_core: false,
                similarity,
            };
            (page, succession)
        }))
    }

    /// Returns whether a page can no longer be a seed.
    fn is_dead(&self, page: PageId) -> Result<bool, EngineError> {
        if !self.is_eligible(page)? {
            return Ok(true);
        }
        Ok(self.by_cores && !self.any_eligible(&self.row(page)?)?)
    }

    fn is_eligible(&self, page: PageId) -> Result<bool, StoreError> {
        let record = self.store.need(&tables::PAGES, &page)?;
        Ok(self.admitted.includes(record.state, record.spam))
    }

    fn any_eligible(&self, pages: &[PageId]) -> Result<bool, StoreError> {
        for page in pages {
            if self.is_eligible(*page)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// Returns the inter-site targets of a page.
    fn row(&self, page: PageId) -> Result<Vec<PageId>, StoreError> {
        let record = self.store.need(&tables::PAGES, &page)?;
        self.timelines.targets(page, record.row)
    }

    fn url(&self, page: PageId) -> Result<String, StoreError> {
        let site = self.store.need(&tables::SITES, &page.site())?.name;
        let local = self.store.need(&tables::PAGES, &page)?.local;
        Ok(ingest::url(&site, &local, self.mode))
    }

    /// Returns the best hub that still links to one of the authorities, with its row.
    fn best_hub(
        &self,
        seed: PageId,
        hubs: impl Iterator<Item = (PageId, f64)>,
        authorities: &BTreeSet<PageId>,
    ) -> Result<Option<(PageId, Vec<PageId>)>, EngineError> {
        let mut hubs: Vec<(PageId, f64)> = hubs.filter(|(page, _)| *page != seed).collect();
        hubs.sort_by(|a, b| b.1.total_cmp(&a.1));
        let mut limit = f64::NEG_INFINITY;
        let mut best: Option<(String, PageId, Vec<PageId>)> = None;
        for (page, score) in hubs {
            if score < limit {
                break;
            }
            if !self.is_eligible(page)? {
                continue;
            }
            let row = self.row(page)?;
            let linked: Vec<PageId> = row
                .iter()
                .copied()
                .filter(|target| authorities.contains(target))
                .collect();
            if !self.any_eligible(&linked)? {
                continue;
            }
            if best.is_none() {
                limit = score * (1.0 - TIED);
            }
            let url = self.url(page)?;
            if best.as_ref().is_none_or(|best| url < best.0) {
                best = Some((url, page, row));
            }
        }
        Ok(best.map(|(_, page, row)| (page, row)))
    }

    /// Returns the page whose row is most similar to `targets`; `None` if no row shares a target.
    fn most_similar(
        &self,
        seed: PageId,
        targets: &[PageId],
    ) -> Result<Option<(PageId, f64)>, EngineError> {
        let mut shared: BTreeMap<RowId, u64> = BTreeMap::new();
        for target in targets {
            let (key, place) = LinkKey::of_page(*target);
            let citers = self.store.links(&tables::CITERS, key)?;
            for row in self.store.citing_rows(*target, citers.at(place))? {
                *shared.entry(row).or_default() += 1;
            }
        }
        // A row that shares n of N targets has a similarity of at most n / N, whatever its length.
        let mut by_shared: Vec<(u64, RowId)> = shared.into_iter().map(|(r, n)| (n, r)).collect();
        by_shared.sort_unstable_by(|a, b| b.cmp(a));
        let mut best: Option<(Ratio, String, PageId)> = None;
        for (common, row) in by_shared {
            let most = Ratio(common, targets.len() as u64);
            if best.as_ref().is_some_and(|best| most < best.0) {
                break;
            }
            let length = self.store.need_row(row)?.len() as u64;
            let ratio = Ratio(common, targets.len() as u64 + length - common);
            if best.as_ref().is_some_and(|best| ratio < best.0) {
                continue;
            }
            let Some((url, page)) = self.first_page(row, seed)? else {
                continue;
            };
            if best
                .as_ref()
                .is_none_or(|best| ratio > best.0 || url < best.1)
            {
                best = Some((ratio, url, page));
            }
        }
        Ok(best.map(|(ratio, _, page)| (page, ratio.value())))
    }

    /// Returns the eligible page with this row and the smallest URL.
    fn first_page(
        &self,
        row: RowId,
        except: PageId,
    ) -> Result<Option<(String, PageId)>, StoreError> {
        let members = self.store.need(&tables::ROW_MEMBERS, &row)?;
        let mut first = None;
        for index in members.pages {
            let page = PageId::new(row.site(), index);
            if page != except && self.is_eligible(page)? {
                let found = Some((self.url(page)?, page));
                first = if first.is_none() || found < first {
                    found
                } else {
                    first
                };
            }
        }
        Ok(first)
    }
}

/// Returns the seeds of a refresh in order, with each dead seed replaced by its successor, and the
/// successions.
///
/// A successor that is already a seed, or the successor of a better seed, is not repeated.
pub(crate) fn stable_list(
    store: &Store,
    plan: &CorePlan,
    refresh: RefreshId,
    watch: &dyn Watch,
) -> Result<(Vec<PageId>, BTreeMap<PageId, Succession>), EngineError> {
    let record = store.need(&tables::REFRESHES, &refresh)?;
    let mut old_seeds = Vec::new();
    for (_, seed) in store.list(refresh)? {
        let core = match seed.evidence {
            SeedEvidence::Core { core, .. } => Some((refresh, core)),
            SeedEvidence::Cover(_) | SeedEvidence::Web(_) | SeedEvidence::ByPolicy => None,
        };
        old_seeds.push(OldSeed {
            page: seed.page,
            core,
        });
    }
    let seeds: BTreeSet<PageId> = old_seeds.iter().map(|seed| seed.page).collect();
    let timelines = PageTimelines::open(store, record.batch)?;
    let mode = crate::engine::naming(&store.settings()?)?.sites;
    let successors = Successors::new(store, mode, &ResolvedPlan::Cores(*plan), &timelines);
    watch.stage("successors", Some(old_seeds.len() as u64));
    let mut list = Vec::with_capacity(old_seeds.len());
    let mut successions = BTreeMap::new();
    for seed in old_seeds {
        watch.proceed()?;
        match successors.find(seed)? {
            None => list.push(seed.page),
            Some((page, _)) if seeds.contains(&page) || successions.contains_key(&page) => {}
            Some((page, succession)) => {
                list.push(page);
                successions.insert(page, succession);
            }
        }
        watch.advance(1);
    }
    Ok((list, successions))
}

/// Fraction with exact comparison.
#[derive(Clone, Copy)]
struct Ratio(u64, u64);

impl Ratio {
    fn value(self) -> f64 {
        self.0 as f64 / self.1 as f64
    }
}

impl PartialEq for Ratio {
    fn eq(&self, other: &Self) -> bool {
        self.partial_cmp(other) == Some(std::cmp::Ordering::Equal)
    }
}

impl PartialOrd for Ratio {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        let left = u128::from(self.0) * u128::from(other.1);
        let right = u128::from(other.0) * u128::from(self.1);
        left.partial_cmp(&right)
    }
}

/// Returns the Jaccard similarity of two ascending lists; 0 for two empty ones.
fn jaccard(a: &[PageId], b: &[PageId]) -> f64 {
    let common = a
        .iter()
        .filter(|page| b.binary_search(page).is_ok())
        .count();
    let all = a.len() + b.len() - common;
    if all == 0 {
        0.0
    } else {
        common as f64 / all as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn similarity_counts_what_is_shared() {
        let pages = |ids: &[u64]| -> Vec<PageId> { ids.iter().map(|id| PageId(*id)).collect() };
        let similarity = |a: &[u64], b: &[u64]| jaccard(&pages(a), &pages(b));
        assert!((similarity(&[1, 2, 3], &[2, 3, 4]) - 0.5).abs() < 1e-12);
        assert!((similarity(&[1, 2], &[1, 2]) - 1.0).abs() < 1e-12);
        assert!(similarity(&[1], &[2]) + similarity(&[], &[]) < 1e-12);
        assert!(Ratio(1, 3) == Ratio(2, 6) && Ratio(1, 3) < Ratio(3, 8));
    }
}
