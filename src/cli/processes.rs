//! The processes of a cluster bank: `--cluster` and `--process`.
//!
//! ```text
//! process 0    connects the others, runs the command, and reports how it ended
//! process 1... serve their parts of the bank until then
//! ```

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use clap::ArgMatches;
use seedbank::engine::EngineError;
use seedbank::engine::cluster::{OtherProcesses, PartServer, RemoteProcess, cluster_parts};
use seedbank::engine::error::StoreError;
use seedbank::engine::maintenance::FORMAT;
use seedbank::watch::Watch;
use seedbank_cluster::{Agreement, ClusterError, Members, Peer, coordinate, finish, join};

use super::failure::CliError;
use super::progress::{self, Progress};
use super::session::{Outcome, Session};

/// Commands that need the files of all parts, or that serve until they are stopped.
const UNSUPPORTED: [&str; 10] = [
    "init", "cluster", "serve", "mcp", "backup", "restore", "repair", "compact", "migrate", "synth",
];

/// The time between two looks at the connections.
const WATCH_INTERVAL: Duration = Duration::from_millis(100);

/// The least and the most threads that serve requests.
const SERVING_THREADS: std::ops::RangeInclusive<usize> = 4..=64;

/// A member of the cluster that serves parts of the bank.
struct Member {
    peer: Arc<Peer>,
    watch: Progress,
}

impl RemoteProcess for Member {
    fn call(&self, request: &[u8]) -> Result<Vec<u8>, StoreError> {
        let answer = self.peer.call_until(request, &|| self.watch.stopped());
        answer.map_err(|e| match e {
            ClusterError::Interrupted => StoreError::Interrupted(seedbank::watch::Interrupted),
            e => StoreError::Process(Box::new(e)),
        })
    }
}

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
    if process > 0 {
        return serve(&members, process, (name, &bank), &watch);
    }
    let parts = cluster_parts(&bank)
        .map_err(EngineError::from)?
        .unwrap_or(1);
    check_parts(&members, parts)?;
    let agreement = agreement(name, parts);
    let peers = coordinate(&members, &agreement, &|| watch.stopped())?;
    let peers: Vec<Arc<Peer>> = peers.into_iter().map(Arc::new).collect();
    let mut processes = OtherProcesses::default();
    for peer in &peers {
        let member: Arc<dyn RemoteProcess> = Arc::new(Member {
            peer: Arc::clone(peer),
            watch: session.watch()?,
        });
        for bank in members.processes()[peer.process()].banks() {
            processes.add(*bank, Arc::clone(&member));
        }
    }
    session.set_processes(processes);
    let (result, lost) = watched(&peers, || command(session));
    session.set_processes(OtherProcesses::default());
    let result = match (result, lost) {
        (Err(e), Some(lost)) if e.is_interruption() => Err(CliError::Cluster(lost)),
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
    finished?;
    Ok(outcome)
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
        let result = command();
        is_over.store(true, Ordering::Release);
        if let Ok(monitor) = monitor {
            monitor.thread().unpark();
            let _ = monitor.join();
        }
        let is_cause = is_stopped.load(Ordering::Acquire);
        (result, is_cause.then(loss).flatten())
    })
}

/// Serves the parts of this process until process 0 reports how the command ended.
fn serve(
    members: &Members,
    process: usize,
    (name, bank): (&str, &Path),
    watch: &Progress,
) -> Result<Outcome, CliError> {
    let own: BTreeSet<u32> = members.processes()[process]
        .banks()
        .iter()
        .copied()
        .collect();
    let server = PartServer::new(bank, &own).map_err(EngineError::from)?;
    check_parts(members, server.parts())?;
    let agreement = agreement(name, server.parts());
    let host = join(members, process, &agreement, &|| watch.stopped())?;
    let threads = rayon::current_num_threads() * 4;
    let threads = threads.clamp(*SERVING_THREADS.start(), *SERVING_THREADS.end());
    let answer = |request: &[u8]| {
        let answer = server.answer(request, watch).map_err(EngineError::from);
        answer.map_err(|e| CliError::from(e).text())
    };
    match host.serve(&answer, threads, &|| watch.stopped())? {
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
