//! What happens to the record for undoing the last batch.

use serde::{Deserialize, Serialize};

/// What a commit does with the record for undoing the last batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) enum UndoPolicy {
    /// Keeps it.
    Preserve,
    /// Replaces it by the values that this commit overwrites.
    Capture,
    /// Deletes it: the last batch can no longer be undone.
    Discard,
}
