//! The steps of an ingest, as process 0 requests them.

use serde::{Deserialize, Serialize};

use super::share::Share;
use crate::engine::ingest::blocklist::BlockedCounts;
use crate::engine::ingest::worker::BatchOptions;
use seedbank_formats::ingest::ReadSummary;

/// What an ingest begins with.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) options: BatchOptions,
    /// The memory of each process in bytes.
    pub(super) memory: usize,
}

/// A step. All processes run the same one at the same time.
#[derive(Serialize, Deserialize)]
pub(in crate::engine) enum Step {
    /// Remember the inputs of the batch, and tell which of them this process can read.
    FindReadable(Share),
    /// Read the inputs with these numbers, ascending.
    Read(Vec<u32>),
    /// Methods of [`Worker`](crate::engine::ingest::worker::Worker).
    FindLosers,
    Deduplicate,
    Resolve,
    Group,
    Links {
        /// The time of the batch in seconds.
        time: u64,
        any_seed: bool,
    },
    Rows {
        is_bulk: bool,
    },
    Targets,
    Pages,
    /// Keep the changes for the commit.
    KeepChanges,
}

/// The result of reading inputs.
#[derive(Default, Serialize, Deserialize)]
pub(in crate::engine) struct ReadResult {
    pub(in crate::engine) read: ReadSummary,
    /// Why an input cannot be read.
    pub(in crate::engine) failure: Option<String>,
    pub(in crate::engine) blocked: BlockedCounts,
    /// Whether a fetch has an origin.
    pub(in crate::engine) any_seed: bool,
}
