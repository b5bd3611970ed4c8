//! The number of pages that the next crawl should fetch from each site.

use std::sync::Arc;

use askama::Template;
use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{Response, StatusCode};
use serde::Deserialize;

use super::layout::Layout;
use crate::engine::query::{QuotaBy, QuotaRequest, Quotas};
use crate::html::text::Count;
use crate::serve::address::Address;
use crate::serve::answer::{Answer, RequestError};
use crate::serve::executor::{Context, Executor};
use crate::serve::extract::Extracted;
use crate::serve::media_type::MediaType;
use crate::serve::query_params::{TableName, optional_integer};
use crate::serve::table::{Cell, Column, Table, csv_answer};

/// Maximum number of sites on the page.
const ROWS: usize = 100;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Params {
    /// Number of pages to distribute; without it, the page has only the form.
    #[serde(default, deserialize_with = "optional_integer")]
    pages: Option<u64>,
    #[serde(default)]
    by: QuotaBy,
    /// The plan; empty for none.
    plan: Option<String>,
    table: Option<TableName>,
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

#[derive(Template)]
#[template(path = "quotas.html", config = "src/serve/askama.toml")]
struct Page<'a> {
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
pub(super) async fn get(
    Shared(executor): Shared<Arc<Executor>>,
    request: Extracted<Params>,
) -> Response<Body> {
    let limited = Arc::clone(&executor);
    let _permit = limited.comparisons.acquire().await;
    let (media_type, params) = (request.media_type, request.params);
    executor
        .answer(Some(request.uri), media_type, move |context| {
            render(context, params, media_type)
        })
        .await
}

fn render(
    context: &Context<'_>,
    params: Params,
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
            let all = table_of(&quotas, usize::MAX);
            return csv_answer(&[all], params.table.as_ref(), "");
        }
        Some(Ok(quotas)) => {
            json.push(("All quotas as JSON", address.in_api()));
            let found = Found {
                sites: table_of(&quotas, ROWS).with_files(&address, &address.in_api()),
                more: quotas.sites.len().saturating_sub(ROWS),
                quotas,
            };
            (Some(found), None)
        }
    };
    let plans = context.bank.plans()?.plans;
    let status = error.as_ref().map_or(StatusCode::OK, |error| error.status);
    let page = Answer::page(&Page {
        layout: Layout::with_json(context, json),
        plans: plans.into_iter().map(|plan| plan.plan).collect(),
        request,
        error,
        found,
    })?;
    Ok(page.with_status(status))
}

/// Returns the `most` largest quotas in descending order.
fn table_of(quotas: &Quotas, most: usize) -> Table {
    let rows = quotas.sites.iter().take(most).map(|site| {
        vec![
            Cell::Site(site.site.clone()),
            Cell::Count(site.quota.into()),
            Cell::Count(site.pages),
            Cell::Count(site.crawled.into()),
            Cell::Count(site.uncrawled.into()),
            Cell::Number(100.0 * site.share),
            Cell::count(site.limit),
        ]
    });
    let columns = vec![
        Column::text("site", "Site"),
        Column::number("quota", "Quota, pages"),
        Column::number("pages", "Pages"),
        Column::number("crawled", "Crawled"),
        Column::number("uncrawled", "Not crawled"),
        Column::number("share_percent", "Share, %"),
        Column::number("limit", "Given limit"),
    ];
    let caption = "Quotas of sites, the largest first";
    Table::new("quotas", caption, columns, rows.collect())
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
