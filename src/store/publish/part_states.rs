//! The published states of the parts of a cluster bank, open for reading in this process and in others.

use std::collections::BTreeMap;
use std::ops::Deref;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::acknowledged::Acknowledged;
use super::part_files::{damaged, ensure_part, ensure_same_state, in_part, part_folder};
use super::published::{Pointer, is_there, lock_state, state_folder};
use crate::disk::Lock;
use crate::error::{IfUndamaged, StoreError};
use crate::tables::parts::{
    Fields, Message, Operation, PartDatabase, RemoteDatabase, RemoteProcess,
};
use crate::tables::records::lineage::StateId;
use crate::tables::shards::Parts;
use crate::tables::store::Store;

/// A published state of a part of this process, open for reading.
pub(super) struct OpenState {
    pub(super) store: Store,
    /// Prevents the removal of the state.
    pub(super) lock: Lock,
    /// The last epoch that the part has published or acknowledged.
    pub(super) last_epoch: u64,
}

/// Opens a published state of a part of this process; `None` if it was removed meanwhile.
pub(super) fn open_state(
    bank: &Path,
    part: u32,
    parts: Parts,
    epoch: u64,
    expected: StateId,
) -> Result<Option<OpenState>, StoreError> {
    ensure_part(bank, part, parts)?;
    let folder = part_folder(bank, part);
    let Some(lock) = lock_state(&folder, epoch)? else {
        return Ok(None);
    };
    if !is_there(&state_folder(&folder, epoch))? {
        return Ok(None);
    }
    let pointer = Pointer::read(&folder).map_err(in_part(part))?;
    let store = if pointer.epoch == epoch {
        pointer.open(&folder).map_err(in_part(part))?
    } else {
        // The state before the current one, which a commit is about to replace.
        Store::read(&state_folder(&folder, epoch))?
    };
    ensure_same_state(part, store.state_id()?, expected)?;
    let acknowledged = Acknowledged::read(&folder).if_undamaged()?.flatten();
    let acknowledged = acknowledged.filter(|state| state.id.bank == expected.bank);
    let acknowledged = acknowledged.map_or(0, |state| state.epoch);
    Ok(Some(OpenState {
        store,
        lock,
        last_epoch: pointer.epoch.max(acknowledged),
    }))
}

/// Opens a published state of a part of another process; `None` if it was removed meanwhile. Also returns the last epoch
/// that the part has published or acknowledged.
pub(super) fn open_remote_state(
    process: &Arc<dyn RemoteProcess>,
    part: u32,
    epoch: u64,
    expected: StateId,
) -> Result<Option<(PartDatabase, u64)>, StoreError> {
    let request = Message::request(Operation::OpenState).number(part.into());
    let request = request.number(epoch).bytes(&crate::pack(&expected)?);
    let answer = process.call(&request.into_bytes())?;
    let mut fields = Fields(&answer);
    if fields.is_empty() {
        return Ok(None);
    }
    let database = RemoteDatabase::new(Arc::clone(process), fields.number()?);
    let database = PartDatabase::Remote(Arc::new(database));
    Ok(Some((database, fields.number()?)))
}

/// A part that has a later state than the one that readers open.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LaterPart {
    part: u32,
    epoch: u64,
}

impl LaterPart {
    /// Creates the error of a first part that has only the state with this epoch, although no commit is in progress.
    pub(crate) fn damage(self, first: u64) -> StoreError {
        let Self { part, epoch } = self;
        damaged(format!(
            "part 0 has state {first}, and part {part} has acknowledged the later state {epoch}; one of them comes from \
             another copy"
        ))
    }
}

/// The published states of the parts after the first.
pub(crate) struct PartStates {
    pub(crate) databases: Vec<PartDatabase>,
    /// Prevent the removal of the states of this process.
    pub(crate) locks: Vec<Lock>,
    /// The first part with a later state; `None` if there is none.
    pub(crate) later: Option<LaterPart>,
}

impl PartStates {
    /// Opens the state that `first`, the store of the first part, has; the error within is a part that lacks it, as when
    /// the first part has a later one by now.
    pub(crate) fn open(
        bank: &Path,
        parts: Parts,
        first: &Store,
        processes: &OtherProcesses,
    ) -> Result<Result<Self, u32>, StoreError> {
        let mut found = Self {
            databases: Vec::new(),
            locks: Vec::new(),
            later: None,
        };
        if !parts.is_cluster() {
            return Ok(Ok(found));
        }
        let (epoch, state) = (first.counters()?.epoch, first.state_id()?);
        let open = |part: u32| match processes.of_part(part) {
            None => {
                let opened = open_state(bank, part, parts, epoch, state)?;
                Ok(opened.map(|open| {
                    let database = PartDatabase::Local(open.store.rocks);
                    (database, Some(open.lock), open.last_epoch)
                }))
            }
            Some(process) => {
                let opened = open_remote_state(process, part, epoch, state)?;
                Ok(opened.map(|(database, last_epoch)| (database, None, last_epoch)))
            }
        };
        let opened: Vec<Result<_, StoreError>> =
            (1..parts.count()).into_par_iter().map(open).collect();
        for (part, opened) in (1..).zip(opened) {
            let Some((database, lock, last_epoch)) = opened? else {
                return Ok(Err(part));
            };
            let later = LaterPart {
                part,
                epoch: last_epoch,
            };
            found.later = found.later.or((last_epoch > epoch).then_some(later));
            found.databases.push(database);
            found.locks.extend(lock);
        }
        Ok(Ok(found))
    }
}

/// A published state of a cluster bank.
#[derive(Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PublishedState {
    pub(super) epoch: u64,
    pub(super) id: StateId,
}

impl PublishedState {
    /// Returns the state that a store has open.
    pub fn of_store(store: &Store) -> Result<Self, StoreError> {
        Ok(Self {
            epoch: store.counters()?.epoch,
            id: store.state_id()?,
        })
    }
}

/// The published state of all parts of a cluster bank.
pub struct PublishedParts {
    store: Store,
    /// Prevent the removal of the states of this process.
    _locks: Vec<Lock>,
}

impl PublishedParts {
    pub(super) const fn new(store: Store, locks: Vec<Lock>) -> Self {
        Self {
            store,
            _locks: locks,
        }
    }
}

impl Deref for PublishedParts {
    type Target = Store;

    fn deref(&self) -> &Store {
        &self.store
    }
}

/// The processes that have parts of a cluster bank which this process does not have.
#[derive(Clone, Default)]
pub struct OtherProcesses {
    by_part: BTreeMap<u32, Arc<dyn RemoteProcess>>,
}

impl OtherProcesses {
    /// Adds the process of a part.
    pub fn add(&mut self, part: u32, process: Arc<dyn RemoteProcess>) {
        self.by_part.insert(part, process);
    }

    /// Returns the process of a part; `None` if it is this one.
    #[must_use]
    pub fn of_part(&self, part: u32) -> Option<&Arc<dyn RemoteProcess>> {
        self.by_part.get(&part)
    }

    /// Returns the process of each of these parts: 0 for this one, and for the others the numbers in the order of their first
    /// parts.
    #[must_use]
    pub fn owners(&self, parts: u32) -> Vec<usize> {
        let mut others: Vec<&Arc<dyn RemoteProcess>> = Vec::new();
        let owner = |part: u32| {
            let process = self.of_part(part)?;
            let known = others.iter().position(|of| Arc::ptr_eq(of, process));
            let place = known.unwrap_or_else(|| {
                others.push(process);
                others.len() - 1
            });
            Some(place + 1)
        };
        (0..parts)
            .map(owner)
            .map(Option::unwrap_or_default)
            .collect()
    }

    /// Returns whether other processes have parts.
    #[must_use]
    pub fn any(&self) -> bool {
        !self.by_part.is_empty()
    }
}
