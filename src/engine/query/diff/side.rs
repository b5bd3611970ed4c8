//! One of the two lists that are compared.

use std::collections::{BTreeMap, BTreeSet};

use super::answers::{DiffSide, UrlList};
use crate::engine::EngineError;
use crate::engine::history::timeline::Eligibility;
use crate::engine::plan::Plan;
use crate::engine::policy::Rules;
use crate::engine::query::nearest;
use crate::engine::query::views::Views;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest;
use seedbank_store::records::{RefreshId, RefreshRecord, SeedRecord};
use seedbank_store::tables;

/// A seed list.
pub(in crate::engine) struct Side {
    pub(super) view: DiffSide,
    /// The rank of each page.
    pub(in crate::engine) ranks: BTreeMap<PageId, u32>,
    /// The pages in rank order.
    pub(super) order: Vec<PageId>,
    /// What the refresh keeps; `None` for a list from outside.
    pub(super) run: Option<StoredRefresh>,
    /// URLs of a list that the bank does not have, with their ranks.
    pub(super) unknown: Vec<(u32, String)>,
}

/// What a refresh keeps besides its seeds.
pub(in crate::engine) struct StoredRefresh {
    pub(super) refresh: RefreshId,
    pub(super) record: RefreshRecord,
    pub(super) plan: Plan,
    pub(super) rules: Rules,
    /// Pages that the method came to and that are not on the list, since no more of it may change.
    pub(super) held_back: BTreeSet<PageId>,
    pub(super) seeds: BTreeMap<PageId, SeedRecord>,
    /// For every page in a core: the core's rank, and whether the page is a hub of it.
    pub(super) in_cores: BTreeMap<PageId, (u32, bool)>,
    /// The smallest sigma, where all the seeds that were asked for were found; else `None`.
    pub(super) lowest_sigma_if_full: Option<f64>,
}

impl StoredRefresh {
    pub(super) fn eligibility(&self) -> Eligibility {
        Eligibility::of(&self.plan)
    }
}

impl Side {
    /// The seeds of a refresh. Cost: one scan of its seeds and cores, and the lists of its policies.
    pub(in crate::engine) fn of_refresh(
        views: &Views,
        refresh: RefreshId,
        record: RefreshRecord,
    ) -> Result<Self, EngineError> {
        let store = &views.reader;
        let options = views.options(&record.settings)?;
        let plan = options.decide()?;
        let rules = Rules::load(store, options.policy()?, options.lists(), &Unwatched)?;
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
        let mut held_back = BTreeSet::new();
        if record.chosen.is_some() {
            for entry in store.scan_under(&tables::SEEDS, &prefix)? {
                let (_, seed) = entry?;
                if !seeds.contains_key(&seed.page) {
                    held_back.insert(seed.page);
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
            Plan::Cores(plan) => {
                let chosen = record.chosen.unwrap_or(record.seeds);
                chosen == plan.params.seeds
            }
            Plan::Cover(_) | Plan::Web(_) => false,
        };
        side.run = Some(StoredRefresh {
            refresh,
            record,
            plan,
            rules,
            seeds,
            held_back,
            in_cores,
            lowest_sigma_if_full: full.then_some(smallest),
        });
        Ok(side)
    }

    /// A list from outside. Empty lines and comments (`#`) are skipped, of each line only the part
    /// before white space counts, URLs are normalised, and repeated ones count once.
    pub(super) fn of_list(views: &Views, list: &UrlList) -> Result<Self, EngineError> {
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
            let at = ingest::parse(url, views.naming).map_err(|problem| EngineError::SeedList {
                list: list.name.clone(),
                line: *line,
                problem,
            })?;
            let new = match nearest::find_page(views, &at)?.map(|found| found.0) {
                Some(page) => {
                    let new = !ranks.contains_key(&page);
                    if new {
                        ranks.insert(page, rank + 1);
                        order.push(page);
                    }
                    new
                }
                None => unknown_urls.insert(at.url(views.naming.sites)),
            };
            if new {
                rank += 1;
                if order.len() + unknown.len() < rank as usize {
                    unknown.push((rank, at.url(views.naming.sites)));
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
