//! What a caller asks of a refresh.

use crate::engine::plan::{DEFAULT_PLAN, PlanOptions, check_name};
use crate::engine::{EngineError, RequestError};

/// What to refresh, and how.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{CoverMethod, Method, PlanOptions, RefreshRequest};
///
/// let request = RefreshRequest {
///     plan: Some("sites".to_owned()),
///     options: PlanOptions {
///         method: Some(Method::Cover(CoverMethod::MaxWeight)),
///         per_site: Some(3),
///         ..PlanOptions::default()
///     },
///     ..RefreshRequest::default()
/// };
/// // One crawled page on each of two sites. The plan keeps its parameters.
/// assert_eq!(bank.refresh(&request, &Unwatched)?.view.seeds, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a switch of its own, and any of them go together"
)]
pub struct RefreshRequest {
    /// The plan; the default plan where `None`. Another one that the bank does not have is made only
    /// where `options` say something: a name alone may be a slip.
    pub plan: Option<String>,
    /// Parameters; where they are silent the plan's own are taken, then the defaults.
    pub options: PlanOptions,
    /// Take nothing over from earlier refreshes.
    pub cold: bool,
    /// Keep only so many refreshes of the plan, this one included.
    pub keep: Option<u32>,
    /// Wait while another process writes to the bank.
    pub wait: bool,
    /// Tell why cores had to be computed.
    pub explain_cost: bool,
    /// Over the web with a budget: try hops and prices again, but for those that `options` give.
    pub tune: bool,
}

impl RefreshRequest {
    /// The name of the plan, once it is clear that the request makes sense apart from the bank.
    pub(super) fn named(&self) -> Result<&str, EngineError> {
        let plan = self.plan.as_deref().unwrap_or(DEFAULT_PLAN);
        check_name(plan)?;
        if self.keep == Some(0) {
            return Err(RequestError::KeepsNothing.into());
        }
        Ok(plan)
    }
}
