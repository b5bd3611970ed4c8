//! The folder of backups: its marker, its lock, its files and inventories.
//!
//! Only entries with names that this module assigns are ever removed.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::inventory::Inventory;
use crate::disk::folder::{
    lock_file, make_folders, names_in, open_regular, read_text, replace_file, sync_folder,
};
use crate::disk::lock::take_lock;
use crate::error::BackupError;
use crate::error::StoreError;
use seedbank_algorithms::watch::Watch;

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

/// A folder of backups.
pub(super) struct Repository {
    path: PathBuf,
}

impl Repository {
    /// Opens an existing folder of backups.
    pub(super) fn open(path: &Path) -> Result<Self, StoreError> {
        let marker = path.join(MARKER);
        let text = match read_text(&marker) {
            Ok(text) => text,
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                return Err(StoreError::io("read", marker)(e));
            }
            Err(_) => return Err(BackupError::NoBackups(path.to_path_buf()).into()),
        };
        let layout = text.strip_prefix(MARKER_TEXT);
        let layout = layout.and_then(|number| number.trim_end().parse().ok());
        let path = path.to_path_buf();
        match layout {
            Some(LAYOUT) => Ok(Self { path }),
            Some(found) => Err(BackupError::OtherLayout {
                path,
                found,
                known: LAYOUT,
            }
            .into()),
            None => Err(BackupError::NoBackups(path).into()),
        }
    }

    /// Opens a folder of backups. Creates it with these permissions if it is missing; initialises it if it is
    /// empty.
    pub(super) fn open_or_create(path: &Path, mode: u32) -> Result<Self, StoreError> {
        let is_new = !path.exists();
        make_folders(path).map_err(StoreError::io("make", path))?;
        if is_new {
            set_mode(path, mode)?;
        }
        match Self::open(path) {
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
        Self::open(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Locks the folder for a backup; with `wait` it waits for other processes.
    pub(super) fn lock_exclusive(&self, wait: bool, watch: &dyn Watch) -> Result<File, StoreError> {
        let path = self.path.join(LOCK);
        let lock = lock_file(&path)?;
        if take_lock(&lock, &path, wait, watch)? {
            Ok(lock)
        } else {
            Err(BackupError::Busy(self.path.clone()).into())
        }
    }

    /// Locks the folder against backups; needs no write permission. `None` if the lock file is missing, as in
    /// a copy of the folder.
    pub(super) fn lock_shared(&self) -> Result<Option<File>, StoreError> {
        let path = self.path.join(LOCK);
        match open_regular(&path) {
            Ok(lock) => match lock.try_lock_shared() {
                Ok(()) => Ok(Some(lock)),
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
        let names = names_in(&self.path.join("backups"));
        let mut numbers: Vec<u32> = names.iter().filter_map(|name| number(name)).collect();
        numbers.sort_unstable();
        let read = |number| Ok((number, self.read_inventory(number)?));
        numbers.into_iter().map(read).collect()
    }

    fn read_inventory(&self, number: u32) -> Result<Result<Inventory, String>, StoreError> {
        let path = self.inventory(number);
        let mut text = String::new();
        let read =
            open_regular(&path).and_then(|file| file.take(MAX_INVENTORY).read_to_string(&mut text));
        match read {
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                return Err(StoreError::io("read", path)(e));
            }
            Err(e) => return Ok(Err(format!("its inventory cannot be read: {e}"))),
        }
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
        let files = self.path.join("files");
        sync_folder(&files).map_err(StoreError::io("write to", &files))?;
        let path = self.inventory(inventory.made.backup);
        let text = inventory.text().map_err(io::Error::other);
        replace_file(&path, text.map_err(StoreError::io("write", &path))?)
    }

    /// Deletes inventories durably, the oldest first.
    pub(super) fn delete_inventories(&self, numbers: &[u32]) -> Result<(), StoreError> {
        for number in numbers {
            remove_if_exists(&self.inventory(*number))?;
        }
        let folder = self.path.join("backups");
        sync_folder(&folder).map_err(StoreError::io("write to", &folder))
    }

    /// Returns the hashes and sizes of the existing files.
    pub(super) fn files(&self) -> Result<HashMap<blake3::Hash, u64>, StoreError> {
        let folder = self.path.join("files");
        let mut files = HashMap::new();
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
        remove_if_exists(&self.file(hash))
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

/// Sets the permissions of a folder.
pub(crate) fn set_mode(folder: &Path, mode: u32) -> Result<(), StoreError> {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(folder, mode).map_err(StoreError::io("set the permissions of", folder))
}
