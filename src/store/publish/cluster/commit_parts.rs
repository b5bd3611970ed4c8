//! Commits to the parts of a cluster bank.

use std::path::PathBuf;

use rayon::prelude::*;

use super::part_files::{MAX_PREPARED, PartStatus, discard_prepared, load_folder, read_prepared};
use crate::disk::folder::{PREPARED, clear_load, replace_file};
use crate::error::StoreError;
use crate::publish::commit::CommitMeta;
use crate::publish::other_part::{OtherPart, PrepareRecord};
use crate::publish::undo_policy::UndoPolicy;
use crate::publish::writer::Writer;
use crate::tables::changes::{Changes, encode};
use crate::tables::records::{Counters, Meta};
use crate::tables::shards::Parts;
use crate::tables::undo_capture::UndoCapture;
use crate::tables::{META, MetaKey};

impl Writer {
    /// Commits changes to all parts or to none, and publishes the new state. `counters` have its epoch.
    pub(in crate::publish) fn commit_parts(
        &self,
        parts: Parts,
        changes: Changes,
        counters: Counters,
        undo_policy: UndoPolicy,
    ) -> Result<(), StoreError> {
        let before = self.counters()?;
        let status = PartStatus::read(&self.bank)?;
        if status.published != before.epoch || status.prepared.is_some() {
            let what = "the previous commit is not finished; open the bank again";
            return Err(StoreError::state("cluster", what));
        }
        let record = PrepareRecord {
            before,
            counters,
            lineage: self.next_lineage()?,
            undo_policy,
        };
        self.others
            .par_iter()
            .try_for_each(|part| part.compact_small_files())?;
        // Changes of other processes are spilled here until they are sent.
        let own = self.spill_folder();
        let folders = self.others.iter().map(|part| part.spill_folder());
        let folders = folders.map(|folder| folder.unwrap_or_else(|| own.clone()));
        let folders: Vec<PathBuf> = std::iter::once(own.clone()).chain(folders).collect();
        let split = changes.split(&folders, |table, key| parts.of_key(table, key).unwrap_or(0))?;
        let mut split = split.into_iter();
        let first = split
            .next()
            .ok_or(StoreError::Protocol("a change belongs to no part"))?;
        let others: Vec<(&Box<dyn OtherPart>, Changes)> = self.others.iter().zip(split).collect();
        let prepared: Vec<Result<(), StoreError>> = others
            .into_par_iter()
            .map(|(writer, changes)| writer.prepare(changes, record))
            .collect();
        let prepared: Result<(), StoreError> = prepared.into_iter().collect();
        // The commit is decided as soon as the first part is prepared too.
        let prepared = prepared.and_then(|()| record.prepare(self, first));
        if prepared.is_err() {
            // Best effort: on a full disk the files are in the way. The next writer tries again.
            let _ = discard_prepared(&self.bank);
            for writer in &self.others {
                let _ = writer.discard();
            }
        }
        prepared?;
        // From here on the commit is in the bank: what fails now, the next writer finishes.
        self.finish_parts(counters.epoch)
            .map_err(|e| StoreError::Unpublished(Box::new(e)))
    }

    /// Finishes a commit that all parts have prepared, the first part last.
    fn finish_parts(&self, epoch: u64) -> Result<(), StoreError> {
        let finished: Vec<Result<(), StoreError>> = self
            .others
            .par_iter()
            .map(|writer| writer.finish(epoch))
            .collect();
        finished.into_iter().collect::<Result<(), _>>()?;
        self.finish_prepared(epoch)
    }

    /// Stores the changes of this part durably, without making them part of its state.
    fn prepare(&self, changes: Changes, meta: CommitMeta<'_>) -> Result<(), StoreError> {
        // A file that an earlier attempt left must not decide this commit.
        discard_prepared(&self.bank)?;
        let intent = self.write_load(changes, meta)?;
        let mut bytes = Vec::new();
        encode(
            &META,
            &MetaKey::Intent,
            &Meta::Intent(intent.clone()),
            &mut bytes,
        )?;
        let hash = blake3::hash(&bytes);
        bytes.extend_from_slice(hash.as_bytes());
        if bytes.len() as u64 > MAX_PREPARED {
            return Err(StoreError::Full("file of a commit"));
        }
        replace_file(
            &self.bank.join("loads").join(&intent.folder).join(PREPARED),
            bytes,
        )
    }

    /// Makes the prepared changes of this part its state, and publishes it.
    pub(super) fn finish_prepared(&self, epoch: u64) -> Result<(), StoreError> {
        let intent = read_prepared(&self.bank, epoch)?;
        self.write_intent(&intent)?;
        self.finish_load(&intent)?;
        self.publish(&intent.counters)?;
        // Best effort: the next writer tries again, and removes the folder.
        let _ = clear_load(&load_folder(&self.bank, epoch));
        Ok(())
    }
}

impl PrepareRecord {
    /// Prepares the changes of a part.
    pub(super) fn prepare(self, writer: &Writer, changes: Changes) -> Result<(), StoreError> {
        let capture = (self.undo_policy == UndoPolicy::Capture)
            .then(|| UndoCapture::new(&writer.store.rocks, self.before, self.counters.batch));
        let meta = CommitMeta {
            counters: self.counters,
            lineage: self.lineage,
            undo_policy: self.undo_policy,
            capture,
        };
        writer.prepare(changes, meta)
    }
}
