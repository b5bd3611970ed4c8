//! The verdict on a plan: its list compared with baselines, with pages held out.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Crawls, Duplicates, Goal};
use seedbank_algorithms::evaluate::Estimate;
use seedbank_store::records::BatchId;

/// The figure by which seed lists are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Measure {
    /// The number of crawled pages that a crawl fetches.
    #[default]
    Crawled,
    /// The number of distinct contents of the crawled pages that a crawl fetches.
    Contents,
    /// The number of pages that a crawl fetches or finds links to, and that were not known to the
    /// selection.
    Discovered,
    /// The PageRank of the pages that a crawl fetches, which adds up to 1 over all pages.
    Pagerank,
}

impl Measure {
    /// Returns the measure of a plan with this goal, or without one, in which duplicates count like this.
    #[must_use]
    pub const fn of_goal(goal: Option<Goal>, duplicates: Option<Duplicates>) -> Self {
        match goal {
            Some(Goal::Discovery) => Self::Discovered,
            Some(Goal::Importance) => Self::Pagerank,
            Some(Goal::Coverage | Goal::Communities | Goal::Sites) | None => match duplicates {
                Some(Duplicates::Once) => Self::Contents,
                Some(Duplicates::Each) | None => Self::Crawled,
            },
        }
    }
}

/// A comparison of a plan's list with the baselines: the plan selects without a tenth of the crawled
/// pages, and a crawl over everything known is measured. Figures are means over the draws.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct HeldOutVerdict {
    /// The last batch of the state on which the plan was judged.
    pub batch: BatchId,
    /// Number of batches between that state and the one on which the list was selected. 0 is the verdict on this list;
    /// otherwise, another list of the plan was judged.
    #[serde(default)]
    pub age_batches: u32,
    /// Number of seeds requested.
    pub seeds: u32,
    /// Number of pages that the crawl fetches.
    #[schemars(range(min = 1))]
    pub budget: u64,
    /// The crawl. Figures of several are their geometric means.
    #[serde(default)]
    pub crawl: Crawls,
    /// The days after which a fetched page counts whole again; `null` if pages count whole at any time.
    #[serde(default)]
    pub whole_after: Option<f64>,
    /// Number of times that pages were held out.
    #[schemars(range(min = 1))]
    pub draws: u32,
    /// The figure that is compared.
    pub measure: Measure,
    /// The figures of the list itself and of the best baseline's list, with everything known; `null` by goal discovery, and in
    /// verdicts of earlier versions.
    #[serde(default)]
    pub list: Option<ListFigures>,
    /// The figure of the plan.
    pub found: Estimate,
    /// The name of the best baseline.
    pub baseline: String,
    /// The figure of the best baseline.
    pub baseline_found: Estimate,
    /// The ratio of the two; `None` if the figure of the best baseline is 0.
    pub times_best_baseline: Option<Estimate>,
    /// The part of the figures that was held out; `null` if the figure has none.
    #[serde(default)]
    pub new: Option<Compared>,
    /// The figures in a breadth-first crawl without limits; `null` if the crawl is one.
    #[serde(default)]
    pub breadth_first: Option<Compared>,
}

/// What crawls from two lists find.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ListFigures {
    /// The figure of the list.
    pub found: f64,
    /// The figure of the list of the best baseline.
    pub baseline_found: f64,
}

/// A figure of a plan and that of the best baseline by this figure.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Compared {
    /// The figure of the plan.
    pub found: Estimate,
    /// The name of the best baseline.
    pub baseline: String,
    /// The figure of the best baseline.
    pub baseline_found: Estimate,
    /// The ratio of the two; `None` if the figure of the best baseline is 0.
    pub times_best_baseline: Option<Estimate>,
}

impl HeldOutVerdict {
    /// Whether the list finds less than the best baseline; `false` if another list was judged.
    #[must_use]
    pub fn is_loss(&self) -> bool {
        let times = self.times_best_baseline.filter(|_| self.is_of_this_list());
        times.is_some_and(|times| times.mean < 1.0)
    }

    /// Whether the list was judged in the state on which it was selected.
    #[must_use]
    pub const fn is_of_this_list(&self) -> bool {
        self.age_batches == 0
    }
}
