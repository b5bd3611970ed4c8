//! Creates the parts of a cluster bank, and opens them for writing.

use std::fs;
use std::path::Path;

use rayon::prelude::*;

use super::other_processes::OtherProcesses;
use super::part_files::{
    Interrupted, PartStatus, discard_prepared, ensure_same_state, interrupted, part_folder,
    parts_of,
};
use super::part_writer::{LockedPart, open_part};
use crate::disk::folder::{BankKind, PARTS, marker_format, sync_folder};
use crate::disk::lock::Lock;
use crate::error::StoreError;
use crate::format::FORMAT;
use crate::publish::other_part::OtherPart;
use crate::publish::writer::{Opening, Writer, writer_lock};
use crate::rocks::options::AutoCompaction;
use crate::tables::shards::Parts;
use seedbank_algorithms::watch::{Unwatched, Watch};

impl Writer {
    /// Opens a bank for writing and recovers from a killed process.
    ///
    /// If another writer is at work, this fails with [`StoreError::Busy`], or with `wait` it waits.
    pub fn open(path: &Path, wait: bool, watch: &dyn Watch) -> Result<Self, StoreError> {
        Self::open_with(path, &OtherProcesses::default(), wait, watch)
    }

    /// Opens a bank like [`Writer::open`]; other processes have parts of it.
    pub fn open_with(
        path: &Path,
        processes: &OtherProcesses,
        wait: bool,
        watch: &dyn Watch,
    ) -> Result<Self, StoreError> {
        let format = marker_format(path)?;
        let lock = writer_lock(path, wait, watch)?;
        if let Some(parts) = parts_of(path)? {
            return open_writer(path, (lock, format), parts, processes, wait, watch);
        }
        let opening = Opening::single(format, AutoCompaction::Enabled);
        Self::open_locked(path, lock, opening, watch)
    }
}

/// Opens a cluster bank for writing and completes or undoes an interrupted commit; the caller holds the lock of
/// the first part.
fn open_writer(
    bank: &Path,
    lock: (Lock, u32),
    parts: Parts,
    processes: &OtherProcesses,
    wait: bool,
    watch: &dyn Watch,
) -> Result<Writer, StoreError> {
    if lock.1 != FORMAT {
        return Err(StoreError::other_format(bank, lock.1));
    }
    let mut all = vec![PartStatus::read(bank)?];
    let mut locked = Vec::new();
    for part in 1..parts.count() {
        let (taken, status) =
            LockedPart::take(bank, part, parts, processes.of_part(part), wait, watch)?;
        locked.push(taken);
        all.push(status);
    }
    let decided = match interrupted(&all)? {
        Interrupted::None => None,
        Interrupted::Decided(epoch) => {
            tracing::info!("finishing an interrupted commit");
            Some(epoch)
        }
        Interrupted::Undecided => {
            discard_prepared(bank)?;
            locked.iter().try_for_each(LockedPart::discard)?;
            None
        }
    };
    let others: Vec<Result<Box<dyn OtherPart>, StoreError>> = locked
        .into_par_iter()
        .map(|part| Ok(Box::new(part.open(parts, decided, watch)?) as Box<dyn OtherPart>))
        .collect();
    let others = others.into_iter().collect::<Result<Vec<_>, _>>()?;
    // The first part is opened last: it publishes what an interrupted commit left, and readers follow it.
    let mut writer = open_part(bank, 0, parts, lock, decided, watch)?;
    let expected = writer.state_id()?;
    for (part, other) in (1..).zip(&others) {
        ensure_same_state(part, other.state_id()?, expected)?;
    }
    let databases = others.iter().map(|part| part.database());
    writer.store.add_parts(parts, databases.collect());
    writer.store.share_cache();
    writer.others = others;
    Ok(writer)
}

/// Creates the folder of the parts of a cluster bank after the first. `fill` fills the folder of each part.
pub(crate) fn create_parts(
    bank: &Path,
    parts: Parts,
    fill: impl Fn(&Path, BankKind) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let folder = bank.join(PARTS);
    fs::create_dir(&folder).map_err(StoreError::io("make", &folder))?;
    for part in 1..parts.count() {
        let place = part_folder(bank, part);
        fs::create_dir(&place).map_err(StoreError::io("make", &place))?;
        let _lock = writer_lock(&place, false, &Unwatched)?;
        fill(&place, BankKind::Part(part, parts.count()))?;
    }
    sync_folder(&folder).map_err(StoreError::io("write to", &folder))
}
