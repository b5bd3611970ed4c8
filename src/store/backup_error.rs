//! What can go wrong with backups.

use std::path::PathBuf;

/// An error of a folder of backups.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BackupError {
    /// The folder is missing, is something else, or has no backup yet.
    #[error("{} holds no backups", .0.display())]
    NoBackups(PathBuf),
    /// The folder is not empty and was not made for backups, so none is made in it.
    #[error("{} is not empty and holds no backups", .0.display())]
    Foreign(PathBuf),
    /// One of the two folders lies in the other.
    #[error("{} and {} lie one in the other", bank.display(), folder.display())]
    Nested {
        /// The bank.
        bank: PathBuf,
        /// The folder of backups.
        folder: PathBuf,
    },
    /// Another process makes a backup there, or reads one.
    #[error("{} is used by another backup or restore", .0.display())]
    Busy(PathBuf),
    /// The folder is used for another bank.
    #[error("{} holds backups of another bank", .0.display())]
    OtherBank(PathBuf),
    /// A newer build wrote the folder.
    #[error("{} has layout {found} of backups, this build reads layout {known}", path.display())]
    OtherLayout {
        /// The folder.
        path: PathBuf,
        /// The folder's layout.
        found: u32,
        /// The one layout that this build knows.
        known: u32,
    },
    /// There is no backup of this number.
    #[error("{} has no backup {number}: it has {}", path.display(), numbers(there))]
    NoSuch {
        /// The folder.
        path: PathBuf,
        /// The number asked for.
        number: u32,
        /// The backups that there are, in order; at least one.
        there: Vec<u32>,
    },
    /// A file of the backup is missing, or is not what was backed up.
    #[error("backup {number} is damaged: {what}; {}", match whole {
        Some(other) => format!("backup {other} is whole"),
        None => "no other backup there is whole".to_owned(),
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
