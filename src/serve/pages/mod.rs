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
use axum::extract::{DefaultBodyLimit, State as Shared};
use axum::http::{HeaderMap, Response, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get};
use serde::de::DeserializeOwned;

use super::answer::{Answer, Fault, TEXT};
use super::asked::Asked;
use super::desk::{Desk, State};
use super::form::{Form, accepted};
use super::guard::{FORM, Guard, HEALTH, MAX_BODY, watch_over};
use super::query_params::media_type;

/// The style of the server's pages, after that of every page.
const STYLE: &str = include_str!("../serve.css");

/// The picture in a browser's tab.
const ICON: &str = include_str!("../icon.svg");

/// Every address with who answers it, behind the guard.
pub(super) fn router(desk: Arc<Desk>, guard: Arc<Guard>) -> Router {
    Router::new()
        .route("/", fresh(start::made))
        .route("/page", kept(page::made))
        .route("/history", kept(history::made))
        .route("/links", kept(links::made))
        .route("/search", kept(search::made))
        .route("/site", kept(site::made))
        .route("/explain", kept(explain::made))
        .route("/plan", kept(plan::made))
        .route("/refresh", kept(refresh::made))
        .route("/seeds", get(seeds::answer))
        .route("/diff", kept(diff::made))
        .route("/core", kept(core::made))
        .route("/batches", kept(batches::made))
        .route(FORM, fresh(compare::ask).post(compare::answer))
        .route("/metrics", fresh(metrics::made))
        .route(HEALTH, get(health))
        .route("/style.css", get(style))
        .route("/icon.svg", get(icon))
        .fallback(nothing)
        .with_state(desk)
        .layer(from_fn_with_state(guard, watch_over))
        .layer(DefaultBodyLimit::max(MAX_BODY))
}

/// How an answer is made: from a state, what is asked of it, and what it is written as.
type Made<T> = fn(&State<'_>, T, Form) -> Result<Answer, Fault>;

/// Answers an address whose answer is the same as long as the state is.
fn kept<T: DeserializeOwned + Send + 'static>(made: Made<T>) -> MethodRouter<Arc<Desk>> {
    get(move |Shared(desk): Shared<Arc<Desk>>, asked: Asked<T>| {
        let Asked {
            about,
            form,
            address,
        } = asked;
        desk.answer(Some(address), form, move |state| made(state, about, form))
    })
}

/// Answers an address whose answer is made for each request: it tells ages too.
fn fresh<T: DeserializeOwned + Send + 'static>(made: Made<T>) -> MethodRouter<Arc<Desk>> {
    get(move |Shared(desk): Shared<Arc<Desk>>, asked: Asked<T>| {
        let Asked { about, form, .. } = asked;
        desk.answer(None, form, move |state| made(state, about, form))
    })
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
    let form = media_type(&uri, &headers).unwrap_or_else(|_| accepted(&headers));
    let fault = Fault::new(
        StatusCode::NOT_FOUND,
        "there is no such page on this server",
    );
    Answer::fault(&fault, form).into()
}
