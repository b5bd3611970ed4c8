//! What a refresh answers with, and what is kept of it.

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Cost;
use super::listing::ChangesView;
use crate::engine::plan::{Method, NAME_PATTERN, PlanOptions, Tuned};
use crate::engine::policy::{HeldBy, LeftOutPin};
use crate::engine::{EngineError, PlanError};
use seedbank_algorithms::cover::Value;
use seedbank_algorithms::cover::global::{Setting, Trial, Tuning, WebChoice};
use seedbank_algorithms::rank::{Origin, ProvenStep};
use seedbank_store::records::{BatchId, RefreshId, RefreshRecord, SeriesRecord};

/// What a refresh did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RefreshReport {
    /// What is kept of it.
    #[serde(flatten)]
    pub view: RefreshView,
    /// How seeds are selected.
    pub method: Method,
    /// Whether the plan had other parameters before.
    pub plan_changed: bool,
    /// By cores: weakly connected components of the graph; 0 by cover.
    pub components: u32,
    /// By cores: those among them that are, page for page and link for link, what they were in the
    /// previous refresh: no batch touched them, or what it changed came to the same.
    pub components_verified: u32,
    /// By cores: pages of the graph that were loaded, those of components that batches touched or
    /// that could come first, or all; 0 by cover.
    pub pages_loaded: u64,
    /// By cores: entries of rows and citers read while ranking, each once where link visits count it for
    /// every vector that it served; 0 by cover.
    pub products: u64,
    /// Bytes of keys and values read from the store, but for what telling `costs` took.
    pub bytes_read: u64,
    /// Those of them that were read while the result was stored: what it is told from and replaces.
    pub bytes_read_storing: u64,
    /// The most memory that the process has used so far, in bytes; `None` where the system does not
    /// tell it.
    pub peak_memory: Option<u64>,
    /// By cores: why they had to be computed; only where that was asked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<Vec<Cost>>,
    /// Over the web: what trying hops and prices came to, where this refresh tried them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<TuningView>,
    /// By cores: those that have a single hub or a single authority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stars: Option<Stars>,
    /// By cores within a bound: how their steps came about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepsView>,
    /// Why there are fewer seeds than asked for, where there are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortage: Option<Shortage>,
    /// Older refreshes of the plan that were deleted.
    #[schemars(inner(range(min = 1)))]
    pub pruned: Vec<RefreshId>,
}

/// Cores that are stars: a single hub, or a single authority.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Stars {
    /// How many there are.
    pub cores: u32,
    /// The rank from which on every core is one; `None` where the last core is none.
    #[schemars(range(min = 1))]
    pub from: Option<u32>,
}

impl Stars {
    /// Of cores with so many hubs and authorities, in order; `None` where none is a star.
    #[must_use]
    pub fn of(cores: impl Iterator<Item = (u32, u32)>) -> Option<Self> {
        let mut stars = Self {
            cores: 0,
            from: None,
        };
        for ((hubs, authorities), rank) in cores.zip(1..) {
            if hubs > 1 && authorities > 1 {
                stars.from = None;
            } else {
                stars.cores += 1;
                stars.from.get_or_insert(rank);
            }
        }
        (stars.cores > 0).then_some(stars)
    }
}

/// How the steps of a refresh within a bound came about: each is a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct StepsView {
    /// Kept: the bound of an earlier step was enough.
    pub bound_inherited: u32,
    /// Kept: what the previous refresh kept proves it.
    pub proven: u32,
    /// Kept: what the previous refresh kept proves it once mended where the graph has changed.
    pub repaired: u32,
    /// Kept, but its bound had to be computed.
    pub bound_recomputed: u32,
    /// Computed.
    pub computed: u32,
}

impl StepsView {
    /// Of so many steps in a graph that has not changed.
    pub(super) fn unchanged(steps: u32) -> Self {
        Self {
            proven: steps,
            ..Self::default()
        }
    }

    /// Of steps in order; `None` where there are none.
    pub(super) fn of(steps: &[ProvenStep]) -> Option<Self> {
        let mut view = Self::default();
        for step in steps {
            *match step.origin {
                Origin::Carried => &mut view.bound_inherited,
                Origin::Proven => &mut view.proven,
                Origin::Raised => &mut view.repaired,
                Origin::Bounded => &mut view.bound_recomputed,
                Origin::Computed => &mut view.computed,
            } += 1;
        }
        (!steps.is_empty()).then_some(view)
    }
}

/// A list that has fewer seeds than were asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Shortage {
    /// How many seeds were asked for.
    pub requested: u32,
    /// Why there are no more.
    pub reason: ShortageReason,
}

/// Why a list has fewer seeds than were asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShortageReason {
    /// By cores: no inter-site link is left.
    NoLinkLeft,
    /// By cover: no page that may be a seed is left where seeds are to be.
    NoPageLeft,
    /// Over the web: no page has any value left.
    NoValueLeft,
    /// Over the web: no further page is worth what it costs.
    NotPositive,
    /// No more seeds may change.
    MaxChanges,
}

/// What the policies of a plan came to.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PolicyView {
    /// Seeds that are pinned.
    pub pinned: u32,
    /// Pages that are pinned and are no seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected_pins: Vec<LeftOutPin>,
    /// By cores: how many cores had their best hub held back, or gave no seed, by the policy that did
    /// so. By cover: how many pages were passed over by caps.
    pub rejected: BTreeMap<HeldBy, u64>,
    /// How the list differs from the last one, where that is limited and there was one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<ChangesView>,
}

/// What trying hops and prices for a budget came to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TuningView {
    /// How many pages the crawl will fetch.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// The hops that were taken, with which the plan goes on.
    pub hops: u32,
    /// The price that was taken, with which the plan goes on.
    pub fetch_cost: Value,
    /// The settings that were tried, fewest hops and then the lowest price first.
    pub trials: Vec<TrialView>,
    /// Hops that were not tried: a pass would take more page visits than `tune-visits` allows.
    pub left_out: Vec<u32>,
}

/// A setting that was tried, and the crawl that its list leads to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TrialView {
    /// How many hops from a seed a page is reached.
    pub hops: u32,
    /// What every page reached costs.
    pub fetch_cost: Value,
    /// How many seeds the list has.
    pub seeds: u32,
    /// How many pages the crawl fetches.
    pub fetched: u64,
    /// What these pages are worth together, in units.
    pub gathered: f64,
    /// The page visits of the pass: of a search of so many hops from every page that could be a
    /// seed. One pass serves all prices.
    pub pass_visits: u64,
    /// The page visits of the picks, beside those of the pass.
    pub page_visits: u64,
}

impl TuningView {
    pub(super) fn new(choice: &WebChoice, setting: Setting, tuning: &Tuning) -> Self {
        let view = |trial: &Trial| TrialView {
            hops: trial.setting.hops,
            fetch_cost: trial.setting.fetch_cost,
            seeds: u32::try_from(trial.seeds).unwrap_or(u32::MAX),
            fetched: trial.fetched,
            gathered: trial.gathered as f64 / 1e6,
            pass_visits: trial.pass_visits,
            page_visits: trial.page_visits,
        };
        Self {
            budget: choice.budget.unwrap_or(0),
            hops: setting.hops,
            fetch_cost: setting.fetch_cost,
            trials: tuning.trials.iter().map(view).collect(),
            left_out: tuning.left_out.clone(),
        }
    }

    /// What the plan keeps of it.
    pub(super) fn tuned(&self, batch: BatchId) -> Tuned {
        let best =
            |trial: &&TrialView| (trial.hops, trial.fetch_cost) == (self.hops, self.fetch_cost);
        Tuned {
            batch,
            settings: u32::try_from(self.trials.len()).unwrap_or(u32::MAX),
            gathered: self
                .trials
                .iter()
                .find(best)
                .map_or(0.0, |trial| trial.gathered),
        }
    }
}

/// What is kept of a refresh: what it ran on, what came out and what it cost.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RefreshView {
    /// Its number.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// The parameters that it ran with, as far as they were said; the others had their defaults.
    pub parameters: PlanOptions,
    /// The last batch of the state that it ran on; 0 before the first.
    pub batch: BatchId,
    /// When it ran, in seconds since 1970 (UTC).
    pub at: u64,
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
    /// Seeds selected.
    pub seeds: u32,
    /// Cores found.
    pub cores: u32,
    /// Whether nothing of an earlier refresh was reused.
    pub cold: bool,
    /// Steps taken over from the previous refresh: cores, or sites, or seeds over the web. Cores
    /// only from components that are verified, so every reused step is; within a bound those that are kept
    /// and had nothing computed for them.
    pub steps_reused: u64,
    /// Steps computed: cores, or sites, or seeds over the web.
    pub steps_recomputed: u64,
    /// Whether every result was proven.
    pub certified: bool,
    /// Why not, where it was not.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertified_reason: Option<String>,
    /// Entries of rows or citers read while ranking.
    pub link_visits: u64,
    /// Pages settled plus adjacency entries scanned.
    pub page_visits: u64,
    /// What policies came to; only where the plan has any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyView>,
}

impl RefreshView {
    /// A refresh of which nothing has been computed.
    pub(crate) fn begun(plan: String, parameters: PlanOptions, batch: BatchId) -> Self {
        Self {
            refresh: 0,
            plan,
            parameters,
            batch,
            at: 0,
            seconds: 0.0,
            seeds: 0,
            cores: 0,
            cold: true,
            steps_reused: 0,
            steps_recomputed: 0,
            certified: true,
            uncertified_reason: None,
            link_visits: 0,
            page_visits: 0,
            policy: None,
        }
    }

    /// A refresh that is stored, with the parameters in its record, read.
    pub(crate) fn new(
        refresh: RefreshId,
        record: RefreshRecord,
        parameters: PlanOptions,
    ) -> Result<Self, EngineError> {
        let policy = record.policy.as_deref().map(serde_json::from_str);
        Ok(Self {
            refresh,
            plan: record.plan,
            policy: policy.transpose().map_err(PlanError::Kept)?,
            parameters,
            batch: record.batch,
            at: record.at,
            seconds: record.seconds,
            seeds: record.seeds,
            cores: record.cores,
            cold: record.cold,
            steps_reused: record.steps_reused,
            steps_recomputed: record.steps_recomputed,
            certified: record.certified,
            uncertified_reason: record.doubt,
            link_visits: record.link_visits,
            page_visits: record.page_visits,
        })
    }

    /// How seeds were selected.
    #[must_use]
    pub fn method(&self) -> Method {
        self.parameters.method.unwrap_or_default()
    }
}

impl RefreshReport {
    /// What there is to tell before anything is computed.
    pub(super) fn begun(plan: String, parameters: PlanOptions, batch: BatchId) -> Self {
        Self {
            method: parameters.method.unwrap_or_default(),
            view: RefreshView::begun(plan, parameters, batch),
            plan_changed: false,
            components: 0,
            components_verified: 0,
            pages_loaded: 0,
            products: 0,
            bytes_read: 0,
            bytes_read_storing: 0,
            peak_memory: None,
            costs: None,
            tuning: None,
            stars: None,
            steps: None,
            shortage: None,
            pruned: Vec::new(),
        }
    }

    /// The record of it; `standings` is where those of a refresh by cores are, `chosen` how many seeds
    /// the method came to where the list is another.
    pub(super) fn record(
        &self,
        standings: Option<SeriesRecord>,
        chosen: Option<u32>,
    ) -> Result<RefreshRecord, EngineError> {
        let view = self.view.clone();
        let policy = view.policy.as_ref().map(serde_json::to_string);
        let policy = policy
            .transpose()
            .map_err(|_| EngineError::Internal("a policy cannot be written as JSON"))?;
        Ok(RefreshRecord {
            settings: view.parameters.to_kept()?,
            plan: view.plan,
            batch: view.batch,
            at: view.at,
            seconds: view.seconds,
            cold: view.cold,
            certified: view.certified,
            doubt: view.uncertified_reason,
            seeds: view.seeds,
            cores: view.cores,
            steps_reused: view.steps_reused,
            steps_recomputed: view.steps_recomputed,
            link_visits: view.link_visits,
            page_visits: view.page_visits,
            standings,
            components: self.components,
            lists: view.parameters.policy()?.lists(),
            policy,
            chosen,
        })
    }
}
