//! The memory that the URLs of a list of links may take.
//!
//! A link takes a byte or two, but its URL may have 64 KiB: without a limit, a short list could take
//! any amount of memory.

use super::gap_code;
use crate::ingest::reject::{Fault, RejectReason};

/// Bytes of URLs for any list, and for each of its bytes.
const BYTES_PER_LIST: usize = 1 << 20;
const BYTES_PER_BYTE: usize = 256;

/// Bytes of memory for a URL besides its text.
const URL_OVERHEAD: usize = 48;

/// Returns the approximate memory of coded lists, in bytes, if each byte takes `expansion` bytes and
/// the longest list its full budget.
pub(in crate::ingest) fn memory(coded: &[u8], expansion: usize) -> usize {
    let longest = gap_code::lists(coded).map(<[u8]>::len).max().unwrap_or(0);
    coded
        .len()
        .saturating_mul(expansion)
        .saturating_add(longest.saturating_mul(BYTES_PER_BYTE))
}

/// The bytes that the URLs of a list may still take.
pub(in crate::ingest) struct UrlBudget {
    left: usize,
    most: usize,
}

impl UrlBudget {
    /// The budget of a coded list of `list` bytes, at most `max_held_bytes`.
    pub(in crate::ingest) fn new(list: usize, max_held_bytes: usize) -> Self {
        let most = BYTES_PER_BYTE
            .saturating_mul(list)
            .saturating_add(BYTES_PER_LIST);
        let most = most.min(max_held_bytes);
        Self { left: most, most }
    }

    /// Takes the memory for a URL; an error if the budget is exceeded.
    pub(in crate::ingest) fn take(&mut self, url: &[u8]) -> Result<(), Fault> {
        let left = self.left.checked_sub(url.len() + URL_OVERHEAD);
        self.left = left.ok_or_else(|| {
            let detail = format!(
                "expected links with at most {} bytes of URLs in such a list, found more",
                self.most
            );
            Fault::new(RejectReason::LineTooLong, detail)
        })?;
        Ok(())
    }
}
