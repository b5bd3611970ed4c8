//! The picks of one site, by each method.

use std::collections::{BinaryHeap, HashSet};

use super::argmax_search::Round;
use super::baselines;
use super::bfs_ball::BallSearch;
use super::bounds::CoveredBalls;
use super::candidate_scope::CandidateScope;
use super::coverage::Coverage;
use super::graph::{Site, SiteGraph};
use super::lazy::Lazy;
use super::max_out::{self, Remaining};
use super::params::{Choice, Covered, Method};
use super::pick::{Pick, Score, Scored, SiteCover, Stop};
use super::residual::Residual;
use crate::rank::pagerank;
use crate::watch::{Interrupted, Watch};

/// Picks up to `seats` seeds of a site.
pub(super) fn select_site(
    site: Site<'_>,
    seats: u32,
    choice: &Choice,
    watch: &dyn Watch,
) -> Result<SiteCover, Interrupted> {
    let mut run = Run {
        graph: site.graph,
        seats: seats as usize,
        hops: choice.hops,
        coverage: Coverage::new(site.graph.pages()),
        picks: Vec::new(),
        visits: 0,
        watch,
    };
    let stop = match choice.method {
        Method::Random => {
            let pages = site.graph.pages();
            // Ineligible pages are skipped, so the order must be complete.
            let drawn = if site.graph.is_unconstrained() {
                run.seats
            } else {
                pages as usize
            };
            let order = baselines::random_order(site.name, choice.rng_seed, pages, drawn);
            run.take_in_order(order, |_| Score::Drawn)?
        }
        Method::Pagerank => {
            let (scores, visits) = pagerank(site.graph, watch)?;
            run.visits += visits;
            let order = if site.graph.is_unconstrained() {
                baselines::order_by_score(&scores, run.seats.saturating_add(1))
            } else {
                // Only eligible pages are tied with each other.
                let open = run.open();
                let of_open: Vec<f64> = open.iter().map(|&page| scores[page as usize]).collect();
                let order = baselines::order_by_score(&of_open, open.len());
                order.into_iter().map(|at| open[at as usize]).collect()
            };
            run.take_in_order(order, |page| Score::Pagerank(scores[page as usize]))?
        }
        // Only over the web is a page picked by its last fetch.
        Method::OutDegree | Method::Oldest => {
            let order = baselines::order_by_out_degree(site.graph);
            run.take_in_order(order, |page| Score::OutDegree(site.graph.out_degree(page)))?
        }
        Method::MaxOut => run.max_out(choice)?,
        Method::MaxWeight | Method::MaxScc | Method::RootScc | Method::Greedy => {
            run.by_weight(choice)?
        }
    };
    Ok(SiteCover {
        site: site.id,
        picks: run.picks,
        stop,
        page_visits: run.visits,
    })
}

struct Run<'a> {
    graph: &'a SiteGraph,
    seats: usize,
    hops: u32,
    coverage: Coverage,
    picks: Vec<Pick>,
    visits: u64,
    watch: &'a dyn Watch,
}

impl Run<'_> {
    /// Adds a pick; returns the pages that it is the first to cover.
    fn take(&mut self, seed: Scored, runner_up: Option<Scored>) -> Vec<u32> {
        let (hops, added, visits) = self.coverage.add(self.graph, seed.page, self.hops);
        self.visits += visits;
        self.picks.push(Pick {
            seed,
            runner_up,
            hops,
        });
        added
    }

    /// Removes the last pick if it adds nothing and such picks are not wanted.
    fn take_back(&mut self, choice: &Choice) -> bool {
        let adds_nothing = |pick: &mut Pick| pick.adds_nothing(choice.method);
        choice.positive_only && self.picks.pop_if(adds_nothing).is_some()
    }

    /// Adds the pins, and calls `then` for each with the pages that it is the first to cover.
    fn take_pins(&mut self, mut then: impl FnMut(&mut Self, u32, Vec<u32>)) {
        for &page in self.graph.pins() {
            let added = self.take(Scored::drawn(page), None);
            then(self, page, added);
        }
    }

    /// The pages that can be picked and are not pins, ascending.
    fn open(&self) -> Vec<u32> {
        let pages = (0..self.graph.pages()).filter(|&page| self.graph.may_be_seed(page));
        let pins = self.graph.pins();
        pages.filter(|page| !pins.contains(page)).collect()
    }

    fn is_complete(&self) -> bool {
        self.picks.len() >= self.seats
    }

    /// Picks the first pages of an order.
    fn take_in_order(
        &mut self,
        mut order: Vec<u32>,
        score: impl Fn(u32) -> Score,
    ) -> Result<Stop, Interrupted> {
        self.take_pins(|_, _, _| ());
        let pins = self.picks.len();
        let mut open = self.graph.pages() as usize;
        if !self.graph.is_unconstrained() {
            let eligible: HashSet<u32> = self.open().into_iter().collect();
            order.retain(|page| eligible.contains(page));
            open = eligible.len();
        }
        let scored = |page: &u32| Scored {
            page: *page,
            score: score(*page),
        };
        let left = self.seats.saturating_sub(pins);
        for (at, page) in order.iter().enumerate().take(left) {
            self.watch.proceed()?;
            let next = order.get(at + 1).map(scored);
            self.take(scored(page), next.filter(|next| next.score != Score::Drawn));
        }
        Ok(if self.picks.len() - pins == open {
            Stop::NoPageLeft
        } else {
            Stop::Complete
        })
    }

    fn max_out(&mut self, choice: &Choice) -> Result<Stop, Interrupted> {
        let graph = self.graph;
        let mut remaining = Remaining::new(graph.successor_lists(), graph.predecessor_lists());
        let open = self.open();
        let mut queue: BinaryHeap<_> = open.iter().map(|&page| remaining.entry(page)).collect();
        self.take_pins(|run, pin, _| remaining.remove_ball(pin, run.hops));
        let stop = loop {
            self.watch.proceed()?;
            let Some(best) = remaining.pop_best(&mut queue, |_| true) else {
                break Stop::NoPageLeft;
            };
            if self.is_complete() {
                break Stop::Complete;
            }
            let next = remaining.pop_best(&mut queue, |_| true);
            queue.extend(next);
            let seed = max_out::scored(best);
            self.take(seed, next.map(max_out::scored));
            if self.take_back(choice) {
                break Stop::NotPositive;
            }
            remaining.remove_ball(seed.page, self.hops);
        };
        self.visits += remaining.visits;
        Ok(stop)
    }

    fn by_weight(&mut self, choice: &Choice) -> Result<Stop, Interrupted> {
        let graph = self.graph;
        let removing = choice.covered == Covered::Remove;
        let mut residual = Residual::new(graph);
        let mut search = BallSearch::new(graph.pages());
        let mut unpicked: Vec<bool> = (0..graph.pages()).map(|p| graph.may_be_seed(p)).collect();
        self.take_pins(|run, pin, added| {
            unpicked[pin as usize] = false;
            if removing {
                run.visits += residual.remove_ball(graph, &mut search, pin, run.hops);
            } else {
                for page in added {
                    residual.zero(page);
                }
            }
        });
        let mut scope = CandidateScope::new(graph, choice.method, &residual, &unpicked);
        let mut lazy: Option<Lazy<'_>> = None;
        loop {
            // The first pick is made even if nothing has a value.
            if !self.picks.is_empty() {
                if !removing && residual.nonzero == 0 {
                    return Ok(Stop::NoValueLeft);
                }
                if removing && residual.pages_left == 0 {
                    return Ok(Stop::NoPageLeft);
                }
            }
            let candidates = scope.candidates(graph, &residual, &unpicked);
            self.visits += std::mem::take(&mut scope.visits);
            if candidates.is_empty() {
                return Ok(Stop::NoPageLeft);
            }
            if self.is_complete() {
                return Ok(Stop::Complete);
            }
            // No page adds anything if no value that is left is positive.
            if choice.positive_only && residual.positive == 0 {
                return Ok(Stop::NotPositive);
            }
            let round = Round {
                residual: &residual,
                covered: (!removing).then_some(CoveredBalls {
                    distance: &self.coverage.distance,
                    hops: choice.hops,
                }),
                // The weight is what the page adds if it looks as far as the page covers.
                positive_only: choice.positive_only && !removing && choice.depth == choice.hops,
                watch: self.watch,
            };
            let lazy = lazy.get_or_insert_with(|| Lazy::new(graph, choice.depth, round));
            let best = lazy.best(&candidates, round)?;
            self.visits += std::mem::take(&mut lazy.visits);
            let Some(best) = best else {
                return Ok(Stop::NotPositive);
            };
            let page = best.seed.page;
            let added = self.take(best.seed, best.runner_up);
            if self.take_back(choice) {
                return Ok(Stop::NotPositive);
            }
            // Update everything that depends on coverage before the next pick.
            unpicked[page as usize] = false;
            if removing {
                self.visits += residual.remove_ball(graph, &mut search, page, self.hops);
                scope.rebuild(graph, &residual, &unpicked);
            } else {
                let zeroed: Vec<(u32, i64)> = added
                    .iter()
                    .map(|&page| (page, residual.zero(page)))
                    .collect();
                scope.record_pick(page, &zeroed);
                lazy.record_zeroed(&zeroed);
            }
        }
    }
}
