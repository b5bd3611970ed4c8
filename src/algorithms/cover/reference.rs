//! The reference implementation: at every pick, the score of every candidate is computed from scratch.
//!
//! Tests compare lazy evaluation with it, and benches the page visits. It is simple rather than fast:
//! only the covered pages and the picks carry over from one pick to the next.

use std::cmp::Reverse;

use roaring::RoaringBitmap;

use super::baselines;
use super::error::CoverError;
use super::graph::{Site, SiteGraph};
use super::params::{Choice, CoverParams, Covered, Method};
use super::pick::{HopGain, Pick, Score, Scored, SiteCover, Stop};
use crate::graph::multi_source_bfs::{BATCH_SIZE, BfsPool, BidirectionalLinks, SourceSums};
use crate::rank::pagerank;
use crate::watch::Watch;

/// Makes the picks of [`select`](super::select), with every score recomputed; the runner-up is always
/// known. Cost: for methods by weight, a search of depth d from every candidate at every pick.
pub fn select(
    site: Site<'_>,
    seats: u32,
    params: &CoverParams,
    watch: &dyn Watch,
) -> Result<SiteCover, CoverError> {
    let choice = params.choose()?;
    let mut state = State::new(site.graph);
    let mut picks: Vec<Pick> = Vec::new();
    for &page in site.graph.pins() {
        picks.push(Pick::pinned(page, state.take(page, &choice)));
    }
    let stop = loop {
        watch.proceed()?;
        if let Some(stop) = state.stop(&choice, picks.len(), seats) {
            break stop;
        }
        let mut scored = state.scores(site, &choice, picks.len(), watch)?;
        if scored.is_empty() {
            break Stop::NoPageLeft;
        }
        if picks.len() >= seats as usize {
            break Stop::Complete;
        }
        let seed = scored.remove(best(&scored));
        let runner_up = (!scored.is_empty()).then(|| scored[best(&scored)]);
        let hops = state.take(seed.page, &choice);
        let pick = Pick {
            seed,
            runner_up: runner_up.filter(|next| next.score != Score::Drawn),
            hops,
        };
        if choice.positive_only && pick.adds_nothing(choice.method) {
            break Stop::NotPositive;
        }
        picks.push(pick);
    };
    Ok(SiteCover {
        site: site.id,
        picks,
        stop,
        page_visits: state.visits,
    })
}

/// The index of the best page; `scored` is in URL order.
fn best(scored: &[Scored]) -> usize {
    let top = scored
        .iter()
        .map(|s| s.score)
        .fold(None, |top, score| match (top, score) {
            (Some(Score::Weight(a)), Score::Weight(b)) => Some(Score::Weight(a.max(b))),
            (Some(Score::OutDegree(a)), Score::OutDegree(b)) => Some(Score::OutDegree(a.max(b))),
            (Some(Score::Pagerank(a)), Score::Pagerank(b)) => Some(Score::Pagerank(a.max(b))),
            (_, score) => Some(score),
        });
    let tied = |score: Score| match (top, score) {
        (Some(Score::Pagerank(top)), Score::Pagerank(score)) => score >= top * (1.0 - 1e-9),
        (top, score) => top == Some(score),
    };
    scored.iter().position(|s| tied(s.score)).unwrap_or(0)
}

struct State<'a> {
    graph: &'a SiteGraph,
    alive: Vec<bool>,
    values: Vec<i64>,
    covered: Vec<bool>,
    picked: Vec<bool>,
    visits: u64,
}

impl<'a> State<'a> {
    fn new(graph: &'a SiteGraph) -> Self {
        let pages = graph.pages() as usize;
        Self {
            graph,
            alive: vec![true; pages],
            values: graph.values().to_vec(),
            covered: vec![false; pages],
            picked: (0..graph.pages())
                .map(|page| !graph.may_be_seed(page))
                .collect(),
            visits: 0,
        }
    }

    fn stop(&self, choice: &Choice, picks: usize, seats: u32) -> Option<Stop> {
        let baseline = choice.method.is_baseline();
        if baseline && self.picked.iter().all(|&picked| picked) {
            return Some(Stop::NoPageLeft);
        }
        if baseline && picks >= seats as usize {
            return Some(Stop::Complete);
        }
        if baseline || picks == 0 {
            return None;
        }
        match choice.covered {
            Covered::Zero => self
                .values
                .iter()
                .all(|&v| v == 0)
                .then_some(Stop::NoValueLeft),
            Covered::Remove => self
                .alive
                .iter()
                .all(|&alive| !alive)
                .then_some(Stop::NoPageLeft),
        }
    }

    /// The candidates of the next pick with their scores, in URL order.
    fn scores(
        &mut self,
        site: Site<'_>,
        choice: &Choice,
        picks: usize,
        watch: &dyn Watch,
    ) -> Result<Vec<Scored>, CoverError> {
        let open =
            |state: &Self, page: u32| state.alive[page as usize] && !state.picked[page as usize];
        let pages = (0..self.graph.pages()).filter(|&page| open(self, page));
        let mut pages: Vec<u32> = pages.collect();
        if choice.method == Method::Random {
            let drawn = if self.graph.is_unconstrained() {
                picks + 1
            } else {
                self.picked.len()
            };
            let order =
                baselines::random_order(site.name, choice.rng_seed, self.graph.pages(), drawn);
            let next = order.iter().find(|page| !self.picked[**page as usize]);
            pages.retain(|page| Some(page) == next);
        }
        if matches!(choice.method, Method::MaxScc | Method::RootScc) {
            let scope = self.scope(choice.method);
            pages.retain(|page| scope.contains(page));
        }
        let ranks = if choice.method == Method::Pagerank {
            pagerank(self.graph, watch)?.0
        } else {
            Vec::new()
        };
        let score = |page: u32| match choice.method {
            Method::Random => Score::Drawn,
            Method::Pagerank => Score::Pagerank(ranks[page as usize]),
            // Only over the web is a page picked by its last fetch.
            Method::OutDegree | Method::Oldest => Score::OutDegree(self.graph.out_degree(page)),
            Method::MaxOut => {
                let targets = self.graph.successors(page).iter();
                let remaining = targets.filter(|&&target| self.alive[target as usize]);
                Score::OutDegree(u32::try_from(remaining.count()).unwrap_or(u32::MAX))
            }
            Method::MaxWeight | Method::MaxScc | Method::RootScc | Method::Greedy => {
                let (found, visits) = self.within(page, choice.depth, &self.alive);
                self.visits += visits;
                Score::Weight(
                    found
                        .iter()
                        .map(|&(page, _)| self.values[page as usize])
                        .sum(),
                )
            }
        };
        Ok(pages.into_iter().map(score_of(score)).collect())
    }

    /// The pages within `hops` with their distances, nearest first, over `alive` pages, and the page
    /// visits.
    fn within(&self, from: u32, hops: u32, alive: &[bool]) -> (Vec<(u32, u32)>, u64) {
        let mut seen = vec![false; alive.len()];
        let mut found = vec![(from, 0)];
        seen[from as usize] = true;
        let (mut at, mut scanned) = (0, 0);
        while let Some(&(page, hop)) = found.get(at) {
            at += 1;
            if hop == hops {
                continue;
            }
            for &target in self.graph.successors(page) {
                scanned += 1;
                if alive[target as usize] && !seen[target as usize] {
                    seen[target as usize] = true;
                    found.push((target, hop + 1));
                }
            }
        }
        let visits = found.len() as u64 + scanned;
        (found, visits)
    }

    /// The pages of the component that the pick is confined to. Two pages are in one component if each
    /// reaches the other.
    fn scope(&self, method: Method) -> Vec<u32> {
        let pages = self.graph.pages();
        let reach = |from: u32| {
            let found = self.within(from, pages, &self.alive).0;
            found
                .iter()
                .map(|&(page, _)| page)
                .collect::<RoaringBitmap>()
        };
        let reach: Vec<RoaringBitmap> = (0..pages).map(reach).collect();
        let reaches = |a: u32, b: u32| reach[a as usize].contains(b);
        // The smallest page of a component is its name.
        let members = |name: u32| (0..pages).filter(move |&p| reaches(name, p) && reaches(p, name));
        let names: Vec<u32> = (0..pages)
            .filter(|&p| self.alive[p as usize] && members(p).next() == Some(p))
            .collect();
        let open = |name: &&u32| members(**name).any(|page| !self.picked[page as usize]);
        let heaviest = |among: Vec<u32>| {
            let weight = |name: u32| members(name).map(|p| self.values[p as usize]).sum::<i64>();
            among
                .into_iter()
                .max_by_key(|&name| (weight(name), Reverse(name)))
        };
        let scope = if method == Method::MaxScc {
            heaviest(names.iter().filter(open).copied().collect())
        } else {
            let is_root = |&&name: &&u32| {
                names
                    .iter()
                    .all(|&other| other == name || !reaches(other, name))
            };
            let roots: Vec<u32> = names.iter().filter(is_root).filter(open).copied().collect();
            let below = names
                .iter()
                .filter(|&&c| roots.iter().any(|&root| reaches(root, c)));
            let heavy = heaviest(below.copied().collect());
            heavy.and_then(|heavy| {
                heaviest(roots.into_iter().filter(|&r| reaches(r, heavy)).collect())
            })
        };
        scope
            .map(|name| members(name).collect())
            .unwrap_or_default()
    }

    fn take(&mut self, pick: u32, choice: &Choice) -> Vec<HopGain> {
        self.picked[pick as usize] = true;
        let all = vec![true; self.alive.len()];
        let (found, visits) = self.within(pick, choice.hops, &all);
        self.visits += visits;
        let mut gains: Vec<HopGain> = Vec::new();
        for (page, hop) in found {
            gains.resize_with(gains.len().max(hop as usize + 1), HopGain::default);
            if !std::mem::replace(&mut self.covered[page as usize], true) {
                gains[hop as usize].pages.insert(page);
                gains[hop as usize].value += self.graph.values()[page as usize];
                if choice.covered == Covered::Zero {
                    self.values[page as usize] = 0;
                }
            }
        }
        let last = gains.iter().rposition(|hop| !hop.pages.is_empty());
        gains.truncate(last.unwrap_or(0) + 1);
        if choice.covered == Covered::Remove && self.alive[pick as usize] {
            let (found, visits) = self.within(pick, choice.hops, &self.alive);
            self.visits += visits;
            for (page, _) in found {
                self.alive[page as usize] = false;
                self.values[page as usize] = 0;
            }
        }
        gains
    }
}

fn score_of(mut score: impl FnMut(u32) -> Score) -> impl FnMut(u32) -> Scored {
    move |page| Scored {
        page,
        score: score(page),
    }
}

/// The total page visits of one depth-d search from each of these pages: the cost of one pick by weight in
/// [`select`] with these candidates, while no page is removed. Counts many searches at a time, so that it
/// works for sites that are too large for [`select`].
#[must_use]
pub fn visits_of_searches(graph: &SiteGraph, from: &[u32], depth: u32) -> u64 {
    let alive = vec![true; graph.pages() as usize];
    let pool = BfsPool::new(graph.pages());
    let mut visits = 0;
    for group in from.chunks(BATCH_SIZE) {
        let count = |depth: u32, cost: &dyn Fn(u32) -> i64| {
            let mut sums = SourceSums::new(group.len());
            pool.with(|lanes| {
                let links = BidirectionalLinks(graph.successor_lists(), graph.predecessor_lists());
                lanes.run(&links, &alive, group, depth, |_, page, bits| {
                    sums.add(bits, [cost(page)]);
                })
            });
            (0..group.len())
                .flat_map(|lane| sums.get(lane))
                .sum::<i64>()
                .unsigned_abs()
        };
        visits += count(depth, &|_| 1);
        if depth > 0 {
            visits += count(depth - 1, &|page| i64::from(graph.out_degree(page)));
        }
    }
    visits
}
