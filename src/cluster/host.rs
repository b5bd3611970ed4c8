//! A coordinator as a member sees it.

use std::any::Any;
use std::io;
use std::net::TcpStream;
use std::panic::{self, AssertUnwindSafe};
use std::sync::mpsc::{self, Receiver, Sender};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use crate::connection::{Connection, Heartbeat};
use crate::error::ClusterError;
use crate::failure::Failure;
use crate::frame::{Frame, Kind, MAX_PAYLOAD};
use crate::members::Process;
use crate::outcome::Outcome;
use crate::wait::{self, lock};

/// Computes the answer to a request. The error is reported to the coordinator. Requests without an answer are handled one
/// after the other by the thread that receives, so they must not take long.
pub type Handler<'a> = dyn Fn(&[u8]) -> Result<Vec<u8>, Failure> + Sync + 'a;

/// The longest time in which an interrupted member tells the coordinator so.
const INTERRUPTION_TIME: Duration = Duration::from_secs(1);

/// Why a member stops before it knows the outcome of the command.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Stop {
    /// It was interrupted. The coordinator receives a message about it and reports [`ClusterError::MemberInterrupted`].
    Interrupted,
    /// For another reason, such as the end of the command. The coordinator sees that the connection is closed.
    Ended,
}

/// The connection of a member to a coordinator. Dropping it ends the connection, which the coordinator
/// reports as a loss of the member.
#[derive(Debug)]
pub struct Host {
    connection: Arc<Connection>,
    /// Ends the connection when it is dropped.
    _heartbeat: Heartbeat,
}

impl Host {
    pub(crate) fn new(
        stream: TcpStream,
        number: usize,
        process: &Process,
        patience: Duration,
    ) -> io::Result<Self> {
        let connection = Connection::new(stream, number, process.address(), patience)?;
        Ok(Self {
            _heartbeat: Heartbeat::start(&connection)?,
            connection,
        })
    }

    /// Serves requests with `threads` threads (at least one) until the coordinator reports the outcome of
    /// the command. The connection is over when this returns.
    ///
    /// Fails if the coordinator is lost, if a handler panics, and soon after `stop` returns a reason. Returns
    /// once the handlers that are running have returned.
    pub fn serve(
        &self,
        handler: &Handler<'_>,
        threads: usize,
        stop: &dyn Fn() -> Option<Stop>,
    ) -> Result<Outcome, ClusterError> {
        let (requested, requests) = mpsc::channel();
        let requests = Mutex::new(requests);
        let (ended, end) = mpsc::channel();
        let result = thread::scope(|scope| {
            let result = self.start(scope, handler, threads, requested, &requests, ended);
            let result = result.map_err(ClusterError::Setup).and_then(|()| {
                // A message comes in any case: the receiving thread sends one before it ends.
                let ended = wait::receive(&end, &|| stop().is_some());
                match ended {
                    Err(_) if stop() == Some(Stop::Interrupted) => self.report_interruption(&end),
                    ended => ended?.unwrap_or(Err(ClusterError::Interrupted)),
                }
            });
            // Ends the threads of the scope. The confirmation of an outcome was sent before.
            self.connection.lose("this process closed the connection");
            result
        });
        // A panic precedes its consequences, such as a coordinator that ends because of it.
        let is_panic = |result: &_| matches!(result, Err(ClusterError::Panic { .. }));
        end.try_iter().find(is_panic).unwrap_or(result)
    }

    /// Tells the coordinator that this process was interrupted, and waits until it has closed the connection: closing
    /// it here could discard the message. Returns how the command ended if that was known before.
    fn report_interruption(
        &self,
        end: &Receiver<Result<Outcome, ClusterError>>,
    ) -> Result<Outcome, ClusterError> {
        let until = Instant::now() + INTERRUPTION_TIME;
        if !self.connection.send_interruption(until) {
            return Err(ClusterError::Interrupted);
        }
        let left = until.saturating_duration_since(Instant::now());
        match end.recv_timeout(left) {
            Ok(ended @ (Ok(_) | Err(ClusterError::Panic { .. }))) => ended,
            _ => Err(ClusterError::Interrupted),
        }
    }

    /// The number of the coordinator.
    #[must_use]
    pub fn process(&self) -> usize {
        self.connection.process
    }

    /// The error of the connection. `None` means that it is not lost; a loss is noticed while
    /// [`serve`](Self::serve) runs.
    ///
    /// A handler that runs for long should return once this is an error: its answer cannot be sent any more.
    #[must_use]
    pub fn loss(&self) -> Option<ClusterError> {
        self.connection
            .is_lost()
            .then(|| self.connection.lost_error())
    }

    /// Starts the threads of `serve`.
    fn start<'scope>(
        &'scope self,
        scope: &'scope thread::Scope<'scope, '_>,
        handler: &'scope Handler<'_>,
        threads: usize,
        requested: Sender<Frame>,
        requests: &'scope Mutex<Receiver<Frame>>,
        ended: Sender<Result<Outcome, ClusterError>>,
    ) -> io::Result<()> {
        for _ in 0..threads.max(1) {
            let ended = ended.clone();
            let name = "handler".to_owned();
            thread::Builder::new()
                .name(name)
                .spawn_scoped(scope, move || {
                    if let Err(error) = self.work(handler, requests) {
                        // `serve` has ended for another reason if nobody receives this.
                        let _ = ended.send(Err(error));
                    }
                })?;
        }
        let name = format!("process {}", self.process());
        thread::Builder::new()
            .name(name)
            .spawn_scoped(scope, move || {
                let _ = ended.send(self.receive(handler, &requested));
            })?;
        Ok(())
    }

    /// Queues requests until the connection ends. The queue has no limit of its own: the coordinator has as
    /// many requests in flight as it has threads that call.
    fn receive(
        &self,
        handler: &Handler<'_>,
        requested: &Sender<Frame>,
    ) -> Result<Outcome, ClusterError> {
        let mut reader = self.connection.reader();
        loop {
            let frame = self.connection.receive(&mut reader)?;
            match frame.kind {
                // `serve` keeps the receiver, so sending does not fail.
                Kind::Request => drop(requested.send(frame)),
                Kind::Notice => drop(handle(handler, &frame.body)?),
                Kind::Finish => {
                    if let Some(outcome) = Outcome::decode(&frame.body) {
                        // A coordinator that is gone by now does not change the outcome.
                        let _ = self.connection.send_outcome(&outcome);
                        return Ok(outcome);
                    }
                    self.connection.lose_to(frame.kind);
                }
                unexpected => self.connection.lose_to(unexpected),
            }
        }
    }

    /// Handles requests until the connection is over. The error is a panic of the handler.
    fn work(
        &self,
        handler: &Handler<'_>,
        requests: &Mutex<Receiver<Frame>>,
    ) -> Result<(), ClusterError> {
        loop {
            // Bound to a name, so that the lock is released before the request is handled.
            let request = lock(requests).recv();
            let Ok(Frame { id, body, .. }) = request else {
                return Ok(());
            };
            if self.connection.is_over() {
                return Ok(());
            }
            // The handler is not called again after a panic.
            let (answer, panic) = match handle(handler, &body) {
                Ok(answer) => (answer, None),
                Err(error) => (Err(error.to_string().into()), Some(error)),
            };
            let answer = answer.and_then(|answer| {
                (answer.len() <= MAX_PAYLOAD)
                    .then_some(answer)
                    .ok_or_else(too_large)
            });
            // A lost connection is reported by the thread that receives.
            let _ = match answer {
                Ok(answer) => self.connection.send(Kind::Answer, id, &answer),
                Err(failure) => self.connection.send(Kind::Failure, id, &failure.encode()),
            };
            if let Some(error) = panic {
                return Err(error);
            }
        }
    }
}

/// Handles a request. The error is a panic of the handler.
fn handle(handler: &Handler<'_>, request: &[u8]) -> Result<Result<Vec<u8>, Failure>, ClusterError> {
    let result = panic::catch_unwind(AssertUnwindSafe(|| handler(request)));
    result.map_err(|panic| ClusterError::Panic {
        message: panic_message(&*panic),
    })
}

fn too_large() -> Failure {
    format!("expected an answer of at most {MAX_PAYLOAD} bytes, found more").into()
}

/// The text of a panic.
fn panic_message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}
