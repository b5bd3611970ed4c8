//! The picks of one site, by each method.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::baselines;
use super::bounds::Zones;
use super::graph::{Site, SiteGraph};
use super::lazy::Lazy;
use super::argmax_search::{Best, Round};
use super::params::{Choice, Covered, Method};
use super::pick::{Pick, Score, Scored, SiteCover, Stop};
use super::candidate_scope::CandidateScope;
use super::reach::{Coverage, Direction, Search};
use super::residual::Residual;
use crate::rank::pagerank;
use crate::watch::{Interrupted, Watch};

/// Up to `seats` seeds of a site.
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
            // Some of an order may be passed over.
            let drawn = if site.graph.is_free() {
                run.seats
            } else {
                pages as usize
            };
            let order = baselines::random(site.name, choice.rng_seed, pages, drawn);
            run.take_in_order(order, |_| Score::Drawn)?
        }
        Method::Pagerank => {
            let (scores, visits) = pagerank(site.graph, watch)?;
            run.visits += visits;
            let order = if site.graph.is_free() {
                baselines::by_score(&scores, run.seats.saturating_add(1))
            } else {
                // Ties are among those that can be picked.
                let open = run.open();
                let of_open: Vec<f64> = open.iter().map(|&page| scores[page as usize]).collect();
                let order = baselines::by_score(&of_open, open.len());
                order.into_iter().map(|at| open[at as usize]).collect()
            };
            run.take_in_order(order, |page| Score::Pagerank(scores[page as usize]))?
        }
        Method::OutDegree => {
            let order = baselines::by_out_degree(site.graph);
            run.take_in_order(order, |page| Score::OutDegree(site.graph.out_degree(page)))?
        }
        Method::MaxOut => run.max_out(choice.positive_only)?,
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
    /// Keeps a pick with what it adds; returns the pages that it is the first to cover.
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

    /// Takes the pages that are seeds before any pick, and hands those that each adds to `then`.
    fn take_pins(&mut self, mut then: impl FnMut(&mut Self, u32, Vec<u32>)) {
        for &page in self.graph.pins() {
            let seed = Scored {
                page,
                score: Score::Drawn,
            };
            let added = self.take(seed, None);
            then(self, page, added);
        }
    }

    /// The pages that can be picked and are no pins, ascending.
    fn open(&self) -> Vec<u32> {
        let pages = (0..self.graph.pages()).filter(|&page| self.graph.may_be_seed(page));
        let pins = self.graph.pins();
        pages.filter(|page| !pins.contains(page)).collect()
    }

    fn complete(&self) -> bool {
        self.picks.len() >= self.seats
    }

    fn take_in_order(
        &mut self,
        mut order: Vec<u32>,
        score: impl Fn(u32) -> Score,
    ) -> Result<Stop, Interrupted> {
        self.take_pins(|_, _, _| ());
        let pins = self.picks.len();
        let mut open = self.graph.pages() as usize;
        if !self.graph.is_free() {
            let may_be: HashSet<u32> = self.open().into_iter().collect();
            order.retain(|page| may_be.contains(page));
            open = may_be.len();
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

    /// Removes what remains within h hops of a pick; returns those pages.
    fn remove(&mut self, residual: &mut Residual, search: &mut Search, pick: u32) -> Vec<u32> {
        let mut gone = Vec::new();
        if !residual.alive[pick as usize] {
            // A pin that another one removed.
            return gone;
        }
        let (graph, forward, hops) = (self.graph, Direction::Forward, self.hops);
        self.visits += search.run(graph, forward, &residual.alive, &[pick], hops, |page, _| {
            gone.push(page);
        });
        for &page in &gone {
            residual.remove(page);
        }
        gone
    }

    /// Out-degrees in what remains only fall, so an outdated entry is put back with its lower
    /// degree.
    fn max_out(&mut self, positive_only: bool) -> Result<Stop, Interrupted> {
        let pages = self.graph.pages();
        let mut residual = Residual::new(self.graph);
        let mut search = Search::new(pages);
        let mut degree: Vec<u32> = (0..pages).map(|page| self.graph.out_degree(page)).collect();
        let open = self.open();
        let of_open = open
            .iter()
            .map(|&page| (degree[page as usize], Reverse(page)));
        let mut queue: BinaryHeap<(u32, Reverse<u32>)> = of_open.collect();
        self.take_pins(|run, pin, _| {
            let gone = run.remove(&mut residual, &mut search, pin);
            run.lower(&mut degree, gone);
        });
        let scored = |(degree, Reverse(page))| Scored {
            page,
            score: Score::OutDegree(degree),
        };
        while residual.pages_left > 0 {
            self.watch.proceed()?;
            let Some(best) = freshest(&mut queue, &degree, &residual.alive) else {
                break;
            };
            if self.complete() {
                return Ok(Stop::Complete);
            }
            if positive_only && best.0 == 0 {
                return Ok(Stop::NotPositive);
            }
            let next = freshest(&mut queue, &degree, &residual.alive);
            queue.extend(next);
            let pick = best.1.0;
            self.take(scored(best), next.map(scored));
            let gone = self.remove(&mut residual, &mut search, pick);
            self.lower(&mut degree, gone);
        }
        Ok(Stop::NoPageLeft)
    }

    /// Lowers the out-degrees of the pages that link to removed ones.
    fn lower(&mut self, degree: &mut [u32], gone: Vec<u32>) {
        for page in gone {
            let sources = self.graph.predecessors(page);
            self.visits += sources.len() as u64;
            for &source in sources {
                degree[source as usize] -= 1;
            }
        }
    }

    fn by_weight(&mut self, choice: &Choice) -> Result<Stop, Interrupted> {
        let graph = self.graph;
        let removing = choice.covered == Covered::Remove;
        let mut residual = Residual::new(graph);
        let mut search = Search::new(graph.pages());
        let mut unpicked: Vec<bool> = (0..graph.pages()).map(|p| graph.may_be_seed(p)).collect();
        self.take_pins(|run, pin, added| {
            unpicked[pin as usize] = false;
            if removing {
                run.remove(&mut residual, &mut search, pin);
            } else {
                for page in added {
                    residual.zero(page);
                }
            }
        });
        let mut places = CandidateScope::new(graph, choice.method, &residual, &unpicked);
        self.visits += places.visits;
        let mut lazy: Option<Lazy<'_>> = None;
        loop {
            if !self.picks.is_empty() {
                if !removing && residual.nonzero == 0 {
                    return Ok(Stop::NoValueLeft);
                }
                if removing && residual.pages_left == 0 {
                    return Ok(Stop::NoPageLeft);
                }
            }
            let candidates = places.candidates(graph, &residual, &unpicked);
            self.visits += std::mem::take(&mut places.visits);
            if candidates.is_empty() {
                return Ok(Stop::NoPageLeft);
            }
            if self.complete() {
                return Ok(Stop::Complete);
            }
            let watch = self.watch;
            let round = round(&residual, &self.coverage, choice, watch);
            let lazy = lazy.get_or_insert_with(|| Lazy::new(graph, choice.depth, round));
            let best = lazy.best(&candidates, round)?;
            self.visits += std::mem::take(&mut lazy.visits);
            let Some(Best {
                page,
                weight,
                runner_up,
            }) = best
            else {
                return Ok(Stop::NotPositive);
            };
            let scored = |(page, weight)| Scored {
                page,
                score: Score::Weight(weight),
            };
            unpicked[page as usize] = false;
            let added = self.take(scored((page, weight)), runner_up.map(scored));
            if removing {
                self.remove(&mut residual, &mut search, page);
                places.removed(graph, &residual, &unpicked);
            } else {
                let lost: Vec<(u32, i64)> = added
                    .iter()
                    .map(|&page| (page, residual.zero(page)))
                    .collect();
                places.zeroed(page, &lost);
                lazy.zeroed(&lost);
            }
        }
    }
}

fn round<'a>(
    residual: &'a Residual,
    coverage: &'a Coverage,
    choice: &Choice,
    watch: &'a dyn Watch,
) -> Round<'a> {
    Round {
        residual,
        zones: (choice.covered == Covered::Zero).then_some(Zones {
            near: &coverage.near,
            hops: choice.hops,
        }),
        positive_only: choice.positive_only,
        watch,
    }
}

/// Takes the best entry whose degree is up to date and whose page remains.
fn freshest(
    queue: &mut BinaryHeap<(u32, Reverse<u32>)>,
    degree: &[u32],
    alive: &[bool],
) -> Option<(u32, Reverse<u32>)> {
    while let Some((known, Reverse(page))) = queue.pop() {
        let now = degree[page as usize];
        if !alive[page as usize] {
            continue;
        }
        if now == known {
            return Some((known, Reverse(page)));
        }
        queue.push((now, Reverse(page)));
    }
    None
}
