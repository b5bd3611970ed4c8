//! The comparison of a plan's list with baselines: its input, and the function that
//! [`Bank::refresh`](crate::engine::Bank::refresh) passes to a refresh.

use crate::engine::Result;
use crate::engine::plan::{HeldOutVerdict, PlanOptions};
use crate::engine::policy::LoadedPolicy;
use seedbank_algorithms::cover::global::Setting;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::Store;

/// A list to compare.
pub(crate) struct Judged {
    /// The plan, with tuned parameters.
    pub(crate) plan: PlanOptions,
    pub(crate) policy: LoadedPolicy,
    /// The settings with which the draws of tuning judge the plan, by draw; later ones have the setting of the plan. Empty
    /// if the plan was not tuned now: then other draws judge it.
    pub(crate) settings: Vec<Setting>,
    /// The lists of these settings on these draws, if they are known.
    pub(crate) lists: Vec<Vec<PageId>>,
    /// The pages of the list, best first.
    pub(crate) list: Vec<PageId>,
    /// Number of seeds requested, or selected if the plan selects per site.
    pub(crate) seeds: u32,
    /// Number of pages that the crawl fetches.
    pub(crate) budget: u64,
    /// Number of times that pages are held out, at least 1. On large webs it is less.
    pub(crate) draws: u32,
}

/// Compares a list; `None` if too few pages are crawled to hold some out.
pub(crate) type Judge = fn(&Store, &Judged, &dyn Watch) -> Result<Option<HeldOutVerdict>>;
