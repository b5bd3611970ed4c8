//! The JSON API: each operation is declared once, and its route, its description in the OpenAPI document
//! and the tool of the same name follow from the declaration.
//!
//! ```text
//! operation.rs   an operation: parameters, answer, how it is computed
//! paging.rs      parameters that select a part of a list
//! bank.rs        status, batches, quotas
//! plans.rs       plans, refreshes, their seeds and cores
//! pages.rs       pages, sites, searches
//! diff.rs        comparison of two refreshes
//! compare.rs     comparison of a list from outside the bank
//! ```

mod bank;
mod compare;
mod diff;
mod operation;
mod pages;
mod paging;
mod plans;

use axum::Router;
use axum::body::Body;
use axum::http::Response;
use axum::routing::get;
use std::sync::Arc;

pub(super) use bank::keep_method;
pub(super) use compare::compare;
pub(super) use diff::changes;
pub use operation::Operation;
pub(super) use operation::{Query, text_body};
pub(super) use pages::{MAX_SITE_PAGES, SearchQuery, StateFilter};
pub(super) use plans::cores_of;

use super::answer::{Answer, JSON};
use super::executor::Executor;
use super::media_type::DOCUMENT_PATH;
use operation::operation;

/// The OpenAPI document, generated from the operations and their types.
const DOCUMENT: &str = include_str!("../../../schema/openapi.json");

/// The operations of the API, in the order of the document.
pub const OPERATIONS: &[Operation] = &[
    operation::<bank::StatusQuery>(
        "status",
        "Status of the bank: its contents, plans and last batch",
    )
    .uncached(),
    operation::<bank::BatchesQuery>(
        "batches",
        "History of the bank: batches, refreshes, the last refused batch",
    )
    .uncached(),
    operation::<plans::PlansQuery>(
        "plans",
        "All plans with their parameters, last refreshes and verdicts",
    ),
    operation::<plans::PlanQuery>(
        "plan",
        "A plan with all its refreshes, and the command that recreates it",
    ),
    operation::<plans::RefreshQuery>("refresh", "A refresh: its parameters, cost and counts"),
    operation::<plans::SeedsQuery>("seeds", "Seeds of a refresh, best first"),
    operation::<pages::ExplainQuery>(
        "explain",
        "Why a page is a seed of a refresh, or why not, with the evidence",
    ),
    operation::<diff::DiffQuery>(
        "diff",
        "Two refreshes compared: seeds gained, lost and moved, with causes",
    ),
    operation::<pages::SearchQuery>("search", "Pages and sites whose names contain a text"),
    operation::<pages::PageQuery>(
        "page",
        "What is known about a page, and its part in every plan",
    ),
    operation::<pages::LinksQuery>("links", "Pages that link to a page, or that it links to"),
    operation::<pages::HistoryQuery>(
        "history",
        "When a page was a seed, and why it became or stopped being one",
    ),
    operation::<pages::SiteQuery>(
        "site",
        "What is known about a site, its seeds and its links to other sites",
    ),
    operation::<plans::CoresQuery>("cores", "Cores of a refresh, the densest first"),
    operation::<plans::CoreQuery>("core", "A core: its hubs and authorities with their scores"),
    operation::<plans::CoreLinksQuery>(
        "core-links",
        "Current links from the hubs of a core to its authorities",
    ),
    operation::<bank::QuotasQuery>(
        "quotas",
        "Number of pages that the next crawl should fetch from each site",
    )
    .limited(),
    compare::COMPARE,
];

/// Adds the routes of the API to those of the pages.
pub(super) fn with_routes(mut router: Router<Arc<Executor>>) -> Router<Arc<Executor>> {
    for operation in OPERATIONS {
        router = router.route(&operation.path(), operation.route());
    }
    router.route(DOCUMENT_PATH, get(document))
}

async fn document() -> Response<Body> {
    Answer::new(JSON, DOCUMENT).into()
}
