//! The folder of a bank: its marker, its locks, its live database and its published states.
//!
//! ```text
//! BANK/SEEDBANK          marker with the format version
//! BANK/ACKNOWLEDGED      the last state that a command reported as stored
//! BANK/writer.lock       held by the one writer
//! BANK/live/             the live database
//! BANK/published/N/      checkpoint of epoch N (hard links); N.lock is held by its readers
//! BANK/published/CURRENT the epoch that readers open; replaced by renaming
//! BANK/loads/            sorted files of an unfinished bulk load
//! BANK/spill/            runs of sorts
//! BANK/rejects/          records that batches refused
//! BANK/damaged/N/        what `repair` replaced
//! ```
//!
//! A bulk load is atomic although RocksDB takes in files one table at a time: the files are
//! completed and synced, then the intent is written; from there on the load is certain to be
//! finished, now or at the next open. Files are moved in, so a file that is missing from the load's
//! folder has been taken in; taking in a file twice changes nothing, since nobody else writes
//! meanwhile.
//!
//! A writer opens the live database only where it is not older than what was acknowledged: RocksDB
//! takes a damaged end of its own files for their regular end, and removes files that the older
//! state does not name.

use std::fs::{self, File, TryLockError};
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::acknowledged::Acknowledged;
use super::changes::Changes;
use super::error::StoreError;
use super::examine::{known_epoch, verify_live};
use super::folder::{
    ACKNOWLEDGED, FOLDERS, WRITER_LOCK, begin_marker, clear_loads, clear_spill, has_begun_marker,
    is_folder, is_own, lock_file, make_folders, marker_format, names_in, sync_folder, write_marker,
};
use super::format::{ACKNOWLEDGING, WITH_LISTS};
use super::load::write_files;
use super::manifest::Manifest;
use super::options::Merging;
use super::published::{Pointer, is_published, publish, remove_unread, table_unlike_published};
use super::records::{Counters, Intent, Meta, Settings};
use super::rocks::Rocks;
use super::store::Store;
use super::table::{Key, Value};
use super::tables::{ALL, FORMAT, META, MetaKey};
use crate::watch::{Unwatched, Watch};

/// A bank is made under a name that begins so, beside the place that it is moved to.
const UNFINISHED: &str = ".seedbank-init-";

/// How often a process that waits for the writer's lock looks again.
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// How long the writer's lock must be held before that counts as a writer. A probe holds the lock
/// for a moment, and so does a child process of a former writer between its fork and its exec.
const LOCK_GRACE: Duration = Duration::from_millis(100);

/// Removes everything in a folder, but not the folder.
fn clear_folder(folder: &Path) -> Result<(), StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::io("read", folder))?;
    for entry in entries.flatten() {
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

/// Makes an empty bank in a folder that does not exist or is empty.
///
/// A folder that does not exist is made beside its place and moved there whole, so that there is
/// never half a bank. One that exists may be the current folder, a symbolic link or a mount, which
/// nothing can be moved onto: it is filled in place, the marker last.
pub fn create(path: &Path, settings: &Settings) -> Result<(), StoreError> {
    match fs::read_dir(path) {
        Ok(mut entries) => {
            if entries.next().is_some() {
                if !is_unfinished(path) {
                    return Err(match marker_format(path) {
                        Err(e @ StoreError::NoMarker(_)) => e,
                        _ => StoreError::Occupied(path.to_path_buf()),
                    });
                }
                clear_folder(path)?;
            }
            let filled = fill(path, settings).map(drop);
            if filled.is_err() {
                // Best effort: the user needs to see the first error. The folder was empty before.
                let _ = clear_folder(path);
            }
            return filled;
        }
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
    let lock = fill(fresh.path(), settings)?;
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

/// Makes an empty bank in an empty folder; the marker that makes it one comes last. Returns the
/// lock, which tells others that somebody is at work.
fn fill(place: &Path, settings: &Settings) -> Result<File, StoreError> {
    let lock = lock_file(&place.join(WRITER_LOCK))?;
    lock.lock()
        .map_err(StoreError::io("lock", place.join(WRITER_LOCK)))?;
    begin_marker(place)?;
    for folder in FOLDERS {
        fs::create_dir(place.join(folder)).map_err(StoreError::io("make", place.join(folder)))?;
    }
    let store = Store {
        rocks: Rocks::create(&place.join("live"), ALL)?,
    };
    let values = [
        (MetaKey::Format, Meta::Format(FORMAT)),
        (MetaKey::Settings, Meta::Settings(settings.clone())),
        (MetaKey::Counters, Meta::Counters(Counters::default())),
    ];
    write_meta(&store, &values, None)?;
    acknowledge(place, &Counters::default(), false)?;
    publish(place, &store, 0)?;
    drop(store);
    acknowledge(place, &Counters::default(), true)?;
    write_marker(place)?;
    Ok(lock)
}

/// Acknowledges the state of the live database that has these counters.
pub(super) fn acknowledge(
    bank: &Path,
    counters: &Counters,
    in_files: bool,
) -> Result<(), StoreError> {
    let manifest = Manifest::of(&bank.join("live"))?;
    Acknowledged::new(counters, in_files, manifest).write(bank)
}

/// Whether a folder holds a bank that was being made in place by a process that died: nothing but
/// a bank's own entries, no marker, a lock that nobody holds, and nothing that was ever stored.
fn is_unfinished(path: &Path) -> bool {
    marker_format(path).is_err()
        && names_in(path).iter().all(|name| is_own(name))
        && match File::open(path.join(WRITER_LOCK)) {
            Ok(lock) => lock.try_lock().is_ok(),
            // A power cut may lose the lock's name and keep the marker's.
            Err(_) => has_begun_marker(path),
        }
        && never_stored(path)
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

fn write_meta(
    store: &Store,
    values: &[(MetaKey, Meta)],
    deleted: Option<MetaKey>,
) -> Result<(), StoreError> {
    let mut encoded = Vec::new();
    for (key, value) in values {
        let mut bytes = Vec::new();
        value.encode(&mut bytes).map_err(|e| StoreError::Damaged {
            table: META.name,
            key: format!("{key:?}"),
            what: e.to_string(),
        })?;
        encoded.push((key.bytes(), Some(bytes)));
    }
    if let Some(key) = deleted {
        encoded.push((key.bytes(), None));
    }
    store.rocks.write(
        encoded
            .iter()
            .map(|(key, value)| (META.name, (key.as_slice(), value.as_deref()))),
    )
}

/// Takes the lock of the one writer. Where another holds it this is [`StoreError::Busy`], or with
/// `wait` it waits.
pub(super) fn writer_lock(path: &Path, wait: bool, watch: &dyn Watch) -> Result<File, StoreError> {
    let lock = lock_file(&path.join(WRITER_LOCK))?;
    let begun = Instant::now();
    loop {
        match lock.try_lock() {
            Ok(()) => return Ok(lock),
            Err(TryLockError::WouldBlock) => {}
            Err(TryLockError::Error(e)) => return Err(StoreError::io("lock", path)(e)),
        }
        watch.proceed()?;
        if begun.elapsed() < LOCK_GRACE {
            std::thread::sleep(LOCK_GRACE / 50);
        } else if wait {
            std::thread::sleep(LOCK_PAUSE);
        } else {
            return Err(StoreError::Busy(path.to_path_buf()));
        }
    }
}

/// The number of the state after this one.
fn next(epoch: u64) -> Result<u64, StoreError> {
    epoch.checked_add(1).ok_or(StoreError::Full("commit"))
}

/// The one writer of a bank.
pub struct Writer {
    store: Store,
    bank: PathBuf,
    /// Keeps other writers out.
    _lock: File,
}

impl Deref for Writer {
    type Target = Store;
    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Writer {
    /// Opens a bank for writing, and finishes what a killed process left.
    ///
    /// With `wait` it waits for another writer to finish; otherwise that is [`StoreError::Busy`].
    pub fn open(path: &Path, wait: bool, watch: &dyn Watch) -> Result<Self, StoreError> {
        let format = marker_format(path)?;
        let lock = writer_lock(path, wait, watch)?;
        Self::open_locked(path, lock, format, Merging::Automatic)
    }

    /// Opens the bank for writing; the caller holds the writer's lock.
    pub(super) fn open_locked(
        path: &Path,
        lock: File,
        format: u32,
        merging: Merging,
    ) -> Result<Self, StoreError> {
        // Restoring a bank from a copy may lose empty folders.
        for folder in FOLDERS {
            make_folders(&path.join(folder)).map_err(StoreError::io("make", path.join(folder)))?;
        }
        let said = Acknowledged::read(path)?;
        if said.is_none() && format >= ACKNOWLEDGING {
            return Err(StoreError::State {
                state: ACKNOWLEDGED,
                what: "it is missing".to_owned(),
            });
        }
        verify_live(path, said.as_ref())?;
        let lacks = format < WITH_LISTS;
        let writer = Self {
            store: Store {
                rocks: Rocks::open_writer(&path.join("live"), ALL, merging, lacks)?,
            },
            bank: path.to_path_buf(),
            _lock: lock,
        };
        let known = known_epoch(path, said.as_ref());
        writer.is_not_older(known)?;
        writer.finish()?;
        if format < FORMAT {
            write_marker(path)?;
        }
        clear_loads(path)?;
        clear_spill(path)?;
        Ok(writer)
    }

    /// Finishes what a killed process or an older build left undone: loads, the format, and the
    /// pointer that readers follow.
    fn finish(&self) -> Result<(), StoreError> {
        let path = &self.bank;
        let format = self.format()?;
        if format > FORMAT {
            return Err(StoreError::OtherFormat {
                path: path.clone(),
                found: format,
                known: FORMAT,
            });
        }
        if let Some(Meta::Intent(intent)) = self.get(&META, &MetaKey::Intent)? {
            tracing::info!("finishing a bulk load that was interrupted");
            self.finish_load(&intent)?;
        }
        let mut counters = self.counters()?;
        if format < FORMAT {
            tracing::info!("the bank is brought from format {format} to {FORMAT}");
            counters.epoch = next(counters.epoch)?;
            let values = [
                (MetaKey::Format, Meta::Format(FORMAT)),
                (MetaKey::Counters, Meta::Counters(counters)),
            ];
            write_meta(&self.store, &values, None)?;
        }
        if is_published(path, counters.epoch) {
            remove_unread(path, counters.epoch);
        } else {
            // A damaged table of the live state must not replace a good one of the published state.
            if let Some(table) = table_unlike_published(path)?
                && !self.store.check(&Unwatched)?.is_clean()
            {
                return Err(StoreError::State {
                    state: "live",
                    what: format!("{table} is not what the published state has under this name"),
                });
            }
            acknowledge(path, &counters, false)?;
            publish(path, &self.store, counters.epoch)?;
        }
        // Opening the database began another MANIFEST.
        acknowledge(path, &counters, true)
    }

    /// Fails with [`StoreError::Busy`] where another process writes to the bank right now.
    pub fn probe(path: &Path) -> Result<(), StoreError> {
        marker_format(path)?;
        writer_lock(path, false, &Unwatched).map(drop)
    }

    /// The folder for runs of sorts.
    #[must_use]
    pub fn spill_folder(&self) -> PathBuf {
        self.bank.join("spill")
    }

    /// Applies all changes and the counters, or nothing, and publishes the new state.
    ///
    /// The epoch in `counters` is set to the next one.
    pub fn commit(&self, changes: Changes, mut counters: Counters) -> Result<(), StoreError> {
        super::files::settle(&self.store.rocks)?;
        counters.epoch = next(self.counters()?.epoch)?;
        self.commit_as(changes, counters)
    }

    /// Commits under the epoch in the counters.
    fn commit_as(&self, changes: Changes, counters: Counters) -> Result<(), StoreError> {
        if changes.is_large() {
            let intent = self.write_load(changes, counters);
            if intent.is_err() {
                // Best effort: on a full disk the half-written files are what is in the way.
                let _ = clear_loads(&self.bank);
            }
            let intent = intent?;
            write_meta(
                &self.store,
                &[(MetaKey::Intent, Meta::Intent(intent.clone()))],
                None,
            )?;
            self.finish_load(&intent)?;
        } else {
            let mut changes = changes;
            changes.put(&META, &MetaKey::Counters, &Meta::Counters(counters))?;
            let mut ordered = changes.finish()?;
            let mut all = Vec::new();
            while let Some((table, key, value)) = ordered.next_change()? {
                all.push((table, key.to_vec(), value.map(<[u8]>::to_vec)));
            }
            self.store.rocks.write(
                all.iter()
                    .map(|(table, key, value)| (*table, (key.as_slice(), value.as_deref()))),
            )?;
        }
        self.publish(&counters)
    }

    /// Acknowledges the stored state and publishes it.
    fn publish(&self, counters: &Counters) -> Result<(), StoreError> {
        acknowledge(&self.bank, counters, false)
            .and_then(|()| publish(&self.bank, &self.store, counters.epoch))
            .and_then(|()| acknowledge(&self.bank, counters, true))
            .map_err(|e| StoreError::Unpublished(Box::new(e)))
    }

    /// Merges the files of all tables, so that overwritten entries no longer take room, and
    /// publishes the result; readers of earlier states keep the old files as long as they read.
    pub fn compact(&self) -> Result<(), StoreError> {
        let mut counters = self.counters()?;
        counters.epoch = next(counters.epoch)?;
        write_meta(
            &self.store,
            &[(MetaKey::Counters, Meta::Counters(counters))],
            None,
        )?;
        self.store.rocks.compact()?;
        self.publish(&counters)
    }

    /// Writes the changes as sorted files and describes them.
    fn write_load(&self, changes: Changes, counters: Counters) -> Result<Intent, StoreError> {
        let folder = counters.epoch.to_string();
        let place = self.bank.join("loads").join(&folder);
        fs::create_dir_all(&place).map_err(StoreError::io("make", &place))?;
        let tables = write_files(&self.store.rocks, &place, changes.finish()?)?;
        sync_folder(&place).map_err(StoreError::io("write to", &place))?;
        // The intent must not outlast the name of its folder.
        let loads = self.bank.join("loads");
        sync_folder(&loads).map_err(StoreError::io("write to", &loads))?;
        Ok(Intent {
            folder,
            tables,
            counters,
        })
    }

    /// Takes in the rest of a load; the last step makes it count.
    fn finish_load(&self, intent: &Intent) -> Result<(), StoreError> {
        let place = self.bank.join("loads").join(&intent.folder);
        for part in &intent.tables {
            let table = ALL
                .iter()
                .find(|table| table.name == part.table)
                .ok_or_else(|| StoreError::Damaged {
                    table: META.name,
                    key: "Intent".to_owned(),
                    what: format!("there is no table {}", part.table),
                })?;
            let files: Vec<PathBuf> = part.files.iter().map(|file| place.join(file)).collect();
            // RocksDB takes in a table's files all at once, and moves them only after the load is
            // durable. So if any of them is missing, all of them have been taken in.
            if files.iter().all(|file| file.exists()) {
                self.store.rocks.take_in(table.name, files)?;
            }
        }
        write_meta(
            &self.store,
            &[(MetaKey::Counters, Meta::Counters(intent.counters))],
            Some(MetaKey::Intent),
        )
    }
}

#[cfg(test)]
#[path = "bank_tests.rs"]
mod tests;
