//! Migration of a bank to the format of this build: in place, as every writer does, or to a new bank.

use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::backup::{SourceState, ensure_separate, modes, sources};
use crate::disk::folder::marker_format;
use crate::disk::free_space::ensure_free_space;
use crate::disk::verified_copy::copy;
use crate::error::StoreError;
use crate::format::upgrade_path;
use crate::publish::bank_from_state::BankCopy;
use crate::publish::cluster::part_files::local_parts;
use crate::publish::create::create_at;
use crate::publish::reader::Reader;
use crate::publish::writer::{Opening, Writer, next_epoch};
use crate::rocks::options::AutoCompaction;
use crate::tables::FORMAT;
use crate::tables::shards::Parts;
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
    let parts = local_parts(bank, "migration")?;
    let reader = Reader::open_to_migrate(bank)?;
    let count = parts.map_or(1, Parts::count);
    ensure_separate(bank, count, new)?;
    // Files are copied unchanged, so damage would be in both banks.
    for (_, database) in reader.part_databases() {
        database.verify_all_checksums(watch)?;
    }
    let (epoch, from) = (reader.epoch(), reader.format()?);
    let sources = sources(bank, SourceState::new(&reader)?)?;
    let modes = modes(bank, count)?;
    // Each migration step is a commit, so the copy ends at a later epoch.
    let mut older = upgrade_path(from).unwrap_or_default().iter();
    let last_epoch = older.try_fold(epoch, |epoch, _| next_epoch(epoch))?;
    create_at(new, |place, lock| {
        let new_bank = BankCopy {
            place,
            epoch,
            last_epoch,
            format: from,
            parts,
            modes: &modes,
            is_new: place != new,
        };
        let bytes = sources.iter().map(|source| source.bytes).sum();
        ensure_free_space(place, sources.len() as u64, bytes)?;
        watch.stage("copy", Some(bytes));
        new_bank.fill(|part, folder, state| {
            for source in sources.iter().filter(|source| source.part == part) {
                watch.proceed()?;
                let to = source.destination(folder, state);
                match copy(&source.path, &to, source.mode, watch) {
                    Err(e) if !source.has_disappeared(&e) => return Err(e),
                    _ => {}
                }
            }
            Ok(())
        })?;
        if from == FORMAT {
            return new_bank.finish();
        }
        // The writer migrates the copy and writes the marker.
        drop(Writer::open_locked(
            place,
            lock.clone(),
            Opening::single(from, AutoCompaction::Disabled),
            watch,
        )?);
        new_bank.restore_mode()
    })?;
    Ok(report(from, start))
}

#[cfg(test)]
#[path = "migrate_tests.rs"]
pub(crate) mod tests;
