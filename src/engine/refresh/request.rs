//! Request for a refresh.

use crate::engine::Result;
use crate::engine::error::RequestError;
use crate::engine::plan::{DEFAULT_PLAN, PlanOptions, check_name};

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
    /// is new or if its parameters change, unless the bank is a cluster bank of more than 50 million pages.
    pub judge: bool,
    /// Do not compare the list with baselines; the next refresh does.
    pub quick: bool,
    /// Fail if the bank has no page, instead of storing a refresh without seeds.
    pub rejects_empty_bank: bool,
    /// Replace the parameters of the plan by `options` and the defaults of a new plan, except for policies
    /// that all methods have. Required to change the goal, the method or the scope of a plan.
    pub replace: bool,
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
