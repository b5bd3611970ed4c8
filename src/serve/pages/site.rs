//! Sites: what is known about one, and the number of pages that the next crawl should fetch from each.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{Response, StatusCode};

use super::layout::{Layout, params};
use super::refresh::seed_reasons;
use crate::answers::{Cell, Facts, Record as _, Table, site_attributes, site_in_plan};
use crate::engine::query::{
    PolicyVerdict, QuotaBy, QuotaRequest, Quotas, RefreshRun, SiteFacts, SiteInPlan, SiteLimits,
    SiteLinkCounts, SiteQuota, SiteWhy,
};
use crate::html::text::Count;
use crate::serve::address::{self, Address};
use crate::serve::answer::{Answer, MediaType, RequestError};
use crate::serve::api::MAX_SITE_PAGES;
use crate::serve::executor::{Context, Executor};
use crate::serve::params::{Extracted, optional_integer};
use crate::serve::table::{Files as _, csv_answer};

/// Maximum number of seeds of a site that are shown for a plan.
const SEEDS: usize = 50;

params! {
    SiteQuery {
        name: String,
    }
}

/// A site: its pages by state, its role in every plan, and its links with other sites.
#[derive(Template)]
#[template(path = "site.html", config = "src/serve/askama.toml")]
struct SitePage<'a> {
    layout: Layout<'a>,
    facts: SiteFacts,
    /// What the last refresh of each plan selected on the site.
    plans: Vec<PlanOfSite>,
    links_to: Table,
    linked_from: Table,
    digests: Table,
    shapes: Table,
}

pub(super) fn site(
    context: &Context<'_>,
    params: SiteQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let limits = match media_type {
        MediaType::Html => SiteLimits {
            sites: 20,
            digests: 10,
            ..SiteLimits::default()
        },
        _ => SiteLimits::AS_JSON,
    };
    let limits = SiteLimits {
        pages: MAX_SITE_PAGES,
        ..limits
    };
    let facts = context.bank.site(&params.name, limits)?;
    let address = address::site(&facts.site);
    let links_to =
        linked_sites("links-to", &facts.links_to).with_files(&address, &address.in_api());
    let linked_from =
        linked_sites("linked-from", &facts.linked_from).with_files(&address, &address.in_api());
    let digests = digest_table(&facts).with_files(&address, &address.in_api());
    let shapes = shape_table(&facts).with_files(&address, &address.in_api());
    if media_type == MediaType::Csv {
        let tables = [links_to, linked_from, digests, shapes];
        return csv_answer(&tables, params.table.as_ref(), "site");
    }
    let plans = facts.plans.iter().map(|plan| plan_of_site(context, plan));
    Answer::page(&SitePage {
        layout: Layout::new(context, &address.in_api()),
        plans: plans.collect::<Result<_, _>>()?,
        facts,
        links_to,
        linked_from,
        digests,
        shapes,
    })
}

/// Returns the sites with the most links to or from a site.
fn linked_sites(name: &'static str, links: &SiteLinkCounts) -> Table {
    Table::of(name, "Linked sites, the most links first", &links.by_site)
        .text("site", "Site", |other| Cell::site(&other.site))
        .number("links", "Links", |other| other.links)
        .number("pages", "Pages", |other| other.pages)
        .done()
}

/// Returns the content digests that several pages share.
fn digest_table(facts: &SiteFacts) -> Table {
    let repeated = &facts.digests.repeated;
    Table::of("digests", "Digests shared by several pages", repeated)
        .number("pages", "Pages", |same| same.pages)
        .text("examples", "Examples", |same| {
            Cell::Pages(same.examples.clone())
        })
        .done()
}

/// Returns the shapes of URLs of the most pages.
fn shape_table(facts: &SiteFacts) -> Table {
    Table::of("shapes", "Shapes of URLs of several pages", &facts.shapes)
        .number("pages", "Pages", |of| of.pages)
        .text("shape", "Shape", |of| Cell::from(of.shape.clone()))
        .done()
}

/// What the last refresh of a plan selected on a site.
struct PlanOfSite {
    run: RefreshRun,
    facts: Facts,
    seeds: Table,
    /// Number of seeds that are not shown.
    more: usize,
}

/// A seed, or a pick that a policy keeps off the list: rank, URL, whether it is kept off, and score.
type Pick<'a> = (u32, &'a str, bool, Option<f64>);

/// Returns what the last refresh of a plan selected on a site, with the reasons for its seeds.
fn plan_of_site(context: &Context<'_>, plan: &SiteInPlan) -> Result<PlanOfSite, RequestError> {
    let (score, mut picks): (&str, Vec<Pick<'_>>) = match &plan.why {
        SiteWhy::CoresOfSite(site) => {
            let picks = site.site_seeds.iter().map(|of| {
                let why = &of.why;
                (why.rank, &*of.url, why.deferred, Some(why.core.sigma))
            });
            ("Sigma of its core", picks.collect())
        }
        SiteWhy::CoverOfSite(site) => {
            let seeds = site.site_seeds.iter();
            let picks = seeds.map(|of| (of.rank, &*of.url, of.deferred, of.gain));
            ("Score", picks.collect())
        }
        SiteWhy::WebOfSite(site) => {
            let seeds = site.site_seeds.iter();
            let picks = seeds.map(|of| (of.rank, &*of.url, of.deferred, of.gain));
            ("Score", picks.collect())
        }
        SiteWhy::NoCrawledPages => ("Score", Vec::new()),
    };
    picks.extend(plan.by_policy.iter().filter_map(|seed| match seed.verdict {
        PolicyVerdict::Pinned { rank } | PolicyVerdict::Retained { rank, .. } => {
            Some((rank, &*seed.url, false, None))
        }
        _ => None,
    }));
    let more = picks.len().saturating_sub(SEEDS);
    picks.truncate(SEEDS);
    let urls = picks.iter().map(|(_, url, ..)| *url);
    let reasons = seed_reasons(context, plan.run.refresh, urls)?;
    let rows = picks.into_iter().zip(&reasons);
    let seeds = Table::of("seeds", "Seeds of the site", rows)
        .number("rank", "Rank", |((rank, ..), _)| rank)
        .text("page", "Page", |((_, url, deferred, _), _)| {
            let deferred = deferred.then_some("deferred by the limit on changes");
            Cell::page(url).tagged("new", deferred)
        })
        .text("why", "Why", |(_, reason)| Cell::or_none(reason.as_ref()))
        .optional("score", score, |((.., score), _)| score);
    Ok(PlanOfSite {
        run: plan.run.clone(),
        facts: site_in_plan(plan, false),
        seeds: seeds.done(),
        more,
    })
}

impl SitePage<'_> {
    /// Returns the links with other sites in both directions, with titles and tables.
    fn links(&self) -> [(&'static str, &SiteLinkCounts, &Table); 2] {
        let facts = &self.facts;
        [
            ("Links to", &facts.links_to, &self.links_to),
            ("Linked from", &facts.linked_from, &self.linked_from),
        ]
    }

    /// Returns the address of a search for the pages of the site.
    fn pages(&self) -> Address {
        Address::new("/search").with("q", format_args!("{}/", self.facts.site))
    }
}

/// Maximum number of sites on the page.
const ROWS: usize = 100;

params! {
    QuotasQuery {
        /// Number of pages to distribute; without it, the page has only the form.
        #[serde(default, deserialize_with = "optional_integer")]
        pages: Option<u64>,
        #[serde(default)]
        by: QuotaBy,
        /// The plan; empty for none.
        plan: Option<String>,
    }
}

/// The number of pages that the next crawl should fetch from each site.
#[derive(Template)]
#[template(path = "quotas.html", config = "src/serve/askama.toml")]
struct QuotasPage<'a> {
    layout: Layout<'a>,
    /// Names of all plans.
    plans: Vec<String>,
    request: QuotaRequest,
    /// Why there are no quotas.
    error: Option<RequestError>,
    found: Option<Found>,
}

struct Found {
    quotas: Quotas,
    sites: Table,
    /// Number of sites that are not shown.
    more: usize,
}

/// Answers a request. As few are computed at once as lists are compared, since each may rank the whole graph.
pub(super) async fn quotas(
    Shared(executor): Shared<Arc<Executor>>,
    request: Extracted<QuotasQuery>,
) -> Response<Body> {
    let limited = Arc::clone(&executor);
    let _permit = limited.comparisons.acquire().await;
    let (media_type, params) = (request.media_type, request.params);
    executor
        .answer(Some(request.uri), media_type, move |context| {
            quotas_page(context, params, media_type)
        })
        .await
}

fn quotas_page(
    context: &Context<'_>,
    params: QuotasQuery,
    media_type: MediaType,
) -> Result<Answer, RequestError> {
    let request = QuotaRequest {
        pages: params.pages.unwrap_or_default(),
        by: params.by,
        plan: params.plan.filter(|plan| !plan.is_empty()),
    };
    let address = Address::new("/quotas")
        .with_some("pages", params.pages)
        .with("by", request.by.name())
        .with_some("plan", request.plan.as_ref());
    let quotas = match (params.pages, media_type) {
        (None, MediaType::Html) => None,
        (None, _) => {
            let text = "missing parameter `pages`, the number of pages to distribute";
            return Err(RequestError::new(StatusCode::BAD_REQUEST, text));
        }
        (Some(_), _) => match context.bank.quotas(&request) {
            Ok(quotas) => Some(Ok(quotas)),
            Err(error) => {
                let error = RequestError::from(error);
                // The form is shown again, so that the user can correct it.
                if media_type != MediaType::Html || !error.status.is_client_error() {
                    return Err(error);
                }
                Some(Err(error))
            }
        },
    };
    let mut json = Vec::new();
    let (found, error) = match quotas {
        None => (None, None),
        Some(Err(error)) => (None, Some(error)),
        Some(Ok(quotas)) if media_type == MediaType::Csv => {
            let all = quota_table(&quotas, usize::MAX);
            return csv_answer(&[all], params.table.as_ref(), "");
        }
        Some(Ok(quotas)) => {
            json.push(("All quotas as JSON", address.in_api()));
            let found = Found {
                sites: quota_table(&quotas, ROWS).with_files(&address, &address.in_api()),
                more: quotas.sites.len().saturating_sub(ROWS),
                quotas,
            };
            (Some(found), None)
        }
    };
    let plans = context.bank.plans()?.plans;
    let status = error.as_ref().map_or(StatusCode::OK, |error| error.status);
    let page = Answer::page(&QuotasPage {
        layout: Layout::with_json(context, json),
        plans: plans.into_iter().map(|plan| plan.plan).collect(),
        request,
        error,
        found,
    })?;
    Ok(page.with_status(status))
}

/// Returns the `most` largest quotas in descending order.
fn quota_table(quotas: &Quotas, most: usize) -> Table {
    let sites = quotas.sites.iter().take(most);
    SiteQuota::table("quotas", "Quotas of sites, the largest first", sites)
}

/// Returns the weights to select from, with what each is.
const fn weights() -> [(QuotaBy, &'static str); 4] {
    [
        (QuotaBy::Value, "value of the crawled pages"),
        (QuotaBy::Pagerank, "PageRank of the pages"),
        (QuotaBy::Quality, "quality of the pages"),
        (QuotaBy::Seeds, "seeds of a plan"),
    ]
}
