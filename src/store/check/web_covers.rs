//! Seeds over the whole web: that ranks and picks fit together, and that what a seed claims to reach
//! is there, as a set and page by page.

use std::collections::{BTreeMap, BTreeSet};

use super::{Walk, bitmap_name};
use crate::tables::records::WebEvidence;
use crate::tables::{PageSetKey, ReachedKey};
use seedbank_algorithms::page::PageSet;

/// What the walk remembers of seeds over the web.
#[derive(Default)]
pub(super) struct OverWeb {
    /// How many pages seeds claim to reach at each hop, by the refresh that picked them and rank. A
    /// seed that later refreshes took over is there once.
    reached: BTreeMap<(u32, u32), Vec<u32>>,
    /// The places of the seeds of a refresh in the order of picks.
    picks: BTreeMap<u32, BTreeSet<u32>>,
}

impl OverWeb {
    /// The refreshes that picked.
    pub(super) fn picked_by(&self) -> BTreeSet<u32> {
        self.reached.keys().map(|(refresh, _)| *refresh).collect()
    }

    /// Takes a seed; returns what is wrong with it.
    pub(super) fn seed(
        &mut self,
        (refresh, rank): (u32, u32),
        evidence: &WebEvidence,
    ) -> Option<&'static str> {
        let pages: Vec<u32> = evidence.hops.iter().map(|hop| hop.all.pages).collect();
        let of_pick = (evidence.since, rank);
        let same = self.reached.entry(of_pick).or_insert_with(|| pages.clone());
        if *same != pages {
            return Some("it contradicts another refresh");
        }
        if evidence.since > refresh {
            return Some("it was copied from a later refresh");
        }
        let is_new = self.picks.entry(refresh).or_default().insert(evidence.pick);
        (!is_new).then_some("another seed was picked at the same place")
    }
}

impl Walk<'_> {
    /// The picks of every refresh are numbered from 1.
    pub(super) fn web_picks(&mut self, over_web: &OverWeb) {
        for (refresh, picks) in &over_web.picks {
            if picks.last().copied() != u32::try_from(picks.len()).ok() || picks.contains(&0) {
                let name = format!("refresh {refresh}");
                self.report.find("seeds", name, "a pick is missing");
            }
        }
    }

    /// Checks a set of reached pages and takes it off the list of those that must be there.
    pub(super) fn reached(&mut self, key: ReachedKey, pages: &PageSet, over_web: &mut OverWeb) {
        let of_pick = over_web.reached.get_mut(&(key.refresh, key.rank));
        let hop = of_pick.and_then(|hops| hops.get_mut(key.hop as usize));
        let what = match hop.map(std::mem::take) {
            None => "no seed reaches it",
            Some(wanted) if pages.len() == u64::from(wanted) => return,
            Some(_) => "its seed reaches another number of pages",
        };
        let name = bitmap_name(PageSetKey::Reached(key));
        self.report.find("page_sets", name, what);
    }

    /// Reports the sets that seeds claim to reach and that are missing.
    pub(super) fn not_reached(&mut self, over_web: &OverWeb) {
        for (&(refresh, rank), hops) in &over_web.reached {
            for (hop, _) in (0..).zip(hops).filter(|(_, pages)| **pages > 0) {
                let name = bitmap_name(PageSetKey::Reached(ReachedKey { refresh, rank, hop }));
                self.report.find("page_sets", name, "it is missing");
            }
        }
    }
}
