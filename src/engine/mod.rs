//! The engine joins the rooms: it loads graphs from the store, hands them to the algorithms, and
//! stores what comes back.

mod answers;
mod batch;
mod clock;
mod cost;
mod cover_evidence;
mod cover_reach;
mod cover_seats;
mod decide;
mod diff;
mod error;
mod evaluate;
mod evidence_cores;
mod explain;
mod findings;
mod hubs;
mod ledger;
mod linked;
mod memory;
mod nearest;
mod neighbourhood;
mod page_history;
mod past;
mod plan;
mod refresh;
mod refresh_changed;
mod refresh_cores;
mod refresh_cover;
mod report;
mod sites;
mod standings;
mod succession;
mod views;
mod whole;

use std::path::{Path, PathBuf};

pub use answers::{
    BatchSummary, BatchView, CoreView, CounterView, Evidence, History, PageView, PlanView,
    RefreshView, Seed, Status, TableSize, Which,
};
pub use batch::{Format, IngestReport, IngestRequest};
pub use cost::{Cost, Reason, SiteChange};
pub use diff::{
    Cause, Change, DiffRequest, DiffSide, DiffSummary, SeedChange, SeedDiff, SuccessorView, UrlList,
};
pub use error::{EngineError, Failure};
pub use evaluate::{
    AbsentSeed, AbsentWhy, BudgetEvaluation, BudgetRequest, BudgetRow, Claim, CorePlace,
    CoverageCurve, CoverageEvaluation, CoveragePoint, CoverageRequest, CoverageShare, CrawlDepth,
    CrawlEvaluation, CrawlRequest, DistanceSpread, DistancesEvaluation, DistancesRequest,
    GraphDistance, ListView, RandomDepth, SeedList, StateView, TopPage,
};
pub use explain::{
    Asked, CoreMember, CoreNumbers, CoreSeed, CoresOfSite, CoverOfSite, CoverSeed, Explainer,
    Explanation, LeftOut, NearCore, NotTaken, PageToday, PagesOfCore, Parts, PlaceView, ReadCost,
    Role, RowSums, ScoredUrl, SeedOfCore, SeedOfSite, SiteExplanation, SiteSeed, SiteWhy,
    Uncovered, Why,
};
pub use page_history::{Appearance, PageHistory, PlanHistory};
pub use plan::{CorePlan, DEFAULT_PLAN, Method, Pages, Plan, PlanOptions};
pub use refresh::{RefreshReport, RefreshRequest};
pub use report::ReportRequest;

use crate::ingest::{SUFFIX_LIST, SiteMode};
use crate::storage::records::Settings;
use crate::storage::{self, StoreError};

/// A bank: one database directory.
///
/// The handle is cheap and holds nothing open. Each call opens what it needs: one writer at a
/// time, any number of readers beside it.
#[derive(Clone, Debug)]
pub struct Bank {
    path: PathBuf,
}

impl Bank {
    /// Makes an empty bank in a folder that does not exist or is empty.
    pub fn create(path: &Path, mode: SiteMode) -> Result<Self, EngineError> {
        let settings = Settings {
            site_mode: match mode {
                SiteMode::Host => "host".to_owned(),
                SiteMode::Domain => "domain".to_owned(),
            },
            suffix_list: SUFFIX_LIST.to_owned(),
        };
        storage::create(path, &settings)?;
        Ok(Self::at(path))
    }

    /// The bank in this folder, which is looked at when something is asked of it.
    #[must_use]
    pub fn at(path: &Path) -> Self {
        Self {
            path: path.to_path_buf(),
        }
    }

    /// The bank's folder.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// How a bank cuts sites.
fn site_mode(settings: &Settings) -> Result<SiteMode, StoreError> {
    match settings.site_mode.as_str() {
        "host" => Ok(SiteMode::Host),
        "domain" => Ok(SiteMode::Domain),
        other => Err(StoreError::Damaged {
            table: storage::tables::META.name,
            key: "Settings".to_owned(),
            what: format!("there is no site mode {other:?}"),
        }),
    }
}
