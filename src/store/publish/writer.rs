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
//! A writer opens the live database only where it is not older than what was acknowledged: RocksDB
//! takes a damaged end of its own files for their regular end, and removes files that the older
//! state does not name.

use std::collections::HashSet;
use std::fs::File;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::acknowledged::Acknowledged;
use super::live_state::{LogEvidence, follows, known_epoch, verify_live};
use super::migration_steps::run_step;
use super::published::{
    Compared, Pointer, publish, published_in_files, remove_unread, table_unlike_published,
    tables_not_published,
};
use crate::disk::folder::{
    ACKNOWLEDGED, FOLDERS, WRITER_LOCK, clear_loads, clear_spill, end_copy, lock_file,
    make_folders, marker_format, may_be_ingested, write_marker,
};
use crate::disk::lock::take_lock;
use crate::error::StoreError;
use crate::format::{FORMAT, upgrade_path};
use crate::rocks::database::Database;
use crate::rocks::manifest::Manifest;
use crate::rocks::options::AutoCompaction;
use crate::rocks::options::{DEFAULT_CACHE, MIN_CACHE};
use crate::rocks::write_ahead_log::{self, LogFingerprint};
use crate::tables::changes::Changes;
use crate::tables::records::Meta;
use crate::tables::store::Store;
use crate::tables::table::{Key, Value};
use crate::tables::{ALL, META, MetaKey, UNDO};
use seedbank_algorithms::watch::{Unwatched, Watch};

/// How many bytes a bank of an older format takes to bring up, besides the store's own, before it
/// sorts on disk.
const UPGRADE_MEMORY: usize = 64 << 20;

/// Acknowledges the state of the live database; `store` is that database or the same state of it.
pub(crate) fn acknowledge(bank: &Path, store: &Store, in_files: bool) -> Result<(), StoreError> {
    let live = bank.join("live");
    let counters = store.counters()?;
    let pointer = Pointer::read(bank).ok();
    let id = store.state_id()?;
    let log = if in_files {
        Ok(None)
    } else {
        // The number is read first: where tables are written meanwhile, the mark covers files that
        // are no longer needed, which the number of that time tells.
        LogFingerprint::new(&live, store.rocks.first_needed_log()?)
    };
    let said = Acknowledged {
        epoch: counters.epoch,
        batch: counters.batch,
        refresh: counters.refresh,
        in_files,
        id,
        published: pointer.map_or(0, |pointer| pointer.epoch),
        log: log.map_err(StoreError::io("read the log of", &live))?,
        manifest: Manifest::read(&live)?,
    };
    said.write(bank)
}

/// Writes single records. May also delete one and, with it, the entries of `undo` before a key.
pub(crate) fn write_meta(
    store: &Store,
    values: &[(MetaKey, Meta)],
    deleted: Option<(MetaKey, Option<Vec<u8>>)>,
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
    let mut cleared = None;
    if let Some((key, until)) = deleted {
        encoded.push((key.bytes(), None));
        cleared = until;
    }
    store.rocks.write(
        encoded
            .iter()
            .map(|(key, value)| (META.name, (key.as_slice(), value.as_deref()))),
        cleared.as_deref().map(|until| (UNDO.name, until)),
    )
}

/// Takes the lock of the one writer. Where another holds it this is [`StoreError::Busy`], or with
/// `wait` it waits.
pub(crate) fn writer_lock(path: &Path, wait: bool, watch: &dyn Watch) -> Result<File, StoreError> {
    let lock = lock_file(&path.join(WRITER_LOCK))?;
    if take_lock(&lock, path, wait, watch)? {
        Ok(lock)
    } else {
        Err(StoreError::Busy(path.to_path_buf()))
    }
}

/// The number of the state after this one.
pub(crate) fn next(epoch: u64) -> Result<u64, StoreError> {
    epoch.checked_add(1).ok_or(StoreError::Full("commit"))
}

/// The one writer of a bank.
pub struct Writer {
    pub(crate) store: Store,
    pub(crate) bank: PathBuf,
    /// How many bytes the files of a bulk load that are written at the same time may take.
    pub(crate) load_memory: AtomicUsize,
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
        Self::open_locked(path, lock, format, AutoCompaction::Enabled, watch)
    }

    /// Opens the bank for writing; the caller holds the writer's lock.
    pub(crate) fn open_locked(
        path: &Path,
        lock: File,
        format: u32,
        compaction: AutoCompaction,
        watch: &dyn Watch,
    ) -> Result<Self, StoreError> {
        // Restoring a bank from a copy may lose empty folders.
        for folder in FOLDERS {
            make_folders(&path.join(folder)).map_err(StoreError::io("make", path.join(folder)))?;
        }
        let said = Acknowledged::read(path)?.ok_or_else(|| StoreError::State {
            state: ACKNOWLEDGED,
            what: "it is missing".to_owned(),
        })?;
        let log = verify_live(path, Some(&said))?;
        if let Ok(pointer) = Pointer::read(path) {
            pointer.is_expected(&said)?;
        }
        // What a killed process wrote to the log may be in memory alone, and is about to be relied on.
        if !Pointer::read(path).is_ok_and(|pointer| pointer.is_synced(path)) {
            logs::sync(&path.join("live")).map_err(StoreError::io("sync", path.join("live")))?;
        }
        let lacks = format != FORMAT;
        let writer = Self {
            store: Store {
                rocks: Database::open_writer(&path.join("live"), ALL, compaction, lacks)?,
            },
            bank: path.to_path_buf(),
            load_memory: AtomicUsize::new(usize::MAX),
            _lock: lock,
        };
        writer.ensure_not_older(known_epoch(path, Some(&said)))?;
        follows(&writer, &said)?;
        writer.finish(log, watch)?;
        if format != FORMAT {
            write_marker(path, FORMAT)?;
        }
        end_copy(path);
        clear_loads(path)?;
        clear_spill(path)?;
        Ok(writer)
    }

    /// Finishes what a killed process or an older build left undone: loads, the format, and the
    /// pointer that readers follow.
    fn finish(&self, log: LogEvidence, watch: &dyn Watch) -> Result<(), StoreError> {
        let path = &self.bank;
        let format = self.format()?;
        if upgrade_path(format).is_none() {
            return Err(StoreError::other_format(path, format));
        }
        if let Some(intent) = self.unfinished_load()? {
            intent.verify(path, watch)?;
            tracing::info!("finishing an interrupted bulk load");
            self.finish_load(&intent)?;
        } else if may_be_ingested(path, self.counters()?.epoch) {
            self.is_whole("the intent of an interrupted bulk load is missing", watch)?;
        }
        if log == LogEvidence::Unknown {
            self.is_whole("its log is not the acknowledged one", watch)?;
        }
        self.migrate(watch)?;
        let epoch = self.counters()?.epoch;
        let in_files = if let Some(in_files) = published_in_files(path, epoch, self.state_id()?) {
            if let Some(table) = table_unlike_published(path, Compared::Stat)? {
                self.is_whole_beside(&table, watch)?;
            }
            self.verify_new_tables(watch)?;
            remove_unread(path, epoch);
            in_files
        } else {
            self.may_be_published(watch)?;
            acknowledge(path, &self.store, false)?;
            publish(path, &self.store, epoch)?
        };
        // Opening the database began another MANIFEST.
        acknowledge(path, &self.store, in_files)
    }

    /// Fails with what makes the state doubtful where a walk over its tables finds damage.
    ///
    /// Cost: a scan of every table.
    fn is_whole(&self, doubt: &str, watch: &dyn Watch) -> Result<(), StoreError> {
        tracing::info!("checking the whole live state, because {doubt}");
        let report = self.store.check(watch)?;
        match report.findings.first() {
            None => Ok(()),
            Some(first) => Err(StoreError::State {
                state: "live",
                what: format!(
                    "{doubt}, and table {}, key {}: {}",
                    first.table, first.key, first.what
                ),
            }),
        }
    }

    /// Brings a bank of an older format to that of this build, in one commit for each step.
    fn migrate(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        // The load that was just finished may have been a step.
        for older in upgrade_path(self.format()?).unwrap_or_default() {
            let (from, to) = (older.number, older.next);
            tracing::info!("upgrading the bank from format {from} to {to}");
            self.may_be_published(watch)?;
            // A process that died may have left the state unacknowledged.
            acknowledge(&self.bank, &self.store, false)?;
            let mut changes = Changes::new(&self.spill_folder(), UPGRADE_MEMORY);
            run_step(from, &self.store, &mut changes)?;
            changes.put(&META, &MetaKey::Format, &Meta::Format(to))?;
            self.commit(changes, self.counters()?)?;
        }
        Ok(())
    }

    /// Fails where the live state is damaged, of which this table is not what the published state has
    /// under its name.
    ///
    /// Cost: a scan of every table, unless the checksums of that file tell.
    fn is_whole_beside(&self, table: &str, watch: &dyn Watch) -> Result<(), StoreError> {
        let rocks = &self.store.rocks;
        rocks.verify_checksums(&HashSet::from([table]), watch)?;
        self.is_whole(
            &format!("{table} differs from the file of this name in the published state"),
            watch,
        )
    }

    /// Fails where the live state must not replace the published one: where it is damaged, as far as
    /// the published state gives reason to look. A published state that cannot be read is no witness,
    /// so the live one is walked before it becomes the only one.
    fn may_be_published(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        let published = Pointer::read(&self.bank);
        match published.map(|pointer| pointer.fault(&self.bank)) {
            Ok(Ok(())) => {}
            Ok(Err(_)) | Err(_) => {
                return self.is_whole("the published state cannot be read", watch);
            }
        }
        if let Some(table) = table_unlike_published(&self.bank, Compared::Bytes)? {
            return self.is_whole_beside(&table, watch);
        }
        self.verify_new_tables(watch)
    }

    /// Reads the tables that only the live state has, as after a merge of files: their checksums are
    /// the only witness of them.
    fn verify_new_tables(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        let new = tables_not_published(&self.bank);
        let new = new.iter().map(String::as_str);
        self.store.rocks.verify_checksums(&new.collect(), watch)
    }

    /// Fails with [`StoreError::Busy`] where another process writes to the bank right now.
    pub fn probe(path: &Path) -> Result<(), StoreError> {
        marker_format(path)?;
        writer_lock(path, false, &Unwatched).map(drop)
    }

    /// Keeps the cache of tables to half of a command's memory, within bounds: it is filled by tables
    /// that outgrow it, and by indexes of long keys. The files of a bulk load that are written at the
    /// same time take as much.
    pub fn limit_memory(&self, memory: usize) {
        let most = (memory / 2).clamp(MIN_CACHE, DEFAULT_CACHE);
        self.store.rocks.set_cache_capacity(most);
        self.load_memory.store(memory / 2, Ordering::Relaxed);
    }

    /// The folder for runs of sorts.
    #[must_use]
    pub fn spill_folder(&self) -> PathBuf {
        self.bank.join("spill")
    }
}
