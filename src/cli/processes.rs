//! The processes of a cluster bank: `--cluster` and `--process`.
//!
//! ```text
//! process 0    connects the others, runs the command, and reports how it ended
//! process 1... serve their parts of the bank until then
//! ```
//!
//! Some commands run in all processes, which then also serve each other ([`mesh`](super::mesh)).

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use clap::ArgMatches;
use seedbank::engine::EngineError;
use seedbank::engine::cluster::{OtherProcesses, ProcessServer, RemoteProcess, cluster_parts};
use seedbank::engine::maintenance::FORMAT;
use seedbank::watch::Watch;
use seedbank_cluster::{Agreement, ClusterError, Members, Peer, coordinate, finish, join};

use super::failure::CliError;
use super::mesh::{CONNECT, EndOnDrop, Member, Mesh, StopSignal, answer, connect_failure};
use super::progress::{self, Progress};
use super::session::{Outcome, Session};

/// Commands that do not use a bank of several processes, or that serve until they are stopped.
const UNSUPPORTED: [&str; 5] = ["init", "cluster", "serve", "mcp", "synth"];

/// Commands that need the files of all parts.
const NEEDS_ALL_PARTS: [&str; 5] = ["backup", "restore", "repair", "compact", "migrate"];

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
                let result = connected.map_err(CliError::Cluster).and_then(|()| {
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
    let server = Arc::new(ProcessServer::new(process, bank, own, stop.clone())?);
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

/// Returns what all processes must share.
fn agreement(command: &str, parts: u32) -> Agreement {
    Agreement::new([
        ("version", env!("CARGO_PKG_VERSION").to_owned()),
        ("store format", FORMAT.to_string()),
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
