//! A selection in all processes of a cluster bank, as process 0 sees it.
//!
//! Process 0 does its own part meanwhile, and combines the evidence for the picks. What is known of pages stays in the
//! processes that have them until the refresh is stored.

use super::evidence::{PageEvidence, PickShare, Picked, combine, put_reached};
use super::share::{ShareRequest, decode_sets, select_on_share};
use crate::engine::failing_watch::FailingWatch;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::site_processes::SiteProcesses;
use crate::engine::rounds::call_all::Others;
use crate::engine::rounds::job::JobWatch;
use crate::engine::rounds::request::{Kind, malformed};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cover::global::{WebChoice, WebSelection};
use seedbank_algorithms::page::PageSet;
use seedbank_algorithms::watch::Unwatched;
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, RemoteProcess};
use std::collections::VecDeque;

/// A selection in all processes. Dropping it ends the job, and the others forget what they know of pages.
pub(super) struct WebJob(Others);

/// The result of a selection in all processes.
pub(super) struct SelectedByAll {
    pub(super) selected: WebSelection,
    pub(super) picked: Vec<Picked>,
    /// The evidence for the pages of this process.
    pub(super) pages: PageEvidence,
    pub(super) job: WebJob,
}

/// What a process returns: the evidence for picks; process 0 also the selection and the evidence for its pages.
type Part = (Vec<PickShare>, Option<(WebSelection, PageEvidence)>);

/// Selects over the web in all processes.
///
/// Fails in all of them if one fails or is lost.
pub(super) fn select_in_all(
    context: RunContext<'_, WebChoice>,
    processes: &SiteProcesses<'_>,
) -> Result<SelectedByAll> {
    let local = processes.local;
    let job = local.begin_job(local.next_job())?;
    let web_job = WebJob(Others::new(job.number(), local.by_number()?));
    let request = seedbank_store::pack(&ShareRequest::new(processes))?;
    let failing = job.failing();
    let begin = (Kind::Begin, &[][..]);
    web_job.0.call_all(failing, begin, || Ok(()), |_| Ok(()))?;
    let watch = JobWatch {
        job: &job,
        watch: context.watch,
    };
    let own = || -> Result<Part> {
        let context = RunContext {
            watch: &watch,
            ..context
        };
        let (selected, evidence) = watch.run(|| select_on_share(context, processes, &job))?;
        Ok((evidence.picks, Some((selected, evidence.pages))))
    };
    let read = |answer: &[u8]| {
        let (picks, bytes_read) = seedbank_store::unpack(answer)?;
        processes.add_bytes_read(bytes_read);
        Ok((picks, None))
    };
    let run = (Kind::Run, request.as_slice());
    let parts = web_job.0.call_all(failing, run, own, read);
    // No message follows the end of the last part.
    local.end_job(job.number());
    let (shares, own): (Vec<_>, Vec<_>) = parts?.into_iter().unzip();
    let lost = EngineError::Internal("a selection has no result");
    let (selected, pages) = own.into_iter().flatten().next().ok_or(lost)?;
    Ok(SelectedByAll {
        picked: combine(&selected, shares)?,
        selected,
        pages,
        job: web_job,
    })
}

impl WebJob {
    /// Adds the pages that seeds are the first to reach to `changes`; `own` are those of this process.
    pub(super) fn put_reached(
        &self,
        changes: &mut Changes,
        refresh: RefreshId,
        own: &[Vec<PageSet>],
    ) -> Result<()> {
        let mut others: Vec<(_, VecDeque<Vec<Vec<u8>>>)> = Vec::new();
        others.extend(self.0.processes.iter().map(|of| (of, VecDeque::new())));
        for (rank, own) in (1..).zip(own) {
            let mut reached = own.clone();
            for (process, sets) in &mut others {
                if sets.is_empty() {
                    *sets = self.reached_from(&***process, rank)?.into();
                }
                let sets = sets.pop_front().as_deref().and_then(decode_sets);
                let sets = sets.filter(|sets| sets.len() == reached.len());
                for (all, of_process) in reached.iter_mut().zip(sets.ok_or_else(malformed)?) {
                    *all |= of_process;
                }
            }
            put_reached(changes, refresh, rank, &reached)?;
        }
        Ok(())
    }

    /// Returns the pages that the seed of a rank reaches in another process, and those of some seeds after it.
    fn reached_from(&self, process: &dyn RemoteProcess, rank: u32) -> Result<Vec<Vec<Vec<u8>>>> {
        let answer = self.0.call(process, Kind::Reached, &rank.to_le_bytes())?;
        Ok(seedbank_store::unpack(&answer)?)
    }

    /// Lets the other processes keep the evidence for their pages for the next commit.
    pub(super) fn put_elsewhere(&self, refresh: RefreshId) -> Result<()> {
        let refresh = refresh.to_le_bytes();
        let failing = FailingWatch::new(&Unwatched);
        let put = (Kind::Put, &refresh[..]);
        self.0.call_all(&failing, put, || Ok(()), |_| Ok(()))?;
        Ok(())
    }
}

impl Drop for WebJob {
    fn drop(&mut self) {
        self.0.end();
    }
}
