//! Plans: a method with its parameters, under a name.
//!
//! The parameters of a plan come from flags, from a plan file and from the stored plan, in this
//! order of precedence; others have their defaults. The command line and the plan file both fill
//! [`PlanOptions`], so they have the same parameters under the same names.
//!
//! ```text
//! builder, kinds  plans in Rust: for each goal or method only the parameters that it has
//! parameters      the declarations of all parameters, and PlanOptions, generated from them
//! declaration     the properties that a declaration can set
//! parameter       a parameter, independent of its type
//! parameter_type  the types of parameters
//! method          the methods
//! goal            the goals, and the parameters of a new plan
//! verdict         a plan's list compared with baselines
//! resolve         from options to a plan with every parameter resolved
//! schema          parts of JSON Schemas about plans
//! ```

mod builder;
mod goal;
pub mod kinds;
mod method;
mod parameter;
mod parameters;
mod resolve;
mod schema;
#[cfg(test)]
mod tests;
mod verdict;

// Types of requests and answers that other crates declare.
pub use seedbank_algorithms::cores::{Density, Growth, Hits, Pick, Rule as CoreRule};
pub use seedbank_algorithms::cover::global::{Duplicates, ValueBy, WebChoice};
pub use seedbank_algorithms::cover::{
    BadParams as BadCover, Covered, Method as CoverMethod, Share, Value,
};
pub use seedbank_algorithms::cover::{Due, Revisit};
pub use seedbank_algorithms::crawl_limits::{Amount, BadCrawlLimits, CrawlLimits, Crawls, Enter};
pub use seedbank_algorithms::slack::Slack;

use std::collections::BTreeSet;
use std::mem;
use std::path::Path;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Serialize};

use super::error::PlanError;
use super::{EngineError, Result};
use crate::engine::eligibility::{Admitted, PlanScope};
use crate::engine::policy::{Limit, PolicyLists};
use seedbank_algorithms::cores::CoreParams;
use seedbank_algorithms::cover::global::Setting;
use seedbank_algorithms::cover::{Choice, Seats, Weights};
use seedbank_algorithms::watch::Watch;
use seedbank_store::Hash128;
use seedbank_store::records::BatchId;

pub use builder::{Budget, Plan};
pub use goal::Goal;
pub use method::Method;
pub use parameter::{NamedValue, ValueKind};
pub use parameter::{Section, TakenBy};
pub use parameters::{Parameter, PlanOptions};
pub(crate) use schema::{NAME_PATTERN, by_cores, by_cover};
pub use verdict::{Compared, HeldOutVerdict, ListFigures, Measure};

/// The default plan.
pub(crate) const DEFAULT_PLAN: &str = "default";

/// Which pages are ranked.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// Crawled pages and pages that are known only from links.
    #[default]
    All,
    /// Crawled pages only.
    Crawled,
}

/// The graphs on which a cover method works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One graph for each site: its crawled pages and the links between them.
    #[default]
    Site,
    /// One graph of the whole web: crawled and known pages, and all links.
    Web,
}

/// A parameter of a plan that a refresh tuned.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TunedParameter {
    /// `hops`.
    Hops,
    /// `fetch-cost`.
    FetchCost,
    /// `value-known`.
    ValueKnown,
    /// `max-per-site`.
    MaxPerSite,
}

/// How a refresh tuned parameters of a plan for its budget.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct TuningRecord {
    /// The last batch of the state on which settings were tried.
    pub batch: BatchId,
    /// Number of settings that were tried.
    #[schemars(range(min = 1))]
    pub settings: u32,
    /// Value of the crawled pages that the crawl from the list fetches, in units; by goal discovery, the
    /// number of pages found for the first time. With pages held out, an estimate: the mean over the
    /// draws.
    pub gathered: f64,
    /// Number of times that pages were held out; 0 if settings were compared by known pages.
    #[serde(default)]
    pub draws: u32,
    /// Number of crawled pages of that state; 0 if it was not recorded.
    #[serde(default)]
    pub crawled: u64,
    /// The parameters that were tuned; the others were given.
    #[serde(default = "tuned_before_values")]
    pub parameters: Vec<TunedParameter>,
}

/// The tuned parameters of plans stored before they were recorded.
fn tuned_before_values() -> Vec<TunedParameter> {
    vec![TunedParameter::Hops, TunedParameter::FetchCost]
}

/// A plan with every parameter resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ResolvedPlan {
    /// Seeds by cores.
    Cores(CorePlan),
    /// Seeds of each site by cover.
    Cover(Choice),
    /// Seeds by cover over the whole web.
    Web(WebChoice),
}

impl ResolvedPlan {
    /// Returns the number of seeds that the plan selects; `None` if it is per site.
    pub(crate) const fn seeds(&self) -> Option<u32> {
        match self {
            Self::Cores(plan) => Some(plan.params.seeds),
            Self::Cover(choice) => match choice.seats {
                Seats::PerSite(_) => None,
                Seats::Shared(total, _) => Some(total),
            },
            Self::Web(choice) => Some(choice.seeds),
        }
    }

    /// Returns the crawls that the list is made for; breadth-first for a list that is not made for a crawl.
    pub(crate) fn crawls(&self) -> Crawls {
        match self {
            Self::Web(choice) => choice.crawl,
            Self::Cores(_) | Self::Cover(_) => Crawls::default(),
        }
    }

    /// Returns the pages that the plan admits by their states.
    pub(crate) fn page_scope(&self) -> PlanScope {
        match self {
            Self::Cores(plan) => plan.page_scope(),
            Self::Cover(_) => PlanScope::SITES,
            Self::Web(_) => PlanScope::WEB,
        }
    }
}

/// A plan by cores with every parameter resolved.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CorePlan {
    /// The core method's parameters.
    pub params: CoreParams,
    /// Whether successors replace dead seeds of the previous refresh.
    pub succeed: bool,
    /// Whether spam pages are ranked.
    pub keep_spam: bool,
    /// Which pages are ranked.
    pub pages: Pages,
    /// Hash of the list of pages excluded from the graph; `None` without one.
    pub left_out: Option<Hash128>,
}

impl CorePlan {
    /// Returns the pages that the plan admits by their states.
    pub(crate) fn page_scope(&self) -> PlanScope {
        PlanScope::same(Admitted {
            spam: self.keep_spam,
            known: self.pages == Pages::All,
        })
    }

    /// Whether cores of a refresh with another plan are valid for this one: the plans are equal
    /// except for the number of seeds and how they are picked.
    pub(crate) fn can_reuse(&self, other: &Self) -> bool {
        let mut other = *other;
        (other.params.seeds, other.params.pick) = (self.params.seeds, self.params.pick);
        other.succeed = self.succeed;
        other == *self
    }
}

/// A parameter that has another value than before.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ParameterChange {
    /// The name, as in plan files.
    pub parameter: String,
    /// The value before, as in flags; `None` if it was not set.
    pub before: Option<String>,
    /// The value now; `None` if it is not set any more.
    pub now: Option<String>,
}

impl PlanOptions {
    /// Parses a plan file (TOML).
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        let options: Self = toml::from_str(text)?;
        let by_refreshes = [
            ("tuned", options.tuned.is_some()),
            ("judged", options.judged.is_some()),
        ];
        if let Some((name, _)) = by_refreshes.into_iter().find(|(_, is_set)| *is_set) {
            return Err(toml::de::Error::custom(format!(
                "`{name}` is set by refreshes and not allowed in a plan file; remove it"
            ))
            .into());
        }
        Ok(options)
    }

    /// Merges these options over the stored ones: parameters that are not set here come from
    /// `stored`.
    ///
    /// Parameters that are set here first clear the stored ones that conflict with them, as
    /// declared in `parameters.rs`.
    ///
    /// - A limit or list that is `none` here removes the stored one.
    /// - Tuned parameters belong to the method, the budget and the kind of value for which they were
    ///   tuned. Another one here clears them.
    #[must_use]
    pub fn merged_over(mut self, stored: &Self) -> Self {
        let mut stored = stored.clone();
        for parameter in Parameter::all() {
            parameter.slot.clear_conflicts(&self, &mut stored);
        }
        // If one tuned value is replaced, the others stay as if they had been given.
        if self.hops.is_some() || self.fetch_cost.is_some() || self.value_known.is_some() {
            stored.tuned = None;
        }
        for parameter in Parameter::all() {
            parameter.slot.fill(&mut self, &stored);
        }
        self.tuned = self.tuned.or(stored.tuned);
        self.judged = self.judged.or(stored.judged);
        self
    }

    /// Removes values of `none`, after they have cleared what the plan stored. A plan that would tune the limit of the seeds
    /// of a site keeps its `none`.
    pub(crate) fn without_none(self) -> Self {
        let settled = self.clone();
        let is_kept = settled.max_per_site == Some(Limit::None) && settled.may_tune_site_limit();
        let mut options = self.retain(|parameter| !parameter.slot.removes_stored(&settled));
        if is_kept {
            options.max_per_site = settled.max_per_site;
        }
        options
    }

    /// Keeps `tuned`, `judged` and the parameters for which `keeps` returns true.
    #[must_use]
    pub fn retain(mut self, keeps: impl Fn(&Parameter) -> bool) -> Self {
        for parameter in Parameter::all()
            .iter()
            .filter(|parameter| !keeps(parameter))
        {
            parameter.slot.clear(&mut self);
        }
        self
    }

    /// Keeps the parameters that determine the values of pages.
    pub(crate) fn value_parameters(&self) -> Self {
        Self {
            tuned: None,
            judged: None,
            ..self.clone().retain(|parameter| parameter.values_pages)
        }
    }

    /// Returns the weights that determine the values of pages.
    pub(crate) fn weights(&self) -> Weights {
        let mut weights = Weights::default();
        for parameter in Parameter::all() {
            parameter.slot.set_weight(self, &mut weights);
        }
        weights
    }

    /// Returns the names of the set parameters for which `counts` returns true.
    fn set_names(&self, counts: impl Fn(&Parameter) -> bool) -> Vec<&'static str> {
        let given = Parameter::all().iter();
        let given = given.filter(|parameter| counts(parameter) && parameter.is_given(self));
        given.map(|parameter| &*parameter.name).collect()
    }

    /// Reads the files of lists that were not read yet. Relative paths start from `folder`. Errors
    /// are those of [`List::read`](crate::engine::policy::List::read).
    pub fn read_lists(mut self, folder: impl AsRef<Path>, watch: &dyn Watch) -> Result<Self> {
        for parameter in Parameter::all() {
            if let Some(list) = parameter.slot.list_mut(&mut self) {
                *list = list.clone().load_from(folder.as_ref(), watch)?;
            }
        }
        Ok(self)
    }

    /// Reduces the file names of lists to their last part.
    pub(crate) fn hide_folders(&mut self) {
        for parameter in Parameter::all() {
            if let Some(list) = parameter.slot.list_mut(self) {
                *list = list.clone().without_folder();
            }
        }
    }

    /// Returns the lists of the plan.
    pub(crate) fn lists(&self) -> PolicyLists<'_> {
        PolicyLists {
            exclude: self.exclude.as_ref(),
            only: self.only.as_ref(),
            exclude_from_graph: self.exclude_from_graph.as_ref(),
            pin: self.pin.as_ref(),
        }
    }

    /// Clears what was stored for another method. For a method of another family, keeps only the
    /// policies that all methods have.
    fn clear_for_method(method: Method, stored: &mut Self) {
        let previous = stored.method.unwrap_or_default();
        if (previous == Method::Cores) != (method == Method::Cores) {
            *stored = mem::take(stored).policies_of_any_method();
        } else if previous != method {
            (stored.depth, stored.covered, stored.duplicates) = (None, None, None);
        }
        if stored.method != Some(method) {
            stored.clear_tuning();
        }
    }

    /// Clears what was stored for the other scope.
    fn clear_for_scope(scope: Scope, stored: &mut Self) {
        match scope {
            Scope::Web => (stored.per_site, stored.share) = (None, None),
            Scope::Site => {
                stored.clear_tuning();
                *stored = mem::take(stored).retain(|parameter| parameter.taken_by != TakenBy::Web);
            }
        }
    }

    /// Clears tuned parameters, so that they are tuned again. Given ones stay.
    pub(crate) fn clear_tuning(&mut self) {
        for parameter in self.tuned.take().into_iter().flat_map(|of| of.parameters) {
            match parameter {
                TunedParameter::Hops => self.hops = None,
                TunedParameter::FetchCost => self.fetch_cost = None,
                TunedParameter::ValueKnown => self.value_known = None,
                TunedParameter::MaxPerSite => self.max_per_site = None,
            }
        }
    }

    /// Returns the parameters that a grid search of a plan tunes.
    pub(crate) fn tuned_parameters(choice: &WebChoice) -> Vec<TunedParameter> {
        let open = [
            (TunedParameter::Hops, choice.hops.is_none()),
            (TunedParameter::FetchCost, choice.fetch_cost.is_none()),
            (TunedParameter::ValueKnown, choice.value_known.is_none()),
            (TunedParameter::MaxPerSite, choice.tunes_max_per_site),
        ];
        let open = open.into_iter().filter(|(_, is_open)| *is_open);
        open.map(|(parameter, _)| parameter).collect()
    }

    /// Stores tuned parameters.
    pub(crate) fn set_tuning(&mut self, setting: Setting, tuned: TuningRecord) {
        self.set(setting, &tuned.parameters);
        self.tuned = Some(tuned);
    }

    /// Returns the options with another setting of the tuned parameters.
    pub(crate) fn with(mut self, setting: Setting) -> Self {
        let tuned = self.tuned.take();
        self.set(setting, tuned.iter().flat_map(|of| &of.parameters));
        Self { tuned, ..self }
    }

    fn set<'a>(
        &mut self,
        setting: Setting,
        parameters: impl IntoIterator<Item = &'a TunedParameter>,
    ) {
        for parameter in parameters {
            match parameter {
                TunedParameter::Hops => self.hops = Some(setting.hops),
                TunedParameter::FetchCost => self.fetch_cost = Some(setting.fetch_cost),
                TunedParameter::ValueKnown => self.value_known = Some(setting.value_known),
                TunedParameter::MaxPerSite => {
                    self.max_per_site = setting.max_per_site.map(Limit::AtMost);
                }
            }
        }
    }

    /// Formats the options as a plan file, which [`PlanOptions::from_toml`] parses. Omits tuned
    /// parameters, so that they are tuned again. Lists are written by name.
    pub fn to_toml(&self) -> Result<String> {
        let failed = |_| EngineError::Internal("a plan cannot be written as TOML");
        toml::to_string(&self.table()?).map_err(failed)
    }

    /// Returns the parameters that another plan sets to other values, tuned ones apart.
    pub(crate) fn changes(&self, to: &Self) -> Result<Vec<ParameterChange>> {
        let text = |value: &toml::Value| match value {
            toml::Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        let (before, now) = (self.table()?, to.table()?);
        let names: BTreeSet<&String> = before.keys().chain(now.keys()).collect();
        let changes = names.into_iter().map(|name| ParameterChange {
            parameter: name.clone(),
            before: before.get(name).map(text),
            now: now.get(name).map(text),
        });
        Ok(changes.filter(|of| of.before != of.now).collect())
    }

    /// Fails if a number of seeds or fetches is at least ten times as large or as small as in these options, as after a typing
    /// error.
    pub(crate) fn check_changes(&self, given: &Self) -> Result<(), PlanError> {
        let seeds = (self.seeds.map(u64::from), given.seeds.map(u64::from));
        for (parameter, (before, now)) in
            [("seeds", seeds), ("budget", (self.budget, given.budget))]
        {
            if let (Some(before), Some(now)) = (before, now)
                && before.min(now).saturating_mul(10) <= before.max(now)
            {
                return Err(PlanError::TenTimes {
                    parameter,
                    before,
                    now,
                });
            }
        }
        Ok(())
    }

    fn table(&self) -> Result<toml::Table> {
        let failed = |_| EngineError::Internal("a plan cannot be written as TOML");
        let mut table = toml::Table::try_from(self.without_tuning()).map_err(failed)?;
        // A plan file contains the names of lists.
        for (_, value) in &mut table {
            if let Some(name) = value.get("name").cloned() {
                *value = name;
            }
        }
        Ok(table)
    }

    /// Returns the options without tuned parameters and without the verdict.
    #[must_use]
    pub fn without_tuning(&self) -> Self {
        let mut given = self.clone();
        given.clear_tuning();
        given.judged = None;
        given
    }

    /// Parses the stored form.
    pub(crate) fn from_stored(settings: &str) -> Result<Self, PlanError> {
        serde_json::from_str(settings).map_err(PlanError::Stored)
    }

    /// Formats the options for the store.
    pub(crate) fn to_stored(&self) -> Result<String> {
        serde_json::to_string(self)
            .map_err(|_| EngineError::Internal("a plan cannot be written as JSON"))
    }
}

/// Checks the name of a plan, which appears in seed lists and file names.
pub(crate) fn check_name(name: &str) -> Result<(), PlanError> {
    let good = !name.is_empty()
        && name.len() <= 64
        && name
            .chars()
            .all(|c| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.'));
    if good {
        Ok(())
    } else {
        Err(PlanError::Name(name.to_owned()))
    }
}
