//! Questions about the whole bank.

use schemars::JsonSchema;
use serde::Deserialize;

use super::operation::Query;
use crate::engine::plan::{Method, NAME_PATTERN};
use crate::engine::query::{History, QuotaBy, QuotaRequest, Quotas, Status};
use crate::engine::refresh::RefreshView;
use crate::serve::answer::RequestError;
use crate::serve::executor::Context;
use crate::serve::query_params::integer;

/// Parameters of the status: none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusQuery {}

impl Query for StatusQuery {
    type Answer = Status;

    fn answer(self, context: &Context<'_>) -> Result<Status, RequestError> {
        Ok(context.bank.status()?)
    }
}

/// Selects the refreshes of the history.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BatchesQuery {
    /// Returns only refreshes with this method, and no batches.
    method: Option<Method>,
}

impl Query for BatchesQuery {
    type Answer = History;

    fn answer(self, context: &Context<'_>) -> Result<History, RequestError> {
        let mut history = context.bank.history()?;
        keep_method(&mut history, self.method);
        Ok(history)
    }
}

/// Keeps only the refreshes with a method; without one, everything.
pub(in crate::serve) fn keep_method(history: &mut History, method: Option<Method>) {
    if let Some(method) = method {
        history.batches.clear();
        history.refused = None;
        let of_method = |refresh: &RefreshView| refresh.method() == method;
        history.refreshes.retain(of_method);
    }
}

/// Parameters of quotas.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuotasQuery {
    /// Number of pages that the next crawl fetches.
    #[serde(deserialize_with = "integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pages: u32,
    /// Weight by which they are distributed.
    #[serde(default)]
    by: QuotaBy,
    /// By seeds, the plan whose seeds are counted; by value, the cover plan whose value weights apply.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
}

impl Query for QuotasQuery {
    type Answer = Quotas;

    fn answer(self, context: &Context<'_>) -> Result<Quotas, RequestError> {
        let request = QuotaRequest {
            pages: self.pages.into(),
            by: self.by,
            plan: self.plan,
        };
        Ok(context.bank.quotas(&request)?)
    }
}
