//! Refresh over the whole web: seeds by what a crawl reaches from them, and what is kept of them.
//!
//! A refresh gives what a run from scratch gives. It follows the picks of the plan's last refresh
//! ([`former()`]) where its parameters were the same, and selects anew where that cannot tell which
//! page is best, or takes more than a run from scratch would. Where no batch came in since, its
//! answer is taken over: the seeds are written again under the new number, and the sets that they
//! reach stay where they are, under the refresh that picked them.
//!
//! A plan with a budget and without hops or a price tries the grid first; what it finds becomes the
//! plan's.

pub(crate) mod evidence;
mod former;
pub(crate) mod load;
mod numbers;
mod then;
pub(crate) mod url_order;

use crate::engine::policy::Rules;
use crate::engine::refresh::answers::Short;
use crate::engine::{EngineError, PlanError};
use evidence::{Fates, Picked, kept, put_fates, put_pick};
use former::former;
use load::LoadedWeb;
pub(crate) use numbers::Earlier;
use seedbank_algorithms::cover::Stop;
use seedbank_algorithms::cover::web::{
    Followed, Selected, Setting, Tuning, WebChoice, select, select_after,
};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::records::{RefreshId, SeedEvidence, SeedRecord};
use seedbank_store::{Changes, Store, tables};

/// The seeds of a plan over the web, on their way to the store. Memory: what the seeds reach, a few
/// bits per page, and some 50 bytes for each page that they reach and for each candidate.
pub(crate) struct WebRun {
    seeds: Seeds,
    pub(crate) page_visits: u64,
    /// Whether nothing of an earlier refresh was of use.
    pub(crate) cold: bool,
    /// What ended the selection; `None` where it was taken over.
    stop: Option<Stop>,
    /// What trying others came to, and the setting that was taken; `None` where the plan had one.
    pub(crate) tuning: Option<(Setting, Tuning)>,
}

enum Seeds {
    /// Taken over from this refresh, in the order of the list.
    Taken(RefreshId, Vec<SeedRecord>),
    /// Picked now, in the order of the list; so many of them as the followed refresh did.
    New(Vec<Picked>, Fates, u64),
}

/// Selects over the web. `earlier` is the plan's last refresh if it had the same parameters.
pub(crate) fn run(
    store: &Store,
    (choice, rules): (&WebChoice, &Rules),
    earlier: Option<Earlier>,
    watch: &dyn Watch,
) -> Result<WebRun, EngineError> {
    // Of a list without seeds nothing says which refresh made it, so it is made again.
    let earlier = match earlier {
        Some(earlier) => Some((earlier, seeds(store, earlier.refresh)?)),
        None => None,
    };
    let earlier = earlier.filter(|(_, seeds)| !seeds.is_empty());
    let earlier = match earlier {
        Some((earlier, seeds)) if earlier.batch == earlier.today => {
            return Ok(WebRun {
                seeds: Seeds::Taken(earlier.refresh, seeds),
                page_visits: 0,
                cold: false,
                tuning: None,
                stop: None,
            });
        }
        earlier => earlier,
    };
    let web = LoadedWeb::load(store, (choice, rules), watch)?;
    let mut followed = None;
    let mut in_vain = 0;
    let mut before = Vec::new();
    if let Some((earlier, seeds)) = earlier {
        before = in_order_of_picks(&seeds);
        if let Some(former) = former(store, &web, (choice, rules), earlier, seeds, watch)? {
            match select_after(&web.graph, choice, &former, watch)? {
                Followed::Found(selected) => followed = Some(selected),
                Followed::GaveUp { page_visits } => in_vain = page_visits,
            }
        }
    }
    let cold = followed.is_none();
    let mut selected = match followed {
        Some(selected) => selected,
        None => select(&web.graph, choice, &web.ranks, watch)?,
    };
    let picks = selected.cover.picks.iter();
    let picks = picks.map(|pick| web.pages[pick.seed.page as usize]);
    let same = picks.zip(before).filter(|(now, before)| now == before);
    let as_before = if cold { 0 } else { same.count() as u64 };
    let (picked, fates) = kept(&web, &selected, choice);
    let tuning = selected.tuning.take();
    let Selected { setting, cover, .. } = selected;
    Ok(WebRun {
        stop: Some(cover.stop),
        seeds: Seeds::New(picked, fates, as_before),
        page_visits: cover.page_visits + web.rank_visits + in_vain,
        cold,
        tuning: tuning.map(|tuning| (setting, tuning)),
    })
}

fn in_order_of_picks(seeds: &[SeedRecord]) -> Vec<PageId> {
    let place = |seed: &SeedRecord| match &seed.evidence {
        SeedEvidence::Web(evidence) => Some((evidence.pick, seed.page)),
        SeedEvidence::Core { .. } | SeedEvidence::Cover(_) | SeedEvidence::ByPolicy => None,
    };
    let mut picks: Vec<(u32, PageId)> = seeds.iter().filter_map(place).collect();
    picks.sort_unstable();
    picks.into_iter().map(|(_, page)| page).collect()
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

    /// The number of seeds that are those of the earlier refresh, at the same place in the order of
    /// picks, and of the others.
    pub(crate) fn steps(&self) -> (u64, u64) {
        match &self.seeds {
            Seeds::Taken(_, seeds) => (seeds.len() as u64, 0),
            Seeds::New(picked, _, same) => (*same, picked.len() as u64 - same),
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
    pub(crate) const fn short(&self) -> Short {
        match self.stop {
            Some(Stop::NoValueLeft) => Short::NoValueLeft,
            Some(Stop::NotPositive) => Short::NotPositive,
            _ => Short::NoPageLeft,
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
            Seeds::New(picked, fates, _) => {
                for (rank, picked) in (1..).zip(picked) {
                    put_pick(changes, (refresh, rank), picked)?;
                }
                put_fates(changes, refresh, fates)
            }
        }
    }
}
