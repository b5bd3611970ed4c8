//! The pages and the value within reach of every candidate before any pick: one pass over the web.
//!
//! With `N_h(c)` the pages within h hops of a candidate c, the pass computes
//!
//! ```text
//! Q_h(c) = sum of the values in N_h(c)        n_h(c) = number of pages in N_h(c)
//! k_h(c) = number of pages in N_h(c) that are known only from links
//! ```
//!
//! for all h up to a maximum at once. The gain of c at a fetch cost of `p` per page, with known pages worth
//! `v` more, is `Q_h(c) + v k_h(c) - p n_h(c)`, so one pass serves every number of hops, every fetch cost
//! and every value of known pages.

use super::super::bfs_ball::BallSearch;
use super::graph::WebGraph;
use super::search_pool::{BatchSearch, MIN_BATCHED_HOPS, SearchPool};
use super::share::WebShare;
use super::share::reached_sums::reached_sums;
use crate::graph::multi_source_bfs::{BidirectionalLinks, SourceSums};
use crate::graph::number;
use crate::watch::{Interrupted, Watch};

/// The pages and the value within a number of hops of each candidate, in the order of
/// [`WebGraph::candidates`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reach {
    /// The number of hops.
    pub hops: u32,
    /// The sum of the values of the pages, in millionths.
    pub value: Vec<i64>,
    /// The number of pages, including the candidate.
    pub pages: Vec<u32>,
    /// The number of these pages that are known only from links.
    pub known: Vec<u32>,
    /// The page visits of a search of this many hops from each candidate, in all processes.
    pub visits: u64,
}

/// The [`Reach`] for each number of hops, up to the limit of page visits.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ReachByHops {
    /// By number of hops, from 0.
    pub by_hops: Vec<Reach>,
    /// The page visits of the pass.
    pub visits: u64,
}

impl ReachByHops {
    /// The reach within this many hops; `None` if the pass did not compute it.
    #[must_use]
    pub fn within(&self, hops: u32) -> Option<&Reach> {
        self.by_hops.get(hops as usize)
    }
}

/// The result for some candidates: by hops and then by candidate.
struct Part {
    value: Vec<Vec<i64>>,
    pages: Vec<Vec<u32>>,
    known: Vec<Vec<u32>>,
    /// The page visits, by hops.
    visits: Vec<u64>,
}

/// The number of candidates in the sample that estimates the cost of a pass.
const SAMPLE: u64 = 512;

/// Searches from every candidate, to `deepest` hops or as deep as `most` page visits allow.
///
/// A number of hops greater than 1 is skipped, with all greater ones, if a pass would take more than `most`
/// visits, as estimated by searches from [`SAMPLE`] candidates spread evenly over all, in URL order. So the
/// depth depends on the graph alone, and little is spent on skipped hops. Memory: 16 bytes per candidate
/// for each number of hops.
pub(super) fn reach_by_hops(
    graph: &WebGraph,
    deepest: u32,
    most: u64,
    pool: &SearchPool,
    watch: &dyn Watch,
) -> Result<ReachByHops, Interrupted> {
    let candidates = graph.candidates();
    if most == u64::MAX {
        return pass(graph, candidates, deepest, pool, watch);
    }
    let count = graph.candidates_in_all();
    let step = count.div_ceil(SAMPLE).max(1);
    let sample = every(graph, step)?;
    let mut found = pass(graph, &sample, deepest, pool, watch)?;
    let sampled = count.div_ceil(step);
    let fits = |reach: &&Reach| {
        let all = u128::from(reach.visits) * u128::from(count);
        reach.hops <= 1 || all <= u128::from(most) * u128::from(sampled)
    };
    let fitting = found.by_hops.iter().take_while(fits).count();
    if sampled == count {
        found.by_hops.truncate(fitting);
        return Ok(found);
    }
    let deepest = number(fitting).saturating_sub(1);
    let spent = found.visits;
    let mut found = pass(graph, candidates, deepest, pool, watch)?;
    found.visits += spent;
    Ok(found)
}

/// Returns the candidates of this process among every `step`-th of all, in URL order.
fn every(graph: &WebGraph, step: u64) -> Result<Vec<u32>, Interrupted> {
    let candidates = graph.candidates().iter().copied();
    let Some(share) = graph.share() else {
        let step = usize::try_from(step).unwrap_or(usize::MAX);
        return Ok(candidates.step_by(step).collect());
    };
    let ranks = share.ranks(graph.candidates())?;
    let ranked = candidates.zip(ranks);
    let wanted = ranked.filter(|(_, rank)| u64::from(*rank).is_multiple_of(step));
    Ok(wanted.map(|(page, _)| page).collect())
}

/// Searches from some candidates of this process to `deepest` hops, while the other processes search from theirs.
pub(super) fn pass(
    graph: &WebGraph,
    from: &[u32],
    deepest: u32,
    pool: &SearchPool,
    watch: &dyn Watch,
) -> Result<ReachByHops, Interrupted> {
    if let Some(share) = graph.share() {
        return pass_of_share(graph, share, from, deepest, pool, watch);
    }
    let mut by_hops: Vec<Reach> = (0..=deepest)
        .map(|hops| Reach {
            hops,
            value: Vec::with_capacity(from.len()),
            pages: Vec::with_capacity(from.len()),
            known: Vec::with_capacity(from.len()),
            visits: 0,
        })
        .collect();
    let add_part = |part: Part| {
        let counts = part.pages.into_iter().zip(part.known);
        let found = part.value.into_iter().zip(counts).zip(part.visits);
        for (reach, ((value, (pages, known)), visits)) in by_hops.iter_mut().zip(found) {
            reach.value.extend(value);
            reach.pages.extend(pages);
            reach.known.extend(known);
            reach.visits += visits;
        }
    };
    if deepest >= MIN_BATCHED_HOPS {
        let links = BidirectionalLinks(graph.successors(), graph.predecessors());
        let search = |searches: &mut BatchSearch<'_>, part: &[u32]| {
            let found = search_batch(graph, &links, searches, part, deepest);
            watch.advance(part.len() as u64);
            found
        };
        pool.in_batches(from, watch, search, add_part)?;
    } else {
        let parts = pool.in_chunks(from, watch, |search, part| {
            let found = search_each(graph, search, part, deepest);
            watch.advance(part.len() as u64);
            found
        })?;
        parts.into_iter().for_each(add_part);
    }
    let visits = by_hops.last().map_or(0, |reach| reach.visits);
    Ok(ReachByHops { by_hops, visits })
}

/// Searches from pages of this process, while the others search from theirs.
fn pass_of_share(
    graph: &WebGraph,
    share: &WebShare,
    from: &[u32],
    deepest: u32,
    pool: &SearchPool,
    watch: &dyn Watch,
) -> Result<ReachByHops, Interrupted> {
    let worth = |page: u32| {
        let value = graph.values()[page as usize];
        [value, 1, graph.is_known(page).into()]
    };
    let links = graph.successors();
    let found = reached_sums(share, links, worth, (from, deepest), pool.share(), watch)?;
    let own = found
        .visits
        .iter()
        .map(|visits| i64::try_from(*visits).unwrap_or(i64::MAX));
    let visits = graph.group().sums(own.collect())?;
    let count = |sum: i64| u32::try_from(sum).unwrap_or(u32::MAX);
    let by_hops = found.by_hop.into_iter().zip(visits).zip(0..);
    let by_hops: Vec<Reach> = by_hops
        .map(|((sums, visits), hops)| Reach {
            hops,
            value: sums.iter().map(|sums| sums[0]).collect(),
            pages: sums.iter().map(|sums| count(sums[1])).collect(),
            known: sums.iter().map(|sums| count(sums[2])).collect(),
            visits: visits.unsigned_abs(),
        })
        .collect();
    let visits = by_hops.last().map_or(0, |reach| reach.visits);
    Ok(ReachByHops { by_hops, visits })
}

fn search_batch(
    graph: &WebGraph,
    links: &BidirectionalLinks<'_>,
    searches: &mut BatchSearch<'_>,
    part: &[u32],
    hops: u32,
) -> Part {
    let mut found = Part {
        value: Vec::with_capacity(hops as usize + 1),
        pages: Vec::with_capacity(hops as usize + 1),
        known: Vec::with_capacity(hops as usize + 1),
        visits: Vec::new(),
    };
    // The value, the pages, and those known only from links.
    let mut sums = SourceSums::new(part.len());
    let mut at = 0;
    let mut push_sums = |sums: &SourceSums<3>| {
        let lanes = 0..part.len();
        let value = lanes.clone().map(|lane| sums.get(lane)[0]);
        found.value.push(value.collect());
        let count = |lane, sum: usize| u32::try_from(sums.get(lane)[sum]).unwrap_or(u32::MAX);
        let pages = lanes.clone().map(|lane| count(lane, 1));
        found.pages.push(pages.collect());
        found.known.push(lanes.map(|lane| count(lane, 2)).collect());
    };
    let visits = searches.run(links, part, hops, |hop, page, bits| {
        while at < hop {
            push_sums(&sums);
            at += 1;
        }
        let worth = graph.values()[page as usize];
        sums.add(bits, [worth, 1, graph.is_known(page).into()]);
    });
    // Hops beyond the last one with pages add nothing.
    while at <= hops {
        push_sums(&sums);
        at += 1;
    }
    found.visits = visits;
    found
}

fn search_each(graph: &WebGraph, search: &mut BallSearch, part: &[u32], hops: u32) -> Part {
    let depths = hops as usize + 1;
    let mut found = Part {
        value: vec![Vec::with_capacity(part.len()); depths],
        pages: vec![Vec::with_capacity(part.len()); depths],
        known: vec![Vec::with_capacity(part.len()); depths],
        visits: vec![0; depths],
    };
    let mut of_page = vec![(0, 0, 0, 0); depths];
    for &candidate in part {
        let (mut value, mut pages, mut known, mut met) = (0, 0, 0, 0);
        let visits = search.levels(graph.successors(), candidate, hops, |level| {
            let values = level
                .pages
                .iter()
                .map(|&page| graph.values()[page as usize]);
            value += values.sum::<i64>();
            pages += number(level.pages.len());
            let of_level = level.pages.iter().filter(|&&page| graph.is_known(page));
            known += number(of_level.count());
            met = level.hop as usize;
            of_page[met] = (value, pages, known, level.visits);
        });
        // Hops beyond the last one with pages add nothing.
        of_page[met + 1..].fill((value, pages, known, visits));
        for (depth, &(value, pages, known, visits)) in of_page.iter().enumerate() {
            found.value[depth].push(value);
            found.pages[depth].push(pages);
            found.known[depth].push(known);
            found.visits[depth] += visits;
        }
    }
    found
}
