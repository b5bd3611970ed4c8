//! A selection over the web in all processes of a cluster bank, as process 0 sees it.

use super::evidence::{ListShares, Lists, PageEvidence, combine};
use super::share::select_on_share;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::share_request::Earlier;
use crate::engine::refresh::shared_job::SharedJob;
use crate::engine::refresh::site_processes::SiteProcesses;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cover::global::{WebChoice, WebSelection};
use seedbank_store::records::RefreshId;

/// A selection in all processes. Dropping it ends the job, and the others forget what they know of pages.
pub(super) struct WebJob(SharedJob);

/// The result of a selection in all processes.
pub(super) struct SelectedByAll {
    pub(super) selected: WebSelection,
    pub(super) lists: Lists,
    /// The evidence for the pages of this process.
    pub(super) pages: PageEvidence,
    pub(super) job: WebJob,
}

/// What a process returns: what it has of lists; process 0 also the selection and the evidence for its pages.
type Part = (ListShares, Option<(WebSelection, PageEvidence)>);

/// Selects over the web in all processes. It also combines the evidence for the picks.
///
/// Fails in all of them if one fails or is lost.
pub(super) fn select_in_all(
    context: RunContext<'_, WebChoice>,
    processes: &SiteProcesses<'_>,
    earlier: &Earlier,
) -> Result<SelectedByAll> {
    let (parts, job) = SharedJob::run(
        processes,
        earlier.clone(),
        context.watch,
        |watch, job| -> Result<Part> {
            let context = RunContext { watch, ..context };
            let (selected, evidence) = select_on_share(context, processes, job, earlier)?;
            Ok((evidence.lists, Some((selected, evidence.pages))))
        },
        |answer| Ok((seedbank_store::unpack(answer)?, None)),
    )?;
    let (shares, own): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let lost = EngineError::Internal("a selection has no result");
    let (selected, pages) = own.into_iter().flatten().next().ok_or(lost)?;
    Ok(SelectedByAll {
        lists: combine(&selected, shares)?,
        selected,
        pages,
        job: WebJob(job),
    })
}

impl WebJob {
    /// Lets the other processes keep the evidence for their pages for the next commit.
    pub(super) fn put_elsewhere(&self, refresh: RefreshId) -> Result<()> {
        self.0.put(&refresh.to_le_bytes())?;
        Ok(())
    }
}
