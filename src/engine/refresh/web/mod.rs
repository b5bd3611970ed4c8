//! Refresh over the whole web: seeds by what a crawl reaches from them, and what is kept of them.
//!
//! Everything is selected anew, so a refresh gives what a run from scratch gives; only where no
//! batch came in since the plan's last refresh, and its parameters are the same, is its answer taken
//! over. Then the seeds are written again under the new number, and the sets that they reach stay
//! where they are, under the refresh that picked them.
//!
//! A plan with a budget and without hops or a price tries the grid first; what it finds becomes the
//! plan's.

pub(crate) mod evidence;
mod load;

use crate::cover::web::{Selected, Setting, Tuning, WebChoice, select};
use crate::engine::{EngineError, PlanError};
use crate::storage::records::{RefreshId, SeedEvidence, SeedRecord};
use crate::storage::{Changes, Store, tables};
use crate::watch::Watch;
use evidence::{Fates, Picked, kept, put_fates, put_pick};
use load::LoadedWeb;

/// The seeds of a plan over the web, on their way to the store. Memory: what the seeds reach, a few
/// bits per page, and some 50 bytes for each page that they reach and for each candidate.
pub(crate) struct WebRun {
    seeds: Seeds,
    pub(crate) page_visits: u64,
    /// What trying others came to, and the setting that was taken; `None` where the plan had one.
    pub(crate) tuning: Option<(Setting, Tuning)>,
}

enum Seeds {
    /// Taken over from this refresh, in the order of the list.
    Taken(RefreshId, Vec<SeedRecord>),
    /// Picked now, in the order of the list.
    New(Vec<Picked>, Fates),
}

/// Selects over the web. `unchanged` is the plan's last refresh if it ran on this state with the
/// same parameters.
pub(crate) fn run(
    store: &Store,
    choice: &WebChoice,
    unchanged: Option<RefreshId>,
    watch: &dyn Watch,
) -> Result<WebRun, EngineError> {
    if let Some(refresh) = unchanged {
        let seeds = seeds(store, refresh)?;
        // Of a list without seeds nothing says which refresh made it, so it is made again.
        if !seeds.is_empty() {
            return Ok(WebRun {
                seeds: Seeds::Taken(refresh, seeds),
                page_visits: 0,
                tuning: None,
            });
        }
    }
    let web = LoadedWeb::load(store, choice, watch)?;
    let mut selected = select(&web.graph, choice, &web.ranks, watch)?;
    let (picked, fates) = kept(&web, &selected, choice);
    let tuning = selected.tuning.take();
    let Selected { setting, cover, .. } = selected;
    Ok(WebRun {
        seeds: Seeds::New(picked, fates),
        page_visits: cover.page_visits + web.rank_visits,
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
        SeedEvidence::Core { .. } | SeedEvidence::Cover(_) => None,
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

    /// The number of seeds that are taken over, and of those that were picked.
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

    /// Hands seeds and what they reach to `changes`.
    pub(crate) fn put(&self, changes: &mut Changes, refresh: RefreshId) -> Result<(), EngineError> {
        match &self.seeds {
            Seeds::Taken(_, seeds) => {
                for (rank, seed) in (1..).zip(seeds) {
                    changes.put(&tables::SEEDS, &(refresh, rank), seed)?;
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
