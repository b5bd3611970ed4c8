//! Refresh over the whole web: selects seeds by the pages that a crawl reaches from them.
//!
//! If no batch has been ingested since the plan's previous refresh, its seeds are copied under the
//! new number, and the evidence stays stored under the refresh that picked them. Otherwise seeds are selected again, by gain
//! from the gains that the previous refresh has cached (`gain_cache`), with the same result as from scratch. With `keep-seeds`, the
//! previous list is part of the input, for a refresh from scratch too.
//!
//! A plan with a budget and without hops, a fetch cost or a value of known pages first runs a grid
//! search, and stores the result as parameters of the plan.
//!
//! In a cluster bank over several processes, a selection by gain or by weight runs in all of them, unless values are
//! PageRanks: each process has its share of the web, and they exchange messages ([`rounds`](crate::engine::rounds)).

pub(crate) mod evidence;
mod gain_cache;
pub(crate) mod load;
pub(super) mod service;
mod share;
mod web_job;

use crate::engine::Result;
use crate::engine::error::PlanError;
use crate::engine::refresh::report::ShortageReason;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::share_request::Earlier;
use crate::engine::web_graph::MirroredHosts;
pub(super) use evidence::delete_gains;
use evidence::{Lists, PageEvidence, Picked, combine, evidence, put_pick};
use load::{LoadedWeb, can_be_shared, is_cached};
use seedbank_algorithms::cover::Stop;
use seedbank_algorithms::cover::global::{
    Kept, Setting, Tuning, WebChoice, WebSelection, select_after,
};
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{RefreshId, SeedEvidence, SeedRecord};
use seedbank_store::{Changes, Store, tables};
use web_job::{SelectedByAll, WebJob, select_in_all};

/// Seeds of a plan over the web, to be stored. Memory: some 50 bytes for each reached page and each candidate, and 40 for each
/// crawled page.
pub(crate) struct WebRun {
    seeds: Seeds,
    pub(crate) page_visits: u64,
    /// Whether the seeds were selected from scratch.
    pub(crate) cold: bool,
    /// The number of candidates that were searched, and of all, if they were selected by gain.
    pub(crate) searched: Option<(u64, u64)>,
    /// How the list follows from the previous one; `None` if that is not kept.
    pub(crate) kept: Option<Kept>,
    /// Why the selection ended; `None` if the seeds are reused.
    stop: Option<Stop>,
    /// The chosen setting, and all results of the search for one; `None` if the plan had one.
    pub(crate) tuning: Option<(Setting, Tuning)>,
    /// By draw of tuning, the list of the setting that the other draws choose. Empty if these lists are made in another way than
    /// the list.
    pub(crate) draws: Vec<Vec<PageId>>,
}

enum Seeds {
    /// Reused from the previous refresh, in the order of the list.
    Reused(Vec<SeedRecord>),
    /// Selected by this refresh, in the order of the list.
    New {
        picked: Vec<Picked>,
        /// The evidence for the pages of this process.
        pages: PageEvidence,
        /// The job that selected them; `None` if this process has all pages.
        job: Option<WebJob>,
    },
}

/// Selects over the web. `previous` is the plan's previous refresh if it had the same parameters, and `is_same_state` whether it
/// ran on the same state; `list` is the previous list, best first.
pub(crate) fn run(
    context: RunContext<'_, WebChoice>,
    previous: Option<RefreshId>,
    is_same_state: bool,
    list: Vec<PageId>,
) -> Result<WebRun> {
    let store = context.store;
    if let Some(refresh) = previous.filter(|_| is_same_state) {
        let seeds = seeds(store, refresh)?;
        // Without seeds, nothing records which refresh selected them, so the selection runs again.
        if !seeds.is_empty() {
            return Ok(WebRun {
                seeds: Seeds::Reused(seeds),
                page_visits: 0,
                cold: false,
                searched: None,
                kept: None,
                tuning: None,
                draws: Vec::new(),
                stop: None,
            });
        }
    }
    let earlier = Earlier {
        gains: match previous.filter(|_| is_cached(context.plan)) {
            Some(refresh) => picked_by(store, refresh)?,
            None => None,
        },
        list,
    };
    let processes = context.processes.filter(|_| can_be_shared(context.plan));
    if let Some(processes) = processes {
        let SelectedByAll {
            selected,
            lists,
            pages,
            job,
        } = select_in_all(context, processes, &earlier)?;
        let job = Some(job);
        return Ok(WebRun::new(selected, (lists, pages, job), 0));
    }
    let mut web = LoadedWeb::load(context)?;
    let previous = web.previous(context.plan, &earlier, |refresh| {
        store.scan_under(&tables::GAIN_CACHE, &refresh.to_be_bytes())
    })?;
    let (graph, scores) = (&mut web.graph, &web.scores);
    let selected = select_after(graph, context.plan, scores, previous, context.watch)?;
    let evidence = evidence(&web, &selected, context.plan);
    let lists = combine(&selected, vec![evidence.lists])?;
    let of_list = (lists, evidence.pages, None);
    Ok(WebRun::new(selected, of_list, web.rank_visits))
}

fn seeds(store: &Store, refresh: RefreshId) -> Result<Vec<SeedRecord>> {
    let entries = store.scan_under(&tables::SEEDS, &refresh.to_be_bytes())?;
    entries.map(|entry| Ok(entry?.1)).collect()
}

/// Returns the refresh that picked the seeds of a refresh over the web; `None` if it is another
/// kind of refresh or has no seeds.
pub(crate) fn picked_by(store: &Store, refresh: RefreshId) -> Result<Option<RefreshId>> {
    let mut entries = store.scan_under(&tables::SEEDS, &refresh.to_be_bytes())?;
    let first = entries.next().transpose()?;
    Ok(first.and_then(|(_, seed)| since(&seed)))
}

fn since(seed: &SeedRecord) -> Option<RefreshId> {
    match &seed.evidence {
        SeedEvidence::Web(evidence) => Some(evidence.since),
        SeedEvidence::Core { .. } | SeedEvidence::Cover(_) | SeedEvidence::ByPolicy => None,
    }
}

impl WebRun {
    fn new(
        selected: WebSelection,
        (lists, pages, job): (Lists, PageEvidence, Option<WebJob>),
        rank_visits: u64,
    ) -> Self {
        let WebSelection {
            setting,
            tuning,
            cover,
            searched,
            kept,
            ..
        } = selected;
        Self {
            stop: Some(cover.stop),
            seeds: Seeds::New {
                picked: lists.picked,
                pages,
                job,
            },
            draws: lists.draws,
            page_visits: cover.page_visits + rank_visits,
            cold: searched.0 == searched.1,
            searched: Some(searched).filter(|searched| searched.1 > 0),
            kept,
            tuning: tuning.map(|tuning| (setting, tuning)),
        }
    }

    /// Returns the refresh that picked the seeds, if this one is stored as `refresh`.
    pub(crate) fn picked_by(&self, refresh: RefreshId) -> RefreshId {
        match &self.seeds {
            Seeds::Reused(seeds) => seeds.first().and_then(since).unwrap_or(refresh),
            Seeds::New { .. } => refresh,
        }
    }

    /// The hosts that have the same pages; none if the seeds are reused.
    pub(crate) fn mirrored(&self) -> &[MirroredHosts] {
        match &self.seeds {
            Seeds::Reused(_) => &[],
            Seeds::New { pages, .. } => &pages.mirrored,
        }
    }

    /// Numbers of seeds that are reused, and that were selected by this refresh.
    pub(crate) fn steps(&self) -> (u64, u64) {
        match &self.seeds {
            Seeds::Reused(seeds) => (seeds.len() as u64, 0),
            Seeds::New { picked, .. } => (0, picked.len() as u64),
        }
    }

    pub(crate) fn seeds(&self) -> Result<u32> {
        let (taken, picked) = self.steps();
        let seeds = taken + picked;
        u32::try_from(seeds).map_err(|_| PlanError::TooManySeeds { seeds }.into())
    }

    pub(crate) fn pages(&self) -> Vec<PageId> {
        match &self.seeds {
            Seeds::Reused(seeds) => seeds.iter().map(|seed| seed.page).collect(),
            Seeds::New { picked, .. } => picked.iter().map(|picked| picked.page).collect(),
        }
    }

    /// Returns why there are not more seeds.
    pub(crate) const fn short(&self) -> ShortageReason {
        match self.stop {
            Some(Stop::NoValueLeft) => ShortageReason::NoValueLeft,
            Some(Stop::NotPositive) => ShortageReason::NotPositive,
            _ => ShortageReason::NoPageLeft,
        }
    }

    /// Adds the seeds and the evidence for the pages of this process to `changes`.
    pub(crate) fn put(&self, changes: &mut Changes, refresh: RefreshId) -> Result<()> {
        match &self.seeds {
            Seeds::Reused(seeds) => {
                for (rank, seed) in (1..).zip(seeds) {
                    changes.put_seed(refresh, rank, seed)?;
                }
            }
            Seeds::New { picked, pages, .. } => {
                for (rank, picked) in (1..).zip(picked) {
                    put_pick(changes, refresh, rank, picked)?;
                }
                pages.put(changes, refresh)?;
            }
        }
        Ok(())
    }

    /// Lets other processes keep what they have of the evidence for the commit of the writer that has their parts open.
    pub(crate) fn put_elsewhere(&self, refresh: RefreshId) -> Result<()> {
        match &self.seeds {
            Seeds::New { job: Some(job), .. } => job.put_elsewhere(refresh),
            _ => Ok(()),
        }
    }
}
