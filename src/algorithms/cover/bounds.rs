//! Upper bounds on the positive value within reach, at a small part of the cost of searches.
//!
//! Let `N_d(p)` be the pages within d hops of p, `B_d(p)` the sum of the positive values left in
//! it, and `v+` the positive part of a value. `B_d` only falls as pages are covered, so a bound holds for
//! all later picks.
//!
//! *Walk bound.* `N_j(p)` is p and the union of `N_{j-1}(s)` over its successors s, so
//!
//! ```text
//! B_0(p) = v+(p)        B_j(p) <= v+(p) + sum over s of B_{j-1}(s)
//! ```
//!
//! where any `B_{j-1}(s)` may be replaced by a bound of `B_d(s)`, and is 0 if all of `N_{j-1}(s)` is
//! covered, that is, if s is within `h - (j-1)` hops of an earlier pick. A page that is reached in several
//! ways counts several times, so this is only a bound.
//!
//! *Ball bound.* The pages within r hops of some middle pages, the ball, are counted once, and walks count
//! only the pages outside it. If s is within `r - j` hops of the middle, `N_j(s)` lies inside the ball and
//! adds nothing. This is sharp where most pages reach the same pages of a site. It is computed with the
//! page of the best known weight as the middle and r = d, and with the menu, the pages that a large part
//! of the site links to, as the middle and r = d - 1.
//!
//! *Certain loss.* A page i hops away from a reference page reaches everything within `d - i` hops of that
//! page, including all negative value there. That bounds the weight, not `B_d`, and only for one pick,
//! since the next pick may have covered that negative value.

use rayon::prelude::*;

use super::bfs_ball::BallSearch;
use super::graph::SiteGraph;
use super::residual::Residual;

/// Pages per task; small enough that one large site keeps all threads busy.
const CHUNK: usize = 2048;

/// The inputs of a walk bound.
struct Walk<'a, Worth, Nothing> {
    graph: &'a SiteGraph,
    depth: u32,
    /// The positive value that counts at a page.
    worth: Worth,
    /// Whether the ball around a page, of this many hops, has no value that counts.
    is_worthless: Nothing,
    /// Known bounds for the full depth.
    bound: &'a [i64],
    /// An upper limit of every sum.
    total: i64,
}

impl<Worth, Nothing> Walk<'_, Worth, Nothing>
where
    Worth: Fn(u32) -> i64 + Sync,
    Nothing: Fn(u32, u32) -> bool + Sync,
{
    /// The bound of each page at full depth, and the page visits.
    fn run(&self) -> (Vec<i64>, u64) {
        let pages = self.graph.pages();
        let mut shorter: Vec<i64> = (0..pages)
            .into_par_iter()
            .with_min_len(CHUNK)
            .map(|page| {
                if (self.is_worthless)(page, 0) {
                    0
                } else {
                    (self.worth)(page)
                }
            })
            .collect();
        let mut longer = vec![0; shorter.len()];
        let mut visits = u64::from(pages);
        for hops in 1..=self.depth {
            visits += longer
                .par_iter_mut()
                .zip(0..pages)
                .with_min_len(CHUNK)
                .map(|(sum, page)| self.step(page, hops, &shorter, sum))
                .sum::<u64>();
            std::mem::swap(&mut shorter, &mut longer);
        }
        (shorter, visits)
    }

    /// Computes the bound of a page from those of its successors at one hop less; returns the page visits.
    fn step(&self, page: u32, hops: u32, shorter: &[i64], sum: &mut i64) -> u64 {
        let cap = self.bound[page as usize].min(self.total);
        if cap <= 0 || (self.is_worthless)(page, hops) {
            *sum = 0;
            return 0;
        }
        let mut scanned = 1;
        let mut found = (self.worth)(page);
        for &target in self.graph.successors(page) {
            if found >= cap {
                break;
            }
            scanned += 1;
            found = found.saturating_add(shorter[target as usize]);
        }
        *sum = found.min(cap);
        scanned
    }
}

/// The balls that earlier picks cover.
#[derive(Clone, Copy)]
pub(super) struct CoveredBalls<'a> {
    /// The distance of each page from the nearest pick.
    pub(super) distance: &'a [u32],
    /// How many hops a pick covers.
    pub(super) hops: u32,
}

impl CoveredBalls<'_> {
    /// Whether a pick covers all pages within `hops` of a page.
    fn contain(&self, page: u32, hops: u32) -> bool {
        self.distance[page as usize].saturating_add(hops) <= self.hops
    }
}

/// Computes bounds for one pick.
#[derive(Clone, Copy)]
pub(super) struct Bounder<'a> {
    pub(super) graph: &'a SiteGraph,
    pub(super) depth: u32,
    pub(super) residual: &'a Residual,
    /// `None` if covered pages are removed.
    pub(super) covered: Option<CoveredBalls<'a>>,
}

impl Bounder<'_> {
    fn is_covered(&self, page: u32, hops: u32) -> bool {
        self.covered
            .is_some_and(|covered| covered.contain(page, hops))
    }

    /// Lowers `bound` to the walk bound. Returns the page visits: `depth` passes over the links.
    pub(super) fn lower_by_walks(&self, bound: &mut [i64]) -> u64 {
        let residual = self.residual;
        let (found, visits) = Walk {
            graph: self.graph,
            depth: self.depth,
            worth: |page: u32| residual.values[page as usize].max(0),
            is_worthless: |page: u32, hops| {
                !residual.alive[page as usize] || self.is_covered(page, hops)
            },
            bound,
            total: residual.positive,
        }
        .run();
        lower(bound, &found, 0);
        visits
    }

    /// Lowers `bound` by the ball bound with this middle. Returns the page visits: a search and `depth`
    /// passes over the links.
    pub(super) fn lower_by_ball(&self, middle: &[u32], radius: u32, bound: &mut [i64]) -> u64 {
        let (residual, alive) = (self.residual, &self.residual.alive);
        let mut distance = vec![u32::MAX; bound.len()];
        let mut inside = 0;
        let mut search = BallSearch::new(self.graph.pages());
        let links = self.graph.successor_lists();
        let is_alive = |page: u32| alive[page as usize];
        let searched = search.levels_among(links, middle, radius, is_alive, |level| {
            for &page in level.pages {
                distance[page as usize] = level.hop;
                inside += residual.values[page as usize].max(0);
            }
        });
        let (found, walked) = Walk {
            graph: self.graph,
            depth: self.depth,
            worth: |page: u32| {
                if distance[page as usize] <= radius {
                    0
                } else {
                    residual.values[page as usize].max(0)
                }
            },
            is_worthless: |page: u32, hops| {
                !alive[page as usize]
                    || distance[page as usize].saturating_add(hops) <= radius
                    || self.is_covered(page, hops)
            },
            bound,
            total: residual.positive - inside,
        }
        .run();
        lower(bound, &found, inside);
        searched + walked
    }

    /// Raises `losses`, the absolute negative value that each page is certain to reach, by what it reaches
    /// through `reference`. Returns the page visits: two searches.
    pub(super) fn raise_losses(&self, reference: u32, losses: &mut [i64]) -> u64 {
        let (depth, residual) = (self.depth, self.residual);
        let is_alive = |page: u32| residual.alive[page as usize];
        // The negative value within 0, 1, 2 hops and so on of the reference page.
        let mut within = vec![0_i64; depth as usize + 1];
        let mut search = BallSearch::new(self.graph.pages());
        let forward = self.graph.successor_lists();
        let mut visits = search.levels_among(forward, &[reference], depth, is_alive, |level| {
            for &page in level.pages {
                within[level.hop as usize] -= residual.values[page as usize].min(0);
            }
        });
        for hop in 1..within.len() {
            within[hop] += within[hop - 1];
        }
        let backward = self.graph.predecessor_lists();
        visits += search.levels_among(backward, &[reference], depth, is_alive, |level| {
            for &page in level.pages {
                let loss = &mut losses[page as usize];
                *loss = (*loss).max(within[(depth - level.hop) as usize]);
            }
        });
        visits
    }
}

fn lower(bound: &mut [i64], found: &[i64], plus: i64) {
    for (bound, found) in bound.iter_mut().zip(found) {
        *bound = (*bound).min(found.saturating_add(plus));
    }
}

#[cfg(test)]
mod tests {
    use super::super::coverage::Coverage;
    use super::super::samples::{site, within};
    use super::*;
    use crate::graph::StrongComponents;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(128))]

        #[test]
        fn no_bound_is_below_what_it_bounds(
            (graph, mut residual) in site(),
            depth in 0_u32..6,
            more in 0_u32..2,
            middle in proptest::collection::btree_set(0_u32..400, 1..5),
            picks in proptest::collection::vec(0_u32..400, 0..3),
        ) {
            let pages = graph.pages();
            let zeroing = residual.pages_left == pages as usize;
            let hops = depth + more;
            let mut coverage = Coverage::new(pages);
            for pick in picks.into_iter().filter(|&pick| zeroing && pick < pages) {
                for page in coverage.add(&graph, pick, hops).1 {
                    residual.zero(page);
                }
            }
            let covered = zeroing.then_some(CoveredBalls { distance: &coverage.distance, hops });
            let bounder = Bounder { graph: &graph, depth, residual: &residual, covered };
            let links = graph.successor_lists();
            let reach = StrongComponents::new(links, &residual.alive);
            let mut bound = reach.reach_bounds(links, &residual.values, residual.positive);
            let mut losses = vec![0; pages as usize];
            let alive = |page: &u32| residual.alive[*page as usize];
            let middle: Vec<u32> = middle.into_iter().filter(|&p| p < pages).filter(alive).collect();
            let check = |bound: &[i64], losses: &[i64]| {
                for page in (0..pages).filter(alive) {
                    let (weight, positive) = within(&graph, &residual, page, depth);
                    let at = page as usize;
                    prop_assert!(positive <= bound[at], "{} > {}", positive, bound[at]);
                    prop_assert!(weight <= bound[at] - losses[at]);
                }
                Ok(())
            };
            check(&bound, &losses)?;
            bounder.lower_by_walks(&mut bound);
            check(&bound, &losses)?;
            let mut ball_only = vec![residual.positive; pages as usize];
            for radius in [depth, depth.saturating_sub(1)] {
                bounder.lower_by_ball(&middle, radius, &mut ball_only);
                check(&ball_only, &losses)?;
            }
            for reference in middle {
                bounder.raise_losses(reference, &mut losses);
                check(&bound, &losses)?;
            }
        }
    }
}
