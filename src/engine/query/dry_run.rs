//! A refresh that is only tried: its report and its seeds, with nothing stored.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::answers::Seed;
use super::views::{Views, seed_view};
use crate::engine::policy::pinned_urls;
use crate::engine::refresh::{RefreshReport, RefreshRequest, Trial};
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::watch::Watch;

/// What a refresh would select.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DryRun {
    /// What the refresh would report; its number is the one that it would have got, and what it says
    /// of the plan and of refreshes that are deleted is what would have become of them.
    #[serde(flatten)]
    pub report: RefreshReport,
    /// Always true: nothing was stored.
    #[schemars(extend("const" = true))]
    pub dry_run: bool,
    /// The seeds that it would store, best first.
    pub seed_list: Vec<Seed>,
}

impl Bank {
    /// Computes a refresh on the published state, and stores nothing: no refresh, no number, no
    /// parameters of the plan. It needs no lock, so it runs beside a writer.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::{PlanOptions, RefreshRequest};
    ///
    /// let options = PlanOptions { seeds: Some(7), ..PlanOptions::default() };
    /// let request = RefreshRequest { options, ..RefreshRequest::default() };
    /// let tried = bank.dry_run(&request, &Unwatched)?;
    /// assert_eq!(tried.seed_list[0].url, "http://a.example/");
    /// assert!(tried.report.plan_changed);
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
        let Trial { report, seeds } = Trial::on(&views.reader, request, watch)?;
        let of = (
            report.view.plan.as_str(),
            report.method,
            report.view.refresh,
        );
        let lists = report.view.parameters.lists();
        let pinned = pinned_urls(&views.reader, lists, views.naming)?;
        let seeds = seeds
            .iter()
            .map(|(rank, seed)| seed_view(&views, of, &pinned, (*rank, seed)));
        Ok(DryRun {
            seed_list: seeds.collect::<Result<_, _>>()?,
            report,
            dry_run: true,
        })
    }
}
