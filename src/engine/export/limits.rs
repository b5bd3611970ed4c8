//! How much is processed at a time.

use serde::{Deserialize, Serialize};

use super::piece::malformed;
use seedbank_store::StoreError;

/// Limits of what is processed at a time. None of them is 0.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(super) struct Limits {
    /// Maximum number of pages of a chunk.
    pub(super) pages: usize,
    /// Maximum number of links of its pages together, each row counted once. A single page may have more.
    pub(super) links: usize,
    /// Bytes of text in a batch, and of URLs in the answer of another process.
    pub(super) bytes: usize,
}

impl Limits {
    /// Fails if a limit is 0.
    pub(super) fn ensure_positive(self) -> Result<(), StoreError> {
        let is_positive = self.pages.min(self.links).min(self.bytes) > 0;
        is_positive.then_some(()).ok_or_else(malformed)
    }
}
