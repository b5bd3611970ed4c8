//! Selects on the sites of a refresh whose seeds are not reused.

use std::collections::BTreeMap;

use super::reach::Uncovered;
use super::seat_allocation::SeatAllocation;
use super::select_sites::Selected;
use super::site_requests::select_on_all;
use super::sites::CoverSite;
use crate::engine::Result;
use crate::engine::refresh::run_context::RunContext;
use seedbank_algorithms::cover::Choice;
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

/// Selects on the sites at the positions `again`. Returns the results by position.
pub(super) fn select(
    context: RunContext<'_, Choice>,
    sites: &[CoverSite],
    again: &[usize],
    seats: &SeatAllocation,
) -> Result<BTreeMap<usize, SiteSelection>> {
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
    let seats_of: Vec<u32> = again.iter().map(|&at| seats.of_sites[at]).collect();
    let selected = select_on_all(context, &to_read, &seats_of)?;
    for (at, mut selected) in again.into_iter().zip(selected) {
        selected.record.allowed = seats.allowed[at];
        new.insert(at, SiteSelection::New(Box::new(selected)));
    }
    Ok(new)
}
