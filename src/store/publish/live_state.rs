//! The live database beside what the bank acknowledged, looked at from outside.
//!
//! RocksDB takes a damaged end of its own files for their regular end. So before the database is
//! opened for writing, its MANIFEST, its log and its identity are compared with those that were
//! acknowledged.

use std::path::Path;

use super::acknowledged::Acknowledged;
use super::published::Pointer;
use crate::error::StoreError;
use crate::rocks::manifest::{ManifestMatch, structure_error};
use crate::rocks::write_ahead_log::MissingLog;
use crate::tables::records::Meta;
use crate::tables::store::Store;
use crate::tables::{META, MetaKey};

/// The epoch of the last state that the bank is known, from outside the live database, to have
/// stored.
pub(crate) fn known_epoch(bank: &Path, said: Option<&Acknowledged>) -> u64 {
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
pub(crate) fn verify_live(
    bank: &Path,
    said: Option<&Acknowledged>,
) -> Result<LogEvidence, StoreError> {
    let known = known_epoch(bank, said);
    let (begins, log) = live_fault(bank, said)?;
    let is_in_files = said.is_some_and(|said| said.in_files && said.epoch == known);
    if begins == ManifestMatch::Later || !is_in_files {
        read_live(bank, said).map(drop)?;
    }
    Ok(log)
}

/// Whether a database has all of the log that was acknowledged with its state.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum LogEvidence {
    /// It has, or the state does not need it.
    Whole,
    /// Some of the log was written to files of tables, and it is not known whether all that is missing
    /// is there. A walk over the tables has to decide.
    Unknown,
}

/// How the live database's MANIFEST begins, and what is known of its log; an error where it is not
/// the acknowledged database or a later state of it, or is damaged.
///
/// Cost: its MANIFEST and its log are read; where some of the acknowledged log is missing, the
/// database is opened for reading as well.
pub(crate) fn live_fault(
    bank: &Path,
    said: Option<&Acknowledged>,
) -> Result<(ManifestMatch, LogEvidence), StoreError> {
    let live = bank.join("live");
    let begins = match said {
        Some(said) => said.manifest.compare(&live, false),
        None => structure_error(&live).map(|()| ManifestMatch::Later),
    };
    let begins = begins.map_err(fault)?;
    let log = said.map_or(Ok(LogEvidence::Whole), |said| log_evidence(&live, said));
    Ok((begins, log?))
}

/// The error of a live state with this fault.
fn fault(what: String) -> StoreError {
    StoreError::State {
        state: "live",
        what,
    }
}

/// Looks for the acknowledged log in the live database; an error says that it lost some of it.
///
/// RocksDB takes a log that is missing between others for one that was written to files of tables.
/// What was written to them, the MANIFEST records: the number of the first file of the log that the
/// database needs. Nothing but that number tells a removed log from a lost one.
fn log_evidence(live: &Path, said: &Acknowledged) -> Result<LogEvidence, StoreError> {
    if said.in_files {
        return Ok(LogEvidence::Whole);
    }
    // Without a mark, nothing was in the log.
    let Some(log) = &said.log else {
        return Ok(LogEvidence::Whole);
    };
    if log
        .is_contained_in(live)
        .map_err(|e| fault(format!("its log: {e}")))?
    {
        return Ok(LogEvidence::Whole);
    }
    match log.missing(Store::read(live)?.rocks.first_needed_log()?) {
        MissingLog::Flushed => Ok(LogEvidence::Whole),
        MissingLog::Unknown => Ok(LogEvidence::Unknown),
        MissingLog::Lost => Err(fault("its log is not the acknowledged one".to_owned())),
    }
}

/// Opens for reading the live database, which nobody writes to; it must be the acknowledged state or
/// a later one.
pub(crate) fn read_live(bank: &Path, said: Option<&Acknowledged>) -> Result<Store, StoreError> {
    let store = Store::read(&bank.join("live"))?;
    store.ensure_not_older(known_epoch(bank, said))?;
    if let Some(said) = said {
        follows(&store, said)?;
    }
    Ok(store)
}

/// Whether the live database, which nobody writes to, is visibly damaged.
///
/// Cost: its MANIFEST and its log are read, and it is opened for reading.
pub(crate) fn live_is_damaged(bank: &Path, said: &Acknowledged) -> bool {
    let read = live_fault(bank, Some(said)).and_then(|_| read_live(bank, Some(said)));
    read.is_err_and(|e| e.is_damage())
}

/// Fails where this is not the acknowledged state of the bank or the one after it, which a
/// process that died may have stored without acknowledging it.
pub(crate) fn follows(live: &Store, said: &Acknowledged) -> Result<(), StoreError> {
    let expected = said.id;
    let epoch = live.counters()?.epoch;
    let found = live.need(&META, &MetaKey::Lineage)?;
    let Meta::Lineage(found) = found else {
        return Err(fault(
            "its record of identities is another record".to_owned(),
        ));
    };
    if found.bank != expected.bank {
        return Err(fault("it belongs to another bank".to_owned()));
    }
    let ancestor = if epoch == said.epoch {
        found.state
    } else {
        found.previous
    };
    if ancestor == expected.state && epoch.saturating_sub(said.epoch) <= 1 {
        return Ok(());
    }
    Err(fault(format!(
        "it is a state {epoch} that does not follow the acknowledged state {}; it comes from another copy of the bank",
        said.epoch
    )))
}
