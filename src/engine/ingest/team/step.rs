//! The steps of an ingest, as process 0 requests them.

use serde::{Deserialize, Serialize};

use super::share::Share;
use crate::engine::ingest::blocklist::BlockedCounts;
use crate::engine::ingest::worker::BatchOptions;
use seedbank_formats::ingest::ReadSummary;

/// What an ingest begins with.
#[derive(Serialize, Deserialize)]
pub(super) struct Begin {
    pub(super) options: BatchOptions,
    /// The memory of each process in bytes.
    pub(super) memory: usize,
}

/// A step. All processes run the same one at the same time.
#[derive(Serialize, Deserialize)]
pub(in crate::engine) enum Step {
    /// Tell which inputs of the share this process can read.
    Look(Share),
    /// Read inputs.
    Read(Share),
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
#[derive(Serialize, Deserialize)]
pub(in crate::engine) struct ReadResult {
    pub(in crate::engine) read: ReadSummary,
    /// Whether reading ended because most records are bad.
    pub(in crate::engine) is_hopeless: bool,
    pub(in crate::engine) blocked: BlockedCounts,
    /// Whether a fetch has an origin.
    pub(in crate::engine) any_seed: bool,
}
