//! Bulk loads: large sets of changes as sorted files that RocksDB ingests.
//!
//! RocksDB ingests files one table at a time, so a load is several steps that have to look like one:
//!
//! 1. The files are written into `BANK/loads/N/`, synced, read back and hashed.
//! 2. A mark is left beside the files, so that a lost intent is noticed, and the *intent* is written to the database: every file with its size and hash. From here on the
//!    load is finished, now or at the next open, or given up as a whole by `repair`.
//! 3. Each table ingests its files. RocksDB gets links of its own, so the files stay in `loads/N/`.
//! 4. The counters are written and the intent deleted, in one synced write.
//! 5. The state is published, and `loads/N/` removed.
//!
//! A process that dies between 2 and 4 leaves the intent and all files. The next writer compares
//! every file with the intent, and only if nothing is missing and nothing differs it ingests all of
//! them again, whatever was ingested before; ingesting a file twice changes nothing, since nobody else
//! writes meanwhile. Otherwise it publishes nothing and removes nothing: the published state is
//! whole, and the batch was never acknowledged.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::atomic::Ordering;

use super::commit::{Undoing, encoded, outdated};
use super::load_files::{described, write_files};
use super::writer::{Writer, write_meta};
use crate::disk::folder::{INGESTING, create_fresh, is_folder, sync_folder};
use crate::disk::verified_copy::hash_file;
use crate::error::StoreError;
use crate::rocks::options::KeyLength;
use crate::tables::changes::Changes;
use crate::tables::records::undo::UndoRecord;
use crate::tables::records::{Counters, Intent, Lineage, LoadFile, Meta};
use crate::tables::store::Store;
use crate::tables::undo_capture::UndoCapture;
use crate::tables::{ALL, META, MetaKey};
use seedbank_algorithms::watch::Watch;

/// The sorted file, in a load's folder, with the record of what takes the last batch back.
const UNDO_FILE: &str = "meta-undo.sst";

impl Store {
    /// The bulk load that was begun and not finished; `None` where there is none.
    pub(crate) fn unfinished_load(&self) -> Result<Option<Intent>, StoreError> {
        match self.get(&META, &MetaKey::Intent)? {
            None => Ok(None),
            Some(Meta::Intent(intent)) => Ok(Some(intent)),
            Some(_) => Err(StoreError::Damaged {
                table: META.name,
                key: "Intent".to_owned(),
                what: "it is another record".to_owned(),
            }),
        }
    }
}

impl Intent {
    /// Compares all files of an interrupted load with its intent, and fails if one is missing or
    /// differs.
    ///
    /// Cost: reads all files.
    pub(crate) fn verify(&self, bank: &Path, watch: &dyn Watch) -> Result<(), StoreError> {
        let bytes = self.files.iter().map(|file| file.bytes).sum();
        watch.stage("verify an interrupted bulk load", Some(bytes));
        for file in &self.files {
            if let Some(what) = file_fault(bank, &self.folder, file, watch)? {
                let name = format!("loads/{}/{}", self.folder, file.name);
                return Err(StoreError::State {
                    state: "live",
                    what: format!("an interrupted bulk load cannot be finished: {name} {what}"),
                });
            }
        }
        Ok(())
    }
}

/// What is wrong with a file of a load; `None` where nothing is.
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
        .then(|| "is damaged: its checksum is not the expected one".to_owned()))
}

/// Whether a path leads nowhere, also because something else is in the place of a folder on its way.
fn is_absent(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::NotADirectory
    )
}

impl Writer {
    /// Writes the changes as sorted files, and returns the intent that describes them.
    pub(crate) fn write_load(
        &self,
        changes: Changes,
        (counters, lineage): (Counters, Lineage),
        (undoing, mut capture): (Undoing, Option<UndoCapture<'_>>),
    ) -> Result<Intent, StoreError> {
        let folder = counters.epoch.to_string();
        let loads = self.bank.join("loads");
        let place = loads.join(&folder);
        fs::create_dir_all(&place).map_err(StoreError::io("make", &place))?;
        let changes = changes.finish()?;
        let memory = self.load_memory.load(Ordering::Relaxed);
        let rocks = &self.store.rocks;
        let mut files = write_files(rocks, &place, changes, capture.as_mut(), memory)?;
        if undoing != Undoing::Stays {
            let path = place.join(UNDO_FILE);
            self.write_undo(&path, capture.map(UndoCapture::finish))?;
            files.push(described(META.name, &path)?);
        }
        sync_folder(&place).map_err(StoreError::io("write to", &place))?;
        // The intent must not outlast the name of its folder.
        sync_folder(&loads).map_err(StoreError::io("write to", &loads))?;
        Ok(Intent {
            folder,
            files,
            counters,
            lineage,
        })
    }

    fn write_undo(&self, path: &Path, undo: Option<UndoRecord>) -> Result<(), StoreError> {
        let value = encoded(undo)?;
        let mut file = self.store.rocks.sorted_file(path, KeyLength::Short)?;
        file.push(
            &crate::tables::table::Key::bytes(&MetaKey::Undo),
            value.as_deref(),
        )?;
        file.finish()
    }

    /// Stores the intent of a load whose files are complete.
    pub(crate) fn write_intent(&self, intent: &Intent) -> Result<(), StoreError> {
        let place = self.bank.join("loads").join(&intent.folder);
        let mark = place.join(INGESTING);
        create_fresh(&mark)
            .and_then(|_| sync_folder(&place))
            .map_err(StoreError::io("write", &mark))?;
        let value = Meta::Intent(intent.clone());
        write_meta(&self.store, &[(MetaKey::Intent, value)], None)
    }

    /// Ingests the files of a load, all of which are known to be what the intent says. The last step
    /// makes it count.
    pub(crate) fn finish_load(&self, intent: &Intent) -> Result<(), StoreError> {
        let place = self.bank.join("loads").join(&intent.folder);
        for part in intent.files.chunk_by(|a, b| a.table == b.table) {
            let name = part.first().map_or("", |file| file.table.as_str());
            let table = ALL.iter().find(|table| table.name == name);
            let table = table.ok_or_else(|| StoreError::Damaged {
                table: META.name,
                key: "Intent".to_owned(),
                what: format!("unknown table {name}"),
            })?;
            let files = part.iter().map(|file| place.join(&file.name));
            self.store.rocks.ingest(table.name, files.collect())?;
        }
        let is_batch = self.counters()?.batch != intent.counters.batch;
        let cleared = is_batch
            .then(|| self.undo_record())
            .transpose()?
            .map(outdated);
        write_meta(
            &self.store,
            &[
                (MetaKey::Counters, Meta::Counters(intent.counters)),
                (MetaKey::Lineage, Meta::Lineage(intent.lineage)),
            ],
            Some((MetaKey::Intent, cleared)),
        )
    }
}

#[cfg(test)]
#[path = "bulk_load_tests.rs"]
mod tests;
