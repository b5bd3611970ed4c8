//! The error of backups.

use std::path::PathBuf;

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

#[cfg(test)]
mod tests {
    use super::format_numbers;

    #[test]
    fn numbers_are_told_in_runs() {
        assert_eq!(format_numbers(&[2, 5, 6, 7, 9]), "2, 5 to 7, 9");
        assert_eq!(format_numbers(&[1]), "1");
    }
}
