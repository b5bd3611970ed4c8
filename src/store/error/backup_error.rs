//! What can go wrong with backups.

use std::path::PathBuf;

/// An error of a folder of backups.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The folder does not exist, is not a backup folder, or has no backup yet.
    #[error("{} contains no backups", .0.display())]
    NoBackups(PathBuf),
    /// The folder is not empty and is not a backup folder, so no backup is made in it.
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
    /// Another process is making or reading a backup in the folder.
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
        /// The folder's layout.
        found: u32,
        /// The one layout that this build knows.
        known: u32,
    },
    /// There is no backup with this number.
    #[error("{} has no backup {number}: it has {}", path.display(), numbers(there))]
    NoSuch {
        /// The folder.
        path: PathBuf,
        /// The number asked for.
        number: u32,
        /// The backups that there are, in order; at least one.
        there: Vec<u32>,
    },
    /// A file of the backup is missing or differs from what was backed up.
    #[error("backup {number} is damaged: {what}; {}", match whole {
        Some(other) => format!("backup {other} is intact"),
        None => "no other backup there is intact".to_owned(),
    })]
    Damaged {
        /// The backup.
        number: u32,
        /// What is wrong with it.
        what: String,
        /// The latest other backup of which every file was read and is whole; `None` where there is
        /// none.
        whole: Option<u32>,
    },
}

/// Numbers of backups, in order, in the middle of a sentence: `2, 5 to 9`.
fn numbers(there: &[u32]) -> String {
    let runs = there.chunk_by(|a, b| a.checked_add(1) == Some(*b));
    let told = runs.filter_map(|run| match run {
        [] => None,
        [one] => Some(one.to_string()),
        [first, .., last] => Some(format!("{first} to {last}")),
    });
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::numbers;

    #[test]
    fn numbers_are_told_in_runs() {
        assert_eq!(numbers(&[2, 5, 6, 7, 9]), "2, 5 to 7, 9");
        assert_eq!(numbers(&[1]), "1");
    }
}
