//! Creation of a bank from a copy of a published state: its files become both the published state and, by hard
//! links, the live database. The new bank has an identity of its own.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::published::{publish, state_folder, state_lock};
use super::reader::Reader;
use super::writer::{acknowledge, write_meta};
use crate::disk::folder::{FOLDERS, begin_copy, lock_file, names_in, sync_folder};
use crate::error::StoreError;
use crate::format::FORMAT;
use crate::rocks::database::Database;
use crate::rocks::options::AutoCompaction;
use crate::tables::records::{Lineage, Meta};
use crate::tables::store::Store;
use crate::tables::{ALL, MetaKey};

/// Creates the folders of a bank in a folder that contains only its lock. Returns the folder for the files of
/// the state.
pub(crate) fn create_folders(place: &Path, epoch: u64) -> Result<PathBuf, StoreError> {
    begin_copy(place, epoch)?;
    for folder in FOLDERS {
        let folder = place.join(folder);
        fs::create_dir(&folder).map_err(StoreError::io("make", &folder))?;
    }
    let state = state_folder(place, epoch);
    fs::create_dir(&state).map_err(StoreError::io("make", &state))?;
    Ok(state)
}

/// Completes a bank with the files of its published state, except for the marker. Returns a reader of it.
pub(crate) fn finish_bank(place: &Path, epoch: u64, format: u32) -> Result<Reader, StoreError> {
    let state = state_folder(place, epoch);
    sync_folder(&state).map_err(StoreError::io("write to", &state))?;
    let live = place.join("live");
    fs::create_dir(&live).map_err(StoreError::io("make", &live))?;
    for name in names_in(&state) {
        let (from, to) = (state.join(&name), live.join(&name));
        link_or_copy(&from, &to).map_err(StoreError::io("write", &to))?;
    }
    sync_folder(&live).map_err(StoreError::io("write to", &live))?;
    lock_file(&state_lock(place, epoch))?;
    assign_new_identity(place, epoch, format)?;
    let reader = Reader::open_published(place)?;
    let found = reader.format()?;
    if found != format {
        let what = format!("expected format {format}, found {found}");
        return Err(StoreError::state("published", what));
    }
    Ok(reader)
}

/// Writes a new identity to the live database, and publishes that state in place of the copied one, which has
/// the identity of the source bank.
fn assign_new_identity(place: &Path, epoch: u64, format: u32) -> Result<(), StoreError> {
    let live = place.join("live");
    let state = state_folder(place, epoch);
    // New files get the permissions of the copied ones.
    let current = state.join("CURRENT");
    let mode = fs::metadata(&current).map_err(StoreError::io("look at", &current))?;
    let mode = mode.permissions().mode() & 0o7777;
    let store = Store::new(Database::open_writer(
        &live,
        ALL,
        AutoCompaction::Disabled,
        format != FORMAT,
    )?);
    let lineage = Meta::Lineage(Lineage::new_bank()?);
    write_meta(&store, &[(MetaKey::Lineage, lineage)], None)?;
    acknowledge(place, &store, false)?;
    let is_flushed = publish(place, &store, epoch)?;
    acknowledge(place, &store, is_flushed)?;
    drop(store);
    for folder in [live, state] {
        set_modes(&folder, mode).map_err(StoreError::io("set the permissions in", &folder))?;
    }
    Ok(())
}

/// Sets the permissions of all files except table files, which kept theirs.
fn set_modes(folder: &Path, mode: u32) -> io::Result<()> {
    for name in names_in(folder) {
        let path = folder.join(name);
        if path.extension().is_none_or(|end| end != "sst") {
            fs::set_permissions(&path, Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

/// Hard-links a table file, since table files never change; copies any other file.
pub(crate) fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    let is_table = from.extension().is_some_and(|end| end == "sst");
    if is_table && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    File::open(to)?.sync_all()
}
