//! Queries: seeds, cores, history, status, pages, sites, why a page is a seed or not, and what changed
//! between two lists. All read the published state.

pub(crate) mod answers;
mod balance;
mod by_site;
mod compare;
mod core_links;
pub(crate) mod diff;
mod dry_run;
mod events;
pub(crate) mod explain;
mod fetch_origin;
mod linked;
pub(crate) mod metrics;
pub(crate) mod nearest;
mod page_facts;
pub(crate) mod page_history;
mod plans;
mod previous_list;
mod quotas;
mod refresh_iterators;
mod search;
mod seed_results;
mod site_facts;
mod status;
mod turnover;
pub(crate) mod views;

// Types of requests and answers that other crates declare.
pub use seedbank_algorithms::fetch_status::FetchStatus;
pub use seedbank_algorithms::page::AliasBy;
pub use seedbank_store::records::{CoverStop, Failures, PageState};

pub use crate::engine::history::seed_counts::{SeedCounts, SeedPromise};
pub use answers::{
    AliasView, BatchSummary, BatchView, ByPolicy, CoreView, CounterView, Evidence, History,
    PageView, Seed, SuccessorView, Which,
};
pub use balance::{Balance, Division, HeavySite};
pub use by_site::{LinksBySite, SiteLinks};
pub use compare::{
    CompareRequest, CrawlComparison, CrawlResult, LineState, ListComparison, ListCounts,
    ListRelation, ListedLine, ListedPage,
};
pub use core_links::{CoreLinks, LinkedCore};
pub use diff::{Cause, Change, DiffRequest, DiffSide, DiffSummary, SeedChange, SeedDiff, UrlList};
pub use dry_run::DryRun;
pub(crate) use dry_run::dry_run;
pub use events::Event;
pub use explain::{
    CoreMember, CoreNumbers, CoreSeed, CoresOfSite, CoverOfSite, CoverSeed, CurrentPage, Explainer,
    Explanation, IneligibleReason, NearCore, NotAdded, PageInPlan, PagesOfCore, PolicyVerdict,
    ReadCost, RefreshRun, Role, RowSums, ScoredUrl, SeedByPolicy, SeedOfCore, SeedOfSite,
    SidePosition, SiteExplanation, SiteInPlan, SiteSeed, SiteWhy, Uncovered, Unreached,
    ValueBreakdown, WebOfSite, WebSeed, WebTerms, WebValueBreakdown, Why,
};
pub use fetch_origin::FetchOrigin;
pub use linked::{LinkDirection, LinkedPage, LinkedPages, LinkedRequest};
pub use page_facts::{Aliases, AttributeSource, PageFacts, PageLimits, PageYield, SeenInBatch};
pub use page_history::{Appearance, PageHistory, PlanHistory};
pub use plans::{PlanDetail, PlanSummary, Plans};
pub use previous_list::{ListWithPrevious, PreviousList};
pub use quotas::{QuotaBy, QuotaRequest, Quotas, SiteQuota};
pub use refresh_iterators::{Cores, Seeds};
pub use search::{FoundPage, FoundSite, SearchLimits, SearchResult};
pub use seed_results::{SeedResult, SeedResults};
pub use site_facts::{
    FailingPages, LinkedSite, RepeatedDigest, SiteAttributes, SiteDigests, SiteFacts, SiteLimits,
    SiteLinkCounts, SitePageCounts,
};
pub use status::{GroupSize, LastBatch, PlanView, SeedStates, Status, TableSize, Undoable};
pub use turnover::Turnover;
