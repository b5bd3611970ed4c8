//! Commits: all changes of a batch or refresh, or none.
//!
//! A small set of changes is one synced write to the log, a large one a bulk load (`bulk_load`). Then the
//! state is acknowledged, published, and acknowledged again as published.

use super::acknowledged::Acknowledged;
use super::published::publish;
use super::undo_policy::UndoPolicy;
use super::writer::{Writer, acknowledge, next_epoch, write_meta};
use crate::disk::folder::{ACKNOWLEDGED, clear_load, clear_loads};
use crate::error::StoreError;
use crate::rocks::compact_small_files::compact_small_files;
use crate::tables::changes::{Changes, encode};
use crate::tables::records::undo::UndoRecord;
use crate::tables::records::{BatchId, Counters, Lineage, Meta};
use crate::tables::table::Key;
use crate::tables::undo_capture::UndoCapture;
use crate::tables::{META, MetaKey, UNDO};

/// What a commit writes besides its changes.
pub(crate) struct CommitMeta<'a> {
    pub(crate) counters: Counters,
    pub(crate) lineage: Lineage,
    pub(crate) undo_policy: UndoPolicy,
    /// Collects the overwritten values; present for [`UndoPolicy::Capture`].
    pub(crate) capture: Option<UndoCapture<'a>>,
}

impl Writer {
    /// Commits all changes and the counters, or nothing, and publishes the new state.
    ///
    /// The epoch in `counters` is replaced by the next one.
    pub fn commit(&self, changes: Changes, counters: Counters) -> Result<(), StoreError> {
        self.commit_with(changes, counters, UndoPolicy::Preserve)
    }

    /// Commits a batch, the last one in `counters`, and stores the values that it overwrites, so that it
    /// can be undone. The previous batch can no longer be undone.
    ///
    /// Cost: in addition to [`commit`](Self::commit), a get and an entry for each changed entry of sites,
    /// pages and links, unless the batch is the first one of the bank.
    pub fn commit_batch(&self, changes: Changes, counters: Counters) -> Result<(), StoreError> {
        self.commit_with(changes, counters, UndoPolicy::Capture)
    }

    /// Commits changes that cannot be undone. The last batch can no longer be undone.
    pub fn commit_irreversible(
        &self,
        changes: Changes,
        counters: Counters,
    ) -> Result<(), StoreError> {
        self.commit_with(changes, counters, UndoPolicy::Discard)
    }

    fn commit_with(
        &self,
        changes: Changes,
        mut counters: Counters,
        undo_policy: UndoPolicy,
    ) -> Result<(), StoreError> {
        let before = self.counters()?;
        // At most one state may be unknown to ACKNOWLEDGED; recovery relies on that.
        self.ensure_acknowledged(before.epoch)?;
        // Before the write, so that a failing compaction leaves the state unchanged.
        compact_small_files(&self.store.rocks)?;
        counters.epoch = next_epoch(before.epoch)?;
        if let Some(parts) = self.parts() {
            return self.commit_parts(parts, changes, counters, undo_policy);
        }
        let meta = CommitMeta {
            counters,
            lineage: self.next_lineage()?,
            undo_policy,
            capture: (undo_policy == UndoPolicy::Capture)
                .then(|| UndoCapture::new(&self.store.rocks, before, counters.batch)),
        };
        if !changes.is_large() {
            // A crash during the write leaves nothing of it: RocksDB drops an incomplete log record.
            self.write_batch(changes, meta)?;
            // A crash from here on leaves a stored state that the next writer publishes.
            return self.publish(&counters);
        }
        // A crash before the intent is written leaves files that the next writer removes.
        let intent = self.write_load(changes, meta);
        if intent.is_err() {
            // Best effort: on a full disk the incomplete files are in the way.
            let _ = clear_loads(&self.bank);
        }
        let intent = intent?;
        self.write_intent(&intent)?;
        // A crash after the intent: the next writer verifies the files and ingests all of them again.
        self.finish_load(&intent)?;
        // The intent is deleted together with writing the counters: the state is complete.
        self.publish(&counters)?;
        // Best effort: the next writer tries again, and removes the folder.
        let _ = clear_load(&self.bank.join("loads").join(&intent.folder));
        Ok(())
    }

    /// Fails unless the state with this epoch was acknowledged. Another commit on top of an unacknowledged
    /// state would leave two states that only the database knows of.
    fn ensure_acknowledged(&self, epoch: u64) -> Result<(), StoreError> {
        let acknowledged = Acknowledged::read(&self.bank)?;
        if acknowledged.is_some_and(|state| state.epoch == epoch) {
            return Ok(());
        }
        let what = format!("expected state {epoch} to be acknowledged before the next commit");
        Err(StoreError::state(ACKNOWLEDGED, what))
    }

    /// Returns the identities of the next state.
    pub(crate) fn next_lineage(&self) -> Result<Lineage, StoreError> {
        self.lineage()?.next()
    }

    /// Writes a small set of changes atomically.
    fn write_batch(&self, mut changes: Changes, meta: CommitMeta<'_>) -> Result<(), StoreError> {
        let CommitMeta {
            counters,
            lineage,
            undo_policy,
            mut capture,
        } = meta;
        changes.put(&META, &MetaKey::Counters, &Meta::Counters(counters))?;
        changes.put(&META, &MetaKey::Lineage, &Meta::Lineage(lineage))?;
        let mut sorted = changes.finish()?;
        let mut all = Vec::new();
        while let Some((table, key, value)) = sorted.next_change()? {
            // The previous value is read before the write below overwrites it.
            if let Some(capture) = &mut capture
                && let Some((key, previous)) = capture.capture(table, key)?
            {
                all.push((UNDO.name, key.to_vec(), Some(previous.to_vec())));
            }
            all.push((table, key.to_vec(), value.map(<[u8]>::to_vec)));
        }
        let undo = capture.map(UndoCapture::finish);
        let mut delete_before = None;
        if undo_policy != UndoPolicy::Preserve {
            all.push((META.name, MetaKey::Undo.bytes(), encode_undo(undo)?));
            delete_before = Some(first_undo_key(undo));
        }
        // One synced write: the changes, their undo entries and the counters stand or fall together.
        self.store.rocks.write(
            all.iter()
                .map(|(table, key, value)| (*table, (key.as_slice(), value.as_deref()))),
            delete_before.as_deref().map(|until| (UNDO.name, until)),
        )
    }

    /// Acknowledges the stored state and publishes it.
    pub(crate) fn publish(&self, counters: &Counters) -> Result<(), StoreError> {
        // From here on the state is known outside the database, so that it is missed if it is lost. A crash
        // before this line leaves one stored, unacknowledged state, which the next writer accepts.
        acknowledge(&self.bank, &self.store, false)?;
        // The second acknowledgement records the published epoch and whether the state is flushed.
        let published = publish(&self.bank, &self.store, counters.epoch);
        if published.is_ok() {
            self.remove_old_states(counters.epoch);
        }
        published
            .and_then(|is_flushed| acknowledge(&self.bank, &self.store, is_flushed))
            .map_err(|e| StoreError::Unpublished(Box::new(e)))
    }

    /// Publishes the current contents as a new state, with the current MANIFEST of the database.
    fn publish_anew(&self) -> Result<(), StoreError> {
        if self.parts().is_some() {
            // All parts have to have the same epoch.
            return self.commit(Changes::new(&self.spill_folder(), 0), self.counters()?);
        }
        let counters = self.advance_epoch()?;
        self.publish(&counters)
    }

    /// Publishes the current contents as a new state, in place of all earlier ones without readers. A cluster bank keeps
    /// the state before the last one, so it gets two.
    pub fn replace_states(&self) -> Result<(), StoreError> {
        if self.parts().is_some() {
            self.publish_anew()?;
        }
        self.publish_anew()
    }

    /// Stores a new state with the same contents, which is not published yet.
    pub(crate) fn advance_epoch(&self) -> Result<Counters, StoreError> {
        let mut counters = self.counters()?;
        counters.epoch = next_epoch(counters.epoch)?;
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

/// Encodes the record for undoing the last batch; `None` deletes it.
pub(crate) fn encode_undo(undo: Option<UndoRecord>) -> Result<Option<Vec<u8>>, StoreError> {
    let Some(undo) = undo else {
        return Ok(None);
    };
    let mut bytes = Vec::new();
    encode(&META, &MetaKey::Undo, &Meta::Undo(undo), &mut bytes)?;
    Ok(Some(bytes))
}

/// Returns the first key of `undo` that belongs to this record; smaller ones are obsolete.
pub(crate) fn first_undo_key(undo: Option<UndoRecord>) -> Vec<u8> {
    let first = undo.map_or(BatchId::MAX, |undo| undo.batch);
    first.bytes()
}

#[cfg(test)]
#[path = "commit_tests.rs"]
pub(crate) mod tests;
