//! Report of a refresh, and the part of it that is stored.

use std::collections::{BTreeMap, HashSet};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::RecomputedCores;
use super::churn_limit::ListChanges;
use crate::engine::error::PlanError;
use crate::engine::plan::{
    HeldOutVerdict, Method, NAME_PATTERN, ParameterChange, PlanOptions, TuningRecord,
};
use crate::engine::policy::{RejectedPin, RejectionReason};
use crate::engine::repeated_content::RepeatedContent;
use crate::engine::web_graph::MirroredHosts;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cores::Hits;
use seedbank_algorithms::cover::Value;
use seedbank_algorithms::cover::global::{Setting, Trial, Tuning, WebChoice};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::{Origin, ProvenStep};
use seedbank_algorithms::statistics::Estimate;
use seedbank_store::records::{BatchId, EvidenceSeries, RefreshId, RefreshRecord, RevisitTimes};
use seedbank_store::{Store, tables};

/// Report of a refresh.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RefreshReport {
    /// The stored part of the report.
    #[serde(flatten)]
    pub view: RefreshView,
    /// Method that selects the seeds.
    pub method: Method,
    /// Whether the plan had other parameters in its previous refresh.
    pub plan_changed: bool,
    /// The parameters that had other values in the previous refresh, those of lists by name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<ParameterChange>,
    /// By cores: number of weakly connected components of the graph. By cover: 0.
    pub components: u32,
    /// By cores: number of components whose pages and links are the same as in the previous
    /// refresh.
    pub components_verified: u32,
    /// By cores: number of pages of the graph; 0 if nothing changed. By cover: 0.
    pub pages_loaded: u64,
    /// By cores: number of entries of rows and in-link lists that ranking read. An entry that
    /// serves several vectors at once counts once here, and once per vector in `link_visits`. By
    /// cover: 0.
    pub products: u64,
    /// Bytes of keys and values read from the store, in all processes, without those read to explain `costs`.
    pub bytes_read: u64,
    /// Part of `bytes_read` that was read while the result was stored.
    pub bytes_read_storing: u64,
    /// Peak memory of the process so far, in bytes; `None` if the system does not report it.
    pub peak_memory: Option<u64>,
    /// By cores, on request: why cores were recomputed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub costs: Option<Vec<RecomputedCores>>,
    /// Over the web: results of the search for hops, a fetch cost and a value of known pages, if this
    /// refresh ran one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub tuning: Option<TuningView>,
    /// Over the web by gain: how many candidates were searched; absent if the previous list was taken over.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub candidates: Option<Candidates>,
    /// Over the web with `keep-seeds`: how the list follows from the previous one; absent if the seeds were selected without it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub kept: Option<KeptSeeds>,
    /// The budget that the plan got because none was given.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub default_budget: Option<DefaultBudget>,
    /// Comparison of the plan's list with baselines, if this refresh made one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub verdict: Option<HeldOutVerdict>,
    /// The number of pages of a cluster bank whose new list was not compared with baselines, because one process is not to
    /// load all of them; `None` otherwise.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_compared: Option<u64>,
    /// The list that clearly finds more new pages than the plan over the last batches, if the refresh compared its list and the bank
    /// has five batches with times of fetches.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub leading: Option<LeadingList>,
    /// The number of crawled pages, divided by that for which the plan was tuned before, if they have grown or shrunk by
    /// half. The plan was tuned again for that reason, unless `no-tune` forbids it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub crawled_since_tuned: Option<f64>,
    /// The likely traps of the bank, if seeds were selected: sites of many pages with hardly any different contents.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub traps: Vec<RepeatedContent>,
    /// Of a plan in which contents count once: hosts that have the same pages, at most 20 pairs, those with most equal contents
    /// first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub mirrored: Vec<MirroredHosts>,
    /// By cores: cores with a single hub or a single authority.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub stars: Option<Stars>,
    /// By cores within a tolerance: how the steps were obtained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub steps: Option<StepsView>,
    /// Why there are fewer seeds than requested, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub shortage: Option<Shortage>,
    /// Older refreshes of the plan that this refresh deleted.
    #[schemars(inner(range(min = 1)))]
    pub pruned: Vec<RefreshId>,
    /// The refreshes of the plan before this one; `None` without any, and if this one is not stored.
    #[serde(skip)]
    pub earlier: Option<EarlierRefreshes>,
    /// Whether the comparison with baselines was stopped. The list is stored, and the next refresh compares its own.
    #[serde(skip)]
    pub is_unjudged: bool,
    #[serde(skip)]
    pub(super) revisit: Option<RevisitTimes>,
}

/// The stored refreshes of a plan before a new one.
#[derive(Clone, Copy, PartialEq, Debug)]
#[non_exhaustive]
pub struct EarlierRefreshes {
    /// The first one.
    pub first: RefreshId,
    /// How long the first one took, in seconds.
    pub seconds: f64,
    /// Number of seeds of the last one.
    pub seeds: u64,
    /// Number of seeds that the last one shares with the new list.
    pub kept: u64,
}

impl EarlierRefreshes {
    /// Compares the list of a refresh that is being stored with that of the last one; `None` if all earlier ones are deleted.
    ///
    /// Cost: one scan of the refreshes and one of the last list.
    pub(super) fn find(
        store: &Store,
        plan: &str,
        previous: RefreshId,
        deleted: &[RefreshId],
        list: &[PageId],
    ) -> Result<Option<Self>> {
        if deleted.contains(&previous) {
            return Ok(None);
        }
        for entry in store.scan(&tables::REFRESHES)? {
            let (first, record) = entry?;
            if record.plan != plan || deleted.contains(&first) {
                continue;
            }
            let before = store.list(previous)?;
            let list: HashSet<PageId> = list.iter().copied().collect();
            let kept = before.iter().filter(|(_, seed)| list.contains(&seed.page));
            return Ok(Some(Self {
                first,
                seconds: record.seconds,
                kept: kept.count() as u64,
                seeds: before.len() as u64,
            }));
        }
        Ok(None)
    }
}

/// Budget of a new plan for which none was given.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DefaultBudget {
    /// Number of pages that the crawl will fetch.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// The batch whose records are the budget; `None` if the budget is half of the crawled pages, because
    /// the bank has no delta.
    pub delta: Option<BatchId>,
}

/// The pages that could be picked by a plan over the web.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Candidates {
    /// Number of candidates from which pages were searched. The gains of the others before any pick are those of the previous
    /// refresh.
    pub searched: u64,
    /// Number of all candidates.
    pub all: u64,
}

/// A list from which crawls over the last batches would have found more new pages than from that of the plan.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct LeadingList {
    /// Name of the list, as `evaluate methods` has it.
    pub list: String,
    /// The parameters to give to a refresh, so that the plan makes this list.
    pub parameters: PlanOptions,
    /// Whether they replace all other parameters of the plan.
    pub replaces: bool,
    /// The new pages, divided by those from the list of the plan; more than 1 by over two standard errors.
    pub times_plan: Estimate,
    /// Number of batches after which both crawled.
    pub batches: u64,
}

/// How a list follows from the previous one.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct KeptSeeds {
    /// Number of seeds that were on the previous list.
    pub seeds: u32,
    /// Worth of the pages that the list reaches, after the fetch costs, divided by that of a list without kept seeds.
    pub worth: f64,
}

/// Cores that are stars: they have a single hub or a single authority.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Stars {
    /// Number of star cores.
    pub cores: u32,
    /// The first rank from which on every core is a star; `None` if the last core is not one.
    #[schemars(range(min = 1))]
    pub from: Option<u32>,
}

impl Stars {
    /// Counts the stars among cores, given their numbers of hubs and authorities by rank. Returns
    /// `None` if there are none.
    #[must_use]
    pub fn count(cores: impl Iterator<Item = (u32, u32)>) -> Option<Self> {
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

/// How the steps of a refresh within a tolerance were obtained. Each step is a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct StepsView {
    /// Reused: the bound of an earlier step sufficed.
    pub bound_inherited: u32,
    /// Reused: the certificate that the previous refresh cached still holds.
    pub proven: u32,
    /// Reused: the cached certificate holds after an update where the graph changed.
    pub repaired: u32,
    /// Reused, but a new bound had to be computed.
    pub bound_recomputed: u32,
    /// Computed.
    pub computed: u32,
}

impl StepsView {
    pub(super) fn unchanged(steps: u32) -> Self {
        Self {
            proven: steps,
            ..Self::default()
        }
    }

    /// Counts steps by origin; `None` if there are no steps.
    pub(super) fn count(steps: &[ProvenStep]) -> Option<Self> {
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

/// A list with fewer seeds than requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Shortage {
    /// Number of seeds requested.
    pub requested: u32,
    /// Why there are no more seeds.
    pub reason: ShortageReason,
}

/// Why a list has fewer seeds than requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ShortageReason {
    /// The bank has no links.
    NoLinks,
    /// By cores: no inter-site link is left.
    NoLinkLeft,
    /// By cover: no eligible page is left on the sites that need seeds.
    NoPageLeft,
    /// Over the web: no page has any value left.
    NoValueLeft,
    /// Over the web: no further page is worth its cost.
    NotPositive,
    /// The limit on changes of the list was reached.
    MaxChanges,
}

/// Effect of the policies of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PolicyView {
    /// Number of pinned seeds.
    pub pinned: u32,
    /// Pinned pages that are not seeds.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rejected_pins: Vec<RejectedPin>,
    /// Number of rejections by each policy. By cores: cores whose best hub was rejected, or that
    /// gave no seed. By cover: pages rejected by caps, and all documents and pages with too many failed fetches.
    pub rejected: BTreeMap<RejectionReason, u64>,
    /// The unreachable sites: no fetch of any of their pages had an answer on the last three or more days with fetches, so
    /// `max-failures` rejects all of their pages. With the number of their crawled pages; at most the 20 sites with the most
    /// pages.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub unreachable: BTreeMap<String, u64>,
    /// Difference from the previous list, if changes are limited and there is a previous list.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub changes: Option<ListChanges>,
}

/// Results of the search for hops, a fetch cost, a value of known pages and a limit of the seeds of a site for a budget.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TuningView {
    /// Number of pages that the crawl will fetch.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// The chosen number of hops, which becomes the plan's.
    pub hops: u32,
    /// The chosen fetch cost, which becomes the plan's.
    pub fetch_cost: Value,
    /// The chosen value of known pages, which becomes the plan's.
    pub value_known: Value,
    /// The chosen limit of the seeds of a site, which becomes the plan's; `null` for no limit.
    pub max_per_site: Option<u32>,
    /// Number of times that pages were held out; 0 if settings were compared by known pages.
    pub draws: u32,
    /// The settings that were tried, ordered by hops, fetch cost, value of known pages and limit.
    pub trials: Vec<TrialView>,
    /// Numbers of hops that were not tried: one pass would take more than a 32nd of the page visits that
    /// `tune-visits` allows.
    pub left_out: Vec<u32>,
}

/// A setting that was tried, with the crawl that its list leads to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct TrialView {
    /// Number of hops within which a seed reaches pages.
    pub hops: u32,
    /// Cost of each reached page.
    pub fetch_cost: Value,
    /// Value of a page that is known only from links.
    pub value_known: Value,
    /// Maximum number of seeds of a site; `null` for no limit.
    pub max_per_site: Option<u32>,
    /// Number of seeds in the list, on the first draw.
    pub seeds: u32,
    /// Number of pages that the crawl fetches, on the first draw.
    pub fetched: u64,
    /// Number of draws on which the setting was tried; the last ones only the best settings.
    pub draws: u32,
    /// Value of the fetched pages, in units; by goal discovery, the number of pages found for the first
    /// time. With pages held out, an estimate for all crawled pages: the mean over the draws.
    pub gathered: f64,
    /// Page visits of the search from every candidate page, which serves all fetch costs with this
    /// number of hops.
    pub pass_visits: u64,
    /// Page visits of the picks, without those of the search.
    pub page_visits: u64,
}

impl TuningView {
    pub(super) fn new(choice: &WebChoice, setting: Setting, tuning: &Tuning) -> Self {
        let view = |trial: &Trial| TrialView {
            hops: trial.setting.hops,
            fetch_cost: trial.setting.fetch_cost,
            value_known: trial.setting.value_known,
            max_per_site: trial.setting.max_per_site,
            seeds: u32::try_from(trial.seeds).unwrap_or(u32::MAX),
            fetched: trial.fetched,
            draws: u32::try_from(trial.found.len()).unwrap_or(u32::MAX),
            gathered: trial.mean() as f64 / 1e6,
            pass_visits: trial.pass_visits,
            page_visits: trial.page_visits,
        };
        Self {
            budget: choice.budget.unwrap_or(0),
            hops: setting.hops,
            fetch_cost: setting.fetch_cost,
            value_known: setting.value_known,
            max_per_site: setting.max_per_site,
            draws: tuning.draws,
            trials: tuning.trials.iter().map(view).collect(),
            left_out: tuning.left_out.clone(),
        }
    }

    /// Returns the part that is stored with the plan.
    pub(super) fn tuned(&self, choice: &WebChoice, batch: BatchId, crawled: u64) -> TuningRecord {
        let best = self.trials.iter().find(|trial| self.is_chosen(trial));
        TuningRecord {
            batch,
            settings: u32::try_from(self.trials.len()).unwrap_or(u32::MAX),
            gathered: best.map_or(0.0, |trial| trial.gathered),
            draws: self.draws,
            crawled,
            parameters: PlanOptions::tuned_parameters(choice),
        }
    }

    /// Returns whether a trial has the chosen setting.
    #[must_use]
    pub fn is_chosen(&self, trial: &TrialView) -> bool {
        let setting = (trial.hops, trial.fetch_cost, trial.value_known);
        setting == (self.hops, self.fetch_cost, self.value_known)
            && trial.max_per_site == self.max_per_site
    }
}

/// What is proved about the cores of a refresh. It says nothing about how much a crawl from the seeds finds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Proof {
    /// Every core is that of an exact computation.
    Exact,
    /// Every core is within the tolerance of the plan.
    Within,
    /// Nothing, since the method has no proof: classic HITS, and cover methods.
    #[default]
    NotApplicable,
    /// A core could not be proved to be exact or within the tolerance.
    NotProved,
}

impl Proof {
    /// What a refresh with these parameters proves; `in_doubt` is whether a core could not be proved.
    pub(crate) fn of(parameters: &PlanOptions, in_doubt: bool) -> Self {
        let by_cores = parameters.method.unwrap_or_default() == Method::Cores;
        if !by_cores || parameters.hits == Some(Hits::Classic) {
            Self::NotApplicable
        } else if in_doubt {
            Self::NotProved
        } else if parameters.within.unwrap_or_default().is_exact() {
            Self::Exact
        } else {
            Self::Within
        }
    }
}

/// The stored part of a refresh: its input, results and cost.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RefreshView {
    /// The refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// Parameters that were set; the others had their defaults.
    pub parameters: PlanOptions,
    /// The last batch of the state that the refresh ran on; 0 before the first batch.
    pub batch: BatchId,
    /// Time of the refresh, in seconds since 1970 (UTC).
    pub at: u64,
    /// Elapsed time, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
    /// Number of seeds.
    pub seeds: u32,
    /// Number of cores.
    pub cores: u32,
    /// Whether the refresh reused nothing from an earlier one.
    pub cold: bool,
    /// Number of steps reused from the previous refresh: cores, or sites, or seeds over the web.
    /// Exact cores are reused only from unchanged components; within a tolerance, a step counts as
    /// reused if nothing had to be computed for it.
    pub steps_reused: u64,
    /// Number of steps computed: cores, or sites, or seeds over the web.
    pub steps_recomputed: u64,
    /// What is proved about the cores.
    pub proof: Proof,
    /// What could not be decided about the first core in doubt: why it is not proved, or, of classic cores, which tie is
    /// open; absent if no core is in doubt.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uncertified_reason: Option<String>,
    /// Number of entries of rows and in-link lists that ranking read, counted per vector.
    pub link_visits: u64,
    /// Number of pages settled plus adjacency entries scanned.
    pub page_visits: u64,
    /// Effect of the policies; `None` if the plan has none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyView>,
}

impl RefreshView {
    /// A refresh before anything is computed.
    pub(crate) fn begun(plan: String, parameters: PlanOptions, batch: BatchId) -> Self {
        Self {
            plan,
            parameters,
            batch,
            cold: true,
            ..Self::default()
        }
    }

    /// Converts a stored record, whose parameters are parsed already.
    pub(crate) fn new(
        refresh: RefreshId,
        record: RefreshRecord,
        parameters: PlanOptions,
    ) -> Result<Self> {
        let policy = record.policy.as_deref().map(serde_json::from_str);
        Ok(Self {
            refresh,
            plan: record.plan,
            policy: policy.transpose().map_err(PlanError::Stored)?,
            proof: Proof::of(&parameters, record.doubt.is_some()),
            parameters,
            batch: record.batch,
            at: record.at,
            seconds: record.seconds,
            seeds: record.seeds,
            cores: record.cores,
            cold: record.cold,
            steps_reused: record.steps_reused,
            steps_recomputed: record.steps_recomputed,
            uncertified_reason: record.doubt,
            link_visits: record.link_visits,
            page_visits: record.page_visits,
        })
    }

    /// Method that selected the seeds.
    #[must_use]
    pub fn method(&self) -> Method {
        self.parameters.method.unwrap_or_default()
    }
}

impl RefreshReport {
    pub(super) fn begun(plan: String, parameters: PlanOptions, batch: BatchId) -> Self {
        Self {
            method: parameters.method.unwrap_or_default(),
            view: RefreshView::begun(plan, parameters, batch),
            ..Self::default()
        }
    }

    /// Converts to the stored record. `standings` locates the page evidence of a refresh by cores.
    /// `chosen` is the number of seeds that the method selected, if the list differs from them.
    pub(super) fn record(
        &self,
        standings: Option<EvidenceSeries>,
        chosen: Option<u32>,
    ) -> Result<RefreshRecord> {
        let view = self.view.clone();
        let policy = view.policy.as_ref().map(serde_json::to_string);
        let policy = policy
            .transpose()
            .map_err(|_| EngineError::Internal("a policy cannot be written as JSON"))?;
        Ok(RefreshRecord {
            settings: view.parameters.to_stored()?,
            plan: view.plan,
            batch: view.batch,
            at: view.at,
            seconds: view.seconds,
            cold: view.cold,
            certified: view.uncertified_reason.is_none(),
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
            revisit: self.revisit,
        })
    }
}
