//! A list that changes by no more than so many seeds at a time.
//!
//! With the plan's last list, and the list that its method and its other policies come to now
//! (*target*):
//!
//! 1. Seeds of the last list that can be none any more leave, always: pages that are gone, or not
//!    allowed, or above a cap. Those before them in the last list stay first.
//! 2. Pages that are pinned come in, always.
//! 3. Of the rest of the target that is not on the list the best come in, as long as no more than so
//!    many came: into a free place, or for the last of the seeds that the target does not have; of
//!    the same site or domain where that is full. No more than so many leave either.
//! 4. What is on the list beyond the length of the target leaves, as long as that allows.
//!
//! The list is the pins, then what the target has too, in its order, then the others in the order of
//! the last list.

use std::collections::{HashMap, HashSet};

use super::caps::Caps;
use super::rejection_reason::RejectionReason;
use crate::engine::EngineError;
use seedbank_algorithms::page::PageId;
use seedbank_store::Store;

/// What went in.
pub(crate) struct ChurnLimit<'a> {
    pub(crate) store: &'a Store,
    /// The plan's last list, best first.
    pub(crate) last: &'a [PageId],
    /// What the method and the other policies come to, best first; pins before others.
    pub(crate) target: &'a [PageId],
    /// How many of the target are pins.
    pub(crate) pins: usize,
    /// How many seeds there may be.
    pub(crate) most: usize,
    pub(crate) max_changes: usize,
}

/// What came of it.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LimitedSeeds {
    /// The list, best first.
    pub(crate) seeds: Vec<PageId>,
    /// How many seeds of the last list had to leave.
    pub(crate) had_to_leave: usize,
    /// How many of the target did not come in.
    pub(crate) held_back: usize,
}

/// Makes the list. `may_stay` says of a page of the last list whether it may be a seed for its own
/// sake; `caps` are without any seed.
pub(crate) fn limit_churn(
    of: &ChurnLimit<'_>,
    mut caps: Caps,
    mut may_stay: impl FnMut(PageId) -> Result<bool, EngineError>,
) -> Result<LimitedSeeds, EngineError> {
    let (store, target) = (of.store, of.target);
    let places: HashMap<PageId, usize> = target.iter().copied().zip(0..).collect();
    let mut on: HashSet<PageId> = HashSet::new();
    for &pin in &target[..of.pins] {
        on.insert(pin);
        caps.take(store, pin.site())?;
    }
    let mut stay: Vec<PageId> = Vec::new();
    let mut had_to_leave = 0;
    for &page in of.last {
        if on.contains(&page) {
            continue;
        }
        let may = may_stay(page)? && caps.full(store, page.site())?.is_none();
        if may && stay.len() + of.pins < of.most {
            caps.take(store, page.site())?;
            on.insert(page);
            stay.push(page);
        } else {
            had_to_leave += 1;
        }
    }
    // The seeds that the target does not have, the last of them the first to leave.
    let mut spare: Vec<PageId> = stay
        .iter()
        .copied()
        .filter(|p| !places.contains_key(p))
        .collect();
    let last: HashSet<PageId> = of.last.iter().copied().collect();
    let mut came = target[..of.pins]
        .iter()
        .filter(|p| !last.contains(p))
        .count();
    let mut may_leave = of.max_changes.saturating_sub(had_to_leave);
    let mut held_back = 0;
    for &page in &target[of.pins..] {
        if on.contains(&page) {
            continue;
        }
        let full = caps.full(store, page.site())?;
        let is_room = full.is_none() && on.len() < of.most;
        let leaver = if is_room {
            None
        } else {
            leaver(store, &mut caps, &spare, (full, page))?
        };
        if came >= of.max_changes || (!is_room && (leaver.is_none() || may_leave == 0)) {
            held_back += 1;
            continue;
        }
        if let Some(at) = leaver {
            let old = spare.remove(at);
            on.remove(&old);
            caps.give_back(store, old.site())?;
            may_leave -= 1;
        }
        came += 1;
        caps.take(store, page.site())?;
        on.insert(page);
    }
    while on.len() > target.len() && may_leave > 0 {
        let Some(old) = spare.pop() else { break };
        on.remove(&old);
        may_leave -= 1;
    }
    let mut seeds: Vec<PageId> = target
        .iter()
        .copied()
        .filter(|page| on.contains(page))
        .collect();
    seeds.extend(
        stay.iter()
            .filter(|page| on.contains(page) && !places.contains_key(page)),
    );
    Ok(LimitedSeeds {
        seeds,
        had_to_leave,
        held_back,
    })
}

/// The place among the spare seeds of the one that leaves for a page: the last of them, or where
/// something is full the last that shares it.
fn leaver(
    store: &Store,
    caps: &mut Caps,
    spare: &[PageId],
    (full, page): (Option<RejectionReason>, PageId),
) -> Result<Option<usize>, EngineError> {
    let Some(full) = full else {
        return Ok(spare.len().checked_sub(1));
    };
    for (at, old) in spare.iter().enumerate().rev() {
        if caps.share(store, full, (old.site(), page.site()))? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
