//! The pages: one file for each, with what its template needs.
#![expect(
    clippy::needless_pass_by_value,
    reason = "all pages have the same signature"
)]

mod batches;
mod compare;
mod core;
mod core_picture;
mod cores;
mod diff;
mod evaluate;
mod events;
mod evidence;
mod explain;
mod history;
mod home;
mod layout;
mod links;
mod metrics;
mod neighbourhood;
mod page;
mod plan;
mod plans;
mod quotas;
mod reasons;
mod refresh;
mod score;
mod search;
mod seeds;
mod site;
mod site_plans;

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::{DefaultBodyLimit, State as Shared};
use axum::http::{Response, StatusCode, Uri};
use axum::middleware::from_fn_with_state;
use axum::routing::{MethodRouter, get};
use serde::de::DeserializeOwned;

use super::answer::{Answer, RequestError, TEXT};
use super::api;
use super::executor::{Context, Executor};
use super::extract::Extracted;
use super::media_type::MediaType;
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
        .route("/", uncached(home::render))
        .route("/page", cached(page::render))
        .route("/history", cached(history::render))
        .route("/links", cached(links::render))
        .route("/search", cached(search::render))
        .route("/site", cached(site::render))
        .route("/explain", cached(explain::render))
        .route("/plan", cached(plan::render))
        .route("/refresh", cached(refresh::render))
        .route("/seeds", get(seeds::get))
        .route("/diff", cached(diff::render))
        .route("/core", cached(core::render))
        .route("/cores", cached(cores::render))
        .route("/plans", cached(plans::render))
        .route("/evaluate", cached(evaluate::render))
        .route("/quotas", get(quotas::get))
        .route("/batches", uncached(batches::render))
        .route(
            COMPARE_PATH,
            uncached(compare::render_form).post(compare::post),
        )
        .route("/metrics", uncached(metrics::render))
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
