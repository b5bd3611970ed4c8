//! Refreshes that end with a comparison of their list with baselines.

use super::methods::judge;
use super::next::NextRequest;
use crate::engine::query::{self, DryRun};
use crate::engine::refresh::{self, LeadingList, RefreshReport, RefreshRequest};
use crate::engine::{Bank, EngineError, Result};
use seedbank_store::Store;

/// Lists of banks with more pages are compared over the last batches only by [`Bank::evaluate_next`]: it selects twice after each batch
/// for each list.
const MOST_PAGES: u64 = 100_000;

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
    /// and links. A list that is compared with baselines is compared over the last batches too
    /// ([`evaluate_next`](Self::evaluate_next)), if there are five and at most 100,000 pages.
    ///
    /// [`cores::select`]: seedbank_algorithms::cores::select
    /// [`cover::select_chosen`]: seedbank_algorithms::cover::select_chosen
    pub fn refresh(&self, request: &RefreshRequest) -> Result<RefreshReport> {
        self.refresh_then(request, |_| ())
    }

    /// Runs a plan as [`refresh`](Self::refresh) does. If the list is then compared with baselines, calls `stored` before, with
    /// the report so far. The comparison may take longer than all before it. If the watch stops it, that is no error
    /// ([`RefreshReport::is_unjudged`]).
    pub fn refresh_then(
        &self,
        request: &RefreshRequest,
        stored: impl FnMut(&RefreshReport),
    ) -> Result<RefreshReport> {
        let mut report = refresh::refresh(self, request, judge, stored, self.watch())?;
        if report.verdict.is_some() {
            // The refresh is stored. Most banks that cannot be compared have too few batches.
            report.leading = self.leading(&report.view.plan).ok().flatten();
        }
        Ok(report)
    }

    /// Returns the list that is recommended instead of that of a plan, if it finds more beyond two errors.
    fn leading(&self, plan: &str) -> Result<Option<LeadingList>> {
        let counters = Store::counters(&*self.open_state()?)?;
        if counters.crawled + counters.known > MOST_PAGES {
            return Ok(None);
        }
        let found = self.evaluate_next(&NextRequest {
            plan: Some(plan.to_owned()),
            ..NextRequest::default()
        })?;
        let batches = found.batches_in_loop.len() as u64;
        let mut rows = found.rows.into_iter();
        let best = rows.find(|row| row.list == found.recommended);
        let leading = best.and_then(|row| {
            let times_plan = row.times_plan?;
            let error = times_plan.standard_error?;
            (times_plan.mean - 2.0 * error > 1.0).then_some(LeadingList {
                list: row.list,
                parameters: row.parameters,
                replaces: row.replaces,
                times_plan,
                batches,
            })
        });
        Ok(leading)
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
