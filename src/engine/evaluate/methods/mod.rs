//! Seed lists side by side, by what crawls from them gather per page fetched.
//!
//! Every list is chosen on this crawl and judged by breadth-first crawls over all that the bank
//! knows. A list that is chosen with everything known can remember what it will be asked for. So
//! lists are also chosen with a tenth of the crawled pages held out, several times, and judged with
//! everything; and, where the bank has a past, chosen with what was crawled after an earlier batch
//! held out. (Of that past the bank has which pages were crawled; their links are those of today.)
//!
//! | module | what it does |
//! | --- | --- |
//! | `known` | the bank's web in memory |
//! | `held` | what is left of it while some pages are held out |
//! | `contenders` | what is compared |
//! | `choose` | the lists of plans and baselines |
//! | `judged` | what crawls from them gather |
//! | `verdict` | which plan is best, and what it loses by |

mod answers;
mod choose;
mod contenders;
mod held;
mod judged;
mod known;
#[cfg(test)]
mod tests;
mod verdict;

pub use answers::{
    Baseline, ByFetches, ComparedList, Comparison, GatheredView, ListKind, MethodsEvaluation,
    Recommended,
};

use super::answers::StateView;
use super::requests::MethodsRequest;
use super::today::state;
use crate::engine::error::ExperimentError;
use crate::engine::history::timeline::known_since;
use crate::engine::plan::PlanOptions;
use crate::engine::query::views::Views;
use crate::engine::{Bank, EngineError};
use contenders::{Chosen, Contender, worth};
use judged::{Bench, Figures, Grid, Observed, by_fetches};
use known::KnownWeb;
use seedbank_algorithms::evaluate::{Estimate, draw};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::Store;
use seedbank_store::records::BatchId;
use seedbank_store::tables;

/// One of how many crawled pages is held out.
const HELD_OUT: u32 = 10;

/// See [`Bank::evaluate_methods`].
pub(super) fn run(
    bank: &Bank,
    request: &MethodsRequest,
    watch: &dyn Watch,
) -> Result<MethodsEvaluation, EngineError> {
    let views = Views::open(bank)?;
    let store: &Store = &views.reader;
    let kept = match &request.plan {
        Some(name) => Some((name, kept_plan(store, name)?)),
        None => None,
    };
    let own = kept.as_ref().map(|(_, options)| options);
    let value = match own {
        Some(options) => request
            .value
            .clone()
            .merged_over(&options.value_parameters()),
        None => request.value.clone(),
    };
    let value = value.value_parameters();
    let mut contenders = Vec::new();
    if let Some((name, options)) = kept {
        contenders.push(Contender {
            list: format!("plan {name}"),
            chosen: Chosen::Plan(Box::new(options)),
        });
    }
    contenders.extend(Contender::plans(&value));
    contenders.extend(Contender::baselines());
    let state = state(store)?;
    let asked = Asked {
        contenders,
        value,
        seeds: request.seeds.clone(),
        budgets: request.budgets.clone(),
        draws: request.draws,
        rng_seed: request.rng_seed,
        since: request.since,
        subject: None,
    };
    let comparison = compare(&views, &state, asked, watch)?;
    Ok(MethodsEvaluation {
        state,
        recommended: verdict::recommended(&comparison.lists),
        comparison,
    })
}

/// The parameters of a plan that the bank keeps, as it was asked for: what was found by trying
/// settings on the whole web is found anew on what is left of it.
fn kept_plan(store: &Store, name: &str) -> Result<PlanOptions, EngineError> {
    let record = store.get(&tables::PLANS, &name.to_owned())?;
    let record = record.ok_or_else(|| EngineError::UnknownPlan(name.to_owned()))?;
    Ok(as_asked(PlanOptions::from_stored(&record.settings)?))
}

fn as_asked(mut options: PlanOptions) -> PlanOptions {
    options.clear_tuning();
    options
}

/// A list that is judged by itself, beside the baselines.
pub(super) struct Single<'a> {
    /// What it is called.
    pub(super) list: &'a str,
    /// The parameters of the plan that selected it; `None` for URLs that were given.
    pub(super) plan: Option<PlanOptions>,
    /// Its pages, best first.
    pub(super) pages: &'a [PageId],
    /// Whether plans of every method stand beside it, and not only baselines.
    pub(super) methods: bool,
    /// How often pages are held out.
    pub(super) draws: u32,
    pub(super) rng_seed: u64,
    /// How many pages crawls fetch; empty where that follows from the size of the crawl.
    pub(super) budgets: &'a [u64],
}

/// Judges one list beside the baselines, by the value that its plan goes by.
pub(super) fn judge_one(
    views: &Views,
    state: &StateView,
    single: &Single<'_>,
    watch: &dyn Watch,
) -> Result<Comparison, EngineError> {
    let value = single
        .plan
        .as_ref()
        .map(PlanOptions::value_parameters)
        .unwrap_or_default();
    let asked = Asked {
        contenders: Vec::new(),
        value,
        seeds: vec![seedbank_algorithms::graph::number(single.pages.len())],
        budgets: single.budgets.to_vec(),
        draws: if single.plan.is_some() {
            single.draws
        } else {
            0
        },
        rng_seed: single.rng_seed,
        since: None,
        subject: Some(single.list.to_owned()),
    };
    let web = KnownWeb::load(&views.reader, views.naming.sites, watch)?;
    let numbers = web.numbers(single.pages)?;
    let chosen = match &single.plan {
        Some(plan) => Chosen::Selected(Box::new(as_asked(plan.clone())), numbers),
        None => Chosen::Given(numbers),
    };
    let mut contenders = vec![Contender {
        list: single.list.to_owned(),
        chosen,
    }];
    if single.methods {
        contenders.extend(Contender::plans(&asked.value));
    }
    contenders.extend(Contender::baselines());
    compare_on(
        &views.reader,
        &web,
        state,
        Asked {
            contenders,
            ..asked
        },
        watch,
    )
}

/// What is to be compared, and how.
struct Asked {
    contenders: Vec<Contender>,
    value: PlanOptions,
    seeds: Vec<u32>,
    /// Empty where they follow from the size of the crawl.
    budgets: Vec<u64>,
    draws: u32,
    rng_seed: u64,
    since: Option<BatchId>,
    /// The list that is judged; `None` where that is the best plan.
    subject: Option<String>,
}

fn compare(
    views: &Views,
    state: &StateView,
    asked: Asked,
    watch: &dyn Watch,
) -> Result<Comparison, EngineError> {
    let web = KnownWeb::load(&views.reader, views.naming.sites, watch)?;
    compare_on(&views.reader, &web, state, asked, watch)
}

fn compare_on(
    store: &Store,
    web: &KnownWeb,
    state: &StateView,
    mut asked: Asked,
    watch: &dyn Watch,
) -> Result<Comparison, EngineError> {
    if asked.budgets.is_empty() {
        asked.budgets = budgets_of(state.crawled);
    }
    asked.budgets.sort_unstable();
    asked.budgets.dedup();
    asked.seeds.sort_unstable();
    asked.seeds.dedup();
    let is_nothing = asked.seeds.first().is_none_or(|&seeds| seeds == 0);
    if is_nothing || asked.budgets.first() == Some(&0) {
        return Err(ExperimentError::NoComparison.into());
    }
    if web.crawled().is_empty() {
        return Err(ExperimentError::NothingCrawled.into());
    }
    let since = since(store, web, asked.since)?;
    let grid = Grid {
        seeds: asked.seeds,
        budgets: asked.budgets,
    };
    let worth = worth(&asked.value)?;
    let bench = Bench::new(web, &worth, &asked.contenders, &grid, watch)?;
    let each = (asked.contenders.len() * grid.seeds.len() * grid.budgets.len()) as u64;
    let tell = |name: &str| watch.stage(name, Some(each));
    tell("choose and crawl");
    let known = bench.observe(&[], asked.rng_seed, watch)?;
    let crawled = web.crawled();
    let count = seedbank_algorithms::graph::number(crawled.len());
    let held_out = (count / HELD_OUT).max(1) as usize;
    let mut draws = Vec::new();
    for at in 0..asked.draws {
        tell(&format!("hold out, {} of {}", at + 1, asked.draws));
        let held = draw("held-out", asked.rng_seed, at.into(), count, held_out);
        let held: Vec<u32> = held.iter().map(|&at| crawled[at as usize]).collect();
        // Streams of their own for the baselines that draw.
        let streams = 10 * (u64::from(at) + 1);
        draws.push(bench.observe(&held, asked.rng_seed.wrapping_add(streams), watch)?);
    }
    let past = match &since {
        Some((_, pages)) => {
            tell("choose at an earlier batch");
            Some(bench.observe(pages, asked.rng_seed, watch)?)
        }
        None => None,
    };
    let told = Told {
        contenders: &asked.contenders,
        grid: &grid,
        known,
        draws,
        past,
    };
    let lists = told.lists();
    Ok(Comparison {
        value: asked.value,
        draws: asked.draws,
        held_out: held_out as u64,
        rng_seed: asked.rng_seed,
        crawled_since: since.as_ref().map(|(_, pages)| pages.len() as u64),
        since: since.map(|(batch, _)| batch),
        harmonic_is_exact: told.known.harmonic_is_exact,
        claims: verdict::claims(&lists, asked.subject.as_deref()),
        lists,
        seeds: grid.seeds,
        budgets: grid.budgets,
    })
}

/// A tenth, half and twice as many fetches as there are crawled pages, with one digit.
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

/// The batch at which lists are also chosen and the pages that were crawled since: the one asked for,
/// else the first that the bank still knows all about. `None` where nothing was crawled since.
fn since(
    store: &Store,
    web: &KnownWeb,
    asked: Option<BatchId>,
) -> Result<Option<(BatchId, Vec<u32>)>, EngineError> {
    let first = known_since(store)?.max(1);
    let last = store.counters()?.batch;
    if let Some(batch) = asked
        && !(first..last).contains(&batch)
    {
        return Err(ExperimentError::NoPast { batch, first, last }.into());
    }
    let batch = asked.unwrap_or(first);
    if batch >= last {
        return Ok(None);
    }
    let pages = web.crawled_since(store, batch)?;
    Ok((!pages.is_empty() && pages.len() < web.crawled().len()).then_some((batch, pages)))
}

/// Everything that was observed.
struct Told<'a> {
    contenders: &'a [Contender],
    grid: &'a Grid,
    known: Observed,
    draws: Vec<Observed>,
    past: Option<Observed>,
}

impl Told<'_> {
    fn lists(&self) -> Vec<ComparedList> {
        let mut lists = Vec::new();
        for (k, &seeds) in self.grid.seeds.iter().enumerate() {
            for (n, &budget) in self.grid.budgets.iter().enumerate() {
                for (at, contender) in self.contenders.iter().enumerate() {
                    let Some(known) = by_fetches(self.known.of((at, k, n))) else {
                        continue;
                    };
                    let of_draws = self.of_draws((at, k, n));
                    let past = self.past.as_ref().map(|past| past.of((at, k, n)));
                    let is_plan = contender.kind() == ListKind::Plan;
                    lists.push(ComparedList {
                        list: contender.list.clone(),
                        kind: contender.kind(),
                        parameters: contender.parameters(seeds, budget),
                        seeds,
                        listed: self.known.listed.get(&(at, k)).copied().unwrap_or(0) as u64,
                        budget,
                        known,
                        held_out: by_fetches(&of_draws),
                        since: past.and_then(by_fetches),
                        times_best_baseline: is_plan
                            .then(|| self.times_best_baseline((at, k, n)))
                            .flatten(),
                        above_baselines: is_plan
                            .then(|| self.above_baselines((at, k, n)))
                            .flatten(),
                    });
                }
            }
        }
        lists
    }

    /// One observation for each draw: the mean over the lists of a baseline that draws several.
    fn of_draws(&self, at: (usize, usize, usize)) -> Vec<Figures> {
        let of = self.draws.iter().map(|draw| draw.of(at));
        let of = of.filter(|figures| !figures.is_empty());
        of.map(Figures::mean).collect()
    }

    /// The values of a contender and of a baseline in each draw, for every baseline.
    fn beside_baselines(&self, (at, k, n): (usize, usize, usize)) -> Vec<Vec<(f64, f64)>> {
        let value = |figures: &Figures| figures.all.value;
        let own: Vec<f64> = self.of_draws((at, k, n)).iter().map(value).collect();
        let baselines = self.contenders.iter().enumerate();
        let baselines = baselines.filter(|(_, other)| other.kind() == ListKind::Baseline);
        baselines
            .map(|(other, _)| {
                let others = self.of_draws((other, k, n));
                own.iter().copied().zip(others.iter().map(value)).collect()
            })
            .collect()
    }

    fn times_best_baseline(&self, at: (usize, usize, usize)) -> Option<Estimate> {
        let sum = |pairs: &Vec<(f64, f64)>| pairs.iter().map(|pair| pair.1).sum::<f64>();
        let all = self.beside_baselines(at);
        let best = all.iter().max_by(|a, b| sum(a).total_cmp(&sum(b)))?;
        Estimate::ratio_of_means(best)
    }

    fn above_baselines(&self, at: (usize, usize, usize)) -> Option<bool> {
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
        Some(self.beside_baselines(at).iter().all(is_above))
    }
}
