//! Runs a refresh without storing its result.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::Seed;
use super::views::{SeedRun, Views, seed_view};
use crate::engine::policy::pinned_urls;
use crate::engine::refresh::{RefreshReport, RefreshRequest, UnstoredRefresh};
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

impl Bank {
    /// Computes a refresh on the published state without storing it. Takes no lock, so it can run while
    /// another process writes.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::{PlanOptions, RefreshRequest};
    ///
    /// let options = PlanOptions { seeds: Some(7), ..PlanOptions::default() };
    /// let request = RefreshRequest { options, ..RefreshRequest::default() };
    /// let dry_run = bank.dry_run(&request, &Unwatched)?;
    /// assert_eq!(dry_run.seed_list[0].url, "http://a.example/");
    /// assert!(dry_run.report.plan_changed);
    /// assert_eq!(bank.history()?.refreshes.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: as [`Bank::refresh`].
    pub fn dry_run(
        &self,
        request: &RefreshRequest,
        watch: &dyn Watch,
    ) -> Result<DryRun, EngineError> {
        let views = Views::open(self)?;
        let UnstoredRefresh { report, seeds } =
            UnstoredRefresh::compute(&views.reader, request, watch)?;
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
}
