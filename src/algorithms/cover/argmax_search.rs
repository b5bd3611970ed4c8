//! Which page is the best of the searched ones, and which of the others may still be better.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bounds::CoveredBalls;
use super::pick::Scored;
use super::residual::Residual;
use super::weight_bounds::WeightBounds;
use crate::watch::Watch;

/// The state in which one pick is made.
#[derive(Clone, Copy)]
pub(super) struct Round<'a> {
    pub(super) residual: &'a Residual,
    /// `None` if covered pages are removed instead of zeroed.
    pub(super) covered: Option<CoveredBalls<'a>>,
    /// Whether the weight must be positive.
    pub(super) positive_only: bool,
    pub(super) watch: &'a dyn Watch,
}

impl Round<'_> {
    /// Whether a page with this weight or bound can be picked.
    pub(super) fn admits(&self, bound: i64) -> bool {
        !self.positive_only || bound > 0
    }
}

/// A weight or bound and its page; the better key is greater, ties by smallest URL.
pub(super) type Key = (i64, Reverse<u32>);

/// The best page, and the second best if it is known.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Argmax {
    pub(super) seed: Scored,
    pub(super) runner_up: Option<Scored>,
}

/// The two greatest of the keys offered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TopTwo {
    pub(super) first: Option<Key>,
    pub(super) second: Option<Key>,
}

impl TopTwo {
    pub(super) fn offer(&mut self, key: Key) {
        if self.first.is_none_or(|first| key > first) {
            self.second = self.first.replace(key);
        } else if self.second.is_none_or(|second| key > second) {
            self.second = Some(key);
        }
    }

    /// The best page; `unsearched` is the greatest bound of a page whose weight is unknown. The second best
    /// page is known only if it beats that bound.
    pub(super) fn best(self, unsearched: Option<Key>) -> Option<Argmax> {
        let (weight, Reverse(page)) = self.first?;
        let runner_up = self
            .second
            .filter(|&second| unsearched.is_none_or(|bound| second > bound));
        Some(Argmax {
            seed: Scored::by_weight(page, weight),
            runner_up: runner_up.map(|(weight, Reverse(page))| Scored::by_weight(page, weight)),
        })
    }
}

/// Drops pages whose bounds show that they cannot be the best, within one pick.
#[derive(Debug, Default)]
pub(super) struct BoundFilter {
    /// Whether ball bounds and certain losses have been computed.
    pub(super) used_balls: bool,
    /// The greatest bound among the dropped pages, one of which may still be the second best.
    dropped: Option<Key>,
}

impl BoundFilter {
    /// The greatest bound of a page that was not searched.
    pub(super) fn greatest_unsearched(&self, queue: &BinaryHeap<Key>) -> Option<Key> {
        queue.peek().copied().max(self.dropped)
    }

    /// Retains the pages that may still be the best.
    pub(super) fn retain(
        &mut self,
        pages: &mut Vec<u32>,
        bounds: &WeightBounds,
        known: TopTwo,
        round: Round<'_>,
    ) {
        let mut dropped = self.dropped;
        pages.retain(|&page| {
            let key = key(bounds, page);
            let keep = round.admits(key.0) && known.first.is_none_or(|first| key > first);
            if !keep {
                dropped = dropped.max(Some(key));
            }
            keep
        });
        self.dropped = dropped;
    }
}

/// The key that orders the searches.
pub(super) fn key(bounds: &WeightBounds, page: u32) -> Key {
    (bounds.bound_of(page), Reverse(page))
}

#[cfg(test)]
mod tests {
    use super::super::graph::SiteGraph;
    use super::*;
    use crate::watch::Unwatched;

    #[test]
    fn a_runner_up_is_named_only_where_nothing_unsearched_can_beat_it() {
        let graph = SiteGraph::new(vec![1; 6], []).unwrap();
        let residual = Residual::new(&graph);
        let round = Round {
            residual: &residual,
            covered: None,
            positive_only: true,
            watch: &Unwatched,
        };
        let mut known = TopTwo::default();
        for key in [(7, Reverse(5)), (9, Reverse(4)), (9, Reverse(2))] {
            known.offer(key);
        }
        assert_eq!(
            known.best(None).unwrap().runner_up,
            Some(Scored::by_weight(4, 9))
        );
        let mut filter = BoundFilter::default();
        let mut bounds = WeightBounds::new(6, 0);
        bounds.positive = vec![9, 8, 0, 9, 0, 0];
        // Page 0 stays, since with a weight of 9 it would come first; 1 and 3 can no longer be
        // first.
        let mut pages = vec![0, 1, 3];
        filter.retain(&mut pages, &bounds, known, round);
        assert_eq!(pages, [0]);
        let unsearched = filter.greatest_unsearched(&BinaryHeap::new());
        assert_eq!(unsearched, Some((9, Reverse(3))));
        assert_eq!(known.best(unsearched).unwrap().runner_up, None);
        let unsearched = filter.greatest_unsearched(&BinaryHeap::from([(9, Reverse(0))]));
        assert_eq!(unsearched, Some((9, Reverse(0))));
        // The negative value that each is certain to reach is subtracted.
        bounds.subtract_losses(&[1; 6]);
        filter.retain(&mut pages, &bounds, known, round);
        assert!(pages.is_empty());
    }
}
