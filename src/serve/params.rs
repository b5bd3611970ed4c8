//! The parameters of a request: the query of its URI, read into a struct, and the media type of its answer.
//!
//! Unknown, repeated and invalid parameters are errors. The parameters of every page have `format`, which
//! [`requested_media_type`] reads separately.

use std::error::Error;

use axum::extract::rejection::QueryRejection;
use axum::extract::{FromRequestParts, Query};
use axum::http::request::Parts;
use axum::http::{StatusCode, Uri};
use serde::de::{DeserializeOwned, Error as _, Unexpected};
use serde::{Deserialize, Deserializer};

use super::answer::{Answer, MediaType, RequestError};

use crate::engine::Which;

/// Maximum length of an error text in characters, since names and values in it may be long.
const MAX_CHARS: usize = 400;

/// The parameter `format`; other parameters are ignored.
#[derive(Deserialize)]
struct FormatParam {
    format: Option<MediaType>,
}

/// The parameter `table`: the table of a page that is requested as CSV.
#[derive(Deserialize)]
#[serde(transparent)]
pub(super) struct TableName(pub(super) String);

/// Parses the query of a URI.
pub(super) fn query<T: DeserializeOwned>(uri: &Uri) -> Result<T, RequestError> {
    match Query::try_from_uri(uri) {
        Ok(Query(parameters)) => Ok(parameters),
        Err(rejection) => Err(invalid_query(&rejection)),
    }
}

/// Returns the media type of a page that the parameter `format` requests.
pub(super) fn requested_media_type(uri: &Uri) -> Result<MediaType, RequestError> {
    let FormatParam { format } = query(uri).map_err(|error| {
        error.with_hint("Pages are HTML or tables as CSV; /openapi.json has the addresses of JSON.")
    })?;
    Ok(format.unwrap_or(MediaType::Html))
}

fn invalid_query(rejection: &QueryRejection) -> RequestError {
    let text = match rejection.source() {
        Some(cause) => cause.to_string(),
        None => rejection.body_text(),
    };
    let text: String = text.chars().take(MAX_CHARS).collect();
    RequestError::new(StatusCode::BAD_REQUEST, format!("invalid query: {text}"))
}

/// Parses a whole number that consists of decimal digits only.
pub(super) fn integer<'de, D, T>(deserializer: D) -> Result<T, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    let text = String::deserialize(deserializer)?;
    let found = Unexpected::Str(&text);
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        return Err(D::Error::invalid_value(found, &"a whole number"));
    }
    let number = text.parse().ok();
    let number = number.and_then(|number: u64| T::try_from(number).ok());
    number.ok_or_else(|| {
        let expected = format!("a whole number below 2^{}", 8 * size_of::<T>());
        D::Error::invalid_value(found, &expected.as_str())
    })
}

/// Parses an optional [`integer`] number.
pub(super) fn optional_integer<'de, D, T>(deserializer: D) -> Result<Option<T>, D::Error>
where
    D: Deserializer<'de>,
    T: TryFrom<u64>,
{
    integer(deserializer).map(Some)
}

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

#[cfg(test)]
#[path = "query_params_tests.rs"]
mod tests;
