//! Plans: a method and its parameters under a name.
//!
//! A plan's parameters come from flags, from a plan file and from what the plan kept, in this
//! order; what none of them says has its default. The command line and the plan file both fill
//! [`PlanOptions`], so they know the same parameters by the same names.

mod decide;
mod method;
mod schema;

use std::path::Path;

use schemars::JsonSchema;
use serde::de::Error;
use serde::{Deserialize, Serialize};

use super::{EngineError, PlanError};
use crate::cores::{CoreParams, Density, Growth, Hits, Pick, Slack};
use crate::cover::web::{Setting, ValueBy, WebChoice};
use crate::cover::{Choice, Covered, Seats, Share, Value};
use crate::engine::policy::{Limit, List, Lists};
use crate::storage::Hash128;
use crate::storage::records::BatchId;
use crate::watch::Watch;

pub use method::Method;
pub(crate) use schema::{NAME_PATTERN, by_cores, by_cover};

/// The plan that is meant where none is named.
pub(crate) const DEFAULT_PLAN: &str = "default";

/// Which pages take part in ranking.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pages {
    /// Crawled and known pages.
    #[default]
    All,
    /// Crawled pages only.
    Crawled,
}

/// The graphs on which a cover method works.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Scope {
    /// One for each site: its crawled pages and the links between them.
    #[default]
    Site,
    /// One of the whole web: crawled and known pages, and all links.
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

/// A plan's parameters as far as they were said; names as on the command line.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct PlanOptions {
    /// How seeds are selected.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<Method>,
    /// How many seeds; for a cover method on sites a total that is shared out over them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub seeds: Option<u32>,
    /// How the graph is ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hits: Option<Hits>,
    /// Iterations of classic HITS.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub iterations: Option<u32>,
    /// Cover density of a core in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub density: Option<Density>,
    /// What happens to pages that would lower the density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub growth: Option<Growth>,
    /// Extraction by fixed size instead of density.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub core_size: Option<u32>,
    /// New members of each side per round, with `core-size`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub new_members: Option<u32>,
    /// The most hubs of a core.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_hubs: Option<u32>,
    /// Which hub of a core becomes the seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pick: Option<Pick>,
    /// How far below the largest sigma a core's may lie, in per cent.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub within: Option<Slack>,
    /// Whether the seed list is kept stable: as `pick` stable, with successors for dead seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeed: Option<bool>,
    /// Whether spam pages take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub keep_spam: Option<bool>,
    /// Which pages take part.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pages: Option<Pages>,
    /// Cover: seeds per site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub per_site: Option<u32>,
    /// Cover: by what a total of seeds is shared out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub share: Option<Share>,
    /// Cover: how many hops from a seed a page is covered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hops: Option<u32>,
    /// Cover: the depth of the weight that a page is picked by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub depth: Option<u32>,
    /// Cover: what becomes of covered pages.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub covered: Option<Covered>,
    /// Cover: the value of a page that is neither spam nor clicked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_base: Option<Value>,
    /// Cover: the value of a spam page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_spam: Option<Value>,
    /// Cover: the value of a clicked page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_clicked: Option<Value>,
    /// Cover: what a quality of 1 adds to a page's value.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_quality: Option<Value>,
    /// Cover: the value of an uncrawled outlink, in the place of the `P_uniq` of every site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub p_uniq: Option<Value>,
    /// Cover: whether it stops before a pick whose score is not positive.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub positive_only: Option<bool>,
    /// Cover: the seed of the streams of `random`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rng_seed: Option<u64>,
    /// Cover: on which graphs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub scope: Option<Scope>,
    /// Over the web: what a known page is worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_known: Option<Value>,
    /// Over the web: what pages are worth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub value_by: Option<ValueBy>,
    /// Over the web: what every page reached costs.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fetch_cost: Option<Value>,
    /// Over the web: how many pages the crawl will fetch.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub budget: Option<u64>,
    /// With `budget`: the most page visits of a pass for a number of hops that is tried.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tune_visits: Option<u64>,
    /// Policy: the most seeds of a site.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_per_site: Option<Limit>,
    /// Policy: the most seeds of a registrable domain.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_per_domain: Option<Limit>,
    /// Policy: pages that are never seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude: Option<List>,
    /// Policy: the only pages that can be seeds.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub only: Option<List>,
    /// Policy: pages that are no part of the graph either.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub exclude_from_graph: Option<List>,
    /// Policy: pages that are always seeds, first.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pin: Option<List>,
    /// Policy, cores: a core with fewer hubs gives no seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_hubs: Option<u32>,
    /// Policy, cores: a core with fewer authorities gives no seed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_authorities: Option<u32>,
    /// Policy: the least quality of a seed, 0 to 1; a page of which none is known has 0.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub min_quality: Option<Value>,
    /// Policy: the most seeds that differ from the plan's last list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub max_changes: Option<Limit>,
    /// How the plan came by `hops` and `fetch-cost` where they were tried; kept by a refresh, and
    /// not for plan files.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuned: Option<Tuned>,
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

    /// These options, and where they are silent those of `base`.
    ///
    /// - A stopping rule is taken whole: a density here sets aside a core size there, and the other
    ///   way round. So is the seed count of a cover plan: per site, or a total with its sharing.
    /// - A rule for picking hubs here sets aside `succeed` there, and the other way round.
    /// - A method here that is another than there sets aside what is the business of that method
    ///   alone: of another family everything, else `depth` and `covered`.
    /// - A scope here sets aside what is the business of the other one alone.
    /// - A limit or list that is `none` here takes off the one there.
    /// - Hops and price that were tried there stand for what they were tried for: another method,
    ///   budget or kind of value here sets them aside.
    #[must_use]
    pub fn over(self, base: &Self) -> Self {
        let mut base = base.clone();
        let (old, new) = (
            base.method.unwrap_or_default(),
            self.method.or(base.method).unwrap_or_default(),
        );
        if (old == Method::Cores) != (new == Method::Cores) {
            base = base.policies();
        } else if old != new {
            (base.depth, base.covered) = (None, None);
        }
        if self.core_size.is_some() || self.new_members.is_some() {
            (base.density, base.growth) = (None, None);
        }
        if self.density.is_some() || self.growth.is_some() {
            (base.core_size, base.new_members) = (None, None);
        }
        if self.pick.is_some() {
            base.succeed = None;
        }
        if self.succeed == Some(true) {
            base.pick = None;
        }
        base.set_scope_aside(&self);
        if self.per_site.is_some() {
            (base.seeds, base.share) = (None, None);
        }
        if self.seeds.is_some() || self.share.is_some() {
            base.per_site = None;
        }
        Self {
            method: self.method.or(base.method),
            seeds: self.seeds.or(base.seeds),
            hits: self.hits.or(base.hits),
            iterations: self.iterations.or(base.iterations),
            density: self.density.or(base.density),
            growth: self.growth.or(base.growth),
            core_size: self.core_size.or(base.core_size),
            new_members: self.new_members.or(base.new_members),
            max_hubs: self.max_hubs.or(base.max_hubs),
            pick: self.pick.or(base.pick),
            within: self.within.or(base.within),
            succeed: self.succeed.or(base.succeed),
            keep_spam: self.keep_spam.or(base.keep_spam),
            pages: self.pages.or(base.pages),
            per_site: self.per_site.or(base.per_site),
            share: self.share.or(base.share),
            hops: self.hops.or(base.hops),
            depth: self.depth.or(base.depth),
            covered: self.covered.or(base.covered),
            value_base: self.value_base.or(base.value_base),
            value_spam: self.value_spam.or(base.value_spam),
            value_clicked: self.value_clicked.or(base.value_clicked),
            value_quality: self.value_quality.or(base.value_quality),
            p_uniq: self.p_uniq.or(base.p_uniq),
            positive_only: self.positive_only.or(base.positive_only),
            rng_seed: self.rng_seed.or(base.rng_seed),
            scope: self.scope.or(base.scope),
            value_known: self.value_known.or(base.value_known),
            value_by: self.value_by.or(base.value_by),
            fetch_cost: self.fetch_cost.or(base.fetch_cost),
            budget: self.budget.or(base.budget),
            tune_visits: self.tune_visits.or(base.tune_visits),
            max_per_site: self.max_per_site.or(base.max_per_site),
            max_per_domain: self.max_per_domain.or(base.max_per_domain),
            exclude: self.exclude.or(base.exclude),
            only: self.only.or(base.only),
            exclude_from_graph: self.exclude_from_graph.or(base.exclude_from_graph),
            pin: self.pin.or(base.pin),
            min_hubs: self.min_hubs.or(base.min_hubs),
            min_authorities: self.min_authorities.or(base.min_authorities),
            min_quality: self.min_quality.or(base.min_quality),
            max_changes: self.max_changes.or(base.max_changes),
            tuned: self.tuned.or(base.tuned),
        }
    }

    /// The options without the limits and lists that take off what a plan kept, once they did.
    pub(crate) fn settled(self) -> Self {
        let limit = |limit: Option<Limit>| limit.filter(|limit| *limit != Limit::None);
        let list = |list: Option<List>| list.filter(|list| !list.is_off());
        Self {
            max_per_site: limit(self.max_per_site),
            max_per_domain: limit(self.max_per_domain),
            exclude: list(self.exclude),
            only: list(self.only),
            exclude_from_graph: list(self.exclude_from_graph),
            pin: list(self.pin),
            max_changes: limit(self.max_changes),
            ..self
        }
    }

    /// The policies that any method goes by, and nothing else.
    fn policies(self) -> Self {
        Self {
            max_per_site: self.max_per_site,
            max_per_domain: self.max_per_domain,
            exclude: self.exclude,
            only: self.only,
            exclude_from_graph: self.exclude_from_graph,
            pin: self.pin,
            min_quality: self.min_quality,
            max_changes: self.max_changes,
            ..Self::default()
        }
    }

    /// Reads the files that lists name and that were not read yet; relative paths are those from
    /// `folder`. Errors are those of [`List::read`].
    pub fn read_lists(self, folder: &Path, watch: &dyn Watch) -> Result<Self, EngineError> {
        let read = |list: Option<List>| list.map(|list| list.found(folder, watch)).transpose();
        Ok(Self {
            exclude: read(self.exclude)?,
            only: read(self.only)?,
            exclude_from_graph: read(self.exclude_from_graph)?,
            pin: read(self.pin)?,
            ..self
        })
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

    /// Sets aside, of what a plan kept, what the scope, the method, the budget or the values that
    /// are now said make meaningless.
    fn set_scope_aside(&mut self, said: &Self) {
        match said.scope {
            Some(Scope::Web) => (self.per_site, self.share) = (None, None),
            Some(Scope::Site) => {
                if self.tuned.is_some() {
                    self.forget_tuning();
                }
                (self.value_known, self.value_by, self.fetch_cost) = (None, None, None);
                (self.budget, self.tune_visits) = (None, None);
            }
            None => {}
        }
        let differ = |said: bool, same: bool| said && !same;
        if self.tuned.is_some()
            && (differ(said.method.is_some(), said.method == self.method)
                || differ(said.budget.is_some(), said.budget == self.budget)
                || differ(said.value_by.is_some(), said.value_by == self.value_by))
        {
            self.forget_tuning();
        }
        if said.hops.is_some() || said.fetch_cost.is_some() {
            self.tuned = None;
        }
    }

    /// Leaves hops and price to be tried.
    pub(crate) fn forget_tuning(&mut self) {
        (self.hops, self.fetch_cost, self.tuned) = (None, None, None);
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
        if said.tuned.is_some() {
            said.forget_tuning();
        }
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
