//! Messages among processes that run the same program.
//!
//! Each process has a share of the data. All of them take the same decisions, since these depend only on what they
//! have exchanged; so they also call the same functions in the same order.

use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex, PoisonError};

use crate::watch::Interrupted;

/// Exchanges messages among processes that run the same program, as communicators of MPI do.
///
/// ```
/// use seedbank_algorithms::communicator::of_threads;
///
/// let processes = of_threads(2);
/// std::thread::scope(|scope| {
///     for communicator in &processes {
///         scope.spawn(move || {
///             let own = vec![communicator.process() as u8];
///             let all = communicator.all_to_all(vec![own.clone(), own]).unwrap();
///             assert_eq!(all, [vec![0], vec![1]]);
///         });
///     }
/// });
/// ```
pub trait Communicator: Send + Sync {
    /// Returns the number of this process, from 0.
    fn process(&self) -> usize;

    /// Returns the number of processes.
    fn processes(&self) -> usize;

    /// Sends a message to each process, by number, and returns what each has sent to this one; its own message as it
    /// is. All processes call it equally often.
    ///
    /// # Errors
    ///
    /// If the work was stopped or has failed in any process. The cause is reported elsewhere.
    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Interrupted>;

    /// Ends the work because a message or the task is not as expected.
    fn fail(&self, cause: &'static str) -> Interrupted;
}

/// A process without others.
struct Alone;

/// Returns the communicator of a process without others.
#[must_use]
pub fn alone() -> Arc<dyn Communicator> {
    Arc::new(Alone)
}

impl Communicator for Alone {
    fn process(&self) -> usize {
        0
    }

    fn processes(&self) -> usize {
        1
    }

    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Interrupted> {
        Ok(messages)
    }

    fn fail(&self, _cause: &'static str) -> Interrupted {
        Interrupted
    }
}

/// The senders and the receivers of a thread, by number; `None` for itself.
struct OfThread {
    process: usize,
    senders: Vec<Option<Mutex<Sender<Vec<u8>>>>>,
    receivers: Vec<Option<Mutex<Receiver<Vec<u8>>>>>,
}

/// Returns communicators among threads, one for each, which run what is written for several processes. Once a thread has
/// dropped its communicator, the others are interrupted.
#[must_use]
pub fn of_threads(threads: usize) -> Vec<Arc<dyn Communicator>> {
    let empty = |process| OfThread {
        process,
        senders: (0..threads).map(|_| None).collect(),
        receivers: (0..threads).map(|_| None).collect(),
    };
    let mut all: Vec<OfThread> = (0..threads).map(empty).collect();
    for from in 0..threads {
        for to in (0..threads).filter(|&to| to != from) {
            let (sender, receiver) = mpsc::channel();
            all[from].senders[to] = Some(Mutex::new(sender));
            all[to].receivers[from] = Some(Mutex::new(receiver));
        }
    }
    let shared = |one| Arc::new(one) as Arc<dyn Communicator>;
    all.into_iter().map(shared).collect()
}

impl Communicator for OfThread {
    fn process(&self) -> usize {
        self.process
    }

    fn processes(&self) -> usize {
        self.senders.len()
    }

    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Interrupted> {
        let mut own = Vec::new();
        for (message, sender) in messages.into_iter().zip(&self.senders) {
            match sender {
                None => own = message,
                Some(sender) => {
                    let sender = sender.lock().unwrap_or_else(PoisonError::into_inner);
                    sender.send(message).map_err(|_| Interrupted)?;
                }
            }
        }
        let receive = |receiver: &Option<Mutex<Receiver<Vec<u8>>>>| match receiver {
            None => Ok(std::mem::take(&mut own)),
            Some(receiver) => {
                let receiver = receiver.lock().unwrap_or_else(PoisonError::into_inner);
                receiver.recv().map_err(|_| Interrupted)
            }
        };
        self.receivers.iter().map(receive).collect()
    }

    fn fail(&self, _cause: &'static str) -> Interrupted {
        Interrupted
    }
}
