//! The data of a report, from which the page is rendered, and which the JSON file beside it contains
//! (`schema/report.schema.json`).

use std::collections::BTreeMap;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::evaluate::{
    AbsentReason, BudgetEvaluation, CoverageEvaluation, CrawlEvaluation, DistancesEvaluation,
};
use crate::engine::plan::Method;
use crate::engine::query::{CounterView, ScoredUrl, Seed, SeedDiff, SeedResults, Turnover};
use crate::engine::refresh::RefreshView;
use crate::html::text::Count;

/// The report on one refresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Report {
    /// The name of the bank: the last component of its path.
    pub bank: String,
    /// The refresh.
    pub refresh: RefreshView,
    /// The method that selected its seeds.
    pub method: Method,
    /// The stored previous refreshes of the plan, in order.
    pub previous_refreshes: Vec<RefreshView>,
    /// The number of sites with at least one known, crawled or gone page.
    pub sites: u64,
    /// Totals of the bank after its last batch, the state that the experiments run on.
    pub counters: CounterView,
    /// The seeds, best first.
    pub seeds: Vec<ReportSeed>,
    /// The cores, in order; empty for other methods.
    pub cores: Vec<CoreSummary>,
    /// A crawl from the seeds compared with crawls from random pages; `None` if it was not measured, as for
    /// the other experiments.
    pub crawl: Option<CrawlEvaluation>,
    /// The distances between cores.
    pub distances: Option<DistancesEvaluation>,
    /// The coverage of cover methods.
    pub coverage: Option<CoverageEvaluation>,
    /// Crawls within a budget of pages, from the seeds and then from those of other plans.
    pub budget: Option<BudgetEvaluation>,
    /// The reasons why experiments were left out, one sentence each.
    pub skipped: Vec<String>,
    /// What crawlers fetched from the seeds of this list or, if they have not started from it yet, of the plan's last
    /// list from which they have; `None` if there is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub results: Option<SeedResults>,
    /// The changes since the plan's previous refresh; `None` if none is stored.
    pub changes: Option<SeedDiff>,
    /// The seeds that the plan's last refreshes up to this one kept, gained and lost, in order, at most twelve;
    /// empty if no previous refresh is stored.
    pub turnover: Vec<Turnover>,
}

/// A seed with its evidence and its present state.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ReportSeed {
    /// The seed.
    #[serde(flatten)]
    pub seed: Seed,
    /// Whether the plan's previous refresh has it; `None` if none is stored.
    pub in_previous: Option<bool>,
    /// The reason why it can no longer start a crawl; `None` if it can.
    pub dead: Option<AbsentReason>,
}

/// The summary of a core.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreSummary {
    /// Its rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// The largest singular value of its region.
    #[schemars(range(min = 0))]
    pub sigma: f64,
    /// The links from its hubs to its authorities, in per cent of all pairs.
    pub density: f64,
    /// The number of its hubs.
    pub hubs: u64,
    /// The number of its authorities.
    pub authorities: u64,
    /// The sites of its hubs, by descending number of hubs.
    pub hub_sites: Vec<SiteShare>,
    /// The sites of its authorities, by descending number of authorities.
    pub authority_sites: Vec<SiteShare>,
    /// Its best authorities, at most ten.
    pub best_authorities: Vec<String>,
    /// Its pages with their scores; `None` beyond the first 200 cores.
    pub members: Option<CoreMembers>,
    /// The hub that is the seed; the best hub if the core gives no seed.
    pub seed: String,
}

impl CoreSummary {
    /// Whether the core has a single hub or a single authority.
    pub(super) const fn is_star(&self) -> bool {
        self.hubs < 2 || self.authorities < 2
    }

    /// Whether its hubs are several pages of one site, as the pages of a template are.
    pub(super) fn is_template(&self) -> bool {
        self.hubs > 1 && self.hub_sites.len() == 1
    }

    /// The number of hubs and of pages that they link to, in words.
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
    /// The hubs with their scores.
    pub hubs: Vec<ScoredUrl>,
    /// The authorities with their scores.
    pub authorities: Vec<ScoredUrl>,
}

/// A site with a number of pages.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteShare {
    /// The site.
    pub site: String,
    /// The number of pages.
    pub pages: u64,
}

impl SiteShare {
    /// Counts equal names of sites; descending, ties by name.
    pub(super) fn count(sites: impl Iterator<Item = String>) -> Vec<Self> {
        let mut pages: BTreeMap<String, u64> = BTreeMap::new();
        for site in sites {
            *pages.entry(site).or_default() += 1;
        }
        let shares = pages.into_iter().map(|(site, pages)| Self { site, pages });
        let mut shares: Vec<Self> = shares.collect();
        // Already in the order of names, and the sort is stable.
        shares.sort_by_key(|share| std::cmp::Reverse(share.pages));
        shares
    }
}
