//! The files of the parts of a cluster bank outside their databases.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

use super::marker::{BankKind, marker};
use super::published::Pointer;
use crate::disk::{
    PARTS, PREPARED, clear_loads, exists, is_folder, list, may_be_partly_ingested, open_regular,
    sync_folder,
};
use crate::error::StoreError;
use crate::tables::records::lineage::StateId;
use crate::tables::records::{Intent, Meta};
use crate::tables::shards::Parts;
use crate::tables::table::Value;

/// The largest size in bytes of the file of a prepared intent.
pub(super) const MAX_PREPARED: u64 = 16 << 20;

/// Creates the error of parts that contradict each other.
pub(super) fn damaged(what: impl Into<String>) -> StoreError {
    StoreError::state("cluster", what)
}

/// Adds the number of a part to the error of its state.
pub(crate) fn in_part(part: u32) -> impl Fn(StoreError) -> StoreError {
    move |error| match error {
        StoreError::State { state, what } if state != "cluster" => {
            StoreError::state(state, format!("part {part}: {what}"))
        }
        error => error,
    }
}

/// Returns the folder of a part; that of the first part is the folder of the bank.
pub(crate) fn part_folder(bank: &Path, part: u32) -> PathBuf {
    if part == 0 {
        bank.to_path_buf()
    } else {
        bank.join(PARTS).join(format!("{part:03}"))
    }
}

/// Returns the parts of a bank.
pub(crate) fn parts_of(bank: &Path) -> Result<Parts, StoreError> {
    // A bank that is being copied or repaired has no marker.
    let kind = match marker(bank) {
        Err(StoreError::NoMarker(_)) if !is_folder(&bank.join(PARTS)) => BankKind::Single,
        found => found?,
    };
    match kind {
        BankKind::Single => Ok(Parts::SINGLE),
        BankKind::Part(..) => Err(StoreError::IsPart(bank.to_path_buf())),
        BankKind::Cluster(parts) => {
            let invalid = || damaged("the marker has an invalid number of parts");
            Parts::new(parts).ok_or_else(invalid)
        }
    }
}

/// Returns the number of parts of a cluster bank; `None` for a bank in one database.
pub fn cluster_parts(bank: &Path) -> Result<Option<u32>, StoreError> {
    let parts = parts_of(bank)?;
    Ok(parts.is_cluster().then(|| parts.count()))
}

/// Returns the parts of a bank; fails unless this process has the folders of all of them, which `doing` needs.
pub(crate) fn local_parts(bank: &Path, doing: &'static str) -> Result<Parts, StoreError> {
    let parts = parts_of(bank)?;
    ensure_folders(bank, parts, doing)?;
    Ok(parts)
}

/// Fails unless this process has the folders of all parts, which `doing` needs.
pub(crate) fn ensure_folders(
    bank: &Path,
    parts: Parts,
    doing: &'static str,
) -> Result<(), StoreError> {
    for part in 1..parts.count() {
        let path = part_folder(bank, part);
        if !has_folder(part, &path)? || matches!(marker(&path), Err(StoreError::NoBank(_))) {
            return Err(StoreError::PartElsewhere { doing, part, path });
        }
    }
    Ok(())
}

/// Returns whether the folder of a part is there, also through symbolic links. Something else in its place is damage.
fn has_folder(part: u32, folder: &Path) -> Result<bool, StoreError> {
    let found = match fs::metadata(folder) {
        Ok(found) if found.is_dir() => return Ok(true),
        Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(false),
        found => found,
    };
    let what = match found {
        Ok(_) => "it is not a folder".to_owned(),
        Err(e) if is_obstructed(&e) => e.to_string(),
        Err(e) => return Err(StoreError::io("read", folder)(e)),
    };
    let folder = folder.display();
    Err(damaged(format!("part {part}, {folder}: {what}")))
}

/// Returns whether a path cannot lead to a folder: it has a file or a loop of links in it.
fn is_obstructed(error: &io::Error) -> bool {
    error.kind() == io::ErrorKind::NotADirectory
        || error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error())
}

/// Fails unless this process has the folders of all parts of the bank, which `doing` needs. A bank in one database has
/// one.
pub fn ensure_local_parts(bank: &Path, doing: &'static str) -> Result<(), StoreError> {
    local_parts(bank, doing).map(drop)
}

/// Returns the number of parts of the bank to which a part of this process belongs.
pub(super) fn part_kind(bank: &Path, part: u32) -> Result<Parts, StoreError> {
    let folder = part_folder(bank, part);
    let parts = match marker(&folder)? {
        BankKind::Part(_, parts) | BankKind::Cluster(parts) => Parts::new(parts),
        BankKind::Single => None,
    };
    parts.ok_or_else(|| {
        damaged(format!(
            "{} is not a part of a cluster bank",
            folder.display()
        ))
    })
}

/// Fails unless a folder is this part of a cluster bank.
pub(crate) fn ensure_part(bank: &Path, part: u32, parts: Parts) -> Result<(), StoreError> {
    let folder = part_folder(bank, part);
    let missing = || damaged(format!("part {part} is missing: {}", folder.display()));
    if !has_folder(part, &folder)? {
        return Err(missing());
    }
    let kind = marker(&folder).map_err(|e| match e {
        StoreError::NoBank(_) => missing(),
        e => e,
    })?;
    let expected = BankKind::of_part(part, parts);
    if kind == expected {
        return Ok(());
    }
    Err(damaged(format!(
        "{}: expected {expected}, found {kind}",
        folder.display()
    )))
}

/// Fails unless a part has the state of the first part.
pub(super) fn ensure_same_state(
    part: u32,
    found: StateId,
    expected: StateId,
) -> Result<(), StoreError> {
    if found == expected {
        return Ok(());
    }
    Err(damaged(format!(
        "part {part} has another state than the first part: expected {expected}, found {found}"
    )))
}

/// Returns the folder of the bulk load of a state.
pub(crate) fn load_folder(bank: &Path, epoch: u64) -> PathBuf {
    bank.join("loads").join(epoch.to_string())
}

/// Reads the prepared intent of a part; an error if it is damaged.
pub(crate) fn read_prepared(part: &Path, epoch: u64) -> Result<Intent, StoreError> {
    let path = load_folder(part, epoch).join(PREPARED);
    let mut bytes = Vec::new();
    open_regular(&path)
        .and_then(|file| file.take(MAX_PREPARED).read_to_end(&mut bytes))
        .map_err(StoreError::reading("cluster", PREPARED, &path))?;
    let invalid = || damaged(format!("{} is damaged", path.display()));
    let (text, hash) = bytes.split_last_chunk::<32>().ok_or_else(invalid)?;
    if blake3::hash(text) != *hash {
        return Err(invalid());
    }
    match Meta::decode(text) {
        Ok(Meta::Intent(intent)) if intent.counters.epoch == epoch => Ok(intent),
        _ => Err(invalid()),
    }
}

/// The last commits of a part, as its files outside the database record them.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(super) struct PartStatus {
    /// The published epoch.
    pub(super) published: u64,
    /// The identity of the published state.
    state: StateId,
    /// The identity of the next state, if it is prepared.
    pub(super) prepared: Option<StateId>,
    /// Whether it may have begun to finish the next state.
    is_finishing: bool,
}

impl PartStatus {
    /// Reads the files of a part.
    pub(super) fn read(folder: &Path) -> Result<Self, StoreError> {
        let pointer = Pointer::read(folder)?;
        let next = pointer.epoch.saturating_add(1);
        let path = load_folder(folder, next).join(PREPARED);
        let is_prepared = exists(&path).map_err(StoreError::io("look at", &path))?;
        let prepared = (is_prepared && path.is_file()).then(|| read_prepared(folder, next));
        Ok(Self {
            published: pointer.epoch,
            state: pointer.id(),
            prepared: prepared.transpose()?.map(|intent| intent.lineage.id()),
            is_finishing: may_be_partly_ingested(folder, pointer.epoch)?,
        })
    }

    /// Returns the last epoch that is published or prepared.
    fn reached(&self) -> u64 {
        self.published
            .saturating_add(u64::from(self.prepared.is_some()))
    }

    /// Returns the identity of a state with this epoch; `None` if the part has neither published nor prepared it.
    fn state_at(&self, epoch: u64) -> Option<StateId> {
        if epoch == self.published {
            return Some(self.state);
        }
        self.prepared.filter(|_| epoch == self.reached())
    }
}

/// What an interrupted commit left.
#[derive(Debug)]
pub(super) enum Interrupted {
    /// Nothing.
    None,
    /// Not all parts are prepared: the commit is undone.
    Undecided,
    /// All parts have the state with this epoch or are prepared for it: the commit is finished.
    Decided(u64),
}

/// Returns what an interrupted commit left; an error if the parts do not have the same bank and the same states.
///
/// The first part is prepared last and published last. So it decides, and the others have to agree.
pub(super) fn interrupted(all: &[PartStatus]) -> Result<Interrupted, StoreError> {
    let Some(first) = all.first() else {
        return Ok(Interrupted::None);
    };
    let (published, reached) = (first.published, first.reached());
    for (part, status) in all.iter().enumerate() {
        // A part may be prepared for the next state, or have published a state for which the first part is prepared.
        let is_next = !(published..=reached).contains(&status.published);
        if is_next || status.reached() < reached || status.reached() > published.saturating_add(1) {
            return Err(damaged(format!(
                "expected state {reached} in part {part}, found state {}",
                status.reached()
            )));
        }
        for epoch in published..=reached {
            let (found, expected) = (status.state_at(epoch), first.state_at(epoch));
            if found.is_some() && found != expected {
                return Err(other_state(part, epoch));
            }
        }
        // Nothing is finished before the first part is prepared, so it has lost what it had prepared.
        if first.prepared.is_none() && status.is_finishing {
            let next = published.saturating_add(1);
            return Err(damaged(format!(
                "part {part} has begun to finish state {next}, which the first part has not prepared"
            )));
        }
        let is_of_bank = |state: StateId| state.bank == first.state.bank;
        if !is_of_bank(status.state) || !status.prepared.is_none_or(is_of_bank) {
            return Err(other_state(part, status.published));
        }
    }
    Ok(if first.prepared.is_some() {
        Interrupted::Decided(reached)
    } else if all.iter().any(|part| part.prepared.is_some()) {
        Interrupted::Undecided
    } else {
        Interrupted::None
    })
}

/// Returns the error of a part whose state with this epoch is not that of the first part.
fn other_state(part: usize, epoch: u64) -> StoreError {
    damaged(format!(
        "state {epoch} of part {part} is not that of the first part; it comes from another copy or bank"
    ))
}

/// Removes what a part has prepared, the file that decides first.
pub(super) fn discard_prepared(part: &Path) -> Result<(), StoreError> {
    let loads = part.join("loads");
    for name in list(&loads)? {
        let folder = loads.join(name);
        let path = folder.join(PREPARED);
        if path.is_file() {
            fs::remove_file(&path)
                .and_then(|()| sync_folder(&folder))
                .map_err(StoreError::io("remove", &path))?;
        }
    }
    clear_loads(part)
}

/// Returns whether a commit is decided that the first part has not published.
pub(crate) fn has_decided(bank: &Path) -> bool {
    PartStatus::read(bank).is_ok_and(|first| first.prepared.is_some())
}
