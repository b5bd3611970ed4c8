//! Limits how many seeds of a list change per refresh.
//!
//! Given the plan's previous list, and the list that its method and its other policies select now
//! (the *target*):
//!
//! 1. Seeds of the previous list that can no longer be seeds always leave: pages that are gone,
//!    rejected, or above a cap. For caps, earlier seeds of the list have precedence.
//! 2. Pinned pages are always added.
//! 3. The best other pages of the target that are not on the list are added while fewer than the
//!    maximum number were added: into a free seat, or in place of the last seed that is not in the
//!    target (if the site or domain is full, of the same site or domain). The number of seeds that
//!    leave is limited by the same maximum.
//! 4. If the list is longer than the target, further seeds leave while the maximum allows it.
//!
//! The result consists of the pins, then the pages that are in the target, in its order, then the
//! others in the order of the previous list.

use std::collections::{HashMap, HashSet};

use super::caps::Caps;
use super::rejection_reason::RejectionReason;
use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_store::Store;

/// Input of the limit on changes.
pub(crate) struct ChurnLimit<'a> {
    pub(crate) store: &'a Store,
    /// The plan's previous list, best first.
    pub(crate) previous: &'a [PageId],
    /// The selection of the method and the other policies, best first, with pins before others.
    pub(crate) target: &'a [PageId],
    /// Number of pins in the target.
    pub(crate) pins: usize,
    /// Maximum number of seeds.
    pub(crate) max_seeds: usize,
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
    limit: &ChurnLimit<'_>,
    mut caps: Caps,
    mut may_stay: impl FnMut(PageId) -> Result<bool>,
) -> Result<LimitedSeeds> {
    let (store, target) = (limit.store, limit.target);
    let places: HashMap<PageId, usize> = target.iter().copied().zip(0..).collect();
    let mut listed: HashSet<PageId> = HashSet::new();
    for &pin in &target[..limit.pins] {
        listed.insert(pin);
        caps.count(store, pin.site())?;
    }
    let mut stay: Vec<PageId> = Vec::new();
    let mut had_to_leave = 0;
    // Step 1: keep what may stay, in the order of the previous list.
    for &page in limit.previous {
        if listed.contains(&page) {
            continue;
        }
        let may = may_stay(page)? && caps.reached(store, page.site())?.is_none();
        if may && stay.len() + limit.pins < limit.max_seeds {
            caps.count(store, page.site())?;
            listed.insert(page);
            stay.push(page);
        } else {
            had_to_leave += 1;
        }
    }
    // Seeds that are not in the target. The last of them leave first.
    let mut replaceable: Vec<PageId> = stay
        .iter()
        .copied()
        .filter(|p| !places.contains_key(p))
        .collect();
    let previous: HashSet<PageId> = limit.previous.iter().copied().collect();
    let mut added = target[..limit.pins]
        .iter()
        .filter(|p| !previous.contains(p))
        .count();
    let mut may_leave = limit.max_changes.saturating_sub(had_to_leave);
    let mut held_back = 0;
    // Step 3: add the best new pages while the limit allows it.
    for &page in &target[limit.pins..] {
        if listed.contains(&page) {
            continue;
        }
        let cap = caps.reached(store, page.site())?;
        let has_seat = cap.is_none() && listed.len() < limit.max_seeds;
        let replaced = if has_seat {
            None
        } else {
            find_replaced(store, &mut caps, &replaceable, cap, page)?
        };
        if added >= limit.max_changes || (!has_seat && (replaced.is_none() || may_leave == 0)) {
            held_back += 1;
            continue;
        }
        if let Some(at) = replaced {
            let old = replaceable.remove(at);
            listed.remove(&old);
            caps.uncount(store, old.site())?;
            may_leave -= 1;
        }
        added += 1;
        caps.count(store, page.site())?;
        listed.insert(page);
    }
    // Step 4: shrink to the length of the target.
    while listed.len() > target.len() && may_leave > 0 {
        let Some(old) = replaceable.pop() else { break };
        listed.remove(&old);
        may_leave -= 1;
    }
    let mut seeds: Vec<PageId> = target
        .iter()
        .copied()
        .filter(|page| listed.contains(page))
        .collect();
    seeds.extend(
        stay.iter()
            .filter(|page| listed.contains(page) && !places.contains_key(page)),
    );
    Ok(LimitedSeeds {
        seeds,
        had_to_leave,
        held_back,
    })
}

/// Returns the position in `replaceable` of the seed that a page replaces: the last one or, if a cap is
/// reached, the last one that shares the cap.
fn find_replaced(
    store: &Store,
    caps: &mut Caps,
    replaceable: &[PageId],
    cap: Option<RejectionReason>,
    page: PageId,
) -> Result<Option<usize>> {
    let Some(cap) = cap else {
        return Ok(replaceable.len().checked_sub(1));
    };
    for (at, old) in replaceable.iter().enumerate().rev() {
        if caps.shares_cap(store, cap, old.site(), page.site())? {
            return Ok(Some(at));
        }
    }
    Ok(None)
}
