//! Questions about plans and their refreshes: parameters, seeds, cores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::operation::Query;
use super::paging::{MAX_LIMIT, default_limit, limit};
use crate::engine::plan::NAME_PATTERN;
use crate::engine::query::{CoreLinks, CoreView, Plans, Seed};
use crate::engine::refresh::{RefreshId, RefreshView};
use crate::render::PlanWithCommand;
use crate::serve::answer::RequestError;
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::query_params::{integer, optional_integer};
use seedbank_algorithms::watch::Watch as _;

/// Parameters of the list of plans: none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlansQuery {}

impl Query for PlansQuery {
    type Answer = Plans;

    fn answer(self, context: &Context<'_>) -> Result<Plans, RequestError> {
        Ok(context.bank.plans()?)
    }
}

/// Selects a plan.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanQuery {
    /// Name of the plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    name: String,
}

impl Query for PlanQuery {
    type Answer = PlanWithCommand;

    fn answer(self, context: &Context<'_>) -> Result<PlanWithCommand, RequestError> {
        let plan = context.bank.plan(&self.name)?;
        Ok(PlanWithCommand::new(plan, context.name))
    }
}

/// Selects a refresh.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RefreshQuery {
    /// Plan whose last refresh is meant; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Number of the refresh.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    refresh: Option<u32>,
}

impl Query for RefreshQuery {
    type Answer = RefreshView;

    fn answer(self, context: &Context<'_>) -> Result<RefreshView, RequestError> {
        Ok(context.bank.refresh_view(&which(self.plan, self.refresh))?)
    }
}

/// Selects seeds of a refresh.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SeedsQuery {
    /// Plan whose last refresh is meant; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Number of the refresh.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    refresh: Option<u32>,
    /// Omits dead seeds.
    #[serde(default)]
    alive: bool,
    /// Number of seeds to skip.
    #[serde(default, deserialize_with = "integer")]
    #[schemars(range(max = 4_294_967_295_u32))]
    offset: u32,
    /// Maximum number of seeds in the answer.
    #[serde(default = "default_limit", deserialize_with = "limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: u32,
}

/// Part of the seeds of a refresh.
#[derive(Serialize, JsonSchema)]
pub(super) struct SeedList {
    /// Plan of the refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: String,
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    refresh: RefreshId,
    /// Total number of seeds that the request selects.
    total: u64,
    /// Number of seeds skipped.
    offset: u32,
    /// The next seeds, best first.
    seeds: Vec<Seed>,
}

impl Query for SeedsQuery {
    type Answer = SeedList;

    fn answer(self, context: &Context<'_>) -> Result<SeedList, RequestError> {
        let refresh = context.bank.refresh_view(&which(self.plan, self.refresh))?;
        let mut list = SeedList {
            plan: refresh.plan,
            refresh: refresh.refresh,
            total: 0,
            offset: self.offset,
            seeds: Vec::new(),
        };
        let end = u64::from(self.offset) + u64::from(self.limit);
        for seed in context.bank.seeds(which(None, Some(list.refresh)))? {
            let seed = seed?;
            if self.alive && !seed.alive {
                continue;
            }
            if (u64::from(self.offset)..end).contains(&list.total) {
                list.seeds.push(seed);
            }
            list.total += 1;
        }
        Ok(list)
    }
}

/// Selects cores of a refresh.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CoresQuery {
    /// Plan whose last refresh is meant; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Number of the refresh.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    refresh: Option<u32>,
    /// Number of cores to skip.
    #[serde(default, deserialize_with = "integer")]
    #[schemars(range(max = 4_294_967_295_u32))]
    offset: u32,
    /// Maximum number of cores in the answer.
    #[serde(default = "default_limit", deserialize_with = "limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: u32,
}

/// Part of the cores of a refresh.
#[derive(Serialize, JsonSchema)]
pub(super) struct CoreList {
    /// Plan of the refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: String,
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    refresh: RefreshId,
    /// Number of all its cores.
    total: u32,
    /// Number of cores skipped.
    offset: u32,
    /// The next cores, in the order of extraction.
    cores: Vec<CoreView>,
}

impl Query for CoresQuery {
    type Answer = CoreList;

    fn answer(self, context: &Context<'_>) -> Result<CoreList, RequestError> {
        let refresh = context.bank.refresh_view(&which(self.plan, self.refresh))?;
        let cores = cores_of(context, &refresh, self.offset, self.limit)?;
        Ok(CoreList {
            plan: refresh.plan,
            refresh: refresh.refresh,
            total: refresh.cores,
            offset: self.offset,
            cores,
        })
    }
}

/// Returns at most `limit` cores of a refresh, without the first `offset`.
pub(in crate::serve) fn cores_of(
    context: &Context<'_>,
    refresh: &RefreshView,
    offset: u32,
    limit: u32,
) -> Result<Vec<CoreView>, RequestError> {
    let of_refresh = which(None, Some(refresh.refresh));
    let last = offset.saturating_add(limit).min(refresh.cores);
    let mut cores = Vec::new();
    for rank in offset.saturating_add(1)..=last {
        if context.watch.stopped() {
            return Err(RequestError::too_long());
        }
        cores.push(context.bank.core(&of_refresh, rank)?);
    }
    Ok(cores)
}

/// Selects a core.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CoreQuery {
    /// Plan whose last refresh is meant; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Number of the refresh.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    refresh: Option<u32>,
    /// Rank of the core in its refresh, from 1.
    #[serde(deserialize_with = "integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    core: u32,
}

impl Query for CoreQuery {
    type Answer = CoreView;

    fn answer(self, context: &Context<'_>) -> Result<CoreView, RequestError> {
        Ok(context
            .bank
            .core(which(self.plan, self.refresh), self.core)?)
    }
}

/// Selects the core whose links are requested.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct CoreLinksQuery(CoreQuery);

impl Query for CoreLinksQuery {
    type Answer = CoreLinks;

    fn answer(self, context: &Context<'_>) -> Result<CoreLinks, RequestError> {
        let CoreQuery {
            plan,
            refresh,
            core,
        } = self.0;
        Ok(context.bank.core_links(which(plan, refresh), core)?)
    }
}
