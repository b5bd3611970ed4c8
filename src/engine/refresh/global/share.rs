//! The part of a process in a selection that all processes of a cluster bank do together.

use std::sync::Arc;

use super::evidence::{Evidence, evidence};
use super::load::LoadedWeb;
use crate::engine::Result;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::share_request::Earlier;
use crate::engine::refresh::site_processes::SiteProcesses;
use crate::engine::rounds::communicator::JobCommunicator;
use crate::engine::rounds::job::Job;
use seedbank_algorithms::cover::global::{WebChoice, WebSelection, select_after};
use seedbank_store::tables;

/// Selects over the web together with all other processes, each on its share. Returns the selection and its evidence on the
/// pages of this process. All processes call it at the same time.
pub(in crate::engine::refresh) fn select_on_share(
    context: RunContext<'_, WebChoice>,
    processes: &SiteProcesses<'_>,
    job: &Arc<Job>,
    earlier: &Earlier,
) -> Result<(WebSelection, Evidence)> {
    let communicator = JobCommunicator::begin(job, processes.local.by_number()?);
    let mut web = LoadedWeb::load_share(context, &communicator, processes.local.owners()?)?;
    let previous = web.previous(context.plan, earlier, |refresh| {
        let prefix = refresh.to_be_bytes();
        context.store.scan_local_under(&tables::GAIN_CACHE, &prefix)
    })?;
    let selected = select_after(&mut web.graph, context.plan, &[], previous, context.watch)?;
    let evidence = evidence(&web, &selected, context.plan);
    Ok((selected, evidence))
}
