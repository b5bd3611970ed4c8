//! The pages: a file for each, with what its template cannot compute itself.

mod batches;
mod compare;
mod core;
mod diff;
mod explain;
mod frame;
mod history;
mod links;
mod matrix;
mod metrics;
mod page;
mod plan;
mod refresh;
mod search;
mod seeds;
mod site;
mod start;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::DefaultBodyLimit;
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::get;

use super::answer::{Answer, Fault, TEXT};
use super::desk::Desk;
use super::form::accepted;
use super::given::Given;
use super::guard::{FORM, Guard, HEALTH, MAX_BODY, watch_over};

/// The style of the server's pages, after that of every page.
const STYLE: &str = include_str!("../serve.css");

/// The picture in a browser's tab.
const ICON: &str = include_str!("../icon.svg");

/// Every address with who answers it, behind the guard.
pub(super) fn router(desk: Arc<Desk>, guard: Arc<Guard>) -> Router {
    Router::new()
        .route("/", get(start::answer))
        .route("/page", get(page::answer))
        .route("/history", get(history::answer))
        .route("/links", get(links::answer))
        .route("/search", get(search::answer))
        .route("/site", get(site::answer))
        .route("/explain", get(explain::answer))
        .route("/plan", get(plan::answer))
        .route("/refresh", get(refresh::answer))
        .route("/seeds", get(seeds::answer))
        .route("/diff", get(diff::answer))
        .route("/core", get(core::answer))
        .route("/batches", get(batches::answer))
        .route(FORM, get(compare::ask).post(compare::answer))
        .route("/metrics", get(metrics::answer))
        .route(HEALTH, get(health))
        .route("/style.css", get(style))
        .route("/icon.svg", get(icon))
        .fallback(nothing)
        .layer(DefaultBodyLimit::max(MAX_BODY))
        .with_state(desk)
        .layer(from_fn_with_state(guard, watch_over))
}

/// The server runs; nothing is said of the bank.
async fn health() -> Response<Body> {
    Answer::of(TEXT, "ok\n").into()
}

async fn style() -> Response<Body> {
    let style = format!("{}{STYLE}", crate::html::STYLE);
    Answer::of("text/css; charset=utf-8", style).into()
}

async fn icon() -> Response<Body> {
    Answer::of("image/svg+xml", ICON).into()
}

async fn nothing(uri: Uri, headers: HeaderMap) -> Response<Body> {
    let form = Given::of(&uri).form(&headers);
    let form = form.unwrap_or_else(|_| accepted(&headers));
    let fault = Fault::new(
        StatusCode::NOT_FOUND,
        "there is no such page on this server",
    );
    Answer::fault(&fault, form).into()
}
