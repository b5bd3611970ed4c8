//! The pages, by what they are about, with what their templates need.
#![expect(
    clippy::needless_pass_by_value,
    reason = "all pages have the same signature"
)]

mod compare;
mod core;
mod layout;
mod page;
mod plans;
mod refresh;
mod site;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State as Shared};
use axum::http::{Response, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get};
use serde::de::DeserializeOwned;

use super::answer::{Answer, MediaType, RequestError, TEXT};
use super::api;
use super::executor::{Context, Executor};
use super::params::{Extracted, NoParams};
use super::request_metrics::measure;
use super::security::{AccessPolicy, COMPARE_PATH, HEALTH_PATH, MAX_BODY_BYTES, enforce};

/// Styles of the server's pages, appended to those shared with reports.
const STYLE: &str = include_str!("../serve.css");

/// The icon of the pages.
const ICON: &str = include_str!("../icon.svg");

/// Returns the routes of all pages, behind the access checks.
pub(super) fn router(executor: Arc<Executor>, policy: Arc<AccessPolicy>) -> Router {
    let requests = Arc::clone(&executor.requests);
    api::with_routes(Router::new())
        .route("/", uncached(plans::home))
        .route("/page", cached(page::page))
        .route("/history", cached(page::history))
        .route("/links", cached(page::links))
        .route("/search", cached(page::search))
        .route("/site", cached(site::site))
        .route("/explain", cached(page::explain))
        .route("/plan", cached(plans::plan))
        .route("/refresh", cached(refresh::refresh))
        .route("/seeds", get(refresh::seeds))
        .route("/diff", cached(refresh::diff))
        .route("/core", cached(core::core))
        .route("/cores", cached(core::cores))
        .route("/plans", cached(plans::plans))
        .route("/evaluate", cached(plans::verdicts))
        .route("/quotas", get(site::quotas))
        .route("/batches", uncached(plans::batches))
        .route(
            COMPARE_PATH,
            uncached(compare::render_form).post(compare::post),
        )
        .route("/metrics", uncached(metrics))
        .route(HEALTH_PATH, get(health))
        .route("/style.css", get(style))
        .route("/icon.svg", get(icon))
        .fallback(not_found)
        .with_state(executor)
        .layer(from_fn_with_state(policy, enforce))
        .layer(from_fn_with_state(requests, measure))
        .layer(DefaultBodyLimit::max(MAX_BODY_BYTES))
}

/// Computes an answer from a state and the parameters of a request.
type Render<T> = fn(&Context<'_>, T, MediaType) -> Result<Answer, RequestError>;

/// A route whose answers depend only on the URI and the state.
fn cached<T: DeserializeOwned + Send + 'static>(render: Render<T>) -> MethodRouter<Arc<Executor>> {
    route(render, true)
}

/// A route whose answers contain ages, or otherwise depend on more than the URI and the state.
fn uncached<T: DeserializeOwned + Send + 'static>(
    render: Render<T>,
) -> MethodRouter<Arc<Executor>> {
    route(render, false)
}

fn route<T: DeserializeOwned + Send + 'static>(
    render: Render<T>,
    cached: bool,
) -> MethodRouter<Arc<Executor>> {
    get(
        move |Shared(executor): Shared<Arc<Executor>>, request: Extracted<T>| {
            let media_type = request.media_type;
            let uri = cached.then_some(request.uri);
            executor.answer(uri, media_type, move |context| {
                let answer = render(context, request.params, media_type)?;
                if media_type == MediaType::Csv && !answer.is_csv() {
                    let text = "this address has no table, so it is not available as CSV";
                    return Err(RequestError::new(StatusCode::BAD_REQUEST, text));
                }
                Ok(answer)
            })
        },
    )
}

/// Answers with the status and the requests, in the text format of Prometheus.
fn metrics(context: &Context<'_>, _: NoParams, _: MediaType) -> Result<Answer, RequestError> {
    let metrics = context.bank.status()?.metrics() + &context.requests.render();
    let content_type = "text/plain; version=0.0.4; charset=utf-8";
    Ok(Answer::new(content_type, metrics))
}

/// Answers while the server runs, without reading the bank.
async fn health() -> Response<Body> {
    Answer::new(TEXT, "ok\n").into()
}

async fn style() -> Response<Body> {
    let style = format!("{}{STYLE}", crate::html::STYLE);
    Answer::new("text/css; charset=utf-8", style).into()
}

async fn icon() -> Response<Body> {
    Answer::new("image/svg+xml", ICON).into()
}

async fn not_found(uri: Uri) -> Response<Body> {
    let error = RequestError::new(
        StatusCode::NOT_FOUND,
        "there is no such address on this server",
    );
    Answer::error(&error, MediaType::at(uri.path())).into()
}
