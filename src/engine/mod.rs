//! The engine joins the rooms: it loads graphs from the store, hands them to the algorithms, and
//! stores the results.
//!
//! Its wings, in order; a wing imports only from those above it:
//!
//! | wing | purpose |
//! | --- | --- |
//! | `bank`, `error`, `clock`, `whole` | the folder; what can go wrong; the time of day; the whole graph in memory |
//! | `upkeep` | backups, restoring, compaction, the format |
//! | `policy` | which pages may be seeds, and how many of them together |
//! | `plan` | a method and its parameters under a name |
//! | `history` | what batches kept of the past; who succeeds a dead seed |
//! | `ingest` | a batch of records worked into the bank |
//! | `refresh` | one run of a plan, by `cores`, by `cover` of sites or over the `web` |
//! | `query` | seeds, cores, history, status; why a page is a seed; what changed |
//! | `export` | the whole state as records that make another bank |
//! | `graph_export` | the links as graphs that others read |
//! | `evaluate` | the papers' experiments |
//! | `scores` | degrees and centralities of every page, with what a plan knows of it |

mod bank;
mod clock;
mod error;
mod evaluate;
mod export;
mod graph_export;
mod history;
mod ingest;
mod plan;
mod policy;
mod query;
mod refresh;
mod scores;
mod upkeep;
mod whole;

pub use bank::Bank;
pub(crate) use bank::naming;
pub use error::{
    BadRecords, EngineError, ExperimentError, Exported, Failure, Family, Hint, NoUndo, PlanError,
    RequestError,
};
pub use evaluate::{
    AbsentSeed, AbsentWhy, Baseline, Beside, BudgetEvaluation, BudgetRequest, BudgetRow, ByFetches,
    Claim, ComparedList, Comparison, CorePlace, CoverageCurve, CoverageEvaluation, CoveragePoint,
    CoverageRequest, CoverageShare, CrawlDepth, CrawlEvaluation, CrawlRequest, DistanceSpread,
    DistancesEvaluation, DistancesRequest, GatheredView, GraphDistance, ListKind, ListView,
    MethodsEvaluation, MethodsRequest, RandomDepth, Recommended, SeedList, StateView, TopPage,
};
pub use export::ExportReport;
pub use graph_export::{GraphFormat, GraphOf, GraphReport, GraphRequest};
pub use ingest::{
    AliasCounts, BarredCounts, ForgetReport, ForgetRequest, Format, IngestReport, IngestRequest,
    PushedBatch, SitesCounts, UndoReport,
};
pub use plan::{
    CorePlan, Kind, Method, Pages, Parameter, Plan, PlanOptions, Scope, Section, TakenBy, Tuned,
    Word,
};
pub use policy::{HeldBy, LeftOutPin, Limit, List, PinFault, Policy};
pub use query::{
    AliasView, Aliases, Appearance, AttributeSource, BatchSummary, BatchView, ByPolicy, Cause,
    Change, CompareRequest, CoreLinks, CoreMember, CoreNumbers, CoreSeed, CoreView, CoresOfSite,
    CounterView, CoverOfSite, CoverSeed, CrawlComparison, CrawlResult, CurrentPage, DiffRequest,
    DiffSide, DiffSummary, DryRun, Event, Evidence, Explainer, Explanation, FoundPage, FoundSite,
    GroupSize, History, IneligibleReason, LastBatch, LineState, LinkDirection, LinkedCore,
    LinkedPage, LinkedPages, LinkedRequest, LinkedSite, LinksBySite, ListComparison, ListCounts,
    ListRelation, ListWithPrevious, ListedLine, ListedPage, NearCore, NotAdded, PageFacts,
    PageHistory, PageInPlan, PageLimits, PageView, PagesOfCore, PlanDetail, PlanHistory,
    PlanSummary, PlanView, Plans, PolicyVerdict, PreviousList, QuotaBy, QuotaRequest, Quotas,
    ReadCost, RefreshRun, RepeatedDigest, Role, RowSums, ScoredUrl, SearchLimits, SearchResult,
    Seed, SeedByPolicy, SeedChange, SeedDiff, SeedOfCore, SeedOfSite, SeedStates, SeenInBatch,
    SidePosition, SiteAttributes, SiteDigests, SiteExplanation, SiteFacts, SiteInPlan, SiteLimits,
    SiteLinkCounts, SiteLinks, SitePageCounts, SiteQuota, SiteSeed, SiteWhy, Status, SuccessorView,
    TableSize, Turnover, Uncovered, Undoable, Unreached, UrlList, ValueBreakdown, WebOfSite,
    WebSeed, WebTerms, WebValueBreakdown, Which, Why,
};
pub use refresh::{
    ChangesView, Cost, DeletedPlan, PolicyView, Reason, RefreshReport, RefreshRequest, RefreshView,
    Shortage, ShortageReason, SiteChange, Stars, StepsView, TrialView, TuningView,
};
pub use scores::{PageScore, ScoresReport, ScoresRequest};

pub use upkeep::{RestoreRequest, backups, restore, restore_without};

// ValueBreakdown of requests and answers that a room below declares.
pub use seedbank_algorithms::cores::{Density, Growth, Hits, Pick, Slack};
pub use seedbank_algorithms::cover::global::{ValueBy, WebChoice};
pub use seedbank_algorithms::cover::{
    BadParams as BadCover, Covered, Method as CoverMethod, Share, Value,
};
pub use seedbank_algorithms::evaluate::Estimate;
pub use seedbank_algorithms::page::AliasBy;
pub use seedbank_formats::ingest::{BadPattern, MEDIA};
pub use seedbank_store::records::{BatchId, BatchKind, CoverStop, PageState, RefreshId};
pub use seedbank_store::tables::FORMAT;
pub use seedbank_store::{
    BackupError, BackupReport, BackupRequest, BackupSummary, BackupView, Backups, BankCheck,
    CompactReport, DamagedBackup, Holds, Lost, Mended, MigrateReport, RepairReport, RestoreReport,
    StateCheck, StoreError, StoreHint, Verdict,
};
