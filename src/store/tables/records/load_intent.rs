//! The record of an unfinished bulk load.

use serde::{Deserialize, Serialize};

use super::Counters;
use super::lineage::Lineage;

/// A sorted file of a bulk load.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LoadFile {
    /// The name of its table.
    pub table: String,
    /// The name in the folder of the load.
    pub name: String,
    /// The size in bytes.
    pub bytes: u64,
    /// The blake3 hash of the contents.
    pub hash: [u8; 32],
}

/// A bulk load whose files are complete and synced. It is finished now or at the next open, unless one of
/// its files is damaged.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Intent {
    /// The folder of the files, in the `loads` folder of the bank.
    pub folder: String,
    /// All files, grouped by table.
    pub files: Vec<LoadFile>,
    /// The counters to write after all files are ingested.
    pub counters: Counters,
    /// The identities to write with them.
    pub lineage: Lineage,
}
