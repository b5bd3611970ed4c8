//! The place of backups, a folder or other storage: its marker, its lock, its files and inventories.
//!
//! Only entries with names that this module assigns are ever removed.

use std::collections::HashMap;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::inventory::Inventory;
use super::storage::{BackupPlace, BackupStorage, PlaceLock};
use crate::disk::folder::{
    lock_file, make_folders, names_in, open_regular, read_text, replace_file, set_mode, sync_folder,
};
use crate::disk::lock::Lock;
use crate::disk::verified_copy::{
    Content, copy, copy_reader, hash_and_write, hash_file, hash_reader,
};
use crate::error::BackupError;
use crate::error::StoreError;
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
            // That the network fails does not mean that there are no backups.
            Err(e) if storage.is_some() && e.kind() != io::ErrorKind::NotFound => {
                return Err(StoreError::io("read", marker)(e));
            }
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                return Err(StoreError::io("read", marker)(e));
            }
            Err(_) => return Err(BackupError::NoBackups(path).into()),
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
                Err(fs::TryLockError::Error(e)) => Err(StoreError::io("lock", path)(e)),
            },
            Err(_) => Ok(None),
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
        for name in names_in(&self.path.join("backups")) {
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
            None => names_in(&self.path.join("backups")),
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
            Err(e)
                if self.is_remote()
                    && !matches!(
                        e.kind(),
                        io::ErrorKind::NotFound | io::ErrorKind::InvalidData
                    ) =>
            {
                return Err(failed("read", &path)(e));
            }
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                return Err(StoreError::io("read", path)(e));
            }
            Err(e) => return Ok(Err(format!("its inventory cannot be read: {e}"))),
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
        for name in names_in(&folder) {
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
