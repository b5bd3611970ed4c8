//! Selects on the sites of a refresh whose seeds are not reused.

use std::collections::BTreeMap;

use rayon::prelude::*;

use super::evidence::Picked;
use super::reach::Uncovered;
use super::seat_allocation::SeatAllocation;
use super::sites::{CoverSite, LoadedSite, load_in_groups};
use crate::engine::Result;
use crate::engine::refresh::run_context::RunContext;
use seedbank_algorithms::cover::{Choice, Seats, SiteCover, Stop, select_chosen};
use seedbank_store::records::{CoverRecord, CoverStop};

/// Seeds of a site: reused or new.
pub(super) enum SiteSelection {
    Reused(CoverRecord),
    /// Selected by this refresh. Refresh number and ranks are set when it is stored.
    New(Box<Selected>),
}

impl SiteSelection {
    pub(super) fn record(&self) -> &CoverRecord {
        match self {
            Self::Reused(record) => record,
            Self::New(new) => &new.record,
        }
    }
}

pub(super) struct Selected {
    pub(super) record: CoverRecord,
    pub(super) picks: Vec<Picked>,
    pub(super) uncovered: Uncovered,
}

/// Selects on the sites at the positions `again`. Returns the results by position.
pub(super) fn select(
    context: RunContext<'_, Choice>,
    sites: &[CoverSite],
    again: &[usize],
    seats: &SeatAllocation,
) -> Result<BTreeMap<usize, SiteSelection>> {
    let RunContext {
        plan: choice,
        watch,
        ..
    } = context;
    let shared = matches!(choice.seats, Seats::Shared(..));
    let (again, without): (Vec<usize>, Vec<usize>) =
        again.iter().partition(|&&at| seats.of_sites[at] > 0);
    // A site without seats is not read.
    let without = without.into_iter().map(|at| {
        let record = CoverRecord {
            since: 0,
            seats: 0,
            ranks: Vec::new(),
            stop: CoverStop::Complete,
            crawled: sites[at].crawled,
            value: seats.values[at],
            page_visits: 0,
            allowed: seats.allowed[at],
            pinned: 0,
        };
        let selected = Selected {
            record,
            picks: Vec::new(),
            uncovered: Uncovered::default(),
        };
        (at, SiteSelection::New(Box::new(selected)))
    });
    let mut new: BTreeMap<usize, SiteSelection> = without.collect();
    let to_read: Vec<&CoverSite> = again.iter().map(|&at| &sites[at]).collect();
    load_in_groups(context, &to_read, |group, loaded| {
        let of_site = |at: &usize| seats.of_sites[again[*at]];
        let selectable: Vec<_> = loaded
            .iter()
            .zip(group)
            .map(|(site, at)| (site.selectable(), of_site(at)))
            .collect();
        let covers = select_chosen(&selectable, choice, watch)?;
        drop(selectable);
        let kept: Result<Vec<(usize, SiteSelection)>> = loaded
            .par_iter()
            .zip(covers)
            .zip(group)
            .map(|((site, cover), at)| {
                let seats_of = of_site(at);
                let picks = cover.picks.iter().zip(1..).map(|(pick, place)| {
                    let seats_of = shared.then_some(seats_of);
                    Picked::new(site, pick, place, seats_of, &choice.weights)
                });
                let mut record = record(site, &cover, seats_of);
                record.allowed = seats.allowed[again[*at]];
                let selected = Selected {
                    record,
                    picks: picks.collect(),
                    uncovered: Uncovered::compute(site, &cover, choice, watch)?,
                };
                Ok((again[*at], SiteSelection::New(Box::new(selected))))
            })
            .collect();
        new.extend(kept?);
        Ok(())
    })?;
    Ok(new)
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
