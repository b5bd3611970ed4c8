//! What every candidate reaches before anything is picked: the one pass over the web.
//!
//! With `N_h(c)` the pages within h hops of a candidate c, the pass gives
//!
//! ```text
//! Q_h(c) = sum of the values in N_h(c)        n_h(c) = number of pages in N_h(c)
//! ```
//!
//! for all h up to the deepest at once. The gain of c at a price of `p` for each page fetched is
//! `Q_h(c) - p n_h(c)`, so one pass serves every number of hops and every price.

use super::ball::{Ball, Balls, OVERLAPPING, Together};
use super::graph::WebGraph;
use crate::graph::multi_source_bfs::{BidirectionalLinks, SourceSums};
use crate::graph::number;
use crate::watch::{Interrupted, Watch};

/// What candidates reach within a number of hops, in the order of [`WebGraph::candidates`].
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Reach {
    /// The number of hops.
    pub hops: u32,
    /// The values of the pages within so many hops, summed, in millionths.
    pub value: Vec<i64>,
    /// How many pages these are, the candidate among them.
    pub pages: Vec<u32>,
    /// The page visits of finding it: those of a search of so many hops from each candidate.
    pub visits: u64,
}

/// What candidates reach within 0, 1, 2 hops and so on, as deep as the visits allow.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Reaches {
    /// By hops, from 0 on.
    pub by_hops: Vec<Reach>,
    /// The page visits that it took.
    pub visits: u64,
}

impl Reaches {
    /// What candidates reach within so many hops; `None` where that was not looked at.
    #[must_use]
    pub fn within(&self, hops: u32) -> Option<&Reach> {
        self.by_hops.get(hops as usize)
    }
}

/// What the candidates of a part reach: by hops and then by candidate.
struct Part {
    value: Vec<Vec<i64>>,
    pages: Vec<Vec<u32>>,
    /// The page visits by hops.
    visits: Vec<u64>,
}

/// From how many candidates it is searched to learn what a pass takes.
const SAMPLE: usize = 4096;

/// Searches from every candidate, to `deepest` hops or as deep as `most` visits allow.
///
/// A number of hops is left out where a pass would take more than `most` visits, by what searches
/// from [`SAMPLE`] candidates take that are spread evenly over all, in URL order; so are those above
/// it, and 1 hop never is. So what is left out follows from the graph alone, and hardly anything is
/// spent on it. Memory: 12 bytes per candidate for each number of hops.
pub(super) fn reaches(
    graph: &WebGraph,
    deepest: u32,
    most: u64,
    balls: &Balls,
    watch: &dyn Watch,
) -> Result<Reaches, Interrupted> {
    let candidates = graph.candidates();
    let step = candidates.len().div_ceil(SAMPLE).max(1);
    let sample: Vec<u32> = candidates.iter().step_by(step).copied().collect();
    if most == u64::MAX {
        return pass(graph, candidates, deepest, balls, watch);
    }
    let mut found = pass(graph, &sample, deepest, balls, watch)?;
    let fits = |reach: &&Reach| {
        let all = u128::from(reach.visits) * candidates.len() as u128;
        reach.hops <= 1 || all <= u128::from(most) * sample.len() as u128
    };
    let fitting = found.by_hops.iter().take_while(fits).count();
    if sample.len() == candidates.len() {
        found.by_hops.truncate(fitting);
        return Ok(found);
    }
    let deepest = number(fitting).saturating_sub(1);
    let spent = found.visits;
    let mut found = pass(graph, candidates, deepest, balls, watch)?;
    found.visits += spent;
    Ok(found)
}

fn pass(
    graph: &WebGraph,
    from: &[u32],
    deepest: u32,
    balls: &Balls,
    watch: &dyn Watch,
) -> Result<Reaches, Interrupted> {
    let mut by_hops: Vec<Reach> = (0..=deepest)
        .map(|hops| Reach {
            hops,
            value: Vec::with_capacity(from.len()),
            pages: Vec::with_capacity(from.len()),
            visits: 0,
        })
        .collect();
    let take = |part: Part| {
        let found = part.value.into_iter().zip(part.pages).zip(part.visits);
        for (reach, ((value, pages), visits)) in by_hops.iter_mut().zip(found) {
            reach.value.extend(value);
            reach.pages.extend(pages);
            reach.visits += visits;
        }
    };
    if deepest >= OVERLAPPING {
        let links = BidirectionalLinks(graph.successors(), graph.predecessors());
        let look = |searches: &mut Together<'_>, part: &[u32]| {
            let found = search_together(graph, &links, searches, part, deepest);
            watch.advance(part.len() as u64);
            found
        };
        balls.together(from, watch, look, take)?;
    } else {
        let parts = balls.each(from, watch, |ball, part| {
            let found = search(graph, ball, part, deepest);
            watch.advance(part.len() as u64);
            found
        })?;
        parts.into_iter().for_each(take);
    }
    let visits = by_hops.last().map_or(0, |reach| reach.visits);
    Ok(Reaches { by_hops, visits })
}

fn search_together(
    graph: &WebGraph,
    links: &BidirectionalLinks<'_>,
    searches: &mut Together<'_>,
    part: &[u32],
    hops: u32,
) -> Part {
    let mut found = Part {
        value: Vec::with_capacity(hops as usize + 1),
        pages: Vec::with_capacity(hops as usize + 1),
        visits: Vec::new(),
    };
    let mut value = SourceSums::new(part.len());
    let mut pages = value.clone();
    let mut at = 0;
    let mut note = |value: &SourceSums, pages: &SourceSums| {
        let lanes = 0..part.len();
        found
            .value
            .push(lanes.clone().map(|lane| value.get(lane)).collect());
        let count = |lane| u32::try_from(pages.get(lane)).unwrap_or(u32::MAX);
        found.pages.push(lanes.map(count).collect());
    };
    let visits = searches.run(links, part, hops, |hop, page, bits| {
        while at < hop {
            note(&value, &pages);
            at += 1;
        }
        let worth = graph.values()[page as usize];
        if worth != 0 {
            value.add(bits, worth);
        }
        pages.add(bits, 1);
    });
    // Beyond the last hop with pages, more hops find nothing more.
    while at <= hops {
        note(&value, &pages);
        at += 1;
    }
    found.visits = visits;
    found
}

fn search(graph: &WebGraph, ball: &mut Ball, part: &[u32], hops: u32) -> Part {
    let depths = hops as usize + 1;
    let mut found = Part {
        value: vec![Vec::with_capacity(part.len()); depths],
        pages: vec![Vec::with_capacity(part.len()); depths],
        visits: vec![0; depths],
    };
    let mut of_page = vec![(0, 0, 0); depths];
    for &candidate in part {
        let (mut value, mut pages, mut met) = (0, 0, 0);
        let visits = ball.levels(graph.successors(), candidate, hops, |level| {
            let values = level
                .pages
                .iter()
                .map(|&page| graph.values()[page as usize]);
            value += values.sum::<i64>();
            pages += number(level.pages.len());
            met = level.hop as usize;
            of_page[met] = (value, pages, level.visits);
        });
        // Beyond the last level with pages, more hops find nothing more.
        of_page[met + 1..].fill((value, pages, visits));
        for (depth, &(value, pages, visits)) in of_page.iter().enumerate() {
            found.value[depth].push(value);
            found.pages[depth].push(pages);
            found.visits[depth] += visits;
        }
    }
    found
}
