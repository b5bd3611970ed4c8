//! The files of a bank that a backup holds.

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
    /// Its name in the list.
    pub(crate) name: String,
    pub(crate) path: PathBuf,
    pub(crate) bytes: u64,
    /// When it was last modified, in nanoseconds since 1970.
    pub(crate) modified: i64,
    /// Its permissions.
    pub(crate) mode: u32,
}

impl Source {
    fn new(folder: &str, name: &str, path: PathBuf, about: &Metadata) -> Self {
        let seconds = about.mtime().saturating_mul(1_000_000_000);
        Self {
            name: format!("{folder}/{name}"),
            path,
            bytes: about.len(),
            modified: seconds.saturating_add(about.mtime_nsec()),
            mode: mode(about),
        }
    }

    /// The name of the table file that it is, which never changes; `None` where it is another.
    pub(crate) fn table_file(&self) -> Option<&str> {
        let name = self.name.strip_prefix(STATE)?.strip_prefix('/')?;
        Path::new(&name)
            .extension()
            .is_some_and(|end| end == "sst")
            .then_some(name)
    }

    /// Where it belongs in a bank whose published state is in the folder `state`.
    pub(crate) fn place_in(&self, bank: &Path, state: &Path) -> PathBuf {
        match self.name.split_once('/') {
            Some((STATE, name)) => state.join(name),
            _ => bank.join(&self.name),
        }
    }

    /// Whether an error says that the file is not there any more, which is as it should be: a list of
    /// bad records gets another name when its batch is in.
    pub(crate) fn has_gone(&self, error: &StoreError) -> bool {
        let StoreError::Io { source, path, .. } = error else {
            return false;
        };
        self.name.starts_with(REJECTS)
            && *path == self.path
            && source.kind() == io::ErrorKind::NotFound
    }
}

/// The permissions of a file or folder.
pub(crate) fn mode(about: &Metadata) -> u32 {
    about.permissions().mode() & 0o7777
}

/// What RocksDB writes for people, and its lock.
fn is_told(name: &str) -> bool {
    name == "LOG" || name.starts_with("LOG.old") || name == "LOCK"
}

/// Whether a name is that of a list of bad records that belongs to a state with this last batch: a
/// list of a batch that is in it, or of an attempt at one of them or at the next.
fn is_list(name: &str, last: BatchId) -> bool {
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

/// The files of a published state, which the caller keeps from being removed, and of the lists of
/// bad records that belong to it, by name. `last` is the last batch in the state.
pub(crate) fn sources(bank: &Path, epoch: u64, last: BatchId) -> Result<Vec<Source>, StoreError> {
    let mut sources = Vec::new();
    let folder = bank.join("published").join(epoch.to_string());
    let entries = fs::read_dir(&folder).map_err(StoreError::io("read", &folder))?;
    for entry in entries {
        let entry = entry.map_err(StoreError::io("read", &folder))?;
        let path = entry.path();
        let about = fs::metadata(&path).map_err(StoreError::io("look at", &path))?;
        let name = entry.file_name().into_string().ok();
        let Some(name) = name.filter(|_| about.is_file()) else {
            return Err(StoreError::State {
                state: "published",
                what: format!("{} is not a file of a state", path.display()),
            });
        };
        if !is_told(&name) {
            sources.push(Source::new(STATE, &name, path, &about));
        }
    }
    let folder = bank.join(REJECTS);
    for name in names_in(&folder) {
        if !is_list(&name, last) {
            continue;
        }
        let path = folder.join(&name);
        match fs::symlink_metadata(&path) {
            Ok(about) if about.is_file() => {
                sources.push(Source::new(REJECTS, &name, path, &about));
            }
            Ok(_) => {}
            // A list gets another name when its batch is in.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(StoreError::io("look at", path)(e)),
        }
    }
    sources.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(sources)
}

#[cfg(test)]
mod tests {
    use super::is_list;

    #[test]
    fn lists_of_later_batches_belong_to_later_states() {
        for name in [
            "batch-000003.jsonl",
            "batch-000003-attempt-1.jsonl",
            "batch-000004-attempt-12.jsonl",
        ] {
            assert!(is_list(name, 3), "{name}");
        }
        for name in [
            "batch-000004.jsonl",
            "batch-000005-attempt-1.jsonl",
            "batch-000003.txt",
            "000003.jsonl",
        ] {
            assert!(!is_list(name, 3), "{name}");
        }
    }
}
