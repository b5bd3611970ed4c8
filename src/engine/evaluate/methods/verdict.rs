//! The best plan, whether it exceeds every baseline, and where it does not.

use std::cmp::Ordering;
use std::fmt::Write;
use std::iter;
use std::sync::Arc;

use super::HELD_OUT;
use super::answers::{Baseline, ComparedList, GatheredView, ListKind, Recommended};
use super::evaluator::{Evaluator, Figures, Grid};
use super::held_out::BankWeb;
use super::select::{Constraints, Contender, worth};
use crate::engine::evaluate::answers::Claim;
use crate::engine::plan::{Compared, Crawls, HeldOutVerdict, ListFigures, Measure, PlanOptions};
use crate::engine::refresh::Judged;
use crate::engine::{EngineError, naming};
use rayon::prelude::*;
use seedbank_algorithms::cover::global::MIN_CRAWLED_TO_HOLD_OUT;
use seedbank_algorithms::cover::revisit::DAY;
use seedbank_algorithms::evaluate::Estimate;
use seedbank_algorithms::evaluate::harmonic::MAX_SOURCES;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::display::{counted, thousands};
use seedbank_store::Store;

/// Maximum number of differences named in a claim.
const NAMED: usize = 4;

/// Numbers of seeds and fetches.
type Cell = (u32, u64);

/// Returns the result that decides: with pages held out if there is one, otherwise with everything
/// known.
fn basis(list: &ComparedList) -> &GatheredView {
    &list.held_out.as_ref().unwrap_or(&list.known).all
}

fn cell(list: &ComparedList) -> Cell {
    (list.seeds, list.budget)
}

fn cells(lists: &[ComparedList]) -> Vec<Cell> {
    let mut cells: Vec<Cell> = lists.iter().map(cell).collect();
    cells.sort_unstable();
    cells.dedup();
    cells
}

/// Returns the list with the greatest figure, the first of equals.
fn best<'a>(
    lists: impl Iterator<Item = &'a ComparedList>,
    measure: Measure,
) -> Option<&'a ComparedList> {
    let value = |list: &ComparedList| basis(list).by(measure).mean;
    lists.fold(None, |best: Option<&ComparedList>, list| match best {
        Some(best) if value(list).total_cmp(&value(best)) != Ordering::Greater => Some(best),
        _ => Some(list),
    })
}

/// Returns the plan with the highest total share of the best figure, over all numbers of seeds and
/// fetches.
fn best_plan(lists: &[ComparedList], measure: Measure) -> Option<&str> {
    let mut names: Vec<&str> = Vec::new();
    for list in lists.iter().filter(|list| list.kind != ListKind::Baseline) {
        if !names.contains(&list.list.as_str()) {
            names.push(&list.list);
        }
    }
    let cells = cells(lists);
    let share = |name: &str| -> f64 {
        let of_cell = |&at: &Cell| {
            let here = || lists.iter().filter(|list| cell(list) == at);
            let most = basis(best(here(), measure)?).by(measure).mean;
            let own = here().find(|list| list.list == name)?;
            (most > 0.0).then(|| basis(own).by(measure).mean / most)
        };
        cells.iter().filter_map(of_cell).sum()
    };
    let mut found: Option<(&str, f64)> = None;
    for name in names {
        let share = share(name);
        if found.is_none_or(|(_, best)| share > best) {
            found = Some((name, share));
        }
    }
    found.map(|(name, _)| name)
}

/// Returns the plan with the greatest figure for each number of seeds and fetches.
pub(super) fn recommended(lists: &[ComparedList], measure: Measure) -> Vec<Recommended> {
    let of_cell = |at: Cell| {
        let plans = lists
            .iter()
            .filter(|list| cell(list) == at && list.parameters.is_some());
        let best = best(plans, measure).filter(|best| basis(best).by(measure).mean > 0.0)?;
        Some(Recommended {
            seeds: best.seeds,
            budget: best.budget,
            list: best.list.clone(),
            listed: best.listed,
            // A refresh spends more on tuning than this comparison.
            parameters: PlanOptions {
                tune_visits: None,
                ..best.parameters.clone()?
            },
        })
    };
    cells(lists).into_iter().filter_map(of_cell).collect()
}

/// Claims that the evaluated list, or else the best plan, exceeds every baseline.
pub(super) fn claims(
    lists: &[ComparedList],
    measure: Measure,
    subject: Option<&str>,
) -> Vec<Claim> {
    let Some(name) = subject.or_else(|| best_plan(lists, measure)) else {
        return Vec::new();
    };
    let own: Vec<&ComparedList> = lists.iter().filter(|list| list.list == name).collect();
    let above = own.iter().filter(|list| list.above_baselines == Some(true));
    let above = above.count();
    let is_held_out = own.iter().any(|list| list.held_out.is_some());
    let text = format!(
        "{} {}",
        gains(name, &own, above, measure, is_held_out),
        losses(lists, &own)
    );
    vec![Claim {
        claim: "above-every-baseline".to_owned(),
        holds: !own.is_empty() && above == own.len(),
        text,
    }]
}

/// Formats the range of some ratios, such as `0.98 to 1.32 times`; `None` without any.
fn range(times: impl Iterator<Item = Option<Estimate>>) -> Option<String> {
    let times: Vec<f64> = times.flatten().map(|times| times.mean).collect();
    let least = times.iter().copied().fold(f64::INFINITY, f64::min);
    let most = times.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    if times.is_empty() {
        None
    } else if (most - least).abs() < 0.005 {
        Some(format!("{least:.2} times"))
    } else {
        Some(format!("{least:.2} to {most:.2} times"))
    }
}

fn gains(
    name: &str,
    own: &[&ComparedList],
    above: usize,
    measure: Measure,
    is_held_out: bool,
) -> String {
    let how = if is_held_out {
        "selected without the pages held out"
    } else {
        "selected with everything known"
    };
    let what = match measure {
        Measure::Contents => "the distinct contents",
        Measure::Crawled => "the crawled pages",
        Measure::Discovered => "the pages seen for the first time",
        Measure::Pagerank => "the PageRank",
    };
    let figure = match range(own.iter().map(|list| list.times_best_baseline)) {
        Some(times) => format!("{times} {what} of the best baseline"),
        None => format!("{what} of the best baseline in no measurable ratio"),
    };
    let value = range(own.iter().map(|list| list.times_best_value));
    let value = value.map_or_else(String::new, |times| format!(", and {times} the best value"));
    let certain = if own.iter().any(|list| list.above_baselines.is_some()) {
        format!(
            "; more than every baseline by over two standard errors in {above} of {} cases",
            own.len()
        )
    } else {
        String::new()
    };
    format!("Per page fetched, {how}, {name} gathers {figure}{value}{certain}.")
}

/// Lists the figures in which baselines exceed the plan, the largest differences first.
fn losses(lists: &[ComparedList], own: &[&ComparedList]) -> String {
    type Figure = (&'static str, fn(&GatheredView) -> Estimate);
    // With "fewer" or "less".
    let figures: [Figure; 7] = [
        ("fewer distinct contents", |found| found.contents),
        ("fewer crawled pages", |found| found.crawled),
        ("fewer newly found contents", |found| found.new_contents),
        ("fewer newly found pages", |found| found.new_pages),
        ("fewer pages seen for the first time", |found| {
            found.discovered
        }),
        ("less PageRank", |found| found.pagerank),
        ("less value", |found| found.value),
    ];
    let mut found: Vec<(f64, String)> = Vec::new();
    for list in own {
        for (what, figure) in figures {
            let own = figure(basis(list)).mean;
            let baselines = lists
                .iter()
                .filter(|other| other.kind == ListKind::Baseline && cell(other) == cell(list));
            let best = baselines.max_by(|a, b| {
                let (a, b) = (figure(basis(a)).mean, figure(basis(b)).mean);
                a.total_cmp(&b)
            });
            let Some(best) = best else { continue };
            let most = figure(basis(best)).mean;
            if most > own && most > 0.0 {
                let fetches = if list.budget == 1 { "fetch" } else { "fetches" };
                let text = format!(
                    "{what} with {} at {} {fetches} ({:.2} times that of {})",
                    counted(list.seeds, "seed"),
                    thousands(list.budget),
                    own / most,
                    best.list
                );
                found.push((own / most, text));
            }
        }
    }
    if found.is_empty() {
        return "No baseline gathers more crawled pages, newly found pages, pages seen for the first time, PageRank or value."
            .to_owned();
    }
    found.sort_by(|a, b| a.0.total_cmp(&b.0).then_with(|| a.1.cmp(&b.1)));
    let named: Vec<&str> = found
        .iter()
        .take(NAMED)
        .map(|loss| loss.1.as_str())
        .collect();
    let mut text = format!("It gathers {}", named.join("; "));
    if found.len() > NAMED {
        // Writing to a String cannot fail.
        let _ = write!(text, "; and {} more", found.len() - NAMED);
    }
    text.push('.');
    text
}

// The verdict on a plan: what crawls from its list find with pages held out, and what those from the
// baselines find.

/// The limit of the links that all searches for harmonic centralities follow, for each draw.
const HARMONIC_VISITS: usize = 200_000_000;
/// The limit of the links of all draws together.
const DRAW_LINKS: usize = 2_200_000;
/// The limit of the links of the draws that are made at a time: each has a web of its own.
const PARALLEL_LINKS: usize = 1 << 26;
/// The fewest draws, unless fewer are requested.
const MIN_DRAWS: u32 = 3;
/// The fewest sources of harmonic centralities.
const MIN_SOURCES: usize = 64;

/// Compares a plan with the baselines on the current state. Returns `None` if too few pages are crawled to
/// hold some out.
///
/// After tuning, the draws are those of tuning, each with the setting that the other draws choose: so the error includes the
/// choice of settings. Otherwise they are those of [`evaluate_list`](super::evaluate_list). Policies apply to the lists of
/// plans over the web, without the limit on changes, and not to the baselines.
///
/// Cost: the whole graph is loaded, harmonic centralities are measured once, and PageRanks once for each draw.
/// Memory: that of a plan over the web, twice, and again for each further draw at a time.
pub(crate) fn judge(
    store: &Store,
    judged: &Judged,
    watch: &dyn Watch,
) -> Result<Option<HeldOutVerdict>, EngineError> {
    let Judged {
        plan,
        policy,
        settings,
        lists,
        ..
    } = judged;
    let (seeds, budget, draws) = (judged.seeds, judged.budget, judged.draws);
    let mode = naming(&store.settings()?)?.sites;
    let duplicates = plan.duplicates.unwrap_or_default();
    let web = BankWeb::load(store, mode, duplicates, &policy.pins.pages, watch)?;
    let crawled = web.crawled();
    if crawled.len() < MIN_CRAWLED_TO_HOLD_OUT || seeds == 0 {
        return Ok(None);
    }
    let constraints = Constraints::new(store, &web, policy, watch)?;
    let constraints = constraints.map(Arc::new);
    // The list itself is not needed while pages are held out.
    let of_plan = |plan| Contender::selected("", plan, Vec::new(), constraints.clone());
    let grid = Grid {
        seeds: vec![seeds],
        budgets: vec![budget],
    };
    let links = web.predecessors.entries().len().max(1);
    let fewer_draws = u32::try_from(DRAW_LINKS / links).unwrap_or(u32::MAX);
    let draws = draws.min(fewer_draws.max(MIN_DRAWS));
    let sources = (HARMONIC_VISITS / links).clamp(MIN_SOURCES, MAX_SOURCES);
    let worth = worth(&web, &plan.value_parameters(), Some(budget))?;
    let crawl = plan.crawl.unwrap_or_default();
    let rng_seed = plan.rng_seed.unwrap_or(0);
    let evaluator = Evaluator::new(&web, &worth, &grid, watch)?
        .with_sources(sources)
        .with_crawls(crawl)
        .with_duplicates(duplicates)
        .for_verdict(rng_seed, watch)?;
    let measure = Measure::of_goal(plan.goal, plan.duplicates);
    let stream = if settings.is_empty() { HELD_OUT } else { TUNE };
    let in_draw = 1 + Contender::baselines(&web).count() as u64;
    // The figures of the plan and of every baseline on a draw.
    let of_draw = |at: u32| -> Result<Vec<Figures>, EngineError> {
        let own = match (settings.get(at as usize), lists.get(at as usize)) {
            (_, Some(list)) => Contender::of_draw(web.numbers(list)?),
            (Some(setting), None) => of_plan(plan.clone().with(*setting)),
            (None, None) => of_plan(plan.clone()),
        };
        let contenders: Vec<Contender> =
            iter::once(own).chain(Contender::baselines(&web)).collect();
        let stream = (stream, rng_seed);
        let observed = evaluator.observe_draw(&contenders, &crawled, stream, at, watch)?;
        let mean = |contender| Figures::mean(observed.figures(contender, 0, 0));
        Ok((0..contenders.len()).map(mean).collect())
    };
    watch.stage("judge", Some(u64::from(draws) * in_draw));
    let at_a_time = (PARALLEL_LINKS / links).clamp(1, rayon::current_num_threads());
    let mut figures: Vec<Vec<Figures>> = Vec::new();
    let all: Vec<u32> = (0..draws).collect();
    for some in all.chunks(at_a_time) {
        let found: Result<Vec<_>, EngineError> = some.par_iter().map(|at| of_draw(*at)).collect();
        figures.extend(found?);
    }
    let by = |figure: &dyn Fn(&Figures) -> Option<f64>| compared(&figures, figure);
    let Some(of_crawl) = by(&|figures| Some(figures.all.by(measure))) else {
        return Ok(None);
    };
    let is_breadth_first = crawl == Crawls::default();
    let breadth_first = |figures: &Figures| Some(figures.breadth_first.by(measure));
    let mut list = None;
    // With everything known, nothing is seen for the first time.
    if measure != Measure::Discovered {
        let given = Contender::given("", web.numbers(&judged.list)?);
        let baseline = of_crawl.baseline.as_str();
        let by = (measure, rng_seed);
        list = Some(of_lists(&evaluator, given, baseline, by, watch)?);
    }
    let Compared {
        found,
        baseline,
        baseline_found,
        times_best_baseline,
    } = of_crawl;
    Ok(Some(HeldOutVerdict {
        batch: store.counters()?.batch,
        age_batches: 0,
        seeds,
        budget,
        crawl,
        whole_after: worth
            .revisits
            .period()
            .map(|seconds| seconds as f64 / DAY as f64),
        draws,
        measure,
        list,
        found,
        baseline,
        baseline_found,
        times_best_baseline,
        new: by(&|figures| figures.all.new_by(measure)),
        breadth_first: (!is_breadth_first).then(|| by(&breadth_first)).flatten(),
    }))
}

/// The random stream of the draws of tuning.
const TUNE: &str = "tune";

/// Compares the plan, the first contender of each draw, with the baselines after it. Returns `None` without draws, or if the
/// figures have no such number.
fn compared(draws: &[Vec<Figures>], figure: &dyn Fn(&Figures) -> Option<f64>) -> Option<Compared> {
    let of = |contender: usize| -> Option<Vec<f64>> {
        draws.iter().map(|of| figure(of.get(contender)?)).collect()
    };
    let own = of(0)?;
    let baselines = Baseline::ALL.into_iter().zip(1..);
    let baselines = baselines.filter_map(|(baseline, at)| Some((baseline, of(at)?)));
    let sum = |figures: &[f64]| figures.iter().sum::<f64>();
    // The first of equals.
    let all: Vec<(Baseline, Vec<f64>)> = baselines.collect();
    let best = all.into_iter().rev();
    let (baseline, best) = best.max_by(|(_, a), (_, b)| sum(a).total_cmp(&sum(b)))?;
    let pairs: Vec<(f64, f64)> = own.iter().copied().zip(best.iter().copied()).collect();
    Some(Compared {
        found: Estimate::mean_of(&own)?,
        baseline: baseline.name().to_owned(),
        baseline_found: Estimate::mean_of(&best)?,
        times_best_baseline: Estimate::ratio_of_means(&pairs),
    })
}

/// Returns what crawls find from a list and from that of a baseline, with everything known.
fn of_lists(
    evaluator: &Evaluator<'_>,
    list: Contender,
    baseline: &str,
    (measure, rng_seed): (Measure, u64),
    watch: &dyn Watch,
) -> Result<ListFigures, EngineError> {
    watch.stage("judge the list", None);
    let baseline = Contender::baselines(evaluator.web()).filter(|of| of.list == baseline);
    let contenders: Vec<Contender> = iter::once(list).chain(baseline).collect();
    let observed = evaluator.observe(&contenders, &[], rng_seed, watch)?;
    let found = |contender| {
        let figures = Figures::mean(observed.figures(contender, 0, 0));
        figures.all.by(measure)
    };
    Ok(ListFigures {
        found: found(0),
        baseline_found: found(1),
    })
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
