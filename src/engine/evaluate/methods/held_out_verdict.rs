//! The verdict on a plan: what crawls from its list find with pages held out, and what those from the
//! baselines find.

use super::answers::{Baseline, ListKind};
use super::bank_web::BankWeb;
use super::constraints::Constraints;
use super::contenders::{Contender, worth};
use super::evaluator::{Evaluator, Figures, Grid};
use crate::engine::plan::{HeldOutVerdict, Measure, PlanOptions};
use crate::engine::refresh::Judged;
use crate::engine::{EngineError, naming};
use seedbank_algorithms::cover::global::MIN_CRAWLED_TO_HOLD_OUT;
use seedbank_algorithms::evaluate::Estimate;
use seedbank_algorithms::evaluate::harmonic::MAX_SOURCES;
use seedbank_algorithms::watch::Watch;
use seedbank_store::Store;

/// The limit of the links that all searches for harmonic centralities follow, for each draw.
const HARMONIC_VISITS: usize = 200_000_000;
/// The limit of the links of all draws together.
const DRAW_LINKS: usize = 2_200_000;
/// The fewest draws, unless fewer are requested.
const MIN_DRAWS: u32 = 3;
/// The fewest sources of harmonic centralities.
const MIN_SOURCES: usize = 64;

/// Returns the plan without a budget if all of its seeds are fetched within the budget: the order of the list
/// then makes no difference.
fn without_order(plan: &PlanOptions, seeds: u32, budget: u64) -> PlanOptions {
    let mut plan = plan.clone();
    if u64::from(seeds) <= budget {
        (plan.budget, plan.holdouts, plan.tune_visits) = (None, None, None);
    }
    plan
}

/// Compares a plan with the baselines on the current state. Returns `None` if too few pages are crawled to
/// hold some out.
///
/// The pages held out are those of [`evaluate_list`](super::evaluate_list), and others than those by which the
/// plan was tuned. Policies apply to the lists of plans over the web, without the limit on changes, and not to
/// the baselines.
///
/// Cost: the whole graph is loaded, and PageRanks and harmonic centralities are measured once for each
/// draw. Memory: that of a plan over the web, twice.
pub(crate) fn judge(
    store: &Store,
    judged: &Judged<'_>,
    watch: &dyn Watch,
) -> Result<Option<HeldOutVerdict>, EngineError> {
    let Judged {
        plan,
        seeds,
        budget,
        draws,
        ..
    } = *judged;
    let web = BankWeb::load(store, naming(&store.settings()?)?.sites, watch)?;
    let crawled = web.crawled();
    if crawled.len() < MIN_CRAWLED_TO_HOLD_OUT || seeds == 0 {
        return Ok(None);
    }
    let constraints = Constraints::new(store, &web, judged.policy, watch)?;
    let plan_selected = without_order(plan, seeds, budget);
    // The list itself is not needed, since pages are always held out.
    let mut contenders = vec![Contender::selected(
        "",
        plan_selected,
        Vec::new(),
        constraints,
    )];
    contenders.extend(Contender::baselines());
    let grid = Grid {
        seeds: vec![seeds],
        budgets: vec![budget],
    };
    let links = web.predecessors.entries().len().max(1);
    let fewer_draws = u32::try_from(DRAW_LINKS / links).unwrap_or(u32::MAX);
    let draws = draws.min(fewer_draws.max(MIN_DRAWS));
    let sources = (HARMONIC_VISITS / links).clamp(MIN_SOURCES, MAX_SOURCES);
    let worth = worth(&plan.value_parameters())?;
    let evaluator = Evaluator::new(&web, &worth, &contenders, &grid, watch)?.with_sources(sources);
    let measure = Measure::of_goal(plan.goal);
    let rng_seed = plan.rng_seed.unwrap_or(0);
    // The figures of every contender, by draw.
    let mut figures: Vec<Vec<f64>> = vec![Vec::new(); contenders.len()];
    for at in 0..draws {
        watch.stage(&format!("judge, {} of {draws}", at + 1), None);
        let observed = evaluator.observe_draw(&crawled, rng_seed, at, watch)?;
        for (contender, figures) in figures.iter_mut().enumerate() {
            figures.push(Figures::mean(observed.figures(contender, 0, 0)).by(measure));
        }
    }
    let (own, baselines) = figures.split_at(1);
    let sum = |figures: &Vec<f64>| figures.iter().sum::<f64>();
    let named = Baseline::ALL.into_iter().zip(baselines);
    assert!(
        contenders[1..]
            .iter()
            .all(|of| of.kind() == ListKind::Baseline)
    );
    // The first of equals.
    let best = named
        .rev()
        .max_by(|(_, a), (_, b)| sum(a).total_cmp(&sum(b)));
    let (Some(own), Some((baseline, best))) = (own.first(), best) else {
        return Ok(None);
    };
    let (Some(found), Some(baseline_found)) = (Estimate::mean_of(own), Estimate::mean_of(best))
    else {
        return Ok(None);
    };
    let pairs: Vec<(f64, f64)> = own.iter().copied().zip(best.iter().copied()).collect();
    Ok(Some(HeldOutVerdict {
        batch: store.counters()?.batch,
        seeds,
        budget,
        draws,
        measure,
        found,
        baseline: baseline.name().to_owned(),
        baseline_found,
        times_best_baseline: Estimate::ratio_of_means(&pairs),
    }))
}
