//! Why the last batch cannot be taken back.

use seedbank_store::records::BatchId;

/// Why the last batch cannot be taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum UndoError {
    /// There is no batch.
    #[error("there is no batch to take back")]
    NoBatch,
    /// The last batch is itself an undo.
    #[error("batch {0} is itself an undo; only the last batch can be taken back, and only once")]
    IsUndo(BatchId),
    /// The last batch forgot pages or sites.
    #[error("batch {0} forgot pages or sites, which cannot be undone")]
    IsForget(BatchId),
    /// The data that the last batch overwrote was not stored.
    #[error(
        "an earlier version stored batch {0} without the data needed to undo it; later batches can be undone"
    )]
    NotStored(BatchId),
}
