//! What a request asks for.

use axum::extract::{FromRequestParts, Query};
use axum::http::StatusCode;
use axum::http::request::Parts;
use serde::de::DeserializeOwned;

use super::answer::{Answer, Fault};
use super::form::{Form, form_of};
use crate::engine::Which;

/// Parameters of a request, and how its answer is to be written.
pub(super) struct Asked<T> {
    pub(super) about: T,
    pub(super) form: Form,
    /// The address, by which an answer can be kept.
    pub(super) address: String,
}

/// Parameters of a request that needs none.
#[derive(serde::Deserialize)]
pub(super) struct Nothing {}

/// Which refresh is asked for: by its number, or the last one of a plan.
pub(super) fn which(plan: Option<String>, refresh: Option<u32>) -> Which {
    Which { plan, refresh }
}

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = axum::response::Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let form = form_of(parts);
        let refuse = |form, text: String| {
            let fault = Fault::new(StatusCode::BAD_REQUEST, text);
            Answer::fault(&fault, form).into()
        };
        let form = match form {
            Ok(form) => form,
            Err(text) => return Err(refuse(Form::Html, text)),
        };
        match Query::<T>::try_from_uri(&parts.uri) {
            Ok(Query(about)) => Ok(Self {
                about,
                form,
                address: parts.uri.to_string(),
            }),
            Err(e) => Err(refuse(
                form,
                format!("the address asks for nothing here: {}", e.body_text()),
            )),
        }
    }
}
