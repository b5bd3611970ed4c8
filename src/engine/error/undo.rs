//! Why the last batch cannot be taken back.

use seedbank_store::records::BatchId;

/// Why the last batch cannot be taken back.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum NoUndo {
    /// There is no batch.
    #[error("there is no batch to take back")]
    NoBatch,
    /// This is the last batch, and it took back the one before it.
    #[error(
        "batch {0} is itself an undo, and what earlier batches overwrote is not kept: only the last batch can be taken back, once"
    )]
    Undone(BatchId),
    /// This is the last batch, and it forgot pages or sites on demand.
    #[error("batch {0} forgot what it was told to forget, and that does not come back")]
    Forgot(BatchId),
    /// This is the last batch, and what it overwrote was not kept.
    #[error(
        "what batch {0} overwrote was not kept: an earlier version stored it; from the next batch on it is"
    )]
    NotKept(BatchId),
}
