//! Compared lists: plans of every method, a plan of the bank, and baselines.

use super::answers::{Baseline, ListKind};
use super::held_out::Worth;
use crate::engine::EngineError;
use crate::engine::plan::ValueBy;
use crate::engine::plan::{Method, Plan, PlanOptions, Scope};
use seedbank_algorithms::cover;

/// A compared list, before it is selected.
#[derive(Clone, Debug)]
pub(super) struct Contender {
    pub(super) list: String,
    pub(super) source: ListSource,
}

/// Source of a list.
#[derive(Clone, Debug)]
pub(super) enum ListSource {
    Plan(Box<PlanOptions>),
    /// A plan with these parameters if pages are held out; its seeds from a refresh if everything
    /// is known.
    Selected(Box<PlanOptions>, Vec<u32>),
    Given(Vec<u32>),
    Baseline(Baseline),
}

impl Contender {
    pub(super) fn baselines() -> impl Iterator<Item = Self> {
        Baseline::ALL.into_iter().map(|baseline| Self {
            list: baseline.name().to_owned(),
            source: ListSource::Baseline(baseline),
        })
    }

    /// Returns a plan of every method, with these values of pages.
    pub(super) fn plans(value: &PlanOptions) -> Vec<Self> {
        let mut plans = Vec::new();
        let plan = |list: &str, options: PlanOptions| Self {
            list: list.to_owned(),
            source: ListSource::Plan(Box::new(options)),
        };
        let over_web = |method: cover::Method, value: &PlanOptions| PlanOptions {
            method: Some(Method::Cover(method)),
            scope: Some(Scope::Web),
            // Replaced by each number of fetches.
            budget: (method == cover::Method::Greedy).then_some(1),
            ..value.clone()
        };
        plans.push(plan(
            "greedy over the web",
            over_web(cover::Method::Greedy, value),
        ));
        // The other kind of value, evaluated by the requested one.
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
        match self.source {
            ListSource::Plan(_) | ListSource::Selected(..) => ListKind::Plan,
            ListSource::Given(_) => ListKind::Given,
            ListSource::Baseline(_) => ListKind::Baseline,
        }
    }

    /// Returns the parameters of a plan for these numbers of seeds and fetches.
    pub(super) fn parameters(&self, seeds: u32, budget: u64) -> Option<PlanOptions> {
        match &self.source {
            ListSource::Plan(options) => Some(with_size(options, seeds, budget)),
            // A plan of the bank has its own number of seeds, of which the first are taken.
            ListSource::Selected(options, _) => Some((**options).clone()),
            ListSource::Given(_) | ListSource::Baseline(_) => None,
        }
    }

    /// Returns the parameters of a plan that depends on the number of fetches; `None` for other
    /// lists.
    pub(super) fn budget_plan(&self) -> Option<&PlanOptions> {
        match &self.source {
            ListSource::Plan(options) if options.budget.is_some() => Some(options),
            _ => None,
        }
    }

    /// Returns whether a list with fewer seeds is a prefix of one with more. It is not if seeds are
    /// shared out over sites, or if the limit of a site depends on their number.
    pub(super) fn is_prefix_stable(&self) -> bool {
        match &self.source {
            ListSource::Plan(options) => {
                let by_cores = options.method.unwrap_or_default() == Method::Cores;
                by_cores || options.scope == Some(Scope::Web)
            }
            ListSource::Selected(..) | ListSource::Given(_) => true,
            ListSource::Baseline(baseline) => *baseline != Baseline::CommonCrawl,
        }
    }
}

fn with_size(options: &PlanOptions, seeds: u32, budget: u64) -> PlanOptions {
    PlanOptions {
        seeds: Some(seeds),
        budget: options.budget.map(|_| budget),
        ..options.clone()
    }
}

/// Returns the values of pages by [`PlanOptions::value_parameters`].
pub(super) fn worth(value: &PlanOptions) -> Result<Worth, EngineError> {
    let plan = PlanOptions {
        method: Some(Method::Cover(cover::Method::Greedy)),
        scope: Some(Scope::Web),
        ..value.clone()
    };
    match plan.resolve()? {
        Plan::Web(choice) => Ok(super::select::worth_of_web(&choice)),
        Plan::Cores(_) | Plan::Cover(_) => Err(EngineError::Internal(
            "a plan over the web was decided to be another one",
        )),
    }
}
