//! One of the two lists of a comparison.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::{Cause, DiffSide, UrlList};
use crate::engine::EngineError;
use crate::engine::eligibility::Admitted;
use crate::engine::plan::{PlanOptions, ResolvedPlan};
use crate::engine::policy::LoadedPolicy;
use crate::engine::query::nearest;
use crate::engine::query::views::Views;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest;
use seedbank_store::records::{RefreshId, RefreshRecord, SeedRecord};
use seedbank_store::tables;

/// Seed list of one side.
pub(in crate::engine) struct Side {
    pub(super) view: DiffSide,
    /// Rank of each page.
    pub(in crate::engine) ranks: BTreeMap<PageId, u32>,
    /// Pages in rank order.
    pub(super) order: Vec<PageId>,
    /// The stored refresh; `None` for a list from outside.
    pub(super) run: Option<StoredRefresh>,
    /// URLs of a list that the bank does not contain, with their ranks.
    pub(super) unknown: Vec<(u32, String)>,
}

/// Stored refresh with its seeds, cores and plan.
pub(in crate::engine) struct StoredRefresh {
    pub(super) refresh: RefreshId,
    pub(super) record: RefreshRecord,
    pub(super) plan: ResolvedPlan,
    /// The parameters of the plan, as they were given.
    pub(super) options: PlanOptions,
    pub(super) rules: LoadedPolicy,
    /// Pages that the method selected and `max-changes` keeps off the list.
    pub(super) deferred: BTreeSet<PageId>,
    pub(super) seeds: BTreeMap<PageId, SeedRecord>,
    /// For every page in a core, the core's rank and whether the page is a hub.
    pub(super) in_cores: BTreeMap<PageId, (u32, bool)>,
    /// Smallest sigma of a core; `None` if fewer seeds were found than requested.
    pub(super) lowest_sigma_if_full: Option<f64>,
}

impl StoredRefresh {
    /// Returns the pages that the plan admits as seeds by their states.
    pub(super) fn admitted(&self) -> Admitted {
        self.plan.page_scope().seeds
    }
}

impl Side {
    /// Reads a stored refresh. Cost: one scan of its seeds and cores, and the lists of its policies.
    pub(in crate::engine) fn from_refresh(
        views: &Views,
        refresh: RefreshId,
        record: RefreshRecord,
    ) -> Result<Self, EngineError> {
        let store = &views.reader;
        let options = views.options(&record.settings)?;
        let plan = options.resolve()?;
        let rules = LoadedPolicy::load(store, options.policy()?, options.lists(), &Unwatched)?;
        let prefix = refresh.to_be_bytes();
        let mut side = Self {
            view: DiffSide {
                refresh: Some(refresh),
                plan: Some(record.plan.clone()),
                batch: Some(record.batch),
                list: None,
                seeds: record.seeds,
            },
            ranks: BTreeMap::new(),
            order: Vec::new(),
            run: None,
            unknown: Vec::new(),
        };
        let mut seeds = BTreeMap::new();
        for (rank, seed) in store.list(refresh)? {
            side.ranks.insert(seed.page, rank);
            side.order.push(seed.page);
            seeds.insert(seed.page, seed);
        }
        let mut deferred = BTreeSet::new();
        if record.chosen.is_some() {
            for entry in store.scan_under(&tables::SEEDS, &prefix)? {
                let (_, seed) = entry?;
                if !seeds.contains_key(&seed.page) {
                    deferred.insert(seed.page);
                }
            }
        }
        let mut in_cores = BTreeMap::new();
        let mut smallest = f64::INFINITY;
        for entry in store.scan_under(&tables::CORES, &prefix)? {
            let ((_, rank), core) = entry?;
            smallest = smallest.min(core.sigma);
            for page in core.authorities {
                in_cores.insert(page, (rank, false));
            }
            for page in core.hubs {
                in_cores.insert(page, (rank, true));
            }
        }
        let full = match &plan {
            ResolvedPlan::Cores(plan) => {
                let chosen = record.chosen.unwrap_or(record.seeds);
                chosen == plan.params.seeds
            }
            ResolvedPlan::Cover(_) | ResolvedPlan::Web(_) => false,
        };
        side.run = Some(StoredRefresh {
            refresh,
            record,
            plan,
            options,
            rules,
            seeds,
            deferred,
            in_cores,
            lowest_sigma_if_full: full.then_some(smallest),
        });
        Ok(side)
    }

    /// Reads a list from outside. The URL of a line is the text before white space; empty lines and
    /// comments (`#`) are skipped. URLs are normalised, and duplicates ignored.
    pub(super) fn from_list(views: &Views, list: &UrlList) -> Result<Self, EngineError> {
        let mut ranks = BTreeMap::new();
        let mut order = Vec::new();
        let mut unknown: Vec<(u32, String)> = Vec::new();
        let mut unknown_urls = BTreeSet::new();
        let mut rank = 0;
        for (line, text) in &list.urls {
            let Some(url) = text.split_whitespace().next() else {
                continue;
            };
            if url.starts_with('#') {
                continue;
            }
            let at = ingest::parse(url, views.naming).map_err(|problem| {
                EngineError::InvalidSeedList {
                    list: list.name.clone(),
                    line: *line,
                    problem,
                }
            })?;
            match nearest::find_page(views, &at)? {
                Some((page, _)) if !ranks.contains_key(&page) => {
                    rank += 1;
                    ranks.insert(page, rank);
                    order.push(page);
                }
                Some(_) => {}
                None => {
                    let url = at.url(views.naming.sites);
                    if unknown_urls.insert(url.clone()) {
                        rank += 1;
                        unknown.push((rank, url));
                    }
                }
            }
        }
        Ok(Self {
            view: DiffSide {
                refresh: None,
                plan: None,
                batch: None,
                list: Some(list.name.clone()),
                seeds: rank,
            },
            ranks,
            order,
            run: None,
            unknown,
        })
    }
}

// Distinguishes seeds that were reordered from seeds that only shifted because others were gained or
// lost before them.

/// Returns for each page on both lists the cause of a change of its rank.
///
/// A page is shifted if the common pages before it are the same set on both lists. Algorithm: both lists,
/// restricted to common pages, are walked side by side; a page is open between its two positions. If no
/// page is open, the two prefixes are the same set. Cost: linear apart from lookups.
pub(super) fn moves(from: &[PageId], to: &[PageId]) -> BTreeMap<PageId, Cause> {
    let mut seen: BTreeMap<PageId, u8> = BTreeMap::new();
    for page in from.iter().chain(to) {
        *seen.entry(*page).or_default() += 1;
    }
    let both = |list: &[PageId]| -> Vec<PageId> {
        let pages = list.iter().copied();
        pages.filter(|page| seen.get(page) == Some(&2)).collect()
    };
    let mut open: BTreeSet<PageId> = BTreeSet::new();
    let mut moves = BTreeMap::new();
    for (before, after) in both(from).into_iter().zip(both(to)) {
        if before == after && open.is_empty() {
            moves.insert(before, Cause::Shifted);
            continue;
        }
        for page in [before, after] {
            moves.insert(page, Cause::Reordered);
            if !open.remove(&page) {
                open.insert(page);
            }
        }
    }
    moves
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pages(ids: &[u64]) -> Vec<PageId> {
        ids.iter().map(|id| PageId(*id)).collect()
    }

    /// Follows the definition: compares the sets of pages before each.
    fn judge(from: &[PageId], to: &[PageId]) -> BTreeMap<PageId, Cause> {
        let before = |list: &[PageId], other: &[PageId], page: &PageId| {
            let mut all: Vec<PageId> = list.iter().take_while(|p| *p != page).copied().collect();
            all.retain(|page| other.contains(page));
            all.sort_unstable();
            all
        };
        let both = from.iter().filter(|page| to.contains(page));
        both.map(|page| {
            let same = before(from, to, page) == before(to, from, page);
            let cause = if same {
                super::super::answers::Cause::Shifted
            } else {
                super::super::answers::Cause::Reordered
            };
            (*page, cause)
        })
        .collect()
    }

    #[test]
    fn a_seed_is_shifted_by_others_or_reordered() {
        let lists: [&[u64]; 6] = [
            &[1, 2, 3, 4, 5],
            &[2, 3, 4, 5],
            &[9, 1, 8, 2, 3, 5, 4],
            &[3, 1, 2, 4, 5],
            &[5, 4, 3, 2, 1],
            &[],
        ];
        for from in lists {
            for to in lists {
                let (from, to) = (pages(from), pages(to));
                assert_eq!(moves(&from, &to), judge(&from, &to), "{from:?} {to:?}");
            }
        }
    }
}
