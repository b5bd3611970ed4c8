//! Published states: checkpoints of hard links that readers open, beside any writer.
//!
//! ```text
//! BANK/published/N/       the checkpoint of epoch N
//! BANK/published/N.lock   shared by its readers
//! BANK/published/CURRENT  which one readers open, replaced in one step:
//!                         12 MANIFEST-000123 4821 HASH log HASH bank ID state ID SUM
//!                         (no `log HASH` where all of the state is in files of tables)
//! ```
//!
//! A state is removed when a later one is current and nobody holds its lock. The pointer holds a
//! fingerprint of the state's MANIFEST, and another of its log where it has one, so that a reader
//! knows whether what it opened is what was published. It also holds the identities of the bank and of
//! the state, so that a folder put back from a copy, or from another bank, is recognised.

use std::fmt::Write;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::acknowledged::{Acknowledged, sum, summed};
use crate::disk::folder::{
    is_folder, lock_file, names_in, open_regular, read_text, replace_file, sync_folder,
};
use crate::error::StoreError;
use crate::rocks::manifest::Manifest;
use crate::rocks::write_ahead_log as logs;
use crate::tables::records::lineage::StateId;
use crate::tables::store::Store;

/// What readers are pointed to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pointer {
    /// The epoch of the state.
    pub(crate) epoch: u64,
    /// The state's MANIFEST.
    manifest: Manifest,
    /// The hash of the state's log; `None` where it has none.
    log: Option<blake3::Hash>,
    /// The identity of the state.
    id: StateId,
}

/// The error of a published state that is not what it should be.
pub(crate) fn damaged(what: impl Into<String>) -> StoreError {
    StoreError::State {
        state: "published",
        what: what.into(),
    }
}

/// What stands before the hash of a log.
const LOG: &str = " log ";

/// What stands before the identity of a state.
const BANK: &str = " bank ";

/// The folder of the published states.
pub(crate) fn folder_of(bank: &Path) -> PathBuf {
    bank.join("published")
}

impl Pointer {
    /// The pointer as a line of text.
    pub(crate) fn line(&self) -> String {
        let mut text = format!("{} {}", self.epoch, self.manifest);
        if let Some(log) = &self.log {
            text.push_str(LOG);
            text.push_str(&log.to_hex());
        }
        // Writing to a string cannot fail.
        let _ = write!(text, " {}", self.id);
        format!("{text} {}\n", sum(&text))
    }

    fn parse(text: &str) -> Option<Self> {
        let line = text.strip_suffix('\n')?;
        let (epoch, state) = summed(line)?.split_once(' ')?;
        let (state, id) = state.split_once(BANK)?;
        let (bank, id) = id.split_once(" state ")?;
        let id = StateId::parse(bank, id)?;
        let (manifest, log) = match state.split_once(LOG) {
            Some((manifest, log)) => (manifest, Some(blake3::Hash::from_hex(log).ok()?)),
            None => (state, None),
        };
        Some(Self {
            epoch: epoch.parse().ok()?,
            manifest: manifest.parse().ok()?,
            log,
            id,
        })
    }

    /// The state that the bank's readers are pointed to; damage where the pointer is missing or
    /// cannot be read.
    pub(crate) fn read(bank: &Path) -> Result<Self, StoreError> {
        let path = folder_of(bank).join("CURRENT");
        match read_text(&path) {
            Ok(text) => Self::parse(&text).ok_or_else(|| damaged("CURRENT cannot be read")),
            Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
                Err(StoreError::io("read", &path)(e))
            }
            Err(e) => Err(damaged(format!("CURRENT: {e}"))),
        }
    }

    /// The folder of the state.
    pub(crate) fn place(&self, bank: &Path) -> PathBuf {
        folder_of(bank).join(self.epoch.to_string())
    }

    /// Fails where this is not the state that the bank published last, as far as it has acknowledged
    /// that: the folder was put back from a copy, or belongs to another bank.
    pub(crate) fn is_expected(&self, said: &Acknowledged) -> Result<(), StoreError> {
        if self.id.bank != said.id.bank {
            return Err(damaged("it belongs to another bank"));
        }
        if self.epoch == said.epoch && self.id.state != said.id.state {
            let what = format!("it is a state {} from another copy of the bank", self.epoch);
            return Err(damaged(what));
        }
        if self.epoch < said.published {
            let (found, expected) = (self.epoch, said.published);
            return Err(damaged(format!(
                "it is the older state {found}, and state {expected} was published"
            )));
        }
        Ok(())
    }

    /// Fails with what is wrong with the files of the state, as far as its MANIFEST tells.
    pub(crate) fn fault(&self, bank: &Path) -> Result<(), String> {
        let place = self.place(bank);
        self.manifest.compare(&place, true)?;
        let log = logs::fingerprint(&place).map_err(|e| format!("its log: {e}"))?;
        if log == self.log {
            Ok(())
        } else {
            Err("its log differs from what was published".to_owned())
        }
    }

    /// Whether the log of the live database, in `bank/live`, is the one that this state was published
    /// with, so that all of it was synced.
    pub(crate) fn is_synced(&self, bank: &Path) -> bool {
        logs::fingerprint(&bank.join("live")).is_ok_and(|log| log == self.log)
    }

    /// Whether the live database, in `bank/live`, has all of this state's log, perhaps with more behind
    /// it.
    pub(crate) fn has_same_log(&self, bank: &Path) -> io::Result<bool> {
        let place = folder_of(bank).join(self.epoch.to_string());
        logs::is_prefix(&bank.join("live"), &place)
    }

    /// Opens the state, if it is the one that was published.
    pub(crate) fn open(&self, bank: &Path) -> Result<Store, StoreError> {
        self.fault(bank).map_err(damaged)?;
        let place = folder_of(bank).join(self.epoch.to_string());
        let store = Store::read(&place)?;
        let found = store.counters()?.epoch;
        if found == self.epoch {
            Ok(store)
        } else {
            let said = self.epoch;
            Err(damaged(format!("expected state {said}, found {found}")))
        }
    }
}

/// Makes this state the one that readers open from now on. Returns whether all of it is in files of
/// tables; otherwise some of it is in its log.
pub(crate) fn publish(bank: &Path, store: &Store, epoch: u64) -> Result<bool, StoreError> {
    let folder = folder_of(bank);
    let place = folder.join(epoch.to_string());
    lock_file(&folder.join(format!("{epoch}.lock")))?;
    if is_folder(&place) {
        // It is damaged, or left by a process that died between the checkpoint and the pointer.
        fs::remove_dir_all(&place).map_err(StoreError::io("remove", &place))?;
    } else if fs::symlink_metadata(&place).is_ok() {
        let what = io::Error::new(io::ErrorKind::AlreadyExists, "something else is there");
        return Err(StoreError::io("make", &place)(what));
    }
    let keep_log = logs::is_small(&bank.join("live"));
    store.rocks.checkpoint(&place, keep_log)?;
    let former = Pointer::read(bank).map(|pointer| folder.join(pointer.epoch.to_string()));
    logs::separate_from_live(&place, &bank.join("live"), former.ok().as_deref())
        .map_err(StoreError::io("write", &place))?;
    let in_files = point_to(bank, epoch, store.state_id()?)?;
    remove_unread(bank, epoch);
    Ok(in_files)
}

/// Points readers to a state whose files and lock are there. Returns whether all of it is in files of
/// tables; otherwise some of it is in its log.
fn point_to(bank: &Path, epoch: u64, id: StateId) -> Result<bool, StoreError> {
    let folder = folder_of(bank);
    let place = folder.join(epoch.to_string());
    let log = logs::fingerprint(&place).map_err(StoreError::io("read the log of", &place))?;
    let pointer = Pointer {
        epoch,
        manifest: Manifest::read(&place)?,
        log,
        id,
    };
    // The state must be there before anything points to it.
    sync_folder(&folder).map_err(StoreError::io("write to", &folder))?;
    replace_file(&folder.join("CURRENT"), pointer.line())?;
    Ok(log.is_none())
}

/// Removes published states before `current` that nobody reads, and never a later one. Best effort:
/// what could not be removed is tried again next time.
pub(crate) fn remove_unread(bank: &Path, current: u64) {
    let folder = folder_of(bank);
    for name in names_in(&folder) {
        let epoch = name.strip_suffix(".lock").map(str::parse::<u64>);
        let Some(Ok(epoch)) = epoch else {
            continue;
        };
        if epoch >= current {
            continue;
        }
        let path = folder.join(&name);
        let Ok(lock) = open_regular(&path) else {
            continue;
        };
        if lock.try_lock().is_ok() {
            let place = folder.join(epoch.to_string());
            let is_gone = fs::symlink_metadata(&place).is_err();
            if is_gone || is_folder(&place) && fs::remove_dir_all(&place).is_ok() {
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// How two files of the same name are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Compared {
    /// By their bytes, unless they are one file.
    Bytes,
    /// By their bytes, unless they are one file or have the same size and time.
    Stat,
}

/// The names of the table files that the live database has and the published state has not.
pub(crate) fn tables_not_published(bank: &Path) -> Vec<String> {
    let Ok(pointer) = Pointer::read(bank) else {
        return Vec::new();
    };
    let place = pointer.place(bank);
    let mut names = names_in(&bank.join("live"));
    names.retain(|name| Path::new(name).extension().is_some_and(|end| end == "sst"));
    names.retain(|name| !place.join(name).exists());
    names
}

/// A table of the live database that is not, byte for byte, what the published state has under its
/// name: one of the two is damaged. Only in a copy of a bank can it be one alone, since tables have
/// no two names there.
///
/// Cost: a look at each file; the bytes of files that are to be compared by them.
pub(crate) fn table_unlike_published(
    bank: &Path,
    compared: Compared,
) -> Result<Option<String>, StoreError> {
    let Ok(pointer) = Pointer::read(bank) else {
        return Ok(None);
    };
    let live = bank.join("live");
    let place = folder_of(bank).join(pointer.epoch.to_string());
    for name in names_in(&place) {
        let (ours, theirs) = (live.join(&name), place.join(&name));
        let is_table = theirs.extension().is_some_and(|end| end == "sst");
        // A table that was merged since is not live any more.
        if is_table && ours.is_file() && !is_same(&ours, &theirs, compared)? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Whether two files are one, or have the same bytes.
fn is_same(one: &Path, other: &Path, compared: Compared) -> Result<bool, StoreError> {
    let hash = |path| {
        let mut hasher = blake3::Hasher::new();
        let read = open_regular(path).and_then(|file| hasher.update_reader(file).map(drop));
        read.map_err(StoreError::io("read", path))?;
        Ok::<_, StoreError>(hasher.finalize())
    };
    let about = |path| fs::metadata(path).map_err(StoreError::io("look at", path));
    let (here, there) = (about(one)?, about(other)?);
    if (here.dev(), here.ino()) == (there.dev(), there.ino()) {
        return Ok(true);
    }
    let time = |about: &fs::Metadata| (about.len(), about.mtime(), about.mtime_nsec());
    if compared == Compared::Stat && time(&here) == time(&there) {
        return Ok(true);
    }
    Ok(here.len() == there.len() && hash(one)? == hash(other)?)
}

/// Whether somebody reads the state of this epoch right now.
pub(crate) fn is_read(bank: &Path, epoch: u64) -> bool {
    let lock = open_regular(&folder_of(bank).join(format!("{epoch}.lock")));
    lock.is_ok_and(|lock| lock.try_lock().is_err())
}

/// Whether all of the state of this epoch and identity is in files of tables, and not in its log;
/// `None` where readers do not find it: the pointer, the lock and the state's files, any of which a
/// copy of a bank may lack.
pub(crate) fn published_in_files(bank: &Path, epoch: u64, id: StateId) -> Option<bool> {
    let lock = folder_of(bank).join(format!("{epoch}.lock"));
    let pointer = Pointer::read(bank).ok()?;
    let is_this = pointer.epoch == epoch && pointer.id == id;
    let is_there = is_this && lock.is_file() && pointer.fault(bank).is_ok();
    // The live database may have written its log to files since, as when the compaction of files was
    // stopped: then its log is not to be compared with this one.
    is_there.then(|| pointer.log.is_none() || !pointer.has_same_log(bank).unwrap_or(false))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pointer_is_read_back_and_every_flipped_bit_is_seen() {
        let hash = blake3::hash(b"x").to_hex();
        let id = StateId { bank: 1, state: 2 };
        for log in [None, Some(blake3::hash(b"y"))] {
            let pointer = Pointer {
                epoch: 12,
                manifest: format!("MANIFEST-000007 123 {hash}").parse().unwrap(),
                log,
                id,
            };
            let line = pointer.line();
            assert_eq!(Pointer::parse(&line), Some(pointer));
            for at in 0..line.len() {
                for bit in 0..7 {
                    let mut bytes = line.clone().into_bytes();
                    bytes[at] ^= 1 << bit;
                    let flipped = String::from_utf8(bytes).unwrap();
                    assert_eq!(Pointer::parse(&flipped), None, "{flipped:?}");
                }
            }
        }
        assert_eq!(Pointer::parse("12\n"), None);
    }
}
