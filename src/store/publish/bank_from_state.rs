//! Creation of a bank from a copy of a published state: its files become both the published state and, by hard
//! links, the live database. The new bank has an identity of its own, the same in all parts of a cluster bank.

use std::fs::{self, Permissions};
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use super::cluster::part_files::part_folder;
use super::published::{Pointer, publish, state_folder, state_lock};
use super::writer::{acknowledge, write_meta, writer_lock};
use crate::disk::folder::{
    BankKind, FOLDERS, PARTS, begin_copy, end_copy, link_or_copy, lock_file, mode, names_in,
    set_mode, sync_folder, write_marker,
};
use crate::error::StoreError;
use crate::format::FORMAT;
use crate::rocks::database::Database;
use crate::rocks::options::AutoCompaction;
use crate::tables::records::{Counters, Lineage, Meta};
use crate::tables::shards::Parts;
use crate::tables::store::Store;
use crate::tables::{ALL, MetaKey};
use seedbank_algorithms::watch::Unwatched;

/// A bank that is created from a copy of a published state.
pub(crate) struct BankCopy<'a> {
    /// The folder, which contains only its lock.
    pub(crate) place: &'a Path,
    /// The epoch of the state.
    pub(crate) epoch: u64,
    /// The last epoch before the bank is complete: later than `epoch` if it is migrated.
    pub(crate) last_epoch: u64,
    /// The format of the state.
    pub(crate) format: u32,
    /// The parts of a cluster bank; `None` for a bank in one database.
    pub(crate) parts: Option<Parts>,
    /// The permissions of the folder of each part; the first one is that of the bank.
    pub(crate) modes: &'a [u32],
    /// Whether the folder of the bank is new; an existing one keeps its permissions.
    pub(crate) is_new: bool,
}

impl BankCopy<'_> {
    /// Creates all parts of the bank except for its marker. `copy` copies the files of a part, whose number, folder and
    /// folder for the files of the state it gets. Returns the counters of the state.
    ///
    /// After a kill, the folder is an unfinished copy: it has the mark of one, and no marker.
    pub(crate) fn fill(
        &self,
        mut copy: impl FnMut(u32, &Path, &Path) -> Result<(), StoreError>,
    ) -> Result<Counters, StoreError> {
        let lineage = Lineage::new_bank()?;
        let Some(parts) = self.parts else {
            return self.fill_part(0, lineage, &mut copy);
        };
        begin_copy(self.place, self.last_epoch)?;
        let folder = self.place.join(PARTS);
        fs::create_dir(&folder).map_err(StoreError::io("make", &folder))?;
        // Before the first part has a state: without this folder, it passes for a bank in one database.
        sync_folder(self.place).map_err(StoreError::io("write to", self.place))?;
        let mut others = Vec::new();
        for part in 1..parts.count() {
            let place = part_folder(self.place, part);
            fs::create_dir(&place).map_err(StoreError::io("make", &place))?;
            let _lock = writer_lock(&place, false, &Unwatched)?;
            others.push(self.fill_part(part, lineage, &mut copy)?);
            write_marker(&place, BankKind::Part(part, parts.count()), self.format)?;
            end_copy(&place);
            self.set_mode(part, 0)?;
        }
        sync_folder(&folder).map_err(StoreError::io("write to", &folder))?;
        let first = self.fill_part(0, lineage, &mut copy)?;
        match (1..).zip(others).find(|(_, counters)| *counters != first) {
            None => Ok(first),
            Some((part, _)) => {
                let what = format!("part {part} has another state than the first part");
                Err(StoreError::state("cluster", what))
            }
        }
    }

    /// Creates a part except for its marker.
    fn fill_part(
        &self,
        part: u32,
        lineage: Lineage,
        copy: &mut impl FnMut(u32, &Path, &Path) -> Result<(), StoreError>,
    ) -> Result<Counters, StoreError> {
        let place = part_folder(self.place, part);
        let state = create_folders(&place, self.epoch, self.last_epoch)?;
        // The folder must be writable until it is complete.
        self.set_mode(part, 0o700)?;
        copy(part, &place, &state)?;
        finish_part(&place, self.epoch, self.format, lineage)
    }

    /// Marks the bank as complete.
    pub(crate) fn finish(&self) -> Result<(), StoreError> {
        let kind = self.parts.map(Parts::count);
        let kind = kind.map_or(BankKind::Single, BankKind::Cluster);
        write_marker(self.place, kind, self.format)?;
        end_copy(self.place);
        self.restore_mode()
    }

    /// Gives the folder of the bank the permissions of its source.
    pub(crate) fn restore_mode(&self) -> Result<(), StoreError> {
        self.set_mode(0, 0)
    }

    /// Sets the permissions of the folder of a part, with `added` ones.
    fn set_mode(&self, part: u32, added: u32) -> Result<(), StoreError> {
        match self.modes.get(part as usize) {
            Some(mode) if part > 0 || self.is_new => {
                set_mode(&part_folder(self.place, part), mode | added)
            }
            _ => Ok(()),
        }
    }
}

/// Creates the folders of a bank in a folder that contains only its lock. Returns the folder for the files of
/// the state.
fn create_folders(place: &Path, epoch: u64, last_epoch: u64) -> Result<PathBuf, StoreError> {
    begin_copy(place, last_epoch)?;
    for folder in FOLDERS {
        let folder = place.join(folder);
        fs::create_dir(&folder).map_err(StoreError::io("make", &folder))?;
    }
    let state = state_folder(place, epoch);
    fs::create_dir(&state).map_err(StoreError::io("make", &state))?;
    Ok(state)
}

/// Completes a part with the files of its published state, except for the marker. Returns the counters of the state.
fn finish_part(
    place: &Path,
    epoch: u64,
    format: u32,
    lineage: Lineage,
) -> Result<Counters, StoreError> {
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
    assign_identity(place, epoch, format, lineage)?;
    let store = Pointer::read(place)?.open(place)?;
    let found = store.format()?;
    if found != format {
        let what = format!("expected format {format}, found {found}");
        return Err(StoreError::state("published", what));
    }
    store.counters()
}

/// Writes this identity to the live database, and publishes that state in place of the copied one, which has
/// the identity of the source bank.
fn assign_identity(
    place: &Path,
    epoch: u64,
    format: u32,
    lineage: Lineage,
) -> Result<(), StoreError> {
    let live = place.join("live");
    let state = state_folder(place, epoch);
    // New files get the permissions of the copied ones.
    let current = state.join("CURRENT");
    let mode = mode(&fs::metadata(&current).map_err(StoreError::io("look at", &current))?);
    let store = Store::new(Database::open_writer(
        &live,
        ALL,
        AutoCompaction::Disabled,
        format != FORMAT,
    )?);
    let lineage = Meta::Lineage(lineage);
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
