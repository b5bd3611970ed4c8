//! Picks without weights: the baselines, and max-out.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashSet};

use super::super::baselines;
use super::super::max_out::{self, Remaining};
use super::super::params::Method;
use super::super::pick::{Pick, Score, Scored, Stop};
use super::constraints::RemainingCaps;
use super::graph::WebGraph;
use super::greedy::Reached;
use super::params::WebChoice;
use super::picks::WebCover;
use crate::watch::{Interrupted, Watch};

/// Picks by a baseline. `by_page` has the scores of the methods pagerank and oldest.
pub(super) fn baseline(
    graph: &WebGraph,
    choice: &WebChoice,
    hops: u32,
    by_page: &[f64],
    watch: &dyn Watch,
) -> Result<WebCover, Interrupted> {
    let candidates = graph.candidates();
    let seeds = choice.seeds as usize;
    let is_unconstrained =
        graph.pins().is_empty() && graph.caps().is_empty() && choice.max_per_site.is_none();
    // With constraints, candidates may be skipped, so the order must be complete.
    let drawn = if is_unconstrained {
        seeds
    } else {
        candidates.len()
    };
    let count = crate::graph::number(candidates.len());
    let of_page = |page: u32| by_page.get(page as usize).copied().unwrap_or(0.0);
    // Indexes of candidates, which are in URL order.
    let mut order: Vec<u32> = match choice.method {
        // On a site, its name is part of the seed of the stream; the web has none.
        Method::Random => baselines::random_order("", choice.rng_seed, count, drawn),
        Method::Pagerank => {
            let scores: Vec<f64> = candidates.iter().map(|&page| of_page(page)).collect();
            baselines::order_by_score(&scores, drawn.saturating_add(1))
        }
        method => {
            let mut order: Vec<u32> = (0..count).collect();
            let degree = |at: u32| graph.out_degree(candidates[at as usize]);
            order.sort_by_key(|&at| Reverse(degree(at)));
            if method == Method::Oldest {
                let days = |at: u32| of_page(candidates[at as usize]);
                order.sort_by(|&one, &other| days(other).total_cmp(&days(one)));
            }
            order
        }
    };
    for page in &mut order {
        *page = candidates[*page as usize];
    }
    let scored = |page: u32| Scored {
        page,
        score: match choice.method {
            Method::Random => Score::Drawn,
            Method::Pagerank => Score::Pagerank(of_page(page)),
            Method::Oldest => Score::Days(of_page(page)),
            _ => Score::OutDegree(graph.out_degree(page)),
        },
    };
    let mut reached = Reached::new(graph, hops);
    let mut caps = RemainingCaps::new(graph.caps(), graph.site_limit(choice.max_per_site));
    let mut picks = pinned(graph, &mut reached, &mut caps)?;
    let pins = picks.len();
    let mut eligible = candidates.len();
    if !is_unconstrained {
        let pinned: HashSet<u32> = graph.pins().iter().copied().collect();
        order.retain(|&page| {
            let admitted = !pinned.contains(&page) && caps.admits(page);
            if admitted {
                caps.add_seed(page);
            }
            admitted
        });
        eligible = order.len();
    }
    for (at, &page) in order.iter().enumerate().take(seeds.saturating_sub(pins)) {
        watch.proceed()?;
        let next = order.get(at + 1).map(|&next| scored(next));
        picks.push(Pick {
            seed: scored(page),
            runner_up: next.filter(|next| next.score != Score::Drawn),
            hops: reached.add(page)?.0,
        });
    }
    Ok(WebCover {
        stop: if picks.len() - pins == eligible {
            Stop::NoPageLeft
        } else {
            Stop::Complete
        },
        uncovered: reached.others().map(scored).collect(),
        picks,
        page_visits: reached.visits(),
    })
}

/// The pins as picks.
fn pinned(
    graph: &WebGraph,
    reached: &mut Reached<'_>,
    caps: &mut RemainingCaps<'_>,
) -> Result<Vec<Pick>, Interrupted> {
    let pins = graph.pins().iter();
    pins.map(|&pin| {
        caps.add_seed(pin);
        Ok(Pick::pinned(pin, reached.add(pin)?.0))
    })
    .collect()
}

/// Picks by the out-degree among the remaining pages: each pick removes the remaining pages within `hops`
/// of it.
pub(super) fn max_out(
    graph: &WebGraph,
    choice: &WebChoice,
    hops: u32,
    watch: &dyn Watch,
) -> Result<WebCover, Interrupted> {
    let mut remaining = Remaining::new(graph.successors(), graph.predecessors());
    let candidates = graph.candidates().iter();
    let mut queue: BinaryHeap<_> = candidates.map(|&page| remaining.entry(page)).collect();
    let mut reached = Reached::new(graph, hops);
    let mut caps = RemainingCaps::new(graph.caps(), graph.site_limit(choice.max_per_site));
    let mut picks = pinned(graph, &mut reached, &mut caps)?;
    for &pin in graph.pins() {
        remaining.remove_ball(pin, hops);
    }
    let stop = loop {
        watch.proceed()?;
        let Some(best) = remaining.pop_best(&mut queue, |page| caps.admits(page)) else {
            break Stop::NoPageLeft;
        };
        if picks.len() >= choice.seeds as usize {
            break Stop::Complete;
        }
        let seed = max_out::scored(best);
        let (gains, added) = reached.add(seed.page)?;
        if choice.positive_only && added.is_empty() {
            break Stop::NotPositive;
        }
        caps.add_seed(seed.page);
        let next = remaining.pop_best(&mut queue, |page| caps.admits(page));
        queue.extend(next);
        picks.push(Pick {
            seed,
            runner_up: next.map(max_out::scored),
            hops: gains,
        });
        remaining.remove_ball(seed.page, hops);
    };
    let uncovered = reached.others();
    Ok(WebCover {
        uncovered: uncovered
            .map(|page| max_out::scored(remaining.entry(page)))
            .collect(),
        picks,
        stop,
        page_visits: remaining.visits + reached.visits(),
    })
}
