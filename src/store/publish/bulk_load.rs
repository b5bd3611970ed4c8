//! Bulk loads: large sets of changes as sorted files that RocksDB ingests.
//!
//! RocksDB ingests files into one table at a time, so an atomic load takes several steps:
//!
//! 1. The files are written to `BANK/loads/N/`, synced, read back and hashed.
//! 2. The mark `INGESTING` is created in the folder, so that a lost intent is noticed. Then the *intent* is
//!    written to the database: the size and the hash of every file. From here on the load is finished, now
//!    or at the next open, or abandoned by `repair`.
//! 3. Each table ingests its files. RocksDB gets hard links, so the files stay in `loads/N/`.
//! 4. One synced write stores the counters and deletes the intent.
//! 5. The state is published, and `loads/N/` removed.
//!
//! A process that dies between 2 and 4 leaves the intent and all files. The next writer verifies every file
//! and then ingests all of them again: ingesting a file twice changes nothing, since nobody else writes
//! meanwhile. If a file is missing or differs, it publishes nothing and removes nothing: the published state
//! is intact, and the batch was never acknowledged.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::commit::{CommitMeta, encode_undo, first_undo_key};
use super::load_files::{describe, write_files};
use super::undo_policy::UndoPolicy;
use super::writer::{Writer, write_meta};
use crate::disk::folder::{INGESTING, create_fresh, is_folder, sync_folder};
use crate::disk::verified_copy::hash_file;
use crate::error::StoreError;
use crate::rocks::options::KeyLength;
use crate::tables::changes::Changes;
use crate::tables::records::undo::UndoRecord;
use crate::tables::records::{Intent, LoadFile, Meta};
use crate::tables::store::Store;
use crate::tables::table::Key;
use crate::tables::undo_capture::UndoCapture;
use crate::tables::{ALL, META, MetaKey};
use seedbank_algorithms::watch::Watch;

/// The name of the sorted file with the record for undoing the last batch.
const UNDO_FILE: &str = "meta-undo.sst";

impl Intent {
    /// Fails if a file of the load is missing or differs from the intent.
    ///
    /// Cost: reads all files.
    pub(crate) fn verify(&self, bank: &Path, watch: &dyn Watch) -> Result<(), StoreError> {
        let bytes = self.files.iter().map(|file| file.bytes).sum();
        watch.stage("verify an interrupted bulk load", Some(bytes));
        for file in &self.files {
            if let Some(what) = file_fault(bank, &self.folder, file, watch)? {
                let name = format!("loads/{}/{}", self.folder, file.name);
                return Err(StoreError::state(
                    "live",
                    format!("an interrupted bulk load cannot be finished: {name} {what}"),
                ));
            }
        }
        Ok(())
    }
}

/// Returns what is wrong with a file of a load; `None` if it is intact.
fn file_fault(
    bank: &Path,
    folder: &str,
    file: &LoadFile,
    watch: &dyn Watch,
) -> Result<Option<String>, StoreError> {
    let place = bank.join("loads").join(folder);
    let path = place.join(&file.name);
    let found = match fs::symlink_metadata(&path) {
        Ok(_) if !is_folder(&place) => return Ok(Some("is behind a symbolic link".to_owned())),
        Ok(found) if !found.is_file() => return Ok(Some("is not a regular file".to_owned())),
        Ok(found) => found,
        Err(e) if is_absent(&e) => return Ok(Some("is missing".to_owned())),
        Err(e) => return Err(StoreError::io("look at", &path)(e)),
    };
    if found.len() != file.bytes {
        let (expected, found) = (file.bytes, found.len());
        return Ok(Some(format!("has {found} bytes, expected {expected}")));
    }
    let content = hash_file(&path, watch)?;
    Ok((*content.hash.as_bytes() != file.hash)
        .then(|| "is damaged: its checksum differs".to_owned()))
}

/// Returns whether a path does not exist, or a part of it is not a folder.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl Writer {
    /// Writes the changes to sorted files, and returns the intent of loading them.
    pub(crate) fn write_load(
        &self,
        changes: Changes,
        meta: CommitMeta<'_>,
    ) -> Result<Intent, StoreError> {
        let CommitMeta {
            counters,
            lineage,
            undo_policy,
            mut capture,
        } = meta;
        let folder = counters.epoch.to_string();
        let loads = self.bank.join("loads");
        let place = loads.join(&folder);
        fs::create_dir_all(&place).map_err(StoreError::io("make", &place))?;
        let changes = changes.finish()?;
        let memory = self.load_memory.load(Ordering::Relaxed);
        let rocks = &self.store.rocks;
        let mut files = write_files(rocks, &place, changes, capture.as_mut(), memory)?;
        if undo_policy != UndoPolicy::Preserve {
            let path = place.join(UNDO_FILE);
            self.write_undo(&path, capture.map(UndoCapture::finish))?;
            files.push(describe(META.name, &path)?);
        }
        sync_folder(&place).map_err(StoreError::io("write to", &place))?;
        // The name of the folder must be durable before the intent, which refers to it.
        sync_folder(&loads).map_err(StoreError::io("write to", &loads))?;
        Ok(Intent {
            folder,
            files,
            counters,
            lineage,
        })
    }

    fn write_undo(&self, path: &Path, undo: Option<UndoRecord>) -> Result<(), StoreError> {
        let value = encode_undo(undo)?;
        let mut file = self.store.rocks.sorted_file(path, KeyLength::Short)?;
        file.push(&MetaKey::Undo.bytes(), value.as_deref())?;
        file.finish()
    }

    /// Writes the intent of a load whose files are complete and synced.
    pub(crate) fn write_intent(&self, intent: &Intent) -> Result<(), StoreError> {
        let place = self.bank.join("loads").join(&intent.folder);
        // The mark comes first: without it, a lost intent would go unnoticed.
        let mark = place.join(INGESTING);
        create_fresh(&mark)
            .and_then(|_| sync_folder(&place))
            .map_err(StoreError::io("write", &mark))?;
        let value = Meta::Intent(intent.clone());
        write_meta(&self.store, &[(MetaKey::Intent, value)], None)
    }

    /// Ingests the files of a load, which were all verified, and completes the state with the last write.
    pub(crate) fn finish_load(&self, intent: &Intent) -> Result<(), StoreError> {
        let place = self.bank.join("loads").join(&intent.folder);
        load_into(&self.store, &place, intent)
    }
}

/// Ingests the files of a load in `place` into a database with the state before it, and completes the state with the last
/// write.
pub(super) fn load_into(store: &Store, place: &Path, intent: &Intent) -> Result<(), StoreError> {
    for part in intent.files.chunk_by(|a, b| a.table == b.table) {
        let name = part.first().map_or("", |file| file.table.as_str());
        let table = ALL.iter().find(|table| table.name == name);
        let unknown = || StoreError::damaged(META.name, "Intent", format!("unknown table {name}"));
        let table = table.ok_or_else(unknown)?;
        let files = part.iter().map(|file| place.join(&file.name));
        store.rocks.ingest(table.name, files.collect())?;
    }
    // A batch replaces the undo record; the ingested files have the new one. Obsolete entries are
    // deleted together with the intent.
    let is_batch = store.counters()?.batch != intent.counters.batch;
    let delete_before = is_batch
        .then(|| store.get(&META, &MetaKey::Undo))
        .transpose()?
        // Of this part alone; only its batch counts.
        .map(|undo| match undo {
            Some(Meta::Undo(undo)) => first_undo_key(Some(undo)),
            _ => first_undo_key(None),
        });
    // The counters of the new state and the missing intent become visible together.
    write_meta(
        store,
        &[
            (MetaKey::Counters, Meta::Counters(intent.counters)),
            (MetaKey::Lineage, Meta::Lineage(intent.lineage)),
        ],
        Some((MetaKey::Intent, delete_before)),
    )
}

#[cfg(test)]
#[path = "bulk_load_tests.rs"]
mod tests;
