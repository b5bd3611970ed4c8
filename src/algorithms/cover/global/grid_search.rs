//! Chooses hops, fetch cost and value of known pages for a budget, by pages held out.
//!
//! A setting is judged by draws of held-out pages ([`HeldOut`]): seeds are selected without a tenth of the
//! crawled pages, and a crawl of the budget over the whole web is scored. Settings that are judged by the
//! pages on which they select overfit, most of all at high costs.
//!
//! One pass per draw gives the value, the number of pages and the number of known pages within reach of each
//! candidate for every number of hops. So the first gains of every setting are arithmetic, and the cost is
//! that of the picks. On the first draw, a coarse part of the grid is tried, then the neighbours of the best
//! settings until none is better. The best settings are tried on the other draws; a setting that is behind
//! the best by more than twice the standard error of their difference is dropped. The one with the best mean
//! of those tried on all draws is chosen.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use super::crawl::{Crawler, result_of_all};
use super::first_gains::FirstGains;
use super::graph::WebGraph;
use super::greedy::{GreedyOptions, greedy};
use super::held_out::HeldOut;
use super::params::{Grid, Setting, WebChoice};
use super::reach::{ReachByHops, reach_by_hops};
use super::search_pool::SearchPool;
use crate::statistics::Estimate;
use crate::watch::{Interrupted, Quiet, Watch};
use rayon::prelude::*;

/// The number of best settings whose neighbours are tried.
const CLIMBERS: usize = 3;
/// The number of best settings that are tried on further draws.
const FINALISTS: usize = 12;
/// The number of draws from which on settings are dropped.
const DROP_AFTER: usize = 3;
/// Settings are alike if their results differ by at most one in this many.
const ALIKE: i64 = 200;
/// The greatest number of hops for which many settings are tried at first.
const CHEAP_HOPS: u32 = 2;

/// The results of one setting of the grid.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trial {
    /// The setting.
    pub setting: Setting,
    /// The number of seeds of its list on the first draw.
    pub seeds: usize,
    /// The number of pages that a crawl from the list fetches on the first draw: the budget, or all pages
    /// that it reaches if these are fewer; of several crawls, of the first.
    pub fetched: u64,
    /// The result of the crawl on each draw, in millionths: an estimate for all crawled pages, see
    /// `HeldOut::found`; of several crawls, their `result_of_all`. A single entry if the setting was tried on
    /// the first draw only.
    pub found: Vec<i64>,
    /// Its list on each draw, in numbers of the web.
    pub lists: Vec<Vec<u32>>,
    /// The page visits of the pass with this number of hops, which serves all fetch costs and values.
    pub pass_visits: u64,
    /// The page visits of its picks on the first draw.
    pub page_visits: u64,
}

impl Trial {
    /// The mean of the results, in millionths, rounded towards zero.
    #[must_use]
    pub fn mean(&self) -> i64 {
        let sum: i128 = self.found.iter().copied().map(i128::from).sum();
        let mean = sum / self.found.len().max(1) as i128;
        // A mean lies between its terms.
        i64::try_from(mean).unwrap_or_default()
    }
}

/// The result of a grid search for one number of seeds and budget.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Tuning {
    /// One for each setting that was tried, in ascending order of hops, fetch cost and value of known pages, with fewer
    /// seeds of a site last.
    pub trials: Vec<Trial>,
    /// Numbers of hops that were skipped because a pass takes too many visits.
    pub left_out: Vec<u32>,
    /// The number of draws; 0 if settings were judged by known pages.
    pub draws: u32,
    /// The page visits of all passes, picks and crawls.
    pub page_visits: u64,
}

impl Tuning {
    /// The trial with the best mean among those on the most draws, the first of equals; `None` if there are
    /// no trials.
    #[must_use]
    pub fn best(&self) -> Option<&Trial> {
        let most = self.trials.iter().map(|trial| trial.found.len()).max()?;
        let mut best: Option<&Trial> = None;
        for trial in self.trials.iter().filter(|trial| trial.found.len() == most) {
            if best.is_none_or(|best| trial.mean() > best.mean()) {
                best = Some(trial);
            }
        }
        best
    }

    /// For each draw, the setting that is the best on the others, among the trials on the most draws, and its list on this
    /// draw. So a draw judges a setting that was chosen without it. Empty with fewer than two draws.
    #[must_use]
    pub fn best_without_each(&self) -> Vec<(Setting, &[u32])> {
        let draws = self.trials.iter().map(|trial| trial.found.len()).max();
        let draws = draws
            .filter(|draws| *draws > 1 && self.draws > 1)
            .unwrap_or(0);
        let complete = || {
            self.trials
                .iter()
                .filter(|trial| trial.found.len() == draws)
        };
        let others = |trial: &Trial, at: usize| -> i128 {
            let found = trial.found.iter().map(|&found| i128::from(found));
            found.sum::<i128>() - i128::from(trial.found[at])
        };
        let best = |at: usize| {
            let first_best = complete().rev().max_by_key(|trial| others(trial, at));
            first_best.and_then(|trial| Some((trial.setting, &**trial.lists.get(at)?)))
        };
        (0..draws).filter_map(best).collect()
    }
}

/// Searches the grid of a plan for each pair of a number of seeds and a budget.
///
/// Cost: a pass per draw, about 40 selections on the first draw and at most [`FINALISTS`] on each other one.
/// After `tune_visits` page visits, no further selection begins. Memory: the graph once more, a pass, and a selection and a
/// crawl for each thread.
pub(super) fn grid_search(
    web: &WebGraph,
    choice: &WebChoice,
    pairs: &[(u32, u64)],
    pool: &SearchPool,
    watch: &dyn Watch,
) -> Result<Vec<Tuning>, Interrupted> {
    let mut grid = choice.grid();
    if !web.has_sites() {
        grid.max_per_site.truncate(1);
    }
    let (limit, pass_limit) = choice.tune_limits(web.links_in_all());
    let mut search = Search {
        web,
        choice,
        pairs,
        grid: &grid,
        pool,
        crawlers: Mutex::default(),
        trials: vec![BTreeMap::new(); pairs.len()],
        visits: 0,
        has_tried: false,
        limit,
        pass_limit,
        deepest: None,
        watch,
    };
    let mut left_out = Vec::new();
    let mut draws = 0;
    for draw in 0..choice.holdouts.max(1) {
        let name = format!("try settings, {} of {}", draw + 1, choice.holdouts.max(1));
        watch.stage(&name, None);
        let held_out = match choice.holdouts {
            0 => None,
            _ => HeldOut::draw(web, choice, draw, watch)?,
        };
        // Without pages to hold out, settings are judged by known pages.
        let is_last = held_out.is_none();
        if is_last && draw > 0 {
            break;
        }
        draws += u32::from(!is_last);
        let (graph, held_out) = match held_out {
            Some((graph, held_out)) => (graph, Some(held_out)),
            None => (web.clone(), None),
        };
        let mut on = search.pass(graph, held_out)?;
        if draw == 0 {
            left_out = search.climb(&mut on)?;
        } else {
            search.repeat_best(&mut on)?;
        }
        let is_decided = (0..pairs.len()).all(|pair| search.is_decided(pair));
        if is_last || is_decided || search.is_spent() {
            break;
        }
    }
    let visits = search.visits;
    let tuning = |trials: BTreeMap<Place, Trial>| Tuning {
        trials: trials.into_values().collect(),
        left_out: left_out.clone(),
        draws,
        page_visits: visits,
    };
    Ok(search.trials.into_iter().map(tuning).collect())
}

/// Indexes into the lists of a [`Grid`]: hops, fetch cost, value of known pages, limit of the seeds of a site.
type Place = (usize, usize, usize, usize);

/// A draw with its pass.
struct Draw {
    graph: WebGraph,
    held_out: Option<HeldOut>,
    reaches: ReachByHops,
    /// The results of the settings tried on this draw, one for each pair.
    results: BTreeMap<Place, Vec<Trial>>,
}

struct Search<'a> {
    web: &'a WebGraph,
    choice: &'a WebChoice,
    pairs: &'a [(u32, u64)],
    grid: &'a Grid,
    pool: &'a SearchPool,
    /// Crawlers that are not in use.
    crawlers: Mutex<Vec<Crawler<'a>>>,
    /// By pair, the settings that a search for this pair alone tries.
    trials: Vec<BTreeMap<Place, Trial>>,
    visits: u64,
    /// Whether a setting was tried.
    has_tried: bool,
    /// The limits of visits: of all, and of a pass.
    limit: u64,
    pass_limit: u64,
    /// The greatest number of hops that is not skipped; `None` before the first draw.
    deepest: Option<u32>,
    watch: &'a dyn Watch,
}

/// Whether one of two series over the same draws is behind the other by more than twice the standard error of
/// the mean difference.
fn is_behind(found: &[i64], best: &[i64]) -> bool {
    let differences = found.iter().zip(best);
    let differences: Vec<f64> = differences.map(|(a, b)| (b - a) as f64).collect();
    Estimate::mean_of(&differences)
        .is_some_and(|of| of.standard_error.is_some_and(|error| of.mean > 2.0 * error))
}

impl<'a> Search<'a> {
    fn pass(&mut self, graph: WebGraph, held_out: Option<HeldOut>) -> Result<Draw, Interrupted> {
        // Hops given by the plan are never skipped, and the first draw decides for the others.
        let most = match (self.choice.hops, self.deepest) {
            (None, None) => self.pass_limit,
            _ => u64::MAX,
        };
        let tried = self.grid.hops.iter().copied();
        let tried = tried.filter(|&hops| self.deepest.is_none_or(|deepest| hops <= deepest));
        let deepest = tried.max().unwrap_or(0);
        let watch = Quiet(self.watch);
        let reaches = reach_by_hops(&graph, deepest, most, self.pool, &watch)?;
        self.visits += reaches.visits;
        Ok(Draw {
            graph,
            held_out,
            reaches,
            results: BTreeMap::new(),
        })
    }

    /// Tries settings on the first draw. Returns the numbers of hops that were skipped.
    fn climb(&mut self, on: &mut Draw) -> Result<Vec<u32>, Interrupted> {
        let grid = self.grid;
        let fits = |hops: &&u32| on.reaches.within(**hops).is_some();
        let fitting = grid.hops.iter().take_while(fits).count();
        let left_out = grid.hops[fitting..].to_vec();
        self.deepest = grid.hops[..fitting].last().copied();
        // Every second cost, and with few hops the least and the greatest value, and the smallest limit: all others
        // are their neighbours. With more hops selections cost more, so fewer are tried.
        let last_known = grid.values_known.len() - 1;
        let last_limit = grid.max_per_site.len() - 1;
        // If the visits do not suffice for all of them, all hops have been tried.
        let mut coarse: Vec<Place> = Vec::new();
        for (known, limit) in [(0, 0), (0, last_limit), (last_known, 0)] {
            let is_further = (known, limit) != (0, 0);
            if !is_further && !coarse.is_empty() {
                continue;
            }
            for cost in (0..grid.fetch_costs.len()).step_by(2) {
                for hops in 0..fitting {
                    if !is_further || grid.hops[hops] <= CHEAP_HOPS {
                        coarse.push((hops, cost, known, limit));
                    }
                }
            }
        }
        let mut next = vec![coarse; self.pairs.len()];
        while next.iter().any(|places| !places.is_empty()) {
            self.attempt_all(next, on)?;
            next = Vec::new();
            for pair in 0..self.pairs.len() {
                let best = self.ranked(pair).into_iter().take(CLIMBERS);
                let mut places: Vec<Place> = best
                    .flat_map(|place| self.neighbours(place, fitting))
                    .filter(|place| !self.trials[pair].contains_key(place))
                    .collect();
                places.sort_unstable();
                places.dedup();
                if self.is_spent() {
                    places.clear();
                }
                next.push(places);
            }
        }
        Ok(left_out)
    }

    /// Tries the best settings of the first draw on another one.
    fn repeat_best(&mut self, on: &mut Draw) -> Result<(), Interrupted> {
        // A search for this pair alone would have ended.
        let finalists = (0..self.pairs.len()).map(|pair| {
            if self.is_decided(pair) {
                Vec::new()
            } else {
                self.finalists(pair)
            }
        });
        let finalists: Vec<Vec<Place>> = finalists.collect();
        self.attempt_all(finalists, on)
    }

    /// The settings tried for a pair by their result on the first draw, best first; ties go to the first of
    /// the grid.
    fn ranked(&self, pair: usize) -> Vec<Place> {
        let mut trials: Vec<(&Place, &Trial)> = self.trials[pair].iter().collect();
        trials.sort_by_key(|(_, trial)| Reverse(trial.found.first()));
        trials.into_iter().map(|(place, _)| *place).collect()
    }

    /// The settings to try on another draw: the best on the first one, without those that were behind the best
    /// mean by more than twice the standard error of the difference.
    fn finalists(&self, pair: usize) -> Vec<Place> {
        let trials = &self.trials[pair];
        let draws = trials.values().map(|trial| trial.found.len()).max();
        let draws = draws.unwrap_or(0);
        let mut places: Vec<Place> = match draws {
            0 | 1 => self.ranked(pair).into_iter().take(FINALISTS).collect(),
            _ => trials
                .iter()
                .filter(|(_, trial)| trial.found.len() == draws)
                .map(|(place, _)| *place)
                .collect(),
        };
        let best = places
            .iter()
            .max_by_key(|place| (trials[place].mean(), Reverse(**place)));
        if let Some(best) = best.copied().filter(|_| draws >= DROP_AFTER) {
            places.retain(|place| !is_behind(&trials[place].found, &trials[&best].found));
        }
        places
    }

    /// Whether further draws decide nothing: one setting is left, or those that are left hardly differ.
    fn is_decided(&self, pair: usize) -> bool {
        let trials = &self.trials[pair];
        let left = self.finalists(pair);
        let draws = left.first().map_or(0, |first| trials[first].found.len());
        let means = left.iter().map(|place| trials[place].mean());
        let (least, most) = (means.clone().min(), means.max());
        let (least, most) = (least.unwrap_or(0), most.unwrap_or(0));
        left.len() < 2 || draws >= DROP_AFTER && most.saturating_sub(least) <= most / ALIKE
    }

    /// Whether no further selection begins. The first one always does.
    fn is_spent(&self) -> bool {
        self.visits >= self.limit && self.has_tried
    }

    /// The settings that differ by one step in one parameter.
    fn neighbours(&self, place: Place, fitting: usize) -> Vec<Place> {
        let (hops, cost, known, limit) = place;
        let beside = |at: usize, len: usize| {
            let lower = at.checked_sub(1);
            let higher = Some(at + 1).filter(|&at| at < len);
            lower.into_iter().chain(higher)
        };
        let grid = self.grid;
        let by_hops = beside(hops, fitting).map(|hops| (hops, cost, known, limit));
        let by_cost = beside(cost, grid.fetch_costs.len()).map(|cost| (hops, cost, known, limit));
        let by_known =
            beside(known, grid.values_known.len()).map(|known| (hops, cost, known, limit));
        let by_limit =
            beside(limit, grid.max_per_site.len()).map(|limit| (hops, cost, known, limit));
        by_hops
            .chain(by_cost)
            .chain(by_known)
            .chain(by_limit)
            .collect()
    }

    /// Adds the results of settings, by pair, to the trials of the pair.
    fn attempt_all(&mut self, places: Vec<Vec<Place>>, on: &mut Draw) -> Result<(), Interrupted> {
        // In one process, each thread selects with another setting. Several processes select with the same one together.
        let mut new: Vec<Place> = Vec::new();
        for &place in places.iter().flatten() {
            if !on.results.contains_key(&place) && !new.contains(&place) {
                new.push(place);
            }
        }
        let at_a_time = match self.web.share() {
            Some(_) => 1,
            None => rayon::current_num_threads(),
        };
        for group in new.chunks(at_a_time) {
            let tried = if let [place] = group {
                vec![self.select(*place, on)?]
            } else {
                let tried = group.par_iter().map(|&place| self.select(place, on));
                tried.collect::<Result<Vec<_>, Interrupted>>()?
            };
            // After `tune_visits`, further results do not count.
            for (&place, (trials, visits)) in group.iter().zip(tried) {
                if !self.is_spent() {
                    self.visits += visits;
                    on.results.insert(place, trials);
                    self.has_tried = true;
                }
            }
            if self.is_spent() {
                break;
            }
        }
        for (pair, places) in places.into_iter().enumerate() {
            for place in places {
                self.add(place, pair, on);
            }
        }
        Ok(())
    }

    /// Adds the result of a setting to the trials of a pair, if it was tried on this draw.
    fn add(&mut self, place: Place, pair: usize, on: &Draw) {
        let Some(result) = on.results.get(&place).and_then(|results| results.get(pair)) else {
            return;
        };
        match self.trials[pair].get_mut(&place) {
            Some(trial) => {
                trial.found.extend(&result.found);
                trial.lists.extend_from_slice(&result.lists);
            }
            None => {
                self.trials[pair].insert(place, result.clone());
            }
        }
    }

    /// Selects with one setting, and scores the crawls of all pairs. Returns the page visits too.
    fn select(&self, place: Place, on: &Draw) -> Result<(Vec<Trial>, u64), Interrupted> {
        let setting = Setting {
            hops: self.grid.hops[place.0],
            fetch_cost: self.grid.fetch_costs[place.1],
            value_known: self.grid.values_known[place.2],
            max_per_site: self.grid.max_per_site[place.3],
        };
        let Some(reach) = on.reaches.within(setting.hops) else {
            return Ok((Vec::new(), 0));
        };
        self.watch.proceed()?;
        let added = self.choice.added_to_known(setting);
        let options = GreedyOptions {
            seeds: self.pairs.iter().map(|pair| pair.0).max().unwrap_or(0),
            hops: setting.hops,
            price: setting.fetch_cost.0,
            value_known: added,
            max_per_site: setting.max_per_site,
            positive_only: self.choice.positive_only,
            fill: false,
            with_uncovered: false,
        };
        let first = FirstGains::of_reach(&on.graph, reach, options.price, added);
        let cover = greedy(&on.graph, &first, options, self.pool, self.watch)?;
        let mut crawler = self.crawler();
        let picks: Vec<u32> = cover.picks.iter().map(|pick| pick.seed.page).collect();
        let mut results = Vec::with_capacity(self.pairs.len());
        for &(seeds, budget) in self.pairs {
            let list = &picks[..picks.len().min(seeds as usize)];
            let group = self.web.group();
            let (mut fetched, mut found) = (None, Vec::new());
            for limits in self.choice.crawl.limits() {
                let crawl = crawler.crawl(limits, list, budget)?;
                fetched.get_or_insert(crawl.fetched());
                found.push(match &on.held_out {
                    Some(held_out) => {
                        held_out.found(&mut crawler, self.web, self.choice, &crawl)?
                    }
                    None => group.sum([crawl.worth(self.web)?])?[0],
                });
            }
            results.push(Trial {
                setting,
                seeds: list.len(),
                fetched: fetched.unwrap_or(0),
                found: vec![result_of_all(&found)],
                lists: vec![list.to_vec()],
                pass_visits: reach.visits,
                page_visits: cover.page_visits,
            });
        }
        let [visits] = self.web.group().total([crawler.visits])?;
        crawler.visits = 0;
        let mut idle = self.crawlers.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(crawler);
        Ok((results, cover.page_visits + visits))
    }

    /// Returns a crawler that is not in use.
    fn crawler(&self) -> Crawler<'a> {
        let mut idle = self.crawlers.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop().unwrap_or_else(|| Crawler::new(self.web))
    }
}
