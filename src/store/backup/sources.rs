//! The files of a bank that a backup contains.

use std::fs::{self, Metadata};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::inventory::{FilePlace, REJECTS, STATE};
use crate::disk::folder::{mode, names_in};
use crate::error::StoreError;
use crate::publish::cluster::part_files::part_folder;
use crate::publish::published::state_folder;
use crate::publish::reader::Reader;
use crate::tables::records::BatchId;
use crate::tables::shards::Parts;

/// A file of the bank.
pub(crate) struct Source {
    /// The part of a cluster bank; 0 for the folder of the bank.
    pub(crate) part: u32,
    /// The folder in the part: that of the state, or of rejected records.
    folder: &'static str,
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
    fn new(place: FilePlace<'_>, path: PathBuf, metadata: &Metadata) -> Self {
        let seconds = metadata.mtime().saturating_mul(1_000_000_000);
        Self {
            part: place.part,
            folder: place.folder,
            name: place.name(),
            path,
            bytes: metadata.len(),
            modified: seconds.saturating_add(metadata.mtime_nsec()),
            mode: mode(metadata),
        }
    }

    /// Returns the name if it is a table file, which never changes; else `None`.
    pub(crate) fn table_file(&self) -> Option<&str> {
        let is_table = self.folder == STATE && self.path.extension()? == "sst";
        self.path.file_name()?.to_str().filter(|_| is_table)
    }

    /// Returns the path in the folder of the same part of another bank, whose published state is in the folder `state`.
    pub(crate) fn destination(&self, part: &Path, state: &Path) -> PathBuf {
        let name = self.path.file_name().unwrap_or_default();
        match self.folder {
            STATE => state.join(name),
            folder => part.join(folder).join(name),
        }
    }

    /// Returns whether an error means that a list of rejected records disappeared. That is regular: the list is
    /// renamed when its batch is committed.
    pub(crate) fn has_disappeared(&self, error: &StoreError) -> bool {
        let StoreError::Io { source, path, .. } = error else {
            return false;
        };
        self.folder == REJECTS && *path == self.path && source.kind() == io::ErrorKind::NotFound
    }
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

/// A published state of a bank, which the caller has locked in all parts.
#[derive(Clone, Copy)]
pub(crate) struct SourceState {
    pub(crate) epoch: u64,
    /// The last batch in the state.
    pub(crate) batch: BatchId,
    /// The number of parts; 1 for a bank in one database.
    pub(crate) parts: u32,
}

impl SourceState {
    /// Returns the state that a reader has open.
    pub(crate) fn new(reader: &Reader) -> Result<Self, StoreError> {
        Ok(Self {
            epoch: reader.epoch(),
            batch: reader.counters()?.batch,
            parts: reader.parts().map_or(1, Parts::count),
        })
    }
}

/// Returns the permissions of the folder of each part of a bank.
pub(crate) fn modes(bank: &Path, parts: u32) -> Result<Vec<u32>, StoreError> {
    let folders = (0..parts).map(|part| part_folder(bank, part));
    let modes = folders.map(|folder| {
        let metadata = fs::metadata(&folder);
        Ok(mode(&metadata.map_err(StoreError::io("look at", folder))?))
    });
    modes.collect()
}

/// Returns the files of a published state and the lists of rejected records that belong to it, by name.
pub(crate) fn sources(bank: &Path, state: SourceState) -> Result<Vec<Source>, StoreError> {
    let mut sources = Vec::new();
    for part in 0..state.parts {
        add_part(&mut sources, &part_folder(bank, part), part, state)?;
    }
    sources.sort_unstable_by(|a, b| a.name.cmp(&b.name));
    Ok(sources)
}

/// Adds the files of a part, whose folder this is.
fn add_part(
    sources: &mut Vec<Source>,
    bank: &Path,
    part: u32,
    state: SourceState,
) -> Result<(), StoreError> {
    let mut add = |folder, file: &str, path, metadata: &Metadata| {
        sources.push(Source::new(
            FilePlace { part, folder, file },
            path,
            metadata,
        ));
    };
    let folder = state_folder(bank, state.epoch);
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
            add(STATE, &name, path, &metadata);
        }
    }
    let folder = bank.join(REJECTS);
    for name in names_in(&folder) {
        if !is_reject_list(&name, state.batch) {
            continue;
        }
        let path = folder.join(&name);
        match fs::symlink_metadata(&path) {
            Ok(metadata) if metadata.is_file() => add(REJECTS, &name, path, &metadata),
            Ok(_) => {}
            // The list was renamed when its batch was committed.
            Err(e) if e.kind() == io::ErrorKind::NotFound => {}
            Err(e) => return Err(StoreError::io("look at", path)(e)),
        }
    }
    Ok(())
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
