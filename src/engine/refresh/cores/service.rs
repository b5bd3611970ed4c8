//! What a process does for a selection by cores in all processes: each has the evidence for its own pages.

use std::sync::Arc;

pub(in crate::engine::refresh) use super::page_evidence::EvidenceBlocks;
use serde::{Deserialize, Serialize};

use super::page_evidence::{SeriesRefresh, Written, packed_set};
use super::select::{GroupInput, select_in_group};
use crate::engine::Result;
use crate::engine::plan::CorePlan;
use crate::engine::refresh::page_sets::{decode_sets, encode_sets};
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::shared_job::SharedJob;
use crate::engine::refresh::site_processes::SiteProcesses;
use crate::engine::rounds::communicator::JobCommunicator;
use crate::engine::rounds::job::Job;
use crate::engine::rounds::request::malformed;
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, PartServer, PublishedState, Store, tables};

/// Selects over the share of this process. Returns the evidence for its pages.
pub(in crate::engine::refresh) fn run(
    context: RunContext<'_, CorePlan>,
    of_sites: &SiteProcesses<'_>,
    job: &Arc<Job>,
) -> Result<EvidenceBlocks> {
    let communicator = JobCommunicator::begin(job, of_sites.local.by_number()?);
    let input = GroupInput::default();
    let (blocks, _) = select_in_group(context, &communicator, of_sites.local.owners()?, input)?;
    Ok(blocks)
}

/// Adds to `changes` what differs from the last refresh of a series. Returns the blocks that it has written, as process 0
/// gets them.
///
/// Cost: a scan of the evidence of the series for the sites of this process.
pub(in crate::engine::refresh) fn put(
    blocks: &EvidenceBlocks,
    parts: &PartServer,
    changes: &mut Changes,
    request: &[u8],
) -> Result<Vec<u8>> {
    let PutRequest { state, of } = seedbank_store::unpack(request)?;
    let store = parts.open_own(state)?;
    let prefix = of.series.to_be_bytes();
    let stored = store.scan_local_under(&tables::PAGE_EVIDENCE, &prefix)?;
    let written = blocks.put(stored, changes, of)?;
    let sets = encode_sets(&[packed_set(&written)])?;
    Ok(seedbank_store::pack(&sets)?)
}

/// A request to keep the evidence for the pages of a process for the next commit.
#[derive(Serialize, Deserialize)]
struct PutRequest {
    /// The state before this commit.
    state: PublishedState,
    of: SeriesRefresh,
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
