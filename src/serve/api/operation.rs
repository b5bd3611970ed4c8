//! An operation of the API, and parameters that select a part of a list.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::extract::{FromRequest, Request, State as Shared};
use axum::http::header::CONTENT_TYPE;
use axum::http::{Response, StatusCode, Uri};
use axum::routing::{MethodRouter, get, post};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{DeserializeOwned, Error, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

use crate::serve::answer::{API_ROOT, Answer, MediaType, RequestError};
use crate::serve::executor::{Context, Executor};
use crate::serve::params::{integer, query};

/// Returns the schema of a type.
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// Computes an answer from the parameters of a request, and the list that was sent with it.
type Compute = fn(&Context<'_>, &Uri, &str) -> Result<Answer, RequestError>;

/// The parameters of an operation, which determine its answer.
pub(in crate::serve) trait Query: DeserializeOwned + JsonSchema {
    /// The answer, as JSON.
    type Answer: Serialize + JsonSchema;

    /// Computes the answer.
    fn answer(self, context: &Context<'_>) -> Result<Self::Answer, RequestError>;
}

/// An operation of the API.
#[derive(Clone, Copy, Debug)]
pub struct Operation {
    /// Name: the last part of the path.
    pub name: &'static str,
    /// What the answer is, as a phrase.
    pub about: &'static str,
    /// Schema of an object whose fields are the parameters of the query.
    pub parameters: fn(&mut SchemaGenerator) -> Schema,
    /// Schema of the answer.
    pub answer: fn(&mut SchemaGenerator) -> Schema,
    /// Whether the request is a POST with a list of URLs as its body.
    pub takes_list: bool,
    /// Whether the answer depends only on the address and the published state.
    pub(super) is_cached: bool,
    /// Whether few of these answers are computed at once, because each takes much memory.
    pub(super) is_limited: bool,
    pub(super) compute: Compute,
}

/// Declares an operation without a body.
pub(super) const fn operation<Q: Query>(name: &'static str, about: &'static str) -> Operation {
    Operation {
        name,
        about,
        parameters: schema_of::<Q>(),
        answer: schema_of::<Q::Answer>(),
        takes_list: false,
        is_cached: true,
        is_limited: false,
        compute: |context, uri, _| Answer::json(&query::<Q>(uri)?.answer(context)?),
    }
}

/// Returns what makes the schema of a type.
pub(super) const fn schema_of<T: JsonSchema>() -> SchemaOf {
    |generator| generator.subschema_for::<T>()
}

impl Operation {
    /// Makes the answer be computed for every request, since it contains ages.
    pub(super) const fn uncached(mut self) -> Self {
        self.is_cached = false;
        self
    }

    /// Limits the number of answers that are computed at once.
    pub(super) const fn limited(mut self) -> Self {
        self.is_limited = true;
        self
    }

    /// Returns the path of its address.
    #[must_use]
    pub fn path(&self) -> String {
        format!("{API_ROOT}{}", self.name)
    }

    /// Computes the answer to a request.
    pub(in crate::serve) async fn call(
        &'static self,
        executor: Arc<Executor>,
        uri: Uri,
        list: String,
    ) -> Result<Arc<Answer>, RequestError> {
        let limiter = Arc::clone(&executor);
        let _permit = if self.is_limited {
            limiter.comparisons.acquire().await.ok()
        } else {
            None
        };
        let key = self.is_cached.then(|| uri.to_string());
        let compute = move |context: &Context<'_>| (self.compute)(context, &uri, &list);
        executor.compute(key, compute).await
    }

    /// Returns its route.
    pub(super) fn route(&'static self) -> MethodRouter<Arc<Executor>> {
        let handler = move |Shared(executor): Shared<Arc<Executor>>, uri: Uri, request: Request| async move {
            let answer = async {
                let list = if self.takes_list {
                    text_body(request).await?
                } else {
                    String::new()
                };
                self.call(executor, uri, list).await
            };
            match answer.await {
                Ok(answer) => Response::<Body>::from(answer.as_ref()),
                Err(error) => Answer::error(&error, MediaType::Json).into(),
            }
        };
        if self.takes_list {
            post(handler)
        } else {
            get(handler)
        }
    }
}

/// Reads the body of a request, which must be plain text.
pub(in crate::serve) async fn text_body(request: Request) -> Result<String, RequestError> {
    let content_type = request.headers().get(CONTENT_TYPE);
    let content_type = content_type.and_then(|value| value.to_str().ok());
    let essence = content_type.unwrap_or_default().split(';').next();
    if !essence
        .unwrap_or_default()
        .trim()
        .eq_ignore_ascii_case("text/plain")
    {
        return Err(RequestError::new(
            StatusCode::UNSUPPORTED_MEDIA_TYPE,
            "expected content type text/plain, with one URL per line",
        ));
    }
    let bytes = Bytes::from_request(request, &()).await;
    let bytes = bytes.map_err(|e| RequestError::new(e.status(), e.body_text()))?;
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Maximum number of entries of a list in one answer.
pub(super) const MAX_LIMIT: u32 = 10_000;

/// Number of entries of a list in one answer without a parameter `limit`.
pub(super) const fn default_limit() -> u32 {
    100
}

/// Parses the maximum number of entries.
pub(super) fn limit<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u32, D::Error> {
    let limit: u32 = integer(deserializer)?;
    if (1..=MAX_LIMIT).contains(&limit) {
        Ok(limit)
    } else {
        let expected = format!("a whole number from 1 to {MAX_LIMIT}");
        Err(D::Error::invalid_value(
            Unexpected::Unsigned(limit.into()),
            &expected.as_str(),
        ))
    }
}

/// Parses the value of a parameter that may be omitted, but not be empty.
pub(super) fn not_blank<'de, D: Deserializer<'de>>(deserializer: D) -> Result<String, D::Error> {
    let text = String::deserialize(deserializer)?;
    if text.trim().is_empty() {
        return Err(D::Error::invalid_value(Unexpected::Str(&text), &"a text"));
    }
    Ok(text)
}
