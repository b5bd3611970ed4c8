//! Keeps the list of an earlier selection as far as it is worth almost as much as a new one.
//!
//! Many pages add nearly the same, so the best list changes with every batch though the one before it is hardly worse. Here the
//! earlier list stays, without the pages that cannot be seeds any more, and picks by gain fill its places. If the result is
//! worth less than a new list by more than the slack, the seed whose removal costs least is replaced by the candidate that adds
//! most, again and again until it is not.
//!
//! Each exchange adds to the worth of the list. If none does, or after twice as many tries as the list has seeds, the new list is
//! taken. (A rule for each pick, to prefer a kept page while its gain is within the slack of the best one, keeps hardly
//! more than no rule: one other pick changes all gains after it.)
//!
//! Cost: one to four further selections from the same first gains; each exchange searches from the two pages, and backward from
//! the pages that only they reach. Memory: 8 bytes for each page.

use std::cmp::Reverse;
use std::collections::BTreeSet;

use super::super::pick::Pick;
use super::first_gains::FirstGains;
use super::graph::WebGraph;
use super::greedy::{Forward, GreedyOptions, Run};
use super::picks::WebCover;
use super::search_pool::SearchPool;
use crate::graph::number;
use crate::slack::Slack;
use crate::watch::{Interrupted, Watch};

/// How a list follows from the one before it.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Kept {
    /// The number of seeds that were on the earlier list.
    pub seeds: u32,
    /// The worth of the list, divided by that of a new one; 1 if a new one is worth nothing.
    pub worth: f64,
}

/// Returns the pages of an earlier list that can still be seeds, by their numbers in the web, in the order of the list. It has a
/// page of this process, or `None`, for each place. All processes call this at the same time.
pub(super) fn in_web(graph: &WebGraph, list: &[Option<u32>]) -> Result<Vec<u32>, Interrupted> {
    let candidates = graph.candidates();
    let own = list.iter().map(|page| {
        let page = page.filter(|page| candidates.binary_search(page).is_ok());
        page.map_or(0, |page| i64::from(graph.number(page)) + 1)
    });
    // Each page has one process, so that the sums are the numbers.
    let all = graph.group().sums(own.collect())?;
    let number = |of: i64| u32::try_from(of.checked_sub(1)?).ok();
    Ok(all.into_iter().filter_map(number).collect())
}

/// A list that is selected again as it is, so that it does not change without a change of the web, takes at most this many
/// selections, else the new list is taken.
const MOST_SELECTIONS: usize = 4;

/// An exchange is tried at most this many times for each seed of the list.
const MOST_TRIES: usize = 2;

/// Selects as [`greedy`](super::greedy::greedy) does, but keeps the pages of `list`, numbers in the web, within this slack
/// of `fresh`, the list that it selects.
pub(super) fn keep(
    (graph, first): (&WebGraph, &FirstGains),
    options: GreedyOptions,
    (list, slack): (&[u32], Slack),
    fresh: WebCover,
    pool: &SearchPool,
    watch: &dyn Watch,
) -> Result<(WebCover, Kept), Interrupted> {
    watch.stage("keep the previous list", None);
    let best = worth(graph, options, &fresh.picks)?;
    let least = slack.least(best);
    let mut visits = fresh.page_visits;
    let (mut cover, mut reached) = (fresh, best);
    let mut next = Some(list.to_vec());
    let mut may_exchange = true;
    for _ in 0..MOST_SELECTIONS {
        let Some(wanted) = next.take() else {
            break;
        };
        let mut run = Run::new(graph, first, options, pool, watch);
        let found = run.select(&wanted)?;
        visits += found.page_visits;
        let of_found = worth(graph, options, &found.picks)?;
        let picks = found.picks.iter().map(|pick| pick.seed.page);
        let picks: Vec<u32> = picks.skip(graph.pins().len()).collect();
        if of_found < least {
            if std::mem::take(&mut may_exchange) {
                let mut exchange = Exchange::begin(&mut run, &found.picks)?;
                next = exchange.until(of_found, least)?;
                let own = exchange.forward.visits + exchange.visits;
                visits += graph.group().total([own])?[0];
            }
        } else if is_subset(&picks, &wanted) {
            (cover, reached) = (found, of_found);
        } else {
            // The order of the list is that of picks among all of its pages.
            next = Some(picks);
        }
    }
    cover.page_visits = visits;
    let list: BTreeSet<u32> = list.iter().copied().collect();
    let is_kept = |pick: &&Pick| list.contains(&pick.seed.page);
    let seeds = cover.picks.iter().filter(is_kept).count();
    let kept = Kept {
        seeds: number(seeds),
        worth: if best > 0 {
            reached as f64 / best as f64
        } else {
            1.0
        },
    };
    Ok((cover, kept))
}

fn is_subset(pages: &[u32], of: &[u32]) -> bool {
    let of: BTreeSet<u32> = of.iter().copied().collect();
    pages.iter().all(|page| of.contains(page))
}

/// The worth of the pages that picks reach, in millionths: their values minus the fetch costs.
fn worth(graph: &WebGraph, options: GreedyOptions, picks: &[Pick]) -> Result<i64, Interrupted> {
    let of_pick = |pick: &Pick| {
        let pages = i64::try_from(pick.covered_pages()).unwrap_or(i64::MAX);
        pick.covered_value() - options.price * pages
    };
    let [worth] = graph.group().sum([picks.iter().map(of_pick).sum()])?;
    Ok(worth)
}

/// Replaces seeds of a list.
struct Exchange<'r, 'a> {
    run: &'r mut Run<'a>,
    /// The list, by numbers in the web, pins first, and the group of each seed for each cap.
    list: Vec<u32>,
    groups: Vec<Vec<u32>>,
    forward: Forward<'a>,
    /// The number of seeds that reach each page of this process, and the sum of their places on the list: the place of the
    /// seed, if it is only one.
    seeds: Vec<(u32, u32)>,
    /// By place: the worth of the pages of this process that only this seed reaches.
    losses: Vec<i64>,
    /// The page visits of searches backward.
    visits: u64,
}

impl<'r, 'a> Exchange<'r, 'a> {
    /// Begins with the picks of a selection that has run to its end.
    fn begin(run: &'r mut Run<'a>, picks: &[Pick]) -> Result<Self, Interrupted> {
        let list: Vec<u32> = picks.iter().map(|pick| pick.seed.page).collect();
        let graph = run.graph;
        let mut exchange = Self {
            groups: run.groups_of(&list)?,
            forward: Forward::new(graph, run.options.hops),
            seeds: vec![(0, 0); graph.pages() as usize],
            losses: vec![0; list.len()],
            visits: 0,
            list,
            run,
        };
        for place in 0..exchange.list.len() {
            exchange.count(place, true)?;
        }
        Ok(exchange)
    }

    /// Replaces seeds until the list, which is worth `worth`, is worth `least`. Returns it; `None` if that is not reached.
    fn until(&mut self, mut worth: i64, least: i64) -> Result<Option<Vec<u32>>, Interrupted> {
        let graph = self.run.graph;
        let pins = graph.pins().len();
        // Seeds that no candidate is better than.
        let mut stays = vec![false; self.list.len()];
        for _ in 0..MOST_TRIES * self.list.len() {
            self.run.watch.proceed()?;
            let losses = graph.group().sums(self.losses.clone())?;
            // Of seeds with the same loss, the last one.
            let places = (pins..self.list.len()).filter(|place| !stays[*place]);
            let Some(place) = places.min_by_key(|&place| (losses[place], Reverse(place))) else {
                return Ok(None);
            };
            let freed = self.count(place, false)?;
            self.run.release(self.list[place], &self.groups[place]);
            self.visits += self.run.give_back(freed)?;
            let standing = self.run.standing()?;
            let better = standing.top.first.filter(|(gain, _)| *gain > losses[place]);
            if let Some((gain, Reverse(page))) = better {
                self.list[place] = page;
                self.groups[place] = standing.groups;
                worth += gain - losses[place];
                stays.fill(false);
            } else {
                stays[place] = true;
            }
            self.run.occupy(self.list[place], &self.groups[place]);
            let added = self.count(place, true)?;
            self.visits += self.run.subtract(added)?;
            if worth >= least {
                return Ok(Some(self.list.clone()));
            }
        }
        Ok(None)
    }

    /// Counts the seed at a place among those that reach its pages, or no more. Returns the pages that no other seed reaches.
    fn count(&mut self, place: usize, is_on_list: bool) -> Result<Vec<u32>, Interrupted> {
        let Self {
            run, seeds, losses, ..
        } = self;
        let mut alone = Vec::new();
        self.forward.each_hop(self.list[place], |pages| {
            for &page in pages {
                let (others, places) = &mut seeds[page as usize];
                if !is_on_list {
                    *others -= 1;
                    *places = places.wrapping_sub(number(place));
                }
                match others {
                    0 => alone.push(page),
                    1 if is_on_list => losses[*places as usize] -= run.worth(page),
                    1 => losses[*places as usize] += run.worth(page),
                    _ => {}
                }
                if is_on_list {
                    *others += 1;
                    *places = places.wrapping_add(number(place));
                }
            }
        })?;
        let worth = alone.iter().map(|&page| run.worth(page)).sum();
        losses[place] = if is_on_list { worth } else { 0 };
        Ok(alone)
    }
}

#[cfg(test)]
#[path = "keep_tests.rs"]
mod tests;
