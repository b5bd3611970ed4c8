//! Limits how many seeds of a list change per refresh.
//!
//! Given the plan's previous list, and the list that its method and its other policies select now
//! (the *target*):
//!
//! 1. Seeds of the previous list that can no longer be seeds always leave: pages that are gone,
//! rejected, or above a cap. For caps, earlier seeds of the list have precedence.
//! 2. Pinned pages are always added.
//! 3. The best other pages of the target that are not on the list are added while fewer than the
//! maximum number were added: into a free seat, or in place of the last seed that is not in the
//! target (if the site or domain is full, of the same site or domain). The number of seeds that
//! leave is limited by the same maximum.
//! 4. If the list is longer than the target, further seeds leave while the maximum allows it.
//!
//! The result consists of the pins, then the pages that are in the target, in its order, then the
//! others in the order of the previous list.

use std::collections::{HashMap, HashSet};

use super::caps::Caps;
use super::rejection_reason::RejectionReason;
use crate::engine::EngineError;
use seedbank_algorithms::page::PageId;
use seedbank_store::Store;

/// Input of the limit on changes.
pub(crate) struct ChurnLimit<'a> {
    pub(crate) store: &'a Store,
    /// The plan's previous list, best first.
    pub(crate) last: &'a [PageId],
    /// The selection of the method and the other policies, best first, with pins before others.
    pub(crate) target: &'a [PageId],
    /// Number of pins in the target.
    pub(crate) pins: usize,
    /// Maximum number of seeds.
    pub(crate) most: usize,
    pub(crate) max_changes: usize,
}

/// Result of the limit on changes.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct LimitedSeeds {
    /// The list, best first.
    pub(crate) seeds: Vec<PageId>,
    /// Number of seeds of the previous list that had to leave.
    pub(crate) had_to_leave: usize,
    /// Number of pages of the target that were not added.
    pub(crate) held_back: usize,
}

/// Applies the limit. `may_stay` tests whether rules about single pages allow a seed of the
/// previous list. `caps` must not count any seeds yet.
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
    // Seeds that are not in the target. The last of them leave first.
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

/// Returns the position in `spare` of the seed that a page replaces: the last one or, if a cap is
/// reached, the last one that shares the cap.
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
