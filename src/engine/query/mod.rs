//! What a bank can be asked: seeds, cores, history, status; what it knows of a page or a site; why a
//! page is a seed, or why not; and what changed between two lists.

pub(crate) mod answers;
mod by_site;
mod compare;
mod core_links;
pub(crate) mod diff;
mod dry_run;
mod earlier;
mod events;
pub(crate) mod explain;
mod linked;
mod metrics;
pub(crate) mod nearest;
mod page_facts;
pub(crate) mod page_history;
mod plans;
mod quotas;
mod search;
mod site_facts;
mod status;
mod turnover;
pub(crate) mod views;

pub use answers::{
    AliasView, BatchSummary, BatchView, ByPolicy, CoreView, CounterView, Evidence, History,
    PageView, Seed, SuccessorView, Which,
};
pub use by_site::{LinksBySite, SiteLinks};
pub use compare::{
    CompareRequest, CrawlFound, ListComparison, ListCounts, ListWorth, ListedAs, ListedLine,
    ListedPage, Standing,
};
pub use core_links::{CoreLinks, LinkedCore};
pub use diff::{Cause, Change, DiffRequest, DiffSide, DiffSummary, SeedChange, SeedDiff, UrlList};
pub use dry_run::DryRun;
pub use earlier::{EarlierList, ListAndEarlier};
pub use events::Event;
pub use explain::{
    Asked, CoreMember, CoreNumbers, CoreSeed, CoresOfSite, CoverOfSite, CoverSeed, Explainer,
    Explanation, InPlan, LeftOut, NearCore, NotTaken, PageToday, PagesOfCore, Parts, PlaceView,
    PolicySays, ReadCost, Role, RowSums, ScoredUrl, SeedByPolicy, SeedOfCore, SeedOfSite,
    SiteExplanation, SiteInPlan, SiteSeed, SiteWhy, Uncovered, Unreached, WebOfSite, WebParts,
    WebSeed, WebTerms, Why,
};
pub use linked::{LinkDirection, LinkedPage, LinkedPages, LinkedRequest};
pub use page_facts::{Aliases, GivenOf, PageFacts, PageLimits, Seen};
pub use page_history::{Appearance, PageHistory, PlanHistory};
pub use plans::{PlanDetail, PlanSummary, Plans};
pub use quotas::{QuotaBy, QuotaRequest, Quotas, SiteQuota};
pub use search::{Found, FoundPage, FoundSite, SearchLimits};
pub use site_facts::{
    DigestsOfSite, GivenOfSite, LinkedSite, LinksOfSite, PagesOfSite, RepeatedDigest, SiteFacts,
    SiteLimits,
};
pub use status::{GroupSize, LastBatch, ListToday, PlanView, Status, TableSize, Undoable};
pub use turnover::Turnover;
