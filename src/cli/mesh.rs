//! Connections between all processes of a cluster bank, for commands that run in all of them.
//!
//! ```text
//! process 0    asks the others to connect, and connects to them
//! process n    accepts all others on its address, and connects to all but process 0, which it serves already
//! ```
//!
//! Each process serves the requests of each other, and sends requests to it over a connection of its own.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Scope};

use seedbank::engine::EngineError;
use seedbank::engine::cluster::{CALLER_REQUEST, ProcessServer, RemoteProcess};
use seedbank::engine::error::{ReportedError, ReportedKind, StoreError};
use seedbank::watch::{Interrupted, Watch};
use seedbank_cluster::{Agreement, ClusterError, Failure, Members, Peer, Stop, coordinate, join};

use super::failure::CliError;
use super::progress::Progress;

/// The request to connect to all others.
pub(super) const CONNECT: [u8; 1] = [CALLER_REQUEST];

/// The number of threads that serve the requests of a process other than process 0.
const THREADS: usize = 2;

/// A signal to stop work: at Ctrl-C, at the end of the command, and once process 0 is lost.
#[derive(Clone)]
pub(super) struct StopSignal {
    watch: Progress,
    is_over: Arc<AtomicBool>,
}

impl StopSignal {
    pub(super) fn new(watch: Progress) -> Self {
        Self {
            watch,
            is_over: Arc::default(),
        }
    }

    /// Returns why a process stops serving others; `None` if it goes on.
    pub(super) fn reason(&self) -> Option<Stop> {
        // First, since an interruption ends other work too.
        if self.watch.stopped() {
            return Some(Stop::Interrupted);
        }
        self.is_over.load(Ordering::Acquire).then_some(Stop::Ended)
    }

    /// Ends the work that depends on the signal.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Release);
    }
}

/// Ends the work that depends on a signal when it is dropped, also by a panic.
pub(super) struct EndOnDrop<'a>(pub(super) &'a StopSignal);

impl Drop for EndOnDrop<'_> {
    fn drop(&mut self) {
        self.0.end();
    }
}

impl Watch for StopSignal {
    fn stopped(&self) -> bool {
        self.reason().is_some()
    }
}

/// Converts the error of a connection to another process. An interruption of that process is an interruption here too.
fn connection_error(error: ClusterError) -> StoreError {
    let reported = match error {
        ClusterError::Interrupted => return StoreError::Interrupted(Interrupted),
        ClusterError::Remote { process, failure } => ReportedError {
            process,
            kind: ReportedKind::from_byte(failure.kind),
            message: failure.message,
            hint: Some(failure.hint).filter(|hint| !hint.is_empty()),
        },
        ClusterError::MemberInterrupted { process } => ReportedError {
            process,
            kind: ReportedKind::Interrupted,
            message: Interrupted.to_string(),
            hint: None,
        },
        error => return StoreError::Process(Box::new(error)),
    };
    reported.into()
}

/// A process that this one sends requests to.
pub(super) struct Member {
    pub(super) peer: Arc<Peer>,
    pub(super) stop: StopSignal,
}

impl RemoteProcess for Member {
    fn call(&self, request: &[u8]) -> Result<Vec<u8>, StoreError> {
        let answer = self.peer.call_until(request, &|| self.stop.stopped());
        answer.map_err(connection_error)
    }

    fn notify(&self, request: &[u8]) -> Result<(), StoreError> {
        self.peer.notify(request).map_err(connection_error)
    }

    fn loss(&self) -> Option<StoreError> {
        self.peer.loss().map(connection_error)
    }
}

/// This process and what it shares with the others.
pub(super) struct Mesh<'a> {
    pub(super) members: &'a Members,
    pub(super) process: usize,
    pub(super) agreement: &'a Agreement,
    pub(super) server: &'a Arc<ProcessServer>,
    pub(super) stop: &'a StopSignal,
}

impl<'a> Mesh<'a> {
    /// Connects process 0 with all others, which are its `peers`. Their requests are served in threads of `scope`
    /// until the signal.
    pub(super) fn connect_first<'scope>(
        &'a self,
        scope: &'scope Scope<'scope, 'a>,
        peers: &[Arc<Peer>],
    ) -> Result<(), ClusterError> {
        let (connected, results) = mpsc::channel();
        for peer in peers {
            let peer = Arc::clone(peer);
            let connected = connected.clone();
            spawn(scope, move || {
                let stop = || self.stop.stopped();
                let accepted = peer.call_until(&CONNECT, &stop).map(drop);
                let _ = connected.send(accepted);
            })?;
        }
        self.join_all(scope, &connected)?;
        drop(connected);
        results.into_iter().collect::<Result<(), _>>()?;
        self.set_peers(peers);
        Ok(())
    }

    /// Connects a process other than process 0 with all others.
    pub(super) fn connect<'scope>(
        &'a self,
        scope: &'scope Scope<'scope, 'a>,
    ) -> Result<(), ClusterError> {
        let (connected, results) = mpsc::channel();
        self.join_all(scope, &connected)?;
        drop(connected);
        // The others are not waited for once a connection to one of them has failed.
        let failure = RefCell::new(None);
        let stop = || {
            let failed = results.try_iter().find_map(Result::err);
            let mut failure = failure.borrow_mut();
            *failure = failure.take().or(failed);
            failure.is_some() || self.stop.stopped()
        };
        let accepted = coordinate(self.members, self.process, self.agreement, &stop);
        let peers = match failure.into_inner() {
            Some(failure) => return Err(failure),
            None => accepted?,
        };
        results.into_iter().collect::<Result<(), _>>()?;
        let peers: Vec<Arc<Peer>> = peers.into_iter().map(Arc::new).collect();
        self.set_peers(&peers);
        Ok(())
    }

    /// Connects to all processes but process 0 and this one, and serves them. Sends the result of each connection.
    fn join_all<'scope>(
        &'a self,
        scope: &'scope Scope<'scope, 'a>,
        connected: &Sender<Result<(), ClusterError>>,
    ) -> Result<(), ClusterError> {
        let others = 1..self.members.processes().len();
        for other in others.filter(|other| *other != self.process) {
            let connected = connected.clone();
            spawn(scope, move || self.serve(other, connected))?;
        }
        Ok(())
    }

    /// Connects to a process and serves it. Sends the result of the connection, and drops the sender.
    fn serve(&self, other: usize, connected: Sender<Result<(), ClusterError>>) {
        let stop = || self.stop.stopped();
        let joined = join(self.members, self.process, other, self.agreement, &stop);
        let host = match joined {
            Ok(host) => host,
            Err(error) => {
                let _ = connected.send(Err(error));
                return;
            }
        };
        let _ = connected.send(Ok(()));
        drop(connected);
        let answer = |request: &[u8]| answer(self.server, request);
        // The other process ends with the command, or notices the loss of this one while it waits for it.
        let served = host.serve(&answer, THREADS, &|| self.stop.reason());
        if let Err(error @ ClusterError::Panic { .. }) = served {
            tracing::error!("{error}");
            self.stop.end();
        }
    }

    fn set_peers(&self, peers: &[Arc<Peer>]) {
        let number = self.members.processes().len();
        let mut processes: Vec<Option<Arc<dyn RemoteProcess>>> = vec![None; number];
        for peer in peers {
            let member = Member {
                peer: Arc::clone(peer),
                stop: self.stop.clone(),
            };
            if let Some(process) = processes.get_mut(peer.process()) {
                *process = Some(Arc::new(member));
            }
        }
        let parts = 0..self.server.parts();
        let owners = parts.map(|part| self.members.process_of(part).unwrap_or(0));
        self.server.connect(owners.collect(), processes);
    }
}

/// Converts the error of connecting to the other processes for process 0, which asked for it.
pub(super) fn connect_failure(error: ClusterError) -> Failure {
    let error = CliError::Cluster(error);
    let kind = if error.is_interruption() {
        ReportedKind::Interrupted
    } else {
        ReportedKind::Failed
    };
    Failure {
        kind: kind as u8,
        message: error.text(),
        hint: String::new(),
    }
}

/// Answers a request to this process.
pub(super) fn answer(server: &Arc<ProcessServer>, request: &[u8]) -> Result<Vec<u8>, Failure> {
    let answer = server.answer(request);
    answer.map_err(|error: EngineError| {
        let kind = ReportedKind::from(&error) as u8;
        let error = CliError::from(error);
        Failure {
            kind,
            message: error.text(),
            hint: error.hint().unwrap_or_default(),
        }
    })
}

fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    task: impl FnOnce() + Send + 'scope,
) -> Result<(), ClusterError> {
    let thread = thread::Builder::new().name("process".to_owned());
    let spawned = thread.spawn_scoped(scope, task);
    spawned.map(drop).map_err(ClusterError::Setup)
}
