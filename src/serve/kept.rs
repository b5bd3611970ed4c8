//! Answers of one state: as long as the state is current they stay the same. Those that took long are
//! kept, and one that is being made is made for all who ask for it meanwhile.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use tokio::sync::watch::{Receiver, Sender, channel};

use super::answer::Answer;
use super::form::Form;

/// An answer that took less is made anew each time.
const FROM: Duration = Duration::from_millis(10);

/// The most bytes of all kept answers and their addresses, and of one of them.
const MOST: usize = 32 << 20;
const MOST_OF_ONE: usize = 1 << 20;

/// What an answer is kept by: its address, and what it is written as.
pub(super) type Key = (String, Form);

/// An answer that somebody else makes: `None` until it is there. It closes where there is none.
pub(super) type Awaited = Receiver<Option<Arc<Answer>>>;

/// Answers of one state. Those that took long are kept; those that nobody asked for any more make room.
#[derive(Default)]
pub(super) struct Kept(Mutex<Answers>);

#[derive(Default)]
struct Answers {
    by_key: BTreeMap<Key, One>,
    /// Keys in the order in which they are looked at when there is no room.
    order: VecDeque<Key>,
    bytes: usize,
    /// What is being made.
    making: BTreeMap<Key, Awaited>,
}

struct One {
    answer: Arc<Answer>,
    /// Whether it was asked for since it was last looked at.
    is_used: bool,
}

/// An answer that is kept or under way, or the right to make it.
pub(super) enum Found<'a> {
    Kept(Arc<Answer>),
    Awaited(Awaited),
    Make(Making<'a>),
}

/// An answer that is being made; who waits for it is told when this is dropped.
pub(super) struct Making<'a> {
    kept: &'a Kept,
    key: Key,
    begun: Instant,
    made: Sender<Option<Arc<Answer>>>,
}

fn bytes(key: &Key, answer: &Answer) -> usize {
    // The address stands in the map and in the order.
    2 * key.0.len() + answer.bytes()
}

impl Kept {
    fn lock(&self) -> MutexGuard<'_, Answers> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The answer to this; where another request is making it, what to wait for; else the right to
    /// make it.
    pub(super) fn find(&self, key: Key) -> Found<'_> {
        let mut answers = self.lock();
        if let Some(kept) = answers.by_key.get_mut(&key) {
            kept.is_used = true;
            return Found::Kept(Arc::clone(&kept.answer));
        }
        if let Some(awaited) = answers.making.get(&key) {
            return Found::Awaited(awaited.clone());
        }
        let (made, awaited) = channel(None);
        answers.making.insert(key.clone(), awaited);
        Found::Make(Making {
            kept: self,
            key,
            begun: Instant::now(),
            made,
        })
    }
}

impl Making<'_> {
    /// Hands the answer to all who wait, and keeps it if it took long and is not too large.
    pub(super) fn made(self, answer: &Arc<Answer>) {
        let took = self.begun.elapsed();
        self.keep(answer, took);
    }

    fn keep(&self, answer: &Arc<Answer>, took: Duration) {
        self.made.send_replace(Some(Arc::clone(answer)));
        let size = bytes(&self.key, answer);
        if took < FROM || size > MOST_OF_ONE {
            return;
        }
        let mut answers = self.kept.lock();
        answers.bytes += size;
        answers.order.push_back(self.key.clone());
        let one = One {
            answer: Arc::clone(answer),
            is_used: false,
        };
        answers.by_key.insert(self.key.clone(), one);
        while answers.bytes > MOST {
            answers.look();
        }
    }
}

impl Answers {
    /// Looks at the next answer: it goes where nobody asked for it since the last time.
    fn look(&mut self) {
        let Some(key) = self.order.pop_front() else {
            self.bytes = 0;
            return;
        };
        match self.by_key.get_mut(&key) {
            Some(one) if one.is_used => {
                one.is_used = false;
                self.order.push_back(key);
            }
            _ => {
                let gone = self.by_key.remove(&key);
                self.bytes -= gone.map_or(0, |one| bytes(&key, &one.answer));
            }
        }
    }
}

impl Drop for Making<'_> {
    fn drop(&mut self) {
        self.kept.lock().making.remove(&self.key);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kept(kept: &Kept, n: usize, form: Form) -> bool {
        matches!(kept.find((format!("/{n}"), form)), Found::Kept(_))
    }

    fn offer(kept: &Kept, n: usize, size: usize, took: Duration) {
        if let Found::Make(making) = kept.find((format!("/{n}"), Form::Json)) {
            let answer = Answer::of("text/plain", vec![0; size]);
            making.keep(&Arc::new(answer), took);
        }
    }

    #[test]
    fn only_long_answers_are_kept_and_those_nobody_asks_for_go() {
        let all = Kept::default();
        offer(&all, 0, 1, FROM / 2);
        offer(&all, 1, MOST_OF_ONE + 1, FROM);
        assert!(!kept(&all, 0, Form::Json) && !kept(&all, 1, Form::Json));
        for n in 0..40 {
            offer(&all, n, MOST_OF_ONE - 100, FROM);
            // One is asked for again and again.
            assert!(kept(&all, 0, Form::Json), "{n}");
        }
        let there: Vec<usize> = (0..40).filter(|n| kept(&all, *n, Form::Json)).collect();
        let last: Vec<usize> = std::iter::once(0).chain(9..40).collect();
        assert_eq!(there, last);
        assert!(!kept(&all, 39, Form::Html));
        assert!(all.lock().bytes <= MOST);
    }

    #[test]
    fn who_asks_for_the_same_meanwhile_has_the_same() {
        let all = Kept::default();
        let key = || ("/".to_owned(), Form::Html);
        let Found::Make(making) = all.find(key()) else {
            panic!("nothing was made yet");
        };
        let Found::Awaited(awaited) = all.find(key()) else {
            panic!("it is being made");
        };
        assert!(awaited.borrow().is_none());
        // Also what is made too fast to be kept.
        making.keep(&Arc::new(Answer::of("text/plain", "x")), FROM / 2);
        drop(making);
        assert!(awaited.borrow().is_some());
        // One who gave up leaves the work to the next.
        let Found::Make(making) = all.find(key()) else {
            panic!("it was not kept");
        };
        let Found::Awaited(awaited) = all.find(key()) else {
            panic!("it is being made");
        };
        drop(making);
        assert!(awaited.has_changed().is_err() && awaited.borrow().is_none());
        assert!(matches!(all.find(key()), Found::Make(_)));
    }
}
