//! The picks by weight over the whole web: decremental greedy.
//!
//! The gain of a candidate is what the pages within so many hops that no pick has reached yet are
//! worth, less the price of each. [`reach`](super::reach) gives the first gains. When a pick
//! reaches a page for the first time, the page's value less the price is taken off the gains of
//! all candidates that have it within reach, which a search against the links finds. So gains stay
//! exact throughout, whatever the signs of values and prices, and no pair of a candidate and a page
//! is taken twice: all picks together cost at most one more pass, however many there are. (Lazy
//! evaluation, which serves single sites, has weak bounds where most pages are worth less than
//! nothing.)

use std::cmp::Reverse;
use std::sync::atomic::{AtomicI64, Ordering};

use rayon::prelude::*;
use roaring::RoaringBitmap;

use super::super::pick::{HopGain, Score, Scored, Stop};
use super::ball::{Ball, Balls, OVERLAPPING, Together};
use super::graph::WebGraph;
use super::picks::{WebCover, WebPick};
use super::reach::Reach;
use super::terms::Room;
use crate::graph::multi_source_bfs::{BidirectionalLinks, SourceValues};
use crate::watch::{Interrupted, Watch};

/// Candidates per task while the best is looked for.
const CHUNK: usize = 1 << 14;

/// What the picks are to be.
#[derive(Clone, Copy, Debug)]
pub(super) struct Wanted {
    pub(super) seeds: u32,
    /// How many hops from a pick a page is reached.
    pub(super) hops: u32,
    /// What every page reached costs, in millionths.
    pub(super) price: i64,
    /// Stop before a pick whose gain is not positive.
    pub(super) positive_only: bool,
    /// Whether the gains that are left after the last pick are wanted.
    pub(super) rest: bool,
}

/// What the picks so far reach.
pub(super) struct Reached<'a> {
    graph: &'a WebGraph,
    hops: u32,
    /// By page.
    is_in: Vec<bool>,
    ball: Ball,
    pub(super) visits: u64,
}

impl<'a> Reached<'a> {
    pub(super) fn new(graph: &'a WebGraph, hops: u32) -> Self {
        let pages = graph.pages() as usize;
        Self {
            graph,
            hops,
            is_in: vec![false; pages],
            ball: Ball::new(pages),
            visits: 0,
        }
    }

    /// Adds a pick; returns what it adds, by hop, and the pages that it is the first to reach.
    pub(super) fn add(&mut self, pick: u32) -> (Vec<HopGain>, Vec<u32>) {
        let Self {
            graph,
            hops,
            is_in,
            ball,
            visits,
        } = self;
        let mut gains = Vec::new();
        let mut added = Vec::new();
        *visits += ball.levels(graph.successors(), pick, *hops, |level| {
            let before = added.len();
            let new = |page: &&u32| !std::mem::replace(&mut is_in[**page as usize], true);
            added.extend(level.pages.iter().filter(new));
            let mut new = added[before..].to_vec();
            new.sort_unstable();
            gains.push(HopGain {
                value: new.iter().map(|&page| graph.values()[page as usize]).sum(),
                pages: new.into_iter().collect::<RoaringBitmap>(),
            });
        });
        (gains, added)
    }

    pub(super) fn has(&self, page: u32) -> bool {
        self.is_in[page as usize]
    }
}

/// Picks by the gain within `reach.hops`.
pub(super) fn greedy(
    graph: &WebGraph,
    reach: &Reach,
    wanted: Wanted,
    balls: &Balls,
    watch: &dyn Watch,
) -> Result<WebCover, Interrupted> {
    let mut run = Run {
        graph,
        depth: reach.hops,
        wanted,
        gains: first_gains(graph, reach, wanted.price),
        picked: vec![false; graph.pages() as usize],
        room: Room::new(graph.caps()),
        open: graph
            .values()
            .iter()
            .filter(|&&value| value != wanted.price)
            .count(),
        balls,
        watch,
    };
    let mut reached = Reached::new(graph, wanted.hops);
    let mut picks: Vec<WebPick> = Vec::new();
    let mut visits = 0;
    for &pin in graph.pins() {
        watch.proceed()?;
        let (hops, added) = run.take(&mut reached, pin);
        picks.push(WebPick::pinned(pin, hops));
        visits += run.take_off(added)?;
    }
    let stop = loop {
        watch.proceed()?;
        if !picks.is_empty() && run.open == 0 {
            break Stop::NoValueLeft;
        }
        let (Some(first), runner_up) = run.best() else {
            break Stop::NoPageLeft;
        };
        if picks.len() >= wanted.seeds as usize {
            break Stop::Complete;
        }
        if wanted.positive_only && first.0 <= 0 {
            break Stop::NotPositive;
        }
        let seed = scored(first);
        let (hops, added) = run.take(&mut reached, seed.page);
        picks.push(WebPick {
            seed,
            runner_up: runner_up.map(scored),
            hops,
        });
        if wanted.rest || picks.len() < wanted.seeds as usize {
            visits += run.take_off(added)?;
        }
    };
    let rest = if wanted.rest {
        let left = graph.candidates().iter().filter(|&&c| !reached.has(c));
        left.map(|&page| Scored {
            page,
            score: Score::Weight(run.gains[page as usize].load(Ordering::Relaxed)),
        })
        .collect()
    } else {
        Vec::new()
    };
    Ok(WebCover {
        picks,
        stop,
        rest,
        page_visits: visits + reached.visits,
    })
}

fn first_gains(graph: &WebGraph, reach: &Reach, price: i64) -> Vec<AtomicI64> {
    let mut gains: Vec<AtomicI64> = Vec::new();
    gains.resize_with(graph.pages() as usize, AtomicI64::default);
    let found = reach.value.iter().zip(&reach.pages);
    for (&candidate, (value, pages)) in graph.candidates().iter().zip(found) {
        gains[candidate as usize] = AtomicI64::new(value - price * i64::from(*pages));
    }
    gains
}

/// A gain and its page; the larger is the better, of equal ones that of the smaller URL.
type Gain = (i64, Reverse<u32>);

fn scored((gain, Reverse(page)): Gain) -> Scored {
    Scored {
        page,
        score: Score::Weight(gain),
    }
}

/// The greater two of two gains and a third.
fn with((first, second): (Option<Gain>, Option<Gain>), gain: Gain) -> (Option<Gain>, Option<Gain>) {
    if first.is_none_or(|first| gain > first) {
        (Some(gain), first)
    } else {
        (first, second.max(Some(gain)))
    }
}

struct Run<'a> {
    graph: &'a WebGraph,
    /// How far candidates look.
    depth: u32,
    wanted: Wanted,
    /// By page; of those that are no candidates without meaning.
    gains: Vec<AtomicI64>,
    picked: Vec<bool>,
    room: Room<'a>,
    /// How many pages that no pick has reached are worth something else than their price.
    open: usize,
    balls: &'a Balls,
    watch: &'a dyn Watch,
}

impl Run<'_> {
    /// Notes a seed; returns what it adds.
    fn take(&mut self, reached: &mut Reached<'_>, page: u32) -> (Vec<HopGain>, Vec<u32>) {
        self.picked[page as usize] = true;
        self.room.take(page);
        reached.add(page)
    }

    /// Whether a candidate can be the next pick.
    fn is_open(&self, page: u32) -> bool {
        !self.picked[page as usize] && self.room.has(page)
    }

    /// The best candidate that can be picked, and the second best.
    fn best(&self) -> (Option<Gain>, Option<Gain>) {
        let best_of = |part: &[u32]| {
            let open = part.iter().filter(|&&page| self.is_open(page));
            let gains = open.map(|&page| {
                let gain = self.gains[page as usize].load(Ordering::Relaxed);
                (gain, Reverse(page))
            });
            gains.fold((None, None), with)
        };
        let both = |one, other: (Option<Gain>, Option<Gain>)| {
            other.0.into_iter().chain(other.1).fold(one, with)
        };
        let parts = self.graph.candidates().par_chunks(CHUNK);
        parts.map(best_of).reduce(|| (None, None), both)
    }

    /// Takes what these pages are worth off the gains of all that have them within reach; returns
    /// the page visits.
    fn take_off(&mut self, mut pages: Vec<u32>) -> Result<u64, Interrupted> {
        let (graph, price) = (self.graph, self.wanted.price);
        let worth = |page: u32| graph.values()[page as usize] - price;
        pages.retain(|&page| worth(page) != 0);
        self.open -= pages.len();
        let gains = &self.gains;
        if self.depth >= OVERLAPPING {
            let links = BidirectionalLinks(graph.predecessors(), graph.successors());
            let mut all = 0;
            let take = |visits: u64| all += visits;
            let off = |searches: &mut Together<'_>, part: &[u32]| {
                let values = SourceValues::new(part.iter().map(|&page| worth(page)).collect());
                let visits = searches.run(&links, part, self.depth, |_, source, bits| {
                    // Exact sums: their order makes no difference.
                    gains[source as usize].fetch_sub(values.sum(bits), Ordering::Relaxed);
                });
                visits.last().copied().unwrap_or(0)
            };
            self.balls.together(&pages, self.watch, off, take)?;
            return Ok(all);
        }
        let visits = self.balls.each(&pages, self.watch, |ball, part| {
            let mut visits = 0;
            for &page in part {
                let worth = worth(page);
                visits += ball.levels(graph.predecessors(), page, self.depth, |level| {
                    for &source in level.pages {
                        // Exact sums: their order makes no difference.
                        gains[source as usize].fetch_sub(worth, Ordering::Relaxed);
                    }
                });
            }
            visits
        })?;
        Ok(visits.into_iter().sum())
    }
}
