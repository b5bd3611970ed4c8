//! Check of seeds over the whole web: ranks and positions match, and the reached sets are those that the seeds
//! claim.

use std::collections::{BTreeMap, BTreeSet};

use super::{Walk, page_set_name};
use crate::tables::records::WebEvidence;
use crate::tables::{PageSetKey, ReachedKey};
use seedbank_algorithms::page::PageSet;

/// The number of pages that a seed reaches at one hop.
#[derive(Clone, Copy, PartialEq, Eq)]
struct ReachedPages {
    expected: u64,
    found: u64,
}

/// Seeds over the web, collected by the check.
#[derive(Default)]
pub(super) struct OverWeb {
    /// The number of pages that each seed reaches at each hop, by the refresh that selected it and its rank. A
    /// seed that later refreshes reused is present once.
    reached: BTreeMap<(u32, u32), Vec<ReachedPages>>,
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
        let pages = evidence.hops.iter().map(|hop| ReachedPages {
            expected: hop.all.pages.into(),
            found: 0,
        });
        let pages: Vec<ReachedPages> = pages.collect();
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

    /// Counts the pages of a part of a reached set.
    pub(super) fn reached(&mut self, key: ReachedKey, pages: &PageSet, over_web: &mut OverWeb) {
        let of_pick = over_web.reached.get_mut(&(key.refresh, key.rank));
        let hop = of_pick.and_then(|hops| hops.get_mut(key.hop as usize));
        if let Some(hop) = hop {
            hop.found += pages.len();
        } else {
            let name = page_set_name(PageSetKey::Reached(key));
            self.find("page_sets", name, "no seed reaches it");
        }
    }

    /// Reports the reached sets that are missing or have another number of pages.
    pub(super) fn reached_differences(&mut self, over_web: &OverWeb) {
        for (&(refresh, rank), hops) in &over_web.reached {
            for (hop, pages) in (0..).zip(hops) {
                let what = match pages.found {
                    found if found == pages.expected => continue,
                    0 => "it is missing",
                    _ => "its seed reaches another number of pages",
                };
                let name = page_set_name(PageSetKey::Reached(ReachedKey { refresh, rank, hop }));
                self.find("page_sets", name, what);
            }
        }
    }
}
