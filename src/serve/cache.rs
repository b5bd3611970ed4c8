//! Cache of the answers about one state. Identical requests that arrive while an answer is being
//! computed share one computation.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch::{Receiver, Sender, channel};

use super::answer::Answer;

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
