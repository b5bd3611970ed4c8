//! Answers about seeds, cores, history, totals and pages. Their JSON Schemas are in `schema/`.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::ingest::RefusedBatch;
use crate::engine::plan::{Method, NAME_PATTERN, by_cores, by_cover};
use crate::engine::refresh::RefreshView;
use seedbank_algorithms::cover::Value;
use seedbank_algorithms::fetch_status::FetchStatus;
use seedbank_algorithms::page::PageKind;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{
    self, BatchCounts, BatchId, BatchKind, Counters, PageState, RefreshId,
};

/// Selects a refresh: one by number, or the last one of a plan.
///
/// ```
/// use seedbank::engine::Which;
///
/// let weekly = Which::from("weekly");
/// assert_eq!((weekly.plan.as_deref(), weekly.refresh), (Some("weekly"), None));
/// assert_eq!(Which::from(3).refresh, Some(3));
/// ```
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Which {
    /// Plan; `default` if neither field is set. A given `refresh` must belong to it.
    pub plan: Option<String>,
    /// Number of the refresh; `None` for the last one of the plan.
    pub refresh: Option<RefreshId>,
}

impl From<&Self> for Which {
    fn from(which: &Self) -> Self {
        which.clone()
    }
}

/// The last refresh of this plan.
impl From<&str> for Which {
    fn from(plan: &str) -> Self {
        Self {
            plan: Some(plan.to_owned()),
            refresh: None,
        }
    }
}

/// The refresh of this number.
impl From<RefreshId> for Which {
    fn from(refresh: RefreshId) -> Self {
        Self {
            plan: None,
            refresh: Some(refresh),
        }
    }
}

/// Seed of a refresh.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::query::Evidence;
///
/// let seed = bank.seeds("default")?.next().ok_or("there is a seed")??;
/// assert_eq!(seed.url, "http://a.example/");
/// let Evidence::Core { sigma, .. } = &seed.evidence else {
///     return Err("it comes from a core".into());
/// };
/// // Two hubs, two authorities, all links: the singular value is the root of 2 x 2.
/// assert!((sigma - 2.0).abs() < 1e-9);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[schemars(description = "Seed of a refresh.")]
pub struct Seed {
    /// Rank on the list, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Whether the page still exists in the published state. `false` if it is gone, an alias, or no page
    /// links to it any more. JSON has the field only if it is `false`.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    #[schemars(extend("const" = false))]
    pub alive: bool,
    /// Site of the page: a host, or a registrable domain.
    pub site: String,
    /// Method that selected it.
    pub method: Method,
    /// Plan of the refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// Policy that puts the page on the list independently of the method; `None` for a seed that the
    /// method selected and that is not pinned.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub by_policy: Option<ByPolicy>,
    /// Evidence for the selection.
    #[serde(flatten)]
    pub evidence: Evidence,
    /// Seed that it replaces, which is gone, spam or no longer a hub; only with the plan parameter
    /// `succeed`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub succeeds: Option<SuccessorView>,
    /// Failed fetches of the page after its last fetch that did not fail; absent if there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failures: Option<Failures>,
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

/// Policy that puts a page on a list independently of the method.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum ByPolicy {
    /// The plan pins the page.
    Pin,
    /// The page was on the previous list, and `max-changes` allows no further change.
    MaxChanges,
}

/// Evidence for the selection of a seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(untagged)]
pub enum Evidence {
    /// The page is the chosen hub of a core.
    #[schemars(title = "by cores", transform = by_cores)]
    Core {
        /// Rank of the core.
        #[schemars(range(min = 1))]
        core: u32,
        /// Singular value of the region from which the core was grown.
        #[schemars(range(min = 0))]
        sigma: f64,
        /// Hub score of the page, L2-normalised over pages.
        #[schemars(range(min = 0))]
        hub_score: f64,
    },
    /// The page covers value on its site, or over the web.
    #[schemars(title = "by cover", transform = by_cover, extend("not" = {"required": ["succeeds"]}))]
    Cover {
        /// Score by which the page was picked: a weight in units, a PageRank or an out-degree; `null` for
        /// a random pick.
        gain: Option<f64>,
        /// Number of pages that it covers and no earlier pick covers.
        covered_pages: u64,
        /// Value of those pages, in units.
        covered_value: f64,
        /// Position among the picks of the site, from 1.
        #[schemars(range(min = 1))]
        pick: u32,
        /// Refresh that picked it; later refreshes reuse the pick while the site is unchanged.
        #[schemars(range(min = 1))]
        since: RefreshId,
        /// Number of seeds allocated to the site, if the plan allocates a total.
        #[serde(skip_serializing_if = "Option::is_none")]
        seats: Option<u32>,
    },
    /// A policy puts the page on the list, and the method did not select it: it is pinned, or kept by
    /// `max-changes`.
    #[schemars(title = "by policy", extend("not" = {"anyOf": [{"required": ["core"]}, {"required": ["gain"]}]}))]
    ByPolicy {},
}

/// Core of a refresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreView {
    /// Rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// Singular value of the region from which the core was grown. In a plan with `within`, a lower
    /// bound of it that the scores prove.
    #[schemars(range(min = 0))]
    pub sigma: f64,
    /// In a plan with `within`: upper bound of the singular value of every remaining region.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub sigma_bound: Option<f64>,
    /// In a plan with `hits` = classic: `||A^T A a - sigma^2 a|| / sigma^2` of the authority scores a after the last iteration;
    /// 0 if they have converged.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub residual: Option<f64>,
    /// In a plan with `hits` = classic: the share of sigma that the last iteration added; 1 if it was the only one.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub sigma_change: Option<f64>,
    /// Links from hubs to authorities, as a percentage of all possible ones.
    #[schemars(range(max = 100), extend("exclusiveMinimum" = 0))]
    pub density: f64,
    /// Number of links from hubs to authorities.
    #[schemars(range(min = 1))]
    pub edges: u64,
    /// Hub that became the seed; if the core gives no seed, its best hub.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub seed: String,
    /// Number of sites of its hubs. Several hubs on one site are usually pages of one template.
    #[schemars(range(min = 1))]
    pub hub_sites: u32,
    /// Whether the core gives a seed. `false` if it is too small for the plan, or policies reject all its
    /// hubs. JSON has the field only if it is `false`.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    #[schemars(extend("const" = false))]
    pub gives_seed: bool,
    /// Hubs in the order in which they were added.
    #[schemars(length(min = 1), inner(regex(pattern = URL_PATTERN)))]
    pub hubs: Vec<String>,
    /// Authorities in the order in which they were added.
    #[schemars(length(min = 1), inner(regex(pattern = URL_PATTERN)))]
    pub authorities: Vec<String>,
    /// Scores of the hubs, L2-normalised over pages.
    pub hub_scores: Vec<f64>,
    /// Scores of the authorities, L2-normalised over pages.
    pub authority_scores: Vec<f64>,
    /// Order of the additions: `a` for an authority, `h` for a hub.
    #[schemars(regex(pattern = "^[ah]{2,}$"))]
    pub sides: String,
}

impl CoreView {
    /// Whether the hubs are several pages of one site, as the pages of a template are.
    #[must_use]
    pub const fn is_template(&self) -> bool {
        self.hubs.len() > 1 && self.hub_sites == 1
    }
}

/// Batch with its number.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BatchView {
    /// Number of the batch.
    #[schemars(range(min = 1))]
    pub batch: BatchId,
    /// Stored facts about the batch.
    #[serde(flatten)]
    pub record: BatchSummary,
}

/// Stored facts about a batch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BatchSummary {
    /// Name given by the user.
    pub name: String,
    /// Whether the batch is a whole state or a set of changes.
    pub kind: BatchKind,
    /// Inputs, as named by the user.
    pub inputs: Vec<String>,
    /// Time of ingest, in seconds since 1970 (UTC).
    pub at: u64,
    /// Elapsed time, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
    /// Counts of changes.
    pub counts: BatchCounts,
    /// Number of stale records: skipped, because their pages were fetched later.
    pub stale: u64,
    /// Number of pages whose fetch failed.
    pub failed: u64,
    /// Number of pages whose last fetch failed, after the batch.
    pub failing: u64,
}

/// Batches and refreshes, and the last refused batch.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct History {
    /// Batches, by number.
    pub batches: Vec<BatchView>,
    /// Stored refreshes, by number.
    pub refreshes: Vec<RefreshView>,
    /// Last refused batch; `None` if no batch was refused, or if a batch with its name was accepted later.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub refused: Option<RefusedBatch>,
}

/// Totals of the bank.
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
    /// Documents among the crawled pages, which are never seeds.
    pub documents: u64,
    /// Resources, which are no pages.
    pub resources: u64,
    /// Known and crawled pages with the spam mark.
    pub spam: u64,
    /// Intra-site links.
    pub intra_links: u64,
    /// Inter-site links.
    pub inter_links: u64,
    /// Distinct rows (lists of inter-site targets).
    pub rows: u64,
    /// Targets of all distinct rows.
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
            documents: counters.documents,
            resources: counters.resources,
            spam: counters.spam,
            intra_links: counters.intra_links,
            inter_links: counters.inter_links,
            rows: counters.rows,
            row_links: counters.row_links,
        }
    }
}

/// Page with its attributes and links.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PageView {
    /// URL of the page.
    pub url: String,
    /// Site of the page.
    pub site: String,
    /// Known, crawled, gone, an alias or a resource.
    pub state: PageState,
    /// Target of the alias; `None` for any other page.
    pub alias: Option<AliasView>,
    /// What the answer to its last fetch is: a page or a document; a resource if that is its state.
    pub kind: PageKind,
    /// Page that it names as canonical.
    pub canonical: Option<String>,
    /// Spam mark of the page, or else of its site.
    pub spam: bool,
    /// Quality of the page, or else of its site, from 0 to 1; `None` if neither has one.
    pub quality: Option<Value>,
    /// Number of clicks.
    pub clicks: u64,
    /// Number of uncrawled outlinks, given or counted.
    pub uncrawled_outlinks: u64,
    /// Whether a record gave that number.
    pub uncrawled_given: bool,
    /// Time of the last fetch, in seconds since 1970 (UTC); `None` if it is not known.
    pub fetched: Option<u64>,
    /// Targets of its links, in URL order.
    pub outlinks: Vec<String>,
}

/// Target of an alias.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct AliasView {
    /// Page that it redirects to.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub to: String,
    /// Page at the end of the chain of aliases, for which links to this alias count. Absent if the chain
    /// is circular or too long.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub resolves_to: Option<String>,
}

/// The other page of a succession: the replaced seed of a successor, or the successor of a dead seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SuccessorView {
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Whether the successor was another hub of the dead seed's core. Otherwise it is the page with the
    /// most similar inter-site links.
    pub same_core: bool,
    /// Jaccard similarity of the successor's inter-site targets and the last ones of the dead seed.
    #[schemars(range(min = 0, max = 1))]
    pub similarity: f64,
}

/// The failed fetches of a page after its last fetch that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Failures {
    /// The result of the last one.
    pub status: FetchStatus,
    /// The number of half-days (UTC) with one, at most 64.
    #[schemars(range(min = 1, max = 64))]
    pub count: u32,
    /// The start of the first of these half-days, in seconds since 1970 (UTC); `last` if there is only one.
    pub since: u64,
    /// The time of the last one, in seconds since 1970 (UTC).
    pub last: u64,
}

impl From<records::Failures> for Failures {
    fn from(stored: records::Failures) -> Self {
        Self {
            status: stored.status,
            count: stored.count(),
            since: stored.since(),
            last: stored.last,
        }
    }
}
