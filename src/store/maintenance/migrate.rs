//! Bringing a bank of an older format to that of this build, which every writer does when it opens
//! one: in place, or as a new bank beside it.

use std::fs;
use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::backup::{ensure_separate, mode, set_mode, sources};
use crate::disk::folder::{begin_copy, end_copy, marker_format, write_marker};
use crate::disk::free_space::ensure_free_space;
use crate::disk::verified_copy::copy;
use crate::error::StoreError;
use crate::format::upgrade_path;
use crate::publish::bank_from_state::{create_folders, finish_bank};
use crate::publish::create::create_at;
use crate::publish::reader::Reader;
use crate::publish::writer::{Writer, next_epoch};
use crate::rocks::options::AutoCompaction;
use crate::tables::FORMAT;
use seedbank_algorithms::watch::Watch;

/// What became of a bank's format.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MigrateReport {
    /// The format version that the bank had.
    #[schemars(range(min = 1))]
    pub from: u32,
    /// The format version that it has, or that the new bank has.
    #[schemars(range(min = 1))]
    pub to: u32,
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// Brings a bank to this build's format; one that has it is not touched.
///
/// With `wait` it waits for another writer to finish; otherwise that is [`StoreError::Busy`].
pub fn migrate(bank: &Path, wait: bool, watch: &dyn Watch) -> Result<MigrateReport, StoreError> {
    let begun = Instant::now();
    let from = marker_format(bank)?;
    if from != FORMAT {
        drop(Writer::open(bank, wait, watch)?);
    }
    Ok(report(from, begun))
}

fn report(from: u32, begun: Instant) -> MigrateReport {
    MigrateReport {
        from,
        to: FORMAT,
        seconds: begun.elapsed().as_secs_f64(),
    }
}

/// Makes a bank of this build's format of the published state of another, which stays as it is, in a
/// folder that does not exist or is empty: whole or not at all.
///
/// The two banks share no file, so damage to a file of one is not damage to the other.
///
/// Cost: reads all tables of the state once to compare their checksums, and copies its files. Damage is
/// an error, and nothing is made.
pub fn migrate_to(bank: &Path, new: &Path, watch: &dyn Watch) -> Result<MigrateReport, StoreError> {
    let begun = Instant::now();
    let reader = Reader::open_to_migrate(bank)?;
    ensure_separate(bank, new)?;
    // Files are copied as they are, so damage to one would be in both banks.
    reader.rocks.verify_all_checksums(watch)?;
    let (epoch, from) = (reader.epoch(), reader.format()?);
    let sources = sources(bank, epoch, reader.counters()?.batch)?;
    let mode = mode(&fs::metadata(bank).map_err(StoreError::io("look at", bank))?);
    create_at(new, |place, lock| {
        let state = create_folders(place, epoch)?;
        // A folder that was there keeps the permissions that its owner gave it.
        let is_new = place != new;
        if is_new {
            // Whatever the bank's are, its files are still to be written.
            set_mode(place, mode | 0o700)?;
        }
        if from != FORMAT {
            // It is brought to this build's format by one commit for each step.
            let mut older = upgrade_path(from).unwrap_or_default().iter();
            begin_copy(place, older.try_fold(epoch, |epoch, _| next_epoch(epoch))?)?;
        }
        let bytes = sources.iter().map(|source| source.bytes).sum();
        ensure_free_space(place, sources.len() as u64, bytes)?;
        watch.stage("copy", Some(bytes));
        for source in &sources {
            watch.proceed()?;
            let to = source.destination(place, &state);
            match copy(&source.path, &to, source.mode, watch) {
                Err(e) if !source.has_disappeared(&e) => return Err(e),
                _ => {}
            }
        }
        drop(finish_bank(place, epoch, from)?);
        if from == FORMAT {
            write_marker(place, FORMAT)?;
            end_copy(place);
        } else {
            let held = lock.try_clone().map_err(StoreError::io("lock", place))?;
            drop(Writer::open_locked(
                place,
                held,
                from,
                AutoCompaction::Disabled,
                watch,
            )?);
        }
        if is_new {
            set_mode(place, mode)?;
        }
        Ok(())
    })?;
    Ok(report(from, begun))
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
pub(crate) mod tests;
