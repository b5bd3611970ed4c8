//! Atomic creation of a bank.
//!
//! A folder that does not exist is created under a temporary name and renamed. An existing empty folder may
//! be the current folder, a symbolic link or a mount, which cannot be replaced: it is filled in place, the
//! marker last. The next process removes what a killed one left; it holds the lock of the folder meanwhile.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::acknowledged::Acknowledged;
use super::marker::{BankKind, begin_marker, ensure_bank, has_begun_marker, write_marker};
use super::part_files::part_folder;
use super::published::{Pointer, publish, state_folder, state_lock};
use super::writer::{acknowledge, create_parts, write_meta, writer_lock};
use crate::disk::{
    FOLDERS, Lock, PARTS, WRITER_LOCK, begin_copy, copied_epoch, end_copy, is_bank_entry,
    is_folder, link_or_copy, list, lock_file, make_folders, mode, names_in, parent_of, probe,
    set_mode, sync_folder,
};
use crate::error::StoreError;
use crate::format::Format;
use crate::rocks::database::Database;
use crate::rocks::options::AutoCompaction;
use crate::tables::records::{Counters, Lineage, Meta, Settings};
use crate::tables::shards::{Parts, SHARDS};
use crate::tables::store::Store;
use crate::tables::{ALL, MetaKey};
use seedbank_algorithms::watch::Unwatched;

/// The prefix of the temporary name of a bank that is being created.
const TEMPORARY_PREFIX: &str = ".seedbank-init-";

/// Creates an empty bank in a folder that does not exist or is empty.
pub fn create(path: &Path, settings: &Settings) -> Result<(), StoreError> {
    let lineage = Lineage::new_bank()?;
    create_at(path, |place, _| {
        fill(place, BankKind::Single, settings, lineage)
    })
}

/// Creates an empty cluster bank of this many parts in a folder that does not exist or is empty.
pub fn create_cluster(path: &Path, settings: &Settings, parts: u32) -> Result<(), StoreError> {
    let parts = Parts::new(parts).ok_or(StoreError::InvalidParts {
        found: parts,
        max: SHARDS,
    })?;
    let lineage = Lineage::new_bank()?;
    create_at(path, |place, _| {
        create_parts(place, parts, |place, kind| {
            fill(place, kind, settings, lineage)
        })?;
        // The marker of the bank comes last.
        fill(place, BankKind::of_part(0, parts), settings, lineage)
    })
}

/// Creates a bank in a folder that does not exist or is empty. `fill` creates it, the marker last, in a
/// folder that contains only the lock of the writer, which this function holds meanwhile. If it fails, nothing
/// is left.
pub(crate) fn create_at(
    path: &Path,
    fill: impl FnOnce(&Path, &Lock) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    match fs::read_dir(path) {
        Ok(mut entries) => return create_in_place(path, entries.next().is_none(), fill),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            return Err(StoreError::Occupied(path.to_path_buf()));
        }
        Err(e) => return Err(StoreError::io("read", path)(e)),
    }
    let parent = parent_of(path);
    make_folders(parent).map_err(StoreError::io("make", parent))?;
    remove_unfinished(parent);
    let mut fresh = tempfile::Builder::new();
    // The usual permissions of a folder; by default only the owner can read a temporary one.
    #[cfg(unix)]
    fresh.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    let fresh = fresh
        .prefix(TEMPORARY_PREFIX)
        .tempdir_in(parent)
        .map_err(StoreError::io("write to", parent))?;
    let lock = take_first_lock(fresh.path()).map_err(|e| match e {
        StoreError::NoLocks { source, .. } => StoreError::locking(path)(source),
        e => e,
    })?;
    let lock = lock.ok_or_else(|| StoreError::Busy(path.to_path_buf()))?;
    probe(fresh.path(), path)?;
    fill(fresh.path(), &lock)?;
    let place = fresh.keep();
    let moved = fs::rename(&place, path);
    if moved.is_err() {
        // Best effort: the error below matters more.
        let _ = fs::remove_dir_all(&place);
    }
    moved.map_err(StoreError::io("make", path))?;
    drop(lock);
    sync_folder(parent).map_err(StoreError::io("write to", parent))
}

/// Creates a bank in an existing folder that was empty, or may have the leftovers of a killed process.
/// Leftovers are removed only while this process holds the lock of the folder.
fn create_in_place(
    path: &Path,
    is_empty: bool,
    fill: impl FnOnce(&Path, &Lock) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let occupied = || StoreError::Occupied(path.to_path_buf());
    if !(is_empty || is_abandoned(path) && is_unfinished(path)) {
        return Err(match ensure_bank(path) {
            Err(e @ StoreError::NoMarker(_)) => e,
            _ => occupied(),
        });
    }
    let lock = take_first_lock(path)?.ok_or_else(occupied)?;
    // Another process may have created a bank since the first check.
    if has_entries(path)? {
        if is_empty || !is_unfinished(path) {
            return Err(occupied());
        }
        clear_folder(path)?;
    }
    let filled = probe(path, path).and_then(|()| fill(path, &lock));
    // Best effort: the first error matters more. The folder had no other files. The lock goes last, so that
    // no other process starts meanwhile.
    if filled.is_err() && clear_folder(path).is_ok() {
        let _ = fs::remove_file(path.join(WRITER_LOCK));
    }
    filled
}

/// Creates an empty bank in a folder that contains only the lock; the marker comes last.
fn fill(
    place: &Path,
    kind: BankKind,
    settings: &Settings,
    lineage: Lineage,
) -> Result<(), StoreError> {
    begin_marker(place)?;
    for folder in FOLDERS {
        fs::create_dir(place.join(folder)).map_err(StoreError::io("make", place.join(folder)))?;
    }
    let store = Store::new(Database::create(&place.join("live"), ALL)?);
    let values = [
        (MetaKey::Format, Meta::Format(Format::current())),
        (MetaKey::Settings, Meta::Settings(settings.clone())),
        (MetaKey::Counters, Meta::Counters(Counters::default())),
        (MetaKey::Lineage, Meta::Lineage(lineage)),
    ];
    write_meta(&store, &values, None)?;
    acknowledge(place, &store, false)?;
    let is_flushed = publish(place, &store, 0)?;
    acknowledge(place, &store, is_flushed)?;
    drop(store);
    write_marker(place, kind)
}

/// Creates and takes the lock of the writer for a new bank. `None` if another process holds it, or held and
/// removed it, so that the locked file is no longer the one with this name.
fn take_first_lock(place: &Path) -> Result<Option<Lock>, StoreError> {
    let path = place.join(WRITER_LOCK);
    let Some(lock) = Lock::exclusive(lock_file(&path)?, &path, false, &Unwatched)? else {
        return Ok(None);
    };
    let is_same = match (lock.file().metadata(), fs::symlink_metadata(&path)) {
        (Ok(locked), Ok(named)) => (locked.dev(), locked.ino()) == (named.dev(), named.ino()),
        _ => false,
    };
    Ok(is_same.then_some(lock))
}

/// Returns whether a folder has entries other than the lock of the writer.
fn has_entries(folder: &Path) -> Result<bool, StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::io("read", folder))?;
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read", folder))?;
        if entry.file_name() != WRITER_LOCK {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes everything in a folder except the lock of the writer, which the caller holds.
fn clear_folder(folder: &Path) -> Result<(), StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::io("read", folder))?;
    for entry in entries.flatten() {
        if entry.file_name() == WRITER_LOCK {
            continue;
        }
        let path = entry.path();
        let removed = if is_folder(&path) {
            fs::remove_dir_all(&path)
        } else {
            fs::remove_file(&path)
        };
        removed.map_err(StoreError::io("remove", &path))?;
    }
    Ok(())
}

/// Returns whether a process was creating a bank in a folder and no process is now.
fn is_abandoned(path: &Path) -> bool {
    match File::open(path.join(WRITER_LOCK)) {
        Ok(lock) => Lock::try_exclusive(lock).is_ok(),
        // A power cut may lose the name of the lock and keep that of the marker.
        Err(_) => has_begun_marker(path),
    }
}

/// Returns whether an abandoned folder has an unfinished bank: only entries of a bank, no marker, and no commit
/// unless it is a copy.
fn is_unfinished(path: &Path) -> bool {
    let is_new = ensure_bank(path).is_err() && has_only_bank_entries(path) && has_no_commit(path);
    is_new || is_unfinished_copy(path)
}

/// Returns whether a folder has an unfinished copy of a bank, and nothing later than the copied state, which
/// still exists in its source.
fn is_unfinished_copy(path: &Path) -> bool {
    let Some(copied) = copied_epoch(path) else {
        return false;
    };
    let acknowledged = Acknowledged::read(path).ok().flatten();
    let pointer = Pointer::read(path).ok();
    has_only_bank_entries(path)
        && acknowledged.is_none_or(|state| state.epoch <= copied)
        && pointer.is_none_or(|pointer| pointer.epoch <= copied)
}

/// Returns whether a bank uses the names of all entries; the path may be a symbolic link.
fn has_only_bank_entries(path: &Path) -> bool {
    let names = path.canonicalize().and_then(|path| names_in(&path));
    names.is_ok_and(|names| names.iter().all(|name| is_bank_entry(name)))
}

/// Returns whether a bank without a marker has only its first state, as far as its files show.
fn has_no_commit(bank: &Path) -> bool {
    let acknowledged = Acknowledged::read(bank);
    let is_first = acknowledged.is_ok_and(|state| state.is_none_or(|state| state.epoch == 0));
    // No state but the first is published.
    let Ok(published) = names_in(&bank.join("published")) else {
        return false;
    };
    let first = ["0", "0.lock", "0.tmp", "CURRENT", "CURRENT.new"];
    let pointer = Pointer::read(bank).map_or(true, |pointer| pointer.epoch == 0);
    let live = bank.join("live");
    // A database without CURRENT was never complete.
    let is_empty = || Store::read(&live).is_ok_and(|store| store.is_new());
    is_first
        && pointer
        && published.iter().all(|name| first.contains(&name.as_str()))
        && (has_begun_marker(bank) || !live.join("CURRENT").exists() || is_empty())
}

/// Removes unfinished banks of killed processes. Best effort: they do no harm.
fn remove_unfinished(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.to_string_lossy().starts_with(TEMPORARY_PREFIX) {
            continue;
        }
        // A process that creates a bank holds its lock, which is the first file in the folder.
        if let Ok(lock) = File::open(entry.path().join(WRITER_LOCK))
            && let Ok(_lock) = Lock::try_exclusive(lock)
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

// Creation of a bank from a copy of a published state: its files become both the published state and, by hard
// links, the live database. The new bank has an identity of its own, the same in all parts of a cluster bank.

/// A bank that is created from a copy of a published state.
pub(crate) struct BankCopy<'a> {
    /// The folder, which contains only its lock.
    pub(crate) place: &'a Path,
    /// The epoch of the state.
    pub(crate) epoch: u64,
    pub(crate) parts: Parts,
    /// The permissions of the folder of each part; the first one is that of the bank.
    pub(crate) modes: &'a [u32],
    /// Whether the folder of the bank is new; an existing one keeps its permissions.
    pub(crate) is_new: bool,
}

impl BankCopy<'_> {
    /// Creates all parts of the bank except for its marker. `copy` copies the files of a part, whose number, folder and
    /// folder for the files of the state it gets. Returns the counters of the state.
    ///
    /// After a kill, the folder is an unfinished copy: it has the mark of one, and no marker.
    pub(crate) fn fill(
        &self,
        mut copy: impl FnMut(u32, &Path, &Path) -> Result<(), StoreError>,
    ) -> Result<Counters, StoreError> {
        let lineage = Lineage::new_bank()?;
        let parts = self.parts;
        if !parts.is_cluster() {
            return self.fill_part(0, lineage, &mut copy);
        }
        begin_copy(self.place, self.epoch)?;
        let folder = self.place.join(PARTS);
        fs::create_dir(&folder).map_err(StoreError::io("make", &folder))?;
        // Before the first part has a state: without this folder, it passes for a bank in one database.
        sync_folder(self.place).map_err(StoreError::io("write to", self.place))?;
        let mut others = Vec::new();
        for part in 1..parts.count() {
            let place = part_folder(self.place, part);
            fs::create_dir(&place).map_err(StoreError::io("make", &place))?;
            let _lock = writer_lock(&place, false, &Unwatched)?;
            others.push(self.fill_part(part, lineage, &mut copy)?);
            write_marker(&place, BankKind::of_part(part, parts))?;
            end_copy(&place);
            self.set_mode(part, 0)?;
        }
        sync_folder(&folder).map_err(StoreError::io("write to", &folder))?;
        let first = self.fill_part(0, lineage, &mut copy)?;
        match (1..).zip(others).find(|(_, counters)| *counters != first) {
            None => Ok(first),
            Some((part, _)) => {
                let what = format!("part {part} has another state than the first part");
                Err(StoreError::state("cluster", what))
            }
        }
    }

    /// Creates a part except for its marker.
    fn fill_part(
        &self,
        part: u32,
        lineage: Lineage,
        copy: &mut impl FnMut(u32, &Path, &Path) -> Result<(), StoreError>,
    ) -> Result<Counters, StoreError> {
        let place = part_folder(self.place, part);
        let state = create_folders(&place, self.epoch)?;
        // The folder must be writable until it is complete.
        self.set_mode(part, 0o700)?;
        copy(part, &place, &state)?;
        finish_part(&place, self.epoch, lineage)
    }

    /// Marks the bank as complete.
    pub(crate) fn finish(&self) -> Result<(), StoreError> {
        write_marker(self.place, BankKind::of_part(0, self.parts))?;
        end_copy(self.place);
        // The permissions of its source.
        self.set_mode(0, 0)
    }

    /// Sets the permissions of the folder of a part, with `added` ones.
    fn set_mode(&self, part: u32, added: u32) -> Result<(), StoreError> {
        match self.modes.get(part as usize) {
            Some(mode) if part > 0 || self.is_new => {
                set_mode(&part_folder(self.place, part), mode | added)
            }
            _ => Ok(()),
        }
    }
}

/// Creates the folders of a bank in a folder that contains only its lock. Returns the folder for the files of
/// the state.
fn create_folders(place: &Path, epoch: u64) -> Result<PathBuf, StoreError> {
    begin_copy(place, epoch)?;
    for folder in FOLDERS {
        let folder = place.join(folder);
        fs::create_dir(&folder).map_err(StoreError::io("make", &folder))?;
    }
    let state = state_folder(place, epoch);
    fs::create_dir(&state).map_err(StoreError::io("make", &state))?;
    Ok(state)
}

/// Completes a part with the files of its published state, except for the marker. Returns the counters of the state.
fn finish_part(place: &Path, epoch: u64, lineage: Lineage) -> Result<Counters, StoreError> {
    let state = state_folder(place, epoch);
    sync_folder(&state).map_err(StoreError::io("write to", &state))?;
    let live = place.join("live");
    fs::create_dir(&live).map_err(StoreError::io("make", &live))?;
    for name in list(&state)? {
        let (from, to) = (state.join(&name), live.join(&name));
        link_or_copy(&from, &to).map_err(StoreError::io("write", &to))?;
    }
    sync_folder(&live).map_err(StoreError::io("write to", &live))?;
    lock_file(&state_lock(place, epoch))?;
    assign_identity(place, epoch, lineage)?;
    let store = Pointer::read(place)?.open(place)?;
    store.format()?.ensure_current(place)?;
    store.counters()
}

/// Writes this identity to the live database, and publishes that state in place of the copied one, which has
/// the identity of the source bank.
fn assign_identity(place: &Path, epoch: u64, lineage: Lineage) -> Result<(), StoreError> {
    let live = place.join("live");
    let state = state_folder(place, epoch);
    // New files get the permissions of the copied ones.
    let current = state.join("CURRENT");
    let mode = mode(&fs::metadata(&current).map_err(StoreError::io("look at", &current))?);
    let store = Store::new(Database::open_writer(&live, ALL, AutoCompaction::Disabled)?);
    let lineage = Meta::Lineage(lineage);
    write_meta(&store, &[(MetaKey::Lineage, lineage)], None)?;
    acknowledge(place, &store, false)?;
    let is_flushed = publish(place, &store, epoch)?;
    acknowledge(place, &store, is_flushed)?;
    drop(store);
    for folder in [live, state] {
        set_modes(&folder, mode).map_err(StoreError::io("set the permissions in", &folder))?;
    }
    Ok(())
}

/// Sets the permissions of all files except table files, which kept theirs.
fn set_modes(folder: &Path, mode: u32) -> io::Result<()> {
    for name in names_in(folder)? {
        let path = folder.join(name);
        if path.extension().is_none_or(|end| end != "sst") {
            fs::set_permissions(&path, Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}
