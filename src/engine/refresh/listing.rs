//! The list of a plan that changes by no more than so many seeds at a time.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::EngineError;
use crate::engine::policy::{Caps, Rules, Steady, steady};
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{ListedSeed, RefreshId, SeedEvidence, SeedRecord};
use seedbank_store::{Changes, Store, tables};

/// A list, and how it differs from the plan's last one.
pub(super) struct Listing {
    /// The refresh that made the last one.
    pub(super) last: RefreshId,
    pub(super) seeds: Vec<PageId>,
    /// The places of these pages in what the method came to, from 0; empty where the list is that.
    chosen: HashMap<PageId, u32>,
    /// Of the pages that stay without being chosen, the last refresh that chose them.
    stayed: HashMap<PageId, RefreshId>,
    pub(super) view: ChangesView,
}

/// How a list differs from the plan's last one, where no more than so many seeds may.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ChangesView {
    /// Seeds of the last list that could be none any more: gone, not allowed, above a cap.
    pub lost_ineligible: u32,
    /// Seeds of the last list that are not on this one, those included.
    pub lost: u32,
    /// Seeds that were not on the last list.
    pub gained: u32,
    /// Seeds that are on the list only because no more may leave.
    pub retained: u32,
    /// Seeds that the method came to and that are not on the list.
    pub deferred: u32,
}

/// The list that `target`, what the method came to, becomes after the plan's refresh `last`.
pub(super) fn listing(
    store: &Store,
    rules: &Rules,
    target: &[PageId],
    (last, most, max_changes): (RefreshId, usize, u32),
) -> Result<Listing, EngineError> {
    let before: Vec<PageId> = store
        .list(last)?
        .into_iter()
        .map(|seed| seed.1.page)
        .collect();
    let mut last_chosen = HashMap::new();
    for entry in store.scan_under(&tables::LISTED, &last.to_be_bytes())? {
        let (_, listed) = entry?;
        last_chosen.insert(listed.page, listed.last_chosen);
    }
    let asked = Steady {
        store,
        last: &before,
        target,
        pins: rules.pins.pages.len().min(target.len()),
        most,
        max_changes: max_changes as usize,
    };
    let found = steady(&asked, Caps::new(&rules.policy), |page| {
        let record = store.need(&tables::PAGES, &page)?;
        let site = store.need(&tables::SITES, &page.site())?.name;
        Ok(record.state.is_live() && rules.candidates.admit(&site, &record))
    })?;
    let is_target = found.seeds == target;
    let places: HashMap<PageId, u32> = target.iter().copied().zip(0..).collect();
    let stayed: HashMap<PageId, RefreshId> = found
        .seeds
        .iter()
        .filter(|page| !places.contains_key(page))
        .map(|page| (*page, last_chosen.get(page).copied().unwrap_or(last)))
        .collect();
    let on: HashSet<PageId> = found.seeds.iter().copied().collect();
    let left = before.iter().filter(|page| !on.contains(page)).count();
    let before: HashSet<PageId> = before.into_iter().collect();
    let came = found
        .seeds
        .iter()
        .filter(|page| !before.contains(page))
        .count();
    let count = |length: usize| u32::try_from(length).unwrap_or(u32::MAX);
    Ok(Listing {
        last,
        view: ChangesView {
            lost_ineligible: count(found.had_to_leave),
            lost: count(left),
            gained: count(came),
            retained: count(stayed.len()),
            deferred: count(found.held_back),
        },
        seeds: found.seeds,
        chosen: if is_target { HashMap::new() } else { places },
        stayed,
    })
}

impl Listing {
    /// Whether it is another list than what the method came to.
    pub(super) fn differs(&self) -> bool {
        !self.chosen.is_empty() || !self.stayed.is_empty()
    }

    /// The list with its ranks, of seeds that the method came to.
    pub(super) fn of_seeds(&self, seeds: Vec<(u32, SeedRecord)>) -> Vec<(u32, SeedRecord)> {
        let mut by_page: HashMap<PageId, SeedRecord> = seeds
            .into_iter()
            .map(|(_, seed)| (seed.page, seed))
            .collect();
        let list = (1..).zip(&self.seeds);
        list.map(|(rank, &page)| {
            let seed = by_page.remove(&page).unwrap_or(SeedRecord {
                page,
                evidence: SeedEvidence::ByPolicy,
                succeeds: None,
            });
            (rank, seed)
        })
        .collect()
    }

    /// Hands the list to `changes`, where it is another than what the method came to.
    pub(super) fn put(&self, changes: &mut Changes, refresh: RefreshId) -> Result<(), EngineError> {
        if !self.differs() {
            return Ok(());
        }
        let list = self.seeds.iter().map(|&page| ListedSeed {
            page,
            chosen: self.chosen.get(&page).map(|place| place + 1),
            last_chosen: self.stayed.get(&page).copied().unwrap_or(refresh),
        });
        Ok(changes.put_list(refresh, self.chosen.keys().copied(), list)?)
    }
}
