//! A member as its coordinator sees it.

use std::collections::HashMap;
use std::io;
use std::net::TcpStream;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, Receiver, RecvTimeoutError, SyncSender};
use std::sync::{Arc, Mutex};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::connection::{Connection, Heartbeat};
use crate::error::ClusterError;
use crate::failure::Failure;
use crate::frame::{Frame, Kind, MAX_PAYLOAD};
use crate::members::Process;
use crate::outcome::Outcome;
use crate::wait::{self, lock};

/// The calls that wait for an answer, by the number of their request. `None` means that none will come.
type Pending = Mutex<Option<HashMap<u64, SyncSender<Frame>>>>;

/// A connected member, held by its coordinator. Dropping it without [`finish`] ends the connection, which
/// the member reports as a loss of the coordinator.
#[derive(Debug)]
pub struct Peer {
    heartbeat: Heartbeat,
    connection: Arc<Connection>,
    pending: Arc<Pending>,
    requests: AtomicU64,
    receiver: Option<JoinHandle<()>>,
    /// Reports the end of the receiving thread: whether the member confirmed the outcome.
    end: Mutex<Receiver<bool>>,
}

impl Peer {
    pub(crate) fn new(
        stream: TcpStream,
        number: usize,
        process: &Process,
        patience: Duration,
    ) -> io::Result<Self> {
        let connection = Connection::new(stream, number, process.address(), patience)?;
        let heartbeat = Heartbeat::start(&connection)?;
        let pending = Arc::new(Mutex::new(Some(HashMap::new())));
        let (ended, end) = mpsc::channel();
        let receiver = thread::Builder::new()
            .name(format!("process {number}"))
            .spawn({
                let (connection, pending) = (Arc::clone(&connection), Arc::clone(&pending));
                move || {
                    let is_confirmed = receive(&connection, &pending);
                    // Wakes all calls: the senders of their channels are dropped.
                    lock(&pending).take();
                    // `finish` does not wait for a peer that is dropped.
                    let _ = ended.send(is_confirmed);
                }
            })?;
        Ok(Self {
            heartbeat,
            connection,
            pending,
            requests: AtomicU64::new(0),
            receiver: Some(receiver),
            end: Mutex::new(end),
        })
    }

    /// Sends a request and waits for the answer. Many threads may call at once.
    ///
    /// Once the connection is lost, this and all later calls fail with [`ClusterError::Lost`], or with
    /// [`ClusterError::MemberInterrupted`].
    pub fn call(&self, request: &[u8]) -> Result<Vec<u8>, ClusterError> {
        self.call_until(request, &|| false)
    }

    /// Like [`call`](Self::call), but fails with [`ClusterError::Interrupted`] soon after `stop` returns
    /// true. The member still handles the request; its answer is dropped.
    pub fn call_until(
        &self,
        request: &[u8],
        stop: &dyn Fn() -> bool,
    ) -> Result<Vec<u8>, ClusterError> {
        if request.len() > MAX_PAYLOAD {
            return Err(ClusterError::TooLarge {
                bytes: request.len(),
            });
        }
        let id = self.requests.fetch_add(1, Ordering::Relaxed);
        let (answered, answer) = mpsc::sync_channel(1);
        (lock(&self.pending).as_mut())
            .ok_or_else(|| self.connection.lost_error())?
            .insert(id, answered);
        self.connection.send(Kind::Request, id, request)?;
        let frame = wait::receive(&answer, stop).inspect_err(|_| {
            if let Some(pending) = lock(&self.pending).as_mut() {
                pending.remove(&id);
            }
        })?;
        match frame {
            None => Err(self.connection.lost_error()),
            Some(frame) if frame.kind == Kind::Answer => Ok(frame.body),
            Some(frame) => Err(ClusterError::Remote {
                process: self.process(),
                failure: Failure::decode(&frame.body),
            }),
        }
    }

    /// Sends a request that has no answer. The member handles it before it receives the next one.
    ///
    /// Waits only until the request is written. What its handler returns is dropped.
    pub fn notify(&self, request: &[u8]) -> Result<(), ClusterError> {
        if request.len() > MAX_PAYLOAD {
            return Err(ClusterError::TooLarge {
                bytes: request.len(),
            });
        }
        self.connection.send(Kind::Notice, 0, request)
    }

    /// The number of the member.
    #[must_use]
    pub fn process(&self) -> usize {
        self.connection.process
    }

    /// The number of bytes sent to the member after the greeting.
    #[must_use]
    pub fn sent_bytes(&self) -> u64 {
        self.connection.sent_bytes()
    }

    /// The number of bytes received from the member after the greeting.
    #[must_use]
    pub fn received_bytes(&self) -> u64 {
        self.connection.received_bytes()
    }

    /// The number of requests.
    #[must_use]
    pub fn requests(&self) -> u64 {
        self.requests.load(Ordering::Relaxed)
    }

    /// The error of the connection. `None` means that it is not lost.
    #[must_use]
    pub fn loss(&self) -> Option<ClusterError> {
        self.connection.loss()
    }

    /// Sends the outcome without waiting for confirmation.
    pub(crate) fn send_outcome(&self, outcome: &Outcome) -> Result<(), ClusterError> {
        self.connection.send_outcome(outcome)
    }

    /// Waits until the member has confirmed the outcome.
    fn wait_for_end(&self, until: Instant) -> Result<(), ClusterError> {
        let left = until.saturating_duration_since(Instant::now());
        match lock(&self.end).recv_timeout(left) {
            Ok(true) => Ok(()),
            Ok(false) | Err(RecvTimeoutError::Disconnected) => Err(self.connection.lost_error()),
            Err(RecvTimeoutError::Timeout) => {
                let patience = self.connection.patience().as_secs();
                let why = format!("it did not confirm the end of the command within {patience} s");
                Err(self.connection.lost_because(&why))
            }
        }
    }
}

impl Drop for Peer {
    fn drop(&mut self) {
        self.heartbeat.end();
        if let Some(receiver) = self.receiver.take() {
            // The thread does not panic.
            let _ = receiver.join();
        }
    }
}

/// Hands answers to the calls that wait for them, until the connection ends. Returns whether the member
/// confirmed the outcome.
fn receive(connection: &Connection, pending: &Pending) -> bool {
    let mut reader = connection.reader();
    while let Ok(frame) = connection.receive(&mut reader) {
        match frame.kind {
            Kind::Answer | Kind::Failure => {
                let call = lock(pending)
                    .as_mut()
                    .and_then(|pending| pending.remove(&frame.id));
                // A call that was interrupted has no sender, or no receiver any more.
                if let Some(call) = call {
                    let _ = call.send(frame);
                }
            }
            Kind::Finish if connection.is_over() => return true,
            // The member was interrupted while it received the outcome, which it confirms all the same.
            Kind::Interruption if connection.is_over() => {}
            Kind::Interruption => {
                connection.lose_to_interruption();
                return false;
            }
            unexpected => {
                connection.lose_to(unexpected);
                return false;
            }
        }
    }
    false
}

/// Reports the outcome of the command to these members, and waits until each has confirmed it, at most for
/// the patience of the members file.
///
/// The error is that of the first member that did not confirm; the others are informed all the same.
pub fn finish(peers: Vec<Peer>, outcome: &Outcome) -> Result<(), ClusterError> {
    for peer in &peers {
        // A failure shows again while waiting.
        let _ = peer.send_outcome(outcome);
    }
    let patience = peers.first().map(|peer| peer.connection.patience());
    let until = Instant::now() + patience.unwrap_or_default();
    let results: Vec<_> = peers.iter().map(|peer| peer.wait_for_end(until)).collect();
    drop(peers);
    results.into_iter().collect()
}
