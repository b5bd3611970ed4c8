//! The records of bulk loads that were begun.

use serde::{Deserialize, Serialize};

use super::Counters;
use super::lineage::Lineage;

/// A sorted file of a bulk load.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct LoadFile {
    /// The name of the table that it belongs to.
    pub table: String,
    /// Its name inside the load's folder.
    pub name: String,
    /// Its size in bytes.
    pub bytes: u64,
    /// The blake3 hash of its bytes.
    pub hash: [u8; 32],
}

/// A bulk load whose files are complete and synced. It is finished now or at the next open, unless
/// one of its files is not what it was.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Intent {
    /// The folder of the files, inside the bank's folder for loads.
    pub folder: String,
    /// All files, those of a table one after another.
    pub files: Vec<LoadFile>,
    /// The counters that are written when all files are in.
    pub counters: Counters,
    /// The identities that are written with them.
    pub lineage: Lineage,
}
