//! What a list of links may come to once its numbers are URLs.
//!
//! A link is a byte or two, and its URL may be of 64 KiB: without a limit a short list would take any
//! amount of memory.

use super::code;
use crate::ingest::reject::{Fault, RejectReason};

/// How many bytes of URLs any list may come to, and how many more for each of its bytes.
const OF_LIST: usize = 1 << 20;
const OF_BYTE: usize = 256;

/// How many bytes of memory a URL takes besides its text.
const OF_URL: usize = 48;

/// About how many bytes of memory these coded lists come to, where each byte comes to `expansion`
/// and the longest list to as much as it may.
pub(in crate::ingest) fn memory(coded: &[u8], expansion: usize) -> usize {
    let longest = code::lists(coded).map(<[u8]>::len).max().unwrap_or(0);
    coded
        .len()
        .saturating_mul(expansion)
        .saturating_add(longest.saturating_mul(OF_BYTE))
}

/// The bytes of memory that the URLs of a list may still take.
pub(in crate::ingest) struct Room {
    left: usize,
    most: usize,
}

impl Room {
    /// The room for a coded list of so many bytes, where no list may take more than `max_held_bytes`.
    pub(in crate::ingest) fn of(list: usize, max_held_bytes: usize) -> Self {
        let most = OF_BYTE.saturating_mul(list).saturating_add(OF_LIST);
        let most = most.min(max_held_bytes);
        Self { left: most, most }
    }

    /// Takes the room for a URL; an error where there is none.
    pub(in crate::ingest) fn take(&mut self, url: &[u8]) -> Result<(), Fault> {
        let left = self.left.checked_sub(url.len() + OF_URL);
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
