//! The folder of a bank: its marker, its locks, its live database and its published states.
//!
//! ```text
//! BANK/SEEDBANK          marker with the format version
//! BANK/writer.lock       held by the one writer
//! BANK/live/             the live database
//! BANK/published/N/      checkpoint of epoch N (hard links); N.lock is held by its readers
//! BANK/published/CURRENT the epoch that readers open; replaced by renaming
//! BANK/loads/            sorted files of an unfinished bulk load
//! BANK/spill/            runs of sorts
//! BANK/rejects/          records that batches refused
//! ```
//!
//! A bulk load is atomic although RocksDB takes in files one table at a time: the files are
//! completed and synced, then the intent is written; from there on the load is finished, now or
//! at the next open. Files are moved in, so a file that is missing has been taken in; taking in
//! a file twice changes nothing, since nobody else writes meanwhile.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::changes::Changes;
use super::error::StoreError;
use super::load::write_files;
use super::published::{is_published, publish, remove_unread};
use super::records::{Counters, Intent, Meta, Settings};
use super::rocks::Rocks;
use super::store::Store;
use super::table::{Key, Value};
use super::tables::{ALL, FORMAT, META, MetaKey};
use crate::watch::{Unwatched, Watch};

const MARKER: &str = "SEEDBANK";
const MARKER_TEXT: &str = "seedbank bank, format ";
const WRITER_LOCK: &str = "writer.lock";

/// A bank that is being made has such a name, beside its place.
const UNFINISHED: &str = ".seedbank-init-";

/// How often a process that waits for the writer's lock looks again.
const LOCK_PAUSE: Duration = Duration::from_millis(100);

/// The writer's lock must be held for so long to mean a writer. A probe holds it for a moment, and
/// so does a child process of a former writer between its fork and its program.
const LOCK_GRACE: Duration = Duration::from_millis(100);

pub(super) fn marker_format(path: &Path) -> Result<u32, StoreError> {
    let text = match fs::read_to_string(path.join(MARKER)) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            return Err(StoreError::io("read", path.join(MARKER))(e));
        }
        Err(_) => return Err(StoreError::NoBank(path.to_path_buf())),
    };
    let found: u32 = text
        .strip_prefix(MARKER_TEXT)
        .and_then(|rest| rest.trim().parse().ok())
        .ok_or_else(|| StoreError::NoBank(path.to_path_buf()))?;
    if found != FORMAT {
        return Err(StoreError::OtherFormat {
            path: path.to_path_buf(),
            found,
            known: FORMAT,
        });
    }
    Ok(found)
}

/// Replaces a small file in one step that survives a crash.
pub(super) fn replace_file(path: &Path, text: &str) -> Result<(), StoreError> {
    let fresh = path.with_extension("new");
    let write = || {
        let mut file = File::create(&fresh)?;
        file.write_all(text.as_bytes())?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        sync_folder(path.parent().unwrap_or(Path::new(".")))
    };
    write().map_err(StoreError::io("write", path))
}

fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Removes what is in a folder.
fn clear_folder(folder: &Path) -> Result<(), StoreError> {
    let entries = fs::read_dir(folder).map_err(StoreError::io("read", folder))?;
    for entry in entries.flatten() {
        let path = entry.path();
        let removed = if path.is_dir() {
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
                    return Err(StoreError::Occupied(path.to_path_buf()));
                }
                clear_folder(path)?;
            }
            let filled = fill(path, settings).map(drop);
            if filled.is_err() {
                // Best effort: the error is what the user needs to know. The folder was empty.
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
    fs::create_dir_all(parent).map_err(StoreError::io("make", parent))?;
    remove_unfinished(parent);
    let mut fresh = tempfile::Builder::new();
    // As any other folder; temporary ones are their owner's alone.
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
        // Best effort: the error below is what the user needs to know.
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
    for folder in ["published", "loads", "spill", "rejects"] {
        fs::create_dir(place.join(folder)).map_err(StoreError::io("make", place.join(folder)))?;
    }
    let store = Store {
        rocks: Rocks::create(&place.join("live"))?,
    };
    let values = [
        (MetaKey::Format, Meta::Format(FORMAT)),
        (MetaKey::Settings, Meta::Settings(settings.clone())),
        (MetaKey::Counters, Meta::Counters(Counters::default())),
    ];
    write_meta(&store, &values, None)?;
    publish(place, &store, 0)?;
    drop(store);
    replace_file(&place.join(MARKER), &format!("{MARKER_TEXT}{FORMAT}\n"))?;
    Ok(lock)
}

/// Whether a folder holds a bank that was being made in place by a process that died: nothing but
/// a bank's own entries, no marker, and a lock that nobody holds.
fn is_unfinished(path: &Path) -> bool {
    let Ok(entries) = fs::read_dir(path) else {
        return false;
    };
    let own = [
        WRITER_LOCK,
        "live",
        "published",
        "loads",
        "spill",
        "rejects",
        "SEEDBANK.new",
    ];
    let mut names = entries.flatten().map(|entry| entry.file_name());
    names.all(|name| own.iter().any(|own| name == *own))
        && File::open(path.join(WRITER_LOCK)).is_ok_and(|lock| lock.try_lock().is_ok())
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
        // Whoever still makes one holds its lock; the lock is the first thing in it.
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

pub(super) fn lock_file(path: &Path) -> Result<File, StoreError> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .open(path)
        .map_err(StoreError::io("write", path))
}

/// The lock of the one writer; [`StoreError::Busy`] where another has it, unless with `wait`.
fn writer_lock(path: &Path, wait: bool, watch: &dyn Watch) -> Result<File, StoreError> {
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
    /// With `wait` it waits for another writer to finish, else it is [`StoreError::Busy`].
    pub fn open(path: &Path, wait: bool, watch: &dyn Watch) -> Result<Self, StoreError> {
        marker_format(path)?;
        let lock = writer_lock(path, wait, watch)?;
        // Restoring a bank from a copy may lose empty folders.
        for folder in ["published", "loads", "spill", "rejects"] {
            fs::create_dir_all(path.join(folder))
                .map_err(StoreError::io("make", path.join(folder)))?;
        }
        let writer = Self {
            store: Store {
                rocks: Rocks::open_writer(&path.join("live"))?,
            },
            bank: path.to_path_buf(),
            _lock: lock,
        };
        if let Some(Meta::Format(found)) = writer.get(&META, &MetaKey::Format)?
            && found != FORMAT
        {
            return Err(StoreError::OtherFormat {
                path: path.to_path_buf(),
                found,
                known: FORMAT,
            });
        }
        if let Some(Meta::Intent(intent)) = writer.get(&META, &MetaKey::Intent)? {
            tracing::info!("finishing a bulk load that was interrupted");
            writer.finish_load(&intent)?;
        }
        let epoch = writer.counters()?.epoch;
        if is_published(path, epoch)? {
            remove_unread(&path.join("published"), epoch);
        } else {
            publish(path, &writer.store, epoch)?;
        }
        clear_folder(&path.join("loads"))?;
        clear_folder(&path.join("spill"))?;
        Ok(writer)
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
        let epoch = self.counters()?.epoch;
        counters.epoch = epoch.checked_add(1).ok_or(StoreError::Full("commit"))?;
        if changes.is_large() {
            let intent = self.write_load(changes, counters);
            if intent.is_err() {
                // Best effort: on a full disk the half-written files are what is in the way.
                let _ = clear_folder(&self.bank.join("loads"));
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
        publish(&self.bank, &self.store, counters.epoch)
            .map_err(|e| StoreError::Unpublished(Box::new(e)))
    }

    /// Merges the files of all tables and publishes the result, so that nothing that was
    /// overwritten takes room; readers of earlier states keep the old files as long as they read.
    pub fn compact(&self) -> Result<(), StoreError> {
        let mut counters = self.counters()?;
        counters.epoch = counters
            .epoch
            .checked_add(1)
            .ok_or(StoreError::Full("commit"))?;
        write_meta(
            &self.store,
            &[(MetaKey::Counters, Meta::Counters(counters))],
            None,
        )?;
        self.store.rocks.compact()?;
        publish(&self.bank, &self.store, counters.epoch)
            .map_err(|e| StoreError::Unpublished(Box::new(e)))
    }

    /// Writes the changes as sorted files and describes them.
    fn write_load(&self, changes: Changes, counters: Counters) -> Result<Intent, StoreError> {
        let folder = counters.epoch.to_string();
        let place = self.bank.join("loads").join(&folder);
        fs::create_dir_all(&place).map_err(StoreError::io("make", &place))?;
        let tables = write_files(&self.store.rocks, &place, changes.finish()?)?;
        sync_folder(&place).map_err(StoreError::io("write to", &place))?;
        Ok(Intent {
            folder,
            tables,
            counters,
        })
    }

    /// Takes in what is left of a load; the last step makes it count.
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
            // They are moved together after the load is durable: one missing, all are in.
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
