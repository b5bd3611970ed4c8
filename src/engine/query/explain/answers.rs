//! What `explain` answers with. As JSON it has a schema in `schema/`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::core_answers::{CoreMember, CoreSeed, NearCore, RowSums};
use super::cover_answers::{CoverSeed, SiteSeed, Uncovered, Unreached, WebSeed};
use super::policy_verdict::PolicyVerdict;
use crate::engine::plan::{Method, NAME_PATTERN, by_cores, by_cover};
use crate::engine::query::answers::AliasView;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchId, PageState, RefreshId};

/// Why a page is a seed of a refresh, or why not.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{Which, Why};
///
/// let explanation = bank.explain("http://x.example/", &Which::default())?;
/// assert!(matches!(explanation.why, Why::CoreMember(_)));
/// assert!(explanation.cost.reads <= 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Explanation {
    /// The page, normalised.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its site.
    pub site: String,
    /// The refresh that the answer is about.
    #[serde(flatten)]
    pub run: RefreshRun,
    /// The page as it is today, which may be later than the refresh.
    pub page: CurrentPage,
    /// What the policies of the plan say of it; left out where they say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyVerdict>,
    /// The answer.
    #[serde(flatten)]
    pub why: Why,
    /// What the answer cost to read.
    #[serde(skip)]
    pub cost: ReadCost,
}

/// The refresh that an answer is about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RefreshRun {
    /// The plan of the refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// How its seeds were selected.
    pub method: Method,
    /// The refresh that is asked.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The last batch of the state that the refresh ran on.
    pub state_batch: BatchId,
    /// How many seeds it selected.
    pub seeds: u32,
    /// Whether its results were proven.
    pub certified: bool,
}

/// Reads of the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadCost {
    /// How many point reads there were, and entries read in ranges.
    pub reads: u64,
    /// How many bytes of keys and values were read.
    pub bytes: u64,
}

/// A page as the published state has it, which may be later than the refresh.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CurrentPage {
    /// Known, crawled, gone, unlinked (nobody links to it any longer), or an alias.
    pub state: PageState,
    /// What makes it an alias; absent where it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<AliasView>,
    /// The spam mark.
    pub spam: bool,
    /// The batch that first named the page.
    #[schemars(range(min = 1))]
    pub first_seen: BatchId,
    /// The last batch with a record for the page; none for a page that is only linked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub last_seen: Option<BatchId>,
    /// Whether that batch came after the state that the refresh ran on.
    pub recorded_since_refresh: bool,
}

/// The kinds of answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Why {
    /// Cores: it is the hub that was chosen from a core.
    #[schemars(transform = by_cores)]
    CoreSeed(Box<CoreSeed>),
    /// Cores: it is a hub or an authority of a core.
    #[schemars(transform = by_cores)]
    CoreMember(Box<CoreMember>),
    /// Cores: it links to an authority of a core, or is linked from a hub of it, but was not taken.
    #[schemars(transform = by_cores)]
    NearCore(Box<NearCore>),
    /// Cores: it was near no core; its row sums show how far away it was.
    #[schemars(transform = by_cores)]
    NoCore(RowSums),
    /// Cores: it has no inter-site links that count.
    #[schemars(transform = by_cores)]
    NoInterSiteLinks {
        /// Whether it is on inter-site links, but the pages at all their other ends were left out.
        neighbours_ineligible: bool,
    },
    /// Cover: it was picked on its site.
    #[schemars(transform = by_cover)]
    CoverSeed(Box<CoverSeed>),
    /// Cover: a seed covers it.
    #[schemars(transform = by_cover)]
    Covered {
        /// The seed that covers it first.
        by: SiteSeed,
        /// Its distance from that seed.
        hop: u32,
    },
    /// Cover: no seed covers it.
    #[schemars(transform = by_cover)]
    Uncovered(Box<Uncovered>),
    /// Cover: its site got no seats when the seeds were shared out.
    #[schemars(transform = by_cover)]
    NoSeats {
        /// Crawled pages of the site at that time.
        #[schemars(range(min = 1))]
        crawled: u32,
    },
    /// Over the web: it was picked.
    #[schemars(transform = by_cover)]
    WebSeed(Box<WebSeed>),
    /// Over the web: a seed reaches it.
    #[schemars(transform = by_cover)]
    Reached {
        /// The seed that was the first to be picked of those that reach it.
        by: SiteSeed,
        /// How many links from that seed.
        hop: u32,
    },
    /// Over the web: it could be a seed, and no seed reaches it.
    #[schemars(transform = by_cover)]
    Unreached(Box<Unreached>),
    /// It took no part.
    IneligibleReason {
        /// Why it took no part.
        reason: IneligibleReason,
    },
    /// The bank did not know it when the refresh ran.
    NotYetKnown,
}

/// Why a page took no part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IneligibleReason {
    /// It is spam.
    Spam,
    /// It is gone.
    Gone,
    /// It was not crawled, only linked to.
    NotCrawled,
    /// Nobody links to it any longer, so it is not a page.
    Unlinked,
    /// It redirects to another page, or names another one as canonical: that one takes part.
    Alias,
    /// A list of the plan leaves it out of the graph.
    Excluded,
    /// Over the web: no crawl leads anywhere from it, and no seed reaches it.
    NoLinks,
}
