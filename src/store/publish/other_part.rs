//! What the writer of a cluster bank needs of its parts after the first.

use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::undo_policy::UndoPolicy;
use crate::error::StoreError;
use crate::tables::changes::Changes;
use crate::tables::parts::part_database::PartDatabase;
use crate::tables::records::lineage::StateId;
use crate::tables::records::{Counters, Lineage};

/// What a part stores with its share of the changes.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct PrepareRecord {
    pub(crate) before: Counters,
    pub(crate) counters: Counters,
    pub(crate) lineage: Lineage,
    pub(crate) undo_policy: UndoPolicy,
}

/// The writer of a part after the first.
pub(crate) trait OtherPart: Send + Sync {
    /// Returns the identity of the state of the part.
    fn state_id(&self) -> Result<StateId, StoreError>;

    /// Returns the database.
    fn database(&self) -> PartDatabase;

    /// Returns the folder for changes that do not fit in memory; `None` if the part is in another process.
    fn spill_folder(&self) -> Option<PathBuf>;

    /// Limits the memory of the writer to this many bytes. Best effort in another process.
    fn limit_memory(&self, memory: usize);

    /// Merges small files.
    fn compact_small_files(&self) -> Result<(), StoreError>;

    /// Stores the changes of the part durably, without making them part of its state.
    fn prepare(&self, changes: Changes, record: PrepareRecord) -> Result<(), StoreError>;

    /// Removes what is prepared.
    fn discard(&self) -> Result<(), StoreError>;

    /// Makes the prepared changes the state of the part, and publishes it.
    fn finish(&self, epoch: u64) -> Result<(), StoreError>;
}
