//! Answers of `explain`. Their JSON Schema is in `schema/`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::core_answers::{CoreMember, CoreSeed, NearCore, RowSums};
use super::cover_answers::{CoverSeed, SiteSeed, Uncovered, Unreached, WebSeed};
use super::policy_verdict::PolicyVerdict;
use crate::engine::plan::{Method, NAME_PATTERN, by_cores, by_cover};
use crate::engine::query::answers::AliasView;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchId, PageState, RefreshId};

/// Explains why a page is a seed of a refresh or not.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Which;
/// use seedbank::engine::query::Why;
///
/// let explanation = bank.explain("http://x.example/", &Which::default())?;
/// assert!(matches!(explanation.why, Why::CoreMember(_)));
/// assert!(explanation.cost.reads <= 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Explanation {
    /// Normalised URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Site of the page.
    pub site: String,
    /// Refresh that the answer is about.
    #[serde(flatten)]
    pub run: RefreshRun,
    /// Current state of the page, which may be later than the refresh.
    pub page: CurrentPage,
    /// Verdict of the plan's policies; absent if none affects the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyVerdict>,
    /// Reason with its evidence.
    #[serde(flatten)]
    pub why: Why,
    /// Reads that the answer took.
    #[serde(skip)]
    pub cost: ReadCost,
}

/// Refresh that an answer is about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RefreshRun {
    /// Plan of the refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// Method that selected the seeds.
    pub method: Method,
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// Last batch of the state that the refresh ran on.
    pub state_batch: BatchId,
    /// Number of seeds on its list.
    pub seeds: u32,
    /// Whether all results were proven.
    pub certified: bool,
}

/// Reads of the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadCost {
    /// Number of point reads, and of entries read in scans.
    pub reads: u64,
    /// Bytes of keys and values read.
    pub bytes: u64,
}

/// Page in the published state, which may be later than the refresh.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CurrentPage {
    /// Known, crawled, gone, unlinked (no page links to it any more), or an alias.
    pub state: PageState,
    /// Target of the alias; absent for any other page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<AliasView>,
    /// Spam mark of the page, or else of its site.
    pub spam: bool,
    /// Batch that first mentioned the page.
    #[schemars(range(min = 1))]
    pub first_seen: BatchId,
    /// Last batch with a record for the page; absent for a page known only from links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub last_seen: Option<BatchId>,
    /// Whether that batch is later than the state that the refresh ran on.
    pub recorded_since_refresh: bool,
}

/// Why a page is a seed of a refresh or not, with the evidence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Why {
    /// Cores: the hub chosen from a core.
    #[schemars(transform = by_cores)]
    CoreSeed(Box<CoreSeed>),
    /// Cores: another hub of a core, or an authority.
    #[schemars(transform = by_cores)]
    CoreMember(Box<CoreMember>),
    /// Cores: links to an authority of a core, or is linked from a hub of one, but was not added.
    #[schemars(transform = by_cores)]
    NearCore(Box<NearCore>),
    /// Cores: linked with no core. The row sums compare its neighbourhood with the last core.
    #[schemars(transform = by_cores)]
    NoCore(RowSums),
    /// Cores: has no inter-site links that count.
    #[schemars(transform = by_cores)]
    NoInterSiteLinks {
        /// Whether it has inter-site links, but the pages at all their other ends were ineligible.
        neighbours_ineligible: bool,
    },
    /// Cover: picked on its site.
    #[schemars(transform = by_cover)]
    CoverSeed(Box<CoverSeed>),
    /// Cover: covered by a seed.
    #[schemars(transform = by_cover)]
    Covered {
        /// First seed that covers it.
        by: SiteSeed,
        /// Distance from that seed, in links.
        hop: u32,
    },
    /// Cover: covered by no seed.
    #[schemars(transform = by_cover)]
    Uncovered(Box<Uncovered>),
    /// Cover: its site was allocated no seeds.
    #[schemars(transform = by_cover)]
    NoSeats {
        /// Number of crawled pages of the site when the refresh ran.
        #[schemars(range(min = 1))]
        crawled: u32,
    },
    /// Over the web: picked.
    #[schemars(transform = by_cover)]
    WebSeed(Box<WebSeed>),
    /// Over the web: reached by a seed.
    #[schemars(transform = by_cover)]
    Reached {
        /// The first pick that reaches it.
        by: SiteSeed,
        /// Distance from that seed, in links.
        hop: u32,
    },
    /// Over the web: eligible as a seed, and reached by none.
    #[schemars(transform = by_cover)]
    Unreached(Box<Unreached>),
    /// Not eligible.
    Ineligible {
        /// Why it was not eligible.
        reason: IneligibleReason,
    },
    /// Not known to the bank when the refresh ran.
    NotYetKnown,
}

/// Why a page was not eligible for a refresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IneligibleReason {
    /// Marked as spam.
    Spam,
    /// Gone.
    Gone,
    /// Known only from links.
    NotCrawled,
    /// No page links to it any more, and it has no record.
    Unlinked,
    /// Redirects to another page, or names another one as canonical, which counts instead.
    Alias,
    /// Excluded from the graph by a list of the plan.
    Excluded,
    /// Over the web: has no links, and no seed reaches it.
    NoLinks,
}
