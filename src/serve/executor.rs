//! Computes answers on blocking threads: a limited number at once, each with a deadline, within a memory
//! budget for large answers. Keeps the published state that requests read open, with the caches of its answers.

use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use axum::body::Body;
use axum::http::{Response, StatusCode};
use tokio::sync::Semaphore;
use tokio::sync::watch::{Receiver, Sender, channel};
use tokio::task::spawn_blocking;
use tokio::time::timeout;

use super::answer::{Answer, MediaType, RequestError};
use super::request_metrics::RequestMetrics;

use crate::engine::query::Turnover;
use crate::engine::{Bank, EngineError};
use seedbank_algorithms::watch::Watch;

/// Maximum time until an answer is ready, including the wait for a thread.
pub(super) const TIMEOUT: Duration = Duration::from_secs(10);

/// Maximum number of lists that are compared, and of quotas that are computed, at the same time.
const MAX_COMPARISONS: usize = 2;

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

/// A published state with its caches.
pub(super) struct Snapshot {
    pub(super) bank: Bank,
    pub(super) cache: AnswerCache,
    pub(super) turnovers: TurnoverCache,
}

/// Keeps the published state open between requests until a newer one is published.
pub(super) struct CurrentSnapshot {
    bank: Bank,
    open: Mutex<Option<Arc<Snapshot>>>,
}

impl CurrentSnapshot {
    pub(super) fn new(bank: Bank) -> Self {
        Self {
            bank,
            open: Mutex::new(None),
        }
    }

    /// Returns the state that is published now.
    ///
    /// Cost: reads two small files; opens the state if it is not open yet.
    pub(super) fn get(&self) -> Result<Arc<Snapshot>, EngineError> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(snapshot) = open.as_ref() {
            match snapshot.bank.is_current() {
                Ok(true) => return Ok(Arc::clone(snapshot)),
                Ok(false) => {}
                Err(e) => {
                    *open = None;
                    return Err(e);
                }
            }
        }
        // Close the old state before the new one takes memory too.
        *open = None;
        let snapshot = Arc::new(Snapshot {
            bank: self.bank.pinned()?,
            cache: AnswerCache::default(),
            turnovers: TurnoverCache::default(),
        });
        *open = Some(Arc::clone(&snapshot));
        Ok(snapshot)
    }

    /// Closes an outdated state, so that its files can be removed even if no request arrives.
    pub(super) fn close_if_outdated(&self) {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.take_if(|snapshot| !snapshot.bank.is_current().unwrap_or(false));
    }
}

/// Minimum computation time of an answer that is cached.
const MIN_TIME: Duration = Duration::from_millis(10);

/// Maximum size of all cached answers and their keys, in bytes.
const MAX_BYTES: usize = 32 << 20;

/// Maximum size of one cached answer and its key, in bytes.
const MAX_ENTRY_BYTES: usize = 1 << 20;

/// The path and query of a request.
pub(super) type Key = String;

/// Receives the answer that another request computes; closed if that request fails.
pub(super) type Pending = Receiver<Option<Arc<Answer>>>;

/// Caches answers that took long to compute. Evicts by second chance (CLOCK): an answer that was used
/// since the last inspection stays.
#[derive(Default)]
pub(super) struct AnswerCache(Mutex<Entries>);

#[derive(Default)]
struct Entries {
    by_key: BTreeMap<Key, Entry>,
    /// Keys in the order of the next inspections.
    queue: VecDeque<Key>,
    /// Size of all entries, see [`entry_bytes`].
    bytes: usize,
    /// Answers that are being computed.
    pending: BTreeMap<Key, Pending>,
}

struct Entry {
    answer: Arc<Answer>,
    /// Whether the entry was used since its last inspection.
    used: bool,
}

/// The result of a lookup.
pub(super) enum Lookup<'a> {
    Hit(Arc<Answer>),
    /// Another request computes the answer.
    Pending(Pending),
    /// The caller must compute the answer.
    Miss(Computation<'a>),
}

/// An answer that is being computed. Dropping it wakes the requests that wait for the answer.
pub(super) struct Computation<'a> {
    cache: &'a AnswerCache,
    key: Key,
    start: Instant,
    sender: Sender<Option<Arc<Answer>>>,
}

/// Returns the size of an entry in bytes. Its URI is stored in the map and in the queue.
fn entry_bytes(key: &Key, answer: &Answer) -> usize {
    2 * key.len() + answer.len()
}

impl AnswerCache {
    fn lock(&self) -> MutexGuard<'_, Entries> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn find(&self, key: Key) -> Lookup<'_> {
        let mut entries = self.lock();
        if let Some(entry) = entries.by_key.get_mut(&key) {
            entry.used = true;
            return Lookup::Hit(Arc::clone(&entry.answer));
        }
        if let Some(pending) = entries.pending.get(&key) {
            return Lookup::Pending(pending.clone());
        }
        let (sender, pending) = channel(None);
        entries.pending.insert(key.clone(), pending);
        Lookup::Miss(Computation {
            cache: self,
            key,
            start: Instant::now(),
            sender,
        })
    }
}

impl Computation<'_> {
    /// Sends the answer to all requests that wait for it, and caches it if it took long and is not too
    /// large.
    pub(super) fn complete(self, answer: &Arc<Answer>) {
        let time = self.start.elapsed();
        self.complete_after(time, answer);
    }

    fn complete_after(&self, time: Duration, answer: &Arc<Answer>) {
        self.sender.send_replace(Some(Arc::clone(answer)));
        let size = entry_bytes(&self.key, answer);
        if time < MIN_TIME || size > MAX_ENTRY_BYTES {
            return;
        }
        let mut entries = self.cache.lock();
        entries.bytes += size;
        entries.queue.push_back(self.key.clone());
        let entry = Entry {
            answer: Arc::clone(answer),
            used: false,
        };
        entries.by_key.insert(self.key.clone(), entry);
        while entries.bytes > MAX_BYTES {
            entries.inspect_next();
        }
    }
}

impl Entries {
    /// Inspects the next entry: evicts it if it was not used since its last inspection.
    fn inspect_next(&mut self) {
        let Some(key) = self.queue.pop_front() else {
            self.bytes = 0;
            return;
        };
        match self.by_key.get_mut(&key) {
            Some(entry) if entry.used => {
                entry.used = false;
                self.queue.push_back(key);
            }
            _ => {
                let evicted = self.by_key.remove(&key);
                self.bytes -= evicted.map_or(0, |entry| entry_bytes(&key, &entry.answer));
            }
        }
    }
}

impl Drop for Computation<'_> {
    fn drop(&mut self) {
        self.cache.lock().pending.remove(&self.key);
    }
}

/// Turnovers by the numbers of the earlier and the later refresh.
#[derive(Default)]
pub(super) struct TurnoverCache(Mutex<BTreeMap<(u32, u32), Turnover>>);

impl TurnoverCache {
    /// Returns how the list changed from each of these refreshes to the next.
    ///
    /// Cost: scans the seeds of the refreshes between the first and the last pair that is not cached.
    pub(super) fn between(
        &self,
        bank: &Bank,
        refreshes: &[u32],
    ) -> Result<Vec<Turnover>, EngineError> {
        // The lock is held during the scan, so that concurrent requests do not repeat it.
        let mut cached = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let key = |pair: &[u32]| (pair[0], pair[1]);
        let is_missing = |pair: &[u32]| !cached.contains_key(&key(pair));
        let first = refreshes.windows(2).position(is_missing);
        let last = refreshes.windows(2).rposition(is_missing);
        if let (Some(first), Some(last)) = (first, last) {
            for turnover in bank.turnover(&refreshes[first..last + 2])? {
                cached.insert((turnover.previous, turnover.refresh), turnover);
            }
        }
        let pairs = refreshes.windows(2);
        Ok(pairs
            .filter_map(|pair| cached.get(&key(pair)).copied())
            .collect())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn is_cached(cache: &AnswerCache, n: usize) -> bool {
        matches!(cache.find(format!("/{n}")), Lookup::Hit(_))
    }

    fn offer(cache: &AnswerCache, n: usize, size: usize, time: Duration) {
        if let Lookup::Miss(computation) = cache.find(format!("/{n}")) {
            let answer = Answer::new("text/plain", vec![0; size]);
            computation.complete_after(time, &Arc::new(answer));
        }
    }

    #[test]
    fn only_slow_answers_are_cached_and_unused_ones_are_evicted() {
        let cache = AnswerCache::default();
        offer(&cache, 0, 1, MIN_TIME / 2);
        offer(&cache, 1, MAX_ENTRY_BYTES + 1, MIN_TIME);
        assert!(!is_cached(&cache, 0) && !is_cached(&cache, 1));
        for n in 0..40 {
            offer(&cache, n, MAX_ENTRY_BYTES - 100, MIN_TIME);
            // One is used again and again.
            assert!(is_cached(&cache, 0), "{n}");
        }
        let found: Vec<usize> = (0..40).filter(|n| is_cached(&cache, *n)).collect();
        let expected: Vec<usize> = std::iter::once(0).chain(9..40).collect();
        assert_eq!(found, expected);
        assert!(cache.lock().bytes <= MAX_BYTES);
    }

    #[test]
    fn concurrent_requests_share_one_computation() {
        let cache = AnswerCache::default();
        let key = || "/".to_owned();
        let Lookup::Miss(computation) = cache.find(key()) else {
            panic!("nothing was computed yet");
        };
        let Lookup::Pending(pending) = cache.find(key()) else {
            panic!("it is being computed");
        };
        assert!(pending.borrow().is_none());
        // Answers that are too fast to be cached are shared too.
        computation.complete_after(MIN_TIME / 2, &Arc::new(Answer::new("text/plain", "x")));
        drop(computation);
        assert!(pending.borrow().is_some());
        // A request that fails leaves the computation to the next one.
        let Lookup::Miss(computation) = cache.find(key()) else {
            panic!("it was not cached");
        };
        let Lookup::Pending(pending) = cache.find(key()) else {
            panic!("it is being computed");
        };
        drop(computation);
        assert!(pending.has_changed().is_err() && pending.borrow().is_none());
        assert!(matches!(cache.find(key()), Lookup::Miss(_)));
    }
}
