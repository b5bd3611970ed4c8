//! Comparison of seed lists by what crawls from them gather per page fetched.
//!
//! Lists are selected on this crawl and evaluated by breadth-first crawls over everything that the
//! bank knows. A list selected with everything known may overfit. So lists are also selected with a
//! tenth of the crawled pages held out, several times, and evaluated with everything; and, if the
//! bank has a history, with the pages crawled after an earlier batch held out. (The history records
//! which pages were crawled; their links are the current ones.)
//!
//! | module | contents |
//! | --- | --- |
//! | `bank_web` | the bank's web in memory |
//! | `held_out` | the rest of it while pages are held out |
//! | `constraints` | the policies of a plan |
//! | `contenders` | the compared lists |
//! | `select` | selection by plans and baselines |
//! | `evaluator` | results of crawls from the lists |
//! | `verdict` | the best plan, and where baselines exceed it |
//! | `judge` | the verdict on a plan, for refreshes |

mod answers;
mod evaluator;
mod held_out;
mod select;
#[cfg(test)]
mod tests;
mod verdict;

pub(super) use evaluator::ListCrawl;
pub(super) use verdict::judge;

pub use answers::{
    Baseline, ByFetches, ComparedList, Comparison, GatheredView, ListKind, MethodsEvaluation,
    Recommended,
};

use std::sync::Arc;

use super::answers::{MethodsRequest, StateView};
use super::seed_lists::state;

use crate::engine::error::ExperimentError;
use crate::engine::history::timeline::known_since;
use crate::engine::plan::{Duplicates, Goal, Measure, PlanOptions, ValueBy};
use crate::engine::policy::LoadedPolicy;
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError};
use evaluator::{Evaluator, Figures, Grid, Observed, by_fetches};
use held_out::BankWeb;
use rayon::prelude::*;
use seedbank_algorithms::cover::global::HELD_OUT_ONE_IN;
use seedbank_algorithms::crawl_limits::Crawls;
use seedbank_algorithms::evaluate::Estimate;
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::Store;
use seedbank_store::records::BatchId;
use seedbank_store::tables;
use select::Constraints;
use select::{Contender, ListSource, new_plan, worth};

/// See [`Bank::evaluate_methods`].
pub(super) fn run(
    bank: &Bank,
    request: &MethodsRequest,
    watch: &dyn Watch,
) -> Result<MethodsEvaluation, EngineError> {
    let views = Views::open(bank)?;
    let store: &Store = &views.reader;
    let stored = match &request.plan {
        Some(name) => Some((name, stored_plan(store, name)?)),
        None => None,
    };
    let own = stored.as_ref().map(|(_, options)| options);
    // Without a plan, that of new plans.
    let of_plan = own.map(|options| options.crawl.unwrap_or_default());
    let crawls = request.crawl.or(of_plan).unwrap_or(Crawls::Panel);
    let by_pagerank = request.value.value_by == Some(ValueBy::Pagerank);
    let goal = request
        .goal
        .or(own.and_then(|options| options.goal))
        .or(by_pagerank.then_some(Goal::Importance));
    // Values that are not given are those of the plan, unless another goal is requested.
    let values = match own {
        Some(options) if request.goal.is_none() => request.value.clone().merged_over(options),
        _ => new_plan(
            request
                .value
                .clone()
                .merged_over(&goal.unwrap_or_default().parameters()),
        ),
    };
    let (value, duplicates) = (values.value_parameters(), values.duplicates);
    let mut contenders = Vec::new();
    if let Some((name, options)) = stored {
        contenders.push(Contender {
            list: format!("plan {name}"),
            source: ListSource::Plan(Box::new(options)),
            constraints: None,
        });
    }
    contenders.extend(Contender::plans(&value, crawls));
    let state = state(store)?;
    let mut resolved = ResolvedRequest {
        contenders,
        value,
        seeds: request.seeds.clone(),
        budgets: request.budgets.clone(),
        draws: request.draws,
        rng_seed: request.rng_seed,
        since: request.since,
        subject: None,
        measure: Measure::of_goal(goal, duplicates),
        duplicates,
        crawls,
    };
    let counted = duplicates.unwrap_or_default();
    let web = BankWeb::load(store, views.naming.sites, counted, &[], watch)?;
    resolved.contenders.extend(Contender::baselines(&web));
    let comparison = compare(store, &web, &state, resolved, watch)?;
    Ok(MethodsEvaluation {
        state,
        recommended: verdict::recommended(&comparison.lists, comparison.measure),
        comparison,
    })
}

/// Returns the parameters of a stored plan as requested: tuned settings are tuned again on the
/// remaining web.
fn stored_plan(store: &Store, name: &str) -> Result<PlanOptions, EngineError> {
    let record = store.get(&tables::PLANS, &name.to_owned())?;
    let record = record.ok_or_else(|| EngineError::UnknownPlan(name.to_owned()))?;
    Ok(without_tuning(PlanOptions::from_stored(&record.settings)?))
}

fn without_tuning(mut options: PlanOptions) -> PlanOptions {
    options.clear_tuning();
    options
}

/// A list that is compared with the baselines.
pub(super) struct SingleList<'a> {
    /// Its name.
    pub(super) list: &'a str,
    /// Parameters of the plan that selected it; `None` for URLs.
    pub(super) plan: Option<PlanOptions>,
    /// Its pages, best first.
    pub(super) pages: &'a [PageId],
    /// Whether it is also compared with plans of every method.
    pub(super) methods: bool,
    /// Number of times that pages are held out.
    pub(super) draws: u32,
    pub(super) rng_seed: u64,
    /// Pages that crawls fetch; if empty, derived from the size of the crawl.
    pub(super) budgets: &'a [u64],
}

/// Compares one list with the baselines, by its plan's values of pages and under its plan's policies, as
/// [`verdict::judge()`] does.
pub(super) fn evaluate_list(
    views: &Views,
    state: &StateView,
    single: &SingleList<'_>,
    watch: &dyn Watch,
) -> Result<Comparison, EngineError> {
    // The list is evaluated by the values of its plan.
    let value = single
        .plan
        .as_ref()
        .map(PlanOptions::value_parameters)
        .unwrap_or_default();
    let crawls = single.plan.as_ref().and_then(|plan| plan.crawl);
    let duplicates = single.plan.as_ref().and_then(|plan| plan.duplicates);
    let request = ResolvedRequest {
        contenders: Vec::new(),
        value,
        seeds: vec![number(single.pages.len())],
        budgets: single.budgets.to_vec(),
        draws: if single.plan.is_some() {
            single.draws
        } else {
            0
        },
        rng_seed: single.rng_seed,
        since: None,
        subject: Some(single.list.to_owned()),
        measure: Measure::of_goal(single.plan.as_ref().and_then(|plan| plan.goal), duplicates),
        duplicates,
        crawls: crawls.unwrap_or_default(),
    };
    let store = &views.reader;
    let plan = single.plan.as_ref();
    let rules = plan.map(|plan| -> Result<_, EngineError> {
        let rules = LoadedPolicy::load(store, plan.policy()?, plan.lists(), watch)?;
        rules.with_failing(store)
    });
    let rules = rules.transpose()?;
    let pins = rules.as_ref().map_or(&[][..], |rules| &rules.pins.pages);
    let counted = duplicates.unwrap_or_default();
    let web = BankWeb::load(store, views.naming.sites, counted, pins, watch)?;
    let numbers = web.numbers(single.pages)?;
    let subject = match plan.zip(rules) {
        Some((plan, rules)) => {
            let constraints = Constraints::new(store, &web, &rules, watch)?;
            let constraints = constraints.map(Arc::new);
            Contender::selected(single.list, plan.clone(), numbers, constraints)
        }
        None => Contender::given(single.list, numbers),
    };
    let mut contenders = vec![subject];
    if single.methods {
        contenders.extend(Contender::plans(&request.value, request.crawls));
    }
    contenders.extend(Contender::baselines(&web));
    compare(
        &views.reader,
        &web,
        state,
        ResolvedRequest {
            contenders,
            ..request
        },
        watch,
    )
}

/// Simulates crawls of at most `budget` fetches from each of several lists of live pages, with everything known. Values have
/// default weights, and count for every page. Returns the results by list and crawl.
///
/// Cost: the whole web is loaded and ranked; then that of the fetched pages, with lists in parallel.
pub(super) fn crawl_lists(
    views: &Views,
    lists: &[Vec<PageId>],
    crawls: Crawls,
    budget: u64,
    watch: &dyn Watch,
) -> Result<Vec<Vec<ListCrawl>>, EngineError> {
    let (store, duplicates) = (&views.reader, Duplicates::Each);
    let web = BankWeb::load(store, views.naming.sites, duplicates, &[], watch)?;
    let grid = Grid {
        seeds: Vec::new(),
        budgets: vec![budget],
    };
    let worth = worth(&web, &PlanOptions::default(), None)?;
    let evaluator = Evaluator::new(&web, &worth, &grid, watch)?;
    let evaluator = evaluator.with_crawls(crawls).with_duplicates(duplicates);
    watch.stage("crawl", Some(lists.len() as u64));
    let found = lists.par_iter().map(|list| {
        watch.proceed()?;
        let found = evaluator.crawl_list(&web.numbers(list)?, budget);
        watch.advance(1);
        Ok(found)
    });
    found.collect()
}

/// The random stream of the draws that judge lists; tuning has another one.
const HELD_OUT: &str = "held-out";

/// Resolved request of `evaluate methods`.
struct ResolvedRequest {
    contenders: Vec<Contender>,
    value: PlanOptions,
    seeds: Vec<u32>,
    /// If empty, derived from the size of the crawl.
    budgets: Vec<u64>,
    draws: u32,
    rng_seed: u64,
    since: Option<BatchId>,
    /// The evaluated list; `None` for the best plan.
    subject: Option<String>,
    measure: Measure,
    duplicates: Option<Duplicates>,
    /// The crawls from each list.
    crawls: Crawls,
}

fn compare(
    store: &Store,
    web: &BankWeb,
    state: &StateView,
    mut request: ResolvedRequest,
    watch: &dyn Watch,
) -> Result<Comparison, EngineError> {
    if request.budgets.is_empty() {
        request.budgets = budgets_of(state.crawled);
    }
    request.budgets.sort_unstable();
    request.budgets.dedup();
    request.seeds.sort_unstable();
    request.seeds.dedup();
    let is_empty = request.seeds.first().is_none_or(|&seeds| seeds == 0);
    if is_empty || request.budgets.first() == Some(&0) {
        return Err(ExperimentError::NoComparison.into());
    }
    if web.crawled().is_empty() {
        return Err(ExperimentError::NothingCrawled.into());
    }
    let since = since(store, web, request.since)?;
    let grid = Grid {
        seeds: request.seeds,
        budgets: request.budgets,
    };
    let worth = worth(web, &request.value, grid.budgets.first().copied())?;
    let evaluator = Evaluator::new(web, &worth, &grid, watch)?;
    let evaluator = evaluator.with_crawls(request.crawls);
    let evaluator = evaluator.with_duplicates(request.duplicates.unwrap_or_default());
    let cells = (request.contenders.len() * grid.seeds.len() * grid.budgets.len()) as u64;
    let start_stage = |name: &str| watch.stage(name, Some(cells));
    let contenders = &request.contenders[..];
    let stream = (HELD_OUT, request.rng_seed);
    // First with everything known, then with pages held out.
    start_stage("select and crawl");
    let known = evaluator.observe(contenders, &[], request.rng_seed, watch)?;
    let crawled = web.crawled();
    let count = number(crawled.len());
    let held_out = (count / HELD_OUT_ONE_IN).max(1);
    let mut draws = Vec::new();
    for at in 0..request.draws {
        start_stage(&format!("hold out, {} of {}", at + 1, request.draws));
        draws.push(evaluator.observe_draw(contenders, &crawled, stream, at, watch)?);
    }
    let history = match &since {
        Some((_, pages)) => {
            start_stage("select at an earlier batch");
            Some(evaluator.observe(contenders, pages, request.rng_seed, watch)?)
        }
        None => None,
    };
    let observations = Observations {
        contenders: &request.contenders,
        grid: &grid,
        measure: request.measure,
        known,
        draws,
        history,
    };
    let lists = observations.lists();
    Ok(Comparison {
        measure: request.measure,
        crawled: crawled.len() as u64,
        value: request.value,
        draws: request.draws,
        held_out: held_out.into(),
        rng_seed: request.rng_seed,
        crawled_since: since.as_ref().map(|(_, pages)| pages.len() as u64),
        since: since.map(|(batch, _)| batch),
        harmonic_is_exact: observations.known.harmonic_is_exact,
        claims: verdict::claims(&lists, request.measure, request.subject.as_deref()),
        lists,
        seeds: grid.seeds,
        budgets: grid.budgets,
    })
}

/// Returns a tenth, half and twice the number of crawled pages, rounded to one digit.
fn budgets_of(crawled: u64) -> Vec<u64> {
    let rounded = |pages: u64| {
        let mut unit = 1;
        while pages / unit >= 10 {
            unit *= 10;
        }
        ((pages + unit / 2) / unit * unit).max(1)
    };
    [crawled / 10, crawled / 2, crawled.saturating_mul(2)]
        .map(rounded)
        .to_vec()
}

/// Returns the batch for the history and the pages crawled since: the requested one, otherwise the
/// first with a complete history after it. `None` if nothing was crawled since.
fn since(
    store: &Store,
    web: &BankWeb,
    requested: Option<BatchId>,
) -> Result<Option<(BatchId, Vec<u32>)>, EngineError> {
    let first = known_since(store)?.max(1);
    let last = store.counters()?.batch;
    if let Some(batch) = requested
        && !(first..last).contains(&batch)
    {
        return Err(ExperimentError::NoPast { batch, first, last }.into());
    }
    let batch = requested.unwrap_or(first);
    if batch >= last {
        return Ok(None);
    }
    let pages = web.crawled_since(store, batch)?;
    Ok((!pages.is_empty() && pages.len() < web.crawled().len()).then_some((batch, pages)))
}

/// All results.
struct Observations<'a> {
    contenders: &'a [Contender],
    grid: &'a Grid,
    measure: Measure,
    known: Observed,
    draws: Vec<Observed>,
    history: Option<Observed>,
}

impl Observations<'_> {
    fn lists(&self) -> Vec<ComparedList> {
        let by_measure = |figures: &Figures| figures.all.by(self.measure);
        let by_value = |figures: &Figures| figures.all.value;
        let mut lists = Vec::new();
        for (k, &seeds) in self.grid.seeds.iter().enumerate() {
            for (n, &budget) in self.grid.budgets.iter().enumerate() {
                for (at, contender) in self.contenders.iter().enumerate() {
                    let Some(known) = by_fetches(self.known.figures(at, k, n)) else {
                        continue;
                    };
                    let draw_means = self.draw_means(at, k, n);
                    let history = self.history.as_ref();
                    let is_plan = contender.kind() == ListKind::Plan;
                    lists.push(ComparedList {
                        list: contender.list.clone(),
                        kind: contender.kind(),
                        parameters: contender.parameters(seeds, budget),
                        seeds,
                        listed: self.known.listed.get(&(at, k)).copied().unwrap_or(0) as u64,
                        budget,
                        known,
                        held_out: by_fetches(&draw_means),
                        since: history.and_then(|history| by_fetches(history.figures(at, k, n))),
                        times_best_baseline: is_plan
                            .then(|| self.times_best_baseline(at, k, n, &by_measure))
                            .flatten(),
                        times_best_value: is_plan
                            .then(|| self.times_best_baseline(at, k, n, &by_value))
                            .flatten(),
                        above_baselines: is_plan.then(|| self.above_baselines(at, k, n)).flatten(),
                    });
                }
            }
        }
        lists
    }

    /// Returns one result for each draw: the mean over the lists of a baseline with several.
    fn draw_means(&self, at: usize, k: usize, n: usize) -> Vec<Figures> {
        let of = self.draws.iter().map(|draw| draw.figures(at, k, n));
        let of = of.filter(|figures| !figures.is_empty());
        of.map(Figures::mean).collect()
    }

    /// Returns for every baseline the figures of a contender and of the baseline in each draw.
    fn figures_with_baselines(
        &self,
        at: usize,
        k: usize,
        n: usize,
        figure: &dyn Fn(&Figures) -> f64,
    ) -> Vec<Vec<(f64, f64)>> {
        let own: Vec<f64> = self.draw_means(at, k, n).iter().map(figure).collect();
        let baselines = self.contenders.iter().enumerate();
        let baselines = baselines.filter(|(_, other)| other.kind() == ListKind::Baseline);
        baselines
            .map(|(other, _)| {
                let others = self.draw_means(other, k, n);
                own.iter().copied().zip(others.iter().map(figure)).collect()
            })
            .collect()
    }

    fn times_best_baseline(
        &self,
        at: usize,
        k: usize,
        n: usize,
        figure: &dyn Fn(&Figures) -> f64,
    ) -> Option<Estimate> {
        let sum = |pairs: &Vec<(f64, f64)>| pairs.iter().map(|pair| pair.1).sum::<f64>();
        let all = self.figures_with_baselines(at, k, n, figure);
        let best = all.iter().max_by(|a, b| sum(a).total_cmp(&sum(b)))?;
        Estimate::ratio_of_means(best)
    }

    fn above_baselines(&self, at: usize, k: usize, n: usize) -> Option<bool> {
        if self.draws.len() < 2 {
            return None;
        }
        let is_above = |pairs: &Vec<(f64, f64)>| {
            let differences: Vec<f64> = pairs.iter().map(|(own, other)| own - other).collect();
            Estimate::mean_of(&differences).is_some_and(|difference| {
                let margin = 2.0 * difference.standard_error.unwrap_or(f64::INFINITY);
                difference.mean > margin
            })
        };
        let figure = |figures: &Figures| figures.all.by(self.measure);
        let all = self.figures_with_baselines(at, k, n, &figure);
        Some(all.iter().all(is_above))
    }
}
