//! The writer of a bank, and its recovery when it opens the bank.
//!
//! ```text
//! BANK/SEEDBANK          the marker with the format version
//! BANK/ACKNOWLEDGED      the last state that a command reported as stored
//! BANK/writer.lock       the lock of the writer
//! BANK/live/             the live database
//! BANK/published/N/      the checkpoint of epoch N (hard links); readers hold N.lock
//! BANK/published/CURRENT the pointer to the current state; replaced by renaming
//! BANK/loads/            the sorted files of an unfinished bulk load
//! BANK/image/            the graph image; part of no state
//! BANK/spill/            the runs of sorts
//! BANK/REFUSED           the last refused batch; part of no state
//! BANK/rejects/          the records that batches rejected
//! BANK/damaged/N/        files that `repair` replaced
//! ```
//!
//! A writer opens the live database only if it is not older than the acknowledged state: RocksDB takes a
//! damaged end of its own files for their regular end, and then removes files that the older state does not
//! name.

use std::collections::HashSet;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};

use super::acknowledged::Acknowledged;
use super::live_state::{LogStatus, check_live, ensure_follows, last_known_epoch};
use super::migration_steps::run_step;
use super::other_part::OtherPart;
use super::published::{
    Comparison, Pointer, publish, published_is_flushed, remove_old_states,
    table_differing_from_published, unpublished_table_files,
};
use crate::disk::folder::{
    ACKNOWLEDGED, BankKind, FOLDERS, WRITER_LOCK, clear_loads, clear_spill, end_copy, lock_file,
    make_folders, marker_format, may_be_partly_ingested, write_marker,
};
use crate::disk::lock::Lock;
use crate::error::StoreError;
use crate::format::{FORMAT, upgrade_path};
use crate::graph_image::remove_image;
use crate::rocks::database::Database;
use crate::rocks::manifest::Manifest;
use crate::rocks::options::AutoCompaction;
use crate::rocks::options::{DEFAULT_CACHE, MIN_CACHE};
use crate::rocks::write_ahead_log::{self as logs, LogFingerprint};
use crate::tables::changes::{Changes, encode};
use crate::tables::records::{Intent, Meta};
use crate::tables::store::Store;
use crate::tables::table::Key;
use crate::tables::{ALL, META, MetaKey, UNDO};
use seedbank_algorithms::watch::{Unwatched, Watch};

/// The memory in bytes for the changes of a migration step before they spill to disk.
const MIGRATION_MEMORY: usize = 64 << 20;

/// Acknowledges the state of the live database. `store` is that database, or a checkpoint of its state.
pub(crate) fn acknowledge(bank: &Path, store: &Store, is_flushed: bool) -> Result<(), StoreError> {
    let live = bank.join("live");
    let counters = store.counters()?;
    let pointer = Pointer::read(bank).ok();
    let id = store.state_id()?;
    let log = if is_flushed {
        Ok(None)
    } else {
        // Read before the files: if the log is flushed meanwhile, the fingerprint covers files that are no
        // longer needed, which its first number shows.
        LogFingerprint::new(&live, store.rocks.first_needed_log()?)
    };
    let state = Acknowledged {
        epoch: counters.epoch,
        batch: counters.batch,
        refresh: counters.refresh,
        is_flushed,
        id,
        published: pointer.map_or(0, |pointer| pointer.epoch),
        log: log.map_err(StoreError::io("read the log of", &live))?,
        manifest: Manifest::read(&live)?,
    };
    state.write(bank)
}

/// Writes records of `meta` atomically. `deleted` is a key to delete, and optionally a key of `undo` before
/// which all keys are deleted.
pub(crate) fn write_meta(
    store: &Store,
    values: &[(MetaKey, Meta)],
    deleted: Option<(MetaKey, Option<Vec<u8>>)>,
) -> Result<(), StoreError> {
    let mut encoded = Vec::new();
    for (key, value) in values {
        let mut bytes = Vec::new();
        encode(&META, key, value, &mut bytes)?;
        encoded.push((key.bytes(), Some(bytes)));
    }
    let mut delete_before = None;
    if let Some((key, until)) = deleted {
        encoded.push((key.bytes(), None));
        delete_before = until;
    }
    store.rocks.write(
        encoded
            .iter()
            .map(|(key, value)| (META.name, (key.as_slice(), value.as_deref()))),
        delete_before.as_deref().map(|until| (UNDO.name, until)),
    )
}

/// Takes the lock of the writer. If another process holds it, this fails with [`StoreError::Busy`], or with
/// `wait` it waits.
pub(crate) fn writer_lock(path: &Path, wait: bool, watch: &dyn Watch) -> Result<Lock, StoreError> {
    let file = lock_file(&path.join(WRITER_LOCK))?;
    let lock = Lock::exclusive(file, path, wait, watch)?;
    lock.ok_or_else(|| StoreError::Busy(path.to_path_buf()))
}

/// Returns the epoch after this one.
pub(crate) fn next_epoch(epoch: u64) -> Result<u64, StoreError> {
    epoch.checked_add(1).ok_or(StoreError::Full("commit"))
}

/// The writer of a bank; there is at most one.
pub struct Writer {
    pub(crate) store: Store,
    pub(crate) bank: PathBuf,
    /// The memory in bytes for the files of a bulk load that are written in parallel.
    pub(crate) load_memory: AtomicUsize,
    /// The writers of the other parts of a cluster bank.
    pub(super) others: Vec<Box<dyn OtherPart>>,
    kind: BankKind,
    /// Excludes other writers.
    _lock: Lock,
}

/// How a writer is opened.
pub(crate) struct Opening {
    /// The format in the marker.
    pub(crate) format: u32,
    pub(crate) compaction: AutoCompaction,
    pub(crate) kind: BankKind,
    /// The intent of a load of a cluster bank that all parts have prepared.
    pub(crate) prepared: Option<Intent>,
}

impl Opening {
    /// Opens a bank in one database.
    pub(crate) const fn single(format: u32, compaction: AutoCompaction) -> Self {
        Self {
            format,
            compaction,
            kind: BankKind::Single,
            prepared: None,
        }
    }
}

impl Deref for Writer {
    type Target = Store;
    fn deref(&self) -> &Store {
        &self.store
    }
}

impl Writer {
    /// Opens the bank, or one part of a cluster bank, for writing; the caller holds `lock`, the lock of the writer.
    pub(crate) fn open_locked(
        path: &Path,
        lock: Lock,
        opening: Opening,
        watch: &dyn Watch,
    ) -> Result<Self, StoreError> {
        let Opening {
            format,
            compaction,
            kind,
            prepared,
        } = opening;
        // A copy of a bank may lack empty folders.
        for folder in FOLDERS {
            make_folders(&path.join(folder)).map_err(StoreError::io("make", path.join(folder)))?;
        }
        let acknowledged = Acknowledged::read(path)?
            .ok_or_else(|| StoreError::state(ACKNOWLEDGED, "it is missing"))?;
        // Before RocksDB opens the database: it would truncate a damaged end of its files.
        let log = check_live(path, Some(&acknowledged))?;
        if let Ok(pointer) = Pointer::read(path) {
            pointer.ensure_expected(&acknowledged)?;
        }
        // A killed process may have written log records without syncing them. They become part of the state
        // now, so they must be durable.
        if !Pointer::read(path).is_ok_and(|pointer| pointer.is_synced(path)) {
            logs::sync(&path.join("live")).map_err(StoreError::io("sync", path.join("live")))?;
        }
        let writer = Self {
            store: Store::new(Database::open_writer(
                &path.join("live"),
                ALL,
                compaction,
                format != FORMAT,
            )?),
            bank: path.to_path_buf(),
            load_memory: AtomicUsize::new(usize::MAX),
            others: Vec::new(),
            kind,
            _lock: lock,
        };
        writer.ensure_not_older(last_known_epoch(path, Some(&acknowledged)))?;
        ensure_follows(&writer, &acknowledged)?;
        writer.recover(log, prepared, watch)?;
        // The marker comes after the migration, so that an interrupted one is continued.
        if format != FORMAT {
            write_marker(path, kind, FORMAT)?;
        }
        end_copy(path);
        clear_loads(path)?;
        clear_spill(path)?;
        Ok(writer)
    }

    /// Removes the graph image, which the next command that loads the graph writes again.
    pub fn remove_image(&self) -> Result<(), StoreError> {
        remove_image(&self.bank)
    }

    /// Completes what a killed process or an older build left: a bulk load, a migration, a publication.
    fn recover(
        &self,
        log: LogStatus,
        prepared: Option<Intent>,
        watch: &dyn Watch,
    ) -> Result<(), StoreError> {
        let path = &self.bank;
        let format = self.format()?;
        if upgrade_path(format).is_none() {
            return Err(StoreError::other_format(path, format));
        }
        // A crash within a bulk load. With an intent, ingesting again is idempotent; without one, the tables
        // decide whether anything was ingested.
        if let Some(intent) = self.unfinished_load()? {
            intent.verify(path, watch)?;
            tracing::info!("finishing an interrupted bulk load");
            self.finish_load(&intent)?;
        } else if let Some(intent) = prepared.filter(|intent| self.is_before(intent)) {
            intent.verify(path, watch)?;
            self.write_intent(&intent)?;
            self.finish_load(&intent)?;
        } else if may_be_partly_ingested(path, self.counters()?.epoch) {
            self.ensure_intact("the intent of an interrupted bulk load is missing", watch)?;
        }
        if log == LogStatus::Unknown {
            self.ensure_intact("its log differs from the acknowledged one", watch)?;
        }
        self.migrate(watch)?;
        // A crash between the write and the publication leaves a stored state that is published here.
        let epoch = self.counters()?.epoch;
        let is_flushed =
            if let Some(is_flushed) = published_is_flushed(path, epoch, self.state_id()?) {
                if let Some(table) = table_differing_from_published(path, Comparison::Stat)? {
                    self.ensure_intact_despite(&table, watch)?;
                }
                self.verify_unpublished_tables(watch)?;
                self.remove_old_states(epoch);
                is_flushed
            } else {
                self.ensure_publishable(watch)?;
                acknowledge(path, &self.store, false)?;
                let is_flushed = publish(path, &self.store, epoch)?;
                self.remove_old_states(epoch);
                is_flushed
            };
        // Opening the database started a new MANIFEST.
        acknowledge(path, &self.store, is_flushed)
    }

    /// Returns whether the live database does not have the state of a load yet.
    fn is_before(&self, intent: &Intent) -> bool {
        let counters = self.counters();
        counters.is_ok_and(|counters| counters.epoch < intent.counters.epoch)
    }

    /// Removes published states without readers before the one with this epoch. A part of a cluster bank keeps the
    /// one before it, which readers use until all parts have published.
    pub(super) fn remove_old_states(&self, epoch: u64) {
        let kept = match self.kind {
            BankKind::Single => epoch,
            BankKind::Cluster(_) | BankKind::Part(..) => epoch.saturating_sub(1),
        };
        remove_old_states(&self.bank, kept);
    }

    /// Checks all tables, and fails with the reason for the doubt if one is damaged. A part of a cluster bank is compared
    /// with its published state or with its last commit if one of them has the same identity.
    ///
    /// Cost: scans every table.
    fn ensure_intact(&self, doubt: &str, watch: &dyn Watch) -> Result<(), StoreError> {
        if self.kind != BankKind::Single && self.compare_with_published(doubt, watch)? {
            return Ok(());
        }
        tracing::info!("checking the whole live state, because {doubt}");
        let report = self.store.check(watch)?;
        match report.findings.first() {
            None => Ok(()),
            Some(first) => Err(StoreError::state(
                "live",
                format!(
                    "{doubt}, and table {}, key {}: {}",
                    first.table, first.key, first.what
                ),
            )),
        }
    }

    /// Migrates a bank of an older format to the format of this build, with one commit per step.
    fn migrate(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        // The load that was just finished may have been a migration step, so the format is read again.
        for older in upgrade_path(self.format()?).unwrap_or_default() {
            let (from, to) = (older.number, older.next);
            tracing::info!("upgrading the bank from format {from} to {to}");
            self.ensure_publishable(watch)?;
            // A killed process may have left the state unacknowledged, and the commit requires that it is.
            acknowledge(&self.bank, &self.store, false)?;
            let mut changes = Changes::new(&self.spill_folder(), MIGRATION_MEMORY);
            run_step(from, &self.store, &mut changes)?;
            changes.put(&META, &MetaKey::Format, &Meta::Format(to))?;
            self.commit(changes, self.counters()?)?;
        }
        Ok(())
    }

    /// Fails if the live state is damaged, given that this table file differs from the published one.
    ///
    /// Cost: scans every table, unless the checksums of the file are wrong.
    fn ensure_intact_despite(&self, table: &str, watch: &dyn Watch) -> Result<(), StoreError> {
        let rocks = &self.store.rocks;
        rocks.verify_checksums(&HashSet::from([table]), watch)?;
        self.ensure_intact(
            &format!("{table} differs from the file of this name in the published state"),
            watch,
        )
    }

    /// Fails if the live state is damaged and must not replace the published one. If the published state
    /// cannot be read, all tables are checked, since the live state becomes the only one; otherwise only
    /// table files that the published state lacks or has with other contents.
    fn ensure_publishable(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        let published = Pointer::read(&self.bank);
        match published.map(|pointer| pointer.verify_files(&self.bank)) {
            Ok(Ok(())) => {}
            _ => {
                return self.ensure_intact("the published state cannot be read", watch);
            }
        }
        if let Some(table) = table_differing_from_published(&self.bank, Comparison::Bytes)? {
            return self.ensure_intact_despite(&table, watch);
        }
        self.verify_unpublished_tables(watch)
    }

    /// Verifies the checksums of table files that only the live state has, as after a compaction.
    fn verify_unpublished_tables(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        let new = unpublished_table_files(&self.bank);
        let new = new.iter().map(String::as_str);
        self.store.rocks.verify_checksums(&new.collect(), watch)
    }

    /// Fails with [`StoreError::Busy`] if a writer is at work.
    pub fn probe(path: &Path) -> Result<(), StoreError> {
        marker_format(path)?;
        writer_lock(path, false, &Unwatched).map(drop)
    }

    /// Limits the memory of the writer to `memory` bytes: half for the block cache, within bounds, and half
    /// for the files of a bulk load that are written in parallel.
    pub fn limit_memory(&self, memory: usize) {
        let share = memory / 2 / (self.others.len() + 1);
        let least = MIN_CACHE / (self.others.len() + 1);
        self.store
            .rocks
            .set_cache_capacity(share.clamp(least, DEFAULT_CACHE));
        self.load_memory.store(share, Ordering::Relaxed);
        for other in &self.others {
            other.limit_memory(2 * share);
        }
    }

    /// Returns the folder for runs of sorts.
    #[must_use]
    pub fn spill_folder(&self) -> PathBuf {
        self.bank.join("spill")
    }
}
