//! Published states: checkpoints of hard links that readers open while a writer is at work.
//!
//! ```text
//! BANK/published/N/       the checkpoint of epoch N
//! BANK/published/N.lock   shared by its readers
//! BANK/published/CURRENT  the pointer to the current state, replaced atomically:
//!                         12 MANIFEST-000123 4821 HASH log HASH bank ID state ID SUM
//!                         (without `log HASH` if the state is flushed to table files)
//! ```
//!
//! A state is removed once a later one is current and nobody holds its lock. The pointer has fingerprints of
//! the MANIFEST and of the log, if any, so that readers can verify what they open. It also has the identities
//! of the bank and of the state, which reveal a folder that was restored from a copy or from another bank.

use std::collections::HashSet;
use std::fmt::Write;
use std::fs::{self, TryLockError};
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use super::acknowledged::{Acknowledged, checksum, strip_checksum};
use crate::disk::{
    Lock, exists, is_folder, list, lock_file, names_in, open_regular, read_text, replace_file,
    sync_folder,
};
use crate::error::{IfUndamaged, StoreError};
use crate::rocks::manifest::{Manifest, ManifestMatch, check_structure};
use crate::rocks::write_ahead_log as logs;
use crate::rocks::write_ahead_log::MissingLog;
use crate::tables::records::lineage::StateId;
use crate::tables::store::Store;

/// The pointer to the current published state.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Pointer {
    /// The epoch of the state.
    pub(crate) epoch: u64,
    /// The fingerprint of the MANIFEST of the state.
    manifest: Manifest,
    /// The hash of the log of the state; `None` if the log is empty.
    log: Option<blake3::Hash>,
    /// The identity of the state.
    id: StateId,
}

/// Creates the error of a damaged published state.
pub(crate) fn damaged(what: impl Into<String>) -> StoreError {
    StoreError::state("published", what)
}

/// The text before the hash of the log.
const LOG: &str = " log ";

/// The text before the identity of the state.
const BANK: &str = " bank ";

/// Returns the folder of the published states.
pub(crate) fn published_folder(bank: &Path) -> PathBuf {
    bank.join("published")
}

/// Returns the folder of the published state with this epoch.
pub(crate) fn state_folder(bank: &Path, epoch: u64) -> PathBuf {
    published_folder(bank).join(epoch.to_string())
}

/// Returns the lock file of the published state with this epoch.
pub(crate) fn state_lock(bank: &Path, epoch: u64) -> PathBuf {
    published_folder(bank).join(format!("{epoch}.lock"))
}

/// Takes the lock of a reader on the published state with this epoch; `None` if its lock file is missing.
pub(crate) fn lock_state(bank: &Path, epoch: u64) -> Result<Option<Lock>, StoreError> {
    let path = state_lock(bank, epoch);
    let file = open_regular(&path).map_err(StoreError::reading("published", "its lock", &path));
    let lock = file.if_undamaged()?.map(Lock::shared).transpose();
    lock.map_err(StoreError::locking(&path))
}

/// Returns whether the folder of a state is there, and not a symbolic link to one.
pub(crate) fn is_there(state: &Path) -> Result<bool, StoreError> {
    let found = exists(state).map_err(StoreError::io("look at", state))?;
    Ok(found && is_folder(state))
}

impl Pointer {
    /// Returns the pointer as a line of text.
    pub(crate) fn line(&self) -> String {
        let mut text = format!("{} {}", self.epoch, self.manifest);
        if let Some(log) = &self.log {
            text.push_str(LOG);
            text.push_str(&log.to_hex());
        }
        // Writing to a string cannot fail.
        let _ = write!(text, " {}", self.id);
        format!("{text} {}\n", checksum(&text))
    }

    fn parse(text: &str) -> Option<Self> {
        let line = text.strip_suffix('\n')?;
        let (epoch, state) = strip_checksum(line)?.split_once(' ')?;
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

    /// Reads the pointer of a bank; an error of damage if it is missing or malformed.
    pub(crate) fn read(bank: &Path) -> Result<Self, StoreError> {
        let path = published_folder(bank).join("CURRENT");
        let text = read_text(&path).map_err(StoreError::reading("published", "CURRENT", &path))?;
        Self::parse(&text).ok_or_else(|| damaged("CURRENT cannot be read"))
    }

    /// Returns the identity of the state.
    pub(crate) const fn id(&self) -> StateId {
        self.id
    }

    /// Returns the folder of the state.
    pub(crate) fn folder(&self, bank: &Path) -> PathBuf {
        state_folder(bank, self.epoch)
    }

    /// Fails unless this can be the last published state according to the acknowledgement. Otherwise the
    /// folder was restored from a copy, or belongs to another bank.
    pub(crate) fn ensure_expected(&self, acknowledged: &Acknowledged) -> Result<(), StoreError> {
        if self.id.bank != acknowledged.id.bank {
            return Err(damaged("it belongs to another bank"));
        }
        if self.epoch == acknowledged.epoch && self.id.state != acknowledged.id.state {
            let what = format!("it is a state {} from another copy of the bank", self.epoch);
            return Err(damaged(what));
        }
        if self.epoch < acknowledged.published {
            return Err(damaged(format!(
                "expected the published state {}, found the older state {}",
                acknowledged.published, self.epoch
            )));
        }
        Ok(())
    }

    /// Compares the MANIFEST and the log of the state with the pointer; an error of damage if they differ.
    pub(crate) fn verify_files(&self, bank: &Path) -> Result<(), StoreError> {
        let place = self.folder(bank);
        self.manifest.compare("published", &place, true)?;
        let log = logs::fingerprint(&place);
        if log.map_err(StoreError::reading("published", "its log", &place))? == self.log {
            Ok(())
        } else {
            Err(damaged("its log differs from the published one"))
        }
    }

    /// Returns whether the log of the live database equals the log of this state, which was synced.
    pub(crate) fn is_synced(&self, bank: &Path) -> bool {
        logs::fingerprint(&bank.join("live")).is_ok_and(|log| log == self.log)
    }

    /// Returns whether the log of the live database begins with the log of this state.
    fn is_log_prefix(&self, bank: &Path) -> io::Result<bool> {
        logs::is_prefix(&bank.join("live"), &self.folder(bank))
    }

    /// Verifies and opens the state.
    pub(crate) fn open(&self, bank: &Path) -> Result<Store, StoreError> {
        self.verify_files(bank)?;
        let store = Store::read(&self.folder(bank))?;
        let found = store.counters()?.epoch;
        if found == self.epoch {
            Ok(store)
        } else {
            let expected = self.epoch;
            Err(damaged(format!("expected state {expected}, found {found}")))
        }
    }
}

/// Publishes the state of the live database, so that readers open it from now on. Earlier states stay. Returns
/// whether it is flushed to table files; if `false`, parts are in its log only.
pub(crate) fn publish(bank: &Path, store: &Store, epoch: u64) -> Result<bool, StoreError> {
    let place = state_folder(bank, epoch);
    lock_file(&state_lock(bank, epoch))?;
    if is_folder(&place) {
        // It is damaged, or the leftover of a crash between the checkpoint and the pointer.
        fs::remove_dir_all(&place).map_err(StoreError::io("remove", &place))?;
    } else if fs::symlink_metadata(&place).is_ok() {
        let what = io::Error::new(io::ErrorKind::AlreadyExists, "something else is there");
        return Err(StoreError::io("make", &place)(what));
    }
    // RocksDB creates the checkpoint under a temporary name; a crash leaves no incomplete state.
    let live = bank.join("live");
    let keep_log = logs::is_small(&live).map_err(StoreError::io("read the log of", &live))?;
    store.rocks.checkpoint(&place, keep_log)?;
    // The live log keeps growing, so the state needs files of its own.
    let previous = Pointer::read(bank).map(|pointer| pointer.folder(bank));
    logs::separate_from_live(&place, &live, previous.ok().as_deref())
        .map_err(StoreError::io("write", &place))?;
    // A crash before the pointer is replaced: readers see the previous state, the next writer publishes.
    write_pointer(bank, epoch, store.state_id()?)
}

/// Points readers to a state whose files and lock exist. Returns whether the state is flushed.
pub(crate) fn write_pointer(bank: &Path, epoch: u64, id: StateId) -> Result<bool, StoreError> {
    let folder = published_folder(bank);
    let place = state_folder(bank, epoch);
    let log = logs::fingerprint(&place).map_err(StoreError::io("read the log of", &place))?;
    let pointer = Pointer {
        epoch,
        manifest: Manifest::read(&place)?,
        log,
        id,
    };
    // The names of the state must be durable before the pointer.
    sync_folder(&folder).map_err(StoreError::io("write to", &folder))?;
    replace_file(&folder.join("CURRENT"), pointer.line())?;
    Ok(log.is_none())
}

/// Removes published states before `current` without readers. Best effort: the next call tries again.
pub(crate) fn remove_old_states(bank: &Path, current: u64) {
    let folder = published_folder(bank);
    for name in names_in(&folder).unwrap_or_default() {
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
        if let Ok(_lock) = Lock::try_exclusive(lock) {
            let place = state_folder(bank, epoch);
            let is_gone = fs::symlink_metadata(&place).is_err();
            if is_gone || is_folder(&place) && fs::remove_dir_all(&place).is_ok() {
                // The lock goes last, so that a partly removed state is tried again.
                let _ = fs::remove_file(path);
            }
        }
    }
}

/// How files of the same name are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Comparison {
    /// By contents, unless they are the same inode.
    Bytes,
    /// By contents, unless they are the same inode or have the same size and modification time.
    Stat,
}

/// Returns the names of the table files of the live database that the published state lacks.
pub(crate) fn unpublished_table_files(bank: &Path) -> Result<Vec<String>, StoreError> {
    let Some(pointer) = Pointer::read(bank).if_undamaged()? else {
        return Ok(Vec::new());
    };
    let published: HashSet<String> = list(&pointer.folder(bank))?.into_iter().collect();
    let mut names = list(&bank.join("live"))?;
    names.retain(|name| Path::new(name).extension().is_some_and(|end| end == "sst"));
    names.retain(|name| !published.contains(name));
    Ok(names)
}

/// Returns a table file of the live database that differs from the file with its name in the published
/// state, so that one of the two is damaged. That is only possible in a copy of a bank, where the two are
/// not hard links.
///
/// Cost: reads the metadata of each file, and the files that are compared by contents.
pub(crate) fn table_differing_from_published(
    bank: &Path,
    comparison: Comparison,
) -> Result<Option<String>, StoreError> {
    let Some(pointer) = Pointer::read(bank).if_undamaged()? else {
        return Ok(None);
    };
    let live = bank.join("live");
    let place = pointer.folder(bank);
    for name in list(&place)? {
        let (ours, theirs) = (live.join(&name), place.join(&name));
        let is_table = theirs.extension().is_some_and(|end| end == "sst");
        if is_table && is_different(&ours, &theirs, comparison)? {
            return Ok(Some(name));
        }
    }
    Ok(None)
}

/// Returns whether a table file of the live database differs from that of the published state. One that is not
/// live any more does not: a compaction removes files at any time, also while they are compared.
fn is_different(live: &Path, published: &Path, comparison: Comparison) -> Result<bool, StoreError> {
    match is_same(live, published, comparison) {
        Ok(is_same) => Ok(!is_same && live.is_file()),
        Err(_) if !live.is_file() => Ok(false),
        Err(e) => Err(e),
    }
}

/// Returns whether two files are equal.
fn is_same(one: &Path, other: &Path, comparison: Comparison) -> Result<bool, StoreError> {
    let hash = |path| {
        let mut hasher = blake3::Hasher::new();
        let read = open_regular(path).and_then(|file| hasher.update_reader(file).map(drop));
        read.map_err(StoreError::io("read", path))?;
        Ok::<_, StoreError>(hasher.finalize())
    };
    let metadata = |path| fs::metadata(path).map_err(StoreError::io("look at", path));
    let (here, there) = (metadata(one)?, metadata(other)?);
    if (here.dev(), here.ino()) == (there.dev(), there.ino()) {
        return Ok(true);
    }
    let time = |file: &fs::Metadata| (file.len(), file.mtime(), file.mtime_nsec());
    if comparison == Comparison::Stat && time(&here) == time(&there) {
        return Ok(true);
    }
    Ok(here.len() == there.len() && hash(one)? == hash(other)?)
}

/// Returns whether the state with this epoch has readers.
pub(crate) fn has_readers(bank: &Path, epoch: u64) -> Result<bool, StoreError> {
    let path = state_lock(bank, epoch);
    let file = open_regular(&path).map_err(StoreError::reading("published", "its lock", &path));
    match file.if_undamaged()?.map(Lock::try_exclusive) {
        None | Some(Ok(_)) => Ok(false),
        Some(Err(TryLockError::WouldBlock)) => Ok(true),
        Some(Err(TryLockError::Error(e))) => Err(StoreError::locking(&path)(e)),
    }
}

/// Returns whether the published state with this epoch and identity is flushed to table files; `None` if it
/// is not published completely: a copy of a bank may lack the pointer, the lock or files.
pub(crate) fn published_is_flushed(
    bank: &Path,
    epoch: u64,
    id: StateId,
) -> Result<Option<bool>, StoreError> {
    let Some(pointer) = Pointer::read(bank).if_undamaged()? else {
        return Ok(None);
    };
    let lock = state_lock(bank, epoch);
    let has_lock = exists(&lock).map_err(StoreError::io("look at", &lock))? && lock.is_file();
    let is_same = pointer.epoch == epoch && pointer.id == id;
    if !(is_same && has_lock && pointer.verify_files(bank).if_undamaged()?.is_some()) {
        return Ok(None);
    }
    // The live database may have flushed its log since, as when a compaction was cancelled. Then the
    // published log is no longer a prefix of the live one.
    let is_prefix = pointer.is_log_prefix(bank);
    let is_prefix = is_prefix.map_err(StoreError::reading("live", "its log", bank));
    let is_prefix = is_prefix.if_undamaged()?.unwrap_or(false);
    Ok(Some(pointer.log.is_none() || !is_prefix))
}

// Comparison of the live database with the acknowledged state.
//
// RocksDB takes a damaged end of its own files for their regular end. So before the database is opened for
// writing, its MANIFEST, its log and its identity are compared with the acknowledged ones.

/// Returns the epoch of the last stored state that is known from outside the live database.
pub(crate) fn last_known_epoch(
    bank: &Path,
    acknowledged: Option<&Acknowledged>,
) -> Result<u64, StoreError> {
    let published = Pointer::read(bank).if_undamaged()?;
    let published = published.map_or(0, |pointer| pointer.epoch);
    Ok(acknowledged
        .map_or(0, |acknowledged| acknowledged.epoch)
        .max(published))
}

/// Fails if the live database, which nobody has open, is visibly damaged or older than the acknowledged
/// state. Returns whether it is known to have the whole acknowledged log.
///
/// Cost: reads its MANIFEST and its log; if the last state was not published, or the last writer was killed
/// while opening the bank, also opens the database read-only.
pub(crate) fn check_live(
    bank: &Path,
    acknowledged: Option<&Acknowledged>,
) -> Result<LogStatus, StoreError> {
    let known = last_known_epoch(bank, acknowledged)?;
    let (manifest, log) = compare_live(bank, acknowledged)?;
    let is_in_files = acknowledged
        .is_some_and(|acknowledged| acknowledged.is_flushed && acknowledged.epoch == known);
    if manifest == ManifestMatch::Later || !is_in_files {
        read_live(bank, acknowledged).map(drop)?;
    }
    Ok(log)
}

/// Whether a database has the whole acknowledged log.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogStatus {
    /// It has the log, or the state does not need the log.
    Complete,
    /// Parts of the log were flushed, and it is unknown whether only those are missing. A check of the
    /// tables has to decide.
    Unknown,
}

/// Compares the MANIFEST and the log of the live database with the acknowledged ones; an error if it is
/// damaged, or is neither the acknowledged state nor a later one.
///
/// Cost: reads its MANIFEST and its log; if a part of the acknowledged log is missing, also opens the database
/// read-only.
pub(crate) fn compare_live(
    bank: &Path,
    acknowledged: Option<&Acknowledged>,
) -> Result<(ManifestMatch, LogStatus), StoreError> {
    let live = bank.join("live");
    let manifest = match acknowledged {
        Some(acknowledged) => acknowledged.manifest.compare("live", &live, false),
        None => check_structure("live", &live).map(|()| ManifestMatch::Later),
    };
    let manifest = manifest?;
    let log = acknowledged.map_or(Ok(LogStatus::Complete), |acknowledged| {
        log_status(&live, acknowledged)
    });
    Ok((manifest, log?))
}

/// Creates the error of a damaged live state.
fn damaged_live(what: impl Into<String>) -> StoreError {
    StoreError::state("live", what)
}

/// Compares the log of the live database with the acknowledged one; an error if a part of it is lost.
///
/// RocksDB takes a missing log file for a flushed one. The MANIFEST records the first log file that the
/// database needs, and only that number distinguishes a flushed file from a lost one.
fn log_status(live: &Path, acknowledged: &Acknowledged) -> Result<LogStatus, StoreError> {
    if acknowledged.is_flushed {
        return Ok(LogStatus::Complete);
    }
    // Without a fingerprint, the log was empty.
    let Some(log) = &acknowledged.log else {
        return Ok(LogStatus::Complete);
    };
    if log
        .is_contained_in(live)
        .map_err(StoreError::reading("live", "its log", live))?
    {
        return Ok(LogStatus::Complete);
    }
    match log.missing(Store::read(live)?.rocks.first_needed_log()?) {
        MissingLog::Flushed => Ok(LogStatus::Complete),
        MissingLog::Unknown => Ok(LogStatus::Unknown),
        MissingLog::Lost => Err(damaged_live("its log differs from the acknowledged one")),
    }
}

/// Opens the live database, which nobody writes to, read-only; fails unless it has the acknowledged state or
/// a later one.
pub(crate) fn read_live(
    bank: &Path,
    acknowledged: Option<&Acknowledged>,
) -> Result<Store, StoreError> {
    let store = Store::read(&bank.join("live"))?;
    store.ensure_not_older(last_known_epoch(bank, acknowledged)?)?;
    if let Some(acknowledged) = acknowledged {
        ensure_follows(&store, acknowledged)?;
    }
    Ok(store)
}

/// Returns whether the live database, which nobody writes to, is visibly damaged.
///
/// Cost: reads its MANIFEST and its log, and opens it read-only.
pub(crate) fn live_is_damaged(bank: &Path, acknowledged: &Acknowledged) -> bool {
    let read =
        compare_live(bank, Some(acknowledged)).and_then(|_| read_live(bank, Some(acknowledged)));
    read.is_err_and(|e| e.is_damage())
}

/// Fails unless this is the acknowledged state or its successor, which a killed process may have stored
/// without acknowledging it.
pub(crate) fn ensure_follows(live: &Store, acknowledged: &Acknowledged) -> Result<(), StoreError> {
    let expected = acknowledged.id;
    let epoch = live.counters()?.epoch;
    let found = live.lineage()?;
    if found.bank != expected.bank {
        return Err(damaged_live("it belongs to another bank"));
    }
    let ancestor = if epoch == acknowledged.epoch {
        found.state
    } else {
        found.previous
    };
    if ancestor == expected.state && epoch.saturating_sub(acknowledged.epoch) <= 1 {
        return Ok(());
    }
    Err(damaged_live(format!(
        "state {epoch} does not follow the acknowledged state {}; it comes from another copy of the bank",
        acknowledged.epoch
    )))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::disk::scratch;

    #[test]
    fn a_table_file_that_a_compaction_removed_is_no_difference() {
        let folder = scratch();
        let at = |name| folder.path().join(name);
        fs::write(at("published"), "table").unwrap();
        fs::write(at("other"), "taple").unwrap();
        fs::create_dir(at("folder")).unwrap();
        for comparison in [Comparison::Bytes, Comparison::Stat] {
            let is_different = |live| is_different(&at(live), &at("published"), comparison);
            assert!(!is_different("removed").unwrap());
            assert!(!is_different("folder").unwrap());
            assert!(!is_different("published").unwrap());
        }
        assert!(is_different(&at("other"), &at("published"), Comparison::Bytes).unwrap());
        assert!(is_different(&at("other"), &at("gone"), Comparison::Bytes).is_err());
    }

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
