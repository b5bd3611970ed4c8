//! Creation of backups: which files of a bank they contain, and which of them are written.

use std::collections::{HashMap, HashSet};
use std::fs::{self, Metadata};
use std::io;
use std::num::NonZeroU32;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inventory::{BackupSummary, FilePlace, Inventory, InventoryFile, REJECTS, STATE};
use super::repository::{
    BackupPlace, DamagedBackup, Faults, FoundInventory, Repository, backup_fault, ensure_separate,
    faults,
};
use crate::disk::{ensure_free_space, hash_file, list, mode};
use crate::error::{BackupError, StoreError};
use crate::publish::marker::ensure_bank;
use crate::publish::part_files::{local_parts, part_folder};
use crate::publish::published::state_folder;
use crate::publish::reader::Reader;
use crate::tables::records::BatchId;
use seedbank_algorithms::watch::{Quiet, Watch};

/// Options of `backup`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BackupRequest {
    /// The number of restorable backups to keep, including the new one; older ones are deleted. `None` deletes
    /// none.
    pub keep: Option<NonZeroU32>,
    /// Verify the contents of all files of the folder. Damaged files, and files of killed backups, are written
    /// again if the bank still has them. If `false`, only names and sizes are compared.
    pub verify: bool,
    /// Wait for another backup or restore that uses the folder.
    pub wait: bool,
}

/// The report of `backup`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BackupReport {
    /// The new backup.
    #[serde(flatten)]
    pub made: BackupSummary,
    /// The number of files written; the folder already had the others.
    pub written_files: u64,
    /// The size of the files written, in bytes.
    pub written_bytes: u64,
    /// The deleted older backups, in order.
    pub deleted: Vec<u32>,
    /// The size of the removed files, in bytes.
    pub freed_bytes: u64,
    /// Other backups in the folder that cannot be restored.
    pub damaged: Vec<DamagedBackup>,
    /// The elapsed time in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// The contents of the folder before the backup.
struct Existing {
    inventories: Vec<FoundInventory>,
    files: HashMap<blake3::Hash, u64>,
    faults: Faults,
}

impl Existing {
    fn readable(&self) -> impl DoubleEndedIterator<Item = &Inventory> {
        self.inventories
            .iter()
            .filter_map(|(_, inventory)| inventory.as_ref().ok())
    }

    /// Returns whether an intact file with this hash and size exists.
    fn has(&self, hash: &blake3::Hash, bytes: u64) -> bool {
        self.files.get(hash) == Some(&bytes) && !self.faults.contains_key(hash)
    }

    /// Returns the entry of a table file without reading it, if the latest inventory has it with the same name,
    /// size and modification time.
    fn known(&self, source: &Source) -> Option<InventoryFile> {
        source.table_file()?;
        let files = &self.readable().next_back()?.files;
        let at = files.binary_search_by(|listed| listed.name.cmp(&source.name));
        let listed = &files[at.ok()?];
        let is_same = listed.bytes == source.bytes && listed.modified == source.modified;
        (is_same && self.has(&listed.hash, listed.bytes)).then(|| InventoryFile {
            mode: source.mode,
            ..listed.clone()
        })
    }
}

/// The files of the new backup so far.
#[derive(Default)]
struct Written {
    files: Vec<InventoryFile>,
    /// The hashes and sizes of the files that the folder did not have.
    fresh: HashMap<blake3::Hash, u64>,
}

/// Backs up the published state of a bank to a folder, which is created if it is missing, or to other storage. `at` is the time in
/// seconds since 1970.
///
/// The checksums of new table files are verified first: a damaged state is not backed up. Existing table files
/// were verified when they were copied.
///
/// Cost: reads the entries of each new table file; every new file is read twice more, once from the copy, and
/// written once.
pub fn backup(
    bank: &Path,
    place: BackupPlace<'_>,
    request: &BackupRequest,
    at: u64,
    watch: &dyn Watch,
) -> Result<BackupReport, StoreError> {
    let start = Instant::now();
    // Errors of the bank are reported before a folder is created.
    ensure_bank(bank)?;
    let parts = local_parts(bank, "a backup")?;
    drop(Reader::open_published(bank)?);
    if let BackupPlace::Folder(folder) = place {
        ensure_separate(bank, parts.count(), folder)?;
    }
    let modes = modes(bank, parts.count())?;
    let of_bank = modes.first().copied().unwrap_or(0o755);
    let repository = Repository::open_or_create(place, of_bank)?;
    let lock = repository.lock_exclusive(request.wait, watch)?;
    // Waiting for the lock may have taken long, so the latest state is opened only now.
    let reader = Reader::open(bank)?;
    repository.prepare()?;
    let (inventories, files) = (repository.inventories()?, repository.files()?);
    let mut faults = faults(&repository, &inventories, &files, request.verify, watch)?;
    if request.verify {
        distrust_unreferenced(&inventories, &files, &mut faults);
    }
    let existing = Existing {
        inventories,
        files,
        faults,
    };
    let identity = reader.rocks.identity();
    let is_other = |inventory: &Inventory| !inventory.bank.is_empty() && inventory.bank != identity;
    if !identity.is_empty() && existing.readable().next_back().is_some_and(is_other) {
        return Err(BackupError::OtherBank(place.path()).into());
    }
    let mut written = Written::default();
    let copied = copy_all(bank, &reader, &repository, &existing, &mut written, watch);
    if copied
        .as_ref()
        .is_err_and(|e| !matches!(e, StoreError::Interrupted(_)))
    {
        // On a full disk the new files are in the way. After an interrupt, the next backup uses them.
        discard(&repository, &existing, &written);
    }
    copied?;
    let last = existing.inventories.last().map_or(0, |(number, _)| *number);
    let counters = reader.counters()?;
    let entry = Inventory {
        made: BackupSummary {
            backup: last.checked_add(1).ok_or(StoreError::Full("backup"))?,
            at,
            format: reader.format()?,
            epoch: reader.epoch(),
            batch: counters.batch,
            refresh: counters.refresh,
            files: written.files.len() as u64,
            bytes: written.files.iter().map(|file| file.bytes).sum(),
            parts: reader.part_count(),
        },
        bank: identity,
        modes,
        files: written.files,
    };
    // The files are named from here on; before, another process may have removed them.
    lock.check(repository.path())?;
    repository.write_inventory(&entry)?;
    drop(reader);
    let made = entry.made.clone();
    let (written_files, written_bytes) = (written.fresh.len() as u64, written.fresh.values().sum());
    lock.check(repository.path())?;
    let retention = delete_old(&repository, existing, entry, &written.fresh, request.keep)?;
    Ok(BackupReport {
        made,
        written_files,
        written_bytes,
        deleted: retention.deleted,
        freed_bytes: retention.freed_bytes,
        damaged: retention.damaged,
        seconds: start.elapsed().as_secs_f64(),
    })
}

/// Marks files that no inventory names as faulty, since they were not verified.
fn distrust_unreferenced(
    inventories: &[FoundInventory],
    files: &HashMap<blake3::Hash, u64>,
    faults: &mut Faults,
) {
    let readable = inventories
        .iter()
        .filter_map(|(_, inventory)| inventory.as_ref().ok());
    let named: HashSet<blake3::Hash> = readable.flat_map(hashes).collect();
    for hash in files.keys().filter(|hash| !named.contains(hash)) {
        faults.insert(*hash, "was not verified".to_owned());
    }
}

/// Copies the files of the state that the folder does not have.
fn copy_all(
    bank: &Path,
    reader: &Reader,
    repository: &Repository,
    existing: &Existing,
    written: &mut Written,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    let sources = sources(bank, SourceState::new(reader)?)?;
    let known: Vec<Option<InventoryFile>> = sources
        .iter()
        .map(|source| existing.known(source))
        .collect();
    let new = || {
        sources
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
    };
    let bytes = new().map(|(source, _)| source.bytes).sum();
    if !repository.is_remote() {
        ensure_free_space(repository.path(), new().count() as u64, bytes)?;
    }
    for (part, database) in reader.local_databases() {
        let of_part = new().filter(|(source, _)| source.part == part);
        let tables = of_part.filter_map(|(source, _)| source.table_file());
        database.verify_checksums(&tables.collect(), watch)?;
    }
    watch.stage("copy", Some(bytes));
    for (source, known) in sources.iter().zip(known) {
        match known {
            Some(listed) => written.files.push(listed),
            None => store_file(repository, existing, source, written, watch)?,
        }
    }
    Ok(())
}

/// Copies a file to the folder, unless an intact file with its contents exists.
fn store_file(
    repository: &Repository,
    existing: &Existing,
    source: &Source,
    written: &mut Written,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    let store = || {
        let has_same_size = existing.files.values().any(|bytes| *bytes == source.bytes);
        if has_same_size {
            let content = hash_file(&source.path, &Quiet(watch))?;
            if existing.has(&content.hash, content.bytes) {
                watch.advance(content.bytes);
                return Ok((content, false));
            }
        }
        let content = repository.store(&source.path, source.mode, watch)?;
        Ok((content, !existing.has(&content.hash, content.bytes)))
    };
    match store() {
        Err(e) if source.has_disappeared(&e) => Ok(()),
        Err(e) => Err(e),
        Ok((content, is_fresh)) => {
            if is_fresh {
                written.fresh.insert(content.hash, content.bytes);
            }
            written.files.push(InventoryFile {
                name: source.name.clone(),
                bytes: content.bytes,
                hash: content.hash,
                modified: source.modified,
                mode: source.mode,
            });
            Ok(())
        }
    }
}

/// Removes the files of a failed backup that no other backup needs. Best effort: the next backup tries again.
fn discard(repository: &Repository, existing: &Existing, written: &Written) {
    if existing
        .inventories
        .iter()
        .any(|(_, inventory)| inventory.is_err())
    {
        return;
    }
    let needed: HashSet<blake3::Hash> = existing.readable().flat_map(hashes).collect();
    for hash in written.fresh.keys() {
        if !needed.contains(hash) {
            let _ = repository.remove(hash);
        }
    }
}

fn hashes(inventory: &Inventory) -> impl Iterator<Item = blake3::Hash> {
    inventory.files.iter().map(|file| file.hash)
}

/// The effects of deleting old backups.
struct Retention {
    deleted: Vec<u32>,
    freed_bytes: u64,
    damaged: Vec<DamagedBackup>,
}

/// Deletes old backups, and then the files that no inventory names. If a remaining inventory is unreadable, its
/// files are unknown, so all files stay.
fn delete_old(
    repository: &Repository,
    mut existing: Existing,
    inventory: Inventory,
    fresh: &HashMap<blake3::Hash, u64>,
    keep: Option<NonZeroU32>,
) -> Result<Retention, StoreError> {
    existing.faults.retain(|hash, _| !fresh.contains_key(hash));
    existing.files.extend(fresh);
    existing
        .inventories
        .push((inventory.made.backup, Ok(inventory)));
    let fault = |(_, inventory): &FoundInventory| match inventory {
        Ok(inventory) => backup_fault(inventory, &existing.faults),
        Err(what) => Some(what.clone()),
    };
    let mut whole = existing
        .inventories
        .iter()
        .filter(|found| fault(found).is_none());
    let first = keep.and_then(|keep| whole.nth_back(keep.get() as usize - 1));
    let first = first.map_or(0, |(number, _)| *number);
    let (gone, stay): (Vec<&FoundInventory>, Vec<&FoundInventory>) = existing
        .inventories
        .iter()
        .partition(|(number, _)| *number < first);
    let deleted: Vec<u32> = gone.iter().map(|(number, _)| *number).collect();
    if !deleted.is_empty() {
        repository.delete_inventories(&deleted)?;
    }
    let mut freed_bytes = 0;
    if stay.iter().all(|(_, inventory)| inventory.is_ok()) {
        let needed: HashSet<blake3::Hash> = stay
            .iter()
            .filter_map(|(_, inventory)| inventory.as_ref().ok())
            .flat_map(hashes)
            .collect();
        for (hash, bytes) in &existing.files {
            if !needed.contains(hash) {
                repository.remove(hash)?;
                freed_bytes += bytes;
            }
        }
    }
    let damaged = stay.into_iter().filter_map(|found| {
        Some(DamagedBackup {
            backup: found.0,
            what: fault(found)?,
        })
    });
    Ok(Retention {
        deleted,
        freed_bytes,
        damaged: damaged.collect(),
    })
}

/// A file of the bank.
pub(crate) struct Source {
    /// The part of a cluster bank; 0 for the folder of the bank.
    pub(crate) part: u32,
    /// The folder in the part: that of the state, or of rejected records.
    folder: &'static str,
    /// The name in the inventory.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// The modification time, in nanoseconds since 1970.
    pub(crate) modified: i64,
    /// The permissions.
    pub(crate) mode: u32,
}

impl Source {
    fn new(place: FilePlace<'_>, path: PathBuf, metadata: &Metadata) -> Self {
        let seconds = metadata.mtime().saturating_mul(1_000_000_000);
        Self {
            part: place.part,
            folder: place.folder,
            name: place.name(),
            path,
            bytes: metadata.len(),
            modified: seconds.saturating_add(metadata.mtime_nsec()),
            mode: mode(metadata),
        }
    }

    /// Returns the name if it is a table file, which never changes; else `None`.
    pub(crate) fn table_file(&self) -> Option<&str> {
        let is_table = self.folder == STATE && self.path.extension()? == "sst";
        self.path.file_name()?.to_str().filter(|_| is_table)
    }

    /// Returns whether an error means that a list of rejected records disappeared. That is regular: the list is
    /// renamed when its batch is committed.
    pub(crate) fn has_disappeared(&self, error: &StoreError) -> bool {
        let StoreError::Io { source, path, .. } = error else {
            return false;
        };
        self.folder == REJECTS && *path == self.path && source.kind() == io::ErrorKind::NotFound
    }
}

/// Returns whether a file is a log for people or the lock of RocksDB.
fn is_informational(name: &str) -> bool {
    name == "LOG" || name.starts_with("LOG.old") || name == "LOCK"
}

/// Returns whether a name is that of a list of rejected records that belongs to a state with this last batch:
/// the list of a batch, or of an attempt at a batch up to the next one.
fn is_reject_list(name: &str, last: BatchId) -> bool {
    let name = name.strip_prefix("batch-");
    let Some(name) = name.and_then(|name| name.strip_suffix(".jsonl")) else {
        return false;
    };
    let (number, most) = match name.split_once("-attempt-") {
        Some((number, _)) => (number, last.saturating_add(1)),
        None => (name, last),
    };
    let number: Option<BatchId> = number.parse().ok();
    number.is_none_or(|number| number <= most)
}

/// A published state of a bank, which the caller has locked in all parts.
#[derive(Clone, Copy)]
pub(crate) struct SourceState {
    pub(crate) epoch: u64,
    /// The last batch in the state.
    pub(crate) batch: BatchId,
    /// The number of parts; 1 for a bank in one database.
    pub(crate) parts: u32,
}

impl SourceState {
    /// Returns the state that a reader has open.
    pub(crate) fn new(reader: &Reader) -> Result<Self, StoreError> {
        Ok(Self {
            epoch: reader.epoch(),
            batch: reader.counters()?.batch,
            parts: reader.parts().count(),
        })
    }
}

/// Returns the permissions of the folder of each part of a bank.
pub(crate) fn modes(bank: &Path, parts: u32) -> Result<Vec<u32>, StoreError> {
    let folders = (0..parts).map(|part| part_folder(bank, part));
    let modes = folders.map(|folder| {
        let metadata = fs::metadata(&folder);
        Ok(mode(&metadata.map_err(StoreError::io("look at", folder))?))
    });
    modes.collect()
}

/// Returns the files of a published state and the lists of rejected records that belong to it, by name.
pub(crate) fn sources(bank: &Path, state: SourceState) -> Result<Vec<Source>, StoreError> {
    let mut sources = Vec::new();
    for part in 0..state.parts {
        add_part(&mut sources, &part_folder(bank, part), part, state)?;
    }
    sources.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(sources)
}

/// Adds the files of a part, whose folder this is.
fn add_part(
    sources: &mut Vec<Source>,
    bank: &Path,
    part: u32,
    state: SourceState,
) -> Result<(), StoreError> {
    let mut add = |folder, file: &str, path, metadata: &Metadata| {
        sources.push(Source::new(
            FilePlace { part, folder, file },
            path,
            metadata,
        ));
    };
    let folder = state_folder(bank, state.epoch);
    let entries = fs::read_dir(&folder).map_err(StoreError::io("read", &folder))?;
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read", &folder))?;
        let path = entry.path();
        let metadata = fs::metadata(&path).map_err(StoreError::io("look at", &path))?;
        let name = entry.file_name().into_string().ok();
        let Some(name) = name.filter(|_| metadata.is_file()) else {
            return Err(StoreError::State {
                state: "published",
                what: format!("{} is not a file of a state", path.display()),
            });
        };
        if !is_informational(&name) {
            add(STATE, &name, path, &metadata);
        }
    }
    let folder = bank.join(REJECTS);
    for name in list(&folder)? {
        if !is_reject_list(&name, state.batch) {
            continue;
        }
        let path = folder.join(&name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => add(REJECTS, &name, path, &metadata),
            Ok(_) => {}
            // The list was renamed when its batch was committed.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(StoreError::io("look at", path)(e)),
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::is_reject_list;

    #[test]
    fn lists_of_later_batches_belong_to_later_states() {
        for name in [
            "batch-000003.jsonl",
            "batch-000003-attempt-1.jsonl",
            "batch-000004-attempt-12.jsonl",
        ] {
            assert!(is_reject_list(name, 3), "{name}");
        }
        for name in [
            "batch-000004.jsonl",
            "batch-000005-attempt-1.jsonl",
            "batch-000003.txt",
            "000003.jsonl",
        ] {
            assert!(!is_reject_list(name, 3), "{name}");
        }
    }
}
