//! The stores of several processes that have parts of a cluster bank, for unit tests of this folder.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::Arc;

use seedbank_algorithms::communicator::{Communicator, of_threads};
use seedbank_algorithms::watch::Unwatched;
use seedbank_store::{
    OtherProcesses, PartServer, PublishedParts, PublishedState, Reader, RemoteProcess, StoreError,
};

/// The number of parts of the bank.
pub(super) const PARTS: u32 = 4;

/// Returns a folder for banks, in memory if the system has such a place.
pub(super) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

/// A process that is called without a network.
struct Called(Arc<PartServer>);

impl RemoteProcess for Called {
    fn call(&self, request: &[u8]) -> Result<Vec<u8>, StoreError> {
        self.0.answer(request, &Unwatched)
    }
}

/// Returns the process of each part.
pub(super) fn owners(processes: usize) -> Vec<usize> {
    let parts = 0..PARTS as usize;
    parts
        .map(|part| part * processes / PARTS as usize)
        .collect()
}

/// Opens the published state in each of several processes.
pub(super) fn open(bank: &Path, processes: usize) -> Vec<PublishedParts> {
    let owners = owners(processes);
    let servers: Vec<Arc<PartServer>> = (0..processes)
        .map(|process| {
            let parts = (0..PARTS).zip(&owners);
            let own: BTreeSet<u32> = parts
                .filter(|(_, owner)| **owner == process)
                .map(|(part, _)| part)
                .collect();
            Arc::new(PartServer::new(bank, &own).unwrap())
        })
        .collect();
    let state = PublishedState::of_store(&Reader::open(bank).unwrap()).unwrap();
    let open = |(process, server): (usize, &Arc<PartServer>)| {
        let mut others = OtherProcesses::default();
        for (part, &owner) in (0..).zip(&owners).filter(|(_, owner)| **owner != process) {
            others.add(part, Arc::new(Called(Arc::clone(&servers[owner]))));
        }
        server.open_published(state, &others).unwrap()
    };
    servers.iter().enumerate().map(open).collect()
}

/// Calls `run` in each of several processes with its communicator and its store. Returns the results by process.
pub(super) fn in_processes<T: Send>(
    bank: &Path,
    processes: usize,
    run: impl Fn(Arc<dyn Communicator>, &PublishedParts) -> T + Sync,
) -> Vec<T> {
    let (stores, run) = (open(bank, processes), &run);
    std::thread::scope(|scope| {
        let processes = of_threads(processes).into_iter().zip(&stores);
        let start = |(communicator, store)| scope.spawn(move || run(communicator, store));
        let threads: Vec<_> = processes.map(start).collect();
        let threads = threads.into_iter();
        threads.map(|thread| thread.join().unwrap()).collect()
    })
}
