//! `evaluate methods --next`: how many new pages lists would have found after each of the last batches.
//!
//! A list is chosen with what was known after a batch, and replayed over the three batches after it. In the
//! closed loop, each list crawls once for every batch and knows only what its own crawls found.

mod answers;
mod list_selection;
mod replay;
mod timeline;

pub use answers::{NewPages, NextComparison, NextEvaluation, NextList, NextRow, NextVerdict};

use super::current_state;
use crate::engine::error::ExperimentError;
use crate::engine::ingest::KEPT_BATCHES;
use crate::engine::query::views::Views;
use crate::engine::{Bank, Result};
use list_selection::{KnownWeb, SETTINGS, Terms};
use replay::{Content, closed_loop};
use seedbank_algorithms::evaluate::fetch_simulator::{FetchedWithin, Gathered, KnownBefore};
use seedbank_algorithms::statistics::Estimate;
use seedbank_algorithms::watch::Watch;
use timeline::Timeline;

/// The number of batches over which a list is replayed.
const REPLAYED: usize = 3;

/// With fewer days, nothing is decided.
const MIN_DAYS: u64 = 10;

/// Request of [`Bank::evaluate_next`].
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NextRequest {
    /// Number of seeds of each list.
    pub seeds: u32,
    /// Number of fetches of each crawl; `None` for five for each seed.
    pub budget: Option<u64>,
    /// The number of days before the last fetch in the bank within which a fetched page cannot be a seed.
    pub rest: u32,
    /// The seed of random draws.
    pub rng_seed: u64,
}

impl Default for NextRequest {
    fn default() -> Self {
        Self {
            seeds: 20,
            budget: None,
            rest: 0,
            rng_seed: 0,
        }
    }
}

impl Bank {
    /// Compares how many new pages crawls from several lists would have found, among them that of the goal
    /// discovery with learned values. Uses at most the last 40 batches, which keep what they overwrote.
    ///
    /// Fails if there are fewer than five such batches.
    ///
    /// Cost: loading the graph; for each batch and list a selection and two crawls.
    pub fn evaluate_next(&self, request: &NextRequest) -> Result<NextEvaluation> {
        let watch = self.watch();
        let views = Views::open(self)?;
        let store = &views.reader;
        let state = current_state::state(store)?;
        let timeline = Timeline::load(store, KEPT_BATCHES, watch)?;
        // The first batch is only learned from, and the last ones are only replayed.
        if timeline.steps.len() < REPLAYED + 2 {
            let batches = timeline.steps.len() as u64;
            return Err(ExperimentError::TooFewBatches { batches }.into());
        }
        let budget = request.budget.unwrap_or(5 * u64::from(request.seeds));
        let terms = Terms {
            seeds: request.seeds,
            budget,
            rest: request.rest,
            rng_seed: request.rng_seed,
        };
        let replayed = replay_days(&timeline, terms, watch)?;
        watch.stage("crawl in a closed loop", Some(NextList::ALL.len() as u64));
        let mut in_loop = Vec::new();
        for list in NextList::ALL {
            let days = closed_loop(&timeline, list, &replayed.settings, terms, watch)?;
            in_loop.push(days);
            watch.advance(1);
        }
        let mean = |sum: u64, days: usize| sum as f64 / days.max(1) as f64;
        let rows = NextList::ALL.iter().enumerate().map(|(at, list)| {
            let of_list: Vec<&FetchedWithin> = replayed.days.iter().map(|day| &day[at]).collect();
            let new_pages = |of: fn(&FetchedWithin) -> &Gathered| NewPages {
                found: mean(
                    of_list.iter().map(|day| of(day).discovered).sum(),
                    of_list.len(),
                ),
                fetched: mean(of_list.iter().map(|day| of(day).new).sum(), of_list.len()),
            };
            let days = &in_loop[at];
            NextRow {
                list: *list,
                replayed: new_pages(|day| &day.all),
                replayed_crawled: new_pages(|day| &day.of_crawled),
                closed_loop: NewPages {
                    found: mean(days.iter().map(|day| day.found).sum(), days.len()),
                    fetched: mean(days.iter().map(|day| day.fetched).sum(), days.len()),
                },
            }
        });
        let rows = rows.collect();
        let found_of = |at: usize| replayed.days.iter().map(move |day| day[at].all.discovered);
        let found: Vec<Vec<u64>> = (0..NextList::ALL.len())
            .map(|at| found_of(at).collect())
            .collect();
        let found_in_loop: Vec<Vec<u64>> = in_loop
            .iter()
            .map(|days| days.iter().map(|day| day.found).collect())
            .collect();
        let batches: Vec<_> = timeline.steps.iter().map(|step| step.batch).collect();
        Ok(NextEvaluation {
            state,
            seeds: request.seeds,
            budget,
            rest: request.rest,
            rng_seed: request.rng_seed,
            batches: batches[..replayed.days.len()].to_vec(),
            batches_in_loop: batches,
            rows,
            replayed: compare(&found),
            closed_loop: compare(&found_in_loop),
        })
    }
}

struct Replayed {
    /// For each day the results of all lists.
    days: Vec<Vec<FetchedWithin>>,
    /// The setting of the list for coverage by batch, chosen on the batch before.
    settings: Vec<usize>,
}

/// Chooses all lists after each batch but the last ones, and replays them over the batches after it.
fn replay_days(timeline: &Timeline, terms: Terms, watch: &dyn Watch) -> Result<Replayed> {
    let steps = &timeline.steps;
    watch.stage("choose and replay", Some(steps.len() as u64));
    let mut known = timeline.start.clone();
    let mut days = Vec::new();
    let mut settings = vec![0];
    for (day, step) in (0_u64..).zip(steps) {
        watch.proceed()?;
        // The best setting on this batch is that of the next list.
        let best = best_setting(&known, step, terms, day, watch)?;
        known.apply(step);
        settings.push(best);
        let after = &steps[days.len() + 1..];
        if after.len() >= REPLAYED && days.len() as u64 == day {
            let content = Content::new(&known, &after[..REPLAYED]);
            let before = KnownBefore {
                new: content.unseen(),
                unseen: content.unseen(),
            };
            let web = KnownWeb::new(&known, terms);
            let mut simulator = content.simulator();
            let mut of_day = Vec::new();
            for list in NextList::ALL {
                let seeds = web.seeds(list, best, day, watch)?;
                let crawl = simulator.crawl(&seeds, &[terms.budget], before);
                of_day.push(crawl.first().copied().unwrap_or_default());
            }
            days.push(of_day);
        }
        watch.advance(1);
    }
    settings.truncate(steps.len());
    Ok(Replayed { days, settings })
}

/// Returns the setting whose list, chosen before a batch, finds the most in that batch; the first of equals.
fn best_setting(
    known: &timeline::Knowledge,
    step: &timeline::Step,
    terms: Terms,
    day: u64,
    watch: &dyn Watch,
) -> Result<usize> {
    let content = Content::new(known, std::slice::from_ref(step));
    let before = KnownBefore {
        new: content.unseen(),
        unseen: content.unseen(),
    };
    let web = KnownWeb::new(known, terms);
    let mut simulator = content.simulator();
    let (mut best, mut most) = (0, None);
    for setting in 0..SETTINGS.len() {
        let seeds = web.seeds(NextList::Coverage, setting, day, watch)?;
        let crawl = simulator.crawl(&seeds, &[terms.budget], before);
        let found = crawl.first().map_or(0, |within| within.all.discovered);
        if most.is_none_or(|most| found > most) {
            (best, most) = (setting, Some(found));
        }
    }
    Ok(best)
}

/// Compares the first list with the baseline that found the most. `found` has the pages found by list and day.
fn compare(found: &[Vec<u64>]) -> NextComparison {
    let total = |at: usize| found[at].iter().sum::<u64>();
    let lists = NextList::ALL.iter().enumerate();
    let baselines = lists.filter(|(_, list)| list.is_baseline());
    // The first of equals.
    let best = baselines.fold(
        None,
        |best: Option<(usize, NextList)>, (at, list)| match best {
            Some((other, _)) if total(other) >= total(at) => best,
            _ => Some((at, *list)),
        },
    );
    let (best, baseline) = best.unwrap_or((0, NextList::Learned));
    let pairs: Vec<(f64, f64)> = found[0]
        .iter()
        .zip(&found[best])
        .map(|(own, other)| (*own as f64, *other as f64))
        .collect();
    let logs: Vec<f64> = pairs
        .iter()
        .map(|(own, other)| ((own + 0.5) / (other + 0.5)).ln())
        .collect();
    let ratio = Estimate::ratio_of_means(&pairs);
    let log_day_ratio = Estimate::mean_of(&logs);
    let days = pairs.len() as u64;
    let sum: f64 = pairs.iter().map(|pair| pair.0).sum();
    let largest = pairs.iter().map(|pair| pair.0).fold(0.0, f64::max);
    NextComparison {
        baseline,
        days,
        won: pairs.iter().filter(|(own, other)| own > other).count() as u64,
        day_ratio: log_day_ratio.map(|log| log.mean.exp()),
        verdict: verdict(days, ratio, log_day_ratio),
        ratio,
        log_day_ratio,
        largest_day: if sum > 0.0 { largest / sum } else { 0.0 },
    }
}

fn verdict(days: u64, ratio: Option<Estimate>, log: Option<Estimate>) -> NextVerdict {
    let (Some(ratio), Some(log)) = (ratio, log) else {
        return NextVerdict::Undecided;
    };
    let error = log.standard_error.unwrap_or(f64::INFINITY);
    if days < MIN_DAYS || log.mean.abs() <= error {
        NextVerdict::Undecided
    } else if ratio.mean > 1.0 && log.mean > 0.0 {
        NextVerdict::Better
    } else if ratio.mean < 1.0 && log.mean < 0.0 {
        NextVerdict::Worse
    } else {
        NextVerdict::Undecided
    }
}

#[cfg(test)]
#[path = "tests.rs"]
mod tests;
