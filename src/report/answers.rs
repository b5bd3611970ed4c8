//! What a report tells, as plain data: the page is made from it, and the JSON file beside the page
//! is it (`schema/report.schema.json`).

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::{
    AbsentWhy, BudgetEvaluation, CounterView, CoverageEvaluation, CrawlEvaluation,
    DistancesEvaluation, Method, RefreshView, ScoredUrl, Seed, SeedDiff, Turnover,
};
use crate::html::text::Count;

/// Everything that a report tells of one refresh, each part as the bank answers it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Report {
    /// The bank's name: the last part of its folder.
    pub bank: String,
    /// The refresh.
    pub refresh: RefreshView,
    /// How its seeds were selected.
    pub method: Method,
    /// The plan's refreshes before it that are kept, in order.
    pub previous_refreshes: Vec<RefreshView>,
    /// Sites with at least one page that is known, crawled or gone.
    pub sites: u64,
    /// Totals over the bank after its last batch; the experiments run on that state.
    pub counters: CounterView,
    /// Its seeds, best first.
    pub seeds: Vec<ReportSeed>,
    /// Its cores, in order; none where the method is not by cores.
    pub cores: Vec<CoreSummary>,
    /// A crawl from the seeds beside crawls from random pages; `None` where it was not measured, as
    /// for the other experiments.
    pub crawl: Option<CrawlEvaluation>,
    /// How far the cores are from each other.
    pub distances: Option<DistancesEvaluation>,
    /// What cover methods cover.
    pub coverage: Option<CoverageEvaluation>,
    /// What the seeds, and then those of other plans, give for so many pages.
    pub budget: Option<BudgetEvaluation>,
    /// Why an experiment could not be made, one sentence each.
    pub skipped: Vec<String>,
    /// What changed since the plan's refresh before this one; `None` where none is kept.
    pub changes: Option<SeedDiff>,
    /// What each of the plan's last refreshes up to this one kept, gained and lost, in order, at most
    /// twelve; none where none before it is kept.
    pub turnover: Vec<Turnover>,
}

/// A seed with its reason, and what became of it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ReportSeed {
    /// The seed.
    #[serde(flatten)]
    pub seed: Seed,
    /// Whether the plan's refresh before this one had it; `None` where none is kept.
    pub in_previous: Option<bool>,
    /// Why it can start no crawl any more; `None` while it can.
    pub dead: Option<AbsentWhy>,
}

/// A core in numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreSummary {
    /// Its rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// The singular value of the region that it came from.
    #[schemars(range(min = 0))]
    pub sigma: f64,
    /// Links from its hubs to its authorities, in per cent of all that could be.
    pub density: f64,
    /// Its hubs.
    pub hubs: u64,
    /// Its authorities.
    pub authorities: u64,
    /// The sites of its hubs, the one with the most hubs first.
    pub hub_sites: Vec<SiteShare>,
    /// The sites of its authorities, the one with the most authorities first.
    pub authority_sites: Vec<SiteShare>,
    /// Its best authorities, at most ten.
    pub best_authorities: Vec<String>,
    /// Its pages with their scores; `None` beyond the first 200 cores.
    pub members: Option<CoreMembers>,
    /// The hub that became the seed; where the core gives none, its best hub.
    pub seed: String,
}

impl CoreSummary {
    /// Whether it has a single hub or a single authority.
    pub(super) const fn is_star(&self) -> bool {
        self.hubs < 2 || self.authorities < 2
    }

    /// Its hubs and how many pages they link to, in words.
    pub(super) fn group(&self) -> String {
        let hubs = self.hubs.counted("page that links", "pages that link");
        match (self.hubs, self.authorities) {
            (1, authorities) => format!("{hubs} to {}", authorities.counted("page", "pages")),
            (_, 1) => format!("{hubs} to the same page"),
            (_, authorities) => format!("{hubs} to the same {} pages", authorities.whole()),
        }
    }
}

/// The pages of a core, at most fifty of each side, in the order in which they were taken.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreMembers {
    /// Its hubs with their scores.
    pub hubs: Vec<ScoredUrl>,
    /// Its authorities with their scores.
    pub authorities: Vec<ScoredUrl>,
}

/// A site's part of a core.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteShare {
    /// The site.
    pub site: String,
    /// Its pages.
    pub pages: u64,
}
