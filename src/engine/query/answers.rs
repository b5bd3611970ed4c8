//! What a bank answers with: seeds, cores, history, totals, pages. As JSON they have schemas in
//! `schema/`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::plan::{Method, NAME_PATTERN, by_cores, by_cover};
use crate::engine::refresh::RefreshView;
use seedbank_algorithms::cover::Value;
use seedbank_algorithms::page::AliasBy;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchCounts, BatchId, BatchKind, Counters, PageState, RefreshId};

/// Which refresh is meant: one by number, else a plan's last.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Which {
    /// The plan; where a refresh is given too, it must be one of this plan.
    pub plan: Option<String>,
    /// The refresh.
    pub refresh: Option<RefreshId>,
}

/// A seed of a refresh.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{Evidence, Which};
///
/// let seeds = bank.seeds(&Which::default())?;
/// assert_eq!(seeds[0].url, "http://a.example/");
/// let Evidence::Core { sigma, .. } = &seeds[0].evidence else {
///     return Err("it comes from a core".into());
/// };
/// // Two hubs, two authorities, all links: the singular value is the root of 2 x 2.
/// assert!((sigma - 2.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "A seed of a refresh.")]
pub struct Seed {
    /// Its rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Whether it still is a page at the published state; where not, it is gone or nobody links to
    /// it any more. JSON has the field only then.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    #[schemars(extend("const" = false))]
    pub alive: bool,
    /// Its site: a host, or a registrable domain.
    pub site: String,
    /// How it was selected.
    pub method: Method,
    /// The plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// The refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The policy that has it on the list whatever the method says; `None` for a seed that the method
    /// came to and that is not pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_policy: Option<ByPolicy>,
    /// Why it was selected.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// The old seed in whose place it stands, which is gone, spam or no hub any more; where the plan
    /// says `succeed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeds: Option<SuccessorView>,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands the field by reference"
)]
pub(super) fn is_true(field: &bool) -> bool {
    *field
}

pub(super) const fn yes() -> bool {
    true
}

/// The policy that has a page on a list whatever the method says.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ByPolicy {
    /// The plan pins it.
    Pin,
    /// It was on the list, and no more of the list may change.
    MaxChanges,
}

/// Why a seed was selected.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Evidence {
    /// It is the chosen hub of a core.
    #[schemars(title = "by cores", transform = by_cores)]
    Core {
        /// The rank of the core whose hub it is.
        #[schemars(range(min = 1))]
        core: u32,
        /// The singular value of the region that the core came from.
        #[schemars(range(min = 0))]
        sigma: f64,
        /// Its hub score, L2-normalised over pages.
        #[schemars(range(min = 0))]
        hub_score: f64,
    },
    /// It covers value on its site.
    #[schemars(title = "by cover", transform = by_cover, extend("not" = {"required": ["succeeds"]}))]
    Cover {
        /// The score that it was picked by: a weight in units, a PageRank or an out-degree; `null`
        /// where it was drawn.
        gain: Option<f64>,
        /// Pages that it covers and no earlier pick of the site does.
        covered_pages: u64,
        /// Their value, in units.
        covered_value: f64,
        /// Its place among the picks of the site, from 1.
        #[schemars(range(min = 1))]
        pick: u32,
        /// The refresh that picked it; later ones took it over, the site being as it was.
        #[schemars(range(min = 1))]
        since: RefreshId,
        /// The site's seats where seeds are shared out.
        #[serde(skip_serializing_if = "Option::is_none")]
        seats: Option<u32>,
    },
    /// A policy has it on the list, and the method has nothing to say of it: it is pinned, or stays
    /// since no more of the list may change.
    #[schemars(title = "by policy", extend("not" = {"anyOf": [{"required": ["core"]}, {"required": ["gain"]}]}))]
    ByPolicy {},
}

/// A core of a refresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreView {
    /// Its rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// The refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The singular value of the region that it came from; within a bound the length of what its scores
    /// lead to, which is at most that.
    #[schemars(range(min = 0))]
    pub sigma: f64,
    /// Within a bound: what no place left was denser than.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub sigma_bound: Option<f64>,
    /// Links from its hubs to its authorities, in per cent of all that could be.
    #[schemars(range(max = 100), extend("exclusiveMinimum" = 0))]
    pub density: f64,
    /// Links from its hubs to its authorities.
    #[schemars(range(min = 1))]
    pub edges: u64,
    /// The hub that became the seed; where the core gives none, its best hub.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub seed: String,
    /// Whether the core gives a seed: it may be too small for the plan, or none of its hubs may be one.
    /// JSON has the field only where not.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    #[schemars(extend("const" = false))]
    pub gives_seed: bool,
    /// Hubs in the order in which they were taken.
    #[schemars(length(min = 1), inner(regex(pattern = URL_PATTERN)))]
    pub hubs: Vec<String>,
    /// Authorities in the order in which they were taken.
    #[schemars(length(min = 1), inner(regex(pattern = URL_PATTERN)))]
    pub authorities: Vec<String>,
    /// The hubs' scores, L2-normalised over pages.
    pub hub_scores: Vec<f64>,
    /// The authorities' scores, L2-normalised over pages.
    pub authority_scores: Vec<f64>,
    /// The interleaving of the additions: `a` for an authority, `h` for a hub.
    #[schemars(regex(pattern = "^[ah]{2,}$"))]
    pub sides: String,
}

/// A batch as `history` tells it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BatchView {
    /// Its number.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// What is kept of it.
    #[serde(flatten)]
    pub record: BatchSummary,
}

/// What `history` tells of a batch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BatchSummary {
    /// The user's name for it.
    pub name: String,
    /// Whether the batch is the whole state or changes.
    pub kind: BatchKind,
    /// The inputs, as they were named.
    pub inputs: Vec<String>,
    /// When it was ingested, in seconds since 1970 (UTC).
    pub at: u64,
    /// How long that took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
    /// What the batch changed.
    pub counts: BatchCounts,
}

/// Batches and refreshes in order.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct History {
    /// Batches, in order.
    pub batches: Vec<BatchView>,
    /// Refreshes that are kept, in order.
    pub refreshes: Vec<RefreshView>,
}

/// Totals over the bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CounterView {
    /// Batches ingested.
    pub batches: BatchId,
    /// Refreshes run, deleted ones included.
    pub refreshes: RefreshId,
    /// Known pages.
    pub known: u64,
    /// Crawled pages.
    pub crawled: u64,
    /// Gone pages.
    pub gone: u64,
    /// Known and crawled pages with the spam mark.
    pub spam: u64,
    /// Intra-site links.
    pub intra_links: u64,
    /// Inter-site links.
    pub inter_links: u64,
    /// Rows.
    pub rows: u64,
    /// Targets of all rows, each row counted once.
    pub row_links: u64,
}

impl From<Counters> for CounterView {
    fn from(counters: Counters) -> Self {
        Self {
            batches: counters.batch,
            refreshes: counters.refresh,
            known: counters.known,
            crawled: counters.crawled,
            gone: counters.gone,
            spam: counters.spam,
            intra_links: counters.intra_links,
            inter_links: counters.inter_links,
            rows: counters.rows,
            row_links: counters.row_links,
        }
    }
}

/// A page as it stands in the bank.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageView {
    /// The page.
    pub url: String,
    /// Its site.
    pub site: String,
    /// Known, crawled, gone, or an alias.
    pub state: PageState,
    /// What makes it an alias; `None` where it is none.
    pub alias: Option<AliasView>,
    /// The spam mark: the page's own, or else its site's.
    pub spam: bool,
    /// Its quality, from 0 to 1: the page's own, or else its site's; `None` where neither has one.
    pub quality: Option<Value>,
    /// Clicks.
    pub clicks: u64,
    /// Its uncrawled outlinks, given or counted.
    pub uncrawled_outlinks: u64,
    /// Whether they were given.
    pub uncrawled_given: bool,
    /// Its links, in URL order.
    pub outlinks: Vec<String>,
}

/// What makes a page an alias.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AliasView {
    /// The page that it redirects to, or names as canonical.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub to: String,
    /// Which of the two.
    pub by: AliasBy,
    /// The page that links to it count for, after all aliases in between; none where these lead in
    /// a circle or are too many.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub resolves_to: Option<String>,
}

/// The other page of a succession: for a seed that stands in the place of an old one, the old
/// seed; for an old seed, its successor.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SuccessorView {
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Whether the successor was another hub of the old seed's core; else it is the page with the
    /// most similar row.
    pub same_core: bool,
    /// Jaccard similarity of the inter-site targets of the successor and the last ones of the old
    /// seed.
    #[schemars(range(min = 0, max = 1))]
    pub similarity: f64,
}
