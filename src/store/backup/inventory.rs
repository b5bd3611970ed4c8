//! The inventory of a backup: a summary, and the list of its files.
//!
//! ```text
//! {"backup":3,"at":1795406806,"format":7,...,"bank":"6e3f...","mode":493}
//! {"name":"state/000012.sst","bytes":44313,"hash":"9a1c...","modified":1795406806123456789,"mode":420}
//! ...
//! {"sum":"5d0b..."}
//! ```
//!
//! The sum is the blake3 hash of all lines before it. `state/` is the published state, `rejects/` has the
//! rejected records of the bank.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tables::records::{BatchId, RefreshId};

/// The folder of the files of the published state.
pub(super) const STATE: &str = "state";

/// The folder of the rejected records, also in the bank.
pub(super) const REJECTS: &str = "rejects";

/// The summary of a backup.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BackupSummary {
    /// The number of the backup; later ones have higher numbers.
    #[schemars(range(min = 1))]
    pub backup: u32,
    /// The time of the backup, in seconds since 1970 (UTC).
    pub at: u64,
    /// The format version of the bank.
    #[schemars(range(min = 1))]
    pub format: u32,
    /// The epoch of the state of the bank.
    pub epoch: u64,
    /// The last batch in the state; 0 if there is none.
    pub batch: BatchId,
    /// The last refresh in the state; 0 if there is none.
    pub refresh: RefreshId,
    /// The number of files.
    pub files: u64,
    /// The size of the files in bytes; other backups may share them.
    pub bytes: u64,
}

/// A file of a backup.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct InventoryFile {
    /// The folder and the name: `state/000012.sst`.
    pub(super) name: String,
    pub(super) bytes: u64,
    #[serde(with = "hexadecimal")]
    pub(super) hash: blake3::Hash,
    /// The modification time of the file in the bank, in nanoseconds since 1970.
    pub(super) modified: i64,
    /// The permissions.
    pub(super) mode: u32,
}

impl InventoryFile {
    /// Returns the folder and the name; `None` if no backup can contain the file.
    pub(super) fn folder_and_name(&self) -> Option<(&str, &str)> {
        let (folder, name) = self.name.split_once('/')?;
        let is_name =
            !name.is_empty() && !name.contains(['/', '\0']) && name != "." && name != "..";
        ([STATE, REJECTS].contains(&folder) && is_name).then_some((folder, name))
    }
}

mod hexadecimal {
    use serde::{Deserialize, Deserializer, Serializer, de};

    pub(super) fn serialize<S: Serializer>(hash: &blake3::Hash, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&hash.to_hex())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<blake3::Hash, D::Error> {
        let text = String::deserialize(from)?;
        blake3::Hash::from_hex(text).map_err(de::Error::custom)
    }
}

/// The first line of an inventory.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
struct Head {
    #[serde(flatten)]
    made: BackupSummary,
    bank: String,
    mode: u32,
}

#[derive(Serialize, Deserialize)]
struct Sum {
    #[serde(with = "hexadecimal")]
    sum: blake3::Hash,
}

/// The inventory of a backup.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct Inventory {
    pub(super) made: BackupSummary,
    /// The identity of the database of the bank; empty if it has none.
    pub(super) bank: String,
    /// The permissions of the folder of the bank.
    pub(super) mode: u32,
    /// The files in the order of their names.
    pub(super) files: Vec<InventoryFile>,
}

impl Inventory {
    /// Returns the text of the inventory.
    pub(super) fn text(&self) -> Result<String, serde_json::Error> {
        let head = Head {
            made: self.made.clone(),
            bank: self.bank.clone(),
            mode: self.mode,
        };
        let mut text = serde_json::to_string(&head)?;
        text.push('\n');
        for file in &self.files {
            text.push_str(&serde_json::to_string(file)?);
            text.push('\n');
        }
        let sum = blake3::hash(text.as_bytes());
        text.push_str(&serde_json::to_string(&Sum { sum })?);
        text.push('\n');
        Ok(text)
    }

    /// Parses an inventory; the error is what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let damaged = || "it is truncated or changed";
        let body = text.strip_suffix('\n').ok_or_else(damaged)?;
        let at = body.rfind('\n').ok_or_else(damaged)? + 1;
        let (before, last) = body.split_at(at);
        let Sum { sum } = serde_json::from_str(last).map_err(|_| damaged())?;
        if blake3::hash(before.as_bytes()) != sum {
            return Err(damaged());
        }
        let unknown = "this build cannot read its format";
        let mut lines = before.lines();
        let head = lines.next().ok_or_else(damaged)?;
        let head: Head = serde_json::from_str(head).map_err(|_| unknown)?;
        let files = lines.map(|line| serde_json::from_str(line).map_err(|_| unknown));
        let files: Vec<InventoryFile> = files.collect::<Result<_, _>>()?;
        if files.iter().any(|file| file.folder_and_name().is_none()) {
            return Err(unknown);
        }
        Ok(Self {
            made: head.made,
            bank: head.bank,
            mode: head.mode,
            files,
        })
    }
}

#[cfg(test)]
#[path = "inventory_tests.rs"]
mod tests;
