//! Creation of a bank from a backup.

use std::collections::HashMap;
use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inventory::{BackupSummary, FilePlace, Inventory, InventoryFile, REJECTS, STATE};
use super::repository::{
    BackupPlace, FoundInventory, Repository, backup_fault, ensure_separate, faults,
};
use crate::disk::{Content, ensure_free_space, sync_folder};
use crate::error::{BackupError, StoreError};
use crate::publish::create::{BankCopy, create_at};
use crate::tables::shards::Parts;
use seedbank_algorithms::watch::Watch;

/// The report of `restore`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RestoreReport {
    /// The restored backup.
    #[serde(flatten)]
    pub made: BackupSummary,
    /// The elapsed time in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// Creates a bank from a backup, the latest one or the one with this number, in a folder that does not exist or
/// is empty, atomically.
///
/// Every file is verified while it is copied. If one is damaged, the error names the latest other backup whose
/// files are all intact.
///
/// Cost: reads every file of the backup twice, once from the copy, and writes it once. After damage, also reads
/// the files of other backups until one is intact.
pub fn restore(
    place: BackupPlace<'_>,
    bank: &Path,
    number: Option<u32>,
    watch: &dyn Watch,
) -> Result<RestoreReport, StoreError> {
    let start = Instant::now();
    let repository = Repository::open(place)?;
    let _lock = repository.lock_shared()?;
    if let BackupPlace::Folder(folder) = place {
        ensure_separate(bank, 1, folder)?;
    }
    let inventories = repository.inventories()?;
    let restored = select_backup(&repository, &inventories, number).and_then(|inventory| {
        ensure_complete(&repository, inventory, watch)?;
        create_at(bank, |place, _| {
            fill(place, bank, &repository, inventory, watch)
        })?;
        Ok(inventory)
    });
    match restored {
        Ok(inventory) => Ok(RestoreReport {
            made: inventory.made.clone(),
            seconds: start.elapsed().as_secs_f64(),
        }),
        Err(StoreError::Backup(BackupError::Damaged { number, what, .. })) => {
            let intact = find_intact_backup(&repository, &inventories, number, watch)?;
            Err(damaged(number, what, intact))
        }
        Err(e) => Err(e),
    }
}

fn damaged(number: u32, what: String, intact: Option<u32>) -> StoreError {
    BackupError::Damaged {
        number,
        what,
        intact,
    }
    .into()
}

/// Returns the inventory of the backup with this number, or of the latest one.
fn select_backup<'a>(
    repository: &Repository,
    inventories: &'a [FoundInventory],
    number: Option<u32>,
) -> Result<&'a Inventory, StoreError> {
    let path = || repository.path().to_path_buf();
    let found = match number {
        Some(number) => inventories.iter().find(|found| found.0 == number),
        None => inventories.last(),
    };
    match (found, number) {
        (Some((_, Ok(inventory))), _) => {
            let format = inventory.made.format;
            format.ensure_current(repository.path())?;
            Ok(inventory)
        }
        (Some((number, Err(what))), _) => Err(damaged(*number, what.clone(), None)),
        (None, Some(number)) if !inventories.is_empty() => Err(BackupError::NoSuch {
            path: path(),
            number,
            existing: inventories.iter().map(|found| found.0).collect(),
        }
        .into()),
        (None, _) => Err(BackupError::NoBackups(path()).into()),
    }
}

/// Fails if a file is missing or has another size, before anything is written.
fn ensure_complete(
    repository: &Repository,
    inventory: &Inventory,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    let number = inventory.made.backup;
    let this = [(number, Ok(inventory.clone()))];
    let faults = faults(repository, &this, &repository.files()?, false, watch)?;
    match backup_fault(inventory, &faults) {
        Some(what) => Err(damaged(number, what, None)),
        None => Ok(()),
    }
}

/// Returns the latest backup other than `excluded` whose files are all intact.
fn find_intact_backup(
    repository: &Repository,
    inventories: &[FoundInventory],
    excluded: u32,
    watch: &dyn Watch,
) -> Result<Option<u32>, StoreError> {
    let files = repository.files()?;
    for found in inventories.iter().rev().filter(|found| found.0 != excluded) {
        if let (number, Ok(inventory)) = found {
            let faults = faults(repository, std::slice::from_ref(found), &files, true, watch)?;
            if backup_fault(inventory, &faults).is_none() {
                return Ok(Some(*number));
            }
        }
    }
    Ok(None)
}

/// Creates the bank in a folder that contains only its lock, the marker last.
fn fill(
    place: &Path,
    bank: &Path,
    repository: &Repository,
    inventory: &Inventory,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    let BackupSummary {
        backup,
        epoch,
        files,
        bytes,
        parts,
        ..
    } = inventory.made;
    ensure_free_space(place, files, bytes)?;
    watch.stage("copy", Some(bytes));
    let copy = BankCopy {
        place,
        epoch,
        // The inventory has a valid number.
        parts: parts.and_then(Parts::new).unwrap_or(Parts::SINGLE),
        modes: &inventory.modes,
        is_new: place != bank,
    };
    let mut of_parts: HashMap<u32, Vec<(&InventoryFile, FilePlace<'_>)>> = HashMap::new();
    for file in &inventory.files {
        if let Some(within) = file.place() {
            of_parts
                .entry(within.part)
                .or_default()
                .push((file, within));
        }
    }
    let counters = copy.fill(|part, folder, state| {
        for (file, within) in of_parts.remove(&part).unwrap_or_default() {
            let to = match within.folder {
                STATE => state.join(within.file),
                other => folder.join(other).join(within.file),
            };
            restore_file(backup, repository, file, &to, watch)?;
        }
        let rejects = folder.join(REJECTS);
        sync_folder(&rejects).map_err(StoreError::io("write to", &rejects))
    })?;
    // The files may be intact and still belong to another state, if the inventory was forged.
    let (batch, refresh) = (inventory.made.batch, inventory.made.refresh);
    if (counters.batch, counters.refresh) != (batch, refresh) {
        let what = format!("expected the state after batch {batch} and refresh {refresh}");
        return Err(damaged(backup, what, None));
    }
    copy.finish()
}

/// Copies a file of the backup and verifies it.
fn restore_file(
    number: u32,
    repository: &Repository,
    file: &InventoryFile,
    to: &Path,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    let from = repository.file(&file.hash);
    let damaged_file = |what: String| {
        let hash = file.hash.to_hex();
        damaged(number, format!("{} (files/{hash}) {what}", file.name), None)
    };
    let expected = Content {
        hash: file.hash,
        bytes: file.bytes,
    };
    match repository.copy_to(&file.hash, to, file.mode, watch) {
        Ok(copied) if copied == expected => Ok(()),
        Ok(_) => Err(damaged_file("differs from what was backed up".to_owned())),
        Err(StoreError::Io { source, path, .. })
            if path == from && repository.is_damage(&source) =>
        {
            Err(damaged_file(format!("cannot be read: {source}")))
        }
        Err(e) => Err(e),
    }
}
