//! Queries: seeds, cores, history, status, pages, sites, why a page is a seed or not, and what changed
//! between two lists. All read the published state.

pub(crate) mod answers;
mod canonical;
mod compare;
pub(crate) mod diff;
mod dry_run;
pub(crate) mod explain;
mod linked;
mod lists;
pub(crate) mod metrics;
pub(crate) mod nearest;
pub(crate) mod page_facts;
mod quotas;
mod search;
mod site_facts;
mod status;
mod store_crawl;
pub(crate) mod views;

// Types of requests and answers that other crates declare.
pub use seedbank_algorithms::fetch_status::FetchStatus;
pub use seedbank_algorithms::page::PageKind;
pub use seedbank_store::records::{CoverStop, PageState};

pub use crate::engine::history::seed_counts::{SeedCounts, SeedPromise};
pub use crate::engine::repeated_content::RepeatedContent;
pub use crate::engine::web_graph::MirroredHosts;
pub use answers::{
    AliasView, BatchSummary, BatchView, ByPolicy, CoreView, CounterView, Evidence, Failures,
    History, PageView, Seed, SuccessorView, Which,
};
pub use canonical::{CanonicalCounts, CanonicalEvidence, CanonicalView};
pub use compare::{
    CompareRequest, CrawlComparison, LineState, ListComparison, ListCounts, ListRelation,
    ListedLine, ListedPage,
};
pub use diff::{Cause, Change, DiffRequest, DiffSide, DiffSummary, SeedChange, SeedDiff, UrlList};
pub use dry_run::DryRun;
pub(crate) use dry_run::dry_run;
pub use explain::{
    CoreMember, CoreNumbers, CoreSeed, CoresOfSite, CoverOfSite, CoverSeed, CurrentPage, Explainer,
    Explanation, IneligibleReason, NearCore, NotAdded, PageInPlan, PagesOfCore, PolicyVerdict,
    ReadCost, RefreshRun, RevisitView, Role, RowSums, ScoredUrl, SeedByPolicy, SeedOfCore,
    SeedOfSite, SidePosition, SiteExplanation, SiteInPlan, SiteSeed, SiteWhy, Uncovered, Unreached,
    ValueBreakdown, WebOfSite, WebSeed, WebTerms, WebValueBreakdown, Why,
};
pub use linked::{CoreLinks, LinkedCore};
pub use linked::{LinkDirection, LinkedPage, LinkedPages, LinkedRequest};
pub use lists::Turnover;
pub use lists::{Cores, Seeds};
pub use lists::{ListWithPrevious, PreviousList};
pub use lists::{SeedResult, SeedResults};
pub use page_facts::FetchOrigin;
pub use page_facts::{Aliases, AttributeSource, PageFacts, PageLimits, PageYield, SeenInBatch};
pub use page_facts::{Appearance, PageHistory, PlanHistory};
pub use page_facts::{LinksBySite, SiteLinks};
pub use quotas::{Balance, Division, HeavySite};
pub use quotas::{QuotaBy, QuotaRequest, Quotas, SiteQuota};
pub use search::{FoundPage, FoundSite, SearchLimits, SearchResult};
pub use site_facts::UrlShape;
pub use site_facts::{
    FailingPages, LinkedSite, RepeatedDigest, SiteAttributes, SiteDigests, SiteFacts, SiteLimits,
    SiteLinkCounts, SitePageCounts,
};
pub use status::Event;
pub use status::{GroupSize, LastBatch, PlanView, SeedStates, Status, TableSize, Undoable};
pub use status::{PlanDetail, PlanSummary, Plans};
pub use store_crawl::CrawlResult;
