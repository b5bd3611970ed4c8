//! What an earlier selection on a site found out, brought to its pages, values and links of today.
//!
//! For page p and round j, let `W_j(p)` be the weight and `P_j(p)` the positive value within reach at
//! the time of the earlier selection, of which upper bounds were noted ([`Mark`](super::known::Mark)). Today's are
//! bounded by these plus
//!
//! - what p may reach now that it did not, or the other way round, and what pages within reach are
//!   worth more now ([`drift`](mod@super::drift)),
//! - the positive value of pages that an earlier pick before j covered and none of today's does,
//! - for the weight, the negative value of pages that today's picks cover and no earlier pick
//!   before j did.
//!
//! So every mark gives bounds at every round of today, and good ones where picks are much the same.
//! They take the place of the bounds that a selection from scratch works out at first; searching
//! goes on from there, and is exact. The picks are those of a selection from scratch.

use super::bounds::Zones;
use super::drift::{Drift, drift};
use super::former::Former;
use super::graph::SiteGraph;
use super::known::Known;
use super::lead::Round;
use super::weigh::Searches;
use crate::graph::lanes::LANES;
use crate::graph::{NONE, number};

/// The most that all pages may be worth, then and today together, so that no sum of bounds overflows.
const MOST: i128 = i64::MAX as i128 / 64;
/// Differences matter that come to more than one part in so many of the weight of a pick.
const MATTERS: i64 = 64;
/// The most searches for differences at a round: groups times hops.
const MOST_GROUPS: usize = 48;

/// An earlier selection, and how far today's weights may be above those of then.
#[derive(Debug)]
pub(super) struct Followed<'a> {
    former: &'a Former,
    drift: Drift,
    depth: u32,
    /// By page: what it is counted with, for the pages that reach it.
    counted: Vec<i64>,
    /// By page: the sum of `counted` within reach.
    sums: Vec<i64>,
}

impl<'a> Followed<'a> {
    /// Compares the site with what it was; `None` where nothing can be told. Returns the page visits,
    /// too.
    pub(super) fn new(former: &'a Former, graph: &SiteGraph, depth: u32) -> (Option<Self>, u64) {
        let worth = |graph: &SiteGraph| graph.values().iter().map(|v| i128::from(*v).abs()).sum();
        let (was, is): (i128, i128) = (worth(&former.graph), worth(graph));
        if former.rounds.len() != former.graph.values().len() || was + is > MOST {
            return (None, 0);
        }
        let (drift, visits) = drift(former, graph, depth);
        let Some(drift) = drift else {
            return (None, visits);
        };
        let zeros = vec![0; graph.pages() as usize];
        let followed = Self {
            former,
            drift,
            depth,
            counted: zeros.clone(),
            sums: zeros,
        };
        (Some(followed), visits)
    }

    /// Lowers the bounds to what the earlier selection says of this round; returns the page visits.
    pub(super) fn lower(
        &mut self,
        bounds: &mut Known,
        searches: &Searches<'_>,
        round: Round<'_>,
    ) -> u64 {
        let Some(zones) = round.zones else {
            return 0;
        };
        let now = Now {
            former: self.former,
            zones,
            round,
        };
        let visits = self.count(now, searches);
        let all = Besides::of(now, None);
        let others = Besides::of(now, Some(&self.counted));
        for (number, page) in (0..).zip(0..round.residual.values.len()) {
            for mark in self.former.trail.marks.get(page).into_iter().flatten() {
                let (weight, positive) = self.drift.of(page, mark);
                let mut more = all.at(mark.round);
                if mark.round <= round.number {
                    more = more.min(others.at(mark.round) + self.sums[page]);
                }
                let (weight, positive) =
                    (weight.saturating_add(more), positive.saturating_add(more));
                bounds.lower(number, weight, positive);
            }
        }
        visits
    }

    /// Counts the pages by which the picks so far differ from the earlier ones with those that reach
    /// them, where that is not too much work, and they are worth so much that it matters.
    fn count(&mut self, now: Now<'_>, searches: &Searches<'_>) -> u64 {
        let mut differ = Vec::new();
        let mut worth = 0;
        for (page, counted) in self.counted.iter().enumerate() {
            let wanted = now.change(page, self.former.rounds[page] < now.round.number);
            if wanted != *counted {
                differ.push((number(page), wanted - counted));
                worth += (wanted - counted).abs();
            }
        }
        let weights = &self.former.weights;
        let weight = weights.get(now.round.number as usize).or(weights.last());
        let groups = differ.len().div_ceil(LANES);
        let matters = worth > weight.copied().unwrap_or(0) / MATTERS;
        if !matters || groups * self.depth as usize > MOST_GROUPS {
            return 0;
        }
        for &(page, more) in &differ {
            self.counted[page as usize] += more;
        }
        let (sums, _, visits) = searches.spread(&differ, &now.round.residual.alive);
        for (all, sum) in self.sums.iter_mut().zip(sums) {
            *all += sum;
        }
        visits
    }
}

/// The earlier selection beside a round of today's.
#[derive(Clone, Copy)]
struct Now<'a> {
    former: &'a Former,
    zones: Zones<'a>,
    round: Round<'a>,
}

impl Now<'_> {
    /// By how much a page within reach raises or lowers a bound, at most or at least, that was noted
    /// when it was covered or was not.
    fn change(self, page: usize, was_covered: bool) -> i64 {
        let near = self.zones.near.get(page);
        let is_covered = near.is_none_or(|near| *near != u32::MAX);
        let is = self.round.values.get(page).copied().unwrap_or(0).max(0);
        let was = self.former.graph.values()[page];
        match (is_covered, was_covered) {
            (false, true) => is,
            (true, false) if was > 0 => -was.min(is),
            (true, false) => -was,
            _ => 0,
        }
    }
}

/// What pages by which picks differ may raise the bounds of all pages by.
struct Besides(Vec<i64>);

impl Besides {
    /// By round of the earlier selection, beyond what is counted.
    fn of(now: Now<'_>, counted: Option<&[i64]>) -> Self {
        let of_all = &now.former.rounds;
        let rounds = of_all.iter().filter(|round| **round != NONE);
        let rounds = rounds.max().map_or(1, |last| *last as usize + 2);
        // Bounds noted after the round in which a page was first covered, and up to it.
        let (mut after, mut until) = (vec![0_i64; rounds + 1], vec![0_i64; rounds + 1]);
        for (page, &first) in of_all.iter().enumerate() {
            let first = (first as usize).min(rounds - 1);
            let counted = counted.and_then(|all| all.get(page)).copied().unwrap_or(0);
            after[first + 1] += (now.change(page, true) - counted).max(0);
            until[first] += (now.change(page, false) - counted).max(0);
        }
        for at in 1..=rounds {
            after[at] += after[at - 1];
        }
        for at in (1..=rounds).rev() {
            until[at - 1] += until[at];
        }
        let both = after.into_iter().zip(until);
        let mut both: Vec<i64> = both.map(|(after, until)| after + until).collect();
        both.truncate(rounds);
        Self(both)
    }

    fn at(&self, round: u32) -> i64 {
        self.0[(round as usize).min(self.0.len() - 1)]
    }
}
