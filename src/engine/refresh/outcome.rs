//! Result of a run, for every kind of plan.

use super::cores::CoresRun;
use super::cores::page_evidence::Written;
use super::cores::unchanged::UnchangedRun;
use super::cover::CoverRun;
use super::global::WebRun;
use super::prune::PickedBy;
use super::report::ShortageReason;
use crate::engine::Result;
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, Store};

pub(super) enum Outcome {
    Cores(Box<CoresRun>),
    SameCores(Box<UnchangedRun>),
    Cover(CoverRun),
    Web(WebRun),
}

impl Outcome {
    /// The earlier refresh whose records or seeds this one reuses.
    pub(super) fn depends_on(&self) -> Option<RefreshId> {
        match self {
            Self::Cores(run) => run.depends_on,
            Self::SameCores(same) => Some(same.refresh),
            Self::Cover(run) => run.depends_on(),
            Self::Web(run) => run.depends_on(),
        }
    }

    /// Adds what the refresh stores to `changes`, but for what other processes have. Returns what was written of page
    /// evidence, by cores.
    pub(super) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        plan: &str,
        refresh: RefreshId,
    ) -> Result<Option<Written>> {
        match self {
            Self::Cores(run) => run.put(store, changes, plan, refresh).map(Some),
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

    /// Adds what other processes have of the result to `changes`, or lets them keep it for the commit of the writer that
    /// has their parts, and `store`, open. Adds what they write of page evidence to `written`.
    pub(super) fn put_elsewhere(
        &self,
        store: &Store,
        changes: &mut Changes,
        refresh: RefreshId,
        written: Option<&mut Written>,
    ) -> Result<()> {
        match (self, written) {
            (Self::Web(run), _) => run.put_elsewhere(changes, refresh),
            (Self::Cores(run), Some(written)) => {
                run.put_elsewhere(store, changes, refresh, written)
            }
            _ => Ok(()),
        }
    }

    pub(super) fn pages(&self, store: &Store) -> Result<Vec<PageId>> {
        match self {
            Self::Cores(run) => Ok(run.seeds().into_iter().map(|seed| seed.page).collect()),
            Self::SameCores(same) => Ok(same.seeds.clone()),
            Self::Cover(run) => run.pages(store),
            Self::Web(run) => Ok(run.pages()),
        }
    }

    pub(super) fn count(&self) -> Result<u32> {
        match self {
            Self::Cores(run) => Ok(number(run.seeds().len())),
            Self::SameCores(same) => Ok(number(same.seeds.len())),
            Self::Cover(run) => run.seeds(),
            Self::Web(run) => run.seeds(),
        }
    }

    pub(super) fn short(&self) -> ShortageReason {
        match self {
            Self::Cores(_) | Self::SameCores(_) => ShortageReason::NoLinkLeft,
            Self::Cover(_) => ShortageReason::NoPageLeft,
            Self::Web(run) => run.short(),
        }
    }

    /// Returns which refreshes picked the seeds, if this one is stored as `refresh`.
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
