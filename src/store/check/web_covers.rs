//! Check of seeds over the whole web: ranks and positions match, and the reached sets are those that the seeds
//! claim.

use std::collections::{BTreeMap, BTreeSet};

use super::{Walk, page_set_name};
use crate::tables::records::WebEvidence;
use crate::tables::{PageSetKey, ReachedKey};
use seedbank_algorithms::page::PageSet;

/// Seeds over the web, collected by the check.
#[derive(Default)]
pub(super) struct OverWeb {
    /// The number of pages that each seed reaches at each hop, by the refresh that selected it and its rank. A
    /// seed that later refreshes reused is present once.
    reached: BTreeMap<(u32, u32), Vec<u32>>,
    /// The positions of the seeds of a refresh in the order of selection.
    picks: BTreeMap<u32, BTreeSet<u32>>,
}

impl OverWeb {
    /// Returns the refreshes that selected seeds.
    pub(super) fn selected_by(&self) -> BTreeSet<u32> {
        self.reached.keys().map(|(refresh, _)| *refresh).collect()
    }

    /// Adds a seed; returns what is wrong with it.
    pub(super) fn add(
        &mut self,
        refresh: u32,
        rank: u32,
        evidence: &WebEvidence,
    ) -> Option<&'static str> {
        let pages: Vec<u32> = evidence.hops.iter().map(|hop| hop.all.pages).collect();
        let of_pick = (evidence.since, rank);
        let same = self.reached.entry(of_pick).or_insert_with(|| pages.clone());
        if *same != pages {
            return Some("it contradicts another refresh");
        }
        if evidence.since > refresh {
            return Some("it was reused from a later refresh");
        }
        let is_new = self.picks.entry(refresh).or_default().insert(evidence.pick);
        (!is_new).then_some("another seed has the same position")
    }
}

impl Walk<'_> {
    /// The positions of every refresh are numbered from 1.
    pub(super) fn web_picks(&mut self, over_web: &OverWeb) {
        for (refresh, picks) in &over_web.picks {
            if picks.last().copied() != u32::try_from(picks.len()).ok() || picks.contains(&0) {
                let name = format!("refresh {refresh}");
                self.find("seeds", name, "a position is missing");
            }
        }
    }

    /// Checks a reached set and removes it from the required ones.
    pub(super) fn reached(&mut self, key: ReachedKey, pages: &PageSet, over_web: &mut OverWeb) {
        let of_pick = over_web.reached.get_mut(&(key.refresh, key.rank));
        let hop = of_pick.and_then(|hops| hops.get_mut(key.hop as usize));
        let what = match hop.map(std::mem::take) {
            None => "no seed reaches it",
            Some(expected) if pages.len() == u64::from(expected) => return,
            Some(_) => "its seed reaches another number of pages",
        };
        let name = page_set_name(PageSetKey::Reached(key));
        self.find("page_sets", name, what);
    }

    /// Reports the required sets that are missing.
    pub(super) fn missing_reached(&mut self, over_web: &OverWeb) {
        for (&(refresh, rank), hops) in &over_web.reached {
            for (hop, _) in (0..).zip(hops).filter(|(_, pages)| **pages > 0) {
                let name = page_set_name(PageSetKey::Reached(ReachedKey { refresh, rank, hop }));
                self.find("page_sets", name, "it is missing");
            }
        }
    }
}
