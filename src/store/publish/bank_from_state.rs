//! Making a bank from a copy of a published state: the state's files become both the published state
//! and the live database, which are the same files in any bank. The new bank has an identity of its
//! own.

use std::fs::{self, File, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::published::publish;
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

/// Begins a bank in a folder that holds nothing but its lock, which the caller holds. Returns the
/// folder that the files of the state go into.
pub(crate) fn begin(place: &Path, epoch: u64) -> Result<PathBuf, StoreError> {
    begin_copy(place, epoch)?;
    for folder in FOLDERS {
        let folder = place.join(folder);
        fs::create_dir(&folder).map_err(StoreError::io("make", &folder))?;
    }
    let state = place.join("published").join(epoch.to_string());
    fs::create_dir(&state).map_err(StoreError::io("make", &state))?;
    Ok(state)
}

/// Makes everything but the marker of a bank whose published state has its files, and opens it.
/// Returns the state as readers see it.
pub(crate) fn surround(place: &Path, epoch: u64, format: u32) -> Result<Reader, StoreError> {
    let published = place.join("published");
    let state = published.join(epoch.to_string());
    sync_folder(&state).map_err(StoreError::io("write to", &state))?;
    let live = place.join("live");
    fs::create_dir(&live).map_err(StoreError::io("make", &live))?;
    for name in names_in(&state) {
        let (from, to) = (state.join(&name), live.join(&name));
        link_or_copy(&from, &to).map_err(StoreError::io("write", &to))?;
    }
    sync_folder(&live).map_err(StoreError::io("write to", &live))?;
    lock_file(&published.join(format!("{epoch}.lock")))?;
    become_another_bank(place, epoch, format)?;
    let reader = Reader::of_published(place)?;
    let found = reader.format()?;
    if found != format {
        return Err(StoreError::State {
            state: "published",
            what: format!("expected format {format}, found {found}"),
        });
    }
    Ok(reader)
}

/// Writes a new identity to the live database, and publishes that state in the place of the copied
/// one, which has the identity of the bank that it came from.
fn become_another_bank(place: &Path, epoch: u64, format: u32) -> Result<(), StoreError> {
    let live = place.join("live");
    let state = place.join("published").join(epoch.to_string());
    // Files that are written anew have the permissions of the copied ones.
    let current = state.join("CURRENT");
    let mode = fs::metadata(&current).map_err(StoreError::io("look at", &current))?;
    let mode = mode.permissions().mode() & 0o7777;
    let store = Store {
        rocks: Database::open_writer(&live, ALL, AutoCompaction::Disabled, format != FORMAT)?,
    };
    let lineage = Meta::Lineage(Lineage::new_bank()?);
    write_meta(&store, &[(MetaKey::Lineage, lineage)], None)?;
    acknowledge(place, &store, false)?;
    let in_files = publish(place, &store, epoch)?;
    acknowledge(place, &store, in_files)?;
    drop(store);
    for folder in [live, state] {
        set_modes(&folder, mode).map_err(StoreError::io("set the permissions in", &folder))?;
    }
    Ok(())
}

/// Gives all files but tables, which came with theirs, these permissions.
fn set_modes(folder: &Path, mode: u32) -> io::Result<()> {
    for name in names_in(folder) {
        let path = folder.join(name);
        if path.extension().is_none_or(|end| end != "sst") {
            fs::set_permissions(&path, Permissions::from_mode(mode))?;
        }
    }
    Ok(())
}

/// Links table files, which never change and can belong to both states; copies all others.
pub(crate) fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    let is_table = from.extension().is_some_and(|end| end == "sst");
    if is_table && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    File::open(to)?.sync_all()
}
