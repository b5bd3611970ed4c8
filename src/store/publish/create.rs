//! Atomic creation of a bank.
//!
//! A folder that does not exist is created under a temporary name and renamed. An existing empty folder may
//! be the current folder, a symbolic link or a mount, which cannot be replaced: it is filled in place, the
//! marker last. The next process removes what a killed one left; it holds the lock of the folder meanwhile.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::acknowledged::Acknowledged;
use super::cluster::open_parts::create_parts;
use super::published::{Pointer, publish};
use super::writer::{acknowledge, write_meta};
use crate::disk::folder::{
    BankKind, FOLDERS, WRITER_LOCK, begin_marker, copied_epoch, has_begun_marker, is_bank_entry,
    is_folder, lock_file, make_folders, marker_format, names_in, parent_of, sync_folder,
    write_marker,
};
use crate::disk::lock::Lock;
use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::tables::records::{Counters, Lineage, Meta, Settings};
use crate::tables::shards::{Parts, SHARDS};
use crate::tables::store::Store;
use crate::tables::{ALL, FORMAT, MetaKey};
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
        fill(place, BankKind::Cluster(parts.count()), settings, lineage)
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
    let lock =
        take_first_lock(fresh.path())?.ok_or_else(|| StoreError::Busy(path.to_path_buf()))?;
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
        return Err(match marker_format(path) {
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
    let filled = fill(path, &lock);
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
        (MetaKey::Format, Meta::Format(FORMAT)),
        (MetaKey::Settings, Meta::Settings(settings.clone())),
        (MetaKey::Counters, Meta::Counters(Counters::default())),
        (MetaKey::Lineage, Meta::Lineage(lineage)),
    ];
    write_meta(&store, &values, None)?;
    acknowledge(place, &store, false)?;
    let is_flushed = publish(place, &store, 0)?;
    acknowledge(place, &store, is_flushed)?;
    drop(store);
    write_marker(place, kind, FORMAT)
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
    let is_new = marker_format(path).is_err() && has_only_bank_entries(path) && has_no_commit(path);
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
    let names = path.canonicalize().map(|path| names_in(&path));
    names.is_ok_and(|names| names.iter().all(|name| is_bank_entry(name)))
}

/// Returns whether a bank without a marker has only its first state, as far as its files show.
fn has_no_commit(bank: &Path) -> bool {
    let acknowledged = Acknowledged::read(bank);
    let is_first = acknowledged.is_ok_and(|state| state.is_none_or(|state| state.epoch == 0));
    // No state but the first is published.
    let published = names_in(&bank.join("published"));
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
