//! Refreshes that end with a comparison of their list with baselines.

use super::methods::judge;
use crate::engine::query::{self, DryRun};
use crate::engine::refresh::{self, RefreshReport, RefreshRequest};
use crate::engine::{Bank, EngineError, Result};

impl Bank {
    /// Runs a plan on the published state and stores the result.
    ///
    /// A refresh without seeds is stored too. If another process refreshed the plan meanwhile, so
    /// that reused results may be deleted, or deleted the history of this state, the refresh runs
    /// again.
    ///
    /// Cost: by cores, the graph image, or one scan of pages and
    /// two of rows; then [`cores::select`] on what changed. By cover, one scan of sites, the pages
    /// and links of changed sites, then [`cover::select_chosen`] on them. Over the web, all pages
    /// and links.
    ///
    /// [`cores::select`]: seedbank_algorithms::cores::select
    /// [`cover::select_chosen`]: seedbank_algorithms::cover::select_chosen
    pub fn refresh(&self, request: &RefreshRequest) -> Result<RefreshReport> {
        refresh::refresh(self, request, judge, self.watch())
    }

    /// Computes a refresh on the published state without storing it. Takes no lock, so it can run while
    /// another process writes.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::{PlanOptions, RefreshRequest};
    ///
    /// let options = PlanOptions { seeds: Some(7), ..PlanOptions::default() };
    /// let request = RefreshRequest { options, ..RefreshRequest::default() };
    /// let dry_run = bank.dry_run(&request)?;
    /// assert_eq!(dry_run.seed_list[0].url, "http://a.example/");
    /// assert!(dry_run.report.plan_changed);
    /// assert_eq!(bank.history()?.refreshes.len(), 1);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// Cost: as [`Bank::refresh`].
    pub fn dry_run(&self, request: &RefreshRequest) -> Result<DryRun, EngineError> {
        query::dry_run(self, request, judge, self.watch())
    }
}
