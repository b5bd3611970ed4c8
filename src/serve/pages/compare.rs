//! A list of somebody's own, beside a plan's.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State as Shared;
use axum::http::{Response, StatusCode};

use super::Nothing;
use crate::serve::answer::{Answer, Fault};
use crate::serve::asked::Asked;
use crate::serve::desk::Desk;

pub(super) async fn ask(Shared(_): Shared<Arc<Desk>>, asked: Asked<Nothing>) -> Response<Body> {
    Answer::fault(&Fault::new(StatusCode::NOT_IMPLEMENTED, "soon"), asked.form).into()
}

pub(super) async fn answer(Shared(_): Shared<Arc<Desk>>, asked: Asked<Nothing>) -> Response<Body> {
    Answer::fault(&Fault::new(StatusCode::NOT_IMPLEMENTED, "soon"), asked.form).into()
}
