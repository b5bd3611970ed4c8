//! Making a bank's folder: whole, or not at all.
//!
//! A folder that does not exist is made beside its place and moved there, so that there is never
//! half a bank. One that exists may be the current folder, a symbolic link or a mount, which
//! nothing can be moved onto: it is filled in place, the marker last. What a process that died had
//! begun is removed by the next one, which holds the lock of the folder while it looks and removes.

use std::fs::{self, File};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::acknowledged::Acknowledged;
use super::published::{Pointer, publish};
use super::writer::{acknowledge, write_meta};
use crate::disk::folder::{
    FOLDERS, WRITER_LOCK, begin_marker, copied_epoch, has_begun_marker, is_bank_entry, is_folder,
    lock_file, make_folders, marker_format, names_in, sync_folder, write_marker,
};
use crate::disk::lock::take_lock;
use crate::error::StoreError;
use crate::rocks::database::Database;
use crate::tables::records::{Counters, Lineage, Meta, Settings};
use crate::tables::store::Store;
use crate::tables::{ALL, FORMAT, MetaKey};
use seedbank_algorithms::watch::Unwatched;

/// A bank is made under a name that begins so, beside the place that it is moved to.
const UNFINISHED: &str = ".seedbank-init-";

/// Makes an empty bank in a folder that does not exist or is empty.
pub fn create(path: &Path, settings: &Settings) -> Result<(), StoreError> {
    create_at(path, |place, _| fill(place, settings))
}

/// Makes a bank in a folder that does not exist or is empty. `fill` makes it, the marker last, in a
/// folder that holds nothing but the writer's lock; it is given the lock as well, which is held all
/// the time and tells others that somebody is at work. Where it fails, nothing is left.
pub(crate) fn create_at(
    path: &Path,
    fill: impl FnOnce(&Path, &File) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    match fs::read_dir(path) {
        Ok(mut entries) => return make_in_place(path, entries.next().is_none(), fill),
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            return Err(StoreError::Occupied(path.to_path_buf()));
        }
        Err(e) => return Err(StoreError::io("read", path)(e)),
    }
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    make_folders(parent).map_err(StoreError::io("make", parent))?;
    remove_unfinished(parent);
    let mut fresh = tempfile::Builder::new();
    // The usual permissions of a folder; a temporary one is open to its owner alone.
    #[cfg(unix)]
    fresh.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o777));
    let fresh = fresh
        .prefix(UNFINISHED)
        .tempdir_in(parent)
        .map_err(StoreError::io("write to", parent))?;
    let lock = first_lock(fresh.path())?.ok_or_else(|| StoreError::Busy(path.to_path_buf()))?;
    fill(fresh.path(), &lock)?;
    let place = fresh.keep();
    let moved = fs::rename(&place, path);
    if moved.is_err() {
        // Best effort: the user needs to see the error below.
        let _ = fs::remove_dir_all(&place);
    }
    moved.map_err(StoreError::io("make", path))?;
    drop(lock);
    sync_folder(parent).map_err(StoreError::io("write to", parent))
}

/// Makes a bank in a folder that exists, and that was empty when it was looked at or else may hold
/// what a process that died had begun. Nothing is removed unless this process holds the folder's
/// lock, and nobody else has made anything there.
fn make_in_place(
    path: &Path,
    is_empty: bool,
    fill: impl FnOnce(&Path, &File) -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let occupied = || StoreError::Occupied(path.to_path_buf());
    let may_begin = is_empty || is_left(path) && is_unfinished(path);
    if !may_begin {
        return Err(match marker_format(path) {
            Err(e @ StoreError::NoMarker(_)) => e,
            _ => occupied(),
        });
    }
    let lock = first_lock(path)?.ok_or_else(occupied)?;
    // Another process may have made a bank since.
    if holds_more(path)? {
        if is_empty || !is_unfinished(path) {
            return Err(occupied());
        }
        clear_folder(path)?;
    }
    let filled = fill(path, &lock);
    // Best effort: the user needs to see the first error. The folder was empty before. The lock's
    // name goes last, so that nobody else begins while something is removed.
    if filled.is_err() && clear_folder(path).is_ok() {
        let _ = fs::remove_file(path.join(WRITER_LOCK));
    }
    filled
}

/// Makes an empty bank in a folder that holds nothing but the lock; the marker that makes it one
/// comes last.
fn fill(place: &Path, settings: &Settings) -> Result<(), StoreError> {
    begin_marker(place)?;
    for folder in FOLDERS {
        fs::create_dir(place.join(folder)).map_err(StoreError::io("make", place.join(folder)))?;
    }
    let store = Store {
        rocks: Database::create(&place.join("live"), ALL)?,
    };
    let values = [
        (MetaKey::Format, Meta::Format(FORMAT)),
        (MetaKey::Settings, Meta::Settings(settings.clone())),
        (MetaKey::Counters, Meta::Counters(Counters::default())),
        (MetaKey::Lineage, Meta::Lineage(Lineage::new_bank()?)),
    ];
    write_meta(&store, &values, None)?;
    acknowledge(place, &store, false)?;
    let in_files = publish(place, &store, 0)?;
    acknowledge(place, &store, in_files)?;
    drop(store);
    write_marker(place, FORMAT)
}

/// Makes and takes the writer's lock of a bank that is to be made. `None` where another holds it, or
/// held it and removed it, so that what is locked is not what is there.
fn first_lock(place: &Path) -> Result<Option<File>, StoreError> {
    let path = place.join(WRITER_LOCK);
    let lock = lock_file(&path)?;
    if !take_lock(&lock, &path, false, &Unwatched)? {
        return Ok(None);
    }
    let is_there = match (lock.metadata(), fs::symlink_metadata(&path)) {
        (Ok(held), Ok(there)) => (held.dev(), held.ino()) == (there.dev(), there.ino()),
        _ => false,
    };
    Ok(is_there.then_some(lock))
}

/// Whether a folder holds anything but the writer's lock.
fn holds_more(folder: &Path) -> Result<bool, StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::io("read", folder))?;
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read", folder))?;
        if entry.file_name() != WRITER_LOCK {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes everything in a folder but the writer's lock, which the caller holds.
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

/// Whether somebody was at work in a folder, and nobody is now.
fn is_left(path: &Path) -> bool {
    match File::open(path.join(WRITER_LOCK)) {
        Ok(lock) => lock.try_lock().is_ok(),
        // A power cut may lose the lock's name and keep the marker's.
        Err(_) => has_begun_marker(path),
    }
}

/// Whether a folder in which nobody else is at work holds a bank that was being made in place by a
/// process that died: nothing but a bank's own entries, no marker, and nothing that was ever stored,
/// unless it was a copy.
fn is_unfinished(path: &Path) -> bool {
    let is_new = marker_format(path).is_err() && has_only_own(path) && never_stored(path);
    is_new || is_unfinished_copy(path)
}

/// Whether a folder holds a bank that was being copied there by a process that died: as above, and
/// nothing in it is later than what the copy was to be, of which all is still where it came from.
fn is_unfinished_copy(path: &Path) -> bool {
    let Some(copied) = copied_epoch(path) else {
        return false;
    };
    let said = Acknowledged::read(path).map_or(true, |said| match said {
        Some(said) => said.epoch <= copied,
        None => true,
    });
    let pointed = Pointer::read(path).map_or(true, |pointer| pointer.epoch <= copied);
    has_only_own(path) && said && pointed
}

/// Whether every entry has a name that a bank gives; the folder may be named by a link to it.
fn has_only_own(path: &Path) -> bool {
    let names = path.canonicalize().map(|path| names_in(&path));
    names.is_ok_and(|names| names.iter().all(|name| is_bank_entry(name)))
}

/// Whether a bank without a marker never had a batch, as far as its contents can tell.
fn never_stored(bank: &Path) -> bool {
    let said = match Acknowledged::read(bank) {
        Ok(said) => said.is_none_or(|said| said.epoch == 0),
        Err(_) => false,
    };
    // Only the first state may have been published.
    let published = names_in(&bank.join("published"));
    let first = ["0", "0.lock", "0.tmp", "CURRENT", "CURRENT.new"];
    let pointer = Pointer::read(bank).map_or(true, |pointer| pointer.epoch == 0);
    let live = bank.join("live");
    // A database without this file was never completed.
    let is_empty = || Store::read(&live).is_ok_and(|store| store.is_new());
    said && pointer
        && published.iter().all(|name| first.contains(&name.as_str()))
        && (has_begun_marker(bank) || !live.join("CURRENT").exists() || is_empty())
}

/// Removes banks that were being made by processes that died. Best effort: they harm nobody.
fn remove_unfinished(parent: &Path) {
    let Ok(entries) = fs::read_dir(parent) else {
        return;
    };
    for entry in entries.flatten() {
        let name = entry.file_name();
        if !name.to_string_lossy().starts_with(UNFINISHED) {
            continue;
        }
        // Whoever is still making a bank holds its lock, which is the first thing made in it.
        if let Ok(lock) = File::open(entry.path().join(WRITER_LOCK))
            && lock.try_lock().is_ok()
        {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}
