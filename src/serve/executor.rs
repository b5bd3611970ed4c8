//! Computes answers on blocking threads: a limited number at once, each with a deadline, within a memory
//! budget for large answers.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::answer::{Answer, RequestError};
use super::cache::{Key, Lookup, Pending};
use super::media_type::MediaType;
use super::request_metrics::RequestMetrics;
use super::snapshot::CurrentSnapshot;
use super::turnover_cache::TurnoverCache;
use crate::engine::Bank;
use seedbank_algorithms::watch::Watch;

/// Maximum time until an answer is ready, including the wait for a thread.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of lists that are compared, and of quotas that are computed, at the same time.
const MAX_COMPARISONS: usize = 4;

/// Minimum size in bytes of an answer that counts against the memory budget.
const LARGE: usize = 128 << 10;

/// Memory budget for large answers that are cached or being sent, in KiB.
const BUDGET_KIB: u32 = 256 << 10;

/// Answers requests about one bank.
pub(super) struct Executor {
    pub(super) snapshot: CurrentSnapshot,
    pub(super) requests: Arc<RequestMetrics>,
    /// Name of the bank's folder, for titles.
    name: String,
    /// One permit per answer that is being computed.
    threads: Arc<Semaphore>,
    /// One permit per list that is being compared, and per computation of quotas.
    pub(super) comparisons: Semaphore,
    /// One permit per KiB of the memory budget.
    memory: Arc<Semaphore>,
    /// The path of the bank's folder, as given and canonical. Errors sent to clients must not contain it.
    paths: Vec<String>,
}

/// Stops work when its time is over or its request is cancelled.
#[derive(Clone)]
pub(super) struct Deadline {
    end: Instant,
    cancelled: Arc<AtomicBool>,
}

impl Watch for Deadline {
    fn stopped(&self) -> bool {
        self.cancelled.load(Ordering::Relaxed) || Instant::now() >= self.end
    }
}

/// Cancels the work for a request when the request's future is dropped.
struct CancelOnDrop(Arc<AtomicBool>);

impl Drop for CancelOnDrop {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Relaxed);
    }
}

/// An answer to compute.
struct Job<F> {
    /// The key of the answer in the cache; `None` if it must not be cached.
    key: Option<Key>,
    deadline: Deadline,
    compute: F,
}

/// The result of an attempt to run a job.
enum Attempt<F> {
    Done(Result<Arc<Answer>, RequestError>),
    /// Another request computes the same answer. The job is returned, in case that request fails.
    Wait(Pending, Job<F>),
}

/// What an answer is computed from.
pub(super) struct Context<'a> {
    /// The bank, pinned to one state, and watched by `watch`.
    pub(super) bank: &'a Bank,
    /// Name of the bank's folder.
    pub(super) name: &'a str,
    pub(super) turnovers: &'a TurnoverCache,
    pub(super) requests: &'a RequestMetrics,
    pub(super) watch: &'a Deadline,
}

impl Executor {
    pub(super) fn new(bank: Bank, max_threads: usize) -> Self {
        let canonical = bank.path().canonicalize().ok();
        Self {
            paths: std::iter::once(bank.path().to_path_buf())
                .chain(canonical)
                .map(|path| path.to_string_lossy().into_owned())
                .collect(),
            name: bank.name(),
            snapshot: CurrentSnapshot::new(bank),
            requests: Arc::default(),
            threads: Arc::new(Semaphore::new(max_threads)),
            comparisons: Semaphore::new(MAX_COMPARISONS),
            memory: Arc::new(Semaphore::new(BUDGET_KIB as usize)),
        }
    }

    /// Answers a request about the current state, see [`Executor::compute`].
    pub(super) async fn answer(
        self: Arc<Self>,
        uri: Option<String>,
        media_type: MediaType,
        compute: impl FnOnce(&Context<'_>) -> Result<Answer, RequestError> + Send + 'static,
    ) -> Response<Body> {
        match self.compute(uri, compute).await {
            Ok(answer) => answer.as_ref().into(),
            Err(error) => Answer::error(&error, media_type).into(),
        }
    }

    /// Computes an answer from the current state.
    ///
    /// With a `uri`, the answer must depend only on the URI and the state: concurrent requests then share
    /// one computation, and answers that took long are cached.
    pub(super) async fn compute(
        self: Arc<Self>,
        uri: Option<String>,
        compute: impl FnOnce(&Context<'_>) -> Result<Answer, RequestError> + Send + 'static,
    ) -> Result<Arc<Answer>, RequestError> {
        let cancelled = Arc::new(AtomicBool::new(false));
        let deadline = Deadline {
            end: Instant::now() + TIMEOUT,
            cancelled: Arc::clone(&cancelled),
        };
        let _cancel = CancelOnDrop(cancelled);
        let job = Job {
            key: uri,
            deadline,
            compute,
        };
        let result = timeout(TIMEOUT, Arc::clone(&self).run(job)).await;
        let result = result.unwrap_or_else(|_| {
            let text = format!("no answer within {} seconds", TIMEOUT.as_secs());
            Err(RequestError::new(StatusCode::SERVICE_UNAVAILABLE, text))
        });
        result.map_err(|error| self.hide_paths(error))
    }

    /// Runs a job on a blocking thread. While another request computes the same answer, the job waits
    /// without occupying a thread.
    async fn run<F>(self: Arc<Self>, mut job: Job<F>) -> Result<Arc<Answer>, RequestError>
    where
        F: FnOnce(&Context<'_>) -> Result<Answer, RequestError> + Send + 'static,
    {
        loop {
            let permit = Arc::clone(&self.threads).acquire_owned().await;
            let executor = Arc::clone(&self);
            let attempt = spawn_blocking(move || {
                let _permit = permit;
                executor.attempt(job)
            });
            let attempt = attempt.await.unwrap_or_else(|_| {
                let text = "the computation of the answer failed";
                Attempt::Done(Err(RequestError::new(
                    StatusCode::INTERNAL_SERVER_ERROR,
                    text,
                )))
            });
            let mut pending = match attempt {
                Attempt::Done(result) => return result,
                Attempt::Wait(pending, returned) => {
                    job = returned;
                    pending
                }
            };
            // An error means that the other request failed: try again.
            let shared = pending.wait_for(Option::is_some).await;
            if let Some(answer) = shared.ok().and_then(|shared| shared.clone()) {
                return Ok(answer);
            }
        }
    }

    fn attempt<F>(&self, job: Job<F>) -> Attempt<F>
    where
        F: FnOnce(&Context<'_>) -> Result<Answer, RequestError>,
    {
        let snapshot = match self.snapshot.get() {
            Ok(snapshot) => snapshot,
            Err(error) => return Attempt::Done(Err(error.into())),
        };
        let computation = match job.key.clone().map(|key| snapshot.cache.find(key)) {
            Some(Lookup::Hit(answer)) => return Attempt::Done(Ok(answer)),
            Some(Lookup::Pending(pending)) => return Attempt::Wait(pending, job),
            Some(Lookup::Miss(computation)) => Some(computation),
            None => None,
        };
        if job.deadline.stopped() {
            return Attempt::Done(Err(RequestError::too_long()));
        }
        let result = (job.compute)(&Context {
            bank: &snapshot.bank.watched(job.deadline.clone()),
            name: &self.name,
            turnovers: &snapshot.turnovers,
            requests: &self.requests,
            watch: &job.deadline,
        });
        let result = result.and_then(|answer| self.reserve_memory(answer));
        let result = result.map(Arc::new);
        if let (Some(computation), Ok(answer)) = (computation, &result) {
            computation.complete(answer);
        }
        Attempt::Done(result)
    }

    /// Reserves memory for a large answer until its last byte is sent. Clients that read slowly delay
    /// that.
    fn reserve_memory(&self, answer: Answer) -> Result<Answer, RequestError> {
        let size = answer.len();
        if size < LARGE {
            return Ok(answer);
        }
        // An answer that exceeds the whole budget takes all of it.
        let kib = u32::try_from(size >> 10)
            .unwrap_or(BUDGET_KIB)
            .min(BUDGET_KIB);
        match Arc::clone(&self.memory).try_acquire_many_owned(kib) {
            Ok(permit) => Ok(answer.with_permit(permit)),
            Err(_) => Err(RequestError::new(
                StatusCode::SERVICE_UNAVAILABLE,
                "too many large answers are being sent",
            )),
        }
    }

    /// Replaces the path of the bank by its name.
    fn hide_paths(&self, mut error: RequestError) -> RequestError {
        for path in self.paths.iter().filter(|path| path.contains('/')) {
            error.error = error.error.replace(path, &self.name);
        }
        error
    }
}
