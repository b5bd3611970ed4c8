//! A connection after the greeting: frames, heartbeats and detection of its loss.

use std::io::{self, BufReader, ErrorKind};
use std::net::{Shutdown, TcpStream};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, TryLockError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use rustix::net::sockopt;

use crate::error::ClusterError;
use crate::frame::{self, Frame, Kind, MAX_PAYLOAD};
use crate::outcome::Outcome;
use crate::wait::lock;

/// The longest time between two heartbeats.
const MAX_HEARTBEAT_INTERVAL: Duration = Duration::from_secs(5);

/// The time between two attempts to lock a connection that another thread is sending to.
const LOCK_INTERVAL: Duration = Duration::from_millis(5);

/// Why a connection is lost.
#[derive(Debug)]
enum Loss {
    /// The other process said that it was interrupted.
    Interruption,
    /// For another reason.
    Other(String),
}

/// A connection to another process. Any thread may send; one thread receives.
///
/// A process sends heartbeats at least every quarter of the patience. If nothing arrives within the
/// patience, the read times out, and the connection is lost: a stopped process and a network partition
/// are detected alike, whatever the threads of this process do.
#[derive(Debug)]
pub(crate) struct Connection {
    /// The number of the other process.
    pub(crate) process: usize,
    address: String,
    patience: Duration,
    stream: TcpStream,
    /// Held while a frame is written.
    sending: Mutex<()>,
    /// The outcome was sent; nothing follows it.
    is_finished: AtomicBool,
    /// Why the connection is lost; the first reason is kept.
    lost: OnceLock<Loss>,
    sent: AtomicU64,
    received: AtomicU64,
}

impl Connection {
    /// Sets up a socket after its greeting.
    pub(crate) fn new(
        stream: TcpStream,
        process: usize,
        address: &str,
        patience: Duration,
    ) -> io::Result<Arc<Self>> {
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(patience))?;
        // A blocked write ends when the reading thread detects the loss and shuts the socket down.
        stream.set_write_timeout(None)?;
        sockopt::set_socket_keepalive(&stream, true)?;
        sockopt::set_tcp_keepidle(&stream, Duration::from_secs(10))?;
        sockopt::set_tcp_keepintvl(&stream, Duration::from_secs(5))?;
        sockopt::set_tcp_keepcnt(&stream, 4)?;
        #[cfg(target_os = "linux")]
        sockopt::set_tcp_user_timeout(
            &stream,
            u32::try_from(patience.as_millis()).unwrap_or(u32::MAX),
        )?;
        Ok(Arc::new(Self {
            process,
            address: address.to_owned(),
            patience,
            stream,
            sending: Mutex::new(()),
            is_finished: AtomicBool::new(false),
            lost: OnceLock::new(),
            sent: AtomicU64::new(0),
            received: AtomicU64::new(0),
        }))
    }

    /// Sends a frame. After the outcome, frames are dropped.
    pub(crate) fn send(&self, kind: Kind, id: u64, body: &[u8]) -> Result<(), ClusterError> {
        self.send_locked(&lock(&self.sending), kind, id, body)
    }

    /// Sends a frame while `sending` is locked.
    fn send_locked(
        &self,
        _sending: &MutexGuard<'_, ()>,
        kind: Kind,
        id: u64,
        body: &[u8],
    ) -> Result<(), ClusterError> {
        if self.is_finished.load(Ordering::Acquire) {
            return Ok(());
        }
        // Set while the lock is held, so that no heartbeat follows the outcome.
        self.is_finished
            .store(kind == Kind::Finish, Ordering::Release);
        if self.lost.get().is_none() {
            match frame::write(&mut &self.stream, kind, id, body) {
                Ok(()) => {
                    let bytes = frame::size(kind, body.len());
                    self.sent.fetch_add(bytes, Ordering::Relaxed);
                    return Ok(());
                }
                Err(error) => self.lose(&self.reason(&error)),
            }
        }
        Err(self.lost_error())
    }

    /// Tells the coordinator that this process was interrupted. Returns whether that succeeded before `until`: the
    /// coordinator may not read, and another thread may be sending.
    pub(crate) fn send_interruption(&self, until: Instant) -> bool {
        let sending = loop {
            match self.sending.try_lock() {
                Ok(sending) => break sending,
                Err(TryLockError::Poisoned(error)) => break PoisonError::into_inner(error),
                Err(TryLockError::WouldBlock) if Instant::now() >= until => return false,
                Err(TryLockError::WouldBlock) => thread::sleep(LOCK_INTERVAL),
            }
        };
        let left = until.saturating_duration_since(Instant::now());
        // A time of zero would be an error.
        let limit = Some(left.max(LOCK_INTERVAL));
        self.stream.set_write_timeout(limit).is_ok()
            && self
                .send_locked(&sending, Kind::Interruption, 0, &[])
                .is_ok()
    }

    /// Sends the outcome of the command, the last frame.
    pub(crate) fn send_outcome(&self, outcome: &Outcome) -> Result<(), ClusterError> {
        self.send(Kind::Finish, 0, &outcome.encode())
    }

    /// A reader for [`receive`](Self::receive).
    pub(crate) fn reader(&self) -> BufReader<&TcpStream> {
        BufReader::with_capacity(1 << 16, &self.stream)
    }

    /// Receives the next frame that is no heartbeat. Any error is a loss of the connection.
    pub(crate) fn receive(
        &self,
        reader: &mut BufReader<&TcpStream>,
    ) -> Result<Frame, ClusterError> {
        loop {
            match frame::read(reader, MAX_PAYLOAD) {
                Ok(frame) => {
                    self.received.fetch_add(frame.size(), Ordering::Relaxed);
                    if frame.kind != Kind::Heartbeat {
                        return Ok(frame);
                    }
                }
                Err(error) => {
                    self.lose(&self.reason(&error));
                    return Err(self.lost_error());
                }
            }
        }
    }

    /// Formats why a socket failed.
    fn reason(&self, error: &io::Error) -> String {
        match error.kind() {
            ErrorKind::WouldBlock | ErrorKind::TimedOut => {
                format!("it sent nothing for {} s", self.patience.as_secs())
            }
            ErrorKind::UnexpectedEof
            | ErrorKind::BrokenPipe
            | ErrorKind::ConnectionReset
            | ErrorKind::ConnectionAborted => "it closed the connection".to_owned(),
            _ => error.to_string(),
        }
    }

    /// Ends the connection. Threads that read from it or write to it return at once.
    pub(crate) fn lose(&self, why: &str) {
        self.lose_by(Loss::Other(why.to_owned()));
    }

    /// Ends the connection because the other process was interrupted.
    pub(crate) fn lose_to_interruption(&self) {
        self.lose_by(Loss::Interruption);
    }

    fn lose_by(&self, loss: Loss) {
        self.lost.get_or_init(|| loss);
        // An error says that the socket is closed already.
        let _ = self.stream.shutdown(Shutdown::Both);
    }

    /// Ends the connection because of a frame that the other process must not send.
    pub(crate) fn lose_to(&self, unexpected: Kind) {
        self.lose(&format!(
            "it sent an unexpected frame of kind {unexpected:?}"
        ));
    }

    /// Returns whether the connection is lost.
    pub(crate) fn is_lost(&self) -> bool {
        self.lost.get().is_some()
    }

    /// Returns whether the connection is lost or the outcome was sent.
    pub(crate) fn is_over(&self) -> bool {
        self.is_lost() || self.is_finished.load(Ordering::Acquire)
    }

    /// The error of a connection that is over. `None` means that it is not.
    pub(crate) fn loss(&self) -> Option<ClusterError> {
        self.is_over().then(|| self.lost_error())
    }

    /// The error of a lost connection.
    pub(crate) fn lost_error(&self) -> ClusterError {
        match self.lost.get() {
            Some(Loss::Interruption) => ClusterError::MemberInterrupted {
                process: self.process,
            },
            Some(Loss::Other(why)) => self.lost_because(why),
            None => self.lost_because("the command is over"),
        }
    }

    pub(crate) fn lost_because(&self, why: &str) -> ClusterError {
        ClusterError::Lost {
            process: self.process,
            address: self.address.clone(),
            why: why.to_owned(),
        }
    }

    pub(crate) const fn patience(&self) -> Duration {
        self.patience
    }

    pub(crate) fn sent_bytes(&self) -> u64 {
        self.sent.load(Ordering::Relaxed)
    }

    pub(crate) fn received_bytes(&self) -> u64 {
        self.received.load(Ordering::Relaxed)
    }
}

/// The thread that sends heartbeats. Dropping it ends the connection.
#[derive(Debug)]
pub(crate) struct Heartbeat {
    connection: Arc<Connection>,
    thread: Option<JoinHandle<()>>,
}

impl Heartbeat {
    pub(crate) fn start(connection: &Arc<Connection>) -> io::Result<Self> {
        let sender = Arc::clone(connection);
        let interval = (connection.patience / 4).min(MAX_HEARTBEAT_INTERVAL);
        let thread = thread::Builder::new()
            .name("heartbeat".to_owned())
            .spawn(move || {
                while !sender.is_over() && sender.send(Kind::Heartbeat, 0, &[]).is_ok() {
                    thread::park_timeout(interval);
                }
            })?;
        Ok(Self {
            connection: Arc::clone(connection),
            thread: Some(thread),
        })
    }

    /// Ends the connection and the thread.
    pub(crate) fn end(&mut self) {
        self.connection.lose("this process closed the connection");
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            // The thread does not panic.
            let _ = thread.join();
        }
    }
}

impl Drop for Heartbeat {
    fn drop(&mut self) {
        self.end();
    }
}
