//! An answer as a page or as JSON, and what could not be answered.

use askama::Template;
use axum::body::{Body, Bytes};
use axum::http::header::{CONTENT_DISPOSITION, CONTENT_TYPE, HeaderValue, RETRY_AFTER};
use axum::http::{Response, StatusCode};
use serde::Serialize;
use tokio::sync::OwnedSemaphorePermit;

use super::form::Form;
use crate::engine::{EngineError, ErrorKind, Hint, StoreError};

pub(super) const HTML: &str = "text/html; charset=utf-8";
pub(super) const JSON: &str = "application/json";
pub(super) const JSON_LINES: &str = "application/jsonl; charset=utf-8";
pub(super) const TEXT: &str = "text/plain; charset=utf-8";
pub(super) const CSV: &str = "text/csv; charset=utf-8";
pub(super) const PARQUET: &str = "application/vnd.apache.parquet";

/// An answer, whole.
#[derive(Debug)]
pub(super) struct Answer {
    status: StatusCode,
    kind: &'static str,
    body: Bytes,
    /// The name of the file that it is saved as; `None` for what is looked at.
    file: Option<String>,
}

impl Answer {
    /// What is found under this type.
    pub(super) fn of(kind: &'static str, body: impl Into<Bytes>) -> Self {
        Self {
            status: StatusCode::OK,
            kind,
            body: body.into(),
            file: None,
        }
    }

    /// A page.
    pub(super) fn page(page: &impl Template) -> Result<Self, Fault> {
        let mut text = String::with_capacity(1 << 14);
        page.render_into(&mut text).map_err(|_| {
            Fault::new(StatusCode::INTERNAL_SERVER_ERROR, "the page cannot be made")
        })?;
        text.push('\n');
        Ok(Self::of(HTML, text))
    }

    /// One object as the command line prints it: on one line.
    pub(super) fn json(object: &impl Serialize) -> Result<Self, Fault> {
        let mut text = Vec::new();
        json_line(&mut text, object)?;
        Ok(Self::of(JSON, text))
    }

    /// How many bytes it has.
    pub(super) fn bytes(&self) -> usize {
        self.body.len()
    }

    /// With room for its bytes, which is given back when the last of those whom it is sent to has them.
    pub(super) fn held_by(mut self, room: OwnedSemaphorePermit) -> Self {
        let bytes = self.body;
        self.body = Bytes::from_owner(Held { bytes, _room: room });
        self
    }

    /// With another status than that of an answer that was found.
    pub(super) fn with_status(mut self, status: StatusCode) -> Self {
        self.status = status;
        self
    }

    /// To be saved under this name.
    pub(super) fn saved_as(mut self, name: String) -> Self {
        self.file = Some(name);
        self
    }

    /// Why there is no answer.
    pub(super) fn fault(fault: &Fault, form: Form) -> Self {
        let made = match form {
            Form::Html => Self::page(&FaultPage { fault }),
            Form::Json => Self::json(fault),
        };
        let mut answer = made.unwrap_or_else(|_| Self::of(TEXT, fault.error.clone()));
        answer.status = fault.status;
        answer
    }
}

/// Writes an object and a line end.
pub(super) fn json_line(out: &mut Vec<u8>, object: &impl Serialize) -> Result<(), Fault> {
    serde_json::to_writer(&mut *out, object).map_err(|e| {
        Fault::new(
            StatusCode::INTERNAL_SERVER_ERROR,
            format!("cannot be written as JSON: {e}"),
        )
    })?;
    out.push(b'\n');
    Ok(())
}

/// Bytes with the room that they take until nobody needs them any more.
struct Held {
    bytes: Bytes,
    _room: OwnedSemaphorePermit,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
    }
}

impl From<&Answer> for Response<Body> {
    fn from(answer: &Answer) -> Self {
        let mut response = Response::new(Body::from(answer.body.clone()));
        *response.status_mut() = answer.status;
        let headers = response.headers_mut();
        headers.insert(CONTENT_TYPE, HeaderValue::from_static(answer.kind));
        if answer.status == StatusCode::SERVICE_UNAVAILABLE {
            headers.insert(RETRY_AFTER, HeaderValue::from_static("2"));
        }
        if let Some(file) = &answer.file {
            let safe = |c: char| {
                if c.is_ascii_alphanumeric() || "-_.".contains(c) {
                    c
                } else {
                    '_'
                }
            };
            let name: String = file.chars().map(safe).collect();
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

/// Why there is no answer.
#[derive(Debug, Serialize)]
pub(super) struct Fault {
    #[serde(skip)]
    pub(super) status: StatusCode,
    /// What is wrong.
    pub(super) error: String,
    /// Pages that may have been meant.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) nearest: Vec<String>,
    /// What the reader can do.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) hint: Option<&'static str>,
}

impl Fault {
    pub(super) fn new(status: StatusCode, error: impl Into<String>) -> Self {
        Self {
            status,
            error: error.into(),
            nearest: Vec::new(),
            hint: None,
        }
    }

    /// The time of an answer was over before it was made.
    pub(super) fn too_long() -> Self {
        let text = "the answer takes too long; ask for less, or on the command line";
        Self::new(StatusCode::SERVICE_UNAVAILABLE, text)
    }

    /// What the status is called, for the title of its page.
    fn title(&self) -> &'static str {
        match self.status {
            StatusCode::BAD_REQUEST => "This cannot be asked",
            StatusCode::UNAUTHORIZED => "A token is needed",
            StatusCode::NOT_FOUND => "Not known",
            StatusCode::SERVICE_UNAVAILABLE => "No answer now",
            StatusCode::INTERNAL_SERVER_ERROR => "Something failed",
            _ => "Refused",
        }
    }
}

/// An error with the errors that caused it.
fn told(error: &EngineError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        let more = error.to_string();
        if !text.contains(&more) {
            text.push_str(": ");
            text.push_str(&more);
        }
        cause = error.source();
    }
    text
}

impl From<EngineError> for Fault {
    fn from(error: EngineError) -> Self {
        // Work is stopped where its time is over.
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
                | EngineError::OneRefresh { .. } => StatusCode::NOT_FOUND,
                _ => StatusCode::BAD_REQUEST,
            },
            ErrorKind::Unavailable | ErrorKind::Interrupted => StatusCode::SERVICE_UNAVAILABLE,
            ErrorKind::Failed => StatusCode::INTERNAL_SERVER_ERROR,
        };
        let nearest = match error.hint() {
            Some(Hint::NearestPages(pages)) => pages,
            Some(Hint::WriteScheme(Some(page))) => vec![page],
            _ => Vec::new(),
        };
        let hint = match &error {
            EngineError::Store(StoreError::NoBank(_)) => Some(
                "The bank was removed or moved while this server ran. It answers again once a bank is there.",
            ),
            EngineError::Store(StoreError::OtherFormat { .. }) => Some(
                "The bank has a format that this version of the program does not read. Migrate the bank, or start the version that it belongs to.",
            ),
            EngineError::Store(e) if e.is_damage() => Some(
                "Check the bank on the command line, which says what is damaged and how it is mended.",
            ),
            EngineError::UnknownPage { .. } => {
                Some("The search finds pages by a part of their URL.")
            }
            _ => None,
        };
        if status == StatusCode::INTERNAL_SERVER_ERROR || status == StatusCode::SERVICE_UNAVAILABLE
        {
            tracing::warn!("not answered: {}", told(&error));
        }
        Self {
            status,
            error: told(&error),
            nearest,
            hint,
        }
    }
}

#[derive(Template)]
#[template(path = "fault.html", config = "src/serve/askama.toml")]
struct FaultPage<'a> {
    fault: &'a Fault,
}
