//! Where backups are kept: in a folder, or in storage that a caller provides, such as a bucket.

use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

use crate::disk::lock::Lock;
use crate::error::StoreError;

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
