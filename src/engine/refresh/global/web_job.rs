//! A selection over the web in all processes of a cluster bank, as process 0 sees it.

use std::collections::VecDeque;

use super::evidence::{PageEvidence, PickShare, Picked, combine, put_reached};
use super::share::select_on_share;
use crate::engine::refresh::page_sets::decode_sets;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::shared_job::SharedJob;
use crate::engine::refresh::site_processes::SiteProcesses;
use crate::engine::rounds::request::{Kind, malformed};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cover::global::{WebChoice, WebSelection};
use seedbank_algorithms::page::PageSet;
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, RemoteProcess};

/// A selection in all processes. Dropping it ends the job, and the others forget what they know of pages.
pub(super) struct WebJob(SharedJob);

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

/// Selects over the web in all processes. It also combines the evidence for the picks.
///
/// Fails in all of them if one fails or is lost.
pub(super) fn select_in_all(
    context: RunContext<'_, WebChoice>,
    processes: &SiteProcesses<'_>,
) -> Result<SelectedByAll> {
    let (parts, job) = SharedJob::run(
        processes,
        context.watch,
        |watch, job| -> Result<Part> {
            let context = RunContext { watch, ..context };
            let (selected, evidence) = select_on_share(context, processes, job)?;
            Ok((evidence.picks, Some((selected, evidence.pages))))
        },
        |answer| Ok((seedbank_store::unpack(answer)?, None)),
    )?;
    let (shares, own): (Vec<_>, Vec<_>) = parts.into_iter().unzip();
    let lost = EngineError::Internal("a selection has no result");
    let (selected, pages) = own.into_iter().flatten().next().ok_or(lost)?;
    Ok(SelectedByAll {
        picked: combine(&selected, shares)?,
        selected,
        pages,
        job: WebJob(job),
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
        others.extend(self.0.others().iter().map(|of| (of, VecDeque::new())));
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
        self.0.put(&refresh.to_le_bytes())?;
        Ok(())
    }
}
