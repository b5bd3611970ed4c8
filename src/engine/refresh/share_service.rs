//! The part of this process in selections that process 0 runs in all processes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::cores::service as of_cores;
use super::global::service as of_webs;
use super::run_context::RunContext;
use super::share_request::ShareRequest;
use super::site_processes::SiteProcesses;
use crate::engine::Result;
use crate::engine::plan::ResolvedPlan;
use crate::engine::policy::LoadedPolicy;
use crate::engine::processes::Processes;
use crate::engine::rounds::job::Job;
use crate::engine::rounds::request::{JobRequest, Kind, malformed};
use seedbank_store::{Changes, StoreError};

/// The memory in bytes for the changes of a refresh before they spill to disk.
const CHANGES_MEMORY: usize = 64 << 20;

/// What a selection has found for the pages of this process.
enum ShareResult {
    Web(of_webs::PageEvidence),
    Cores(of_cores::EvidenceBlocks),
}

/// Selects over the share of this process, and keeps what it knows of its pages until the refresh is stored.
#[derive(Default)]
pub(crate) struct ShareService {
    /// The number of the job, and its result.
    result: Mutex<Option<(u64, ShareResult)>>,
}

impl ShareService {
    /// Answers a request about a job.
    pub(in crate::engine) fn answer(
        &self,
        processes: &Processes,
        request: JobRequest<'_>,
    ) -> Result<Vec<u8>> {
        let JobRequest { kind, job, body } = request;
        match kind {
            Kind::Begin => {
                *self.result() = None;
                processes.begin_job(job)?;
            }
            Kind::Message => {
                let job = processes.job(job)?;
                // Nobody waits for the answer.
                if let Err(error) = job.receive(body) {
                    job.fail(error.into());
                }
            }
            Kind::Run => {
                let job = processes.job(job)?;
                let result = self.run(processes, &job, body);
                return job.own(result);
            }
            Kind::Ingest | Kind::Export => return Err(malformed().into()),
            Kind::Put => return self.put(processes, job, body),
            Kind::End => {
                processes.end_job(job);
                self.take(job);
            }
        }
        Ok(Vec::new())
    }

    fn result(&self) -> MutexGuard<'_, Option<(u64, ShareResult)>> {
        // It is replaced as a whole.
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, job: u64) -> Option<ShareResult> {
        let result = self.result().take_if(|(number, _)| *number == job);
        result.map(|(_, result)| result)
    }

    /// Selects over the share of this process. Returns what process 0 needs at once, and the bytes read.
    fn run(&self, processes: &Processes, job: &Arc<Job>, body: &[u8]) -> Result<Vec<u8>> {
        let request: ShareRequest = seedbank_store::unpack(body)?;
        let others = processes.by_part()?;
        let store = processes.parts.open_published(request.state, &others)?;
        let plan = request.plan()?;
        let resolved = plan.resolve()?;
        let watch = &**job;
        // Failed fetches are looked up by page: a scan would read those of all processes.
        let policy = LoadedPolicy::load(&store, plan.policy()?, plan.lists(), watch)?;
        let of_sites = SiteProcesses::new(processes, &store, plan)?.ok_or_else(malformed)?;
        let (answer, found) = match &resolved {
            ResolvedPlan::Web(choice) => {
                let context = RunContext::new(&store, choice, &policy, watch);
                let (answer, pages) = of_webs::run(context, &of_sites, job, &request.earlier)?;
                (answer, ShareResult::Web(pages))
            }
            ResolvedPlan::Cores(plan) => {
                let context = RunContext::new(&store, plan, &policy, watch);
                let blocks = of_cores::run(context, &of_sites, job)?;
                (Vec::new(), ShareResult::Cores(blocks))
            }
            ResolvedPlan::Cover(_) => return Err(malformed().into()),
        };
        let answer = seedbank_store::pack(&(answer, store.bytes_read()))?;
        let mut result = self.result();
        // An end that comes later takes the result.
        if processes.job(job.number()).is_ok() {
            *result = Some((job.number(), found));
        }
        Ok(answer)
    }

    /// Keeps what is known of the pages of this process for the next commit, as evidence of a refresh. Returns what process 0
    /// needs of it.
    fn put(&self, processes: &Processes, job: u64, body: &[u8]) -> Result<Vec<u8>> {
        let mut changes = Changes::new(&processes.parts.spill_folder()?, CHANGES_MEMORY);
        let answer = match self.take(job).ok_or_else(no_result)? {
            ShareResult::Web(pages) => {
                of_webs::put(&pages, &mut changes, body)?;
                Vec::new()
            }
            ShareResult::Cores(blocks) => {
                of_cores::put(&blocks, &processes.parts, &mut changes, body)?
            }
        };
        let send =
            |_: &[u8], _: &[u8]| Err(StoreError::Protocol("a change belongs to another process"));
        processes.parts.keep_changes(changes, send)?;
        Ok(answer)
    }
}

fn no_result() -> StoreError {
    StoreError::Protocol("a job has no result")
}
