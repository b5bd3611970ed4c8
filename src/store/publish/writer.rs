//! The writer of a bank, and its recovery when it opens the bank.
//!
//! ```text
//! BANK/SEEDBANK          the marker with the format
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
use std::fs;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::acknowledged::{Acknowledged, checksum, strip_checksum};
use super::marker::{BankKind, ensure_bank};
use super::part_files::{
    Interrupted, PartStatus, discard_prepared, ensure_part, ensure_same_state, in_part,
    interrupted, part_folder, parts_of, read_prepared,
};
use super::part_states::OtherProcesses;
use super::published::{
    Comparison, LogStatus, Pointer, check_live, ensure_follows, last_known_epoch, publish,
    published_is_flushed, remove_old_states, table_differing_from_published,
    unpublished_table_files,
};
use crate::disk::{
    ACKNOWLEDGED, FOLDERS, Lock, PARTS, REFUSED, WRITER_LOCK, clear_loads, clear_spill, end_copy,
    lock_file, make_folders, may_be_partly_ingested, probe, read_text, replace_file, sync_folder,
    temporary_name,
};
use crate::error::{IfUndamaged, StoreError};
use crate::graph_image::{ImageFault, ImageLock};
use crate::rocks::database::Database;
use crate::rocks::manifest::Manifest;
use crate::rocks::options::{AutoCompaction, DEFAULT_CACHE, MIN_CACHE};
use crate::rocks::table_files::compact_small_files;
use crate::rocks::write_ahead_log as logs;
use crate::rocks::write_ahead_log::LogFingerprint;
use crate::tables::changes::{Changes, encode};
use crate::tables::parts::{
    Fields, Message, Operation, PartDatabase, RemoteDatabase, RemoteProcess, table_number,
};
use crate::tables::records::lineage::StateId;
use crate::tables::records::{BatchKind, Counters, Intent, Lineage, Meta};
use crate::tables::shards::Parts;
use crate::tables::store::Store;
use crate::tables::table::Key;
use crate::tables::{ALL, BATCHES, META, MetaKey, UNDO};
use seedbank_algorithms::watch::{Unwatched, Watch};

/// Acknowledges the state of the live database. `store` is that database, or a checkpoint of its state.
pub(crate) fn acknowledge(bank: &Path, store: &Store, is_flushed: bool) -> Result<(), StoreError> {
    let live = bank.join("live");
    let counters = store.counters()?;
    let pointer = Pointer::read(bank).if_undamaged()?;
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
    pub(super) others: Vec<PartWriter>,
    /// Excludes other writers.
    _lock: Lock,
}

/// How a writer is opened.
pub(crate) struct Opening {
    pub(crate) compaction: AutoCompaction,
    /// [`Parts::SINGLE`], or [`Parts::ALONE`] for a part of a cluster bank.
    pub(crate) parts: Parts,
    /// The intent of a load of a cluster bank that all parts have prepared.
    pub(crate) prepared: Option<Intent>,
}

impl Opening {
    /// Opens a bank in one database.
    pub(crate) const fn single(compaction: AutoCompaction) -> Self {
        Self {
            compaction,
            parts: Parts::SINGLE,
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
            compaction,
            parts,
            prepared,
        } = opening;
        probe(path, path)?;
        // A copy of a bank may lack empty folders.
        for folder in FOLDERS {
            make_folders(&path.join(folder)).map_err(StoreError::io("make", path.join(folder)))?;
        }
        let acknowledged = Acknowledged::read(path)?
            .ok_or_else(|| StoreError::state(ACKNOWLEDGED, "it is missing"))?;
        // Before RocksDB opens the database: it would truncate a damaged end of its files.
        let log = check_live(path, Some(&acknowledged))?;
        let pointer = Pointer::read(path).if_undamaged()?;
        if let Some(pointer) = &pointer {
            pointer.ensure_expected(&acknowledged)?;
        }
        // A killed process may have written log records without syncing them. They become part of the state
        // now, so they must be durable.
        if !pointer.is_some_and(|pointer| pointer.is_synced(path)) {
            logs::sync(&path.join("live")).map_err(StoreError::io("sync", path.join("live")))?;
        }
        let mut store = Store::new(Database::open_writer(&path.join("live"), ALL, compaction)?);
        store.add_parts(parts, Vec::new());
        let writer = Self {
            store,
            bank: path.to_path_buf(),
            load_memory: AtomicUsize::new(usize::MAX),
            others: Vec::new(),
            _lock: lock,
        };
        writer.ensure_not_older(last_known_epoch(path, Some(&acknowledged))?)?;
        ensure_follows(&writer, &acknowledged)?;
        writer.recover(log, prepared, watch)?;
        end_copy(path);
        clear_loads(path)?;
        clear_spill(path)?;
        Ok(writer)
    }

    /// Removes the graph image, which the next command that loads the graph writes again. No process writes it until the
    /// lock is dropped; `None` if the bank can have no image.
    pub fn remove_image(&self, watch: &dyn Watch) -> Result<Option<ImageLock>, StoreError> {
        let lock = ImageLock::take(&self.bank, watch)?;
        lock.iter().try_for_each(ImageLock::remove)?;
        Ok(lock)
    }

    /// Removes a graph image that no command uses, such as one with forgotten pages.
    pub(crate) fn remove_unused_image(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        match ImageFault::find(&self.store, &self.bank)? {
            Some(_) => self.remove_image(watch).map(drop),
            None => Ok(()),
        }
    }

    /// Removes the graph image, as [`remove_image`](Self::remove_image) does, if the last batch has forgotten pages: the
    /// image may have the published state, which is the one before.
    fn remove_forgotten(&self, watch: &dyn Watch) -> Result<Option<ImageLock>, StoreError> {
        let batch = self.counters()?.batch;
        // A part after the first of a cluster bank has no batches and no image.
        let last = self.get(&BATCHES, &batch)?;
        if last.is_some_and(|batch| batch.kind == BatchKind::Forget) {
            return self.remove_image(watch);
        }
        Ok(None)
    }

    /// Completes what a killed process left: a bulk load, a publication.
    fn recover(
        &self,
        log: LogStatus,
        prepared: Option<Intent>,
        watch: &dyn Watch,
    ) -> Result<(), StoreError> {
        let path = &self.bank;
        self.format()?.ensure_current(path)?;
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
        } else if may_be_partly_ingested(path, self.counters()?.epoch)? {
            self.ensure_intact("the intent of an interrupted bulk load is missing", watch)?;
        }
        if log == LogStatus::Unknown {
            self.ensure_intact("its log differs from the acknowledged one", watch)?;
        }
        // A crash between the write and the publication leaves a stored state that is published here.
        let epoch = self.counters()?.epoch;
        let is_flushed =
            if let Some(is_flushed) = published_is_flushed(path, epoch, self.state_id()?)? {
                if let Some(table) = table_differing_from_published(path, Comparison::Stat)? {
                    self.ensure_intact_despite(&table, watch)?;
                }
                self.verify_unpublished_tables(watch)?;
                self.remove_old_states(epoch);
                is_flushed
            } else {
                self.ensure_publishable(watch)?;
                let _image = self.remove_forgotten(watch)?;
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
        let kept = epoch.saturating_sub(self.parts().is_cluster().into());
        remove_old_states(&self.bank, kept);
    }

    /// Checks all tables, and fails with the reason for the doubt if one is damaged. A part of a cluster bank is compared
    /// with its published state or with its last commit if one of them has the same identity.
    ///
    /// Cost: scans every table.
    fn ensure_intact(&self, doubt: &str, watch: &dyn Watch) -> Result<(), StoreError> {
        if self.parts().is_cluster() && self.compare_with_published(doubt, watch)? {
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
        let verified = published.and_then(|pointer| pointer.verify_files(&self.bank));
        if verified.if_undamaged()?.is_none() {
            return self.ensure_intact("the published state cannot be read", watch);
        }
        if let Some(table) = table_differing_from_published(&self.bank, Comparison::Bytes)? {
            return self.ensure_intact_despite(&table, watch);
        }
        self.verify_unpublished_tables(watch)
    }

    /// Verifies the checksums of table files that only the live state has, as after a compaction.
    fn verify_unpublished_tables(&self, watch: &dyn Watch) -> Result<(), StoreError> {
        let new = unpublished_table_files(&self.bank)?;
        let new = new.iter().map(String::as_str);
        self.store.rocks.verify_checksums(&new.collect(), watch)
    }

    /// Fails with [`StoreError::Busy`] if a writer is at work.
    pub fn probe(path: &Path) -> Result<(), StoreError> {
        ensure_bank(path)?;
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

/// What a part stores with its share of the changes.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct PrepareRecord {
    pub(crate) before: Counters,
    pub(crate) counters: Counters,
    pub(crate) lineage: Lineage,
    pub(crate) undo_policy: UndoPolicy,
}

/// What a commit does with the record for undoing the last batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum UndoPolicy {
    /// Keeps it.
    Preserve,
    /// Replaces it by the values that this commit overwrites.
    Capture,
    /// Deletes it: the last batch can no longer be undone.
    Discard,
}

// The last refused batch, recorded outside the database.
//
// ```text
// BANK/REFUSED   one line: a text of the caller and its checksum
// ```
//
// It records an event, not a part of any state: a refusal commits nothing. A file that is missing or damaged
// counts as no refusal. Backups do not contain it.

/// Returns the text of the last [`Writer::record_refusal`]; `None` if it was removed or is damaged.
#[must_use]
pub fn read_refusal(bank: &Path) -> Option<String> {
    let line = read_text(&bank.join(REFUSED)).ok()?;
    strip_checksum(line.strip_suffix('\n')?).map(str::to_owned)
}

impl Writer {
    /// Records a refused batch in place of the last one, durably. The text is one line of at most 4,000 bytes.
    pub fn record_refusal(&self, text: &str) -> Result<(), StoreError> {
        let path = self.bank.join(REFUSED);
        replace_file(&path, format!("{text} {}\n", checksum(text))).inspect_err(|_| {
            // Best effort: on a full disk every file counts.
            let _ = fs::remove_file(temporary_name(&path));
        })
    }

    /// Removes the record of the last refused batch, durably.
    pub fn remove_refusal(&self) -> Result<(), StoreError> {
        let path = self.bank.join(REFUSED);
        match fs::remove_file(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(()),
            removed => removed
                .and_then(|()| sync_folder(&self.bank))
                .map_err(StoreError::io("remove", &path)),
        }
    }
}

/// The size in bytes at which added changes are sent.
const MESSAGE_BYTES: usize = 1 << 20;

/// Opens a part of this process for writing, and finishes what it prepared for the `decided` epoch. The caller holds
/// the lock of its writer.
pub(super) fn open_part(
    bank: &Path,
    part: u32,
    lock: Lock,
    decided: Option<u64>,
    watch: &dyn Watch,
) -> Result<Writer, StoreError> {
    let folder = part_folder(bank, part);
    let prepared = match decided {
        Some(epoch) if Pointer::read(&folder)?.epoch < epoch => {
            Some(read_prepared(&folder, epoch)?)
        }
        _ => None,
    };
    let opening = Opening {
        compaction: AutoCompaction::Enabled,
        parts: Parts::ALONE,
        prepared,
    };
    Writer::open_locked(&folder, lock, opening, watch)
}

/// A part that is locked for writing.
enum LockedPart {
    Local {
        bank: PathBuf,
        part: u32,
        lock: Lock,
    },
    Remote(RemotePart),
}

impl LockedPart {
    /// Takes the lock of a part.
    fn take(
        bank: &Path,
        part: u32,
        parts: Parts,
        process: Option<&Arc<dyn RemoteProcess>>,
        wait: bool,
        watch: &dyn Watch,
    ) -> Result<(Self, PartStatus), StoreError> {
        if let Some(process) = process {
            let locked = RemotePart {
                process: Arc::clone(process),
                part,
            };
            let request = locked.request(Operation::Lock).number(wait.into());
            let status = crate::unpack(&locked.process.call(&request.into_bytes())?)?;
            return Ok((Self::Remote(locked), status));
        }
        ensure_part(bank, part, parts)?;
        let folder = part_folder(bank, part);
        let lock = writer_lock(&folder, wait, watch)?;
        let status = PartStatus::read(&folder).map_err(in_part(part))?;
        let bank = bank.to_path_buf();
        Ok((Self::Local { bank, part, lock }, status))
    }

    /// Removes what is prepared.
    fn discard(&self) -> Result<(), StoreError> {
        match self {
            Self::Local { bank, part, .. } => discard_prepared(&part_folder(bank, *part)),
            Self::Remote(part) => part.call(Operation::Discard).map(drop),
        }
    }

    /// Opens the part, and finishes what it prepared for the `decided` epoch.
    fn open(self, decided: Option<u64>, watch: &dyn Watch) -> Result<PartWriter, StoreError> {
        match self {
            Self::Local { bank, part, lock } => {
                let writer = open_part(&bank, part, lock, decided, watch).map_err(in_part(part))?;
                Ok(PartWriter::Local(Box::new(writer)))
            }
            Self::Remote(part) => {
                let request = part.request(Operation::OpenWriter);
                let request = request.number(decided.unwrap_or(0)).into_bytes();
                let answer = part.process.call(&request)?;
                let mut fields = Fields(&answer);
                let process = Arc::clone(&part.process);
                let database = Arc::new(RemoteDatabase::new(process, fields.number()?));
                let state = crate::unpack(fields.bytes()?)?;
                Ok(PartWriter::Remote {
                    database,
                    state,
                    part,
                })
            }
        }
    }
}

/// A part that another process has locked. Dropping it releases the lock.
pub(crate) struct RemotePart {
    process: Arc<dyn RemoteProcess>,
    part: u32,
}

impl RemotePart {
    /// Starts a request about the part.
    fn request(&self, operation: Operation) -> Message {
        Message::request(operation).number(self.part.into())
    }

    /// Sends a request that has only the part, and returns the answer.
    fn call(&self, operation: Operation) -> Result<Vec<u8>, StoreError> {
        self.process.call(&self.request(operation).into_bytes())
    }

    /// Sends the changes.
    fn send(&self, changes: Changes) -> Result<(), StoreError> {
        let mut changes = changes.finish()?;
        let mut message = self.request(Operation::Change);
        let empty = message.len();
        let mut bytes = Vec::new();
        while let Some((table, key, value)) = changes.next_change()? {
            message.push(&table_number(table)?.to_le_bytes());
            message.push(key);
            bytes.clear();
            bytes.push(u8::from(value.is_some()));
            bytes.extend_from_slice(value.unwrap_or_default());
            message.push(&bytes);
            if message.len() >= MESSAGE_BYTES {
                let full = std::mem::replace(&mut message, self.request(Operation::Change));
                self.process.call(&full.into_bytes())?;
            }
        }
        if message.len() > empty {
            self.process.call(&message.into_bytes())?;
        }
        Ok(())
    }
}

impl Drop for RemotePart {
    fn drop(&mut self) {
        // If the process is gone, so is its lock.
        let _ = self.call(Operation::Unlock);
    }
}

/// The writer of a part after the first.
pub(crate) enum PartWriter {
    Local(Box<Writer>),
    Remote {
        /// Closed before the lock is released.
        database: Arc<RemoteDatabase>,
        state: StateId,
        part: RemotePart,
    },
}

impl PartWriter {
    /// Returns the identity of the state of the part.
    pub(super) fn state_id(&self) -> Result<StateId, StoreError> {
        match self {
            Self::Local(writer) => writer.state_id(),
            Self::Remote { state, .. } => Ok(*state),
        }
    }

    /// Returns the database.
    pub(super) fn database(&self) -> PartDatabase {
        match self {
            Self::Local(writer) => PartDatabase::Local(Arc::clone(&writer.store.rocks)),
            Self::Remote { database, .. } => PartDatabase::Remote(Arc::clone(database)),
        }
    }

    /// Returns the folder for changes that do not fit in memory; `None` if the part is in another process.
    pub(super) fn spill_folder(&self) -> Option<PathBuf> {
        match self {
            Self::Local(writer) => Some(writer.spill_folder()),
            Self::Remote { .. } => None,
        }
    }

    /// Limits the memory of the writer to this many bytes. Best effort in another process.
    pub(super) fn limit_memory(&self, memory: usize) {
        match self {
            Self::Local(writer) => writer.limit_memory(memory),
            Self::Remote { part, .. } => {
                let request = part.request(Operation::LimitMemory);
                let _ = part
                    .process
                    .call(&request.number(memory as u64).into_bytes());
            }
        }
    }

    /// Merges small files.
    pub(super) fn compact_small_files(&self) -> Result<(), StoreError> {
        match self {
            Self::Local(writer) => compact_small_files(&writer.store.rocks),
            Self::Remote { part, .. } => part.call(Operation::Compact).map(drop),
        }
    }

    /// Stores the changes of the part durably, without making them part of its state.
    pub(super) fn prepare(
        &self,
        changes: Changes,
        record: &PrepareRecord,
    ) -> Result<(), StoreError> {
        match self {
            Self::Local(writer) => record.prepare(writer, changes),
            Self::Remote { part, .. } => {
                part.send(changes)?;
                let request = part.request(Operation::Prepare);
                let request = request.bytes(&crate::pack(record)?).into_bytes();
                part.process.call(&request).map(drop)
            }
        }
    }

    /// Removes what is prepared.
    pub(super) fn discard(&self) -> Result<(), StoreError> {
        match self {
            Self::Local(writer) => discard_prepared(&writer.bank),
            Self::Remote { part, .. } => part.call(Operation::Discard).map(drop),
        }
    }

    /// Makes the prepared changes the state of the part, and publishes it.
    pub(super) fn finish(&self, epoch: u64) -> Result<(), StoreError> {
        match self {
            Self::Local(writer) => writer.finish_prepared(epoch),
            Self::Remote { database, part, .. } => {
                database.forget_read_ahead();
                let request = part.request(Operation::Finish).number(epoch);
                part.process.call(&request.into_bytes()).map(drop)
            }
        }
    }
}

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
        ensure_bank(path)?;
        let lock = writer_lock(path, wait, watch)?;
        let parts = parts_of(path)?;
        if parts.is_cluster() {
            return open_writer(path, lock, parts, processes, wait, watch);
        }
        let opening = Opening::single(AutoCompaction::Enabled);
        Self::open_locked(path, lock, opening, watch)
    }
}

/// Opens a cluster bank for writing and completes or undoes an interrupted commit; the caller holds the lock of
/// the first part.
pub(crate) fn open_writer(
    bank: &Path,
    lock: Lock,
    parts: Parts,
    processes: &OtherProcesses,
    wait: bool,
    watch: &dyn Watch,
) -> Result<Writer, StoreError> {
    let mut all = vec![PartStatus::read(bank).map_err(in_part(0))?];
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
    let others: Vec<Result<PartWriter, StoreError>> = locked
        .into_par_iter()
        .map(|part| part.open(decided, watch))
        .collect();
    let others = others.into_iter().collect::<Result<Vec<_>, _>>()?;
    // The first part is opened last: it publishes what an interrupted commit left, and readers follow it.
    let mut writer = open_part(bank, 0, lock, decided, watch).map_err(in_part(0))?;
    let expected = writer.state_id()?;
    for (part, other) in (1..).zip(&others) {
        ensure_same_state(part, other.state_id()?, expected)?;
    }
    let databases = others.iter().map(PartWriter::database);
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
        fill(&place, BankKind::of_part(part, parts))?;
    }
    sync_folder(&folder).map_err(StoreError::io("write to", &folder))
}
