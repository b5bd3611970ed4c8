//! The media type of an answer: HTML, CSV or JSON.

use serde::Deserialize;

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
