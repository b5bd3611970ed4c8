//! Questions about pages and sites.

use schemars::JsonSchema;
use serde::Deserialize;

use super::operation::Query;
use super::paging::{MAX_LIMIT, default_limit, limit, not_blank};
use crate::engine::plan::NAME_PATTERN;
use crate::engine::query::{
    Explanation, FoundPage, LinkDirection, LinkedPages, LinkedRequest, PageFacts, PageHistory,
    PageLimits, PageState, SearchLimits, SearchResult, SiteFacts, SiteLimits,
};
use crate::serve::answer::RequestError;
use crate::serve::executor::Context;
use crate::serve::extract::which;
use crate::serve::query_params::{integer, optional_integer};
use seedbank_formats::ingest::URL_PATTERN;

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
