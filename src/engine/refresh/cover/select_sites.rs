//! Selects on sites of this process.

use rayon::prelude::*;

use super::evidence::Picked;
use super::reach::Uncovered;
use super::sites::{CoverSite, LoadedSite, load_in_groups};
use crate::engine::refresh::run_context::RunContext;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cover::{Choice, Seats, SiteCover, Stop, select_chosen};
use seedbank_store::records::{CoverRecord, CoverStop};

/// Seeds of a site.
pub(super) struct Selected {
    pub(super) record: CoverRecord,
    pub(super) picks: Vec<Picked>,
    pub(super) uncovered: Uncovered,
}

/// Selects on sites of this process, given their seats. Returns the results in the order of the sites; they lack the
/// numbers of pages that may be seeds.
pub(super) fn select_each(
    context: RunContext<'_, Choice>,
    sites: &[&CoverSite],
    seats: &[u32],
) -> Result<Vec<Selected>> {
    let RunContext {
        plan: choice,
        watch,
        ..
    } = context;
    let shared = matches!(choice.seats, Seats::Shared(..));
    let mut all: Vec<Option<Selected>> = sites.iter().map(|_| None).collect();
    load_in_groups(context, sites, |group, loaded| {
        let selectable: Vec<_> = loaded
            .iter()
            .zip(group)
            .map(|(site, at)| (site.selectable(), seats[*at]))
            .collect();
        let covers = select_chosen(&selectable, choice, watch)?;
        drop(selectable);
        let kept: Result<Vec<Selected>> = loaded
            .par_iter()
            .zip(covers)
            .zip(group)
            .map(|((site, cover), at)| {
                let seats = seats[*at];
                let picks = cover.picks.iter().zip(1..).map(|(pick, place)| {
                    let seats = shared.then_some(seats);
                    Picked::new(site, pick, place, seats, &choice.weights)
                });
                Ok(Selected {
                    record: record(site, &cover, seats),
                    picks: picks.collect(),
                    uncovered: Uncovered::compute(site, &cover, choice, watch)?,
                })
            })
            .collect();
        for (at, selected) in group.iter().zip(kept?) {
            all[*at] = Some(selected);
        }
        Ok(())
    })?;
    let lacking = EngineError::Internal("a site was not selected on");
    all.into_iter().collect::<Option<_>>().ok_or(lacking)
}

fn record(site: &LoadedSite<'_>, cover: &SiteCover, seats: u32) -> CoverRecord {
    CoverRecord {
        since: 0,
        seats,
        // The ranks are set when it is stored; only their number is known.
        ranks: vec![0; cover.picks.len()],
        stop: match cover.stop {
            Stop::NoValueLeft => CoverStop::NoValueLeft,
            Stop::NoPageLeft => CoverStop::NoPageLeft,
            Stop::Complete => CoverStop::Complete,
            Stop::NotPositive => CoverStop::NotPositive,
        },
        crawled: site.graph.pages(),
        value: Some(site.graph.value()),
        page_visits: cover.page_visits,
        allowed: None,
        pinned: u32::try_from(site.graph.pins().len()).unwrap_or(u32::MAX),
    }
}
