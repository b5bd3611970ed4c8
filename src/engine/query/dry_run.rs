//! Runs a refresh without storing its result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::Seed;
use super::views::{SeedRun, Views, seed_view};
use crate::engine::policy::pinned_urls;
use crate::engine::refresh::{Judge, RefreshReport, RefreshRequest, UnstoredRefresh};
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::watch::Watch;

/// Result of a refresh that was not stored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DryRun {
    /// Report of the refresh as if it had been stored: its number, the plan's parameters, and the refreshes
    /// that would have been deleted.
    #[serde(flatten)]
    pub report: RefreshReport,
    /// Always true: nothing was stored.
    #[schemars(extend("const" = true))]
    pub dry_run: bool,
    /// Seeds that the refresh would store, best first.
    pub seed_list: Vec<Seed>,
}

/// See [`Bank::dry_run`].
pub(crate) fn dry_run(
    bank: &Bank,
    request: &RefreshRequest,
    judge: Judge,
    watch: &dyn Watch,
) -> Result<DryRun, EngineError> {
    let views = Views::open(bank)?;
    let UnstoredRefresh { report, seeds } =
        UnstoredRefresh::compute(&views.reader, request, judge, watch, bank.local_process())?;
    let run = SeedRun {
        plan: &report.view.plan,
        method: report.method,
        refresh: report.view.refresh,
    };
    let lists = report.view.parameters.lists();
    let pinned = pinned_urls(&views.reader, lists, views.naming)?;
    let seeds = seeds
        .iter()
        .map(|(rank, seed)| seed_view(&views, run, &pinned, *rank, seed));
    Ok(DryRun {
        seed_list: seeds.collect::<Result<_, _>>()?,
        report,
        dry_run: true,
    })
}
