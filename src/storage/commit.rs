//! Commits: all changes of a batch or refresh, or none.
//!
//! A bulk load is atomic although RocksDB takes in files one table at a time: the files are
//! completed and synced, then the intent is written; from there on the load is certain to be
//! finished, now or at the next open. Files are moved in, so a file that is missing from the load's
//! folder has been taken in; taking in a file twice changes nothing, since nobody else writes
//! meanwhile.

use std::fs;
use std::path::{Path, PathBuf};

use super::bank::{Writer, acknowledge, next, write_meta};
use super::changes::Changes;
use super::error::StoreError;
use super::folder::{clear_loads, sync_folder};
use super::keep::Keeper;
use super::load::write_files;
use super::published::publish;
use super::records::{BatchId, Counters, Intent, IntentFiles, Meta};
use super::table::Key;
use super::tables::{ALL, META, MetaKey, UNDO};
use super::undo::UndoRecord;

/// What a commit does with what takes the last batch back.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Undoing {
    /// It stays.
    Stays,
    /// What this commit overwrites takes its place.
    Kept,
    /// It goes: the last batch cannot be taken back from now on.
    Gone,
}

/// The sorted file, in a load's folder, with the record of what takes the last batch back.
const UNDO_FILE: &str = "meta-undo.sst";

impl Writer {
    /// Applies all changes and the counters, or nothing, and publishes the new state.
    ///
    /// The epoch in `counters` is set to the next one.
    pub fn commit(&self, changes: Changes, counters: Counters) -> Result<(), StoreError> {
        self.commit_next(changes, counters, Undoing::Stays)
    }

    /// Commits a batch, the last one in `counters`, and keeps what it overwrites, so that it can be
    /// taken back; what was kept for the batch before goes.
    ///
    /// Cost: besides those of [`commit`](Self::commit), a get and an entry for each change of a
    /// site, a page or a link, unless the batch is the bank's first.
    pub fn commit_batch(&self, changes: Changes, counters: Counters) -> Result<(), StoreError> {
        self.commit_next(changes, counters, Undoing::Kept)
    }

    /// Commits what cannot be taken back; what was kept for the last batch goes.
    pub fn commit_for_good(&self, changes: Changes, counters: Counters) -> Result<(), StoreError> {
        self.commit_next(changes, counters, Undoing::Gone)
    }

    fn commit_next(
        &self,
        changes: Changes,
        mut counters: Counters,
        undoing: Undoing,
    ) -> Result<(), StoreError> {
        super::files::settle(&self.store.rocks)?;
        let before = self.counters()?;
        counters.epoch = next(before.epoch)?;
        let keeper = (undoing == Undoing::Kept)
            .then(|| Keeper::new(&self.store.rocks, before, counters.batch));
        if changes.is_large() {
            let intent = self.write_load(changes, counters, (undoing, keeper));
            if intent.is_err() {
                // Best effort: on a full disk the half-written files are what is in the way.
                let _ = clear_loads(&self.bank);
            }
            let intent = intent?;
            write_meta(
                &self.store,
                &[(MetaKey::Intent, Meta::Intent(intent.clone()))],
                None,
            )?;
            self.finish_load(&intent)?;
        } else {
            self.write_at_once(changes, counters, (undoing, keeper))?;
        }
        self.publish(&counters)
    }

    /// Writes a small set of changes as one.
    fn write_at_once(
        &self,
        mut changes: Changes,
        counters: Counters,
        (undoing, mut keeper): (Undoing, Option<Keeper<'_>>),
    ) -> Result<(), StoreError> {
        changes.put(&META, &MetaKey::Counters, &Meta::Counters(counters))?;
        let mut ordered = changes.finish()?;
        let mut all = Vec::new();
        let mut kept = Vec::new();
        while let Some((table, key, value)) = ordered.next_change()? {
            if let Some(keeper) = &mut keeper
                && let Some((key, value)) = keeper.former(table, key)?
            {
                kept.push((UNDO.name, key.to_vec(), Some(value.to_vec())));
            }
            all.push((table, key.to_vec(), value.map(<[u8]>::to_vec)));
        }
        all.append(&mut kept);
        let undo = keeper.map(Keeper::finish);
        if undoing != Undoing::Stays {
            all.push((META.name, MetaKey::Undo.bytes(), encoded(undo)?));
        }
        let cleared = (undoing != Undoing::Stays).then(|| outdated(undo));
        self.store.rocks.write(
            all.iter()
                .map(|(table, key, value)| (*table, (key.as_slice(), value.as_deref()))),
            cleared.as_deref().map(|until| (UNDO.name, until)),
        )
    }

    /// Acknowledges the stored state and publishes it.
    pub(super) fn publish(&self, counters: &Counters) -> Result<(), StoreError> {
        acknowledge(&self.bank, counters, false)
            .and_then(|()| publish(&self.bank, &self.store, counters.epoch))
            .and_then(|in_files| acknowledge(&self.bank, counters, in_files))
            .map_err(|e| StoreError::Unpublished(Box::new(e)))
    }

    /// Publishes the state once more, as a new one, with the MANIFEST that the database has now.
    pub fn publish_anew(&self) -> Result<(), StoreError> {
        let counters = self.begin_epoch()?;
        self.publish(&counters)
    }

    /// Stores that another state begins, of the same contents; it is still to be published.
    pub(super) fn begin_epoch(&self) -> Result<Counters, StoreError> {
        let mut counters = self.counters()?;
        counters.epoch = next(counters.epoch)?;
        write_meta(
            &self.store,
            &[(MetaKey::Counters, Meta::Counters(counters))],
            None,
        )?;
        Ok(counters)
    }

    /// Writes the changes as sorted files and describes them.
    fn write_load(
        &self,
        changes: Changes,
        counters: Counters,
        (undoing, mut keeper): (Undoing, Option<Keeper<'_>>),
    ) -> Result<Intent, StoreError> {
        let folder = counters.epoch.to_string();
        let place = self.bank.join("loads").join(&folder);
        fs::create_dir_all(&place).map_err(StoreError::io("make", &place))?;
        let changes = changes.finish()?;
        let mut tables = write_files(&self.store.rocks, &place, changes, keeper.as_mut())?;
        if undoing != Undoing::Stays {
            self.write_undo(&place.join(UNDO_FILE), keeper.map(Keeper::finish))?;
            tables.push(IntentFiles {
                table: META.name.to_owned(),
                files: vec![UNDO_FILE.to_owned()],
            });
        }
        sync_folder(&place).map_err(StoreError::io("write to", &place))?;
        // The intent must not outlast the name of its folder.
        let loads = self.bank.join("loads");
        sync_folder(&loads).map_err(StoreError::io("write to", &loads))?;
        Ok(Intent {
            folder,
            tables,
            counters,
        })
    }

    fn write_undo(&self, path: &Path, undo: Option<UndoRecord>) -> Result<(), StoreError> {
        let value = encoded(undo)?;
        let mut file = self.store.rocks.sorted_file(path)?;
        file.push((&MetaKey::Undo.bytes(), value.as_deref()))?;
        file.finish()
    }

    /// Takes in the rest of a load; the last step makes it count.
    pub(super) fn finish_load(&self, intent: &Intent) -> Result<(), StoreError> {
        let place = self.bank.join("loads").join(&intent.folder);
        for part in &intent.tables {
            let table = ALL
                .iter()
                .find(|table| table.name == part.table)
                .ok_or_else(|| StoreError::Damaged {
                    table: META.name,
                    key: "Intent".to_owned(),
                    what: format!("there is no table {}", part.table),
                })?;
            let files: Vec<PathBuf> = part.files.iter().map(|file| place.join(file)).collect();
            // RocksDB takes in a table's files all at once, and moves them only after the load is
            // durable. So if any of them is missing, all of them have been taken in.
            if files.iter().all(|file| file.exists()) {
                self.store.rocks.take_in(table.name, files)?;
            }
        }
        let is_batch = self.counters()?.batch != intent.counters.batch;
        let cleared = is_batch
            .then(|| self.undo_record())
            .transpose()?
            .map(outdated);
        write_meta(
            &self.store,
            &[(MetaKey::Counters, Meta::Counters(intent.counters))],
            Some((MetaKey::Intent, cleared)),
        )
    }
}

/// The record of what takes the last batch back, as bytes; `None` deletes it.
fn encoded(undo: Option<UndoRecord>) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(undo) = undo else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    super::changes::encode(&META, &MetaKey::Undo, &Meta::Undo(undo), &mut bytes)?;
    Ok(Some(bytes))
}

/// The end of the entries of `undo`, from the first, that do not belong to this record.
fn outdated(undo: Option<UndoRecord>) -> Vec<u8> {
    let first = undo.map_or(BatchId::MAX, |undo| undo.batch);
    first.bytes()
}

#[cfg(test)]
#[path = "bank_tests.rs"]
mod tests;
