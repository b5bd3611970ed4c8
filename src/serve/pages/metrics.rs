//! The status in the text format of Prometheus.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::Response;

use crate::serve::answer::Answer;
use crate::serve::asked::{Asked, Nothing};
use crate::serve::desk::Desk;

pub(super) async fn answer(
    Shared(desk): Shared<Arc<Desk>>,
    asked: Asked<Nothing>,
) -> Response<Body> {
    desk.answer(None, asked.form, |state| {
        let metrics = state.bank.status()?.metrics();
        Ok(Answer::of(
            "text/plain; version=0.0.4; charset=utf-8",
            metrics,
        ))
    })
    .await
}
