//! Picks by weight over the whole web: decremental greedy.
//!
//! The gain of a candidate is the sum, over the pages within reach that no pick has reached yet, of the
//! value minus the fetch cost. [`first_gains`](super::first_gains) has those before any pick. When a pick reaches a page
//! for the first time, a backward search finds the candidates that have the page within reach, and its value
//! minus the cost is subtracted from their gains. So gains are exact after every pick, whatever the signs of
//! values, and no pair of a candidate and a page is processed twice: all picks together cost at most one
//! more pass. (The bounds of lazy evaluation, which serves single sites, are weak here, since most pages
//! are worth less than their cost.)

use std::cmp::Reverse;
use std::sync::atomic::{AtomicI64, Ordering};

use super::super::argmax_search::{Key, TopTwo};
use super::super::bfs_ball::BallSearch;
use super::super::pick::{HopGain, Pick, Scored, Stop};
use super::constraints::RemainingCaps;
use super::first_gains::{FirstGains, atomic, subtract};
use super::graph::WebGraph;
use super::picks::WebCover;
use super::search_pool::SearchPool;
use super::share::levels::ShareLevels;
use super::share::offer::Offer;
use super::share::standing::Standing;
use crate::watch::{Interrupted, Watch};
use rayon::prelude::*;

/// Candidates per task in the search for the best one.
const CHUNK: usize = 1 << 14;

/// The options of a greedy selection.
#[derive(Clone, Copy, Debug)]
pub(super) struct GreedyOptions {
    pub(super) seeds: u32,
    /// A pick reaches the pages within this many hops.
    pub(super) hops: u32,
    /// The fetch cost of every page reached, in millionths.
    pub(super) price: i64,
    /// The value of known pages beyond that in the graph, in millionths.
    pub(super) value_known: i64,
    /// The most seeds of a site; `None` for no limit.
    pub(super) max_per_site: Option<u32>,
    /// Whether to stop before a pick that adds no value above the fetch costs.
    pub(super) positive_only: bool,
    /// Whether to fill the places that are left then ([`WebGraph::fills`]).
    pub(super) fill: bool,
    /// Whether to compute the gains of the uncovered candidates after the last pick.
    pub(super) with_uncovered: bool,
}

/// The pages that the picks so far reach; in a share, those of this process.
pub(super) struct Reached<'a> {
    graph: &'a WebGraph,
    hops: u32,
    /// By page.
    by_page: Vec<bool>,
    search: BallSearch,
    /// The search over several processes.
    levels: Option<ShareLevels>,
    pub(super) visits: u64,
}

impl<'a> Reached<'a> {
    pub(super) fn new(graph: &'a WebGraph, hops: u32) -> Self {
        let pages = graph.pages();
        Self {
            graph,
            hops,
            by_page: vec![false; pages as usize],
            search: BallSearch::new(if graph.share().is_none() { pages } else { 0 }),
            levels: graph.share().map(ShareLevels::new),
            visits: 0,
        }
    }

    /// Adds a pick, given its number in the web. Returns its gain by hop, and the pages that it is the first to reach.
    pub(super) fn add(&mut self, pick: u32) -> Result<(Vec<HopGain>, Vec<u32>), Interrupted> {
        let Self {
            graph,
            hops,
            by_page,
            search,
            levels,
            visits,
        } = self;
        let mut gains = Vec::new();
        let mut added = Vec::new();
        if let (Some(share), Some(levels)) = (graph.share(), levels) {
            levels.begin();
            let mut level: Vec<u32> = graph.local(pick).into_iter().collect();
            level.retain(|&page| levels.is_new(page));
            for hop in 0.. {
                *visits += level.len() as u64;
                let is_new = |page: &u32| !std::mem::replace(&mut by_page[*page as usize], true);
                let new: Vec<u32> = level.iter().copied().filter(is_new).collect();
                added.extend(&new);
                gains.push(HopGain::new(graph.values(), new));
                let next = if hop == *hops {
                    let [pages] = graph.group().total([level.len() as u64])?;
                    (pages > 0).then(Vec::new)
                } else {
                    let links = graph.successors();
                    let followed = level.iter().map(|&page| links.list(page).len() as u64);
                    *visits += followed.sum::<u64>();
                    levels.next(share, links, &level)?
                };
                match next {
                    // No process has a page at this hop.
                    None => {
                        gains.pop();
                        break;
                    }
                    Some(_) if hop == *hops => break,
                    Some(next) => level = next,
                }
            }
            return Ok((gains, added));
        }
        *visits += search.levels(graph.successors(), pick, *hops, |level| {
            let is_new = |page: &u32| !std::mem::replace(&mut by_page[*page as usize], true);
            let new: Vec<u32> = level.pages.iter().copied().filter(is_new).collect();
            added.extend(&new);
            gains.push(HopGain::new(graph.values(), new));
        });
        Ok((gains, added))
    }

    /// Takes back the last pick, which was the first to reach these pages.
    fn take_back(&mut self, added: &[u32]) {
        for &page in added {
            self.by_page[page as usize] = false;
        }
    }

    /// The candidates that no pick reaches, ascending.
    pub(super) fn others(&self) -> impl Iterator<Item = u32> {
        let candidates = self.graph.candidates().iter().copied();
        candidates.filter(|&page| !self.by_page[page as usize])
    }
}

/// Picks by the gain within `first.hops`, starting from these gains.
pub(super) fn greedy(
    graph: &WebGraph,
    first: &FirstGains,
    options: GreedyOptions,
    pool: &SearchPool,
    watch: &dyn Watch,
) -> Result<WebCover, Interrupted> {
    let mut run = Run {
        graph,
        depth: first.hops,
        options,
        gains: atomic(first.by_page.clone()),
        picked: vec![false; graph.pages() as usize],
        caps: RemainingCaps::new(graph.caps(), graph.site_limit(options.max_per_site)),
        unreached: 0,
        pool,
        watch,
    };
    let pages = 0..graph.pages();
    run.unreached = pages.filter(|&page| run.worth(page) != 0).count();
    let mut reached = Reached::new(graph, options.hops);
    let mut picks: Vec<Pick> = Vec::new();
    let mut visits = 0;
    for (&pin, groups) in graph.pins().iter().zip(run.groups_of_pins()?) {
        watch.proceed()?;
        let (hops, added) = run.take(&mut reached, pin, &groups)?;
        picks.push(Pick::pinned(pin, hops));
        visits += run.subtract(added)?;
    }
    let stop = loop {
        watch.proceed()?;
        let Standing {
            unreached,
            top,
            groups,
        } = run.standing()?;
        if !picks.is_empty() && unreached == 0 {
            break Stop::NoValueLeft;
        }
        let (Some((gain, _)), Some(best)) = (top.first, top.best(None)) else {
            break Stop::NoPageLeft;
        };
        if picks.len() >= options.seeds as usize {
            break Stop::Complete;
        }
        // A gain that looks as far as a pick reaches is what the pick adds, which saves the search.
        let is_what_it_adds = run.depth == options.hops;
        if options.positive_only && is_what_it_adds && gain <= 0 {
            break Stop::NotPositive;
        }
        let (hops, added) = run.take(&mut reached, best.seed.page, &groups)?;
        if options.positive_only && !is_what_it_adds && run.net_value(&added)? <= 0 {
            reached.take_back(&added);
            break Stop::NotPositive;
        }
        picks.push(Pick {
            seed: best.seed,
            runner_up: best.runner_up,
            hops,
        });
        if options.with_uncovered || picks.len() < options.seeds as usize {
            visits += run.subtract(added)?;
        }
    };
    let stop = if options.fill && stop != Stop::Complete {
        run.fill(&mut reached, &mut picks, &mut visits)?
    } else {
        stop
    };
    let uncovered = if options.with_uncovered {
        let scored = |page| Scored::by_weight(page, run.gain(page));
        reached.others().map(scored).collect()
    } else {
        Vec::new()
    };
    let [page_visits] = graph.group().total([visits + reached.visits])?;
    Ok(WebCover {
        picks,
        stop,
        uncovered,
        page_visits,
    })
}

struct Run<'a> {
    graph: &'a WebGraph,
    /// The gain of a candidate counts the pages within this many hops.
    depth: u32,
    options: GreedyOptions,
    /// By page; meaningless for pages that are not candidates.
    gains: Vec<AtomicI64>,
    picked: Vec<bool>,
    caps: RemainingCaps<'a>,
    /// The number of unreached pages of this process whose value differs from the fetch cost.
    unreached: usize,
    pool: &'a SearchPool,
    watch: &'a dyn Watch,
}

impl Run<'_> {
    /// Records a seed of these groups, given its number in the web. Returns its gain by hop, and the pages that it is the
    /// first to reach.
    fn take(
        &mut self,
        reached: &mut Reached<'_>,
        page: u32,
        groups: &[u32],
    ) -> Result<(Vec<HopGain>, Vec<u32>), Interrupted> {
        if let Some(local) = self.graph.local(page) {
            self.picked[local as usize] = true;
            self.caps.add_seed_of_site(local);
        }
        self.caps.add_seed_of(groups);
        reached.add(page)
    }

    /// The value minus the fetch cost of pages, in millionths; in a share, of those of all processes.
    fn net_value(&self, pages: &[u32]) -> Result<i64, Interrupted> {
        let own = pages.iter().map(|&page| self.worth(page)).sum();
        Ok(self.graph.group().sum([own])?[0])
    }

    /// The value of a page minus the fetch cost, in millionths.
    fn worth(&self, page: u32) -> i64 {
        let GreedyOptions {
            price, value_known, ..
        } = self.options;
        let worth = self.graph.values()[page as usize] - price;
        if value_known != 0 && self.graph.is_known(page) {
            worth + value_known
        } else {
            worth
        }
    }

    /// Returns the groups of each pin.
    fn groups_of_pins(&self) -> Result<Vec<Vec<u32>>, Interrupted> {
        let graph = self.graph;
        let caps = graph.caps().len();
        let own = graph.pins().iter().flat_map(|&pin| match graph.local(pin) {
            Some(pin) => self.caps.groups(pin),
            None => vec![0; caps],
        });
        if caps == 0 {
            return Ok(vec![Vec::new(); graph.pins().len()]);
        }
        // Each pin has one process, so that the sums are the groups.
        let all = graph.group().sums(own.map(i64::from).collect())?;
        let group = |group: &i64| u32::try_from(*group).unwrap_or(u32::MAX);
        let of_pins = all.chunks(caps);
        Ok(of_pins
            .map(|of_pin| of_pin.iter().map(group).collect())
            .collect())
    }

    /// Returns what decides about the next pick.
    fn standing(&self) -> Result<Standing, Interrupted> {
        let mut top = TopTwo::default();
        let own = self.best();
        let in_web = |key: Key| (key.0, Reverse(self.graph.number(key.1.0)));
        own.first
            .into_iter()
            .chain(own.second)
            .for_each(|key| top.offer(in_web(key)));
        let groups = own.first.map(|(_, page)| self.caps.groups(page.0));
        let own = Standing {
            unreached: self.unreached as u64,
            top,
            groups: groups.unwrap_or_default(),
        };
        match self.graph.share() {
            None => Ok(own),
            Some(share) => own.of_all(share),
        }
    }

    /// Whether a candidate can be the next pick.
    fn is_open(&self, page: u32) -> bool {
        !self.picked[page as usize] && self.caps.admits(page)
    }

    fn gain(&self, page: u32) -> i64 {
        self.gains[page as usize].load(Ordering::Relaxed)
    }

    /// The two best candidates that can be picked.
    fn best(&self) -> TopTwo {
        let best_of = |part: &[u32]| {
            let mut top = TopTwo::default();
            for &page in part {
                let key = (self.gain(page), Reverse(page));
                // Few candidates are good enough, so the others need no further look.
                if top.second.is_none_or(|second| key > second) && self.is_open(page) {
                    top.offer(key);
                }
            }
            top
        };
        let merge = |mut one: TopTwo, other: TopTwo| {
            for key in other.first.into_iter().chain(other.second) {
                one.offer(key);
            }
            one
        };
        let parts = self.graph.candidates().par_chunks(CHUNK);
        parts.map(best_of).reduce(TopTwo::default, merge)
    }

    /// Fills the places that are left with other candidates, whatever their gains.
    fn fill(
        &mut self,
        reached: &mut Reached<'_>,
        picks: &mut Vec<Pick>,
        visits: &mut u64,
    ) -> Result<Stop, Interrupted> {
        let graph = self.graph;
        let mut order: Vec<u32> = graph.candidates().to_vec();
        order.retain(|page| !self.picked[*page as usize]);
        // The greatest and the smaller URLs first.
        let key = |page: u32| (graph.fills(page), Reverse(graph.number(page)));
        order.sort_unstable_by_key(|page| Reverse(key(*page)));
        let last = order.last().map(|page| key(*page));
        let mut left = order.into_iter().peekable();
        let mut lowest: Option<Key> = None;
        loop {
            self.watch.proceed()?;
            while left.next_if(|page| !self.is_open(*page)).is_some() {}
            let own = Offer {
                has_more: last.is_some_and(|last| lowest.is_none_or(|lowest| last < lowest)),
                best: left.peek().map(|&page| key(page)),
                gain: left.peek().map_or(0, |page| self.gain(*page)),
                groups: left
                    .peek()
                    .map(|page| self.caps.groups(*page))
                    .unwrap_or_default(),
            };
            let offer = match graph.share() {
                None => own,
                Some(share) => own.of_all(share)?,
            };
            if picks.len() >= self.options.seeds as usize && offer.has_more {
                return Ok(Stop::Complete);
            }
            let Some(best) = offer
                .best
                .filter(|_| picks.len() < self.options.seeds as usize)
            else {
                return Ok(Stop::NoPageLeft);
            };
            lowest = Some(best);
            let page = best.1.0;
            let (hops, added) = self.take(reached, page, &offer.groups)?;
            picks.push(Pick {
                seed: Scored::by_weight(page, offer.gain),
                runner_up: None,
                hops,
            });
            *visits += self.subtract(added)?;
        }
    }

    /// Subtracts the value minus the fetch cost of newly reached pages from the gains of the candidates that
    /// have them within reach. Returns the page visits.
    fn subtract(&mut self, mut pages: Vec<u32>) -> Result<u64, Interrupted> {
        pages.retain(|&page| self.worth(page) != 0);
        self.unreached -= pages.len();
        let worth = |page: u32| self.worth(page);
        let from = (&pages[..], self.depth);
        subtract(self.graph, &self.gains, worth, from, self.pool, self.watch)
    }
}
