//! What a process does for a selection over the web in all processes.

use std::sync::Arc;

use super::evidence::Evidence;
pub(in crate::engine::refresh) use super::evidence::PageEvidence;
use super::share::select_on_share;
use crate::engine::Result;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::share_request::Earlier;
use crate::engine::refresh::site_processes::SiteProcesses;
use crate::engine::rounds::job::Job;
use crate::engine::rounds::request::malformed;
use seedbank_algorithms::cover::global::WebChoice;
use seedbank_store::Changes;

/// Selects over the share of this process. Returns the evidence for picks, as process 0 gets it, and that for the pages of
/// this process.
pub(in crate::engine::refresh) fn run(
    context: RunContext<'_, WebChoice>,
    of_sites: &SiteProcesses<'_>,
    job: &Arc<Job>,
    earlier: &Earlier,
) -> Result<(Vec<u8>, PageEvidence)> {
    let (_, Evidence { lists, pages }) = select_on_share(context, of_sites, job, earlier)?;
    Ok((seedbank_store::pack(&lists)?, pages))
}

/// Adds the evidence for the pages of this process to `changes`, under the refresh that a request names.
pub(in crate::engine::refresh) fn put(
    pages: &PageEvidence,
    changes: &mut Changes,
    refresh: &[u8],
) -> Result<()> {
    let bytes = refresh.try_into().map_err(|_| malformed())?;
    Ok(pages.put(changes, u32::from_le_bytes(bytes))?)
}
