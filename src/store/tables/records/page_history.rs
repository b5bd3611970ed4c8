//! History of the state, the spam mark and the row of pages, and of rows.
//!
//! The record of a page has the current values. A batch that changes one of them stores the previous ones
//! in `page_history`, and the set of these pages in `page_sets`. A row that no page has any more moves to
//! `removed_rows`; row ids are never reused. So the values after batch b are those stored by the first
//! later batch that changed them, else the current ones.
//!
//! Size: some ten bytes for each page that a batch changes, the targets of each removed row, and the set.
//! New pages take nothing: their `first_seen` is enough.

use serde::{Deserialize, Serialize};

use super::{BatchId, PageState};
use crate::tables::codec::{self, Malformed};
use crate::tables::table::{Value, record_values};
use seedbank_algorithms::page::PageId;

/// The values of a page before a batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct PreviousPage {
    /// The state.
    pub state: PageState,
    /// The spam mark.
    pub spam: bool,
    /// The index of its row on its site, in `rows` or `removed_rows`; `None` if it had none.
    pub row: Option<u32>,
}

/// A row that no page has any more.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct RemovedRow {
    /// The batch that removed it from its last page.
    pub until: BatchId,
    /// The targets, ascending.
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
            .map_err(|_| Malformed("number of a batch exceeds 32 bits".to_owned()))?;
        let targets = Vec::<PageId>::decode(bytes)?;
        Ok(Self { until, targets })
    }
}

/// The previous seed that a seed replaced.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Succession {
    /// The previous seed.
    pub page: PageId,
    /// Whether the successor was another hub of the same core; if `false`, the page with the most similar
    /// row.
    pub same_core: bool,
    /// The Jaccard similarity, from 0 to 1, of the row of the successor and the last row of the previous
    /// seed.
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
