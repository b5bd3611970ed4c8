//! The picks of the methods that are not by weight: the baselines, and the best out-degree in what
//! remains.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::super::baselines;
use super::super::params::Method;
use super::super::pick::{Score, Scored, Stop};
use super::bfs_ball::BallSearch;
use super::graph::WebGraph;
use super::greedy::Reached;
use super::params::WebChoice;
use super::picks::{WebCover, WebPick};
use super::constraints::RemainingCaps;
use crate::watch::{Interrupted, Watch};

/// Picks by a baseline; `ranks` has the PageRank of each page, where the method asks for it.
pub(super) fn baseline(
    graph: &WebGraph,
    choice: &WebChoice,
    hops: u32,
    ranks: &[f64],
    watch: &dyn Watch,
) -> Result<WebCover, Interrupted> {
    let candidates = graph.candidates();
    let wanted = choice.seeds as usize;
    let is_free = graph.pins().is_empty() && graph.caps().is_empty();
    // Some of an order may be passed over.
    let drawn = if is_free { wanted } else { candidates.len() };
    let count = crate::graph::number(candidates.len());
    let page_rank = |page: u32| ranks.get(page as usize).copied().unwrap_or(0.0);
    // Places in the list of candidates, which are in URL order.
    let order: Vec<u32> = match choice.method {
        // The web has no name, as a site has one.
        Method::Random => baselines::random("", choice.rng_seed, count, drawn),
        Method::Pagerank => {
            let scores: Vec<f64> = candidates.iter().map(|&page| page_rank(page)).collect();
            baselines::by_score(&scores, drawn.saturating_add(1))
        }
        _ => {
            let mut order: Vec<u32> = (0..count).collect();
            order.sort_by_key(|&at| Reverse(graph.out_degree(candidates[at as usize])));
            order
        }
    };
    let scored = |page: u32| Scored {
        page,
        score: match choice.method {
            Method::Random => Score::Drawn,
            Method::Pagerank => Score::Pagerank(page_rank(page)),
            _ => Score::OutDegree(graph.out_degree(page)),
        },
    };
    let mut order: Vec<u32> = order.iter().map(|&at| candidates[at as usize]).collect();
    let mut reached = Reached::new(graph, hops);
    let mut room = RemainingCaps::new(graph.caps());
    let mut picks = pinned(graph, &mut reached, &mut room);
    if !is_free {
        let pins: HashSet<u32> = graph.pins().iter().copied().collect();
        order.retain(|page| {
            !pins.contains(page) && room.has(*page) && {
                room.take(*page);
                true
            }
        });
    }
    let pins = picks.len();
    let open = if is_free {
        candidates.len()
    } else {
        order.len()
    };
    for (at, &page) in order.iter().enumerate().take(wanted.saturating_sub(pins)) {
        watch.proceed()?;
        let next = order.get(at + 1).map(|&next| scored(next));
        picks.push(WebPick {
            seed: scored(page),
            runner_up: next.filter(|next| next.score != Score::Drawn),
            hops: reached.add(page).0,
        });
    }
    let left = candidates.iter().filter(|&&page| !reached.has(page));
    Ok(WebCover {
        stop: if picks.len() - pins == open {
            Stop::NoPageLeft
        } else {
            Stop::Complete
        },
        rest: left.map(|&page| scored(page)).collect(),
        picks,
        page_visits: reached.visits,
    })
}

/// The pins of a graph as picks.
fn pinned(graph: &WebGraph, reached: &mut Reached<'_>, room: &mut RemainingCaps<'_>) -> Vec<WebPick> {
    let pins = graph.pins().iter();
    pins.map(|&pin| {
        room.take(pin);
        WebPick::pinned(pin, reached.add(pin).0)
    })
    .collect()
}

/// Picks by the out-degree in what remains: all pages within so many hops of a pick are removed, and
/// hops walk what remains. Out-degrees only fall, so an outdated entry is put back with its lower
/// degree.
pub(super) fn max_out(
    graph: &WebGraph,
    choice: &WebChoice,
    hops: u32,
    watch: &dyn Watch,
) -> Result<WebCover, Interrupted> {
    let pages = graph.pages();
    let mut remains = Remains {
        there: vec![true; pages as usize],
        left: pages,
        degree: (0..pages).map(|page| graph.out_degree(page)).collect(),
        ball: BallSearch::new(pages as usize),
    };
    let candidates = graph.candidates().iter();
    let mut queue: BinaryHeap<(u32, Reverse<u32>)> = candidates
        .map(|&page| (remains.degree[page as usize], Reverse(page)))
        .collect();
    let scored = |(degree, Reverse(page))| Scored {
        page,
        score: Score::OutDegree(degree),
    };
    let mut reached = Reached::new(graph, hops);
    let mut room = RemainingCaps::new(graph.caps());
    let mut picks = pinned(graph, &mut reached, &mut room);
    let mut visits = 0;
    for &pin in graph.pins() {
        visits += remains.remove(graph, pin, hops);
    }
    let stop = loop {
        watch.proceed()?;
        if remains.left == 0 {
            break Stop::NoPageLeft;
        }
        let Some(best) = remains.freshest(&mut queue, &room) else {
            break Stop::NoPageLeft;
        };
        if picks.len() >= choice.seeds as usize {
            break Stop::Complete;
        }
        if choice.positive_only && best.0 == 0 {
            break Stop::NotPositive;
        }
        let seed = scored(best);
        room.take(seed.page);
        let next = remains.freshest(&mut queue, &room);
        queue.extend(next);
        picks.push(WebPick {
            seed,
            runner_up: next.map(scored),
            hops: reached.add(seed.page).0,
        });
        visits += remains.remove(graph, seed.page, hops);
    };
    let degree = remains.degree;
    let rest = graph
        .candidates()
        .iter()
        .filter(|&&page| !reached.has(page));
    Ok(WebCover {
        rest: rest
            .map(|&page| scored((degree[page as usize], Reverse(page))))
            .collect(),
        picks,
        stop,
        page_visits: visits + reached.visits,
    })
}

/// The pages that no pick removed.
struct Remains {
    there: Vec<bool>,
    left: u32,
    /// Links to each page's targets that remain.
    degree: Vec<u32>,
    ball: BallSearch,
}

impl Remains {
    /// Removes what remains within so many hops of a page; returns the page visits.
    fn remove(&mut self, graph: &WebGraph, page: u32, hops: u32) -> u64 {
        let mut gone = Vec::new();
        let there = &self.there;
        if !there[page as usize] {
            return 0;
        }
        let remains = |page: u32| there[page as usize];
        let links = graph.successors();
        let mut visits = self
            .ball
            .levels_among(links, &[page], hops, remains, |level| {
                gone.extend_from_slice(level.pages);
            });
        for page in gone {
            self.there[page as usize] = false;
            self.left -= 1;
            let sources = graph.predecessors().list(page);
            visits += sources.len() as u64;
            for &source in sources {
                self.degree[source as usize] -= 1;
            }
        }
        visits
    }

    /// Takes the best entry whose degree is up to date and whose page remains and has room.
    fn freshest(
        &self,
        queue: &mut BinaryHeap<(u32, Reverse<u32>)>,
        room: &RemainingCaps<'_>,
    ) -> Option<(u32, Reverse<u32>)> {
        while let Some((known, Reverse(page))) = queue.pop() {
            let now = self.degree[page as usize];
            if !self.there[page as usize] || !room.has(page) {
                continue;
            }
            if now == known {
                return Some((known, Reverse(page)));
            }
            queue.push((now, Reverse(page)));
        }
        None
    }
}
