//! What a request asks for.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::answer::{Answer, Fault};
use super::form::{Form, accepted};
use super::query_params::{media_type, query};
use crate::engine::Which;

/// Parameters of a request, and how its answer is to be written.
pub(super) struct Asked<T> {
    pub(super) about: T,
    pub(super) form: Form,
    /// The address, by which an answer can be kept.
    pub(super) address: String,
}

/// Parameters of a request that has none.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Nothing {
    #[serde(rename = "format")]
    _format: Option<Form>,
}

/// Which refresh is asked for: by its number, or the last one of a plan.
pub(super) fn which(plan: Option<String>, refresh: Option<u32>) -> Which {
    Which { plan, refresh }
}

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Asked<T> {
    type Rejection = axum::response::Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let refuse = |fault: &Fault, form| Self::Rejection::from(Answer::fault(fault, form));
        let form = media_type(&parts.uri, &parts.headers);
        let form = form.map_err(|fault| refuse(&fault, accepted(&parts.headers)))?;
        Ok(Self {
            about: query(&parts.uri).map_err(|fault| refuse(&fault, form))?,
            form,
            address: parts.uri.to_string(),
        })
    }
}
