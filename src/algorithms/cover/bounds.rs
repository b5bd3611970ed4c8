//! Upper bounds on the positive value within reach, far cheaper than searching.
//!
//! Let `N_d(p)` be the pages within d hops of p, `B_d(p)` the sum of the positive values left in
//! it, and `v+` the positive part of a value. `B_d` only falls as pages are covered, so every bound
//! that was found once holds for all later picks.
//!
//! *Walk bound.* `N_j(p)` is p and the union of `N_{j-1}(s)` over its successors s, so
//!
//! ```text
//! B_0(p) = v+(p)        B_j(p) <= v+(p) + sum over s of B_{j-1}(s)
//! ```
//!
//! where any `B_{j-1}(s)` may be replaced by a bound of `B_d(s)`, and is 0 where all of
//! `N_{j-1}(s)` is covered, that is where s is within `h - (j-1)` hops of an earlier pick. Pages
//! that are reached in several ways count several times, so this is only a bound.
//!
//! *Ball bound.* What is within r hops of some pages, the ball's middle, is paid for once, and only
//! what lies outside is walked to; where s is within `r - j` hops of the middle, `N_j(s)` lies
//! inside and so adds nothing. This is sharp where most pages see the same heart of a site. It is
//! taken with the page of the best weight so far as the middle and r = d, and with the pages that a
//! good part of the site links to, its menu, as the middle and r = d - 1.
//!
//! *Toll.* A page i hops away from a reference page reaches everything within `d - i` hops of that
//! page, with all the negative value there. That bounds the weight, not `B_d`, and only for one
//! pick: the next one may find it paid for.

use rayon::prelude::*;

use super::graph::SiteGraph;
use super::reach::{Direction, Search};
use super::residual::Residual;

/// Pages per task; small enough that one big site keeps all threads busy.
const CHUNK: usize = 2048;

/// What a walk bound needs to know.
struct Walk<'a, Worth, Nothing> {
    graph: &'a SiteGraph,
    depth: u32,
    /// The positive value to be counted at a page.
    worth: Worth,
    /// Whether the neighbourhood of a page, of this many hops, holds nothing that counts.
    nothing: Nothing,
    /// Known bounds for the full depth.
    bound: &'a [i64],
    /// A sum that no bound exceeds.
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
                if (self.nothing)(page, 0) {
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

    fn step(&self, page: u32, hops: u32, shorter: &[i64], sum: &mut i64) -> u64 {
        let cap = self.bound[page as usize].min(self.total);
        if cap <= 0 || (self.nothing)(page, hops) {
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

/// Where walks to depth d can be cut short because an earlier pick covers all that they could find.
#[derive(Clone, Copy)]
pub(super) struct Zones<'a> {
    /// The distance of each page from the nearest pick.
    pub(super) near: &'a [u32],
    /// How many hops a pick covers.
    pub(super) hops: u32,
}

impl Zones<'_> {
    fn covered(&self, page: u32, hops: u32) -> bool {
        self.near[page as usize].saturating_add(hops) <= self.hops
    }
}

fn lower(bound: &mut [i64], found: &[i64], plus: i64) {
    for (bound, found) in bound.iter_mut().zip(found) {
        *bound = (*bound).min(found.saturating_add(plus));
    }
}

/// Lowers `bound` to the walk bound; returns the page visits: `depth` passes over the links.
pub(super) fn walk(
    graph: &SiteGraph,
    depth: u32,
    residual: &Residual,
    zones: Option<Zones<'_>>,
    bound: &mut [i64],
) -> u64 {
    let (found, visits) = Walk {
        graph,
        depth,
        worth: |page: u32| residual.values[page as usize].max(0),
        nothing: |page: u32, hops| {
            !residual.alive[page as usize] || zones.is_some_and(|z| z.covered(page, hops))
        },
        bound,
        total: residual.positive,
    }
    .run();
    lower(bound, &found, 0);
    visits
}

/// Lowers `bound` by the ball bound with this middle; returns the page visits: a search and `depth`
/// passes over the links.
pub(super) fn ball(
    graph: &SiteGraph,
    depth: u32,
    residual: &Residual,
    zones: Option<Zones<'_>>,
    (middle, radius): (&[u32], u32),
    bound: &mut [i64],
) -> u64 {
    let mut distance = vec![u32::MAX; bound.len()];
    let mut inside = 0;
    let mut search = Search::new(graph.pages());
    let alive = &residual.alive;
    let meet = |page: u32, hop| {
        distance[page as usize] = hop;
        inside += residual.values[page as usize].max(0);
    };
    let searched = search.run(graph, Direction::Forward, alive, middle, radius, meet);
    let (found, walked) = Walk {
        graph,
        depth,
        worth: |page: u32| {
            if distance[page as usize] <= radius {
                0
            } else {
                residual.values[page as usize].max(0)
            }
        },
        nothing: |page: u32, hops| {
            !alive[page as usize]
                || distance[page as usize].saturating_add(hops) <= radius
                || zones.is_some_and(|z| z.covered(page, hops))
        },
        bound,
        total: residual.positive - inside,
    }
    .run();
    lower(bound, &found, inside);
    searched + walked
}

/// Raises `paid`, the negative value that each page reaches for certain, by what it reaches through
/// `reference`; returns the page visits: two searches.
pub(super) fn toll(
    graph: &SiteGraph,
    depth: u32,
    residual: &Residual,
    reference: u32,
    paid: &mut [i64],
) -> u64 {
    let mut loss = vec![0_i64; depth as usize + 1];
    let mut search = Search::new(graph.pages());
    let (alive, from) = (&residual.alive, [reference]);
    let meet = |page: u32, hop: u32| loss[hop as usize] -= residual.values[page as usize].min(0);
    let mut visits = search.run(graph, Direction::Forward, alive, &from, depth, meet);
    for hop in 1..loss.len() {
        loss[hop] += loss[hop - 1];
    }
    let meet = |page: u32, hop: u32| {
        let paid = &mut paid[page as usize];
        *paid = (*paid).max(loss[(depth - hop) as usize]);
    };
    visits += search.run(graph, Direction::Backward, alive, &from, depth, meet);
    visits
}

#[cfg(test)]
mod tests {
    use super::super::components::Components;
    use super::super::reach::Coverage;
    use super::super::samples::{site, within};
    use super::*;
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
            let zones = zeroing.then_some(Zones { near: &coverage.near, hops });
            let reach = Components::new(&graph, &residual.alive);
            let mut bound = reach.reach_bounds(&graph, &residual.values, residual.positive);
            let mut paid = vec![0; pages as usize];
            let alive = |page: &u32| residual.alive[*page as usize];
            let middle: Vec<u32> = middle.into_iter().filter(|&p| p < pages).filter(alive).collect();
            let check = |bound: &[i64], paid: &[i64]| {
                for page in (0..pages).filter(alive) {
                    let (weight, positive) = within(&graph, &residual, page, depth);
                    let at = page as usize;
                    prop_assert!(positive <= bound[at], "{} > {}", positive, bound[at]);
                    prop_assert!(weight <= bound[at] - paid[at]);
                }
                Ok(())
            };
            check(&bound, &paid)?;
            walk(&graph, depth, &residual, zones, &mut bound);
            check(&bound, &paid)?;
            let mut ball_only = vec![residual.positive; pages as usize];
            for radius in [depth, depth.saturating_sub(1)] {
                ball(&graph, depth, &residual, zones, (&middle, radius), &mut ball_only);
                check(&ball_only, &paid)?;
            }
            for reference in middle {
                toll(&graph, depth, &residual, reference, &mut paid);
                check(&bound, &paid)?;
            }
        }
    }
}
