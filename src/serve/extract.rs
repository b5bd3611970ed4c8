//! Extractor for the parameters of a request for a page, and the media type of its answer.

use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use serde::Deserialize;
use serde::de::DeserializeOwned;

use super::answer::{Answer, RequestError};
use super::media_type::MediaType;
use super::query_params::{query, requested_media_type};
use crate::engine::Which;

/// The parameters of a request, and the media type of its answer.
pub(super) struct Extracted<T> {
    pub(super) params: T,
    pub(super) media_type: MediaType,
    /// Path and query, the key under which the answer can be cached.
    pub(super) uri: String,
}

/// The parameters of a request that takes none but `format`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct NoParams {
    #[serde(rename = "format")]
    _format: Option<MediaType>,
}

/// Selects a refresh by number, or the last one of a plan.
pub(super) fn which(plan: Option<String>, refresh: Option<u32>) -> Which {
    Which { plan, refresh }
}

impl<S: Sync, T: DeserializeOwned> FromRequestParts<S> for Extracted<T> {
    type Rejection = axum::response::Response;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Self::Rejection> {
        let reject =
            |error: RequestError| Self::Rejection::from(Answer::error(&error, MediaType::Html));
        Ok(Self {
            media_type: requested_media_type(&parts.uri).map_err(reject)?,
            params: query(&parts.uri).map_err(reject)?,
            uri: parts.uri.to_string(),
        })
    }
}
