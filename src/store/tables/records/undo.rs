//! What the last batch overwrote, whole, so that it can be taken back.
//!
//! `undo` has an entry for each entry of sites, pages and links that the batch wrote: what was there
//! before, or that nothing was. Entries of earlier batches are deleted with the commit of the next
//! one. The first batch of a bank overwrites nothing: it is taken back by what is there.
//!
//! Size: the former values of what the batch wrote. A batch that replaces most of a bank takes as
//! much again as the bank, until the next one; one that brings new pages takes their keys.

use serde::{Deserialize, Serialize};

use super::{BatchId, Counters};
use crate::tables::codec::Malformed;
use crate::tables::table::{Key, Value};

/// The key of what a batch overwrote: an entry of another table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UndoKey {
    /// The batch.
    pub batch: BatchId,
    /// The table, by its number in the list of all.
    pub table: u8,
    /// The key there.
    pub key: Vec<u8>,
}

impl Key for UndoKey {
    fn put(&self, out: &mut Vec<u8>) {
        self.batch.put(out);
        out.push(self.table);
        out.extend_from_slice(&self.key);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let (batch, rest) = bytes.split_first_chunk::<4>()?;
        let (&table, key) = rest.split_first()?;
        Some(Self {
            batch: u32::from_be_bytes(*batch),
            table,
            key: key.to_vec(),
        })
    }
}

/// The bytes that an entry had before a batch; `None` where there was none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overwritten(pub Option<Vec<u8>>);

const NOTHING: u8 = 0;
const VALUE: u8 = 1;

impl Overwritten {
    /// Appends the value of `undo` for these former bytes.
    pub(crate) fn put(former: Option<&[u8]>, out: &mut Vec<u8>) {
        match former {
            None => out.push(NOTHING),
            Some(value) => {
                out.push(VALUE);
                out.extend_from_slice(value);
            }
        }
    }
}

impl Value for Overwritten {
    fn encode(&self, out: &mut Vec<u8>) -> Result<(), Malformed> {
        Self::put(self.0.as_deref(), out);
        Ok(())
    }
    fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        match bytes.split_first() {
            Some((&NOTHING, [])) => Ok(Self(None)),
            Some((&VALUE, value)) => Ok(Self(Some(value.to_vec()))),
            _ => Err(Malformed("it is not a previous value".to_owned())),
        }
    }
}

/// What it takes to take the last batch back, besides the entries of `undo`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UndoRecord {
    /// The batch.
    pub batch: BatchId,
    /// The counters before it.
    pub before: Counters,
    /// Entries of `undo`; none where the batch was the bank's first.
    pub entries: u64,
    /// The bytes of their keys and values.
    pub bytes: u64,
    /// The wrapping sum of their hashes.
    pub sum: u64,
}

impl UndoRecord {
    /// Whether there was nothing before the batch, so that all there is came with it.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.before.batch == 0
    }

    /// Counts an entry that was read.
    pub(crate) fn add(&mut self, key: &UndoKey, former: Option<&[u8]>) {
        let mut value = Vec::new();
        Overwritten::put(former, &mut value);
        self.count(&key.bytes(), &value);
    }

    /// Counts an entry.
    pub(crate) fn count(&mut self, key: &[u8], value: &[u8]) {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&(key.len() as u64).to_be_bytes());
        hasher.update(key).update(value);
        let hash = hasher.finalize();
        let hash = hash.as_bytes().first_chunk::<8>();
        let hash = hash.map_or(0, |bytes| u64::from_be_bytes(*bytes));
        self.entries += 1;
        self.bytes += (key.len() + value.len()) as u64;
        self.sum = self.sum.wrapping_add(hash);
    }
}

/// What is not to come back, once it was forgotten: a page or a site, by the keyed hash of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlocklistEntry {
    /// Whether it is a whole site.
    pub site: bool,
    /// The batch by which it was forgotten.
    pub batch: BatchId,
}

crate::tables::table::record_values!(BlocklistEntry);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_there_comes_back_and_nothing_is_no_empty_value() {
        for former in [None, Some(vec![]), Some(vec![7, 0])] {
            let mut bytes = Vec::new();
            Overwritten(former.clone()).encode(&mut bytes).unwrap();
            assert_eq!(Overwritten::decode(&bytes).unwrap(), Overwritten(former));
        }
        assert!(Overwritten::decode(&[]).is_err());
        assert!(Overwritten::decode(&[0, 1]).is_err());
        assert!(Overwritten::decode(&[2]).is_err());
    }
}
