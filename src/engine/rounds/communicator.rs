//! The exchange of the messages of a job, round by round.

use std::sync::{Arc, Mutex, PoisonError};

use super::job::Job;
use super::request::Piece;
use seedbank_algorithms::communicator::Communicator;
use seedbank_algorithms::graph::number;
use seedbank_algorithms::watch::{Interrupted, Watch};
use seedbank_store::{RemoteProcess, StoreError};

/// The most bytes of a message in a request.
const PIECE: usize = 1 << 20;

/// Exchanges the messages of a job in a process.
pub(in crate::engine) struct JobCommunicator {
    job: Arc<Job>,
    /// The other processes by number; `None` for this one.
    others: Vec<Option<Arc<dyn RemoteProcess>>>,
    /// The number of rounds so far.
    rounds: Mutex<u64>,
}

impl JobCommunicator {
    /// Begins with the first round. `others` has the other processes by number, `None` for this one.
    pub(in crate::engine) fn begin(
        job: &Arc<Job>,
        others: &[Option<Arc<dyn RemoteProcess>>],
    ) -> Arc<dyn Communicator> {
        Arc::new(Self {
            job: Arc::clone(job),
            others: others.to_vec(),
            rounds: Mutex::new(0),
        })
    }

    /// Sends the message of a round to another process. It is not waited for, so all can send at the same time.
    fn send(&self, round: u64, message: &[u8], to: &dyn RemoteProcess) -> Result<(), StoreError> {
        let mut left = message;
        loop {
            self.job.proceed()?;
            let (bytes, rest) = left.split_at(left.len().min(PIECE));
            let piece = Piece {
                from: number(self.job.process),
                round,
                has_more: !rest.is_empty(),
                bytes,
            };
            to.notify(&piece.request(self.job.number()))?;
            if rest.is_empty() {
                return Ok(());
            }
            left = rest;
        }
    }
}

/// The watch while messages are awaited: fails the job once a process is lost. A message to it may not have arrived, so
/// its own may never come.
struct Waiting<'a>(&'a JobCommunicator);

impl Watch for Waiting<'_> {
    fn stopped(&self) -> bool {
        let JobCommunicator { job, others, .. } = self.0;
        let loss = others.iter().flatten().find_map(|other| other.loss());
        if let Some(loss) = loss {
            job.fail(loss.into());
        }
        job.stopped()
    }
}

impl Communicator for JobCommunicator {
    fn process(&self) -> usize {
        self.job.process
    }

    fn processes(&self) -> usize {
        self.job.processes
    }

    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Interrupted> {
        // The messages of a round are sent before those of the next.
        let mut rounds = self.rounds.lock().unwrap_or_else(PoisonError::into_inner);
        if messages.len() != self.others.len() {
            return Err(self.fail("a round has a message for each process"));
        }
        let mut own = Vec::new();
        for (message, other) in messages.into_iter().zip(&self.others) {
            match other {
                Some(other) => {
                    let sent = self.send(*rounds, &message, &**other);
                    sent.map_err(|error| {
                        self.job.fail(error.into());
                        Interrupted
                    })?;
                }
                None => own = message,
            }
        }
        *rounds += 1;
        let mut received = self.job.inbox.take(&Waiting(self))?;
        if let Some(message) = received.get_mut(self.job.process) {
            *message = own;
        }
        Ok(received)
    }

    fn fail(&self, cause: &'static str) -> Interrupted {
        self.job.fail(StoreError::Protocol(cause).into());
        Interrupted
    }
}
