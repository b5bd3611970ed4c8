//! `compare`: compares a list of start pages from outside with the list of a refresh: which pages are
//! alive, which ones the refresh covers, and what crawls from both lists find.
//!
//! The graph is not loaded. Pages are looked up one by one, evidence is read as for `explain`, and crawls
//! read only what they fetch (`crawl`).

use std::collections::BTreeMap;

use super::diff::UrlList;
use super::explain::{CoreNumbers, Explainer, Why};
use super::nearest;
use super::store_crawl::{CrawlResult, ReadWeb};
use crate::engine::eligibility::Ineligible;
use crate::engine::error::{ExperimentError, RequestError};
use crate::engine::plan::Crawls;
use crate::engine::query::answers::Which;
use crate::engine::query::explain::{CurrentPage, PolicyVerdict, RefreshRun};
use crate::engine::{Bank, EngineError};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::watch::Watch;
use seedbank_formats::ingest::{self, URL_PATTERN};
use seedbank_store::records::{BatchId, PageRecord, PageState, RefreshId};
use seedbank_store::tables;
use serde::{Deserialize, Serialize};
use serde_json::Value;

impl Bank {
    /// Compares a list of start pages with the list of a refresh: whether its pages are alive and covered,
    /// and what crawls from both lists find.
    ///
    /// The crawls are those of [`Bank::evaluate_budget`], on the current state. By default they are those of the plan. They also start from pages
    /// with the spam mark, except from seeds of a plan that excludes spam.
    ///
    /// # Errors
    ///
    /// [`ExperimentError::EmptyList`] if the list has no URL, [`RequestError::LongList`] if it has more than
    /// the request allows, [`RequestError::Fetches`] if a number of fetches is out of range. Invalid URLs and
    /// unknown pages are part of the answer, not errors.
    ///
    /// Cost: at most 20 point reads per page of the list; one scan of the refresh's list; for all pages that crawls fetch,
    /// those of at most three lists for each crawl and number of fetches, their links, and a read per distinct linked page,
    /// each once. It does not depend on the size of the bank.
    pub fn compare(
        &self,
        list: &UrlList,
        request: &CompareRequest,
    ) -> Result<ListComparison, EngineError> {
        let watch = self.watch();
        let urls = urls(list);
        let fetches = validated_fetches(&list.name, urls.len(), request)?;
        let explainer = self.explainer(&request.which)?;
        let run = explainer.run();
        let plan = Seeds::read(&explainer, run.refresh, watch)?;
        let crawl = request.crawl.unwrap_or_else(|| explainer.plan().crawls());
        watch.stage("compare", Some(urls.len() as u64));
        let mut comparison = Comparison {
            explainer: &explainer,
            plan: &plan,
            counts: ListCounts::default(),
            first: BTreeMap::new(),
            starts: Vec::new(),
        };
        let mut lines = Vec::with_capacity(urls.len());
        for (line, text) in urls {
            watch.proceed()?;
            lines.push(comparison.line(line, text)?);
            watch.advance(1);
        }
        let Comparison { counts, starts, .. } = comparison;
        Ok(ListComparison {
            list: list.name.clone(),
            run,
            current_batch: explainer.views().reader.counters()?.batch,
            counts,
            crawls: crawls(&explainer, &starts, &plan.alive, (&crawl, &fetches), watch)?,
            crawl,
            lines,
        })
    }
}

/// Returns the URLs of a list with their line numbers: the text before white space, without comments.
fn urls(list: &UrlList) -> Vec<(u64, &str)> {
    let lines = list.urls.iter();
    let urls = lines.filter_map(|(line, text)| Some((*line, text.split_whitespace().next()?)));
    urls.filter(|(_, url)| !url.starts_with('#')).collect()
}

/// Validates the request for a list of `urls` URLs; returns the numbers of fetches, ascending.
fn validated_fetches(
    list: &str,
    urls: usize,
    request: &CompareRequest,
) -> Result<Vec<u64>, EngineError> {
    if urls == 0 {
        let list = list.to_owned();
        return Err(ExperimentError::EmptyList { list }.into());
    }
    if urls > request.most {
        let most = request.most;
        return Err(RequestError::LongList { urls, most }.into());
    }
    let mut fetches = request.fetches.clone();
    fetches.sort_unstable();
    fetches.dedup();
    let most = CompareRequest::MOST_FETCHES;
    match fetches.iter().find(|at| !(1..=most).contains(*at)) {
        Some(&fetches) => Err(RequestError::Fetches { fetches, most }.into()),
        None => Ok(fetches),
    }
}

/// Seeds of the refresh.
struct Seeds {
    ranks: BTreeMap<PageId, u32>,
    /// Seeds that are still alive, best first.
    alive: Vec<PageId>,
}

impl Seeds {
    fn read(
        explainer: &Explainer,
        refresh: RefreshId,
        watch: &dyn Watch,
    ) -> Result<Self, EngineError> {
        let reader = &explainer.views().reader;
        // Plans with spam in their graph select it on purpose, or by its value.
        let graph = explainer.plan().page_scope().graph;
        let no_spam = graph.rejects(Ineligible::Spam);
        let mut seeds = Self {
            ranks: BTreeMap::new(),
            alive: Vec::new(),
        };
        for (rank, seed) in reader.list(refresh)? {
            watch.proceed()?;
            seeds.ranks.insert(seed.page, rank);
            let record = reader.need(&tables::PAGES, &seed.page)?;
            if record.state.is_live() && !(no_spam && record.spam) {
                seeds.alive.push(seed.page);
            }
        }
        Ok(seeds)
    }
}

/// State of a comparison.
struct Comparison<'a> {
    explainer: &'a Explainer,
    plan: &'a Seeds,
    counts: ListCounts,
    /// First line of each page, by normalised URL.
    first: BTreeMap<String, u64>,
    /// Pages from which crawls can start, in list order.
    starts: Vec<PageId>,
}

impl Comparison<'_> {
    fn line(&mut self, line: u64, text: &str) -> Result<ListedLine, EngineError> {
        let views = self.explainer.views();
        let mut listed = ListedLine {
            line,
            text: text.to_owned(),
            state: LineState::InvalidUrl,
            url: None,
            first_line: None,
            error: None,
            page: None,
        };
        self.counts.lines += 1;
        let location = match ingest::parse(text, views.naming) {
            Ok(location) => location,
            Err(problem) => {
                self.counts.invalid_urls += 1;
                listed.error = Some(problem.to_string());
                return Ok(listed);
            }
        };
        let url = location.url(views.naming.sites);
        listed.url = Some(url.clone());
        if let Some(first) = self.first.get(&url) {
            self.counts.duplicates += 1;
            listed.state = LineState::Duplicate;
            listed.first_line = Some(*first);
            return Ok(listed);
        }
        self.first.insert(url.clone(), line);
        self.counts.pages += 1;
        let Some((page, record)) = nearest::find_page(views, &location)? else {
            self.counts.not_in_bank += 1;
            listed.state = LineState::NotInBank;
            return Ok(listed);
        };
        listed.state = line_state(&record);
        *match listed.state {
            LineState::Spam => &mut self.counts.spam,
            LineState::Gone => &mut self.counts.gone,
            LineState::Alias => &mut self.counts.alias,
            LineState::Resource => &mut self.counts.resource,
            LineState::Unlinked => &mut self.counts.unlinked,
            _ => &mut self.counts.alive,
        } += 1;
        let (policy, why) = self.explainer.verdict(page, &location.site, &record)?;
        let rank = self.plan.ranks.get(&page).copied();
        let relation = relation(rank, &url, &why);
        *match relation {
            ListRelation::Seed { .. } => &mut self.counts.seeds,
            ListRelation::InCore { .. } | ListRelation::Covered { .. } => &mut self.counts.covered,
            ListRelation::NearCore { .. } => &mut self.counts.near_core,
            ListRelation::NotCovered => &mut self.counts.not_covered,
        } += 1;
        listed.page = Some(Box::new(ListedPage {
            site: location.site,
            current: self.explainer.current_page(page, &record)?,
            relation,
            policy,
            why,
        }));
        if record.state.is_live() {
            self.starts.push(page);
        }
        Ok(listed)
    }
}

/// Returns the state of a line with this page.
fn line_state(record: &PageRecord) -> LineState {
    match record.state {
        PageState::Known | PageState::Crawled if record.spam => LineState::Spam,
        PageState::Known | PageState::Crawled => LineState::Alive,
        PageState::Gone => LineState::Gone,
        PageState::Unlinked => LineState::Unlinked,
        PageState::Alias => LineState::Alias,
        PageState::Resource => LineState::Resource,
    }
}

/// Returns the relation of a page to the list of the refresh; `rank` is its rank there.
fn relation(rank: Option<u32>, url: &str, why: &Why) -> ListRelation {
    if let Some(rank) = rank {
        return ListRelation::Seed { rank };
    }
    let in_core = |core: &CoreNumbers, seed: &str| ListRelation::InCore {
        core: core.rank,
        seed: seed.to_owned(),
    };
    let covered = match why {
        // The hub would be the core's seed, but policies keep it off the list.
        Why::CoreSeed(seed) => return in_core(&seed.core, url),
        Why::CoreMember(member) => return in_core(&member.core, &member.seed.url),
        Why::NearCore(near) => {
            return ListRelation::NearCore {
                core: near.core.rank,
                seed: near.seed.url.clone(),
            };
        }
        Why::Covered { by, hop } | Why::Reached { by, hop } => Some((by, *hop)),
        Why::CoverSeed(seed) => seed.covered_by.as_ref().map(|(by, hop)| (by, *hop)),
        Why::WebSeed(seed) => seed.reached_by.as_ref().map(|(by, hop)| (by, *hop)),
        _ => None,
    };
    match covered.filter(|(by, _)| !by.deferred) {
        Some((by, hop)) => ListRelation::Covered {
            by: by.url.clone(),
            rank: by.rank,
            hop,
        },
        None => ListRelation::NotCovered,
    }
}

/// Simulates crawls from the list's pages, from the same number of seeds, and from all seeds if there are
/// more.
fn crawls(
    explainer: &Explainer,
    starts: &[PageId],
    seeds: &[PageId],
    (crawls, fetches): (&Crawls, &[u64]),
    watch: &dyn Watch,
) -> Result<Vec<CrawlComparison>, EngineError> {
    let first = &seeds[..seeds.len().min(starts.len())];
    let is_longer = first.len() < seeds.len();
    let (limits, lists) = (crawls.limits(), 2 + usize::from(is_longer));
    let all_crawls = limits.len() * lists * fetches.len();
    watch.stage("crawl", Some(all_crawls as u64));
    let mut web = ReadWeb::new(explainer.views(), watch);
    let mut from = |starts: &[PageId], fetches: u64| -> Result<CrawlResult, EngineError> {
        let found = limits.iter().map(|limits| {
            let found = web.crawl(starts, limits, fetches)?;
            watch.advance(1);
            Ok(found)
        });
        let found: Result<Vec<CrawlResult>, EngineError> = found.collect();
        Ok(CrawlResult::mean(&found?))
    };
    let compared = fetches.iter().map(|&fetches| {
        Ok(CrawlComparison {
            fetches,
            list: from(starts, fetches)?,
            first_seeds: from(first, fetches)?,
            all_seeds: is_longer.then(|| from(seeds, fetches)).transpose()?,
        })
    });
    compared.collect()
}

// Request and answer of `compare`. The JSON Schema is `schema/compare.schema.json`.

/// Request to compare a list of start pages with a refresh.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CompareRequest {
    /// Refresh to compare with; by default the last one of the default plan.
    pub which: Which,
    /// Numbers of pages that simulated crawls fetch, each at most [`CompareRequest::MOST_FETCHES`]. If
    /// empty, no crawl is simulated. Order and duplicates do not matter.
    pub fetches: Vec<u64>,
    /// Crawls from the lists; `None` for those of the plan.
    pub crawl: Option<Crawls>,
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
            crawl: None,
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
    /// The crawls that are simulated.
    pub crawl: Crawls,
    /// Their results, by number of fetches, ascending.
    pub crawls: Vec<CrawlComparison>,
    /// Every URL of the list, in order.
    pub lines: Vec<ListedLine>,
}

/// Counts of the lines and pages of a list.
///
/// Each line is a page, a duplicate, or an invalid URL: `lines` = `pages` + `duplicates` + `invalid_urls`. Each page
/// is one of `alive`, `spam`, `gone`, `alias`, `resource`, `unlinked` and `not_in_bank`; and each that is in the bank
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
    /// Resources.
    pub resource: u64,
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
    /// Page that redirects to another one.
    Alias,
    /// Resource, such as a script or an image.
    Resource,
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
