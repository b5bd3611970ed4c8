//! The states of the parts of a cluster bank, open for reading.

use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;

use super::other_processes::OtherProcesses;
use super::part_files::{ensure_part, ensure_same_state, part_folder};
use crate::disk::folder::{is_folder, open_regular};
use crate::disk::lock::Lock;
use crate::error::StoreError;
use crate::publish::acknowledged::Acknowledged;
use crate::publish::live_state::{compare_live, read_live};
use crate::publish::published::{Pointer, state_folder, state_lock};
use crate::tables::parts::message::{Fields, Message, Operation};
use crate::tables::parts::part_database::PartDatabase;
use crate::tables::parts::remote_database::{RemoteDatabase, RemoteProcess};
use crate::tables::records::lineage::StateId;
use crate::tables::shards::Parts;
use crate::tables::store::Store;

/// Opens a published state of a part of this process; `None` if it was removed meanwhile.
pub(super) fn open_state(
    bank: &Path,
    part: u32,
    parts: Parts,
    epoch: u64,
    expected: StateId,
) -> Result<Option<(Store, Lock)>, StoreError> {
    ensure_part(bank, part, parts)?;
    let folder = part_folder(bank, part);
    let Ok(lock) = open_regular(&state_lock(&folder, epoch)).and_then(Lock::shared) else {
        return Ok(None);
    };
    if !is_folder(&state_folder(&folder, epoch)) {
        return Ok(None);
    }
    let pointer = Pointer::read(&folder)?;
    let store = if pointer.epoch == epoch {
        pointer.open(&folder)?
    } else {
        // The state before the current one, which a commit is about to replace.
        Store::read(&state_folder(&folder, epoch))?
    };
    ensure_same_state(part, store.state_id()?, expected)?;
    Ok(Some((store, lock)))
}

/// Opens a published state of a part of another process; `None` if it was removed meanwhile.
pub(super) fn open_remote_state(
    process: &Arc<dyn RemoteProcess>,
    part: u32,
    epoch: u64,
    expected: StateId,
) -> Result<Option<PartDatabase>, StoreError> {
    let request = Message::request(Operation::OpenState).number(part.into());
    let request = request.number(epoch).bytes(&crate::pack(&expected)?);
    let answer = process.call(&request.into_bytes())?;
    let mut fields = Fields(&answer);
    if fields.is_empty() {
        return Ok(None);
    }
    let database = RemoteDatabase::new(Arc::clone(process), fields.number()?);
    Ok(Some(PartDatabase::Remote(Arc::new(database))))
}

/// The published states of the parts of a cluster bank after the first.
pub(crate) struct PartStates {
    pub(crate) databases: Vec<PartDatabase>,
    /// Prevent the removal of the states of this process.
    pub(crate) locks: Vec<Lock>,
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
        let (epoch, state) = (first.counters()?.epoch, first.state_id()?);
        let open = |part: u32| match processes.of_part(part) {
            None => {
                let opened = open_state(bank, part, parts, epoch, state)?;
                Ok(opened.map(|(store, lock)| (PartDatabase::Local(store.rocks), Some(lock))))
            }
            Some(process) => {
                let opened = open_remote_state(process, part, epoch, state)?;
                Ok(opened.map(|database| (database, None)))
            }
        };
        let opened: Vec<Result<_, StoreError>> =
            (1..parts.count()).into_par_iter().map(open).collect();
        let mut found = Self {
            databases: Vec::new(),
            locks: Vec::new(),
        };
        for (part, opened) in (1..).zip(opened) {
            let Some((database, lock)) = opened? else {
                return Ok(Err(part));
            };
            found.databases.push(database);
            found.locks.extend(lock);
        }
        Ok(Ok(found))
    }
}

/// Opens the live databases of all parts, to which nobody writes, read-only; fails unless all have the same state,
/// the acknowledged one or a later one.
pub(crate) fn read_live_parts(bank: &Path, parts: Parts) -> Result<Store, StoreError> {
    let open = |part: u32| {
        let folder = part_folder(bank, part);
        let acknowledged = Acknowledged::read(&folder)?;
        compare_live(&folder, acknowledged.as_ref())?;
        read_live(&folder, acknowledged.as_ref())
    };
    let mut first = open(0)?;
    let expected = first.state_id()?;
    let mut databases = Vec::new();
    for part in 1..parts.count() {
        let store = open(part)?;
        ensure_same_state(part, store.state_id()?, expected)?;
        databases.push(PartDatabase::Local(store.rocks));
    }
    first.add_parts(parts, databases);
    Ok(first)
}
