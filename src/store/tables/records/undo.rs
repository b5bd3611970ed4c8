//! Records for undoing the last batch, and of the blocklist.
//!
//! `undo` has an entry for each entry of sites, pages and links that the batch wrote: the previous value,
//! or that there was none. The commit of the next batch deletes them. The first batch of a bank has no
//! entries: undoing it deletes everything.
//!
//! Size: the previous values. A batch that replaces most of a bank doubles its size until the next batch;
//! one with new pages takes their keys.

use serde::{Deserialize, Serialize};

use super::{BatchId, Counters};
use crate::tables::codec::Malformed;
use crate::tables::table::{Key, Value};

/// The key of a previous value: a key of another table.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct UndoKey {
    /// The batch.
    pub batch: BatchId,
    /// The number of the table in the list of all tables.
    pub table: u8,
    /// The key in that table.
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

/// The previous value of an entry; `None` if there was none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Overwritten(pub Option<Vec<u8>>);

const NOTHING: u8 = 0;
const VALUE: u8 = 1;

impl Overwritten {
    /// Appends the encoded form of a previous value.
    pub(crate) fn put(previous: Option<&[u8]>, out: &mut Vec<u8>) {
        match previous {
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
            _ => Err(Malformed("expected a previous value".to_owned())),
        }
    }
}

/// The summary of the entries of `undo`, and the counters before the batch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct UndoRecord {
    /// The batch.
    pub batch: BatchId,
    /// The counters before the batch.
    pub before: Counters,
    /// The number of entries; 0 if the batch was the first one of the bank.
    pub entries: u64,
    /// The size of their keys and values in bytes.
    pub bytes: u64,
    /// The wrapping sum of their hashes.
    pub sum: u64,
}

impl UndoRecord {
    /// Returns whether the batch was the first one of the bank.
    #[must_use]
    pub fn is_first(&self) -> bool {
        self.before.batch == 0
    }

    /// Adds the entries of another part of a cluster bank.
    pub(crate) fn add_part(&mut self, other: &Self) {
        self.entries = self.entries.saturating_add(other.entries);
        self.bytes = self.bytes.saturating_add(other.bytes);
        self.sum = self.sum.wrapping_add(other.sum);
    }

    /// Counts a decoded entry.
    pub(crate) fn add(&mut self, key: &UndoKey, previous: Option<&[u8]>) {
        let mut value = Vec::new();
        Overwritten::put(previous, &mut value);
        self.count(&key.bytes(), &value);
    }

    /// Counts an encoded entry.
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

/// A forgotten page or site that later batches reject, by the keyed hash of its name.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct BlocklistEntry {
    /// Whether it is a site.
    pub site: bool,
    /// The batch that forgot it.
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
