//! Answers of one state that took long: as long as the state is current they stay the same.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use super::answer::Answer;
use super::form::Form;

/// An answer that took less is made anew each time.
const FROM: Duration = Duration::from_millis(10);

/// The most bytes of all kept answers and their addresses, and of one of them.
const MOST: usize = 32 << 20;
const MOST_OF_ONE: usize = 1 << 20;

/// What an answer is kept by: its address, and what it is written as.
pub(super) type Key = (String, Form);

/// Answers of one state that took long, the oldest of which make room for others.
#[derive(Default)]
pub(super) struct Kept {
    answers: Mutex<Answers>,
    /// Told whenever an answer is made.
    made: Condvar,
}

#[derive(Default)]
struct Answers {
    by_key: BTreeMap<Key, Arc<Answer>>,
    /// Keys, the oldest first.
    order: VecDeque<Key>,
    bytes: usize,
    /// What is being made.
    making: BTreeSet<Key>,
}

/// An answer that is kept, or the right to make it.
pub(super) enum Found<'a> {
    Kept(Arc<Answer>),
    Make(Making<'a>),
}

/// An answer that is being made: whoever asks for the same waits until this is dropped.
pub(super) struct Making<'a> {
    kept: &'a Kept,
    key: Key,
    begun: Instant,
}

fn bytes(key: &Key, answer: &Answer) -> usize {
    // The address stands in the map and in the order.
    2 * key.0.len() + answer.bytes()
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.answers.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer that is kept for this, for which it is waited where another request is making it; or
    /// the right to make it, at the latest at this time.
    pub(super) fn find(&self, key: Key, until: Instant) -> Found<'_> {
        let mut answers = self.lock();
        loop {
            if let Some(kept) = answers.by_key.get(&key) {
                return Found::Kept(Arc::clone(kept));
            }
            let left = until.saturating_duration_since(Instant::now());
            if answers.making.insert(key.clone()) || left.is_zero() {
                return Found::Make(Making {
                    kept: self,
                    key,
                    begun: Instant::now(),
                });
            }
            let waited = self.made.wait_timeout(answers, left);
            answers = waited.unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}

impl Making<'_> {
    /// Keeps the answer if it took long and is not too large.
    pub(super) fn made(self, answer: &Arc<Answer>) {
        let took = self.begun.elapsed();
        self.keep(answer, took);
    }

    fn keep(&self, answer: &Arc<Answer>, took: Duration) {
        let size = bytes(&self.key, answer);
        if took < FROM || size > MOST_OF_ONE {
            return;
        }
        let mut answers = self.kept.lock();
        if answers.by_key.contains_key(&self.key) {
            return;
        }
        answers.bytes += size;
        answers.order.push_back(self.key.clone());
        answers.by_key.insert(self.key.clone(), Arc::clone(answer));
        while answers.bytes > MOST {
            let Some(oldest) = answers.order.pop_front() else {
                return;
            };
            if let Some(answer) = answers.by_key.remove(&oldest) {
                answers.bytes -= bytes(&oldest, &answer);
            }
        }
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.kept.lock().making.remove(&self.key);
        self.kept.made.notify_all();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(kept: &Kept, n: usize, form: Form) -> bool {
        let key = (format!("/{n}"), form);
        matches!(kept.find(key, Instant::now()), Found::Kept(_))
    }

    fn offer(kept: &Kept, n: usize, size: usize, took: Duration) {
        let key = (format!("/{n}"), Form::Json);
        if let Found::Make(making) = kept.find(key, Instant::now()) {
            let answer = Answer::of("text/plain", vec![0; size]);
            making.keep(&Arc::new(answer), took);
        }
    }

    #[test]
    fn only_long_answers_are_kept_and_the_oldest_go() {
        let all = Kept::default();
        offer(&all, 0, 1, FROM / 2);
        offer(&all, 1, MOST_OF_ONE + 1, FROM);
        assert!(!kept(&all, 0, Form::Json) && !kept(&all, 1, Form::Json));
        for n in 0..40 {
            offer(&all, n, MOST_OF_ONE - 100, FROM);
        }
        let there: Vec<usize> = (0..40).filter(|n| kept(&all, *n, Form::Json)).collect();
        assert_eq!(there, (8..40).collect::<Vec<usize>>());
        assert!(!kept(&all, 39, Form::Html));
    }

    #[test]
    fn the_same_is_made_once_and_waited_for() {
        let all = Kept::default();
        let key = || ("/".to_owned(), Form::Html);
        let late = Instant::now() + Duration::from_secs(60);
        let Found::Make(making) = all.find(key(), late) else {
            panic!("nothing was made yet");
        };
        std::thread::scope(|scope| {
            let waiting = scope.spawn(|| matches!(all.find(key(), late), Found::Kept(_)));
            let answer = Arc::new(Answer::of("text/plain", "x"));
            making.keep(&answer, FROM);
            drop(making);
            assert!(waiting.join().unwrap());
        });
        // One who gave up leaves the work to the next.
        let other = || ("/other".to_owned(), Form::Html);
        drop(all.find(other(), late));
        assert!(matches!(all.find(other(), late), Found::Make(_)));
    }
}
