//! Answers to requests, and errors.

use std::time::Instant;

use askama::Template;
use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{Response, StatusCode};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tokio::sync::OwnedSemaphorePermit;

use crate::engine::EngineError;
use crate::engine::error::{ErrorKind, Hint, RequestError as InvalidRequest, StoreError};
use seedbank_algorithms::log_rate::LogRate;

/// Limits the lines about failed requests, which any reader can cause.
static FAILURES: LogRate = LogRate::new();

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const JSON: &str = "application/json";
pub(super) const PROBLEM: &str = "application/problem+json";
pub(super) const JSON_LINES: &str = "application/jsonl; charset=utf-8";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const CSV: &str = "text/csv; charset=utf-8";
pub(super) const PARQUET: &str = "application/vnd.apache.parquet";

/// The beginning of the addresses of the API, whose answers are JSON. It changes with a version that breaks
/// clients.
pub(super) const API_ROOT: &str = "/v1/";

/// The address of the OpenAPI document.
pub(super) const DOCUMENT_PATH: &str = "/openapi.json";

/// The media type of an answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum MediaType {
    Html,
    /// A table of the page as comma-separated values.
    Csv,
    /// The same JSON that the command line prints; only at addresses of the API.
    #[serde(skip_deserializing)]
    Json,
}

impl MediaType {
    /// Returns the media type of answers at an address, without its query.
    pub(super) fn at(path: &str) -> Self {
        if path == DOCUMENT_PATH || path.starts_with(API_ROOT) {
            Self::Json
        } else {
            Self::Html
        }
    }
}

/// A complete answer.
#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    content_type: &'static str,
    body: Bytes,
    /// File name for a download; `None` to show the answer.
    file_name: Option<String>,
}

impl Answer {
    /// Creates an answer with status 200.
    pub(super) fn new(content_type: &'static str, body: impl Into<Bytes>) -> Self {
        Self {
            status: StatusCode::OK,
            content_type,
            body: body.into(),
            file_name: None,
        }
    }

    /// Renders an HTML page.
    pub(super) fn page(page: &impl Template) -> Result<Self, RequestError> {
        let mut text = String::with_capacity(1 << 14);
        page.render_into(&mut text).map_err(|_| {
            RequestError::new(StatusCode::INTERNAL_SERVER_ERROR, "cannot render the page")
        })?;
        text.push('\n');
        Ok(Self::new(HTML, text))
    }

    /// Serialises an object as one line of JSON, as the command line does.
    pub(super) fn json(object: &impl Serialize) -> Result<Self, RequestError> {
        let mut text = Vec::new();
        json_line(&mut text, object)?;
        Ok(Self::new(JSON, text))
    }

    /// Whether the answer is a CSV file.
    pub(super) fn is_csv(&self) -> bool {
        self.content_type == CSV
    }

    /// Returns the length of the body in bytes.
    pub(super) fn len(&self) -> usize {
        self.body.len()
    }

    /// Attaches a permit for memory, which is released when the last copy of the body is dropped.
    pub(super) fn with_permit(mut self, permit: OwnedSemaphorePermit) -> Self {
        let bytes = self.body;
        self.body = Bytes::from_owner(PermittedBytes {
            bytes,
            _permit: permit,
        });
        self
    }

    /// Returns the body.
    #[cfg(feature = "mcp")]
    pub(super) fn body(&self) -> &[u8] {
        &self.body
    }

    /// Sets another content type.
    fn with_type(mut self, content_type: &'static str) -> Self {
        self.content_type = content_type;
        self
    }

    /// Sets another status.
    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// Makes browsers save the answer under this name.
    pub(super) fn saved_as(mut self, name: String) -> Self {
        self.file_name = Some(name);
        self
    }

    pub(super) fn error(error: &RequestError, media_type: MediaType) -> Self {
        let answer = match media_type {
            MediaType::Html | MediaType::Csv => Self::page(&ErrorPage { error }),
            MediaType::Json => Self::json(&Problem::new(error)),
        };
        let answer = answer.map(|answer| match media_type {
            MediaType::Json => answer.with_type(PROBLEM),
            MediaType::Html | MediaType::Csv => answer,
        });
        let answer = answer.unwrap_or_else(|_| Self::new(TEXT, error.error.clone()));
        answer.with_status(error.status)
    }
}

/// Writes an object as a line of JSON.
pub(super) fn json_line(out: &mut Vec<u8>, object: &impl Serialize) -> Result<(), RequestError> {
    serde_json::to_writer(&mut *out, object).map_err(|e| {
        RequestError::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("cannot write the answer as JSON: {e}"),
        )
    })?;
    out.push(b'\n');
    Ok(())
}

/// Bytes with a permit for the memory that they take.
struct PermittedBytes {
    bytes: Bytes,
    _permit: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for PermittedBytes {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<&Answer> for Response<Body> {
    fn from(answer: &Answer) -> Self {
        let mut response = Response::new(Body::from(answer.body.clone()));
        *response.status_mut() = answer.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.content_type));
        if answer.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("2"));
        }
        if let Some(name) = &answer.file_name {
            let is_unsafe = |c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c);
            let name = name.replace(is_unsafe, "_");
            if let Ok(value) = format!("attachment; filename=\"{name}\"").parse() {
                headers.insert(CONTENT_DISPOSITION, value);
            }
        }
        response
    }
}

impl From<Answer> for Response<Body> {
    fn from(answer: Answer) -> Self {
        Self::from(&answer)
    }
}

/// The error of a request that cannot be answered.
#[derive(Debug)]
pub(super) struct RequestError {
    pub(super) status: StatusCode,
    /// What is wrong, with the causes.
    pub(super) error: String,
    /// URLs of similar pages that the bank contains.
    pub(super) nearest: Vec<String>,
    /// What to do about it.
    pub(super) hint: Option<&'static str>,
}

impl RequestError {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            error: error.into(),
            nearest: Vec::new(),
            hint: None,
        }
    }

    /// The error for an answer that was not computed in time.
    pub(super) fn too_long() -> Self {
        let text = "the answer takes too long; use the command line, which has no time limit";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// Adds what to do about it.
    pub(super) fn with_hint(mut self, hint: &'static str) -> Self {
        self.hint = Some(hint);
        self
    }

    /// Returns the title of errors with this status.
    fn title(&self) -> &'static str {
        match self.status {
            StatusCode::BAD_REQUEST => "Invalid request",
            StatusCode::UNAUTHORIZED => "Token required",
            StatusCode::NOT_FOUND => "Not found",
            StatusCode::CONFLICT => "Contradictory request",
            StatusCode::SERVICE_UNAVAILABLE => "Temporarily unavailable",
            StatusCode::INTERNAL_SERVER_ERROR => "Internal error",
            _ => "Request rejected",
        }
    }
}

/// Why a request was not answered: problem details as in RFC 9457.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Problem {
    /// Kind of the problem, the same for every request with this status.
    title: &'static str,
    /// Status code of the answer.
    #[schemars(range(min = 400, max = 599))]
    status: u16,
    /// What is wrong with this request, with the causes.
    detail: String,
    /// What to do about it.
    #[serde(skip_serializing_if = "Option::is_none")]
    hint: Option<&'static str>,
    /// URLs of similar pages that the bank contains.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    nearest: Vec<String>,
}

impl Problem {
    pub(super) fn new(error: &RequestError) -> Self {
        Self {
            title: error.title(),
            status: error.status.as_u16(),
            detail: error.error.clone(),
            hint: error.hint,
            nearest: error.nearest.clone(),
        }
    }
}

/// Joins an error and its causes.
fn chain(error: &EngineError) -> String {
    let mut text = error.to_string();
    let mut source = std::error::Error::source(error);
    while let Some(cause) = source {
        let cause_text = cause.to_string();
        // A transparent error has the same text as its source.
        if !text.contains(&cause_text) {
            text.push_str(": ");
            text.push_str(&cause_text);
        }
        source = cause.source();
    }
    text
}

impl From<EngineError> for RequestError {
    fn from(error: EngineError) -> Self {
        // Only the deadline interrupts work here.
        if error.kind() == ErrorKind::Interrupted {
            return Self::too_long();
        }
        let status = match error.kind() {
            ErrorKind::NotFound => StatusCode::NOT_FOUND,
            ErrorKind::Usage | ErrorKind::Rejected => match &error {
                EngineError::UnknownPlan(_)
                | EngineError::UnknownRefresh(_)
                | EngineError::DeletedRefresh(_)
                | EngineError::UnknownCore { .. }
                | EngineError::OneRefresh { .. }
                // Nothing can have such a name.
                | EngineError::InvalidUrl { .. }
                | EngineError::MissingScheme(_)
                | EngineError::NotASite { .. } => StatusCode::NOT_FOUND,
                // Each parameter is valid, but they contradict each other or the plan.
                EngineError::RefreshOfOtherPlan { .. }
                | EngineError::Request(
                    InvalidRequest::NumbersAndPlan
                    | InvalidRequest::QuotasWithoutPlan(_)
                    | InvalidRequest::PlanWithoutValues,
                ) => StatusCode::CONFLICT,
                _ => StatusCode::BAD_REQUEST,
            },
            ErrorKind::Unavailable | ErrorKind::Interrupted => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let nearest = match error.hint() {
            Some(Hint::NearestPages(pages)) => pages,
            _ => Vec::new(),
        };
        let hint = match &error {
            EngineError::Store(StoreError::NoBank(_)) => Some(
                "The bank was removed or moved while this server ran. The server answers again once a bank is there.",
            ),
            EngineError::Store(StoreError::OtherFormat { .. }) => Some(
                "The format of the bank is not supported by this version of the program. Run the version that created it.",
            ),
            EngineError::Store(e) if e.is_damage() => Some(
                "Check the bank on the command line; that reports the damage and how to repair it.",
            ),
            EngineError::UnknownPage { .. } => {
                Some("Use the search to find pages by part of their URL.")
            }
            EngineError::UnknownSite { .. } => {
                Some("Use the search to find sites by part of their name.")
            }
            EngineError::UnknownPlan(_) => Some("The list of plans has the names of all plans."),
            EngineError::UnknownRefresh(_) | EngineError::DeletedRefresh(_) => {
                Some("The history of the bank has the numbers of the stored refreshes.")
            }
            EngineError::OneRefresh { .. } => {
                Some("Compare after the next refresh, or with another plan.")
            }
            _ => None,
        };
        let is_logged = [
            StatusCode::INTERNAL_SERVER_ERROR,
            StatusCode::SERVICE_UNAVAILABLE,
        ]
        .contains(&status);
        if is_logged && let Some(left_out) = FAILURES.admit(Instant::now()) {
            tracing::warn!("request failed: {}{left_out}", chain(&error));
        }
        Self {
            status,
            error: chain(&error),
            nearest,
            hint,
        }
    }
}

#[derive(Template)]
#[template(path = "error.html", config = "src/serve/askama.toml")]
struct ErrorPage<'a> {
    error: &'a RequestError,
}
