//! The error of the store.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use super::backup_error::BackupError;
use super::hint::StoreHint;
use super::reported_error::{ReportedError, ReportedKind};
use crate::format::{FORMAT, LAST_UNRELEASED, upgrade_path};
use seedbank_algorithms::watch::Interrupted;

/// The `state` of errors about parts of a cluster bank that contradict each other, or are missing.
pub(crate) const CLUSTER: &str = "cluster";

/// An error of the store. The text says what is wrong, [`StoreError::hint`] what to do about it.
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
    /// The folder is a part of a cluster bank.
    #[error("{} is a part of a cluster bank", .0.display())]
    IsPart(PathBuf),
    /// The operation does not support cluster banks.
    #[error("{doing} does not support cluster banks yet, and {} is one", path.display())]
    IsCluster {
        /// The operation.
        doing: &'static str,
        /// The folder of the bank.
        path: PathBuf,
    },
    /// The operation needs all parts of a cluster bank in this process.
    #[error("{doing} needs all parts of the bank on this machine; part {part} is not in {}", path.display())]
    PartElsewhere {
        /// The operation.
        doing: &'static str,
        /// The missing part.
        part: u32,
        /// Its place in the folder of the bank.
        path: PathBuf,
    },
    /// A cluster bank cannot have this number of parts.
    #[error("expected from 1 to {max} parts, found {found}")]
    InvalidParts {
        /// The number.
        found: u32,
        /// The largest number.
        max: u32,
    },
    /// A state of the bank differs from the acknowledged one, or the record of it is damaged.
    #[error("damaged bank: {state}: {what}")]
    State {
        /// `live`, `published`, `cluster`, or the name of a file.
        state: &'static str,
        /// What is wrong.
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
        /// The table of the record.
        table: &'static str,
        /// The key of the record in readable form; in hexadecimal if it cannot be decoded.
        key: String,
        /// What is wrong.
        what: String,
    },
    /// RocksDB failed.
    #[error("the store failed while {doing}")]
    Rocks {
        /// The operation that failed.
        doing: &'static str,
        /// The error of RocksDB.
        source: rocksdb::Error,
    },
    /// A file of the bank could not be read or written.
    #[error("cannot {doing} {}", path.display())]
    Io {
        /// The operation that failed.
        doing: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The disk has less free space than the command needs.
    #[error("not enough disk space for {}: expected {needed} bytes, found {free} free", path.display())]
    InsufficientSpace {
        /// A folder on that disk.
        path: PathBuf,
        /// The required bytes.
        needed: u64,
        /// The free bytes.
        free: u64,
    },
    /// A backup could not be made, found or restored.
    #[error(transparent)]
    Backup(#[from] BackupError),
    /// A counter reached its maximum; the field names the counted items.
    #[error("cannot add another {0}: all numbers are in use")]
    Full(&'static str),
    /// The change is stored in the bank, but publishing it failed. Readers see the state before it, or, if one
    /// of the last steps failed, already the new state.
    #[error("the change is stored, but publishing it did not finish; readers may not see it yet")]
    Unpublished(#[source] Box<StoreError>),
    /// Another process that has a part of the bank is gone.
    #[error("a part of the bank is not available")]
    Process(#[source] Box<dyn std::error::Error + Send + Sync>),
    /// Another process reports an error.
    #[error(transparent)]
    Reported(#[from] ReportedError),
    /// Two processes of a cluster bank do not understand each other.
    #[error("a request for a part of the bank failed: {0}")]
    Protocol(&'static str),
    /// The caller asked for the work to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Returns whether RocksDB ran out of disk space. The binding passes on the text of the operating
/// system only, no error number.
fn is_disk_full(error: &rocksdb::Error) -> bool {
    let text: &str = error.as_ref();
    ["No space left", "File too large", "Disk quota exceeded"]
        .iter()
        .any(|words| text.contains(words))
}

/// Returns whether the system denied RocksDB access to a file.
fn is_denied(error: &rocksdb::Error) -> bool {
    let text: &str = error.as_ref();
    text.contains("Permission denied")
}

/// Returns whether a file of the database is missing. RocksDB has several texts for that.
fn is_missing(error: &rocksdb::Error) -> bool {
    let text: &str = error.as_ref();
    ["No such file", "does not exist"]
        .iter()
        .any(|words| text.contains(words))
}

impl StoreError {
    /// Returns what the caller can do about the error; `None` if no hint applies.
    #[must_use]
    pub fn hint(&self) -> Option<StoreHint> {
        Some(match self {
            Self::Occupied(_) => StoreHint::OtherFolder,
            Self::IsPart(_) => StoreHint::WholeBank,
            Self::IsCluster { .. } => StoreHint::RestoreBackup,
            Self::PartElsewhere { .. } => StoreHint::BringParts,
            Self::NoBank(_) => StoreHint::CheckPathOrCreate,
            Self::OtherFormat { found, .. } if upgrade_path(*found).is_some() => StoreHint::Migrate,
            Self::OtherFormat { found, .. } if *found > LAST_UNRELEASED => StoreHint::NewerBuild,
            Self::OtherFormat { .. } => StoreHint::NewBank,
            Self::Busy(_) => StoreHint::Wait,
            Self::State { state, .. } if *state == CLUSTER => StoreHint::PartsOfOneState,
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
                BackupError::Damaged {
                    intact: Some(_), ..
                } => StoreHint::OtherBackup,
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
            Self::Rocks { source, .. } if is_disk_full(source) => StoreHint::FreeSpaceForStore,
            Self::Rocks { source, .. } if is_denied(source) => StoreHint::Permissions,
            _ => return None,
        })
    }

    /// Creates the error of a bank with another format than this build's.
    pub(crate) fn other_format(path: impl AsRef<Path>, found: u32) -> Self {
        Self::OtherFormat {
            path: path.as_ref().to_path_buf(),
            found,
            expected: FORMAT,
        }
    }

    /// Creates the error of a thread that panicked.
    pub fn thread_panicked(doing: &'static str, path: impl AsRef<Path>) -> Self {
        Self::io(doing, path)(io::Error::other("a thread of this process panicked"))
    }

    /// Wraps an error of the operating system; adds the operation and the path.
    pub fn io(doing: &'static str, path: impl AsRef<Path>) -> impl FnOnce(io::Error) -> Self {
        let path = path.as_ref().to_path_buf();
        move |source| Self::Io {
            doing,
            path,
            source,
        }
    }

    /// Returns whether the error means that the bank is damaged.
    #[must_use]
    pub fn is_damage(&self) -> bool {
        match self {
            Self::Damaged { .. } | Self::State { .. } | Self::NoMarker(_) => true,
            Self::Unpublished(cause) => cause.is_damage(),
            Self::Reported(error) => error.kind == ReportedKind::Damaged,
            // A folder is in place of a file of the bank.
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

    /// Creates the error of a malformed record in a sort run.
    pub(crate) fn spilled(e: &impl Display) -> Self {
        Self::damaged("spill", "(record)", e)
    }

    /// Creates the error of a damaged live or published state, or of a file that records states.
    pub(crate) fn state(state: &'static str, what: impl Into<String>) -> Self {
        let what = what.into();
        Self::State { state, what }
    }

    /// Creates the error of a damaged record.
    pub(crate) fn damaged(table: &'static str, key: impl Into<String>, what: impl Display) -> Self {
        Self::Damaged {
            table,
            key: key.into(),
            what: what.to_string(),
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
