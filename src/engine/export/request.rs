//! The bytes of requests to other processes for their part of an export.
//!
//! A request starts with its [topic](RequestTopic).

use serde::{Deserialize, Serialize};

use super::limits::Limits;
use super::piece::malformed;
use crate::engine::Result;
use crate::engine::request_topic::RequestTopic;
use seedbank_formats::ingest::SiteMode;
use seedbank_store::PublishedState;

/// A request to a process.
#[derive(Serialize, Deserialize)]
pub(super) enum Request {
    /// Return the next text of the sites of the process. Answer: a batch.
    Text(TextRequest),
    /// Return URLs of pages of the process.
    Urls(UrlRequest),
    /// End the export with this number.
    End(u64),
}

/// A request for the next text of the sites of a process.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct TextRequest {
    /// The number of the export.
    pub(super) export: u64,
    pub(super) state: PublishedState,
    pub(super) mode: SiteMode,
    pub(super) limits: Limits,
    /// The number of batches that the process has sent.
    pub(super) batches: u64,
}

/// A request for URLs.
#[derive(Serialize, Deserialize)]
pub(super) struct UrlRequest {
    pub(super) state: PublishedState,
    /// The size in bytes from which the answer has no further URLs.
    pub(super) bytes: usize,
    /// The first page, and what is to be added to each page for the next one.
    pub(super) steps: Vec<u64>,
}

impl Request {
    /// Encodes the request.
    pub(super) fn encode(&self) -> Result<Vec<u8>> {
        Ok([
            &[RequestTopic::Export as u8][..],
            &seedbank_store::pack(self)?,
        ]
        .concat())
    }

    /// Decodes the body of a request.
    pub(super) fn decode(body: &[u8]) -> Result<Self> {
        let request = seedbank_store::unpack(body).map_err(|_| malformed())?;
        if let Self::Text(TextRequest { limits, .. }) = &request {
            limits.ensure_positive()?;
        }
        Ok(request)
    }
}
