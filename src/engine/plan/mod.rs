//! Plans: a method and its parameters under a name.
//!
//! A plan's parameters come from flags, from a plan file and from what the plan stored, in this
//! order; what none of them gives has its default. The command line and the plan file both fill
//! [`PlanOptions`], so they know the same parameters by the same names.
//!
//! ```text
//! parameters  the declarations: one for each parameter, and PlanOptions, made of them
//! details     what a declaration can say
//! parameter   what is known of any parameter
//! types       the types of parameters
//! method      the methods
//! decide      from options to a plan with every parameter decided
//! schema      what the JSON Schemas of answers say of plans
//! ```

mod decide;
mod details;
mod method;
mod parameter;
mod parameters;
mod schema;
#[cfg(test)]
mod tests;
mod types;

use std::mem;
use std::path::Path;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Serialize};

use super::{EngineError, PlanError};
use crate::engine::policy::Lists;
use seedbank_algorithms::cores::CoreParams;
use seedbank_algorithms::cover::global::{Setting, WebChoice};
use seedbank_algorithms::cover::{Choice, Seats, Weights};
use seedbank_algorithms::watch::Watch;
use seedbank_store::Hash128;
use seedbank_store::records::BatchId;

pub use method::Method;
pub use parameter::{Section, TakenBy};
pub use parameters::{Parameter, PlanOptions};
pub(crate) use schema::{NAME_PATTERN, by_cores, by_cover};
pub use types::{Kind, Word};

/// The plan that is meant where none is named.
pub(crate) const DEFAULT_PLAN: &str = "default";

/// Which pages take part in ranking.
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

/// How a plan came by its hops and its price.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
pub struct Tuned {
    /// The last batch of the state on which they were tried.
    pub batch: BatchId,
    /// How many settings were tried.
    #[schemars(range(min = 1))]
    pub settings: u32,
    /// What the pages that the crawl from the list fetches are worth together, in units.
    pub gathered: f64,
}

/// A plan with every parameter decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Plan {
    /// Seeds by cores.
    Cores(CorePlan),
    /// Seeds of each site by cover.
    Cover(Choice),
    /// Seeds by cover over the whole web.
    Web(WebChoice),
}

impl Plan {
    /// How many seeds the plan selects; `None` for a number on each site.
    pub(crate) const fn seats(&self) -> Option<u32> {
        match self {
            Self::Cores(plan) => Some(plan.params.seeds),
            Self::Cover(choice) => match choice.seats {
                Seats::PerSite(_) => None,
                Seats::Shared(total, _) => Some(total),
            },
            Self::Web(choice) => Some(choice.seeds),
        }
    }
}

/// A plan by cores with every parameter decided.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct CorePlan {
    /// The core method's parameters.
    pub params: CoreParams,
    /// Whether dead seeds of the previous refresh are followed by their successors.
    pub succeed: bool,
    /// Whether spam pages take part.
    pub keep_spam: bool,
    /// Which pages take part.
    pub pages: Pages,
    /// Pages that take no part, by the hash of the list; `None` without one.
    pub left_out: Option<Hash128>,
}

impl PlanOptions {
    /// Reads a plan file (TOML).
    pub fn from_toml(text: &str) -> Result<Self, PlanError> {
        let options: Self = toml::from_str(text)?;
        if options.tuned.is_some() {
            return Err(toml::de::Error::custom(
                "`tuned` is set by refreshes and not allowed in a plan file; remove it",
            )
            .into());
        }
        Ok(options)
    }

    /// These options, and where they are silent those of `stored`.
    ///
    /// Given parameters set aside the stored ones that contradict them; each
    /// declaration (`parameters.rs`) says which.
    ///
    /// - A limit or list that is `none` here removes the stored one.
    /// - Hops and a cost that were tried belong to the method, the budget and the kind of value that
    ///   they were tried for: another one here sets them aside.
    #[must_use]
    pub fn over(mut self, stored: &Self) -> Self {
        let mut stored = stored.clone();
        for parameter in Parameter::all() {
            parameter.slot.set_aside(&self, &mut stored);
        }
        // Of what was tried, one is replaced and the other stays, as if it had been given.
        if self.hops.is_some() || self.fetch_cost.is_some() {
            stored.tuned = None;
        }
        for parameter in Parameter::all() {
            parameter.slot.fill(&mut self, &stored);
        }
        self.tuned = self.tuned.or(stored.tuned);
        self
    }

    /// The options without `none`, once it has removed what the plan stored.
    pub(crate) fn settled(self) -> Self {
        let settled = self.clone();
        self.retain(|parameter| !parameter.slot.takes_off(&settled))
    }

    /// The parameters for which `keeps` is true, and `tuned`.
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

    /// The parameters from which the values of pages follow.
    pub(crate) fn values(&self) -> Self {
        Self {
            tuned: None,
            ..self.clone().retain(|parameter| parameter.values_pages)
        }
    }

    /// The weights that values of pages are made of.
    pub(crate) fn weights(&self) -> Weights {
        let mut weights = Weights::default();
        for parameter in Parameter::all() {
            parameter.slot.weigh(self, &mut weights);
        }
        weights
    }

    /// The names of the given parameters for which `counts` is true.
    fn given(&self, counts: impl Fn(&Parameter) -> bool) -> Vec<&'static str> {
        let given = Parameter::all().iter();
        let given = given.filter(|parameter| counts(parameter) && parameter.is_given(self));
        given.map(|parameter| &*parameter.name).collect()
    }

    /// Reads the files that lists name and that were not read yet; relative paths are those from
    /// `folder`. Errors are those of [`List::read`](crate::engine::policy::List::read).
    pub fn read_lists(mut self, folder: &Path, watch: &dyn Watch) -> Result<Self, EngineError> {
        for parameter in Parameter::all() {
            if let Some(list) = parameter.slot.list_mut(&mut self) {
                *list = list.clone().found(folder, watch)?;
            }
        }
        Ok(self)
    }

    /// Hides the folders of the files that lists name.
    pub(crate) fn hide_folders(&mut self) {
        for parameter in Parameter::all() {
            if let Some(list) = parameter.slot.list_mut(self) {
                *list = list.clone().without_folder();
            }
        }
    }

    /// The lists that the plan names.
    pub(crate) fn lists(&self) -> Lists<'_> {
        Lists {
            exclude: self.exclude.as_ref(),
            only: self.only.as_ref(),
            exclude_from_graph: self.exclude_from_graph.as_ref(),
            pin: self.pin.as_ref(),
        }
    }

    /// Clears what was stored for another method: of another family everything but the policies of
    /// any method.
    fn set_method_aside(method: Method, stored: &mut Self) {
        let previous = stored.method.unwrap_or_default();
        if (previous == Method::Cores) != (method == Method::Cores) {
            *stored = Self {
                tuned: None,
                ..mem::take(stored).retain(|parameter| {
                    parameter.section == Section::Policies && parameter.taken_by == TakenBy::Any
                })
            };
        } else if previous != method {
            (stored.depth, stored.covered) = (None, None);
        }
        if stored.method != Some(method) {
            stored.forget_tuning();
        }
    }

    /// Clears what was stored for the other scope.
    fn set_scope_aside(scope: Scope, stored: &mut Self) {
        match scope {
            Scope::Web => (stored.per_site, stored.share) = (None, None),
            Scope::Site => {
                stored.forget_tuning();
                *stored = mem::take(stored).retain(|parameter| parameter.taken_by != TakenBy::Web);
            }
        }
    }

    /// Clears hops and a cost that were tried, so that they are tried again; given ones stay.
    pub(crate) fn forget_tuning(&mut self) {
        if self.tuned.take().is_some() {
            (self.hops, self.fetch_cost) = (None, None);
        }
    }

    /// Keeps hops and price that were tried.
    pub(crate) fn keep_tuning(&mut self, setting: Setting, tuned: Tuned) {
        self.hops = Some(setting.hops);
        self.fetch_cost = Some(setting.fetch_cost);
        self.tuned = Some(tuned);
    }

    /// The options as a plan file, which [`PlanOptions::from_toml`] reads. Hops and a price that were
    /// tried for a budget are left out, so that they are tried again; of a list the name stands there.
    pub fn to_toml(&self) -> Result<String, EngineError> {
        let failed = |_| EngineError::Internal("a plan cannot be written as TOML");
        let mut table = toml::Table::try_from(self.said()).map_err(failed)?;
        // A plan file names the files of lists.
        for (_, value) in &mut table {
            if let Some(name) = value.get("name").cloned() {
                *value = name;
            }
        }
        toml::to_string(&table).map_err(failed)
    }

    /// What a caller said of the plan: the options without hops and a price that a refresh tried.
    #[must_use]
    pub fn said(&self) -> Self {
        let mut said = self.clone();
        said.forget_tuning();
        said
    }

    /// The options of a plan as it is kept.
    pub(crate) fn from_kept(settings: &str) -> Result<Self, PlanError> {
        serde_json::from_str(settings).map_err(PlanError::Kept)
    }

    /// What is kept of a plan.
    pub(crate) fn to_kept(&self) -> Result<String, EngineError> {
        serde_json::to_string(self)
            .map_err(|_| EngineError::Internal("a plan cannot be written as JSON"))
    }
}

/// Whether a name may be a plan's: it is written into seed lists and file names.
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
