//! This process among those that have parts of a cluster bank.

use std::collections::BTreeSet;
use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use super::error::{EngineError, Result};
use seedbank_algorithms::watch::Watch;
use seedbank_store::{OtherProcesses, PartServer, RemoteProcess, StoreError};

/// This process: its parts, and its connections to the others.
pub(super) struct Processes {
    /// The number of this process.
    pub(super) number: usize,
    /// Its parts of the bank.
    pub(super) parts: PartServer,
    pub(super) watch: Arc<dyn Watch + Send>,
    others: OnceLock<Others>,
    /// Where entries of other processes go; `None` while none are expected.
    receiver: Mutex<Option<Arc<dyn ReceiveEntries>>>,
}

/// Receives entries that other processes send.
pub(super) trait ReceiveEntries: Send + Sync {
    /// Adds the entries of a request.
    fn receive(&self, entries: &[u8]) -> Result<(), StoreError>;
}

/// The other processes.
struct Others {
    /// The process of each part.
    owners: Vec<usize>,
    /// By number; `None` for this process.
    by_number: Vec<Option<Arc<dyn RemoteProcess>>>,
}

impl Processes {
    pub(super) fn new(
        number: usize,
        bank: &Path,
        own: &BTreeSet<u32>,
        watch: impl Watch + Send + 'static,
    ) -> Result<Self> {
        Ok(Self {
            number,
            parts: PartServer::new(bank, own)?,
            watch: Arc::new(watch),
            others: OnceLock::new(),
            receiver: Mutex::new(None),
        })
    }

    /// Sets where entries of other processes go; `None` to refuse them.
    pub(super) fn set_receiver(&self, receiver: Option<Arc<dyn ReceiveEntries>>) {
        *self.receiver() = receiver;
    }

    /// Receives entries of another process.
    pub(super) fn receive(&self, entries: &[u8]) -> Result<()> {
        let receiver = self.receiver().clone();
        let unexpected = StoreError::Protocol("no entries are expected");
        Ok(receiver.ok_or(unexpected)?.receive(entries)?)
    }

    fn receiver(&self) -> MutexGuard<'_, Option<Arc<dyn ReceiveEntries>>> {
        // It is replaced as a whole.
        self.receiver.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Connects the other processes. Later calls have no effect.
    pub(super) fn connect(
        &self,
        owners: Vec<usize>,
        by_number: Vec<Option<Arc<dyn RemoteProcess>>>,
    ) {
        let _ = self.others.set(Others { owners, by_number });
    }

    fn others(&self) -> Result<&Others> {
        self.others.get().ok_or_else(not_connected)
    }

    /// Whether the other processes are connected.
    pub(super) fn are_connected(&self) -> bool {
        self.others.get().is_some()
    }

    /// Returns the process of each part.
    pub(super) fn owners(&self) -> Result<&[usize]> {
        Ok(&self.others()?.owners)
    }

    /// Returns the other processes by number; `None` for this one.
    pub(super) fn by_number(&self) -> Result<&[Option<Arc<dyn RemoteProcess>>]> {
        Ok(&self.others()?.by_number)
    }

    /// Returns the other processes by part.
    pub(super) fn by_part(&self) -> Result<OtherProcesses> {
        let Others { owners, by_number } = self.others()?;
        let mut others = OtherProcesses::default();
        for (part, owner) in (0..).zip(owners) {
            if let Some(Some(process)) = by_number.get(*owner) {
                others.add(part, Arc::clone(process));
            }
        }
        Ok(others)
    }
}

fn not_connected() -> EngineError {
    StoreError::Protocol("the other processes are not connected").into()
}
