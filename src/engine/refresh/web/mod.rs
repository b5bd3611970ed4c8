//! Refresh over the whole web: seeds by what a crawl reaches from them, and what is kept of them.
//!
//! Where no batch came in since the plan's last refresh, its answer is taken over: the seeds are
//! written again under the new number, and the sets that they reach stay where they are, under the
//! refresh that picked them. Otherwise the seeds are selected from scratch.
//!
//! A plan with a budget and without hops or a price tries the grid first; what it finds becomes the
//! plan's.

pub(crate) mod evidence;
pub(crate) mod load;
pub(crate) mod url_order;

use crate::engine::policy::Rules;
use crate::engine::refresh::answers::ShortageReason;
use crate::engine::{EngineError, PlanError};
use evidence::{Fates, Picked, kept, put_fates, put_pick};
use load::LoadedWeb;
use seedbank_algorithms::cover::Stop;
use seedbank_algorithms::cover::global::{Setting, Tuning, WebChoice, WebSelection, select};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{BatchId, RefreshId, SeedEvidence, SeedRecord};
use seedbank_store::{Changes, Store, tables};

/// An earlier refresh of the plan with the same parameters.
#[derive(Clone, Copy)]
pub(crate) struct Earlier {
    pub(crate) refresh: RefreshId,
    /// The last batch of the state that it ran on.
    pub(crate) batch: BatchId,
    /// The last batch of today's state.
    pub(crate) today: BatchId,
}

/// The seeds of a plan over the web, on their way to the store. Memory: what the seeds reach, a few
/// bits per page, and some 50 bytes for each page that they reach and for each candidate.
pub(crate) struct WebRun {
    seeds: Seeds,
    pub(crate) page_visits: u64,
    /// Whether the seeds were selected from scratch.
    pub(crate) cold: bool,
    /// What ended the selection; `None` where it was taken over.
    stop: Option<Stop>,
    /// What trying others came to, and the setting that was taken; `None` where the plan had one.
    pub(crate) tuning: Option<(Setting, Tuning)>,
}

enum Seeds {
    /// Taken over from this refresh, in the order of the list.
    Taken(RefreshId, Vec<SeedRecord>),
    /// Picked now, in the order of the list.
    New(Vec<Picked>, Fates),
}

/// Selects over the web. `earlier` is the plan's last refresh if it had the same parameters.
pub(crate) fn run(
    store: &Store,
    (choice, rules): (&WebChoice, &Rules),
    earlier: Option<Earlier>,
    watch: &dyn Watch,
) -> Result<WebRun, EngineError> {
    if let Some(earlier) = earlier.filter(|earlier| earlier.batch == earlier.today) {
        let seeds = seeds(store, earlier.refresh)?;
        // Of a list without seeds nothing says which refresh made it, so it is made again.
        if !seeds.is_empty() {
            return Ok(WebRun {
                seeds: Seeds::Taken(earlier.refresh, seeds),
                page_visits: 0,
                cold: false,
                tuning: None,
                stop: None,
            });
        }
    }
    let web = LoadedWeb::load(store, (choice, rules), watch)?;
    let mut selected = select(&web.graph, choice, &web.ranks, watch)?;
    let (picked, fates) = kept(&web, &selected, choice);
    let tuning = selected.tuning.take();
    let WebSelection { setting, cover, .. } = selected;
    Ok(WebRun {
        stop: Some(cover.stop),
        seeds: Seeds::New(picked, fates),
        page_visits: cover.page_visits + web.rank_visits,
        cold: true,
        tuning: tuning.map(|tuning| (setting, tuning)),
    })
}

fn seeds(store: &Store, refresh: RefreshId) -> Result<Vec<SeedRecord>, EngineError> {
    let entries = store.scan_under(&tables::SEEDS, &refresh.to_be_bytes())?;
    entries.map(|entry| Ok(entry?.1)).collect()
}

/// The refresh that picked the seeds of a refresh over the web; `None` where it is another kind of
/// refresh, or has no seeds.
pub(crate) fn picked_by(
    store: &Store,
    refresh: RefreshId,
) -> Result<Option<RefreshId>, EngineError> {
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
    /// The refresh whose seeds are taken over.
    pub(crate) fn leans_on(&self) -> Option<RefreshId> {
        match &self.seeds {
            Seeds::Taken(refresh, _) => Some(*refresh),
            Seeds::New(..) => None,
        }
    }

    /// The refresh that picked the seeds, once this one is stored as `refresh`.
    pub(crate) fn picked_by(&self, refresh: RefreshId) -> RefreshId {
        match &self.seeds {
            Seeds::Taken(_, seeds) => seeds.first().and_then(since).unwrap_or(refresh),
            Seeds::New(..) => refresh,
        }
    }

    /// The number of seeds that are taken over from the earlier refresh, and of seeds picked now.
    pub(crate) fn steps(&self) -> (u64, u64) {
        match &self.seeds {
            Seeds::Taken(_, seeds) => (seeds.len() as u64, 0),
            Seeds::New(picked, _) => (0, picked.len() as u64),
        }
    }

    /// How many seeds there are.
    pub(crate) fn seeds(&self) -> Result<u32, EngineError> {
        let (taken, picked) = self.steps();
        let seeds = taken + picked;
        u32::try_from(seeds).map_err(|_| PlanError::TooManySeeds { seeds }.into())
    }

    /// The seeds, best first.
    pub(crate) fn pages(&self) -> Vec<PageId> {
        match &self.seeds {
            Seeds::Taken(_, seeds) => seeds.iter().map(|seed| seed.page).collect(),
            Seeds::New(picked, ..) => picked.iter().map(|picked| picked.page).collect(),
        }
    }

    /// Why there are not more.
    pub(crate) const fn short(&self) -> ShortageReason {
        match self.stop {
            Some(Stop::NoValueLeft) => ShortageReason::NoValueLeft,
            Some(Stop::NotPositive) => ShortageReason::NotPositive,
            _ => ShortageReason::NoPageLeft,
        }
    }

    /// Hands seeds and what they reach to `changes`.
    pub(crate) fn put(&self, changes: &mut Changes, refresh: RefreshId) -> Result<(), EngineError> {
        match &self.seeds {
            Seeds::Taken(_, seeds) => {
                for (rank, seed) in (1..).zip(seeds) {
                    changes.put_seed((refresh, rank), seed)?;
                }
                Ok(())
            }
            Seeds::New(picked, fates) => {
                for (rank, picked) in (1..).zip(picked) {
                    put_pick(changes, (refresh, rank), picked)?;
                }
                put_fates(changes, refresh, fates)
            }
        }
    }
}
