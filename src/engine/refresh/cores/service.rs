//! What a process does for a selection by cores in all processes.

use std::sync::Arc;

pub(in crate::engine::refresh) use super::page_evidence::EvidenceBlocks;
use super::page_evidence::packed_set;
use super::shared_put::PutRequest;
use super::shared_selection::{SelectionInput, select_in_group};
use crate::engine::Result;
use crate::engine::plan::CorePlan;
use crate::engine::refresh::page_sets::encode_sets;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::site_processes::SiteProcesses;
use crate::engine::rounds::communicator::JobCommunicator;
use crate::engine::rounds::job::Job;
use seedbank_store::{Changes, PartServer, tables};

/// Selects over the share of this process. Returns the evidence for its pages.
pub(in crate::engine::refresh) fn run(
    context: RunContext<'_, CorePlan>,
    of_sites: &SiteProcesses<'_>,
    job: &Arc<Job>,
) -> Result<EvidenceBlocks> {
    let communicator = JobCommunicator::begin(job, of_sites.local.by_number()?);
    let input = SelectionInput::default();
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
