//! The list of a backup: what it is of, and its files.
//!
//! ```text
//! {"backup":3,"at":1795406806,"format":7,...,"bank":"6e3f...","mode":493}
//! {"name":"state/000012.sst","bytes":44313,"hash":"9a1c...","modified":1795406806123456789,"mode":420}
//! ...
//! {"sum":"5d0b..."}
//! ```
//!
//! The sum is the blake3 hash of all lines before it. `state/` is the published state, `rejects/`
//! the bank's lists of bad records.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tables::records::{BatchId, RefreshId};

/// The files of the published state are listed under this name.
pub(super) const STATE: &str = "state";

/// The lists of bad records are listed under this name, which is also that of the bank's folder.
pub(super) const REJECTS: &str = "rejects";

/// What a backup is of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BackupSummary {
    /// Its number; later ones have higher numbers.
    #[schemars(range(min = 1))]
    pub backup: u32,
    /// When it was made, in seconds since 1970 (UTC).
    pub at: u64,
    /// The format version of the bank.
    #[schemars(range(min = 1))]
    pub format: u32,
    /// The state of the bank, as its folder numbers them.
    pub epoch: u64,
    /// The last batch in it; 0 before the first.
    pub batch: BatchId,
    /// The last refresh in it; 0 before the first.
    pub refresh: RefreshId,
    /// How many files it needs.
    pub files: u64,
    /// Their bytes together; other backups may need the same files.
    pub bytes: u64,
}

/// A file of a backup.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct Listed {
    /// Its folder and name: `state/000012.sst`.
    pub(super) name: String,
    pub(super) bytes: u64,
    #[serde(with = "hexadecimal")]
    pub(super) hash: blake3::Hash,
    /// When the bank's file was last modified, in nanoseconds since 1970.
    pub(super) modified: i64,
    /// Its permissions.
    pub(super) mode: u32,
}

impl Listed {
    /// Its folder and its name in it; `None` where it names something that no backup holds.
    pub(super) fn place(&self) -> Option<(&str, &str)> {
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

/// What is told of a backup beside its files.
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

/// A backup: what it is of, and its files.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(super) struct List {
    pub(super) made: BackupSummary,
    /// What tells the bank from others; empty where it has nothing that does.
    pub(super) bank: String,
    /// The permissions of the bank's folder.
    pub(super) mode: u32,
    /// By name.
    pub(super) files: Vec<Listed>,
}

impl List {
    /// The list's text.
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

    /// Reads a list; an error says what is wrong with it.
    pub(super) fn parse(text: &str) -> Result<Self, &'static str> {
        let cut = || "it is cut off or changed";
        let body = text.strip_suffix('\n').ok_or_else(cut)?;
        let at = body.rfind('\n').ok_or_else(cut)? + 1;
        let (before, last) = body.split_at(at);
        let Sum { sum } = serde_json::from_str(last).map_err(|_| cut())?;
        if blake3::hash(before.as_bytes()) != sum {
            return Err(cut());
        }
        let other = "it is in a format that this build cannot read";
        let mut lines = before.lines();
        let head = lines.next().ok_or_else(cut)?;
        let head: Head = serde_json::from_str(head).map_err(|_| other)?;
        let files = lines.map(|line| serde_json::from_str(line).map_err(|_| other));
        let files: Vec<Listed> = files.collect::<Result<_, _>>()?;
        if files.iter().any(|file| file.place().is_none()) {
            return Err(other);
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
mod tests {
    use super::*;

    fn list(name: &str) -> List {
        List {
            made: BackupSummary {
                backup: 3,
                at: 1_795_406_806,
                format: 7,
                epoch: 12,
                batch: 9,
                refresh: 2,
                files: 1,
                bytes: 5,
            },
            bank: "one".to_owned(),
            mode: 0o755,
            files: vec![Listed {
                name: name.to_owned(),
                bytes: 5,
                hash: blake3::hash(b"bytes"),
                modified: 1_795_406_806_123_456_789,
                mode: 0o644,
            }],
        }
    }

    #[test]
    fn a_list_is_read_back_and_every_flipped_bit_and_cut_is_seen() {
        let list = list("state/000012.sst");
        let text = list.text().unwrap();
        assert_eq!(List::parse(&text), Ok(list));
        for at in 0..text.len() {
            assert!(List::parse(&text[..at]).is_err(), "cut at {at}");
            for bit in 0..7 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let flipped = String::from_utf8(bytes).unwrap();
                // The hash may be written in either case.
                let is_same = flipped.eq_ignore_ascii_case(&text);
                assert!(is_same || List::parse(&flipped).is_err(), "{flipped}");
            }
        }
    }

    #[test]
    fn a_list_names_no_file_elsewhere() {
        for name in [
            "state/../x",
            "state/..",
            "live/x",
            "/x",
            "x",
            "state/",
            "state/a/b",
        ] {
            assert!(List::parse(&list(name).text().unwrap()).is_err(), "{name}");
        }
    }
}
