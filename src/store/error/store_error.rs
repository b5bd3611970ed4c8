//! What can go wrong in the store.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use super::backup_error::BackupError;
use super::hint::StoreHint;
use crate::format::{FORMAT, LAST_UNRELEASED, older_from};
use seedbank_algorithms::watch::Interrupted;

/// An error of the store; its text says what is wrong, [`StoreError::hint`] what to do about it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// The folder exists and is not empty, so no bank is created in it.
    #[error("{} exists and is not empty", .0.display())]
    Occupied(PathBuf),
    /// The folder does not exist or does not contain a bank.
    #[error("{} is not a bank", .0.display())]
    NoBank(PathBuf),
    /// The folder contains a database, but the marker file of a bank is missing or damaged.
    #[error("{} contains a bank whose marker file SEEDBANK is missing or damaged", .0.display())]
    NoMarker(PathBuf),
    /// A state of the bank, or a record of its states, differs from what was acknowledged.
    #[error("damaged bank: {state}: {what}")]
    State {
        /// `live`, `published`, or the file's name.
        state: &'static str,
        /// What is wrong with it.
        what: String,
    },
    /// The bank has another format than this build reads and writes.
    #[error("{}: expected bank format {expected}, found {found}", path.display())]
    OtherFormat {
        /// The bank's folder.
        path: PathBuf,
        /// The bank's format version.
        found: u32,
        /// The format version of this build.
        expected: u32,
    },
    /// Another process (or another handle in this one) writes to the bank.
    #[error("{} is being written by another process", .0.display())]
    Busy(PathBuf),
    /// A record is missing, cannot be read, or contradicts another.
    #[error("damaged bank: table {table}, key {key}: {what}")]
    Damaged {
        /// The table that holds the record.
        table: &'static str,
        /// The record's key, in words where it can be read, else in hexadecimal.
        key: String,
        /// What is wrong with it.
        what: String,
    },
    /// RocksDB failed.
    #[error("the store failed while {doing}")]
    Rocks {
        /// What RocksDB was asked to do.
        doing: &'static str,
        /// RocksDB's own error.
        source: rocksdb::Error,
    },
    /// A file of the bank could not be read or written.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// What was to be done with the file.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The system's error.
        source: io::Error,
    },
    /// The disk has less free space than the command needs.
    #[error("not enough disk space for {}: expected {needed} bytes, found {free} free", path.display())]
    InsufficientSpace {
        /// A folder on that disk.
        path: PathBuf,
        /// The bytes that are needed.
        needed: u64,
        /// The bytes that are free.
        free: u64,
    },
    /// A backup could not be made, found or restored.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// Items with 32-bit numbers ran out of numbers; the field says which items.
    #[error("cannot add another {0}: all numbers are in use")]
    Full(&'static str),
    /// The change is stored in the bank, but readers do not see it yet.
    #[error("the change is stored, but could not be published for readers")]
    Unpublished(#[source] Box<StoreError>),
    /// The caller asked for the work to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Whether RocksDB ran out of room. Its crate passes on no error number, only the system's words.
fn is_space(error: &rocksdb::Error) -> bool {
    let text: &str = error.as_ref();
    ["No space left", "File too large", "Disk quota exceeded"]
        .iter()
        .any(|words| text.contains(words))
}

/// Whether a file of the database is missing, which RocksDB says in several ways.
fn is_missing(error: &rocksdb::Error) -> bool {
    let text: &str = error.as_ref();
    ["No such file", "does not exist"]
        .iter()
        .any(|words| text.contains(words))
}

impl StoreError {
    /// What the caller can do about it; `None` where there is nothing to do but read the error.
    #[must_use]
    pub fn hint(&self) -> Option<StoreHint> {
        Some(match self {
            Self::Occupied(_) => StoreHint::OtherFolder,
            Self::NoBank(_) => StoreHint::CheckPathOrCreate,
            Self::OtherFormat { found, .. } if older_from(*found).is_some() => StoreHint::Migrate,
            Self::OtherFormat { found, .. } if *found > LAST_UNRELEASED => StoreHint::NewerBuild,
            Self::OtherFormat { .. } => StoreHint::NewBank,
            Self::Busy(_) => StoreHint::Wait,
            Self::State { .. } | Self::NoMarker(_) => StoreHint::Repair,
            e if e.is_damage() => StoreHint::CheckAndRepair,
            Self::Unpublished(_) => StoreHint::Publish,
            Self::Full(_) => StoreHint::SeveralBanks,
            Self::InsufficientSpace { .. } => StoreHint::FreeSpace,
            Self::Backup(e) => match e {
                BackupError::NoBackups(_) => StoreHint::CheckPathOfBackups,
                BackupError::Foreign(_)
                | BackupError::Nested { .. }
                | BackupError::OtherBank(_) => StoreHint::OtherFolderForBackups,
                BackupError::Busy(_) => StoreHint::Wait,
                BackupError::OtherLayout { .. } => StoreHint::NewerBuild,
                BackupError::NoSuch { .. } => StoreHint::ListBackups,
                BackupError::Damaged { whole: Some(_), .. } => StoreHint::OtherBackup,
                BackupError::Damaged { .. } => StoreHint::BackUpAgain,
            },
            Self::Io { source, .. }
                if matches!(
                    source.kind(),
                    io::ErrorKind::StorageFull
                        | io::ErrorKind::QuotaExceeded
                        | io::ErrorKind::FileTooLarge
                ) =>
            {
                StoreHint::FreeSpace
            }
            Self::Rocks { source, .. } if is_space(source) => StoreHint::FreeSpaceForStore,
            _ => return None,
        })
    }

    /// The bank has this format, which is not that of this build.
    pub(crate) fn other_format(path: impl AsRef<Path>, found: u32) -> Self {
        Self::OtherFormat {
            path: path.as_ref().to_path_buf(),
            found,
            expected: FORMAT,
        }
    }

    /// A thread that the bank started ended before its work was done.
    pub fn ended_early(doing: &'static str, path: impl AsRef<Path>) -> Self {
        Self::io(doing, path)(io::Error::other("a thread of this process ended early"))
    }

    /// Makes an error of the system one that says what was done, and with which file.
    pub fn io(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }

    /// Whether the error means that the bank itself is damaged.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } | Self::State { .. } | Self::NoMarker(_) => true,
            Self::Unpublished(cause) => cause.is_damage(),
            // A folder is in the place of a file of the bank.
            Self::Io { source, .. } => source.kind() == io::ErrorKind::IsADirectory,
            Self::Rocks { source, .. } => {
                matches!(
                    source.kind(),
                    rocksdb::ErrorKind::Corruption
                        | rocksdb::ErrorKind::NotFound
                        | rocksdb::ErrorKind::NotSupported
                        | rocksdb::ErrorKind::InvalidArgument
                ) || is_missing(source)
            }
            _ => false,
        }
    }

    /// A record that was broken between two passes over the data.
    pub(crate) fn passing(e: &impl Display) -> Self {
        Self::Damaged {
            table: "spill",
            key: "(passing)".to_owned(),
            what: e.to_string(),
        }
    }

    pub(crate) fn rocks(doing: &'static str) -> impl FnOnce(rocksdb::Error) -> Self {
        move |source| Self::Rocks { doing, source }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn damage_that_keeps_a_state_from_being_published_is_damage() {
        let damaged = StoreError::Damaged {
            table: "pages",
            key: "1".to_owned(),
            what: "it is short".to_owned(),
        };
        let error = StoreError::Unpublished(Box::new(damaged));
        assert!(error.is_damage());
        assert_eq!(error.hint(), Some(StoreHint::CheckAndRepair));
        let full = StoreError::io("write", "f")(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.hint(), Some(StoreHint::FreeSpace));
        let error = StoreError::Unpublished(Box::new(full));
        assert!(!error.is_damage());
        assert_eq!(error.hint(), Some(StoreHint::Publish));
    }
}
