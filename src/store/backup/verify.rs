//! Which backups of a folder are whole.

use std::collections::HashMap;
use std::path::Path;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inventory::{BackupSummary, List};
use super::repository::{Found, Shelf};
use crate::disk::verified_copy::{Content, hash_file};
use crate::error::StoreError;
use seedbank_algorithms::watch::Watch;

/// A backup in a folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BackupView {
    /// What it is of.
    #[serde(flatten)]
    pub made: BackupSummary,
    /// What is wrong with it, so that it cannot be restored; `None` where nothing is known to be.
    pub fault: Option<String>,
}

/// A backup that cannot be restored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DamagedBackup {
    /// Its number.
    #[schemars(range(min = 1))]
    pub backup: u32,
    /// What is wrong with it.
    pub what: String,
}

/// What a folder of backups holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Backups {
    /// The backups whose lists can be read, from the oldest to the latest.
    pub backups: Vec<BackupView>,
    /// Those whose lists cannot.
    pub unreadable: Vec<DamagedBackup>,
    /// The bytes that all of them take together.
    pub bytes: u64,
    /// Whether every byte was read and compared with what was backed up; if not, only names and
    /// sizes of files were.
    pub verified: bool,
}

impl Backups {
    /// Whether nothing is known to be wrong with any of them.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.unreadable.is_empty() && self.backups.iter().all(|backup| backup.fault.is_none())
    }
}

/// What is wrong with files that lists name, by their hashes.
pub(super) type Faults = HashMap<blake3::Hash, String>;

/// Looks at the files of a list that nobody has looked at yet, by their sizes or, where `thorough`,
/// by all their bytes.
pub(super) fn look_at(
    shelf: &Shelf,
    list: &List,
    present: &HashMap<blake3::Hash, u64>,
    thorough: bool,
    looked_at: &mut HashMap<blake3::Hash, Option<String>>,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    for file in &list.files {
        if looked_at.contains_key(&file.hash) {
            continue;
        }
        let wanted = Content {
            hash: file.hash,
            bytes: file.bytes,
        };
        let what = match present.get(&file.hash) {
            None => Some("is missing".to_owned()),
            Some(bytes) if *bytes != file.bytes => {
                Some(format!("has {bytes} bytes, expected {}", file.bytes))
            }
            Some(_) if !thorough => None,
            Some(_) => match hash_file(&shelf.file(&file.hash), watch) {
                Ok(found) if found == wanted => None,
                Ok(_) => Some("differs from what was backed up".to_owned()),
                Err(StoreError::Io { source, .. }) => Some(format!("cannot be read: {source}")),
                Err(e) => return Err(e),
            },
        };
        looked_at.insert(file.hash, what);
    }
    Ok(())
}

/// What is wrong with the files of all lists that can be read.
pub(super) fn faults(
    shelf: &Shelf,
    lists: &[Found],
    present: &HashMap<blake3::Hash, u64>,
    thorough: bool,
    watch: &dyn Watch,
) -> Result<Faults, StoreError> {
    if thorough {
        watch.stage("read backups", Some(present.values().sum()));
    }
    let mut looked_at = HashMap::new();
    for (_, list) in lists {
        if let Ok(list) = list {
            look_at(shelf, list, present, thorough, &mut looked_at, watch)?;
        }
    }
    let bad = looked_at.into_iter();
    Ok(bad.filter_map(|(hash, what)| Some((hash, what?))).collect())
}

/// What is wrong with a backup; `None` where nothing is known to be.
pub(super) fn fault_of(list: &List, faults: &Faults) -> Option<String> {
    let mut bad = list
        .files
        .iter()
        .filter_map(|file| Some((file, faults.get(&file.hash)?)));
    let (file, what) = bad.next()?;
    let more = match bad.count() {
        0 => String::new(),
        more => format!(", and {more} more"),
    };
    Some(format!(
        "{} (files/{}) {what}{more}",
        file.name,
        file.hash.to_hex()
    ))
}

/// What a folder of backups holds, found without changing anything: with `verify` every byte is
/// read and compared with what was backed up, otherwise only names and sizes of files are.
pub fn backups(folder: &Path, verify: bool, watch: &dyn Watch) -> Result<Backups, StoreError> {
    let shelf = Shelf::open(folder)?;
    let _lock = shelf.share()?;
    let lists = shelf.lists()?;
    let present = shelf.present()?;
    let faults = faults(&shelf, &lists, &present, verify, watch)?;
    let (mut backups, mut unreadable) = (Vec::new(), Vec::new());
    for (backup, list) in lists {
        match list {
            Ok(list) => backups.push(BackupView {
                fault: fault_of(&list, &faults),
                made: list.made,
            }),
            Err(what) => unreadable.push(DamagedBackup { backup, what }),
        }
    }
    Ok(Backups {
        backups,
        unreadable,
        bytes: present.values().sum(),
        verified: verify,
    })
}
