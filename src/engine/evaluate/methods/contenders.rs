//! Compared lists: plans for every goal and of every method, a plan of the bank, and baselines.

use std::convert::Infallible;
use std::rc::Rc;

use super::answers::{Baseline, ListKind};
use super::constraints::Constraints;
use super::held_out::Worth;
use crate::engine::EngineError;
use crate::engine::plan::{Goal, Method, PlanOptions, ResolvedPlan, Scope};
use seedbank_algorithms::cover;
use seedbank_algorithms::cover::global::TUNE_VISITS;

/// A compared list, before it is selected.
#[derive(Clone)]
pub(super) struct Contender {
    pub(super) list: String,
    pub(super) source: ListSource,
    /// The policies of its plan; `None` if it has none or they are not applied.
    pub(super) constraints: Option<Rc<Constraints>>,
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
            constraints: None,
        })
    }

    /// Returns a plan with its seeds, best first, and its policies. The setting of a tuned plan is compared,
    /// not another tuning.
    pub(super) fn selected(
        list: &str,
        plan: PlanOptions,
        seeds: Vec<u32>,
        constraints: Option<Constraints>,
    ) -> Self {
        Self {
            list: list.to_owned(),
            source: ListSource::Selected(Box::new(plan), seeds),
            constraints: constraints.map(Rc::new),
        }
    }

    /// Returns a plan for every goal and for every other method, with these values of pages. The goals
    /// discovery and importance have their own.
    pub(super) fn plans(value: &PlanOptions) -> Vec<Self> {
        let plan = |list: &str, options: PlanOptions| {
            let mut options = new_plan(options);
            // As a refresh tunes, but not longer on a web with more links: plans are tuned each time that pages are
            // held out.
            options.tune_visits = options.budget.map(|_| TUNE_VISITS);
            Self {
                list: list.to_owned(),
                source: ListSource::Plan(Box::new(options)),
                constraints: None,
            }
        };
        // Parameters that only plans over the web have.
        let of_site = PlanOptions {
            value_by: None,
            value_known: None,
            ..value.clone()
        };
        let of_goal = |goal: Goal| {
            let parameters = goal.parameters();
            let options = match goal {
                Goal::Coverage => value.clone().merged_over(&parameters),
                Goal::Sites => of_site.clone().merged_over(&parameters),
                Goal::Discovery | Goal::Importance | Goal::Communities => parameters,
            };
            plan(goal.name(), options)
        };
        let mut plans: Vec<Self> = Goal::ALL.into_iter().map(of_goal).collect();
        for method in [cover::Method::MaxWeight, cover::Method::MaxOut] {
            let options = PlanOptions {
                method: Some(Method::Cover(method)),
                scope: Some(Scope::Web),
                ..value.clone()
            };
            plans.push(plan(&format!("{} over the web", method.name()), options));
        }
        let methods = cover::Method::ALL.into_iter().rev();
        // Max-weight per site is the goal sites.
        let methods = methods.filter(|&of| !of.is_baseline() && of != cover::Method::MaxWeight);
        for method in methods {
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
            ListSource::Plan(options) if options.budget.is_some() && self.constraints.is_none() => {
                Some(options)
            }
            _ => None,
        }
    }

    /// Returns whether a list with fewer seeds is a prefix of one with more. It is not if seeds are
    /// distributed over sites, or if the limit of a site depends on their number.
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

/// Completes the parameters of a new plan. The budget is replaced by each number of fetches.
pub(super) fn new_plan(options: PlanOptions) -> PlanOptions {
    let any_budget = || Ok::<u64, Infallible>(1);
    options
        .complete_new(any_budget)
        .unwrap_or_else(|never| match never {})
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
        ResolvedPlan::Web(choice) => Ok(super::select::worth_of_web(&choice)),
        ResolvedPlan::Cores(_) | ResolvedPlan::Cover(_) => Err(EngineError::Internal(
            "a plan over the web was decided to be another one",
        )),
    }
}
