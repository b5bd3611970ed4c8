//! What a batch overwrites of a page's standing, kept so that the standing after any earlier batch
//! can be told.
//!
//! Here a page's standing is its state, its spam mark and its row. The record of a page holds the
//! present one. Where a batch changes it, the previous one goes to `page_history` under the batch,
//! and the set of these pages to `page_sets`; a row that no page carries any longer goes to
//! `removed_rows`, since row ids are never given out twice. So the standing after batch b is the one
//! saved by the first later batch that changed it, or else the present one.
//!
//! Size: some ten bytes for each page whose standing a batch changes, the targets of each row that
//! it deletes, and the set. New pages take nothing: their `first_seen` is enough.

use serde::{Deserialize, Serialize};

use super::{BatchId, PageState};
use crate::tables::codec::{self, Malformed};
use crate::tables::table::{Value, record_values};
use seedbank_algorithms::page::PageId;

/// The standing that a page had before a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PreviousPage {
    /// What the page was to the crawler.
    pub state: PageState,
    /// The spam mark.
    pub spam: bool,
    /// The index of the page's row on its site, in `rows` or `removed_rows`; `None` where it had
    /// none.
    pub row: Option<u32>,
}

/// A row that no page carries any longer.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemovedRow {
    /// The batch that took it from its last page.
    pub until: BatchId,
    /// Its targets, ascending.
    pub targets: Vec<PageId>,
}

impl Value for RemovedRow {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        codec::put_varint(u64::from(self.until), out);
        codec::put_ascending(self.targets.iter().map(|page| page.0), out);
        Ok(())
    }
    fn decode(mut bytes: &[u8]) -> Result<Self, Malformed> {
        let until = u32::try_from(codec::take_varint(&mut bytes)?)
            .map_err(|_| Malformed("batch is not a number of 32 bits".to_owned()))?;
        let targets = Vec::<PageId>::decode(bytes)?;
        Ok(Self { until, targets })
    }
}

/// The old seed that a seed replaced.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Succession {
    /// The old seed.
    pub page: PageId,
    /// Whether the successor was another hub of the old seed's core; if `false`, it was the page
    /// with the most similar row.
    pub same_core: bool,
    /// Jaccard similarity, from 0 to 1, of the successor's row and the old seed's last one.
    pub similarity: f64,
}

record_values!(PreviousPage);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_former_row_comes_back_and_damage_does_not() {
        let row = RemovedRow {
            until: 300,
            targets: vec![PageId(3), PageId(1 << 40)],
        };
        let mut bytes = Vec::new();
        row.encode(&mut bytes).unwrap();
        assert_eq!(RemovedRow::decode(&bytes).unwrap(), row);
        for cut in 0..bytes.len() {
            assert!(RemovedRow::decode(&bytes[..cut]).is_err(), "{cut}");
        }
    }
}
