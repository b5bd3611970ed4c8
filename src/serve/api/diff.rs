//! Comparison of two refreshes.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use super::operation::Query;
use super::paging::{MAX_LIMIT, default_limit, limit};
use crate::engine::plan::NAME_PATTERN;
use crate::engine::query::{DiffRequest, SeedDiff};
use crate::serve::answer::RequestError;
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::query_params::{integer, optional_integer};

/// Selects two refreshes, and a part of the seeds of both lists.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffQuery {
    /// Number of the first refresh; without it, the stored one before the second.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    from: Option<u32>,
    /// Number of the second refresh; without it, the last one of the plan.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    to: Option<u32>,
    /// Plan of the refreshes; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Plan whose last refresh is compared with the last one of `plan`, instead of two refreshes by number.
    #[schemars(regex(pattern = NAME_PATTERN))]
    against: Option<String>,
    /// Number of seeds to skip.
    #[serde(default, deserialize_with = "integer")]
    #[schemars(range(max = 4_294_967_295_u32))]
    offset: u32,
    /// Maximum number of seeds in the answer: first those gained, then those lost, moved and kept. The counts
    /// are those of all seeds.
    #[serde(default = "default_limit", deserialize_with = "limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: u32,
}

impl Query for DiffQuery {
    type Answer = SeedDiff;

    fn answer(self, context: &Context<'_>) -> Result<SeedDiff, RequestError> {
        let mut diff = changes(context, self.from, self.to, self.plan, self.against)?;
        let skipped = diff.seeds.len().min(self.offset as usize);
        diff.seeds.drain(..skipped);
        diff.seeds.truncate(self.limit as usize);
        Ok(diff)
    }
}

/// Compares two refreshes, or the last ones of two plans.
pub(in crate::serve) fn changes(
    context: &Context<'_>,
    from: Option<u32>,
    to: Option<u32>,
    plan: Option<String>,
    against: Option<String>,
) -> Result<SeedDiff, RequestError> {
    let from = match (from, to) {
        (None, Some(to)) => Some(previous(context, plan.clone(), to)?),
        _ => from,
    };
    let request = DiffRequest {
        plan,
        refreshes: from.into_iter().chain(to).collect(),
        against,
        list: None,
    };
    Ok(context.bank.diff(&request)?)
}

/// Returns the previous stored refresh of the same plan.
fn previous(
    context: &Context<'_>,
    plan: Option<String>,
    refresh: u32,
) -> Result<u32, RequestError> {
    let plan = context.bank.refresh_view(&which(plan, Some(refresh)))?.plan;
    let all = context.bank.history()?.refreshes.into_iter();
    let of_plan = all.filter(|other| other.plan == plan && other.refresh < refresh);
    of_plan.map(|other| other.refresh).max().ok_or_else(|| {
        let text = format!(
            "no refresh of plan {plan} before refresh {refresh} is stored; add `from` to compare with another one"
        );
        RequestError::new(StatusCode::NOT_FOUND, text)
    })
}
