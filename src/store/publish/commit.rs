//! Commits: all changes of a batch or refresh, or none.
//!
//! A small set of changes is one synced write to the log, a large one a bulk load (`bulk_load`).
//! Either way the state is then acknowledged, published, and acknowledged again as published.

use super::acknowledged::Acknowledged;
use super::published::publish;
use super::writer::{Writer, acknowledge, next, write_meta};
use crate::disk::folder::{ACKNOWLEDGED, clear_load, clear_loads};
use crate::error::StoreError;
use crate::tables::changes::Changes;
use crate::tables::records::undo::UndoRecord;
use crate::tables::records::{BatchId, Counters, Lineage, Meta};
use crate::tables::table::Key;
use crate::tables::undo_capture::UndoCapture;
use crate::tables::{META, MetaKey, UNDO};

/// What a commit does with what takes the last batch back.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Undoing {
    /// It stays.
    Stays,
    /// What this commit overwrites takes its place.
    Kept,
    /// It goes: the last batch cannot be taken back from now on.
    Gone,
}

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
    pub fn commit_irreversible(
        &self,
        changes: Changes,
        counters: Counters,
    ) -> Result<(), StoreError> {
        self.commit_next(changes, counters, Undoing::Gone)
    }

    fn commit_next(
        &self,
        changes: Changes,
        mut counters: Counters,
        undoing: Undoing,
    ) -> Result<(), StoreError> {
        let before = self.counters()?;
        self.is_acknowledged(before.epoch)?;
        compact_small_files(&self.store.rocks)?;
        counters.epoch = next(before.epoch)?;
        let lineage = self.next_lineage()?;
        let capture = (undoing == Undoing::Kept)
            .then(|| UndoCapture::new(&self.store.rocks, before, counters.batch));
        if changes.is_large() {
            let intent = self.write_load(changes, (counters, lineage), (undoing, capture));
            if intent.is_err() {
                // Best effort: on a full disk the half-written files are what is in the way.
                let _ = clear_loads(&self.bank);
            }
            let intent = intent?;
            self.write_intent(&intent)?;
            self.finish_load(&intent)?;
            self.publish(&counters)?;
            // Best effort: the next writer tries again, and removes the folder.
            let _ = clear_load(&self.bank.join("loads").join(&intent.folder));
            Ok(())
        } else {
            self.write_at_once(changes, (counters, lineage), (undoing, capture))?;
            self.publish(&counters)
        }
    }

    /// Fails unless the state with this epoch was acknowledged. Another commit on top of one that was
    /// not would leave two states that nothing outside the database knows of.
    fn is_acknowledged(&self, epoch: u64) -> Result<(), StoreError> {
        let said = Acknowledged::read(&self.bank)?;
        if said.is_some_and(|said| said.epoch == epoch) {
            return Ok(());
        }
        Err(StoreError::State {
            state: ACKNOWLEDGED,
            what: format!("expected state {epoch} to be acknowledged before the next commit"),
        })
    }

    /// The identities of the next state.
    pub(crate) fn next_lineage(&self) -> Result<Lineage, StoreError> {
        self.lineage()?.next()
    }

    /// Writes a small set of changes as one.
    fn write_at_once(
        &self,
        mut changes: Changes,
        (counters, lineage): (Counters, Lineage),
        (undoing, mut capture): (Undoing, Option<UndoCapture<'_>>),
    ) -> Result<(), StoreError> {
        changes.put(&META, &MetaKey::Counters, &Meta::Counters(counters))?;
        changes.put(&META, &MetaKey::Lineage, &Meta::Lineage(lineage))?;
        let mut ordered = changes.finish()?;
        let mut all = Vec::new();
        let mut kept = Vec::new();
        while let Some((table, key, value)) = ordered.next_change()? {
            if let Some(capture) = &mut capture
                && let Some((key, value)) = capture.capture(table, key)?
            {
                kept.push((UNDO.name, key.to_vec(), Some(value.to_vec())));
            }
            all.push((table, key.to_vec(), value.map(<[u8]>::to_vec)));
        }
        all.append(&mut kept);
        let undo = capture.map(UndoCapture::finish);
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
    pub(crate) fn publish(&self, counters: &Counters) -> Result<(), StoreError> {
        // Until this is written, nobody was told that the state is stored.
        acknowledge(&self.bank, &self.store, false)?;
        publish(&self.bank, &self.store, counters.epoch)
            .and_then(|in_files| acknowledge(&self.bank, &self.store, in_files))
            .map_err(|e| StoreError::Unpublished(Box::new(e)))
    }

    /// Publishes the state once more, as a new one, with the MANIFEST that the database has now.
    pub fn publish_anew(&self) -> Result<(), StoreError> {
        let counters = self.begin_epoch()?;
        self.publish(&counters)
    }

    /// Stores that another state begins, of the same contents; it is still to be published.
    pub(crate) fn begin_epoch(&self) -> Result<Counters, StoreError> {
        let mut counters = self.counters()?;
        counters.epoch = next(counters.epoch)?;
        let lineage = self.next_lineage()?;
        write_meta(
            &self.store,
            &[
                (MetaKey::Counters, Meta::Counters(counters)),
                (MetaKey::Lineage, Meta::Lineage(lineage)),
            ],
            None,
        )?;
        Ok(counters)
    }
}

/// The record of what takes the last batch back, as bytes; `None` deletes it.
pub(crate) fn encoded(undo: Option<UndoRecord>) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(undo) = undo else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    crate::tables::changes::encode(&META, &MetaKey::Undo, &Meta::Undo(undo), &mut bytes)?;
    Ok(Some(bytes))
}

/// The end of the entries of `undo`, from the first, that do not belong to this record.
pub(crate) fn outdated(undo: Option<UndoRecord>) -> Vec<u8> {
    let first = undo.map_or(BatchId::MAX, |undo| undo.batch);
    first.bytes()
}

#[cfg(test)]
#[path = "commit_tests.rs"]
pub(crate) mod tests;
