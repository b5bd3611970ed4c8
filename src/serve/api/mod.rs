//! The JSON API: each operation is declared once, and its route, its description in the OpenAPI document
//! and the tool of the same name follow from the declaration.
//!
//! ```text
//! operation.rs   an operation: parameters, answer, how it is computed; parameters that select a part of a list
//! queries.rs     the parameters and answers of all operations
//! ```

mod operation;
mod queries;

use axum::Router;
use axum::body::Body;
use axum::http::Response;
use axum::routing::get;
use std::sync::Arc;

pub use operation::Operation;
pub(super) use operation::{Query, text_body};
pub(super) use queries::{
    MAX_SITE_PAGES, SearchQuery, StateFilter, changes, compare, cores_of, keep_method,
};

use super::answer::{Answer, DOCUMENT_PATH, JSON};
use super::executor::Executor;
use operation::operation;

/// The OpenAPI document, generated from the operations and their types.
const DOCUMENT: &str = include_str!("../../../schema/openapi.json");

/// The operations of the API, in the order of the document.
pub const OPERATIONS: &[Operation] = &[
    operation::<queries::StatusQuery>(
        "status",
        "Status of the bank: its contents, plans and last batch",
    )
    .uncached(),
    operation::<queries::BatchesQuery>(
        "batches",
        "History of the bank: batches, refreshes, the last refused batch",
    )
    .uncached(),
    operation::<queries::PlansQuery>(
        "plans",
        "All plans with their parameters, last refreshes and verdicts",
    ),
    operation::<queries::PlanQuery>(
        "plan",
        "A plan with all its refreshes, and the command that recreates it",
    ),
    operation::<queries::RefreshQuery>("refresh", "A refresh: its parameters, cost and counts"),
    operation::<queries::SeedsQuery>("seeds", "Seeds of a refresh, best first"),
    operation::<queries::ExplainQuery>(
        "explain",
        "Why a page is a seed of a refresh, or why not, with the evidence",
    ),
    operation::<queries::DiffQuery>(
        "diff",
        "Two refreshes compared: seeds gained, lost and moved, with causes",
    ),
    operation::<queries::SearchQuery>("search", "Pages and sites whose names contain a text"),
    operation::<queries::PageQuery>(
        "page",
        "What is known about a page, and its part in every plan",
    ),
    operation::<queries::LinksQuery>("links", "Pages that link to a page, or that it links to"),
    operation::<queries::HistoryQuery>(
        "history",
        "When a page was a seed, and why it became or stopped being one",
    ),
    operation::<queries::SiteQuery>(
        "site",
        "What is known about a site, its seeds and its links to other sites",
    ),
    operation::<queries::CoresQuery>("cores", "Cores of a refresh, the densest first"),
    operation::<queries::CoreQuery>("core", "A core: its hubs and authorities with their scores"),
    operation::<queries::CoreLinksQuery>(
        "core-links",
        "Current links from the hubs of a core to its authorities",
    ),
    operation::<queries::QuotasQuery>(
        "quotas",
        "Number of pages that the next crawl should fetch from each site",
    )
    .limited(),
    queries::COMPARE,
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
