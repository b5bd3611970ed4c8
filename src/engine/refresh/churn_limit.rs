//! Limits how many seeds of a plan's list change per refresh.

use std::collections::{HashMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::Result;
use crate::engine::policy::{Caps, ChurnLimit, LoadedPolicy, limit_churn};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{FinalListEntry, RefreshId, SeedEvidence, SeedRecord};
use seedbank_store::{Changes, Store, tables};

/// A list after the limit on changes, compared with the plan's previous list.
pub(super) struct LimitedList {
    pub(super) seeds: Vec<PageId>,
    /// Positions of these pages in the method's selection, from 0; empty if the list equals the
    /// selection.
    chosen: HashMap<PageId, u32>,
    /// For pages that stay without being selected, the last refresh that selected them.
    stayed: HashMap<PageId, RefreshId>,
    pub(super) view: ListChanges,
}

/// Difference of a list from the plan's previous list, under a limit on changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListChanges {
    /// Number of seeds of the previous list that can no longer be seeds: gone, rejected, or above a
    /// cap.
    pub lost_ineligible: u32,
    /// Number of seeds of the previous list that are not on this one, including those of
    /// `lost_ineligible`.
    pub lost: u32,
    /// Number of seeds that were not on the previous list.
    pub gained: u32,
    /// Number of seeds that stay only because the limit on changes was reached.
    pub retained: u32,
    /// Number of seeds that the method selected and that are not on the list.
    pub deferred: u32,
}

/// Limits changes from the list of the plan's refresh `last` to `target`, the method's selection.
pub(super) fn limit_changes(
    store: &Store,
    rules: &LoadedPolicy,
    target: &[PageId],
    last: RefreshId,
    max_seeds: usize,
    max_changes: u32,
) -> Result<LimitedList> {
    let previous: Vec<PageId> = store
        .list(last)?
        .into_iter()
        .map(|seed| seed.1.page)
        .collect();
    let mut last_chosen = HashMap::new();
    for entry in store.scan_under(&tables::FINAL_LIST, &last.to_be_bytes())? {
        let (_, seed) = entry?;
        last_chosen.insert(seed.page, seed.last_chosen);
    }
    let limit = ChurnLimit {
        store,
        previous: &previous,
        target,
        pins: rules.pins.pages.len().min(target.len()),
        max_seeds,
        max_changes: max_changes as usize,
    };
    let found = limit_churn(&limit, Caps::new(&rules.policy), |page| {
        let is_live = store.need(&tables::PAGES, &page)?.state.is_live();
        Ok(is_live && rules.pages.reason_of_page(store, page, None)?.is_none())
    })?;
    // If the list equals the selection, its places need not be stored.
    let is_target = found.seeds == target;
    let places: HashMap<PageId, u32> = target.iter().copied().zip(0..).collect();
    let stayed: HashMap<PageId, RefreshId> = found
        .seeds
        .iter()
        .filter(|page| !places.contains_key(page))
        .map(|page| (*page, last_chosen.get(page).copied().unwrap_or(last)))
        .collect();
    let listed: HashSet<PageId> = found.seeds.iter().copied().collect();
    let left = previous
        .iter()
        .filter(|page| !listed.contains(page))
        .count();
    let previous: HashSet<PageId> = previous.into_iter().collect();
    let came = found
        .seeds
        .iter()
        .filter(|page| !previous.contains(page))
        .count();
    Ok(LimitedList {
        view: ListChanges {
            lost_ineligible: number(found.had_to_leave),
            lost: number(left),
            gained: number(came),
            retained: number(stayed.len()),
            deferred: number(found.held_back),
        },
        seeds: found.seeds,
        chosen: if is_target { HashMap::new() } else { places },
        stayed,
    })
}

impl LimitedList {
    /// Whether the list differs from the method's selection.
    pub(super) fn differs(&self) -> bool {
        !self.chosen.is_empty() || !self.stayed.is_empty()
    }

    /// Returns the list with ranks. `seeds` are those that the method selected.
    pub(super) fn with_ranks(&self, seeds: Vec<(u32, SeedRecord)>) -> Vec<(u32, SeedRecord)> {
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

    /// Adds the list to `changes`, if it differs from the method's selection.
    pub(super) fn put(&self, changes: &mut Changes, refresh: RefreshId) -> Result<()> {
        if !self.differs() {
            return Ok(());
        }
        let list = self.seeds.iter().map(|&page| FinalListEntry {
            page,
            chosen: self.chosen.get(&page).map(|place| place + 1),
            last_chosen: self.stayed.get(&page).copied().unwrap_or(refresh),
        });
        Ok(changes.put_list(refresh, self.chosen.keys().copied(), list)?)
    }
}
