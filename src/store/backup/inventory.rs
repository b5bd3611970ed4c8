//! The inventory of a backup: a summary, and the list of its files.
//!
//! ```text
//! {"backup":3,"at":1795406806,"format":"0-89abcdef01234567",...,"bank":"6e3f...","mode":493}
//! {"name":"state/000012.sst","bytes":44313,"hash":"9a1c...","modified":1795406806123456789,"mode":420}
//! ...
//! {"sum":"5d0b..."}
//! ```
//!
//! The sum is the blake3 hash of all lines before it. `state/` is the published state, `rejects/` has the
//! rejected records of the bank. Those of the other parts of a cluster bank are in `parts/001/state/` and so on, and
//! the first line has `modes`, the permissions of each part, in place of `mode`. Builds without cluster banks
//! reject such an inventory.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::disk::PARTS;
use crate::format::Format;
use crate::tables::records::{BatchId, RefreshId};
use crate::tables::shards::Parts;

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
    /// The format of the bank.
    pub format: Format,
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
    /// The number of parts of a cluster bank; absent for a bank in one database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub parts: Option<u32>,
}

/// Where a file of a backup is in its bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FilePlace<'a> {
    /// The part of a cluster bank; 0 for the folder of the bank.
    pub(super) part: u32,
    /// [`STATE`] or [`REJECTS`].
    pub(super) folder: &'static str,
    /// The name in the folder.
    pub(super) file: &'a str,
}

impl<'a> FilePlace<'a> {
    /// Returns the name in an inventory.
    pub(super) fn name(&self) -> String {
        let Self { part, folder, file } = self;
        match part {
            0 => format!("{folder}/{file}"),
            part => format!("{PARTS}/{part:03}/{folder}/{file}"),
        }
    }

    /// Parses a name in an inventory; `None` if no backup can contain the file.
    fn parse(name: &'a str) -> Option<Self> {
        let of_part = name
            .strip_prefix(PARTS)
            .and_then(|rest| rest.strip_prefix('/'));
        let (part, within) = match of_part {
            None => (0, name),
            Some(rest) => {
                let (number, within) = rest.split_once('/')?;
                (number.parse().ok().filter(|part| *part > 0)?, within)
            }
        };
        let (folder, file) = within.split_once('/')?;
        let folder = [STATE, REJECTS]
            .into_iter()
            .find(|known| *known == folder)?;
        let is_file =
            !file.is_empty() && !file.contains(['/', '\0']) && file != "." && file != "..";
        let place = Self { part, folder, file };
        // Each file has one name: numbers have no other signs or zeros.
        (is_file && place.name() == name).then_some(place)
    }
}

/// A file of a backup.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct InventoryFile {
    /// The folder and the name: `state/000012.sst`, `parts/001/state/000012.sst`.
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
    /// Returns the place in the bank; `None` if no backup can contain the file.
    pub(super) fn place(&self) -> Option<FilePlace<'_>> {
        FilePlace::parse(&self.name)
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
    /// For a bank in one database.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    mode: Option<u32>,
    /// For a cluster bank.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    modes: Option<Vec<u32>>,
}

impl Head {
    /// Returns the permissions of the folders of all parts; `None` if this build does not know such a head.
    fn modes(&self) -> Option<Vec<u32>> {
        match (self.made.parts, self.mode, &self.modes) {
            (None, Some(mode), None) => Some(vec![mode]),
            (Some(parts), None, Some(modes)) => {
                let parts = Parts::new(parts)?.count();
                (modes.len() == parts as usize).then(|| modes.clone())
            }
            _ => None,
        }
    }
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
    /// The permissions of the folder of each part; the first one is that of the bank.
    pub(super) modes: Vec<u32>,
    /// The files in the order of their names.
    pub(super) files: Vec<InventoryFile>,
}

impl Inventory {
    /// Returns the text of the inventory.
    pub(super) fn text(&self) -> Result<String, serde_json::Error> {
        let is_cluster = self.made.parts.is_some();
        let head = Head {
            made: self.made.clone(),
            bank: self.bank.clone(),
            mode: self.modes.first().copied().filter(|_| !is_cluster),
            modes: is_cluster.then(|| self.modes.clone()),
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
        let modes = head.modes().ok_or(unknown)?;
        let is_of_part = |place: FilePlace<'_>| (place.part as usize) < modes.len();
        if !files
            .iter()
            .all(|file| file.place().is_some_and(is_of_part))
        {
            return Err(unknown);
        }
        Ok(Self {
            made: head.made,
            bank: head.bank,
            modes,
            files,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(name: &str) -> Inventory {
        Inventory {
            made: BackupSummary {
                backup: 3,
                at: 1_795_406_806,
                format: Format::current(),
                epoch: 12,
                batch: 9,
                refresh: 2,
                files: 1,
                bytes: 5,
                parts: None,
            },
            bank: "one".to_owned(),
            modes: vec![0o755],
            files: vec![InventoryFile {
                name: name.to_owned(),
                bytes: 5,
                hash: blake3::hash(b"bytes"),
                modified: 1_795_406_806_123_456_789,
                mode: 0o644,
            }],
        }
    }

    /// The list of a cluster bank of two parts.
    fn list_of_parts(name: &str) -> Inventory {
        let mut list = list(name);
        list.made.parts = Some(2);
        list.modes = vec![0o755, 0o700];
        list
    }

    #[test]
    fn a_list_is_read_back_and_every_flipped_bit_and_cut_is_seen() {
        for list in [
            list("state/000012.sst"),
            list_of_parts("parts/001/state/000012.sst"),
        ] {
            assert_every_change_is_seen(list);
        }
    }

    fn assert_every_change_is_seen(list: Inventory) {
        let text = list.text().unwrap();
        assert_eq!(Inventory::parse(&text), Ok(list));
        for at in 0..text.len() {
            assert!(Inventory::parse(&text[..at]).is_err(), "cut at {at}");
            for bit in 0..7 {
                let mut bytes = text.clone().into_bytes();
                bytes[at] ^= 1 << bit;
                let flipped = String::from_utf8(bytes).unwrap();
                // The hash may be written in either case.
                let is_same = flipped.eq_ignore_ascii_case(&text);
                assert!(is_same || Inventory::parse(&flipped).is_err(), "{flipped}");
            }
        }
    }

    /// Builds without cluster banks read and write the first head. They reject one without `mode`.
    #[test]
    fn the_head_of_a_cluster_bank_is_another_one() {
        let head = |list: Inventory| list.text().unwrap().lines().next().unwrap().to_owned();
        let format = Format::current();
        let summary = format!(
            "\"backup\":3,\"at\":1795406806,\"format\":\"{format}\",\"epoch\":12,\"batch\":9,\"refresh\":2,\"files\":1,\"bytes\":5"
        );
        let single = format!("{{{summary},\"bank\":\"one\",\"mode\":493}}");
        assert_eq!(head(list("state/x")), single);
        let parts = format!("{{{summary},\"parts\":2,\"bank\":\"one\",\"modes\":[493,448]}}");
        assert_eq!(head(list_of_parts("state/x")), parts);
    }

    #[test]
    fn a_head_must_have_the_permissions_of_each_part() {
        for modes in [vec![], vec![0o755], vec![0o755; 3]] {
            let list = Inventory {
                modes,
                ..list_of_parts("state/x")
            };
            assert!(Inventory::parse(&list.text().unwrap()).is_err());
        }
        for parts in [0, 1025] {
            let mut list = list_of_parts("state/x");
            list.made.parts = Some(parts);
            list.modes = vec![0o755; parts as usize];
            assert!(Inventory::parse(&list.text().unwrap()).is_err());
        }
    }

    #[test]
    fn a_list_of_parts_names_files_of_these_parts_alone() {
        for name in ["parts/001/state/x", "parts/001/rejects/x", "state/x"] {
            let list = list_of_parts(name);
            assert_eq!(Inventory::parse(&list.text().unwrap()), Ok(list));
        }
        for name in [
            "parts/002/state/x",
            "parts/000/state/x",
            "parts/1/state/x",
            "parts/0001/state/x",
            "parts/+01/state/x",
            "parts/001/live/x",
            "parts/001/state/../x",
            "parts/001/state/",
            "parts/001/x",
            "parts/001",
            "parts/x",
            "parts/../state/x",
        ] {
            let list = list_of_parts(name);
            assert!(Inventory::parse(&list.text().unwrap()).is_err(), "{name}");
        }
        // A bank in one database has no parts.
        let single = list("parts/001/state/x");
        assert!(Inventory::parse(&single.text().unwrap()).is_err());
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
            assert!(
                Inventory::parse(&list(name).text().unwrap()).is_err(),
                "{name}"
            );
        }
    }
}
