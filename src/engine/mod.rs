//! The engine: loads graphs from the store, passes them to the algorithms, and stores the results.
//!
//! Its modules in order; a module imports only from those above it:
//!
//! | module | purpose |
//! | --- | --- |
//! | `bank`, `error`, `clock`, `web_graph` | the folder; errors; the current time; the graph of all pages |
//! | `policy` | which pages may be seeds, and how many of them |
//! | `plan` | a method with its parameters, under a name |
//! | `history` | previous versions of pages; successors of dead seeds |
//! | `ingest` | applies a batch of records to the bank |
//! | `maintenance` | backup, restore, compaction, format migration |
//! | `refresh` | runs a plan: by `cores`, by `cover` of sites or `global` over the web |
//! | `query` | queries: seeds, cores, history, status; explanations; differences |
//! | `export` | the whole state as records that make another bank |
//! | `graph_export` | the links as graph files |
//! | `evaluate` | experiments from the papers |
//! | `scores` | degrees and centralities of every page, with the results of a plan |

mod bank;
mod clock;
mod error;
mod evaluate;
mod export;
mod graph_export;
mod history;
mod ingest;
mod maintenance;
mod plan;
mod policy;
mod query;
mod refresh;
mod scores;
mod web_graph;

pub use bank::Bank;
pub(crate) use bank::naming;
pub use error::{
    BadRecords, EngineError, ErrorKind, ExperimentError, ExportPart, Family, Hint, PlanError,
    RequestError, Result, UndoError,
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
    AliasCounts, BlockedCounts, ForgetReport, ForgetRequest, Format, IngestReport, IngestRequest,
    PushedBatch, SiteCounts, UndoReport,
};
pub use plan::{
    CorePlan, Method, NamedValue, Pages, Parameter, Plan, PlanOptions, Scope, Section, TakenBy,
    TuningRecord, ValueKind,
};
pub use policy::{Limit, List, PinRejection, Policy, RejectedPin, RejectionReason};
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
    DeletedPlan, ListChanges, PolicyView, RecomputeReason, RecomputedCores, RefreshReport,
    RefreshRequest, RefreshView, Shortage, ShortageReason, SiteChange, Stars, StepsView, TrialView,
    TuningView,
};
pub use scores::{PageScore, ScoresReport, ScoresRequest};

pub use maintenance::{RestoreRequest, backups, restore, restore_with_blocklist};

// Types of requests and answers that other crates declare.
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
