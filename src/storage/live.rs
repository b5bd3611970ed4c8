//! The live database beside what the bank acknowledged, looked at from outside.
//!
//! RocksDB takes a damaged end of its own files for their regular end. So before the database is
//! opened for writing, its MANIFEST, its log and its identity are compared with those that were
//! acknowledged.

use std::io;
use std::path::Path;

use super::acknowledged::Acknowledged;
use super::error::StoreError;
use super::manifest::{Begins, structure_fault};
use super::published::Pointer;
use super::records::Meta;
use super::store::Store;
use super::tables::{META, MetaKey};

/// The epoch of the last state that the bank is known, from outside the live database, to have
/// stored.
pub(super) fn known_epoch(bank: &Path, said: Option<&Acknowledged>) -> u64 {
    let published = Pointer::read(bank).map_or(0, |pointer| pointer.epoch);
    said.map_or(0, |said| said.epoch).max(published)
}

/// Fails where the live database, which nobody has open, is visibly damaged from outside or older
/// than what was acknowledged.
///
/// Cost: its MANIFEST is read; where the last state was not published, or the last writer was
/// killed while it opened the bank, the database is opened for reading as well.
///
/// Returns whether the database is known to have all of the acknowledged log.
pub(super) fn verify_live(
    bank: &Path,
    said: Option<&Acknowledged>,
) -> Result<LogEvidence, StoreError> {
    let known = known_epoch(bank, said);
    let (begins, log) = live_fault(bank, said)?;
    let is_in_files = said.is_some_and(|said| said.in_files && said.epoch == known);
    if begins == Begins::Later || !is_in_files {
        read_live(bank, said).map(drop)?;
    }
    Ok(log)
}

/// Whether a database has all of the log that was acknowledged with its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum LogEvidence {
    /// It has, or the state does not need it.
    Whole,
    /// That cannot be told from outside: a log that is missing may have been written to files of
    /// tables. A walk over the tables finds what is missing.
    Unknown,
}

/// How the live database's MANIFEST begins, and what is known of its log; an error where it is not
/// the acknowledged database or a later state of it, or is damaged.
pub(super) fn live_fault(
    bank: &Path,
    said: Option<&Acknowledged>,
) -> Result<(Begins, LogEvidence), StoreError> {
    let live = bank.join("live");
    let begins = match said {
        Some(said) => said.manifest.fault(&live, false),
        None => structure_fault(&live).map(|()| Begins::Later),
    };
    let log = |begins| match said {
        Some(said) => log_fault(bank, said).map(|log| (begins, log)),
        // Nothing was acknowledged that could be missing.
        None => Ok((begins, LogEvidence::Whole)),
    };
    begins.and_then(log).map_err(|what| StoreError::State {
        state: "live",
        what,
    })
}

/// Looks for the acknowledged log in the live database; an error says that it lost some of it. RocksDB
/// takes a log that is missing between others for one that was written to files of tables, which
/// changes the MANIFEST and the set of table files.
fn log_fault(bank: &Path, said: &Acknowledged) -> Result<LogEvidence, String> {
    const LOST: &str = "its log is not the acknowledged one";
    if said.in_files {
        return Ok(LogEvidence::Whole);
    }
    let live = bank.join("live");
    let told = |e: io::Error| format!("its log: {e}");
    let is_unchanged = said.manifest.fault(&live, true).is_ok();
    // The published state has the log too, unless the acknowledged state was never published. In
    // that case it has the beginning of the log, provided that no table was written since.
    if let Ok(pointer) = Pointer::read(bank)
        && is_unchanged
        && pointer.is_expected(said).is_ok()
        && (pointer.epoch == said.epoch
            || pointer.epoch < said.epoch && pointer.has_same_tables(bank))
        && pointer.fault(bank).is_ok()
        && !pointer.has_same_log(bank).map_err(told)?
    {
        return Err(LOST.to_owned());
    }
    let Some(log) = &said.log else {
        return Ok(LogEvidence::Unknown);
    };
    if log.is_in(&live).map_err(told)? {
        return Ok(LogEvidence::Whole);
    }
    // Before a state is published, RocksDB may still have had a log that it was about to remove.
    let is_exact = said.published == said.epoch;
    if is_exact && (is_unchanged || log.has_same_tables(&live)) {
        return Err(LOST.to_owned());
    }
    Ok(LogEvidence::Unknown)
}

/// Opens for reading the live database, which nobody writes to; it must be the acknowledged state or
/// a later one.
pub(super) fn read_live(bank: &Path, said: Option<&Acknowledged>) -> Result<Store, StoreError> {
    let store = Store::read(&bank.join("live"))?;
    store.is_not_older(known_epoch(bank, said))?;
    if let Some(said) = said {
        follows(&store, said)?;
    }
    Ok(store)
}

/// Whether the live database, which nobody writes to, is visibly damaged.
///
/// Cost: its MANIFEST and its log are read, and it is opened for reading.
pub(super) fn live_is_damaged(bank: &Path, said: &Acknowledged) -> bool {
    let read = live_fault(bank, Some(said)).and_then(|_| read_live(bank, Some(said)));
    read.is_err_and(|e| e.is_damage())
}

/// Fails where this is not the acknowledged state of the bank or the one after it, which a
/// process that died may have stored without acknowledging it.
pub(super) fn follows(live: &Store, said: &Acknowledged) -> Result<(), StoreError> {
    let expected = said.id;
    let fault = |what: String| {
        Err(StoreError::State {
            state: "live",
            what,
        })
    };
    let epoch = live.counters()?.epoch;
    let found = live.need(&META, &MetaKey::Lineage)?;
    let Meta::Lineage(found) = found else {
        return fault("its record of identities is another record".to_owned());
    };
    if found.bank != expected.bank {
        return fault("it belongs to another bank".to_owned());
    }
    let ancestor = if epoch == said.epoch {
        found.state
    } else {
        found.previous
    };
    if ancestor == expected.state && epoch.saturating_sub(said.epoch) <= 1 {
        return Ok(());
    }
    fault(format!(
        "it is a state {epoch} that does not follow the acknowledged state {}; it comes from another copy of the bank",
        said.epoch
    ))
}
