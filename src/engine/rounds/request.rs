//! The bytes of requests about jobs.
//!
//! A request starts with its [topic](RequestTopic), a kind, and the number of the job. Numbers are little-endian.

use crate::engine::request_topic::RequestTopic;
use seedbank_store::StoreError;

const TOPIC: u8 = RequestTopic::Job as u8;

/// What a request asks for. The discriminants are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) enum Kind {
    /// Begin a job, and receive its messages.
    Begin = 0,
    /// Do the part of this process of a selection. Answer: its result.
    Run = 1,
    /// Receive a message, or a piece of one: the process that sends it, the round, whether more follows, and the bytes.
    Message = 2,
    /// Keep changes for the next commit.
    Put = 3,
    /// Stop the job, and forget its result.
    End = 4,
    /// Do the part of this process of an ingest.
    Ingest = 5,
    /// Do the part of this process of an export.
    Export = 6,
}

impl Kind {
    const ALL: [Self; 7] = [
        Self::Begin,
        Self::Run,
        Self::Message,
        Self::Put,
        Self::End,
        Self::Ingest,
        Self::Export,
    ];
}

/// Returns the error of a request that cannot be decoded.
pub(in crate::engine) fn malformed() -> StoreError {
    StoreError::Protocol("a request about a job cannot be decoded")
}

/// A request about a job.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(in crate::engine) struct JobRequest<'a> {
    pub(in crate::engine) kind: Kind,
    /// The number of the job.
    pub(in crate::engine) job: u64,
    pub(in crate::engine) body: &'a [u8],
}

impl<'a> JobRequest<'a> {
    /// Encodes the request.
    pub(super) fn bytes(&self) -> Vec<u8> {
        [
            &[TOPIC, self.kind as u8],
            &self.job.to_le_bytes()[..],
            self.body,
        ]
        .concat()
    }

    /// Decodes a request; `None` if it is not about a job.
    pub(in crate::engine) fn parse(request: &'a [u8]) -> Result<Option<Self>, StoreError> {
        let Some(rest) = RequestTopic::Job.strip(request) else {
            return Ok(None);
        };
        let (kind, rest) = rest.split_first().ok_or_else(malformed)?;
        let kind = Kind::ALL.into_iter().find(|of| *of as u8 == *kind);
        let (job, body) = rest.split_first_chunk().ok_or_else(malformed)?;
        Ok(Some(Self {
            kind: kind.ok_or_else(malformed)?,
            job: u64::from_le_bytes(*job),
            body,
        }))
    }
}

/// A message, or a piece of one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Piece<'a> {
    /// The number of the process that sends it.
    pub(super) from: u32,
    pub(super) round: u64,
    /// Whether more pieces of the message follow.
    pub(super) has_more: bool,
    pub(super) bytes: &'a [u8],
}

impl<'a> Piece<'a> {
    /// Returns the request that sends the piece.
    pub(super) fn request(&self, job: u64) -> Vec<u8> {
        let head = [TOPIC, Kind::Message as u8];
        let numbers = (self.from.to_le_bytes(), self.round.to_le_bytes());
        let mut request = Vec::with_capacity(HEAD + self.bytes.len());
        request.extend_from_slice(&head);
        request.extend_from_slice(&job.to_le_bytes());
        request.extend_from_slice(&numbers.0);
        request.extend_from_slice(&numbers.1);
        request.push(self.has_more.into());
        request.extend_from_slice(self.bytes);
        request
    }

    /// Reads the body of the request.
    pub(super) fn parse(body: &'a [u8]) -> Result<Self, StoreError> {
        let (from, rest) = body.split_first_chunk().ok_or_else(malformed)?;
        let (round, rest) = rest.split_first_chunk().ok_or_else(malformed)?;
        let (has_more, bytes) = rest.split_first().ok_or_else(malformed)?;
        Ok(Self {
            from: u32::from_le_bytes(*from),
            round: u64::from_le_bytes(*round),
            has_more: match has_more {
                0 => false,
                1 => true,
                _ => return Err(malformed()),
            },
            bytes,
        })
    }
}

/// The bytes of a request with a piece, without those of the message.
const HEAD: usize = 23;
