//! Verification of backups.

use std::collections::HashMap;
use std::io;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inventory::{BackupSummary, Inventory};
use super::repository::{FoundInventory, Repository};
use super::storage::BackupPlace;
use crate::disk::verified_copy::Content;
use crate::error::StoreError;
use seedbank_algorithms::watch::Watch;

/// A backup in a folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BackupView {
    /// The summary.
    #[serde(flatten)]
    pub made: BackupSummary,
    /// What is wrong with it, so that it cannot be restored; `None` if no fault is known.
    pub fault: Option<String>,
}

/// A backup that cannot be restored.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct DamagedBackup {
    /// The number of the backup.
    #[schemars(range(min = 1))]
    pub backup: u32,
    /// What is wrong.
    pub what: String,
}

/// The backups in a folder.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Backups {
    /// The backups with readable inventories, from the oldest to the latest.
    pub backups: Vec<BackupView>,
    /// The backups with unreadable inventories.
    pub unreadable: Vec<DamagedBackup>,
    /// The size of all files in bytes.
    pub bytes: u64,
    /// Whether the contents of all files were verified; if `false`, only names and sizes were.
    pub verified: bool,
}

impl Backups {
    /// Returns whether no fault is known.
    #[must_use]
    pub fn is_clean(&self) -> bool {
        self.unreadable.is_empty() && self.backups.iter().all(|backup| backup.fault.is_none())
    }
}

/// What is wrong with files, by their hashes.
pub(super) type Faults = HashMap<blake3::Hash, String>;

/// Verifies the files of an inventory that are not in `verified` yet: their sizes, or with `thorough` their
/// contents.
pub(super) fn verify_inventory(
    repository: &Repository,
    inventory: &Inventory,
    files: &HashMap<blake3::Hash, u64>,
    thorough: bool,
    verified: &mut HashMap<blake3::Hash, Option<String>>,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    for file in &inventory.files {
        if verified.contains_key(&file.hash) {
            continue;
        }
        let expected = Content {
            hash: file.hash,
            bytes: file.bytes,
        };
        let what = match files.get(&file.hash) {
            None => Some("is missing".to_owned()),
            Some(bytes) if *bytes != file.bytes => {
                Some(format!("has {bytes} bytes, expected {}", file.bytes))
            }
            Some(_) if !thorough => None,
            Some(_) => match repository.hash(&file.hash, watch) {
                Ok(found) if found == expected => None,
                Ok(_) => Some("differs from what was backed up".to_owned()),
                // That the network fails does not mean that a file is damaged.
                Err(StoreError::Io { source, .. })
                    if !repository.is_remote() || source.kind() == io::ErrorKind::NotFound =>
                {
                    Some(format!("cannot be read: {source}"))
                }
                Err(e) => return Err(e),
            },
        };
        verified.insert(file.hash, what);
    }
    Ok(())
}

/// Returns what is wrong with the files of all readable inventories.
pub(super) fn faults(
    repository: &Repository,
    inventories: &[FoundInventory],
    files: &HashMap<blake3::Hash, u64>,
    thorough: bool,
    watch: &dyn Watch,
) -> Result<Faults, StoreError> {
    if thorough {
        watch.stage("read backups", Some(files.values().sum()));
    }
    let mut verified = HashMap::new();
    for (_, inventory) in inventories {
        if let Ok(inventory) = inventory {
            verify_inventory(repository, inventory, files, thorough, &mut verified, watch)?;
        }
    }
    let bad = verified.into_iter();
    Ok(bad.filter_map(|(hash, what)| Some((hash, what?))).collect())
}

/// Returns what is wrong with a backup; `None` if no fault is known.
pub(super) fn backup_fault(inventory: &Inventory, faults: &Faults) -> Option<String> {
    let mut bad = inventory
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

/// Lists the backups in a folder, without changing anything. With `verify`, the contents of all files are
/// verified, otherwise only names and sizes.
pub fn backups(
    place: BackupPlace<'_>,
    verify: bool,
    watch: &dyn Watch,
) -> Result<Backups, StoreError> {
    let repository = Repository::open(place)?;
    let _lock = repository.lock_shared()?;
    let inventories = repository.inventories()?;
    let files = repository.files()?;
    let faults = faults(&repository, &inventories, &files, verify, watch)?;
    let (mut backups, mut unreadable) = (Vec::new(), Vec::new());
    for (backup, inventory) in inventories {
        match inventory {
            Ok(inventory) => backups.push(BackupView {
                fault: backup_fault(&inventory, &faults),
                made: inventory.made,
            }),
            Err(what) => unreadable.push(DamagedBackup { backup, what }),
        }
    }
    Ok(Backups {
        backups,
        unreadable,
        bytes: files.values().sum(),
        verified: verify,
    })
}
