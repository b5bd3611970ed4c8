//! Stores a selection by several processes: each has the evidence for its own pages.

use serde::{Deserialize, Serialize};

use super::page_evidence::{SeriesRefresh, Written};
use crate::engine::Result;
use crate::engine::refresh::page_sets::decode_sets;
use crate::engine::refresh::shared_job::SharedJob;
use crate::engine::rounds::request::malformed;
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, PublishedState, Store};

/// A request to keep the evidence for the pages of a process for the next commit.
#[derive(Serialize, Deserialize)]
pub(super) struct PutRequest {
    /// The state before this commit.
    pub(super) state: PublishedState,
    pub(super) of: SeriesRefresh,
}

/// Lets the other processes keep the evidence for their pages for the commit of the writer that has `store` open. Records in
/// `changes` which blocks all processes have written.
pub(super) fn put_elsewhere(
    job: &SharedJob,
    store: &Store,
    changes: &mut Changes,
    refresh: RefreshId,
    written: &mut Written,
) -> Result<()> {
    let series = written.record.series;
    let request = PutRequest {
        state: PublishedState::of_store(store)?,
        of: SeriesRefresh { series, refresh },
    };
    for answer in job.put(&seedbank_store::pack(&request)?)? {
        let sets: Vec<Vec<u8>> = seedbank_store::unpack(&answer)?;
        for blocks in decode_sets(&sets).ok_or_else(malformed)? {
            written.add(&blocks);
        }
    }
    written.record_blocks(changes, refresh)
}
