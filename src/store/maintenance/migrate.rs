//! Migration of a bank to the format of this build: in place, as every writer does, or to a new bank.

use std::fs;
use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::backup::{ensure_separate, mode, set_mode, sources};
use crate::disk::folder::{BankKind, begin_copy, end_copy, marker_format, write_marker};
use crate::disk::free_space::ensure_free_space;
use crate::disk::verified_copy::copy;
use crate::error::StoreError;
use crate::format::upgrade_path;
use crate::publish::bank_from_state::{create_folders, finish_bank};
use crate::publish::cluster::part_files::ensure_single;
use crate::publish::create::create_at;
use crate::publish::reader::Reader;
use crate::publish::writer::{Opening, Writer, next_epoch};
use crate::rocks::options::AutoCompaction;
use crate::tables::FORMAT;
use seedbank_algorithms::watch::Watch;

/// The report of `migrate`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct MigrateReport {
    /// The previous format version.
    #[schemars(range(min = 1))]
    pub from: u32,
    /// The new format version.
    #[schemars(range(min = 1))]
    pub to: u32,
    /// The elapsed time in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// Migrates a bank to the format of this build; a bank with this format is not changed.
///
/// If another writer is at work, this fails with [`StoreError::Busy`], or with `wait` it waits.
pub fn migrate(bank: &Path, wait: bool, watch: &dyn Watch) -> Result<MigrateReport, StoreError> {
    let start = Instant::now();
    let from = marker_format(bank)?;
    if from != FORMAT {
        drop(Writer::open(bank, wait, watch)?);
    }
    Ok(report(from, start))
}

fn report(from: u32, start: Instant) -> MigrateReport {
    MigrateReport {
        from,
        to: FORMAT,
        seconds: start.elapsed().as_secs_f64(),
    }
}

/// Creates a bank in the format of this build from the published state of another bank, which does not change, in
/// a folder that does not exist or is empty, atomically.
///
/// The banks share no files, so damage to one is not damage to the other.
///
/// Cost: reads all tables once to verify their checksums, and copies the files. Fails on damage.
pub fn migrate_to(bank: &Path, new: &Path, watch: &dyn Watch) -> Result<MigrateReport, StoreError> {
    let start = Instant::now();
    ensure_single(bank, "migration to another folder")?;
    let reader = Reader::open_to_migrate(bank)?;
    ensure_separate(bank, new)?;
    // Files are copied unchanged, so damage would be in both banks.
    reader.rocks.verify_all_checksums(watch)?;
    let (epoch, from) = (reader.epoch(), reader.format()?);
    let sources = sources(bank, epoch, reader.counters()?.batch)?;
    let mode = mode(&fs::metadata(bank).map_err(StoreError::io("look at", bank))?);
    create_at(new, |place, lock| {
        let state = create_folders(place, epoch)?;
        // An existing folder keeps its permissions.
        let is_new = place != new;
        if is_new {
            // The folder must be writable until it is complete.
            set_mode(place, mode | 0o700)?;
        }
        if from != FORMAT {
            // Each migration step is a commit, so the copy ends at a later epoch.
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
            write_marker(place, BankKind::Single, FORMAT)?;
            end_copy(place);
        } else {
            drop(Writer::open_locked(
                place,
                lock.clone(),
                Opening::single(from, AutoCompaction::Disabled),
                watch,
            )?);
        }
        if is_new {
            set_mode(place, mode)?;
        }
        Ok(())
    })?;
    Ok(report(from, start))
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
pub(crate) mod tests;
