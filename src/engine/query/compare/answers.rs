//! Request and answer of `compare`. The JSON Schema is `schema/compare.schema.json`.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::query::answers::Which;
use crate::engine::query::explain::{CurrentPage, PolicyVerdict, RefreshRun, Why};
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::BatchId;

/// Request to compare a list of start pages with a refresh.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompareRequest {
    /// Refresh to compare with; by default the last one of the default plan.
    pub which: Which,
    /// Numbers of pages that simulated crawls fetch, each at most [`CompareRequest::MOST_FETCHES`]. If
    /// empty, no crawl is simulated. Order and duplicates do not matter.
    pub fetches: Vec<u64>,
    /// Maximum number of URLs of the list.
    pub most: usize,
}

impl CompareRequest {
    /// Maximum number of pages that a simulated crawl may fetch.
    pub const MOST_FETCHES: u64 = 20_000;

    /// Creates a request for a list of at most 10,000 URLs, with crawls of 1,000 and 5,000 fetches.
    #[must_use]
    pub fn new(which: Which) -> Self {
        Self {
            which,
            fetches: vec![1_000, 5_000],
            most: 10_000,
        }
    }
}

impl Default for CompareRequest {
    fn default() -> Self {
        Self::new(Which::default())
    }
}

/// Comparison of a list of start pages with a refresh.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// // The crawler's current list: a hub of the core, and a page that the bank does not contain.
/// let mut list = UrlList { name: "today".to_owned(), ..UrlList::default() };
/// list.push_line(1, "http://b.example/");
/// list.push_line(2, "http://no.example/");
/// let found = bank.compare(&list, &CompareRequest::default())?;
/// assert_eq!((found.counts.alive, found.counts.not_in_bank), (1, 1));
/// assert_eq!((found.counts.seeds, found.counts.covered), (0, 1));
/// // A crawl from it finds itself and the two pages that it links to.
/// assert_eq!(found.crawls[0].list.pages, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListComparison {
    /// Name of the list.
    pub list: String,
    /// Refresh that it is compared with.
    #[serde(flatten)]
    pub run: RefreshRun,
    /// Last batch of the current state, in which pages are looked up and crawls simulated.
    pub current_batch: BatchId,
    /// Counts of the lines and pages of the list.
    pub counts: ListCounts,
    /// Results of simulated crawls, by number of fetches, ascending.
    pub crawls: Vec<CrawlComparison>,
    /// Every URL of the list, in order.
    pub lines: Vec<ListedLine>,
}

/// Counts of the lines and pages of a list.
///
/// Each line is a page, a duplicate, or an invalid URL: `lines` = `pages` + `duplicates` + `invalid_urls`. Each page
/// is one of `alive`, `spam`, `gone`, `alias`, `unlinked` and `not_in_bank`; and each that is in the bank
/// is one of `seeds`, `covered`, `near_core` and `not_covered`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListCounts {
    /// Lines with a URL, including duplicates and invalid ones, without empty lines and comments.
    pub lines: u64,
    /// Distinct pages.
    pub pages: u64,
    /// Lines with the page of an earlier line.
    pub duplicates: u64,
    /// Lines without a valid page URL.
    pub invalid_urls: u64,
    /// Known or crawled pages without the spam mark.
    pub alive: u64,
    /// Known or crawled pages with the spam mark.
    pub spam: u64,
    /// Gone pages.
    pub gone: u64,
    /// Aliases of other pages.
    pub alias: u64,
    /// Pages without links to them and without a record.
    pub unlinked: u64,
    /// Pages that the bank does not contain.
    pub not_in_bank: u64,
    /// Pages on the list of the refresh.
    pub seeds: u64,
    /// Pages in a core, or covered by a seed of the refresh.
    pub covered: u64,
    /// Cores: pages that are linked with a core and were not added.
    pub near_core: u64,
    /// All other pages in the bank.
    pub not_covered: u64,
}

/// State of a line of the list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LineState {
    /// Known or crawled page without the spam mark.
    Alive,
    /// Known or crawled page with the spam mark; crawls start from it too.
    Spam,
    /// Gone page.
    Gone,
    /// Page that redirects to another one, or names it as canonical.
    Alias,
    /// Page without links to it and without a record.
    Unlinked,
    /// Page that the bank does not contain.
    NotInBank,
    /// Page of an earlier line.
    Duplicate,
    /// Not a valid page URL.
    InvalidUrl,
}

/// Line of the list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListedLine {
    /// Line number in the list.
    pub line: u64,
    /// URL as written.
    pub text: String,
    /// State of the line.
    pub state: LineState,
    /// Normalised URL; absent if it is invalid.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: Option<String>,
    /// For a duplicate, the first line with the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u64>,
    /// For an invalid URL, the reason.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// State of the page and its relation to the refresh; absent for a duplicate, or a page that is not in
    /// the bank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Box<ListedPage>>,
}

/// State of a page of the list and its relation to the refresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListedPage {
    /// Site of the page.
    pub site: String,
    /// Current state of the page, which may be later than the refresh.
    pub current: CurrentPage,
    /// Relation to the list of the refresh.
    pub relation: ListRelation,
    /// Verdict of the plan's policies; absent if none affects the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyVerdict>,
    /// Why it is a seed or not.
    #[schemars(schema_with = "why_alone")]
    pub why: Why,
}

/// Schema of [`Why`] without the property `method`, which this object does not have.
fn why_alone(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = Why::json_schema(generator);
    let kinds = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for kind in kinds.into_iter().flatten() {
        let fields = kind.get_mut("properties").and_then(Value::as_object_mut);
        fields.and_then(|fields| fields.remove("method"));
    }
    schema
}

/// Relation of a page to the list of a refresh, from its stored evidence.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ListRelation {
    /// On the list.
    Seed {
        /// Rank on the list.
        #[schemars(range(min = 1))]
        rank: u32,
    },
    /// Cores: in a core, but not on the list.
    InCore {
        /// Rank of the core.
        #[schemars(range(min = 1))]
        core: u32,
        /// Seed of the core; if it gives none, the hub that would be its seed.
        #[schemars(regex(pattern = URL_PATTERN))]
        seed: String,
    },
    /// Cover: covered by a seed on the list, or over the web reached by one.
    Covered {
        /// URL of the seed.
        #[schemars(regex(pattern = URL_PATTERN))]
        by: String,
        /// Rank of the seed.
        #[schemars(range(min = 1))]
        rank: u32,
        /// Distance from the seed, in links.
        hop: u32,
    },
    /// Cores: linked with a core, but not added.
    NearCore {
        /// Rank of the core.
        #[schemars(range(min = 1))]
        core: u32,
        /// Seed of the core; if it gives none, the hub that would be its seed.
        #[schemars(regex(pattern = URL_PATTERN))]
        seed: String,
    },
    /// None of these. This includes pages covered only by a pick that policies keep off the list.
    NotCovered,
}

/// Results of simulated crawls with the same number of fetches from each list.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CrawlComparison {
    /// Maximum number of pages fetched.
    #[schemars(range(min = 1))]
    pub fetches: u64,
    /// Crawl from the known or crawled pages of the list, in order.
    pub list: CrawlResult,
    /// Crawl from the same number of seeds of the refresh, the first that are still alive.
    pub first_seeds: CrawlResult,
    /// Crawl from all seeds of the refresh that are still alive; absent if `first_seeds` has them all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_seeds: Option<CrawlResult>,
}

/// Result of a simulated crawl. Every fetched page counts, whether the bank has crawled it or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CrawlResult {
    /// Number of start pages.
    pub starts: u64,
    /// Number of pages fetched.
    pub pages: u64,
    /// Number of them that the bank has crawled.
    pub crawled: u64,
    /// Number of their sites.
    pub sites: u64,
    /// Sum of their clicks.
    pub clicks: u64,
    /// Number of them with clicks.
    pub clicked_pages: u64,
    /// Number of them with the spam mark.
    pub spam: u64,
    /// Distance of the last page from the start pages, in links; `null` if no page was fetched.
    pub depth: Option<u32>,
}
