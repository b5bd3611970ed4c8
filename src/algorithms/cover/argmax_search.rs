//! Which page is the best of those searched, and which of the others may still be.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::bounds::Zones;
use super::weight_bounds::WeightBounds;
use super::residual::Residual;
use crate::watch::Watch;

/// A pick to be made: what still counts, and where walks end.
#[derive(Clone, Copy)]
pub(super) struct Round<'a> {
    pub(super) residual: &'a Residual,
    /// `Some` while pages are zeroed, `None` while they are removed.
    pub(super) zones: Option<Zones<'a>>,
    /// Whether only positive weights are wanted.
    pub(super) positive_only: bool,
    pub(super) watch: &'a dyn Watch,
}

impl Round<'_> {
    pub(super) fn wanted(&self, bound: i64) -> bool {
        !self.positive_only || bound > 0
    }
}

/// A weight and a page; the better key is greater, ties by smallest URL.
pub(super) type Key = (i64, Reverse<u32>);

/// The best page, and the second best where it is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Best {
    pub(super) page: u32,
    pub(super) weight: i64,
    pub(super) runner_up: Option<(u32, i64)>,
}

/// The two greatest of the keys offered.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct TopTwo {
    pub(super) first: Option<Key>,
    second: Option<Key>,
}

impl TopTwo {
    pub(super) fn offer(&mut self, key: Key) {
        if self.first.is_none_or(|first| key > first) {
            self.second = self.first.replace(key);
        } else if self.second.is_none_or(|second| key > second) {
            self.second = Some(key);
        }
    }

    /// The best page; `open` is the greatest bound of a page whose weight is not known.
    pub(super) fn best(self, open: Option<Key>) -> Option<Best> {
        let (weight, Reverse(page)) = self.first?;
        let proven = self
            .second
            .filter(|&second| open.is_none_or(|open| second > open));
        Some(Best {
            page,
            weight,
            runner_up: proven.map(|(weight, Reverse(page))| (page, weight)),
        })
    }
}

/// What is known from lowering the bounds within one pick.
#[derive(Debug, Default)]
pub(super) struct BoundFilter {
    /// Whether balls and tolls have been used already.
    pub(super) spent: bool,
    /// The greatest bound among the pages that can no longer be the best, though one of them may
    /// still be the second best.
    dropped: Option<Key>,
}

impl BoundFilter {
    /// The greatest bound of a page that was not searched.
    pub(super) fn open(&self, queue: &BinaryHeap<Key>) -> Option<Key> {
        queue.peek().copied().max(self.dropped)
    }

    /// Keeps the pages that may still be the best.
    pub(super) fn pass(
        &mut self,
        rest: &mut Vec<u32>,
        bounds: &WeightBounds,
        known: TopTwo,
        round: Round<'_>,
    ) {
        let mut dropped = self.dropped;
        rest.retain(|&page| {
            let key = key(bounds, page);
            let keep = round.wanted(key.0) && known.first.is_none_or(|first| key > first);
            if !keep {
                dropped = dropped.max(Some(key));
            }
            keep
        });
        self.dropped = dropped;
    }
}

/// What a page is searched by.
pub(super) fn key(bounds: &WeightBounds, page: u32) -> Key {
    (bounds.of(page), Reverse(page))
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
            zones: None,
            positive_only: true,
            watch: &Unwatched,
        };
        let mut known = TopTwo::default();
        for key in [(7, Reverse(5)), (9, Reverse(4)), (9, Reverse(2))] {
            known.offer(key);
        }
        assert_eq!(known.best(None).unwrap().runner_up, Some((4, 9)));
        let mut sieve = BoundFilter::default();
        let mut bounds = WeightBounds::new(6, 0);
        bounds.positive = vec![9, 8, 0, 9, 0, 0];
        // Page 0 stays, since with a weight of 9 it would come first; 1 and 3 can no longer be
        // first.
        let mut rest = vec![0, 1, 3];
        sieve.pass(&mut rest, &bounds, known, round);
        assert_eq!(rest, [0]);
        let open = sieve.open(&BinaryHeap::new());
        assert_eq!(open, Some((9, Reverse(3))));
        assert_eq!(known.best(open).unwrap().runner_up, None);
        let open = sieve.open(&BinaryHeap::from([(9, Reverse(0))]));
        assert_eq!(open, Some((9, Reverse(0))));
        // The negative value that each reaches for certain is subtracted.
        bounds.pays(&[1; 6]);
        sieve.pass(&mut rest, &bounds, known, round);
        assert!(rest.is_empty());
    }
}
