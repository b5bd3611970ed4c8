//! The files of a bank that a backup contains.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::{MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};

use super::inventory::{REJECTS, STATE};
use crate::disk::folder::names_in;
use crate::error::StoreError;
use crate::tables::records::BatchId;

/// A file of the bank.
pub(crate) struct Source {
    /// The name in the inventory.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// The modification time, in nanoseconds since 1970.
    pub(crate) modified: i64,
    /// The permissions.
    pub(crate) mode: u32,
}

impl Source {
    fn new(folder: &str, name: &str, path: PathBuf, metadata: &Metadata) -> Self {
        let seconds = metadata.mtime().saturating_mul(1_000_000_000);
        Self {
            name: format!("{folder}/{name}"),
            path,
            bytes: metadata.len(),
            modified: seconds.saturating_add(metadata.mtime_nsec()),
            mode: mode(metadata),
        }
    }

    /// Returns the name if it is a table file, which never changes; else `None`.
    pub(crate) fn table_file(&self) -> Option<&str> {
        let name = self.name.strip_prefix(STATE)?.strip_prefix('/')?;
        Path::new(&name)
            .extension()
            .is_some_and(|end| end == "sst")
            .then_some(name)
    }

    /// Returns the path in another bank, whose published state is in the folder `state`.
    pub(crate) fn destination(&self, bank: &Path, state: &Path) -> PathBuf {
        match self.name.split_once('/') {
            Some((STATE, name)) => state.join(name),
            _ => bank.join(&self.name),
        }
    }

    /// Returns whether an error means that a list of rejected records disappeared. That is regular: the list is
    /// renamed when its batch is committed.
    pub(crate) fn has_disappeared(&self, error: &StoreError) -> bool {
        let StoreError::Io { source, path, .. } = error else {
            return false;
        };
        self.name.starts_with(REJECTS)
            && *path == self.path
            && source.kind() == io::ErrorKind::NotFound
    }
}

/// Returns the permissions of a file or folder.
pub(crate) fn mode(metadata: &Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}

/// Returns whether a file is a log for people or the lock of RocksDB.
fn is_informational(name: &str) -> bool {
    name == "LOG" || name.starts_with("LOG.old") || name == "LOCK"
}

/// Returns whether a name is that of a list of rejected records that belongs to a state with this last batch:
/// the list of a batch, or of an attempt at a batch up to the next one.
fn is_reject_list(name: &str, last: BatchId) -> bool {
    let name = name.strip_prefix("batch-");
    let Some(name) = name.and_then(|name| name.strip_suffix(".jsonl")) else {
        return false;
    };
    let (number, most) = match name.split_once("-attempt-") {
        Some((number, _)) => (number, last.saturating_add(1)),
        None => (name, last),
    };
    let number: Option<BatchId> = number.parse().ok();
    number.is_none_or(|number| number <= most)
}

/// Returns the files of a published state, which the caller has locked, and the lists of rejected records that
/// belong to it, by name. `last` is the last batch in the state.
pub(crate) fn sources(bank: &Path, epoch: u64, last: BatchId) -> Result<Vec<Source>, StoreError> {
    let mut sources = Vec::new();
    let folder = bank.join("published").join(epoch.to_string());
    let entries = fs::read_dir(&folder).map_err(StoreError::io("read", &folder))?;
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read", &folder))?;
        let path = entry.path();
        let metadata = fs::metadata(&path).map_err(StoreError::io("look at", &path))?;
        let name = entry.file_name().into_string().ok();
        let Some(name) = name.filter(|_| metadata.is_file()) else {
            return Err(StoreError::State {
                state: "published",
                what: format!("{} is not a file of a state", path.display()),
            });
        };
        if !is_informational(&name) {
            sources.push(Source::new(STATE, &name, path, &metadata));
        }
    }
    let folder = bank.join(REJECTS);
    for name in names_in(&folder) {
        if !is_reject_list(&name, last) {
            continue;
        }
        let path = folder.join(&name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => {
                sources.push(Source::new(REJECTS, &name, path, &metadata));
            }
            Ok(_) => {}
            // The list was renamed when its batch was committed.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(StoreError::io("look at", path)(e)),
        }
    }
    sources.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::is_reject_list;

    #[test]
    fn lists_of_later_batches_belong_to_later_states() {
        for name in [
            "batch-000003.jsonl",
            "batch-000003-attempt-1.jsonl",
            "batch-000004-attempt-12.jsonl",
        ] {
            assert!(is_reject_list(name, 3), "{name}");
        }
        for name in [
            "batch-000004.jsonl",
            "batch-000005-attempt-1.jsonl",
            "batch-000003.txt",
            "000003.jsonl",
        ] {
            assert!(!is_reject_list(name, 3), "{name}");
        }
    }
}
