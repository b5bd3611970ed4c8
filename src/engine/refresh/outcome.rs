//! What the run of a family hands to the frame.

use super::answers::ShortageReason;
use super::cores::CoresRun;
use super::cores::standings::Written;
use super::cores::unchanged::Unchanged;
use super::cover::CoverRun;
use super::prune::PickedBy;
use super::web::WebRun;
use crate::engine::EngineError;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, Store};

/// What a family's run hands to the frame.
pub(super) enum Outcome {
    Cores(Box<CoresRun>),
    SameCores(Box<Unchanged>),
    Cover(CoverRun),
    Web(WebRun),
}

impl Outcome {
    /// The earlier refresh whose records or seeds this one takes over.
    pub(super) fn leans_on(&self) -> Option<RefreshId> {
        match self {
            Self::Cores(run) => run.leans_on,
            Self::SameCores(same) => Some(same.refresh),
            Self::Cover(run) => run.leans_on(),
            Self::Web(run) => run.leans_on(),
        }
    }

    /// Hands what is to be stored to `changes`; gives what was written of standings.
    pub(super) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        (plan, refresh): (&str, RefreshId),
    ) -> Result<Option<Written>, EngineError> {
        match self {
            Self::Cores(run) => run.put(store, changes, (plan, refresh)).map(Some),
            Self::SameCores(same) => same.put(store, changes, refresh).map(Some),
            Self::Cover(run) => {
                run.put(store, changes, refresh)?;
                Ok(None)
            }
            Self::Web(run) => {
                run.put(changes, refresh)?;
                Ok(None)
            }
        }
    }

    /// The seeds that the method came to, best first.
    pub(super) fn pages(&self, store: &Store) -> Result<Vec<PageId>, EngineError> {
        match self {
            Self::Cores(run) => Ok(run.seeds().into_iter().map(|seed| seed.page).collect()),
            Self::SameCores(same) => Ok(same.seeds.clone()),
            Self::Cover(run) => run.pages(store),
            Self::Web(run) => Ok(run.pages()),
        }
    }

    /// How many these are.
    pub(super) fn count(&self) -> Result<u32, EngineError> {
        match self {
            Self::Cores(run) => Ok(count(run.seeds().len())),
            Self::SameCores(same) => Ok(count(same.seeds.len())),
            Self::Cover(run) => run.seeds(),
            Self::Web(run) => run.seeds(),
        }
    }

    /// Why there are not more.
    pub(super) fn short(&self) -> ShortageReason {
        match self {
            Self::Cores(_) | Self::SameCores(_) => ShortageReason::NoLinkLeft,
            Self::Cover(_) => ShortageReason::NoPageLeft,
            Self::Web(run) => run.short(),
        }
    }

    /// Which refresh picked the seeds.
    pub(super) fn picked_by(&self, refresh: RefreshId) -> PickedBy {
        match self {
            Self::Cores(_) | Self::SameCores(_) => PickedBy::default(),
            Self::Cover(run) => PickedBy {
                of_sites: run.picked_by(refresh),
                over_web: None,
            },
            Self::Web(run) => PickedBy {
                over_web: Some(run.picked_by(refresh)),
                ..PickedBy::default()
            },
        }
    }
}

pub(super) fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
