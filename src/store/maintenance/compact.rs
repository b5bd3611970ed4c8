//! AutoCompaction all files of a bank into few, which leaves no room to what was overwritten.
//!
//! The state is not touched before all files are merged: where that is stopped or fails, the bank has
//! the state that it had, some of its tables merged.

use std::collections::HashSet;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::disk::folder::names_in;
use crate::disk::free_space::ensure_free_space;
use crate::error::StoreError;
use crate::publish::writer::Writer;
use crate::rocks::database::Database;
use crate::tables::{ALL, META};
use seedbank_algorithms::watch::Watch;

/// How often it is looked whether the work should stop.
const PAUSE: Duration = Duration::from_millis(50);

/// What compaction the files of a bank came to.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CompactReport {
    /// How many files of tables there were.
    pub files_before: u64,
    /// Their bytes.
    pub bytes_before: u64,
    /// How many files of tables there are now.
    pub files: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Bytes of former files that others still read; the first writer after they end removes them.
    pub held_bytes: u64,
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// The files of all tables together.
struct Extent {
    files: u64,
    bytes: u64,
}

impl Extent {
    fn of(rocks: &Database) -> Result<Self, StoreError> {
        let files = rocks.table_files()?;
        Ok(Self {
            files: files.len() as u64,
            bytes: files.iter().map(|file| file.bytes).sum(),
        })
    }
}

impl Writer {
    /// Merges the files of all tables, and publishes the result; readers of earlier states keep the
    /// former files as long as they read. Where there is not as much room as the files take, nothing
    /// is begun.
    ///
    /// Cost: reads and writes the whole bank once; until it is published it takes its room twice.
    pub fn compact(&self, watch: &dyn Watch) -> Result<CompactReport, StoreError> {
        let begun = Instant::now();
        let rocks = &self.store.rocks;
        let before = Extent::of(rocks)?;
        ensure_free_space(&self.bank, before.files, before.bytes)?;
        watch.stage("merge files", Some(before.bytes));
        stoppable(rocks, watch, || merge_all(rocks, watch))?;
        let counters = self.advance_epoch()?;
        rocks.compact_table(META.name)?;
        self.publish(&counters)?;
        let after = Extent::of(rocks)?;
        Ok(CompactReport {
            files_before: before.files,
            bytes_before: before.bytes,
            files: after.files,
            bytes: after.bytes,
            held_bytes: held(&self.bank, counters.epoch),
            seconds: begun.elapsed().as_secs_f64(),
        })
    }
}

fn merge_all(rocks: &Database, watch: &dyn Watch) -> Result<(), StoreError> {
    let files = rocks.table_files()?;
    for table in ALL {
        watch.proceed()?;
        let merged = rocks.compact_table(table.name);
        // RocksDB takes a stop for an error.
        watch.proceed()?;
        merged?;
        let of_table = files.iter().filter(|file| file.table == table.name);
        watch.advance(of_table.map(|file| file.bytes).sum());
    }
    Ok(())
}

/// Does work that waits for RocksDB to merge files; when it should stop, RocksDB is told, which ends
/// the merge that it is at.
fn stoppable(
    rocks: &Database,
    watch: &dyn Watch,
    work: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let is_done = AtomicBool::new(false);
    let look = || {
        while !is_done.load(Ordering::Acquire) {
            if watch.stopped() {
                rocks.cancel_background_work();
                return;
            }
            thread::park_timeout(PAUSE);
        }
    };
    let worked = thread::scope(|scope| {
        let looking = thread::Builder::new().spawn_scoped(scope, look);
        let looking = looking.map_err(StoreError::io("watch over", "the compaction"))?;
        let worked = work();
        is_done.store(true, Ordering::Release);
        looking.thread().unpark();
        worked
    });
    // RocksDB may have been told after the work had looked for the last time, and then writes no
    // more.
    worked?;
    Ok(watch.proceed()?)
}

/// The bytes of table files that only published states before `current` have. Best effort: what
/// cannot be looked at is not counted.
fn held(bank: &Path, current: u64) -> u64 {
    let published = bank.join("published");
    let tables = |folder: &Path| {
        let names = names_in(folder).into_iter();
        let tables =
            names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "sst"));
        let found = tables.filter_map(|name| fs::metadata(folder.join(name)).ok());
        found.collect::<Vec<_>>()
    };
    let now = tables(&published.join(current.to_string()));
    let mut seen: HashSet<u64> = now.iter().map(MetadataExt::ino).collect();
    let earlier = names_in(&published).into_iter().filter(|name| {
        let epoch: Option<u64> = name.parse().ok();
        epoch.is_some_and(|epoch| epoch < current)
    });
    let files = earlier.flat_map(|name| tables(&published.join(name)));
    let only = files.filter(|file| seen.insert(file.ino()));
    only.map(|file| file.len()).sum()
}
