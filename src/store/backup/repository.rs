//! The place of backups, a folder or other storage: its marker, its lock, its files and inventories, and their verification.
//!
//! Only entries with names that this module assigns are ever removed.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read, Write};
use std::path::{Component, Path, PathBuf};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inventory::{BackupSummary, Inventory};
use crate::disk::{
    Content, Lock, copy, copy_reader, hash_and_write, hash_file, hash_reader, list, lock_file,
    make_folders, open_regular, read_text, replace_file, set_mode, sync_folder,
};
use crate::error::{BackupError, StoreError, SystemErrorKind, is_file_damage};
use crate::publish::part_files::part_folder;
use seedbank_algorithms::watch::{Interrupted, Quiet, Watch, is_interrupted};

/// The file that marks a folder as one with backups; contains the layout version.
const MARKER: &str = "SEEDBANK-BACKUPS";

/// The text of the marker before the layout version.
const MARKER_TEXT: &str = "seedbank backups, layout ";

/// The layout version.
const LAYOUT: u32 = 1;

/// The lock file of the folder.
const LOCK: &str = "lock";

/// The name of the file that is being written.
const UNFINISHED: &str = "unfinished";

/// The maximum size of an inventory in bytes. A million files take 150 MB.
const MAX_INVENTORY: u64 = 1 << 30;

/// The number of a backup, and its inventory or what is wrong with it.
pub(super) type FoundInventory = (u32, Result<Inventory, String>);

/// A folder of backups, or other storage of them.
pub(super) struct Repository<'a> {
    /// The folder, or the address for messages.
    path: PathBuf,
    /// Storage other than a folder.
    storage: Option<&'a dyn BackupStorage>,
}

impl<'a> Repository<'a> {
    /// Opens an existing place of backups.
    pub(super) fn open(place: BackupPlace<'a>) -> Result<Self, StoreError> {
        let path = place.path();
        let marker = path.join(MARKER);
        let storage = match place {
            BackupPlace::Folder(_) => None,
            BackupPlace::Storage(storage) => Some(storage),
        };
        let text = match storage {
            None => read_text(&marker),
            Some(storage) => read_stored(storage, MARKER),
        };
        let text = match text {
            Ok(text) => text,
            Err(e) if is_damage(storage, &e) => return Err(BackupError::NoBackups(path).into()),
            Err(e) => return Err(StoreError::io("read", marker)(e)),
        };
        let layout = text.strip_prefix(MARKER_TEXT);
        let layout = layout.and_then(|number| number.trim_end().parse().ok());
        match layout {
            Some(LAYOUT) => Ok(Self { path, storage }),
            Some(found) => Err(BackupError::OtherLayout {
                path,
                found,
                known: LAYOUT,
            }
            .into()),
            None => Err(BackupError::NoBackups(path).into()),
        }
    }

    /// Opens a place of backups. Creates a folder with these permissions if it is missing; initialises the place
    /// if it is empty.
    pub(super) fn open_or_create(place: BackupPlace<'a>, mode: u32) -> Result<Self, StoreError> {
        let path = match place {
            BackupPlace::Folder(path) => path,
            BackupPlace::Storage(storage) => return Self::open_or_begin(place, storage),
        };
        let is_new = !path.exists();
        make_folders(path).map_err(StoreError::io("make", path))?;
        if is_new {
            set_mode(path, mode)?;
        }
        match Self::open(place) {
            Err(StoreError::Backup(BackupError::NoBackups(_))) => {}
            opened => return opened,
        }
        // A killed process may have left the temporary file of the marker.
        let temporary = format!("{MARKER}.new");
        let entries = fs::read_dir(path).map_err(StoreError::io("read", path))?;
        for entry in entries {
            let entry = entry.map_err(StoreError::io("read", path))?;
            if entry.file_name() != *temporary {
                return Err(BackupError::Foreign(path.to_path_buf()).into());
            }
        }
        replace_file(&path.join(MARKER), format!("{MARKER_TEXT}{LAYOUT}\n"))?;
        Self::open(place)
    }

    /// Opens storage, and writes its marker if it is empty.
    fn open_or_begin(
        place: BackupPlace<'a>,
        storage: &dyn BackupStorage,
    ) -> Result<Self, StoreError> {
        match Self::open(place) {
            Err(StoreError::Backup(BackupError::NoBackups(_))) => {}
            opened => return opened,
        }
        let path = place.path();
        let files = storage.files("").map_err(StoreError::io("list", &path))?;
        if !files.is_empty() {
            return Err(BackupError::Foreign(path).into());
        }
        let marker = format!("{MARKER_TEXT}{LAYOUT}\n").into_bytes();
        // Another process may have written it meanwhile.
        let created = storage.create(MARKER, marker);
        created.map_err(StoreError::io("write", path.join(MARKER)))?;
        Self::open(place)
    }

    /// Returns whether an error means that a file that was read is missing or damaged.
    pub(super) fn is_damage(&self, error: &io::Error) -> bool {
        is_damage(self.storage, error)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Returns whether the files are in storage other than a folder.
    pub(super) const fn is_remote(&self) -> bool {
        self.storage.is_some()
    }

    /// Locks the place for a backup; with `wait` it waits for other processes.
    pub(super) fn lock_exclusive(
        &self,
        wait: bool,
        watch: &dyn Watch,
    ) -> Result<PlaceLock, StoreError> {
        let path = self.path.join(LOCK);
        if let Some(storage) = self.storage {
            let lock = storage.lock(LOCK, wait).map_err(failed("lock", &path))?;
            let lock = lock.ok_or_else(|| BackupError::Busy(self.path.clone()))?;
            return Ok(PlaceLock::Storage(lock));
        }
        let lock = Lock::exclusive(lock_file(&path)?, &path, wait, watch)?;
        let lock = lock.ok_or_else(|| BackupError::Busy(self.path.clone()))?;
        Ok(PlaceLock::Folder(lock))
    }

    /// Locks the folder against backups; needs no write permission. `None` if the lock file is missing, as in
    /// a copy of the folder. Other storage has no such lock: there, a backup that is deleted while it is read
    /// has missing files.
    pub(super) fn lock_shared(&self) -> Result<Option<Lock>, StoreError> {
        if self.is_remote() {
            return Ok(None);
        }
        let path = self.path.join(LOCK);
        match open_regular(&path) {
            Ok(lock) => match Lock::try_shared(lock) {
                Ok(lock) => Ok(Some(lock)),
                Err(fs::TryLockError::WouldBlock) => {
                    Err(BackupError::Busy(self.path.clone()).into())
                }
                Err(fs::TryLockError::Error(e)) => Err(StoreError::locking(&path)(e)),
            },
            Err(e) if is_file_damage(&e) => Ok(None),
            Err(e) => Err(StoreError::io("open", path)(e)),
        }
    }

    /// Returns the path of the file with this hash.
    pub(super) fn file(&self, hash: &blake3::Hash) -> PathBuf {
        self.path.join("files").join(hash.to_hex().as_str())
    }

    /// Returns the temporary path of a file before its hash is known.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.path.join("files").join(UNFINISHED)
    }

    fn inventory(&self, number: u32) -> PathBuf {
        self.path.join("backups").join(number.to_string())
    }

    /// Creates missing folders and removes incomplete files.
    pub(super) fn prepare(&self) -> Result<(), StoreError> {
        if self.is_remote() {
            return Ok(());
        }
        for folder in ["files", "backups"] {
            let folder = self.path.join(folder);
            make_folders(&folder).map_err(StoreError::io("make", &folder))?;
        }
        remove_if_exists(&self.unfinished())?;
        for name in list(&self.path.join("backups"))? {
            let number = name.strip_suffix(".new").map(str::parse::<u32>);
            if matches!(number, Some(Ok(_))) {
                remove_if_exists(&self.path.join("backups").join(&name))?;
            }
        }
        Ok(())
    }

    /// Returns all inventories, by number.
    pub(super) fn inventories(&self) -> Result<Vec<FoundInventory>, StoreError> {
        let names = match self.storage {
            None => list(&self.path.join("backups"))?,
            Some(storage) => {
                let files = storage.files("backups");
                let files = files.map_err(failed("list", &self.path))?;
                files.into_iter().map(|(name, _)| name).collect()
            }
        };
        let mut numbers: Vec<u32> = names.iter().filter_map(|name| number(name)).collect();
        numbers.sort_unstable();
        let read = |number| Ok((number, self.read_inventory(number)?));
        numbers.into_iter().map(read).collect()
    }

    fn read_inventory(&self, number: u32) -> Result<Result<Inventory, String>, StoreError> {
        let path = self.inventory(number);
        let read = match self.storage {
            None => {
                let mut text = String::new();
                open_regular(&path)
                    .and_then(|file| file.take(MAX_INVENTORY).read_to_string(&mut text))
                    .map(|_| text)
            }
            Some(storage) => read_stored(storage, &format!("backups/{number}")),
        };
        let text = match read {
            Ok(text) => text,
            Err(e) if self.is_damage(&e) => {
                return Ok(Err(format!("its inventory cannot be read: {e}")));
            }
            Err(e) => return Err(failed("read", &path)(e)),
        };
        Ok(match Inventory::parse(&text) {
            Ok(inventory) if inventory.made.backup == number => Ok(inventory),
            Ok(inventory) => Err(format!(
                "its inventory is that of backup {}",
                inventory.made.backup
            )),
            Err(what) => Err(format!("its inventory cannot be read: {what}")),
        })
    }

    /// Writes an inventory durably, after its files.
    pub(super) fn write_inventory(&self, inventory: &Inventory) -> Result<(), StoreError> {
        if let Some(storage) = self.storage {
            let path = self.inventory(inventory.made.backup);
            let text = inventory.text().map_err(io::Error::other);
            let text = text.map_err(StoreError::io("write", &path))?;
            let name = format!("backups/{}", inventory.made.backup);
            let created = storage.create(&name, text.into_bytes());
            if created.map_err(failed("write", &path))? {
                return Ok(());
            }
            // Another process has taken over the lock and made this backup.
            return Err(BackupError::Busy(self.path.clone()).into());
        }
        let files = self.path.join("files");
        sync_folder(&files).map_err(StoreError::io("write to", &files))?;
        let path = self.inventory(inventory.made.backup);
        let text = inventory.text().map_err(io::Error::other);
        replace_file(&path, text.map_err(StoreError::io("write", &path))?)
    }

    /// Deletes inventories durably, the oldest first.
    pub(super) fn delete_inventories(&self, numbers: &[u32]) -> Result<(), StoreError> {
        for number in numbers {
            match self.storage {
                None => remove_if_exists(&self.inventory(*number))?,
                Some(storage) => storage
                    .remove(&format!("backups/{number}"))
                    .map_err(failed("remove", &self.inventory(*number)))?,
            }
        }
        if self.is_remote() {
            return Ok(());
        }
        let folder = self.path.join("backups");
        sync_folder(&folder).map_err(StoreError::io("write to", &folder))
    }

    /// Returns the hashes and sizes of the existing files.
    pub(super) fn files(&self) -> Result<HashMap<blake3::Hash, u64>, StoreError> {
        let folder = self.path.join("files");
        let mut files = HashMap::new();
        if let Some(storage) = self.storage {
            for (name, bytes) in storage.files("files").map_err(failed("list", &folder))? {
                if let Ok(hash) = blake3::Hash::from_hex(&name) {
                    files.insert(hash, bytes);
                }
            }
            return Ok(files);
        }
        for name in list(&folder)? {
            let Ok(hash) = blake3::Hash::from_hex(&name) else {
                continue;
            };
            let path = folder.join(&name);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_file() => drop(files.insert(hash, found.len())),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(StoreError::io("look at", path)(e)),
            }
        }
        Ok(files)
    }

    /// Removes a file that no inventory names.
    pub(super) fn remove(&self, hash: &blake3::Hash) -> Result<(), StoreError> {
        match self.storage {
            None => remove_if_exists(&self.file(hash)),
            Some(storage) => storage
                .remove(&stored_name(hash))
                .map_err(failed("remove", &self.file(hash))),
        }
    }

    /// Copies a file of a bank to the place, under the hash of its contents, and reads it back.
    pub(super) fn store(
        &self,
        from: &Path,
        mode: u32,
        watch: &dyn Watch,
    ) -> Result<Content, StoreError> {
        let Some(storage) = self.storage else {
            let unfinished = self.unfinished();
            let content = copy(from, &unfinished, mode, watch)?;
            let place = self.file(&content.hash);
            // Replaces a file with this hash that is damaged.
            fs::rename(&unfinished, &place).map_err(StoreError::io("write", &place))?;
            return Ok(content);
        };
        // The name must be known before the first byte is written.
        let mut content = hash_file(from, &Quiet(watch))?;
        let mut place = self.file(&content.hash);
        loop {
            let writer = storage.writer(&stored_name(&content.hash));
            let mut writer = writer.map_err(failed("write", &place))?;
            let written = hash_and_write(from, &place, &mut writer, watch)?;
            if written == content {
                writer.finish().map_err(failed("write", &place))?;
                break;
            }
            // The bank has added to the file meanwhile.
            drop(writer);
            content = written;
            place = self.file(&content.hash);
        }
        let found = self.hash(&content.hash, &Quiet(watch))?;
        if found == content {
            return Ok(content);
        }
        let error = io::Error::new(
            io::ErrorKind::InvalidData,
            "the storage returns other bytes than were written",
        );
        Err(StoreError::io("read back", place)(error))
    }

    /// Reads a file and returns the hash of its contents.
    pub(super) fn hash(
        &self,
        hash: &blake3::Hash,
        watch: &dyn Watch,
    ) -> Result<Content, StoreError> {
        let path = self.file(hash);
        match self.storage {
            None => hash_file(&path, watch),
            Some(storage) => hash_reader(&path, &mut open_stored(storage, hash, &path)?, watch),
        }
    }

    /// Copies a file of a backup to a path that must not exist.
    pub(super) fn copy_to(
        &self,
        hash: &blake3::Hash,
        to: &Path,
        mode: u32,
        watch: &dyn Watch,
    ) -> Result<Content, StoreError> {
        let from = self.file(hash);
        match self.storage {
            None => copy(&from, to, mode, watch),
            Some(storage) => {
                let mut source = open_stored(storage, hash, &from)?;
                copy_reader(&from, &mut source, to, mode, watch)
            }
        }
    }
}

/// As [`Repository::is_damage`]. That the network fails does not mean that a file is damaged.
fn is_damage(storage: Option<&dyn BackupStorage>, error: &io::Error) -> bool {
    match storage {
        None => is_file_damage(error),
        Some(_) => matches!(
            error.kind(),
            io::ErrorKind::NotFound | io::ErrorKind::InvalidData
        ),
    }
}

/// Returns the name of the file with this hash in storage.
fn stored_name(hash: &blake3::Hash) -> String {
    format!("files/{}", hash.to_hex())
}

fn open_stored(
    storage: &dyn BackupStorage,
    hash: &blake3::Hash,
    path: &Path,
) -> Result<Box<dyn Read + Send>, StoreError> {
    let opened = storage
        .open(&stored_name(hash))
        .map_err(failed("read", path))?;
    let missing = || StoreError::io("read", path)(io::ErrorKind::NotFound.into());
    opened.ok_or_else(missing)
}

/// Reads a small file of storage.
fn read_stored(storage: &dyn BackupStorage, name: &str) -> io::Result<String> {
    let opened = storage.open(name)?.ok_or(io::ErrorKind::NotFound)?;
    let mut text = String::new();
    opened.take(MAX_INVENTORY).read_to_string(&mut text)?;
    Ok(text)
}

/// As [`StoreError::io`], unless the work was interrupted.
fn failed(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> StoreError {
    let path = path.to_path_buf();
    move |e| {
        if is_interrupted(&e) {
            return Interrupted.into();
        }
        StoreError::io(doing, path)(e)
    }
}

/// Parses the name of an inventory.
fn number(name: &str) -> Option<u32> {
    let number: u32 = name.parse().ok()?;
    (number > 0 && number.to_string() == name).then_some(number)
}

fn remove_if_exists(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path)(e)),
        _ => Ok(()),
    }
}

/// Storage of files without folders of its own, in which every file appears at once and complete. Names are
/// relative, with slashes.
pub trait BackupStorage: Send + Sync {
    /// Returns the address for messages, without secrets.
    fn name(&self) -> &str;

    /// Returns the names and sizes of the files whose names begin with `folder` and a slash, without these; of
    /// all files if it is empty.
    fn files(&self, folder: &str) -> io::Result<Vec<(String, u64)>>;

    /// Opens a file; `None` if it does not exist.
    fn open(&self, file: &str) -> io::Result<Option<Box<dyn Read + Send>>>;

    /// Writes a small file that must not exist. Returns `false` if it does.
    fn create(&self, file: &str, text: Vec<u8>) -> io::Result<bool>;

    /// Begins to write a file, which may exist.
    fn writer(&self, file: &str) -> io::Result<Box<dyn BackupWriter>>;

    /// Removes a file, which may be missing.
    fn remove(&self, file: &str) -> io::Result<()>;

    /// Locks the storage with a file of this name; `None` if another process has it. With `wait`, waits for that
    /// process. A process that was killed must not keep the lock for ever.
    fn lock(&self, file: &str, wait: bool) -> io::Result<Option<Box<dyn BackupLock>>>;
}

/// A file that is being written. Dropped, it leaves nothing.
pub trait BackupWriter: Write {
    /// Makes the file visible, in place of an existing one.
    fn finish(self: Box<Self>) -> io::Result<()>;
}

/// A lock on the storage. Dropped, it is released.
pub trait BackupLock {
    /// Fails if another process may have taken over the lock.
    fn check(&self) -> io::Result<()>;
}

/// Where backups are kept.
#[derive(Clone, Copy)]
pub enum BackupPlace<'a> {
    /// A folder.
    Folder(&'a Path),
    /// Storage of the caller.
    Storage(&'a dyn BackupStorage),
}

impl<'a> From<&'a Path> for BackupPlace<'a> {
    fn from(folder: &'a Path) -> Self {
        Self::Folder(folder)
    }
}

impl BackupPlace<'_> {
    /// Returns the folder or the address, for messages.
    pub(super) fn path(&self) -> PathBuf {
        match self {
            Self::Folder(path) => path.to_path_buf(),
            Self::Storage(storage) => PathBuf::from(storage.name()),
        }
    }
}

/// A lock on a place.
pub(super) enum PlaceLock {
    /// The open file of a folder.
    Folder(#[expect(dead_code, reason = "the lock is held until it is dropped")] Lock),
    Storage(Box<dyn BackupLock>),
}

impl PlaceLock {
    /// Fails if another process may have taken over the lock.
    pub(super) fn check(&self, path: &Path) -> Result<(), StoreError> {
        match self {
            Self::Folder(_) => Ok(()),
            Self::Storage(lock) => lock.check().map_err(StoreError::io("lock", path)),
        }
    }
}

/// Fails with [`BackupError::Nested`] if the folder of one of the parts of a bank contains the other folder or is in it,
/// also through links. The bank or the folder may be missing. A bank in one database has one part.
pub(crate) fn ensure_separate(bank: &Path, parts: u32, folder: &Path) -> Result<(), StoreError> {
    let real_folder = resolved(folder)?;
    for part in 0..parts {
        let bank = part_folder(bank, part);
        let real_bank = resolved(&bank)?;
        if real_bank.starts_with(&real_folder) || real_folder.starts_with(&real_bank) {
            let folder = folder.to_path_buf();
            return Err(BackupError::Nested { bank, folder }.into());
        }
    }
    Ok(())
}

/// Resolves symbolic links and dots in a path; parts that do not exist stay as written.
fn resolved(path: &Path) -> Result<PathBuf, StoreError> {
    let absolute = std::path::absolute(path).map_err(StoreError::io("look at", path))?;
    let mut resolved = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                resolved.pop();
            }
            part => resolved.push(part),
        }
        if let Ok(real) = resolved.canonicalize() {
            resolved = real;
        }
    }
    Ok(resolved)
}

/// A backup in a folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BackupView {
    /// The summary.
    #[serde(flatten)]
    pub made: BackupSummary,
    /// What is wrong with it, so that it cannot be restored; `None` if no fault is known.
    pub fault: Option<String>,
}

/// A backup that cannot be restored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DamagedBackup {
    /// The number of the backup.
    #[schemars(range(min = 1))]
    pub backup: u32,
    /// What is wrong.
    pub what: String,
}

/// The backups in a folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Backups {
    /// The backups with readable inventories, from the oldest to the latest.
    pub backups: Vec<BackupView>,
    /// The backups with unreadable inventories.
    pub unreadable: Vec<DamagedBackup>,
    /// The size of all files in bytes.
    pub bytes: u64,
    /// Whether the contents of all files were verified; if `false`, only names and sizes were.
    pub verified: bool,
}

impl Backups {
    /// Returns whether no fault is known.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.unreadable.is_empty() && self.backups.iter().all(|backup| backup.fault.is_none())
    }
}

/// What is wrong with files, by their hashes.
pub(super) type Faults = HashMap<blake3::Hash, String>;

/// Verifies the files of an inventory that are not in `verified` yet: their sizes, or with `thorough` their
/// contents.
pub(super) fn verify_inventory(
    repository: &Repository,
    inventory: &Inventory,
    files: &HashMap<blake3::Hash, u64>,
    thorough: bool,
    verified: &mut HashMap<blake3::Hash, Option<String>>,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    for file in &inventory.files {
        if verified.contains_key(&file.hash) {
            continue;
        }
        let expected = Content {
            hash: file.hash,
            bytes: file.bytes,
        };
        let what = match files.get(&file.hash) {
            None => Some("is missing".to_owned()),
            Some(bytes) if *bytes != file.bytes => {
                Some(format!("has {bytes} bytes, expected {}", file.bytes))
            }
            Some(_) if !thorough => None,
            Some(_) => match repository.hash(&file.hash, watch) {
                Ok(found) if found == expected => None,
                Ok(_) => Some("differs from what was backed up".to_owned()),
                // What the device cannot read, another backup has to replace.
                Err(StoreError::Io { source, .. })
                    if repository.is_damage(&source)
                        || SystemErrorKind::of(&source) == Some(SystemErrorKind::Device) =>
                {
                    Some(format!("cannot be read: {source}"))
                }
                Err(e) => return Err(e),
            },
        };
        verified.insert(file.hash, what);
    }
    Ok(())
}

/// Returns what is wrong with the files of all readable inventories.
pub(super) fn faults(
    repository: &Repository,
    inventories: &[FoundInventory],
    files: &HashMap<blake3::Hash, u64>,
    thorough: bool,
    watch: &dyn Watch,
) -> Result<Faults, StoreError> {
    if thorough {
        watch.stage("read backups", Some(files.values().sum()));
    }
    let mut verified = HashMap::new();
    for (_, inventory) in inventories {
        if let Ok(inventory) = inventory {
            verify_inventory(repository, inventory, files, thorough, &mut verified, watch)?;
        }
    }
    let bad = verified.into_iter();
    Ok(bad.filter_map(|(hash, what)| Some((hash, what?))).collect())
}

/// Returns what is wrong with a backup; `None` if no fault is known.
pub(super) fn backup_fault(inventory: &Inventory, faults: &Faults) -> Option<String> {
    let mut bad = inventory
        .files
        .iter()
        .filter_map(|file| Some((file, faults.get(&file.hash)?)));
    let (file, what) = bad.next()?;
    let more = match bad.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(format!(
        "{} (files/{}) {what}{more}",
        file.name,
        file.hash.to_hex()
    ))
}

/// Lists the backups in a folder, without changing anything. With `verify`, the contents of all files are
/// verified, otherwise only names and sizes.
pub fn backups(
    place: BackupPlace<'_>,
    verify: bool,
    watch: &dyn Watch,
) -> Result<Backups, StoreError> {
    let repository = Repository::open(place)?;
    let _lock = repository.lock_shared()?;
    let inventories = repository.inventories()?;
    let files = repository.files()?;
    let faults = faults(&repository, &inventories, &files, verify, watch)?;
    let (mut backups, mut unreadable) = (Vec::new(), Vec::new());
    for (backup, inventory) in inventories {
        match inventory {
            Ok(inventory) => backups.push(BackupView {
                fault: backup_fault(&inventory, &faults),
                made: inventory.made,
            }),
            Err(what) => unreadable.push(DamagedBackup { backup, what }),
        }
    }
    Ok(Backups {
        backups,
        unreadable,
        bytes: files.values().sum(),
        verified: verify,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn folders_one_in_the_other_are_found_through_links_and_dots() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/bank")).unwrap();
        fs::create_dir(at("b")).unwrap();
        std::os::unix::fs::symlink(at("a/bank"), at("link")).unwrap();
        for (bank, backups) in [
            ("a/bank", "a/bank"),
            ("a/bank", "a/bank/x/y"),
            ("a/bank", "a"),
            ("a/bank", "link/x"),
            ("link", "a/bank/x"),
            ("a/bank", "b/../a/bank/x"),
            ("new/bank", "new"),
            ("a/bank", "new/../a"),
        ] {
            let nested = ensure_separate(&at(bank), 1, &at(backups));
            assert!(nested.is_err(), "{bank} {backups}");
        }
        for (bank, backups) in [("a/bank", "b"), ("a/bank", "a/ba"), ("new/bank", "new/b")] {
            ensure_separate(&at(bank), 1, &at(backups)).unwrap();
        }
        // Part 1 of a cluster bank is a link to a folder elsewhere.
        fs::create_dir_all(at("c/parts")).unwrap();
        std::os::unix::fs::symlink(at("b"), at("c/parts/001")).unwrap();
        ensure_separate(&at("c"), 1, &at("b/x")).unwrap();
        assert!(ensure_separate(&at("c"), 2, &at("b/x")).is_err());
    }
}
