//! Making a bank of a backup.

use std::io;
use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inventory::{BackupSummary, List, Listed, STATE};
use super::repository::{Found, Shelf, set_mode};
use super::separate_folders::are_apart;
use super::verify::{fault_of, faults};
use crate::disk::folder::{end_copy, sync_folder, write_marker};
use crate::disk::free_space::ensure_free_space;
use crate::disk::verified_copy::{Content, copy};
use crate::error::BackupError;
use crate::error::StoreError;
use crate::format::upgrade_path;
use crate::publish::bank_from_state::{begin, finish_bank};
use crate::publish::create::create_at;
use seedbank_algorithms::watch::Watch;

/// What was restored.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RestoreReport {
    /// The backup.
    #[serde(flatten)]
    pub made: BackupSummary,
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// Makes a bank of a backup, the latest one or that of this number, in a folder that does not exist
/// or is empty: whole or not at all, and in the format that it was backed up in.
///
/// Every file is compared with what was backed up while it is copied. Where one is not that, the
/// error names the latest other backup of which all files are.
///
/// Cost: every file of the backup is read twice, once back from the copy, and written once. After
/// damage, the files of other backups are read until one is whole.
pub fn restore(
    folder: &Path,
    bank: &Path,
    number: Option<u32>,
    watch: &dyn Watch,
) -> Result<RestoreReport, StoreError> {
    let begun = Instant::now();
    let shelf = Shelf::open(folder)?;
    let _lock = shelf.share()?;
    are_apart(bank, folder)?;
    let lists = shelf.lists()?;
    let restored = chosen(&shelf, &lists, number).and_then(|list| {
        is_complete(&shelf, list, watch)?;
        create_at(bank, |place, _| fill(place, bank, &shelf, list, watch))?;
        Ok(list)
    });
    match restored {
        Ok(list) => Ok(RestoreReport {
            made: list.made.clone(),
            seconds: begun.elapsed().as_secs_f64(),
        }),
        Err(StoreError::Backup(BackupError::Damaged { number, what, .. })) => {
            let whole = other_whole(&shelf, &lists, number, watch)?;
            Err(damaged(number, what, whole))
        }
        Err(e) => Err(e),
    }
}

fn damaged(number: u32, what: String, whole: Option<u32>) -> StoreError {
    BackupError::Damaged {
        number,
        what,
        whole,
    }
    .into()
}

/// The list of the backup of this number, or of the latest.
fn chosen<'a>(
    shelf: &Shelf,
    lists: &'a [Found],
    number: Option<u32>,
) -> Result<&'a List, StoreError> {
    let path = || shelf.path().to_path_buf();
    let found = match number {
        Some(number) => lists.iter().find(|found| found.0 == number),
        None => lists.last(),
    };
    match (found, number) {
        (Some((_, Ok(list))), _) if upgrade_path(list.made.format).is_none() => {
            Err(StoreError::other_format(path(), list.made.format))
        }
        (Some((_, Ok(list))), _) => Ok(list),
        (Some((number, Err(what))), _) => Err(damaged(*number, what.clone(), None)),
        (None, Some(number)) if !lists.is_empty() => Err(BackupError::NoSuch {
            path: path(),
            number,
            there: lists.iter().map(|found| found.0).collect(),
        }
        .into()),
        (None, _) => Err(BackupError::NoBackups(path()).into()),
    }
}

/// Fails, before anything is written, where a file is visibly not what it should be.
fn is_complete(shelf: &Shelf, list: &List, watch: &dyn Watch) -> Result<(), StoreError> {
    let number = list.made.backup;
    let this = [(number, Ok(list.clone()))];
    let faults = faults(shelf, &this, &shelf.present()?, false, watch)?;
    match fault_of(list, &faults) {
        Some(what) => Err(damaged(number, what, None)),
        None => Ok(()),
    }
}

/// The latest backup but this one of which every file was read and is what was backed up.
fn other_whole(
    shelf: &Shelf,
    lists: &[Found],
    but: u32,
    watch: &dyn Watch,
) -> Result<Option<u32>, StoreError> {
    let present = shelf.present()?;
    for found in lists.iter().rev().filter(|found| found.0 != but) {
        if let (number, Ok(list)) = found {
            let faults = faults(shelf, std::slice::from_ref(found), &present, true, watch)?;
            if fault_of(list, &faults).is_none() {
                return Ok(Some(*number));
            }
        }
    }
    Ok(None)
}

/// Makes the bank in a folder that holds nothing but its lock, the marker last.
fn fill(
    place: &Path,
    bank: &Path,
    shelf: &Shelf,
    list: &List,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    let BackupSummary {
        epoch,
        format,
        files,
        bytes,
        ..
    } = list.made;
    ensure_free_space(place, files, bytes)?;
    let state = begin(place, epoch)?;
    // A folder that was there keeps the permissions that its owner gave it.
    let is_new = place != bank;
    if is_new {
        // Whatever the bank's were, its files are still to be written.
        set_mode(place, list.mode | 0o700)?;
    }
    watch.stage("copy", Some(bytes));
    for file in &list.files {
        let (folder, name) = file.place().unwrap_or((STATE, &file.name));
        let folder = match folder {
            STATE => state.clone(),
            folder => place.join(folder),
        };
        copy_listed(list.made.backup, shelf, file, &folder.join(name), watch)?;
    }
    let rejects = place.join(super::inventory::REJECTS);
    sync_folder(&rejects).map_err(StoreError::io("write to", &rejects))?;
    let counters = finish_bank(place, epoch, format)?.counters()?;
    let said = (list.made.batch, list.made.refresh);
    if (counters.batch, counters.refresh) != said {
        let (batch, refresh) = said;
        let what = format!("it is not the state after batch {batch} and refresh {refresh}");
        return Err(damaged(list.made.backup, what, None));
    }
    write_marker(place, format)?;
    end_copy(place);
    if is_new {
        set_mode(place, list.mode)?;
    }
    Ok(())
}

/// Copies a file of the backup, and compares it with what was backed up.
fn copy_listed(
    number: u32,
    shelf: &Shelf,
    file: &Listed,
    to: &Path,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    let from = shelf.file(&file.hash);
    let told = |what: String| {
        let hash = file.hash.to_hex();
        damaged(number, format!("{} (files/{hash}) {what}", file.name), None)
    };
    let wanted = Content {
        hash: file.hash,
        bytes: file.bytes,
    };
    match copy(&from, to, file.mode, watch) {
        Ok(copied) if copied == wanted => Ok(()),
        Ok(_) => Err(told("differs from what was backed up".to_owned())),
        Err(StoreError::Io { source, path, .. })
            if path == from && source.kind() != io::ErrorKind::PermissionDenied =>
        {
            Err(told(format!("cannot be read: {source}")))
        }
        Err(e) => Err(e),
    }
}
