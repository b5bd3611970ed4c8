//! The questions of the API: their parameters and their answers.

use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::operation::{MAX_LIMIT, Operation, Query, default_limit, limit, not_blank, schema_of};

use crate::answers::PlanWithCommand;
use crate::engine::plan::{Method, NAME_PATTERN};
use crate::engine::query::{
    CompareRequest, CoreLinks, CoreView, DiffRequest, Explanation, FoundPage, History,
    LinkDirection, LinkedPages, LinkedRequest, ListComparison, PageFacts, PageHistory, PageLimits,
    PageState, Plans, QuotaBy, QuotaRequest, Quotas, SearchLimits, SearchResult, Seed, SeedDiff,
    SiteFacts, SiteLimits, Status, UrlList,
};
use crate::engine::refresh::{RefreshId, RefreshView};
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::Context;
use crate::serve::params::which;
use crate::serve::params::{integer, optional_integer, query};
use seedbank_algorithms::watch::Watch as _;
use seedbank_formats::ingest::URL_PATTERN;

/// Parameters of the status: none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct StatusQuery {}

impl Query for StatusQuery {
    type Answer = Status;

    fn answer(self, context: &Context<'_>) -> Result<Status, RequestError> {
        Ok(context.bank.status_with_canonical()?)
    }
}

/// Selects the refreshes of the history.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct BatchesQuery {
    /// Returns only refreshes with this method, and no batches.
    method: Option<Method>,
}

impl Query for BatchesQuery {
    type Answer = History;

    fn answer(self, context: &Context<'_>) -> Result<History, RequestError> {
        let mut history = context.bank.history()?;
        keep_method(&mut history, self.method);
        Ok(history)
    }
}

/// Keeps only the refreshes with a method; without one, everything.
pub(in crate::serve) fn keep_method(history: &mut History, method: Option<Method>) {
    if let Some(method) = method {
        history.batches.clear();
        history.refused = None;
        let of_method = |refresh: &RefreshView| refresh.method() == method;
        history.refreshes.retain(of_method);
    }
}

/// Parameters of quotas.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct QuotasQuery {
    /// Number of pages that the next crawl fetches.
    #[serde(deserialize_with = "integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    pages: u32,
    /// Weight by which they are distributed.
    #[serde(default)]
    by: QuotaBy,
    /// By seeds, the plan whose seeds are counted; by value, the cover plan whose value weights apply.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
}

impl Query for QuotasQuery {
    type Answer = Quotas;

    fn answer(self, context: &Context<'_>) -> Result<Quotas, RequestError> {
        let request = QuotaRequest {
            pages: self.pages.into(),
            by: self.by,
            plan: self.plan,
        };
        Ok(context.bank.quotas(&request)?)
    }
}

/// Parameters of the list of plans: none.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlansQuery {}

impl Query for PlansQuery {
    type Answer = Plans;

    fn answer(self, context: &Context<'_>) -> Result<Plans, RequestError> {
        Ok(context.bank.plans()?)
    }
}

/// Selects a plan.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PlanQuery {
    /// Name of the plan.
    #[schemars(regex(pattern = NAME_PATTERN))]
    name: String,
}

impl Query for PlanQuery {
    type Answer = PlanWithCommand;

    fn answer(self, context: &Context<'_>) -> Result<PlanWithCommand, RequestError> {
        let plan = context.bank.plan(&self.name)?;
        Ok(PlanWithCommand::new(plan, context.name))
    }
}

/// Selects a refresh.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct RefreshQuery {
    /// Plan whose last refresh is meant; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Number of the refresh.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    refresh: Option<u32>,
}

impl Query for RefreshQuery {
    type Answer = RefreshView;

    fn answer(self, context: &Context<'_>) -> Result<RefreshView, RequestError> {
        Ok(context.bank.refresh_view(&which(self.plan, self.refresh))?)
    }
}

/// Selects seeds of a refresh.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SeedsQuery {
    /// Plan whose last refresh is meant; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Number of the refresh.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    refresh: Option<u32>,
    /// Omits dead seeds.
    #[serde(default)]
    alive: bool,
    /// Number of seeds to skip.
    #[serde(default, deserialize_with = "integer")]
    #[schemars(range(max = 4_294_967_295_u32))]
    offset: u32,
    /// Maximum number of seeds in the answer.
    #[serde(default = "default_limit", deserialize_with = "limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: u32,
}

/// Part of the seeds of a refresh.
#[derive(Serialize, JsonSchema)]
pub(super) struct SeedList {
    /// Plan of the refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: String,
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    refresh: RefreshId,
    /// Total number of seeds that the request selects.
    total: u64,
    /// Number of seeds skipped.
    offset: u32,
    /// The next seeds, best first.
    seeds: Vec<Seed>,
}

impl Query for SeedsQuery {
    type Answer = SeedList;

    fn answer(self, context: &Context<'_>) -> Result<SeedList, RequestError> {
        let refresh = context.bank.refresh_view(&which(self.plan, self.refresh))?;
        let mut list = SeedList {
            plan: refresh.plan,
            refresh: refresh.refresh,
            total: 0,
            offset: self.offset,
            seeds: Vec::new(),
        };
        let end = u64::from(self.offset) + u64::from(self.limit);
        for seed in context.bank.seeds(which(None, Some(list.refresh)))? {
            let seed = seed?;
            if self.alive && !seed.alive {
                continue;
            }
            if (u64::from(self.offset)..end).contains(&list.total) {
                list.seeds.push(seed);
            }
            list.total += 1;
        }
        Ok(list)
    }
}

/// Selects cores of a refresh.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CoresQuery {
    /// Plan whose last refresh is meant; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Number of the refresh.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    refresh: Option<u32>,
    /// Number of cores to skip.
    #[serde(default, deserialize_with = "integer")]
    #[schemars(range(max = 4_294_967_295_u32))]
    offset: u32,
    /// Maximum number of cores in the answer.
    #[serde(default = "default_limit", deserialize_with = "limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: u32,
}

/// Part of the cores of a refresh.
#[derive(Serialize, JsonSchema)]
pub(super) struct CoreList {
    /// Plan of the refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: String,
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    refresh: RefreshId,
    /// Number of all its cores.
    total: u32,
    /// Number of cores skipped.
    offset: u32,
    /// The next cores, in the order of extraction.
    cores: Vec<CoreView>,
}

impl Query for CoresQuery {
    type Answer = CoreList;

    fn answer(self, context: &Context<'_>) -> Result<CoreList, RequestError> {
        let refresh = context.bank.refresh_view(&which(self.plan, self.refresh))?;
        let cores = cores_of(context, &refresh, self.offset, self.limit)?;
        Ok(CoreList {
            plan: refresh.plan,
            refresh: refresh.refresh,
            total: refresh.cores,
            offset: self.offset,
            cores,
        })
    }
}

/// Returns at most `limit` cores of a refresh, without the first `offset`.
pub(in crate::serve) fn cores_of(
    context: &Context<'_>,
    refresh: &RefreshView,
    offset: u32,
    limit: u32,
) -> Result<Vec<CoreView>, RequestError> {
    let of_refresh = which(None, Some(refresh.refresh));
    let last = offset.saturating_add(limit).min(refresh.cores);
    let mut cores = Vec::new();
    for rank in offset.saturating_add(1)..=last {
        if context.watch.stopped() {
            return Err(RequestError::too_long());
        }
        cores.push(context.bank.core(&of_refresh, rank)?);
    }
    Ok(cores)
}

/// Selects a core.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct CoreQuery {
    /// Plan whose last refresh is meant; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Number of the refresh.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    refresh: Option<u32>,
    /// Rank of the core in its refresh, from 1.
    #[serde(deserialize_with = "integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    core: u32,
}

impl Query for CoreQuery {
    type Answer = CoreView;

    fn answer(self, context: &Context<'_>) -> Result<CoreView, RequestError> {
        Ok(context
            .bank
            .core(which(self.plan, self.refresh), self.core)?)
    }
}

/// Selects the core whose links are requested.
#[derive(Deserialize, JsonSchema)]
#[serde(transparent)]
pub(super) struct CoreLinksQuery(CoreQuery);

impl Query for CoreLinksQuery {
    type Answer = CoreLinks;

    fn answer(self, context: &Context<'_>) -> Result<CoreLinks, RequestError> {
        let CoreQuery {
            plan,
            refresh,
            core,
        } = self.0;
        Ok(context.bank.core_links(which(plan, refresh), core)?)
    }
}

/// Maximum number of names that a search examines, which takes well below a second.
const MAX_EXAMINED: u64 = 400_000;

/// Maximum number of pages that a search filters by state.
const FILTERED: usize = 2000;

/// Maximum number of pages that are examined for the facts of a site, which takes well below a second.
pub(in crate::serve) const MAX_SITE_PAGES: u64 = 20_000;

/// The pages that a search returns, by their state.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[schemars(inline)]
pub(in crate::serve) enum StateFilter {
    #[default]
    Any,
    Crawled,
    Known,
    Gone,
    Spam,
}

impl StateFilter {
    /// All states, in the order in which a page offers them.
    pub(in crate::serve) const ALL: [Self; 5] = [
        Self::Any,
        Self::Crawled,
        Self::Known,
        Self::Gone,
        Self::Spam,
    ];

    /// Returns the name in addresses.
    pub(in crate::serve) const fn name(self) -> &'static str {
        match self {
            Self::Any => "any",
            Self::Crawled => "crawled",
            Self::Known => "known",
            Self::Gone => "gone",
            Self::Spam => "spam",
        }
    }

    fn includes(self, page: &FoundPage) -> bool {
        match self {
            Self::Any => true,
            Self::Crawled => page.state == PageState::Crawled,
            Self::Known => page.state == PageState::Known,
            Self::Gone => page.state == PageState::Gone,
            Self::Spam => page.spam,
        }
    }
}

/// Parameters of a search.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(in crate::serve) struct SearchQuery {
    /// URL with or without its scheme, name of a site, or a part of one.
    #[serde(deserialize_with = "not_blank")]
    #[schemars(regex(pattern = r"\S"))]
    pub(in crate::serve) q: String,
    /// Returns only pages in this state.
    #[serde(default)]
    pub(in crate::serve) state: StateFilter,
    /// Maximum number of pages, and of sites, in the answer.
    #[serde(default = "twenty", deserialize_with = "limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    pub(in crate::serve) limit: u32,
}

const fn twenty() -> u32 {
    20
}

impl Query for SearchQuery {
    type Answer = SearchResult;

    fn answer(self, context: &Context<'_>) -> Result<SearchResult, RequestError> {
        let limit = self.limit as usize;
        let limits = SearchLimits {
            sites: limit,
            pages: match self.state {
                StateFilter::Any => limit,
                _ => limit.max(FILTERED),
            },
            examined: MAX_EXAMINED,
        };
        let mut found = context.bank.search(&self.q, limits)?;
        found.pages.retain(|page| self.state.includes(page));
        found.pages.truncate(limit);
        Ok(found)
    }
}

/// Selects a page.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct PageQuery {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    url: String,
}

impl Query for PageQuery {
    type Answer = PageFacts;

    fn answer(self, context: &Context<'_>) -> Result<PageFacts, RequestError> {
        Ok(context.bank.page(&self.url, PageLimits::AS_JSON)?)
    }
}

/// Selects pages that are linked with a page.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct LinksQuery {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    url: String,
    /// Direction of the links, seen from the page.
    of: LinkDirection,
    /// Name of the site to which the linked pages are restricted, or a URL of one of its pages.
    site: Option<String>,
    /// Number of linked pages to skip.
    #[serde(default, deserialize_with = "integer")]
    #[schemars(range(max = 4_294_967_295_u32))]
    offset: u32,
    /// Maximum number of linked pages in the answer.
    #[serde(default = "default_limit", deserialize_with = "limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: u32,
}

impl Query for LinksQuery {
    type Answer = LinkedPages;

    fn answer(self, context: &Context<'_>) -> Result<LinkedPages, RequestError> {
        let request = LinkedRequest {
            direction: self.of,
            site: self.site,
            offset: self.offset.into(),
            limit: self.limit as usize,
        };
        Ok(context.bank.linked(&self.url, &request)?)
    }
}

/// Selects the history of a page.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct HistoryQuery {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    url: String,
    /// Plan; all plans without it.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
}

impl Query for HistoryQuery {
    type Answer = PageHistory;

    fn answer(self, context: &Context<'_>) -> Result<PageHistory, RequestError> {
        Ok(context.bank.page_history(&self.url, self.plan.as_deref())?)
    }
}

/// Selects a page and a refresh.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct ExplainQuery {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    url: String,
    /// Plan whose last refresh is meant; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Number of the refresh.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    refresh: Option<u32>,
}

impl Query for ExplainQuery {
    type Answer = Explanation;

    fn answer(self, context: &Context<'_>) -> Result<Explanation, RequestError> {
        let which = which(self.plan, self.refresh);
        Ok(context.bank.explain(&self.url, which)?)
    }
}

/// Selects a site.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct SiteQuery {
    /// Name of the site, or a URL of one of its pages.
    #[serde(deserialize_with = "not_blank")]
    #[schemars(regex(pattern = r"\S"))]
    name: String,
}

impl Query for SiteQuery {
    type Answer = SiteFacts;

    fn answer(self, context: &Context<'_>) -> Result<SiteFacts, RequestError> {
        let limits = SiteLimits {
            pages: MAX_SITE_PAGES,
            ..SiteLimits::AS_JSON
        };
        Ok(context.bank.site(&self.name, limits)?)
    }
}

/// Selects two refreshes, and a part of the seeds of both lists.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct DiffQuery {
    /// Number of the first refresh; without it, the stored one before the second.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    from: Option<u32>,
    /// Number of the second refresh; without it, the last one of the plan.
    #[serde(default, deserialize_with = "optional_integer")]
    #[schemars(range(min = 1, max = 4_294_967_295_u32))]
    to: Option<u32>,
    /// Plan of the refreshes; `default` without a refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
    /// Plan whose last refresh is compared with the last one of `plan`, instead of two refreshes by number.
    #[schemars(regex(pattern = NAME_PATTERN))]
    against: Option<String>,
    /// Number of seeds to skip.
    #[serde(default, deserialize_with = "integer")]
    #[schemars(range(max = 4_294_967_295_u32))]
    offset: u32,
    /// Maximum number of seeds in the answer: first those gained, then those lost, moved and kept. The counts
    /// are those of all seeds.
    #[serde(default = "default_limit", deserialize_with = "limit")]
    #[schemars(range(min = 1, max = MAX_LIMIT))]
    limit: u32,
}

impl Query for DiffQuery {
    type Answer = SeedDiff;

    fn answer(self, context: &Context<'_>) -> Result<SeedDiff, RequestError> {
        let mut diff = changes(context, self.from, self.to, self.plan, self.against)?;
        let skipped = diff.seeds.len().min(self.offset as usize);
        diff.seeds.drain(..skipped);
        diff.seeds.truncate(self.limit as usize);
        Ok(diff)
    }
}

/// Compares two refreshes, or the last ones of two plans.
pub(in crate::serve) fn changes(
    context: &Context<'_>,
    from: Option<u32>,
    to: Option<u32>,
    plan: Option<String>,
    against: Option<String>,
) -> Result<SeedDiff, RequestError> {
    let from = match (from, to) {
        (None, Some(to)) => Some(previous(context, plan.clone(), to)?),
        _ => from,
    };
    let request = DiffRequest {
        plan,
        refreshes: from.into_iter().chain(to).collect(),
        against,
        list: None,
    };
    Ok(context.bank.diff(&request)?)
}

/// Returns the previous stored refresh of the same plan.
fn previous(
    context: &Context<'_>,
    plan: Option<String>,
    refresh: u32,
) -> Result<u32, RequestError> {
    let plan = context.bank.refresh_view(&which(plan, Some(refresh)))?.plan;
    let all = context.bank.history()?.refreshes.into_iter();
    let of_plan = all.filter(|other| other.plan == plan && other.refresh < refresh);
    of_plan.map(|other| other.refresh).max().ok_or_else(|| {
        let text = format!(
            "no refresh of plan {plan} before refresh {refresh} is stored; add `from` to compare with another one"
        );
        RequestError::new(StatusCode::NOT_FOUND, text)
    })
}

/// Maximum number of URLs in a list; comparing them takes a second or two.
const MAX_URLS: usize = 2000;

/// Selects the plan to compare a list with.
#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
struct CompareQuery {
    /// Plan; `default` without it.
    #[schemars(regex(pattern = NAME_PATTERN))]
    plan: Option<String>,
}

/// The operation, which reads the list from the body of the request.
pub(super) const COMPARE: Operation = Operation {
    name: "compare",
    about: "A list of URLs compared with the seeds of a plan: alive, covered, and what crawls from it find",
    parameters: schema_of::<CompareQuery>(),
    answer: schema_of::<ListComparison>(),
    takes_list: true,
    is_cached: false,
    is_limited: true,
    compute: |context, uri, list| {
        let CompareQuery { plan } = query(uri)?;
        Answer::json(&compare(context, list, plan)?)
    },
};

/// Compares a list, one URL per line, with the last refresh of a plan.
pub(in crate::serve) fn compare(
    context: &Context<'_>,
    text: &str,
    plan: Option<String>,
) -> Result<ListComparison, RequestError> {
    let mut list = UrlList {
        name: "the list".to_owned(),
        ..UrlList::default()
    };
    for (number, line) in (1..).zip(text.lines()) {
        list.push_line(number, line);
        if list.urls.len() > MAX_URLS {
            let text = format!(
                "a list has at most {MAX_URLS} URLs here; compare longer ones on the command line"
            );
            return Err(RequestError::new(StatusCode::PAYLOAD_TOO_LARGE, text));
        }
    }
    let request = CompareRequest {
        most: MAX_URLS,
        ..CompareRequest::new(which(plan, None))
    };
    Ok(context.bank.compare(&list, &request)?)
}
