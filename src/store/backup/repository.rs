//! The folder that backups are kept in: its marker, its lock, its files and lists.
//!
//! Only entries with names that are given here are ever removed.

use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use super::inventory::List;
use crate::disk::folder::{
    lock_file, make_folders, names_in, open_regular, read_text, replace_file, sync_folder,
};
use crate::disk::lock::take_lock;
use crate::error::BackupError;
use crate::error::StoreError;
use seedbank_algorithms::watch::Watch;

/// The file that makes a folder one for backups; it holds the number of the layout.
const MARKER: &str = "SEEDBANK-BACKUPS";

/// What the marker says before the number.
const MARKER_TEXT: &str = "seedbank backups, layout ";

/// The number of the layout.
const LAYOUT: u32 = 1;

/// Held by whoever uses the folder.
const LOCK: &str = "lock";

/// The file, among the others, that is being written.
const UNFINISHED: &str = "unfinished";

/// The most bytes of a list: a bank of a million files has 150 MB.
const LONGEST: u64 = 1 << 30;

/// A list that was found: its number, and the list or what is wrong with it.
pub(super) type Found = (u32, Result<List, String>);

/// A folder that backups are kept in.
pub(super) struct Shelf {
    path: PathBuf,
}

impl Shelf {
    /// A folder that has been used for backups.
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

    /// A folder for backups, which is made where it is missing, with these permissions, and used
    /// where it is empty.
    pub(super) fn open_or_make(path: &Path, mode: u32) -> Result<Self, StoreError> {
        let is_new = !path.exists();
        make_folders(path).map_err(StoreError::io("make", path))?;
        if is_new {
            set_mode(path, mode)?;
        }
        match Self::open(path) {
            Err(StoreError::Backup(BackupError::NoBackups(_))) => {}
            opened => return opened,
        }
        // A process that died may have begun the marker.
        let begun = format!("{MARKER}.new");
        let entries = fs::read_dir(path).map_err(StoreError::io("read", path))?;
        for entry in entries {
            let entry = entry.map_err(StoreError::io("read", path))?;
            if entry.file_name() != *begun {
                return Err(BackupError::Foreign(path.to_path_buf()).into());
            }
        }
        replace_file(&path.join(MARKER), format!("{MARKER_TEXT}{LAYOUT}\n"))?;
        Self::open(path)
    }

    pub(super) fn path(&self) -> &Path {
        &self.path
    }

    /// Takes the folder for a backup; with `wait` when others have done with it.
    pub(super) fn take(&self, wait: bool, watch: &dyn Watch) -> Result<File, StoreError> {
        let path = self.path.join(LOCK);
        let lock = lock_file(&path)?;
        if take_lock(&lock, &path, wait, watch)? {
            Ok(lock)
        } else {
            Err(BackupError::Busy(self.path.clone()).into())
        }
    }

    /// Keeps backups from being made and deleted meanwhile; needs no permission to write. A copy of
    /// the folder may lack the lock, and then nobody makes backups there.
    pub(super) fn share(&self) -> Result<Option<File>, StoreError> {
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

    /// Where the bytes with this hash are.
    pub(super) fn file(&self, hash: &blake3::Hash) -> PathBuf {
        self.path.join("files").join(hash.to_hex().as_str())
    }

    /// Where a file is written before it has a hash.
    pub(super) fn unfinished(&self) -> PathBuf {
        self.path.join("files").join(UNFINISHED)
    }

    fn list(&self, number: u32) -> PathBuf {
        self.path.join("backups").join(number.to_string())
    }

    /// Makes the folders where they are missing, and removes what was not written to its end.
    pub(super) fn tidy(&self) -> Result<(), StoreError> {
        for folder in ["files", "backups"] {
            let folder = self.path.join(folder);
            make_folders(&folder).map_err(StoreError::io("make", &folder))?;
        }
        remove_if_there(&self.unfinished())?;
        for name in names_in(&self.path.join("backups")) {
            let number = name.strip_suffix(".new").map(str::parse::<u32>);
            if matches!(number, Some(Ok(_))) {
                remove_if_there(&self.path.join("backups").join(&name))?;
            }
        }
        Ok(())
    }

    /// All lists, by number.
    pub(super) fn lists(&self) -> Result<Vec<Found>, StoreError> {
        let names = names_in(&self.path.join("backups"));
        let mut numbers: Vec<u32> = names.iter().filter_map(|name| number(name)).collect();
        numbers.sort_unstable();
        let read = |number| Ok((number, self.read_list(number)?));
        numbers.into_iter().map(read).collect()
    }

    fn read_list(&self, number: u32) -> Result<Result<List, String>, StoreError> {
        let path = self.list(number);
        let mut text = String::new();
        let read =
            open_regular(&path).and_then(|file| file.take(LONGEST).read_to_string(&mut text));
        match read {
            Ok(_) => {}
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                return Err(StoreError::io("read", path)(e));
            }
            Err(e) => return Ok(Err(format!("its list cannot be read: {e}"))),
        }
        Ok(match List::parse(&text) {
            Ok(list) if list.made.backup == number => Ok(list),
            Ok(list) => Err(format!("its list is that of backup {}", list.made.backup)),
            Err(what) => Err(format!("its list cannot be read: {what}")),
        })
    }

    /// Writes a list, durably; its files are there and synced.
    pub(super) fn write_list(&self, list: &List) -> Result<(), StoreError> {
        let files = self.path.join("files");
        sync_folder(&files).map_err(StoreError::io("write to", &files))?;
        let path = self.list(list.made.backup);
        let text = list.text().map_err(io::Error::other);
        replace_file(&path, text.map_err(StoreError::io("write", &path))?)
    }

    /// Deletes lists, durably, the oldest first.
    pub(super) fn delete_lists(&self, numbers: &[u32]) -> Result<(), StoreError> {
        for number in numbers {
            remove_if_there(&self.list(*number))?;
        }
        let folder = self.path.join("backups");
        sync_folder(&folder).map_err(StoreError::io("write to", &folder))
    }

    /// The files that are there and their sizes in bytes.
    pub(super) fn present(&self) -> Result<HashMap<blake3::Hash, u64>, StoreError> {
        let folder = self.path.join("files");
        let mut present = HashMap::new();
        for name in names_in(&folder) {
            let Ok(hash) = blake3::Hash::from_hex(&name) else {
                continue;
            };
            let path = folder.join(&name);
            match fs::symlink_metadata(&path) {
                Ok(found) if found.is_file() => drop(present.insert(hash, found.len())),
                Ok(_) => {}
                Err(e) if e.kind() == io::ErrorKind::NotFound => {}
                Err(e) => return Err(StoreError::io("look at", path)(e)),
            }
        }
        Ok(present)
    }

    /// Removes a file, which no list names.
    pub(super) fn remove(&self, hash: &blake3::Hash) -> Result<(), StoreError> {
        remove_if_there(&self.file(hash))
    }
}

/// The number of a list, by its name.
fn number(name: &str) -> Option<u32> {
    let number: u32 = name.parse().ok()?;
    (number > 0 && number.to_string() == name).then_some(number)
}

fn remove_if_there(path: &Path) -> Result<(), StoreError> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(StoreError::io("remove", path)(e)),
        _ => Ok(()),
    }
}

/// Gives a folder these permissions.
pub(crate) fn set_mode(folder: &Path, mode: u32) -> Result<(), StoreError> {
    let mode = std::os::unix::fs::PermissionsExt::from_mode(mode);
    fs::set_permissions(folder, mode).map_err(StoreError::io("set the permissions of", folder))
}
