//! Request for a refresh.

use crate::engine::Result;
use crate::engine::error::RequestError;
use crate::engine::plan::{DEFAULT_PLAN, PlanOptions, check_name};
use seedbank_store::Store;

/// The default of [`RefreshRequest::share_above`].
pub const DEFAULT_SHARE_ABOVE: u64 = 50_000_000;

/// The plan to refresh, and how.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::{Plan, RefreshRequest};
///
/// let request = RefreshRequest::with("sites", Plan::sites().per_site(3));
/// // One crawled page on each of two sites. The plan stores its parameters.
/// assert_eq!(bank.refresh(&request)?.view.seeds, 2);
/// let request = RefreshRequest {
///     keep: Some(30),
///     ..RefreshRequest::stored("sites")
/// };
/// assert_eq!(bank.refresh(&request)?.view.seeds, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches of one command"
)]
pub struct RefreshRequest {
    /// The plan; `None` for the default plan. Another plan that does not exist is created only if
    /// `options` sets a parameter, since the name alone may be a typo.
    pub plan: Option<String>,
    /// Parameters. Those that are not set come from the plan, and then from the defaults.
    pub options: PlanOptions,
    /// Reuse nothing from earlier refreshes.
    pub cold: bool,
    /// Keep only this number of refreshes of the plan, including this one.
    pub keep: Option<u32>,
    /// Wait while another process writes to the bank.
    pub wait: bool,
    /// Explain why cores were recomputed.
    pub explain_cost: bool,
    /// Over the web with a budget: search for hops, a fetch cost and a value of known pages again, except
    /// for those that `options` sets.
    pub tune: bool,
    /// Compare the list with baselines, with pages held out. A plan with a budget is compared anyway if it
    /// is new or if its parameters change.
    pub judge: bool,
    /// Replace the parameters of the plan by `options` and the defaults of a new plan, except for policies
    /// that all methods have. Required to change the goal, the method or the scope of a plan.
    pub replace: bool,
    /// In a cluster bank with more known and crawled pages than this, cores are found by all processes, each with its share
    /// of the links in memory, and a new list is not compared with baselines unless `judge` is set. In a smaller one, one
    /// process does that as in any other bank, which takes less time. `None` for [`DEFAULT_SHARE_ABOVE`].
    ///
    /// Exact cores of a component of links with at most this many pages, or 256, are also found by one process.
    ///
    /// Scores of cores differ in their last digits between both ways.
    pub share_above: Option<u64>,
}

impl RefreshRequest {
    /// Creates a request to refresh a plan with its stored parameters.
    #[must_use]
    pub fn stored(plan: &str) -> Self {
        Self {
            plan: Some(plan.to_owned()),
            ..Self::default()
        }
    }

    /// Creates a request to set these parameters of a plan and refresh it. A plan that does not exist is created.
    #[must_use]
    pub fn with(plan: &str, parameters: impl Into<PlanOptions>) -> Self {
        Self {
            options: parameters.into(),
            ..Self::stored(plan)
        }
    }

    /// Returns the number of pages of a cluster bank if one process is not to load all of them, and `None` otherwise.
    pub(super) fn pages_to_share(&self, store: &Store) -> Result<Option<u64>> {
        if store.site_parts().is_none() {
            return Ok(None);
        }
        let counters = store.counters()?;
        let pages = counters.known.saturating_add(counters.crawled);
        Ok(Some(pages).filter(|pages| *pages > self.share_limit()))
    }

    /// Returns the number of pages up to which one process loads all of them.
    pub(super) fn share_limit(&self) -> u64 {
        self.share_above.unwrap_or(DEFAULT_SHARE_ABOVE)
    }

    /// Returns the name of the plan after validating the request.
    pub(super) fn named(&self) -> Result<&str> {
        let plan = self.plan.as_deref().unwrap_or(DEFAULT_PLAN);
        check_name(plan)?;
        if self.keep == Some(0) {
            return Err(RequestError::KeepsNothing.into());
        }
        Ok(plan)
    }
}
