//! The processes of a cluster bank: `--cluster` and `--process`.
//!
//! ```text
//! process 0    connects the others, runs the command, and reports how it ended
//! process n    connects to all but process 0, which it serves already, and serves its parts of the bank until then
//! ```
//!
//! Some commands run in all processes: each serves the requests of each other, and sends requests to it over a
//! connection of its own.

use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{self, Sender};
use std::thread::{self, Scope};
use std::time::{Duration, Instant};

use clap::ArgMatches;

use super::failure::CliError;
use super::progress::{self, Progress};
use super::session::{Outcome, Session};

use seedbank::engine::EngineError;
use seedbank::engine::cluster::{
    CALLER_REQUEST, OtherProcesses, ProcessServer, RemoteProcess, cluster_parts,
};
use seedbank::engine::error::{ReportedError, ReportedKind, StoreError};
use seedbank::engine::maintenance::Format;
use seedbank::watch::{Interrupted, Watch};
use seedbank_cluster::{
    Agreement, ClusterError, Failure, Members, Peer, Stop, coordinate, finish, join,
};

/// Commands that do not use a bank of several processes, or that serve until they are stopped.
const UNSUPPORTED: [&str; 5] = ["init", "cluster", "serve", "mcp", "synth"];

/// Commands that need the files of all parts.
const NEEDS_ALL_PARTS: [&str; 4] = ["backup", "restore", "repair", "compact"];

/// Commands that run in all processes, each with its own parts. Others run in process 0.
const DISTRIBUTED: [&str; 3] = ["ingest", "refresh", "export"];

/// The time between two looks at the connections.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// The longest time in which an interrupted process says that it was, and the time between two looks at its connection.
const INTERRUPTION_TIME: Duration = Duration::from_secs(2);
const LOSS_INTERVAL: Duration = Duration::from_millis(5);

/// The least and the most threads that serve requests.
const SERVING_THREADS: std::ops::RangeInclusive<usize> = 4..=64;

/// Runs a command as one of the processes of `members`. `command` runs it in the process that has the number 0.
pub(super) fn run(
    members: &Path,
    process: Option<usize>,
    matches: &ArgMatches,
    session: &mut Session,
    command: impl FnOnce(&Session) -> Result<Outcome, CliError>,
) -> Result<Outcome, CliError> {
    let members = Members::read(members)?;
    let process = members.process_number(process, |name| std::env::var(name).ok())?;
    let (name, bank) = bank_of(matches)?;
    let watch = session.watch()?;
    let own: BTreeSet<u32> = members.processes()[process]
        .banks()
        .iter()
        .copied()
        .collect();
    if process > 0 {
        return serve(&members, process, (name, &bank), &own, watch);
    }
    let found = cluster_parts(&bank).map_err(EngineError::from)?;
    let parts = found.unwrap_or(1);
    check_parts(&members, parts)?;
    let agreement = agreement(name, parts);
    let stop = StopSignal::new(watch);
    let peers = coordinate(&members, 0, &agreement, &|| stop.stopped())?;
    let peers: Vec<Arc<Peer>> = peers.into_iter().map(Arc::new).collect();
    let mut processes = OtherProcesses::default();
    for peer in &peers {
        let member: Arc<dyn RemoteProcess> = Arc::new(Member {
            peer: Arc::clone(peer),
            stop: stop.clone(),
        });
        for bank in members.processes()[peer.process()].banks() {
            processes.add(*bank, Arc::clone(&member));
        }
    }
    session.set_processes(processes);
    let (result, lost) = if DISTRIBUTED.contains(&name) && found.is_some() {
        let server = ProcessServer::new(0, &bank, &own, stop.clone()).map_err(CliError::from);
        let connected = server.map(Arc::new);
        watched(&peers, || {
            let server = connected?;
            let mesh = Mesh {
                members: &members,
                process: 0,
                agreement: &agreement,
                server: &server,
                stop: &stop,
            };
            thread::scope(|scope| {
                let _end = EndOnDrop(&stop);
                let connected = mesh.connect_first(scope, &peers);
                let result = connected.map_err(first_error).and_then(|()| {
                    session.set_server(Some(Arc::clone(&server)));
                    command(session)
                });
                session.set_server(None);
                result
            })
        })
    } else {
        watched(&peers, || command(session))
    };
    session.set_processes(OtherProcesses::default());
    let result = match (result, lost) {
        (Err(e), Some(lost)) if e.is_interruption() => Err(CliError::Cluster(lost)),
        (Err(e), None) if e.is_interruption() && !progress::is_stopped() => {
            Err(interrupted_member(&peers).map_or(e, CliError::Cluster))
        }
        // Another process may have reported that this one was interrupted before the work here ended.
        (Err(e), None) if e.is_interruption() => Err(EngineError::from(Interrupted).into()),
        (result, _) => result,
    };
    let outcome = match &result {
        Ok(_) => seedbank_cluster::Outcome::Succeeded,
        Err(e) => seedbank_cluster::Outcome::Failed(e.text()),
    };
    // Nothing else has a peer once the command has ended.
    let peers = peers.into_iter().filter_map(Arc::into_inner).collect();
    let finished = finish(peers, &outcome);
    let outcome = result?;
    match finished {
        // After the command had ended here.
        Err(ClusterError::MemberInterrupted { .. }) => Ok(outcome),
        finished => finished.map(|()| outcome).map_err(CliError::Cluster),
    }
}

/// Returns the error of the process whose interruption ended the command in this process, which was not interrupted. The
/// error of a request may come first, also from a third process; that the process was interrupted follows at once.
fn interrupted_member(peers: &[Arc<Peer>]) -> Option<ClusterError> {
    let until = Instant::now() + INTERRUPTION_TIME;
    loop {
        let mut losses = peers.iter().filter_map(|peer| peer.loss());
        let is_named = |loss: &ClusterError| matches!(loss, ClusterError::MemberInterrupted { .. });
        let found = losses.find(is_named);
        if found.is_some() || Instant::now() >= until {
            return found;
        }
        thread::sleep(LOSS_INTERVAL);
    }
}

/// Sets a flag when it is dropped.
struct SetOnDrop<'a>(&'a AtomicBool);

impl Drop for SetOnDrop<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::Release);
    }
}

/// Runs a command and stops it if the connection to a process is lost, which a long computation would notice late.
/// Returns its result, and the loss if that stopped it.
fn watched<T>(peers: &[Arc<Peer>], command: impl FnOnce() -> T) -> (T, Option<ClusterError>) {
    let is_over = AtomicBool::new(false);
    let loss = || peers.iter().find_map(|peer| peer.loss());
    let is_stopped = AtomicBool::new(false);
    let monitor = || {
        while !is_over.load(Ordering::Acquire) {
            if loss().is_some() {
                // A signal may have ended all processes.
                is_stopped.store(progress::stop(), Ordering::Release);
                return;
            }
            thread::park_timeout(WATCH_INTERVAL);
        }
    };
    thread::scope(|scope| {
        // Without the thread, the next request to the process notices the loss.
        let monitor = thread::Builder::new().spawn_scoped(scope, monitor);
        // The thread ends even if the command panics.
        let over = SetOnDrop(&is_over);
        let result = command();
        drop(over);
        if let Ok(monitor) = monitor {
            monitor.thread().unpark();
            let _ = monitor.join();
        }
        let is_cause = is_stopped.load(Ordering::Acquire);
        (result, is_cause.then(loss).flatten())
    })
}

/// Serves the parts of this process, and takes part in the command, until process 0 reports how the command ended.
fn serve(
    members: &Members,
    process: usize,
    (name, bank): (&str, &Path),
    own: &BTreeSet<u32>,
    watch: Progress,
) -> Result<Outcome, CliError> {
    let stop = StopSignal::new(watch);
    let server = match ProcessServer::new(process, bank, own, stop.clone()) {
        Ok(server) => Arc::new(server),
        Err(error) => return Err(report(error, members, process, name, &stop)),
    };
    check_parts(members, server.parts())?;
    let agreement = agreement(name, server.parts());
    let host = join(members, process, 0, &agreement, &|| stop.stopped())?;
    let threads = rayon::current_num_threads() * 4;
    let threads = threads.clamp(*SERVING_THREADS.start(), *SERVING_THREADS.end());
    let mesh = Mesh {
        members,
        process,
        agreement: &agreement,
        server: &server,
        stop: &stop,
    };
    let ended = thread::scope(|scope| {
        let end = EndOnDrop(&stop);
        let monitor = thread::Builder::new().spawn_scoped(scope, || {
            // A step that is running ends once process 0 is lost.
            while host.loss().is_none() && !stop.stopped() {
                thread::park_timeout(WATCH_INTERVAL);
            }
            stop.end();
        });
        let answer = |request: &[u8]| {
            if request == CONNECT {
                let connected = mesh.connect(scope).map(|()| Vec::new());
                return connected.map_err(connect_failure);
            }
            answer(&server, request)
        };
        let ended = host.serve(&answer, threads, &|| stop.reason());
        drop(end);
        if let Ok(monitor) = monitor {
            monitor.thread().unpark();
        }
        ended
    });
    match ended? {
        seedbank_cluster::Outcome::Succeeded => Ok(Outcome::Done),
        seedbank_cluster::Outcome::Failed(message) => Err(CliError::Coordinator(message)),
    }
}

/// Reports to process 0 why the parts of this process cannot be opened, so that the command ends with that error there too,
/// before the deadline. Returns the error.
fn report(
    error: EngineError,
    members: &Members,
    process: usize,
    name: &str,
    stop: &StopSignal,
) -> CliError {
    let (failure, error) = failure(error);
    // Process 0 compares the file of members with the bank.
    let banks = members
        .processes()
        .iter()
        .map(seedbank_cluster::Process::banks);
    let parts = banks.flatten().max().map_or(0, |last| last + 1);
    if let Ok(host) = join(members, process, 0, &agreement(name, parts), &|| {
        stop.stopped()
    }) {
        // However the command ends there, this error is why it ends here.
        let _ = host.serve(&|_| Err(failure.clone()), 1, &|| stop.reason());
    }
    error
}

/// Returns what all processes must share.
fn agreement(command: &str, parts: u32) -> Agreement {
    Agreement::new([
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("store format", Format::current().to_string()),
        ("command", command.to_owned()),
        ("number of parts", parts.to_string()),
    ])
}

/// Returns the command and its bank; an error if the command does not run over several processes.
fn bank_of(matches: &ArgMatches) -> Result<(&str, PathBuf), CliError> {
    let (name, command) = matches
        .subcommand()
        .ok_or_else(|| unsupported("this command"))?;
    if NEEDS_ALL_PARTS.contains(&name) {
        let what = format!(
            "`{name}` does not support --cluster: it needs all parts of the bank on one machine"
        );
        return Err(CliError::Usage(what));
    }
    if UNSUPPORTED.contains(&name) {
        return Err(unsupported(&format!("`{name}`")));
    }
    let bank = command.try_get_one::<PathBuf>("bank").ok().flatten();
    let bank = bank.ok_or_else(|| unsupported(&format!("`{name}`")))?;
    Ok((name, bank.clone()))
}

fn unsupported(command: &str) -> CliError {
    CliError::Usage(format!("{command} does not support --cluster"))
}

/// Fails unless each part has a process, and each bank of a process is a part.
fn check_parts(members: &Members, parts: u32) -> Result<(), CliError> {
    for part in 0..parts {
        if members.process_of(part).is_none() {
            let what =
                format!("expected a process for each of {parts} parts, found none for part {part}");
            return Err(CliError::Usage(what));
        }
    }
    let listed = members
        .processes()
        .iter()
        .flat_map(seedbank_cluster::Process::banks);
    match listed.copied().find(|bank| *bank >= parts) {
        None => Ok(()),
        Some(bank) => {
            let what =
                format!("expected parts below {parts}, found part {bank} in the file of --cluster");
            Err(CliError::Usage(what))
        }
    }
}

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

/// Converts the error of connecting process 0 with the others. One that could not open its parts ends the command as if
/// process 0 had them.
fn first_error(error: ClusterError) -> CliError {
    let kind = match &error {
        ClusterError::Remote { failure, .. } => ReportedKind::from_byte(failure.kind),
        _ => ReportedKind::Failed,
    };
    match kind {
        ReportedKind::Unavailable | ReportedKind::Damaged => {
            EngineError::from(connection_error(error)).into()
        }
        _ => CliError::Cluster(error),
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
    server.answer(request).map_err(|error| failure(error).0)
}

/// Returns an error as it is reported to another process, and as it ends this one.
fn failure(error: EngineError) -> (Failure, CliError) {
    let kind = ReportedKind::from(&error) as u8;
    let error = CliError::from(error);
    let failure = Failure {
        kind,
        message: error.text(),
        hint: error.hint().unwrap_or_default(),
    };
    (failure, error)
}

fn spawn<'scope>(
    scope: &'scope Scope<'scope, '_>,
    task: impl FnOnce() + Send + 'scope,
) -> Result<(), ClusterError> {
    let thread = thread::Builder::new().name("process".to_owned());
    let spawned = thread.spawn_scoped(scope, task);
    spawned.map(drop).map_err(ClusterError::Setup)
}
