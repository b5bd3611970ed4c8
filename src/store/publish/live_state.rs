//! Comparison of the live database with the acknowledged state.
//!
//! RocksDB takes a damaged end of its own files for their regular end. So before the database is opened for
//! writing, its MANIFEST, its log and its identity are compared with the acknowledged ones.

use std::path::Path;

use super::acknowledged::Acknowledged;
use super::published::Pointer;
use crate::error::StoreError;
use crate::rocks::manifest::{ManifestMatch, structure_error};
use crate::rocks::write_ahead_log::MissingLog;
use crate::tables::store::Store;

/// Returns the epoch of the last stored state that is known from outside the live database.
pub(crate) fn last_known_epoch(bank: &Path, acknowledged: Option<&Acknowledged>) -> u64 {
    let published = Pointer::read(bank).map_or(0, |pointer| pointer.epoch);
    acknowledged
        .map_or(0, |acknowledged| acknowledged.epoch)
        .max(published)
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
    let known = last_known_epoch(bank, acknowledged);
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
        Some(acknowledged) => acknowledged.manifest.compare(&live, false),
        None => structure_error(&live).map(|()| ManifestMatch::Later),
    };
    let manifest = manifest.map_err(damaged)?;
    let log = acknowledged.map_or(Ok(LogStatus::Complete), |acknowledged| {
        log_status(&live, acknowledged)
    });
    Ok((manifest, log?))
}

/// Creates the error of a damaged live state.
fn damaged(what: impl Into<String>) -> StoreError {
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
        .map_err(|e| damaged(format!("its log: {e}")))?
    {
        return Ok(LogStatus::Complete);
    }
    match log.missing(Store::read(live)?.rocks.first_needed_log()?) {
        MissingLog::Flushed => Ok(LogStatus::Complete),
        MissingLog::Unknown => Ok(LogStatus::Unknown),
        MissingLog::Lost => Err(damaged("its log differs from the acknowledged one")),
    }
}

/// Opens the live database, which nobody writes to, read-only; fails unless it has the acknowledged state or
/// a later one.
pub(crate) fn read_live(
    bank: &Path,
    acknowledged: Option<&Acknowledged>,
) -> Result<Store, StoreError> {
    let store = Store::read(&bank.join("live"))?;
    store.ensure_not_older(last_known_epoch(bank, acknowledged))?;
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
        return Err(damaged("it belongs to another bank"));
    }
    let ancestor = if epoch == acknowledged.epoch {
        found.state
    } else {
        found.previous
    };
    if ancestor == expected.state && epoch.saturating_sub(acknowledged.epoch) <= 1 {
        return Ok(());
    }
    Err(damaged(format!(
        "state {epoch} does not follow the acknowledged state {}; it comes from another copy of the bank",
        acknowledged.epoch
    )))
}
