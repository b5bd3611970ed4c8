//! The picks of the methods that are not by weight: the baselines, and the best out-degree in what
//! remains.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::super::baselines;
use super::super::params::Method;
use super::super::pick::{Score, Scored, Stop};
use super::ball::Ball;
use super::graph::WebGraph;
use super::greedy::Reached;
use super::params::WebChoice;
use super::picks::{WebCover, WebPick};
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
    let count = crate::graph::number(candidates.len());
    let page_rank = |page: u32| ranks.get(page as usize).copied().unwrap_or(0.0);
    // Places in the list of candidates, which are in URL order.
    let order: Vec<u32> = match choice.method {
        // The web has no name, as a site has one.
        Method::Random => baselines::random("", choice.rng_seed, count, wanted),
        Method::Pagerank => {
            let scores: Vec<f64> = candidates.iter().map(|&page| page_rank(page)).collect();
            baselines::by_score(&scores, wanted.saturating_add(1))
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
    let order: Vec<u32> = order.iter().map(|&at| candidates[at as usize]).collect();
    let mut reached = Reached::new(graph, hops);
    let mut picks = Vec::new();
    for (at, &page) in order.iter().enumerate().take(wanted) {
        watch.proceed()?;
        let next = order.get(at + 1).map(|&next| scored(next));
        picks.push(WebPick {
            seed: scored(page),
            next: next
                .into_iter()
                .filter(|next| next.score != Score::Drawn)
                .collect(),
            hops: reached.add(page).0,
        });
    }
    let left = candidates.iter().filter(|&&page| !reached.has(page));
    Ok(WebCover {
        stop: if picks.len() == candidates.len() {
            Stop::NoPageLeft
        } else {
            Stop::Complete
        },
        rest: left.map(|&page| scored(page)).collect(),
        picks,
        page_visits: reached.visits,
    })
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
    let mut there = vec![true; pages as usize];
    let mut left = pages;
    let mut degree: Vec<u32> = (0..pages).map(|page| graph.out_degree(page)).collect();
    let candidates = graph.candidates().iter();
    let mut queue: BinaryHeap<(u32, Reverse<u32>)> = candidates
        .map(|&page| (degree[page as usize], Reverse(page)))
        .collect();
    let scored = |(degree, Reverse(page))| Scored {
        page,
        score: Score::OutDegree(degree),
    };
    let mut reached = Reached::new(graph, hops);
    let mut ball = Ball::new(pages as usize);
    let mut picks = Vec::new();
    let mut visits = 0;
    let stop = loop {
        watch.proceed()?;
        if left == 0 {
            break Stop::NoPageLeft;
        }
        let Some(best) = freshest(&mut queue, &degree, &there) else {
            break Stop::NoPageLeft;
        };
        if picks.len() >= choice.seeds as usize {
            break Stop::Complete;
        }
        if choice.positive_only && best.0 == 0 {
            break Stop::NotPositive;
        }
        let next = freshest(&mut queue, &degree, &there);
        queue.extend(next);
        let seed = scored(best);
        picks.push(WebPick {
            seed,
            next: next.map(scored).into_iter().collect(),
            hops: reached.add(seed.page).0,
        });
        let mut gone = Vec::new();
        let remains = |page: u32| there[page as usize];
        visits += ball.levels_among(graph.successors(), &[seed.page], hops, remains, |level| {
            gone.extend_from_slice(level.pages);
        });
        for page in gone {
            there[page as usize] = false;
            left -= 1;
            let sources = graph.predecessors().list(page);
            visits += sources.len() as u64;
            for &source in sources {
                degree[source as usize] -= 1;
            }
        }
    };
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

/// Takes the best entry whose degree is up to date and whose page remains.
fn freshest(
    queue: &mut BinaryHeap<(u32, Reverse<u32>)>,
    degree: &[u32],
    there: &[bool],
) -> Option<(u32, Reverse<u32>)> {
    while let Some((known, Reverse(page))) = queue.pop() {
        let now = degree[page as usize];
        if !there[page as usize] {
            continue;
        }
        if now == known {
            return Some((known, Reverse(page)));
        }
        queue.push((now, Reverse(page)));
    }
    None
}
