//! This process among those that have parts of a cluster bank.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::error::{EngineError, Result};
use super::rounds::call_all::Others;
use super::rounds::job::{Job, JobWatch};
use super::rounds::request::Kind;
use seedbank_algorithms::watch::Watch;
use seedbank_store::{
    OtherProcesses, PartServer, PublishedParts, PublishedState, RemoteProcess, StoreError,
};

/// This process: its parts, and its connections to the others.
pub(super) struct Processes {
    /// The number of this process.
    pub(super) number: usize,
    /// Its parts of the bank.
    pub(super) parts: PartServer,
    pub(super) watch: Arc<dyn Watch + Send>,
    others: OnceLock<Connected>,
    /// The job that this process takes part in, if there is one.
    job: Mutex<Option<Arc<Job>>>,
    /// The number of jobs that this process has numbered.
    jobs: AtomicU64,
    /// The published state of its parts that was opened last, until it is closed.
    published: Mutex<Option<(PublishedState, Arc<PublishedParts>)>>,
}

/// The other processes.
struct Connected {
    /// The process of each part.
    owners: Vec<usize>,
    /// By number; `None` for this process.
    by_number: Vec<Option<Arc<dyn RemoteProcess>>>,
}

impl Processes {
    pub(super) fn new(
        number: usize,
        bank: &Path,
        own: &BTreeSet<u32>,
        watch: impl Watch + Send + 'static,
    ) -> Result<Self> {
        Ok(Self {
            number,
            parts: PartServer::new(bank, own)?,
            watch: Arc::new(watch),
            others: OnceLock::new(),
            job: Mutex::new(None),
            jobs: AtomicU64::new(0),
            published: Mutex::new(None),
        })
    }

    /// Returns a number for a job that no other one of this process has.
    pub(super) fn next_job(&self) -> u64 {
        self.jobs.fetch_add(1, Ordering::Relaxed) + 1
    }

    /// Begins a job with this number, and ends the one before.
    pub(super) fn begin_job(&self, number: u64) -> Result<Arc<Job>> {
        let processes = self.by_number()?.len();
        let watch = Arc::clone(&self.watch);
        let job = Arc::new(Job::new(number, self.number, processes, watch));
        let last = self.open_job().replace(Arc::clone(&job));
        if let Some(last) = last {
            last.end();
        }
        Ok(job)
    }

    /// Returns the job with this number.
    pub(super) fn job(&self, number: u64) -> Result<Arc<Job>> {
        let job = self.open_job().clone();
        let job = job.filter(|job| job.number() == number);
        let ended = StoreError::Protocol("a request is about a job that has ended");
        Ok(job.ok_or(ended)?)
    }

    /// Ends the job with this number, if it has not ended, and closes the published state that it reads.
    pub(super) fn end_job(&self, number: u64) {
        if let Some(job) = self.open_job().take_if(|job| job.number() == number) {
            job.end();
        }
        self.close_published();
    }

    /// Runs a job in all processes: `own` in this one, and in the others the part that they have in the request. `read`
    /// converts their answers. Returns the results, that of `own` first, and the others.
    ///
    /// Fails in all of them if one fails or is lost.
    pub(super) fn run_in_all<T: Send>(
        &self,
        watch: &dyn Watch,
        request: (Kind, &[u8]),
        own: impl FnOnce(&dyn Watch, &Arc<Job>) -> Result<T>,
        read: impl Fn(&[u8]) -> Result<T> + Sync,
    ) -> Result<(Vec<T>, Others)> {
        let job = self.begin_job(self.next_job())?;
        let others = Others::new(job.number(), self.by_number()?);
        let failing = job.failing();
        let begin = (Kind::Begin, &[][..]);
        others.call_all(failing, begin, || Ok(()), |_| Ok(()))?;
        let watch = JobWatch { job: &job, watch };
        let own = || watch.run(|| own(&watch, &job));
        let results = others.call_all(failing, request, own, read);
        // No message follows the end of the last part.
        self.end_job(job.number());
        // Parts that were still running may have opened something.
        let results = results.inspect_err(|_| others.end())?;
        Ok((results, others))
    }

    fn open_job(&self) -> MutexGuard<'_, Option<Arc<Job>>> {
        // It is replaced as a whole.
        self.job.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns a published state of the parts of this process; reads of others fail. It stays open until another one is
    /// opened, or until the job ends.
    pub(super) fn open_published(&self, state: PublishedState) -> Result<Arc<PublishedParts>> {
        let mut published = self.published();
        if let Some((last, parts)) = &*published
            && *last == state
        {
            return Ok(Arc::clone(parts));
        }
        let parts = Arc::new(self.parts.open_own(state)?);
        *published = Some((state, Arc::clone(&parts)));
        Ok(parts)
    }

    /// Closes the published state of the parts of this process once nothing reads it.
    fn close_published(&self) {
        *self.published() = None;
    }

    /// Whether a published state is open.
    #[cfg(test)]
    pub(super) fn has_open_state(&self) -> bool {
        self.published().is_some()
    }

    fn published(&self) -> MutexGuard<'_, Option<(PublishedState, Arc<PublishedParts>)>> {
        // It is replaced as a whole.
        self.published
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects the other processes. Later calls have no effect.
    pub(super) fn connect(
        &self,
        owners: Vec<usize>,
        by_number: Vec<Option<Arc<dyn RemoteProcess>>>,
    ) {
        let _ = self.others.set(Connected { owners, by_number });
    }

    fn others(&self) -> Result<&Connected> {
        self.others.get().ok_or_else(not_connected)
    }

    /// Whether the other processes are connected.
    pub(super) fn are_connected(&self) -> bool {
        self.others.get().is_some()
    }

    /// Returns the process of each part.
    pub(super) fn owners(&self) -> Result<&[usize]> {
        Ok(&self.others()?.owners)
    }

    /// Returns the other processes by number; `None` for this one.
    pub(super) fn by_number(&self) -> Result<&[Option<Arc<dyn RemoteProcess>>]> {
        Ok(&self.others()?.by_number)
    }

    /// Returns the other processes by part.
    pub(super) fn by_part(&self) -> Result<OtherProcesses> {
        let Connected { owners, by_number } = self.others()?;
        let mut others = OtherProcesses::default();
        for (part, owner) in (0..).zip(owners) {
            if let Some(Some(process)) = by_number.get(*owner) {
                others.add(part, Arc::clone(process));
            }
        }
        Ok(others)
    }
}

fn not_connected() -> EngineError {
    StoreError::Protocol("the other processes are not connected").into()
}
