//! A selection in all processes of a cluster bank, as process 0 sees it.
//!
//! Process 0 does its own part meanwhile. What is known of pages stays in the processes that have them until the refresh is
//! stored.

use std::sync::Arc;

use super::share_request::{Earlier, ShareRequest};
use super::site_processes::SiteProcesses;
use crate::engine::Result;
use crate::engine::failing_watch::FailingWatch;
use crate::engine::rounds::call_all::Others;
use crate::engine::rounds::job::{Job, JobWatch};
use crate::engine::rounds::request::Kind;
use seedbank_algorithms::watch::{Unwatched, Watch};

/// A selection in all processes. Dropping it ends the job, and the others forget what they know of pages.
pub(super) struct SharedJob(Others);

impl SharedJob {
    /// Runs a selection in all processes, `own` in this one. `read` converts the answers of the others. Returns the results, that of
    /// `own` first.
    ///
    /// Fails in all of them if one fails or is lost.
    pub(super) fn run<T: Send>(
        processes: &SiteProcesses<'_>,
        earlier: Earlier,
        watch: &dyn Watch,
        own: impl FnOnce(&dyn Watch, &Arc<Job>) -> Result<T>,
        read: impl Fn(&[u8]) -> Result<T> + Sync,
    ) -> Result<(Vec<T>, Self)> {
        let local = processes.local;
        let job = local.begin_job(local.next_job())?;
        let shared = Self(Others::new(job.number(), local.by_number()?));
        let request = seedbank_store::pack(&ShareRequest::new(processes, earlier))?;
        let failing = job.failing();
        let begin = (Kind::Begin, &[][..]);
        shared.0.call_all(failing, begin, || Ok(()), |_| Ok(()))?;
        let watch = JobWatch { job: &job, watch };
        let own = || watch.run(|| own(&watch, &job));
        let read = |answer: &[u8]| {
            let (answer, bytes_read): (Vec<u8>, u64) = seedbank_store::unpack(answer)?;
            processes.add_bytes_read(bytes_read);
            read(&answer)
        };
        let run = (Kind::Run, request.as_slice());
        let results = shared.0.call_all(failing, run, own, read);
        // No message follows the end of the last part.
        local.end_job(job.number());
        Ok((results?, shared))
    }

    /// Lets the other processes keep what they know of their pages for the next commit. Returns their answers.
    pub(super) fn put(&self, body: &[u8]) -> Result<Vec<Vec<u8>>> {
        let failing = FailingWatch::new(&Unwatched);
        let own = || Ok(Vec::new());
        let answers = self
            .0
            .call_all(&failing, (Kind::Put, body), own, |answer| {
                Ok(answer.to_vec())
            })?;
        Ok(answers.into_iter().skip(1).collect())
    }
}

impl Drop for SharedJob {
    fn drop(&mut self) {
        self.0.end();
    }
}
