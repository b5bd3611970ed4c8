//! Errors of the store, and what a caller can do about them.

use std::fmt::Display;
use std::io;
use std::path::{Path, PathBuf};

use rustix::io::Errno;

use crate::format::Format;
use seedbank_algorithms::watch::Interrupted;

/// An error of a folder of backups.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The folder does not exist, is not a backup folder, or has no backup.
    #[error("{} contains no backups", .0.display())]
    NoBackups(PathBuf),
    /// The folder is not empty and is not a backup folder, so no backup is created in it.
    #[error("{} is not empty and contains no backups", .0.display())]
    Foreign(PathBuf),
    /// One of the two folders contains the other.
    #[error("one of {} and {} contains the other; expected separate folders", bank.display(), folder.display())]
    Nested {
        /// The bank.
        bank: PathBuf,
        /// The folder of backups.
        folder: PathBuf,
    },
    /// Another process creates or reads a backup in the folder.
    #[error("{} is in use by another backup or restore", .0.display())]
    Busy(PathBuf),
    /// The folder contains backups of another bank.
    #[error("{} contains backups of another bank", .0.display())]
    OtherBank(PathBuf),
    /// A newer build wrote the folder.
    #[error("{}: expected backup layout {known}, found {found}", path.display())]
    OtherLayout {
        /// The folder.
        path: PathBuf,
        /// The layout of the folder.
        found: u32,
        /// The layout that this build supports.
        known: u32,
    },
    /// There is no backup with this number.
    #[error("{} has no backup {number}: it has {}", path.display(), format_numbers(existing))]
    NoSuch {
        /// The folder.
        path: PathBuf,
        /// The requested number.
        number: u32,
        /// The numbers of the existing backups, ascending; at least one.
        existing: Vec<u32>,
    },
    /// A file of the backup is missing or differs from what was backed up.
    #[error("backup {number} is damaged: {what}; {}", match intact {
        Some(other) => format!("backup {other} is intact"),
        None => "no other backup there is intact".to_owned(),
    })]
    Damaged {
        /// The backup.
        number: u32,
        /// What is wrong.
        what: String,
        /// The latest other backup whose files were all read and verified; `None` if there is none.
        intact: Option<u32>,
    },
}

/// Formats ascending numbers of backups: `2, 5 to 9`.
fn format_numbers(numbers: &[u32]) -> String {
    let runs = numbers.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let texts = runs.filter_map(|run| match run {
        [] => None,
        [one] => Some(one.to_string()),
        [first, .., last] => Some(format!("{first} to {last}")),
    });
    texts.collect::<Vec<_>>().join(", ")
}

/// What a caller can do about an error of the store. The caller words the hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoreHint {
    /// Create the bank in a folder that does not exist or is empty.
    OtherFolder,
    /// Check that the path is right, or create a bank there.
    CheckPathOrCreate,
    /// Use a newer build; the backups are unchanged.
    NewerBuild,
    /// Use the folder of the cluster bank that contains this part.
    WholeBank,
    /// Use the folders of all parts of the cluster bank as the last command left them. A repair gives all parts the latest
    /// state that they have in common; if there is none, restore a backup.
    PartsOfOneState,
    /// Make the folders of all parts of the cluster bank available in its folder: move, link or mount them.
    BringParts,
    /// Export the bank with the build that wrote it, and ingest the export into a new bank. The bank is unchanged.
    ExportWithItsBuild,
    /// Try again when the other writer has finished, or wait for it.
    Wait,
    /// Repair the bank, which loses nothing that can be recovered; a check reports which of its states
    /// is good.
    Repair,
    /// Check the bank and repair it if its other state is good; otherwise restore it from a copy, or
    /// ingest a snapshot into a new bank.
    CheckAndRepair,
    /// Free disk space if the disk is full. A repair publishes the stored state, and so does the next
    /// command that writes.
    Publish,
    /// Split the crawl into several banks.
    SeveralBanks,
    /// Free disk space and try again; the bank is unchanged.
    FreeSpace,
    /// Free disk space and try again; readers see no incomplete change.
    FreeSpaceForStore,
    /// Run as a user who has access to the files of the bank, or change their permissions.
    Permissions,
    /// Remove the cause, which the operating system reports, and try again.
    System(SystemErrorKind),
    /// Check that the path is that of a folder with backups.
    CheckPathOfBackups,
    /// Use a folder for the backups of this bank alone, outside the bank, that does not exist or is
    /// empty.
    OtherFolderForBackups,
    /// List the backups and choose an existing one.
    ListBackups,
    /// Restore the intact backup.
    OtherBackup,
    /// If the bank still exists, back it up again and verify the folder: that rewrites damaged files
    /// that the bank still has.
    BackUpAgain,
}

/// The kind of an error that another process reports. The discriminants are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ReportedKind {
    /// Something else failed, or the kind is not known.
    #[default]
    Failed = 0,
    /// The request is invalid.
    Usage = 1,
    /// The bank does not contain what was asked about.
    NotFound = 2,
    /// The input was rejected.
    Rejected = 3,
    /// The part is busy, missing, or has an unsupported format.
    Unavailable = 4,
    /// The part is damaged.
    Damaged = 5,
    /// The process was asked to stop.
    Interrupted = 6,
}

impl ReportedKind {
    const ALL: [Self; 7] = [
        Self::Failed,
        Self::Usage,
        Self::NotFound,
        Self::Rejected,
        Self::Unavailable,
        Self::Damaged,
        Self::Interrupted,
    ];

    /// Returns the kind that is sent as this byte; [`ReportedKind::Failed`] if it is not known.
    #[must_use]
    pub fn from_byte(byte: u8) -> Self {
        let known = Self::ALL.into_iter().find(|kind| *kind as u8 == byte);
        known.unwrap_or_default()
    }
}

/// An error that another process of a cluster bank reports about its parts or its work.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("process {process} reports: {message}")]
pub struct ReportedError {
    /// The number of the process.
    pub process: usize,
    /// The kind of its error.
    pub kind: ReportedKind,
    /// The text of its error and of the causes.
    pub message: String,
    /// What the user can do about it, in the words of the process; `None` if there is no advice.
    pub hint: Option<String>,
}

/// The `state` of errors about parts of a cluster bank that contradict each other, or are missing.
const CLUSTER: &str = "cluster";

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
        /// The bank's format.
        found: Format,
        /// The format of this build.
        expected: Format,
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
    /// The file system has no locks, or its lock service does not answer.
    #[error("the file system cannot lock {}", path.display())]
    NoLocks {
        /// The file or folder.
        path: PathBuf,
        /// The error of the operating system.
        source: io::Error,
    },
    /// The file system lacks an operation that a bank needs.
    #[error("the file system of {} cannot {lacks}", path.display())]
    FileSystem {
        /// The operation.
        lacks: &'static str,
        /// The folder.
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

/// Returns whether an error of RocksDB means that the database is damaged.
fn is_rocks_damage(error: &rocksdb::Error) -> bool {
    let text: &str = error.as_ref();
    match errno_in(text) {
        Some(errno) => is_damage_errno(errno),
        // CURRENT could not be opened once, for whatever reason, and could when RocksDB tried again. No database is opened
        // with direct I/O.
        None if text.contains("Direct I/O is not supported") => false,
        None => {
            matches!(
                error.kind(),
                rocksdb::ErrorKind::Corruption
                    | rocksdb::ErrorKind::NotFound
                    | rocksdb::ErrorKind::NotSupported
                    | rocksdb::ErrorKind::InvalidArgument
            ) || text.contains("does not exist")
        }
    }
}

/// Separates damage from errors that say nothing about the bank.
pub(crate) trait IfUndamaged<T> {
    /// Returns `None` for an error of damage; passes on any other error.
    fn if_undamaged(self) -> Result<Option<T>, StoreError>;
}

impl<T> IfUndamaged<T> for Result<T, StoreError> {
    fn if_undamaged(self) -> Result<Option<T>, StoreError> {
        match self {
            Err(e) if e.is_damage() => Ok(None),
            found => found.map(Some),
        }
    }
}

impl StoreError {
    /// Returns what the caller can do about the error; `None` if no hint applies.
    #[must_use]
    pub fn hint(&self) -> Option<StoreHint> {
        Some(match self {
            Self::Occupied(_) => StoreHint::OtherFolder,
            Self::IsPart(_) => StoreHint::WholeBank,
            Self::PartElsewhere { .. } => StoreHint::BringParts,
            Self::NoBank(_) => StoreHint::CheckPathOrCreate,
            Self::OtherFormat { .. } => StoreHint::ExportWithItsBuild,
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
            Self::NoLocks { .. } => StoreHint::System(SystemErrorKind::Locks),
            Self::FileSystem { .. } => StoreHint::System(SystemErrorKind::Unsupported),
            e => match e.system_error()? {
                SystemErrorKind::Space if matches!(e, Self::Rocks { .. }) => {
                    StoreHint::FreeSpaceForStore
                }
                SystemErrorKind::Space => StoreHint::FreeSpace,
                SystemErrorKind::Access => StoreHint::Permissions,
                kind => StoreHint::System(kind),
            },
        })
    }

    /// Returns what the operating system refuses; `None` if the cause is another one.
    #[must_use]
    pub fn system_error(&self) -> Option<SystemErrorKind> {
        match self {
            Self::Io { source, .. } => SystemErrorKind::of(source),
            Self::Rocks { source, .. } => {
                errno_in(source.as_ref()).and_then(SystemErrorKind::of_errno)
            }
            _ => None,
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

    /// Wraps an error of the operating system about a file of the bank that must exist: damage of this state if
    /// [`is_file_damage`] says so, with `name` for the file in the text; else as [`StoreError::io`].
    pub(crate) fn reading(
        state: &'static str,
        name: &str,
        path: &Path,
    ) -> impl FnOnce(io::Error) -> Self {
        move |source| {
            if is_file_damage(&source) {
                Self::state(state, format!("{name}: {source}"))
            } else {
                Self::io("read", path)(source)
            }
        }
    }

    /// Wraps an error of the operating system about a lock.
    pub(crate) fn locking(path: &Path) -> impl FnOnce(io::Error) -> Self {
        move |source| match SystemErrorKind::of(&source) {
            Some(SystemErrorKind::Locks | SystemErrorKind::Unsupported) => {
                let path = path.to_path_buf();
                Self::NoLocks { path, source }
            }
            _ => Self::io("lock", path)(source),
        }
    }

    /// Returns whether a hard link was refused, so that the file has to be copied.
    pub(crate) fn is_refused_link(&self) -> bool {
        match self {
            Self::Io { source, .. } => is_refusal(source),
            Self::Rocks { source, .. } => errno_in(source.as_ref()).is_some_and(is_refusal_errno),
            _ => false,
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
            Self::Rocks { source, .. } => is_rocks_damage(source),
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

// Errors of the operating system, and which of them mean that a bank is damaged.
//
// A bank is damaged if a file is missing where it must be, ends early, or has wrong bytes. Too many open files, a denied
// permission or a failing device says nothing about the bank: what cannot be read now may be intact. All code that reads
// files of a bank decides by [`is_file_damage`], for RocksDB by [`errno_in`].

/// What the operating system refuses, grouped by what a user can do about it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum SystemErrorKind {
    /// The process has too many open files (`EMFILE`).
    ProcessFiles,
    /// All processes together have too many open files (`ENFILE`).
    SystemFiles,
    /// Not enough memory (`ENOMEM`).
    Memory,
    /// Access denied (`EACCES`).
    Access,
    /// Operation not permitted (`EPERM`).
    NotPermitted,
    /// Interrupted by a signal, or busy (`EINTR`, `EAGAIN`, `EBUSY`).
    Transient,
    /// No free space, no quota, or a file that is too large (`ENOSPC`, `EDQUOT`, `EFBIG`).
    Space,
    /// The file system is read-only (`EROFS`).
    ReadOnly,
    /// The file system has no locks (`ENOLCK`).
    Locks,
    /// The file system lacks an operation (`ENOSYS`, `EOPNOTSUPP`).
    Unsupported,
    /// The device fails (`EIO`, `ENXIO`, `ENODEV`).
    Device,
    /// The file server does not answer, or no longer has the file (`ESTALE`, `ETIMEDOUT` and others).
    Server,
}

impl SystemErrorKind {
    /// Returns the kind of an error; `None` if it is about the path or the bytes, or of no known kind.
    #[must_use]
    pub fn of(error: &io::Error) -> Option<Self> {
        match error.raw_os_error() {
            Some(errno) => Self::of_errno(errno),
            // Other storage than files reports kinds without numbers.
            None => Some(match error.kind() {
                io::ErrorKind::StorageFull => Self::Space,
                io::ErrorKind::PermissionDenied => Self::Access,
                io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly,
                _ => return None,
            }),
        }
    }

    fn of_errno(errno: i32) -> Option<Self> {
        Some(match Errno::from_raw_os_error(errno) {
            Errno::MFILE => Self::ProcessFiles,
            Errno::NFILE => Self::SystemFiles,
            Errno::NOMEM => Self::Memory,
            Errno::ACCESS => Self::Access,
            Errno::PERM => Self::NotPermitted,
            Errno::INTR | Errno::AGAIN | Errno::BUSY => Self::Transient,
            Errno::NOSPC | Errno::DQUOT | Errno::FBIG => Self::Space,
            Errno::ROFS => Self::ReadOnly,
            Errno::NOLCK => Self::Locks,
            Errno::NOSYS | Errno::OPNOTSUPP => Self::Unsupported,
            Errno::IO | Errno::NXIO | Errno::NODEV => Self::Device,
            Errno::STALE
            | Errno::TIMEDOUT
            | Errno::NOTCONN
            | Errno::HOSTDOWN
            | Errno::HOSTUNREACH => Self::Server,
            _ => return None,
        })
    }
}

/// Returns whether an error about a file that must exist means that the file is damaged: it is missing, something else is in
/// its place, it ends early, or its bytes are wrong.
pub(crate) fn is_file_damage(error: &io::Error) -> bool {
    match error.raw_os_error() {
        Some(errno) => is_damage_errno(errno),
        None => matches!(
            error.kind(),
            // The kinds that this crate and the standard library create themselves.
            io::ErrorKind::InvalidData
                | io::ErrorKind::InvalidInput
                | io::ErrorKind::UnexpectedEof
                | io::ErrorKind::NotFound
                | io::ErrorKind::IsADirectory
        ),
    }
}

fn is_damage_errno(errno: i32) -> bool {
    [
        Errno::NOENT,
        Errno::NOTDIR,
        Errno::ISDIR,
        Errno::LOOP,
        Errno::NAMETOOLONG,
    ]
    .contains(&Errno::from_raw_os_error(errno))
}

/// Returns whether the file system does not support an operation, or its rules do not allow it here.
pub(crate) fn is_refusal(error: &io::Error) -> bool {
    error.raw_os_error().is_some_and(is_refusal_errno)
}

fn is_refusal_errno(errno: i32) -> bool {
    [
        Errno::PERM,
        Errno::ACCESS,
        Errno::NOSYS,
        Errno::OPNOTSUPP,
        Errno::MLINK,
        Errno::XDEV,
        Errno::INVAL,
    ]
    .contains(&Errno::from_raw_os_error(errno))
}

/// The highest error number of Linux; other systems have fewer.
const MAX_ERRNO: i32 = 133;

/// Returns the error number whose text ends a message of RocksDB, or a part of it; `None` if there is none.
///
/// RocksDB passes on no error numbers, and its own kinds do not tell them apart: a CURRENT that cannot be opened for lack of
/// file descriptors is an invalid argument. But its messages contain the text of `strerror`. That text is compared with the
/// texts of this system, so neither the language nor the C library matters. Opening the file again would not do: the cause
/// may be gone by then.
fn errno_in(message: &str) -> Option<i32> {
    let mut last: Option<(usize, usize, i32)> = None;
    for errno in 1..=MAX_ERRNO {
        let text = io::Error::from_raw_os_error(errno).to_string();
        let text = text.split(" (os error").next().unwrap_or_default();
        if text.is_empty() || text.starts_with("Unknown error") {
            continue;
        }
        let found = message.rmatch_indices(text).find(|(at, _)| {
            let after = message.get(at + text.len()..).unwrap_or_default();
            message.get(..*at).is_some_and(|before| before.ends_with(": "))
                // A colon follows RocksDB's own kinds, such as "Invalid argument: ".
                && after.chars().next().is_none_or(|next| next.is_whitespace() || next == '.')
        });
        if let Some((at, _)) = found {
            last = last.max(Some((at, text.len(), errno)));
        }
    }
    last.map(|(_, _, errno)| errno)
}

#[cfg(test)]
mod tests {
    use super::format_numbers;
    use super::*;

    #[test]
    fn numbers_are_told_in_runs() {
        assert_eq!(format_numbers(&[2, 5, 6, 7, 9]), "2, 5 to 7, 9");
        assert_eq!(format_numbers(&[1]), "1");
    }

    #[test]
    fn every_byte_is_a_kind() {
        for byte in 0..=u8::MAX {
            let kind = ReportedKind::from_byte(byte);
            let expected = usize::from(byte) < ReportedKind::ALL.len();
            assert_eq!(kind as u8, if expected { byte } else { 0 });
        }
    }

    #[test]
    fn damage_that_keeps_a_state_from_being_published_is_damage() {
        let damaged = StoreError::Damaged {
            table: "pages",
            key: "1".to_owned(),
            what: "it is short".to_owned(),
        };
        let error = StoreError::Unpublished(Box::new(damaged));
        assert!(error.is_damage());
        assert_eq!(error.hint(), Some(super::StoreHint::CheckAndRepair));
        let full = StoreError::io("write", "f")(io::Error::from(io::ErrorKind::StorageFull));
        assert_eq!(full.hint(), Some(super::StoreHint::FreeSpace));
        let error = StoreError::Unpublished(Box::new(full));
        assert!(!error.is_damage());
        assert_eq!(error.hint(), Some(super::StoreHint::Publish));
    }

    #[test]
    fn the_error_number_is_the_one_that_rocksdb_names_last() {
        let number = |errno: Errno| Some(errno.raw_os_error());
        for (message, expected) in [
            (
                "IO error: While open a file for random read: /b/live/000012.sst: Too many open files",
                number(Errno::MFILE),
            ),
            (
                "IO error: While open a file for random read: /b/live/000012.sst: Too many open files in system",
                number(Errno::NFILE),
            ),
            (
                "Invalid argument: Found options incompatible with filesystem: IO error: While open a file for \
                 random read: /b/live/CURRENT: Permission denied",
                number(Errno::ACCESS),
            ),
            (
                "IO error: No space left on device: While appending to file: /b/live/000009.log: \
                 No space left on device",
                number(Errno::NOSPC),
            ),
            (
                "Corruption: Can't access /000012.sst: IO error: While stat a file for size: /b/live/000012.sst: \
                 Input/output error  The file /b/live/MANIFEST-000005 may be corrupted.",
                number(Errno::IO),
            ),
            (
                "IO error: No such file or directory: While open a file for random read: /b/live/000012.sst: \
                 No such file or directory",
                number(Errno::NOENT),
            ),
            ("IO error: Stale file handle", number(Errno::STALE)),
            (
                "IO error: While fsync: a directory: Invalid argument",
                number(Errno::INVAL),
            ),
            (
                "IO error: While lock file: /b/live/LOCK: No locks available",
                number(Errno::NOLCK),
            ),
            // The name of a folder is not an error.
            (
                "IO error: While pread offset 0 len 53: /b: Permission denied/live/000012.sst: Is a directory",
                number(Errno::ISDIR),
            ),
            (
                "Corruption: block checksum mismatch: stored = 1, computed = 2",
                None,
            ),
            ("Invalid argument: Column families not opened: pages", None),
            (
                "Invalid argument: /b/live: does not exist (create_if_missing is false)",
                None,
            ),
        ] {
            assert_eq!(errno_in(message), expected, "{message}");
        }
    }

    #[test]
    fn an_error_is_damage_or_of_the_system() {
        for errno in 1..=MAX_ERRNO {
            let error = io::Error::from_raw_os_error(errno);
            let is_system = SystemErrorKind::of(&error).is_some();
            assert!(!(is_file_damage(&error) && is_system), "{error}");
        }
        assert!(is_file_damage(&io::ErrorKind::UnexpectedEof.into()));
        assert!(!is_file_damage(&io::ErrorKind::PermissionDenied.into()));
        assert!(!is_file_damage(&io::Error::other("a thread panicked")));
    }
}
