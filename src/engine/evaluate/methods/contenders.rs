//! What is compared: plans of every method, a plan that the bank keeps, and baselines.

use super::answers::{Baseline, ListKind};
use super::held::Worth;
use crate::engine::EngineError;
use crate::engine::plan::ValueBy;
use crate::engine::plan::{Method, Plan, PlanOptions, Scope};
use seedbank_algorithms::cover;

/// One of the lists that are compared, before it is chosen.
#[derive(Clone, Debug)]
pub(super) struct Contender {
    pub(super) list: String,
    pub(super) chosen: Chosen,
}

/// How a list comes about.
#[derive(Clone, Debug)]
pub(super) enum Chosen {
    /// By a plan with these parameters.
    Plan(Box<PlanOptions>),
    /// By a plan with these parameters where pages are held out; with everything that is known these
    /// are its seeds, which a refresh selected.
    Selected(Box<PlanOptions>, Vec<u32>),
    /// These pages were given, whatever is held out.
    Given(Vec<u32>),
    /// By a baseline.
    Baseline(Baseline),
}

impl Contender {
    pub(super) fn baselines() -> impl Iterator<Item = Self> {
        Baseline::ALL.into_iter().map(|baseline| Self {
            list: baseline.name().to_owned(),
            chosen: Chosen::Baseline(baseline),
        })
    }

    /// A plan of every method, with pages worth what `value` says.
    pub(super) fn plans(value: &PlanOptions) -> Vec<Self> {
        let mut plans = Vec::new();
        let plan = |list: &str, options: PlanOptions| Self {
            list: list.to_owned(),
            chosen: Chosen::Plan(Box::new(options)),
        };
        let over_web = |method: cover::Method, value: &PlanOptions| PlanOptions {
            method: Some(Method::Cover(method)),
            scope: Some(Scope::Web),
            // Made anew for each number of fetches.
            budget: (method == cover::Method::Greedy).then_some(1),
            ..value.clone()
        };
        plans.push(plan(
            "greedy over the web",
            over_web(cover::Method::Greedy, value),
        ));
        // The other kind of value, judged by the one that was asked for.
        let (other, by) = match value.value_by.unwrap_or_default() {
            ValueBy::Weights => (ValueBy::Pagerank, "greedy, by PageRank"),
            ValueBy::Pagerank => (ValueBy::Weights, "greedy, by weights"),
        };
        let other = PlanOptions {
            value_by: Some(other),
            ..value.clone()
        };
        plans.push(plan(by, over_web(cover::Method::Greedy, &other)));
        for method in [cover::Method::MaxWeight, cover::Method::MaxOut] {
            let list = format!("{} over the web", method.name());
            plans.push(plan(&list, over_web(method, value)));
        }
        plans.push(plan("cores", PlanOptions::default()));
        let of_site = PlanOptions {
            value_by: None,
            value_known: None,
            ..value.clone()
        };
        let methods = cover::Method::ALL.into_iter().rev();
        for method in methods.filter(|method| !method.is_baseline()) {
            let options = PlanOptions {
                method: Some(Method::Cover(method)),
                ..of_site.clone()
            };
            plans.push(plan(&format!("{} per site", method.name()), options));
        }
        plans
    }

    pub(super) fn kind(&self) -> ListKind {
        match self.chosen {
            Chosen::Plan(_) | Chosen::Selected(..) => ListKind::Plan,
            Chosen::Given(_) => ListKind::Given,
            Chosen::Baseline(_) => ListKind::Baseline,
        }
    }

    /// The parameters with which a plan chooses so many seeds for so many fetches.
    pub(super) fn parameters(&self, seeds: u32, budget: u64) -> Option<PlanOptions> {
        match &self.chosen {
            Chosen::Plan(options) => Some(asked(options, seeds, budget)),
            // A plan of the bank has its own number of seeds, of which the first are taken.
            Chosen::Selected(options, _) => Some((**options).clone()),
            Chosen::Given(_) | Chosen::Baseline(_) => None,
        }
    }

    /// The parameters of a plan that is made anew for each number of fetches; `None` for other lists.
    pub(super) fn for_budgets(&self) -> Option<&PlanOptions> {
        match &self.chosen {
            Chosen::Plan(options) if options.budget.is_some() => Some(options),
            _ => None,
        }
    }

    /// Whether a list with fewer seeds is the beginning of one with more: not where seeds are shared
    /// out over sites, nor where a site may give more seeds of more.
    pub(super) fn begins_alike(&self) -> bool {
        match &self.chosen {
            Chosen::Plan(options) => {
                let by_cores = options.method.unwrap_or_default() == Method::Cores;
                by_cores || options.scope == Some(Scope::Web)
            }
            Chosen::Selected(..) | Chosen::Given(_) => true,
            Chosen::Baseline(baseline) => *baseline != Baseline::CommonCrawl,
        }
    }
}

/// The parameters of a plan, made for so many seeds and fetches.
fn asked(options: &PlanOptions, seeds: u32, budget: u64) -> PlanOptions {
    PlanOptions {
        seeds: Some(seeds),
        budget: options.budget.map(|_| budget),
        ..options.clone()
    }
}

/// What pages are worth by [`PlanOptions::values`].
pub(super) fn worth(value: &PlanOptions) -> Result<Worth, EngineError> {
    let plan = PlanOptions {
        method: Some(Method::Cover(cover::Method::Greedy)),
        scope: Some(Scope::Web),
        ..value.clone()
    };
    match plan.resolve()? {
        Plan::Web(choice) => Ok(super::choose::worth_of_web(&choice)),
        Plan::Cores(_) | Plan::Cover(_) => Err(EngineError::Internal(
            "a plan over the web was decided to be another one",
        )),
    }
}
