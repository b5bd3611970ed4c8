//! Goals: named sets of plan parameters.

use std::convert::Infallible;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::parameter::{Section, TakenBy};
use super::{Crawls, Duplicates, Method, Parameter, PlanOptions, Revisit, Scope};
use seedbank_algorithms::cores::Hits;
use seedbank_algorithms::cover::global::{Objective, ValueBy};
use seedbank_algorithms::cover::{self, Value};
use seedbank_algorithms::slack::Slack;

/// What a crawl from the seeds is for: a named set of plan parameters.
#[derive(
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Debug,
    Default,
    Serialize,
    Deserialize,
    JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Goal {
    /// Fetch pages worth having: crawled ones except spam, and those not crawled yet, which have a
    /// tuned value.
    #[default]
    Coverage,
    /// Find pages that were not known before.
    Discovery,
    /// Fetch pages of high PageRank.
    Importance,
    /// Start from every dense group of pages that spans several sites.
    Communities,
    /// Fetch pages of value on each site separately.
    Sites,
}

impl Goal {
    /// All goals.
    pub const ALL: [Self; 5] = [
        Self::Coverage,
        Self::Discovery,
        Self::Importance,
        Self::Communities,
        Self::Sites,
    ];

    /// The failed fetches that keep a page from being a seed. A single one never does.
    pub(super) const MAX_FAILURES: u32 = 3;

    /// Returns the name in plans and on the command line.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Coverage => "coverage",
            Self::Discovery => "discovery",
            Self::Importance => "importance",
            Self::Communities => "communities",
            Self::Sites => "sites",
        }
    }

    /// Returns the parameters that the goal sets. Other parameters have their defaults.
    #[must_use]
    pub fn parameters(self) -> PlanOptions {
        let over_web = PlanOptions {
            method: Some(Method::Cover(cover::Method::Greedy)),
            scope: Some(Scope::Web),
            ..PlanOptions::default()
        };
        let parameters = match self {
            // Pages count, not clicks; spam is worth nothing. A list for uncrawled pages alone
            // leads to the edge of the known web, where a crawl finds little else. So discovery has
            // the same values and tunes the value of these pages, by the pages that were not known
            // before.
            Self::Coverage | Self::Discovery => PlanOptions {
                value_spam: Some(Value(0)),
                value_clicked: Some(Value::units(1)),
                ..over_web
            },
            Self::Importance => PlanOptions {
                value_by: Some(ValueBy::Pagerank),
                ..over_web
            },
            Self::Communities => PlanOptions {
                method: Some(Method::Cores),
                min_hub_sites: Some(2),
                ..PlanOptions::default()
            },
            Self::Sites => PlanOptions {
                method: Some(Method::Cover(cover::Method::MaxWeight)),
                depth: Some(2),
                ..PlanOptions::default()
            },
        };
        PlanOptions {
            goal: Some(self),
            max_failures: Some(Self::MAX_FAILURES),
            ..parameters
        }
    }

    /// Returns the measure by which hops, fetch cost and value of known pages are tuned.
    pub(super) const fn objective(self) -> Objective {
        match self {
            Self::Discovery => Objective::Discovery,
            _ => Objective::Value,
        }
    }
}

impl PlanOptions {
    /// Completes the parameters of a new plan: adds those of its goal, and the defaults that only new
    /// plans have. A plan that stores its parameters keeps them when defaults change.
    ///
    /// Without a goal or a method, the goal is coverage, unless a parameter of the method cores is given.
    /// `budget` returns the budget of a plan that is tuned for one and has none.
    pub(crate) fn complete_new<E>(
        mut self,
        budget: impl FnOnce() -> Result<u64, E>,
    ) -> Result<Self, E> {
        let is_for_cores = |parameter: &Parameter| parameter.taken_by == TakenBy::Cores;
        if self.goal.is_none() && self.method.is_none() {
            if self.set_names(is_for_cores).is_empty() {
                self.goal = Some(if self.learned == Some(true) {
                    Goal::Discovery
                } else {
                    Goal::default()
                });
            } else {
                self.method = Some(Method::Cores);
            }
        }
        if let Some(goal) = self.goal {
            self = self.merged_over(&goal.parameters());
            let is_tuned = self.hops.is_none() || self.fetch_cost.is_none();
            if self.is_greedy_over_web() && self.budget.is_none() && is_tuned {
                self.budget = Some(budget()?);
            }
            let counts_contents = matches!(goal, Goal::Coverage | Goal::Discovery);
            if counts_contents && self.is_greedy_over_web() && self.budget.is_some() {
                // Learned values are of links, which each page has for itself.
                let once = (self.learned != Some(true)).then_some(Duplicates::Once);
                self.duplicates = self.duplicates.or(once);
            }
            if self.is_greedy_over_web() && self.budget.is_some() && self.learned != Some(true) {
                self.crawl.get_or_insert(Crawls::Panel);
                // Lists that begin at the same pages every day find little: `benches/README.md`, *The next crawls*.
                self.revisit.get_or_insert(Revisit::Auto);
            }
        }
        // The published procedure has no bound.
        if self.method == Some(Method::Cores) && self.hits != Some(Hits::Classic) {
            self.within.get_or_insert(Slack::ONE_PERCENT);
        }
        // Over the web, uncrawled pages are pages of the graph. Their number is part of the values of
        // the pages that link to them only if that is asked for.
        if self.scope == Some(Scope::Web) && self.value_by != Some(ValueBy::Pagerank) {
            self.p_uniq.get_or_insert(Value(0));
        }
        Ok(self)
    }

    /// Returns the parameters that a new plan for a goal stores if nothing else is given, without a budget.
    #[must_use]
    pub fn of_goal(goal: Goal) -> Self {
        let any_budget = || Ok::<u64, Infallible>(1);
        let of_goal = goal.parameters().complete_new(any_budget);
        Self {
            budget: None,
            ..of_goal.unwrap_or_else(|never| match never {})
        }
    }

    /// Returns whether the plan tunes the limit of the seeds of a site if none is given, or may once its goal is known.
    pub(super) fn may_tune_site_limit(&self) -> bool {
        self.method.is_none() || self.goal.is_some() && self.is_greedy_over_web()
    }

    fn is_greedy_over_web(&self) -> bool {
        let greedy = Method::Cover(cover::Method::Greedy);
        self.method == Some(greedy) && self.scope == Some(Scope::Web)
    }

    /// Returns the parameters of a stored plan that stay if the plan is replaced: the policies that all
    /// methods have.
    pub(crate) fn policies_of_any_method(&self) -> Self {
        Self {
            tuned: None,
            judged: None,
            ..self.without_tuning().retain(|parameter| {
                parameter.section == Section::Policies && parameter.taken_by == TakenBy::Any
            })
        }
    }
}
