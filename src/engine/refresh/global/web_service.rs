//! The part of this process in selections that process 0 runs in all processes.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::evidence::{PageEvidence, put_reach};
use super::share::{ShareRequest, encode_sets, select_on_share};
use crate::engine::Result;
use crate::engine::plan::ResolvedPlan;
use crate::engine::policy::LoadedPolicy;
use crate::engine::processes::Processes;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::site_processes::SiteProcesses;
use crate::engine::rounds::job::Job;
use crate::engine::rounds::request::{JobRequest, Kind, malformed};
use seedbank_store::records::RefreshId;
use seedbank_store::{Changes, StoreError};

/// The memory in bytes for the changes of a refresh before they spill to disk.
const CHANGES_MEMORY: usize = 64 << 20;

/// The size in bytes from which an answer has no further sets of pages.
const ANSWER_BYTES: usize = 1 << 20;

/// Selects over the share of this process, and keeps what it knows of its pages until the refresh is stored.
#[derive(Default)]
pub(crate) struct WebService {
    /// The number of the job, and its result.
    result: Mutex<Option<(u64, PageEvidence)>>,
}

impl WebService {
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
            Kind::Reached => return self.reached(job, number(body)?),
            Kind::Put => self.put(processes, job, number(body)?)?,
            Kind::End => {
                processes.end_job(job);
                self.take(job);
            }
        }
        Ok(Vec::new())
    }

    fn result(&self) -> MutexGuard<'_, Option<(u64, PageEvidence)>> {
        // It is replaced as a whole.
        self.result.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn take(&self, job: u64) -> Option<PageEvidence> {
        let result = self.result().take_if(|(number, _)| *number == job);
        result.map(|(_, pages)| pages)
    }

    /// Selects over the share of this process. Returns the evidence for picks, and the bytes read.
    fn run(&self, processes: &Processes, job: &Arc<Job>, body: &[u8]) -> Result<Vec<u8>> {
        let request: ShareRequest = seedbank_store::unpack(body)?;
        let others = processes.by_part()?;
        let store = processes.parts.open_published(request.state, &others)?;
        let plan = request.plan()?;
        let ResolvedPlan::Web(choice) = plan.resolve()? else {
            return Err(malformed().into());
        };
        let watch = &**job;
        // Failed fetches are looked up by page: a scan would read those of all processes.
        let policy = LoadedPolicy::load(&store, plan.policy()?, plan.lists(), watch)?;
        let of_sites = SiteProcesses::new(processes, &store, plan)?.ok_or_else(malformed)?;
        let context = RunContext::new(&store, &choice, &policy, watch);
        let (_, evidence) = select_on_share(context, &of_sites, job)?;
        let answer = seedbank_store::pack(&(evidence.picks, store.bytes_read()))?;
        let mut result = self.result();
        // An end that comes later takes the result.
        if processes.job(job.number()).is_ok() {
            *result = Some((job.number(), evidence.pages));
        }
        Ok(answer)
    }

    /// Returns the pages of this process that the seed of a rank is the first to reach, by hop, and those of seeds after it.
    fn reached(&self, job: u64, rank: u32) -> Result<Vec<u8>> {
        let result = self.result();
        let pages = result.as_ref().filter(|(number, _)| *number == job);
        let (_, pages) = pages.ok_or_else(no_result)?;
        let first = rank.checked_sub(1).ok_or_else(malformed)?;
        let (mut answer, mut bytes) = (Vec::new(), 0);
        for sets in pages.reached.iter().skip(first as usize) {
            let sets = encode_sets(sets)?;
            bytes += sets.iter().map(Vec::len).sum::<usize>();
            answer.push(sets);
            if bytes >= ANSWER_BYTES {
                break;
            }
        }
        Ok(seedbank_store::pack(&answer)?)
    }

    /// Keeps what is known of the pages of this process for the next commit, as evidence of a refresh.
    fn put(&self, processes: &Processes, job: u64, refresh: RefreshId) -> Result<()> {
        let pages = self.take(job).ok_or_else(no_result)?;
        let mut changes = Changes::new(&processes.parts.spill_folder()?, CHANGES_MEMORY);
        put_reach(&mut changes, refresh, &pages.reach)?;
        let send =
            |_: &[u8], _: &[u8]| Err(StoreError::Protocol("a change belongs to another process"));
        Ok(processes.parts.keep_changes(changes, send)?)
    }
}

fn no_result() -> StoreError {
    StoreError::Protocol("a job has no result")
}

/// Reads the body of a request that is a number.
fn number(body: &[u8]) -> Result<u32> {
    let bytes = body.try_into().map_err(|_| malformed())?;
    Ok(u32::from_le_bytes(bytes))
}
