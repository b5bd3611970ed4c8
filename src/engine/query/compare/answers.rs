//! What `compare` is asked and answers with. As JSON it has a schema, `schema/compare.schema.json`.

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::engine::query::answers::Which;
use crate::engine::query::explain::{CurrentPage, PolicyVerdict, RefreshRun, Why};
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::BatchId;

/// What a list of start pages is compared with, and how far the crawls go.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompareRequest {
    /// The refresh; the last one of the default plan unless said otherwise.
    pub which: Which,
    /// How many pages the crawls fetch, each at most [`CompareRequest::MOST_FETCHES`]; without any
    /// nothing is crawled. Their order does not matter, and repeated ones count once.
    pub fetches: Vec<u64>,
    /// The most URLs that the list may have.
    pub most: usize,
}

impl CompareRequest {
    /// The most pages that a crawl may fetch here.
    pub const MOST_FETCHES: u64 = 20_000;

    /// A list of at most 10,000 URLs compared with a refresh, by crawls of 1,000 and 5,000 fetches.
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

/// A list of start pages beside the list of a refresh.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// // What the crawler starts from today: a hub of the core, and a page that nobody knows.
/// let mut list = UrlList { name: "today".to_owned(), ..UrlList::default() };
/// list.push_line(1, "http://b.example/");
/// list.push_line(2, "http://no.example/");
/// let found = bank.compare(&list, &CompareRequest::default(), &Unwatched)?;
/// assert_eq!((found.counts.alive, found.counts.not_in_bank), (1, 1));
/// assert_eq!((found.counts.seeds, found.counts.covered), (0, 1));
/// // A crawl from it finds itself and the two pages that it links to.
/// assert_eq!(found.crawls[0].list.pages, 3);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListComparison {
    /// What the list is called.
    pub list: String,
    /// The refresh that it is compared with.
    #[serde(flatten)]
    pub run: RefreshRun,
    /// The last batch of the state in which the pages are looked up and crawled.
    pub current_batch: BatchId,
    /// What the list holds, in numbers.
    pub counts: ListCounts,
    /// What crawls find, by the number of fetches, the fewest first.
    pub crawls: Vec<CrawlComparison>,
    /// Every URL of the list, in its order.
    pub lines: Vec<ListedLine>,
}

/// What a list holds, in numbers.
///
/// Each line is a page, one named again, or no URL: `lines` = `pages` + `duplicates` + `invalid_urls`. Each page
/// is one of `alive`, `spam`, `gone`, `alias`, `unlinked` and `not_in_bank`; and each that is in the bank
/// is one of `seeds`, `covered`, `near_core` and `not_covered`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListCounts {
    /// URLs, repeated ones and what is no URL included; empty lines and comments are not.
    pub lines: u64,
    /// Distinct pages.
    pub pages: u64,
    /// Lines with a page that an earlier line has.
    pub duplicates: u64,
    /// Lines that are no URL of a page.
    pub invalid_urls: u64,
    /// Pages that are known or crawled, and no spam.
    pub alive: u64,
    /// Pages that are known or crawled, and spam.
    pub spam: u64,
    /// Pages that are reported as gone.
    pub gone: u64,
    /// Aliases of other pages.
    pub alias: u64,
    /// Pages to which nobody links any longer, and of which there never was a record.
    pub unlinked: u64,
    /// Pages that the bank never knew.
    pub not_in_bank: u64,
    /// Pages on the refresh's list.
    pub seeds: u64,
    /// Pages in a core, or that a seed of the list covers.
    pub covered: u64,
    /// Cores: pages that are linked with a core and were not taken.
    pub near_core: u64,
    /// Pages of the bank that are none of these.
    pub not_covered: u64,
}

/// What a line of the list is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[non_exhaustive]
pub enum LineState {
    /// A page that is known or crawled, and no spam.
    Alive,
    /// A page that is known or crawled, and spam; crawls start from it all the same.
    Spam,
    /// A page that is reported as gone.
    Gone,
    /// A page that redirects to another one, or names it as canonical.
    Alias,
    /// A page to which nobody links any longer, and of which there never was a record.
    Unlinked,
    /// A page that the bank never knew.
    NotInBank,
    /// A page that an earlier line has.
    Duplicate,
    /// No URL of a page.
    InvalidUrl,
}

/// A line of the list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListedLine {
    /// Its place in the list, as the list has it.
    pub line: u64,
    /// The URL as it is given.
    pub text: String,
    /// What it is.
    pub state: LineState,
    /// The URL, normalised; left out where it is none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: Option<String>,
    /// Where the page is repeated, the first line that has it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub first_line: Option<u64>,
    /// Where it is no URL, why not.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub error: Option<String>,
    /// What the bank and the refresh say of the page; left out where it is not in the bank, or
    /// repeated.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub page: Option<Box<ListedPage>>,
}

/// What the bank and the refresh say of a page of the list: all that a sentence on it needs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct ListedPage {
    /// Its site.
    pub site: String,
    /// The page as it is today, which may be later than the refresh.
    pub current: CurrentPage,
    /// What it is to the refresh's list.
    pub relation: ListRelation,
    /// What the policies of the plan say of it; left out where they say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyVerdict>,
    /// Why it is a seed, or why not.
    #[schemars(schema_with = "why_alone")]
    pub why: Why,
}

/// The schema of [`Why`] where the method does not stand beside it.
fn why_alone(generator: &mut SchemaGenerator) -> Schema {
    let mut schema = Why::json_schema(generator);
    let kinds = schema.get_mut("oneOf").and_then(Value::as_array_mut);
    for kind in kinds.into_iter().flatten() {
        let fields = kind.get_mut("properties").and_then(Value::as_object_mut);
        fields.and_then(|fields| fields.remove("method"));
    }
    schema
}

/// What a page is to the list of a refresh, by what the refresh kept.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
#[non_exhaustive]
pub enum ListRelation {
    /// It is on the list.
    Seed {
        /// Its rank there.
        #[schemars(range(min = 1))]
        rank: u32,
    },
    /// Cores: it is in a core, and not on the list.
    InCore {
        /// The core's rank.
        #[schemars(range(min = 1))]
        core: u32,
        /// The core's seed; where the core gives none, the hub that would be.
        #[schemars(regex(pattern = URL_PATTERN))]
        seed: String,
    },
    /// Cover: a seed on the list covers it, or over the web reaches it.
    Covered {
        /// The seed.
        #[schemars(regex(pattern = URL_PATTERN))]
        by: String,
        /// The seed's rank.
        #[schemars(range(min = 1))]
        rank: u32,
        /// How many links away from the seed it is.
        hop: u32,
    },
    /// Cores: it is linked with a core, and was not taken.
    NearCore {
        /// The core's rank.
        #[schemars(range(min = 1))]
        core: u32,
        /// The core's seed; where the core gives none, the hub that would be.
        #[schemars(regex(pattern = URL_PATTERN))]
        seed: String,
    },
    /// None of these. A page that only a pick covers which policies keep off the list counts here.
    NotCovered,
}

/// What crawls of so many fetches find, from each of the lists.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CrawlComparison {
    /// How many pages are fetched at most.
    #[schemars(range(min = 1))]
    pub fetches: u64,
    /// From the pages of the list that are known or crawled, in its order.
    pub list: CrawlResult,
    /// From as many seeds of the refresh, the first that still take part.
    pub first_seeds: CrawlResult,
    /// From all seeds of the refresh that still take part; left out where these are no more.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub all_seeds: Option<CrawlResult>,
}

/// What a crawl finds within a number of fetches. Every page fetched counts, crawled by the bank or not.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CrawlResult {
    /// How many pages it may start from.
    pub starts: u64,
    /// How many pages it fetches.
    pub pages: u64,
    /// How many of them the bank has crawled.
    pub crawled: u64,
    /// On how many sites they are.
    pub sites: u64,
    /// The sum of their clicks.
    pub clicks: u64,
    /// How many of them have clicks.
    pub clicked_pages: u64,
    /// How many of them are spam.
    pub spam: u64,
    /// How many links the last of them is away from where it starts; `null` where there is no page.
    pub depth: Option<u32>,
}
