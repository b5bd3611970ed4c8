//! Compaction of all tables of a bank, which frees the space of overwritten entries.
//!
//! The state changes only after all tables are compacted. If that is interrupted or fails, the bank keeps its
//! state, with some tables compacted.

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
use crate::publish::cluster::part_files::ensure_single;
use crate::publish::writer::Writer;
use crate::rocks::database::Database;
use crate::tables::{ALL, META};
use seedbank_algorithms::watch::Watch;

/// The time between two checks for an interrupt.
const WATCH_INTERVAL: Duration = Duration::from_millis(50);

/// The report of `compact`.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CompactReport {
    /// The number of table files before.
    pub files_before: u64,
    /// The size of the table files before, in bytes.
    pub bytes_before: u64,
    /// The number of table files now.
    pub files: u64,
    /// The size of the table files now, in bytes.
    pub bytes: u64,
    /// The size in bytes of previous files that readers still use; the first writer after them removes the files.
    pub held_bytes: u64,
    /// The elapsed time in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// The number and the size of all table files.
struct TableFiles {
    files: u64,
    bytes: u64,
}

impl TableFiles {
    fn read(rocks: &Database) -> Result<Self, StoreError> {
        let files = rocks.table_files()?;
        Ok(Self {
            files: files.len() as u64,
            bytes: files.iter().map(|file| file.bytes).sum(),
        })
    }
}

impl Writer {
    /// Compacts all tables and publishes the result. Readers of earlier states keep the previous files open.
    /// Fails without changes if there is not as much free space as the files take.
    ///
    /// Cost: reads and writes the whole bank once; takes its space twice until it is published.
    pub fn compact(&self, watch: &dyn Watch) -> Result<CompactReport, StoreError> {
        let start = Instant::now();
        ensure_single(&self.bank, "compaction")?;
        let rocks = &self.store.rocks;
        let before = TableFiles::read(rocks)?;
        ensure_free_space(&self.bank, before.files, before.bytes)?;
        watch.stage("merge files", Some(before.bytes));
        interruptible(rocks, watch, || compact_all(rocks, watch))?;
        let counters = self.advance_epoch()?;
        rocks.compact_table(META.name)?;
        self.publish(&counters)?;
        let after = TableFiles::read(rocks)?;
        Ok(CompactReport {
            files_before: before.files,
            bytes_before: before.bytes,
            files: after.files,
            bytes: after.bytes,
            held_bytes: held_bytes(&self.bank, counters.epoch),
            seconds: start.elapsed().as_secs_f64(),
        })
    }
}

fn compact_all(rocks: &Database, watch: &dyn Watch) -> Result<(), StoreError> {
    let files = rocks.table_files()?;
    for table in ALL {
        watch.proceed()?;
        let compacted = rocks.compact_table(table.name);
        // After a cancellation, RocksDB reports an error; the interrupt is the cause.
        watch.proceed()?;
        compacted?;
        let of_table = files.iter().filter(|file| file.table == table.name);
        watch.advance(of_table.map(|file| file.bytes).sum());
    }
    Ok(())
}

/// Runs work that waits for compactions. On an interrupt, another thread cancels the running compaction.
fn interruptible(
    rocks: &Database,
    watch: &dyn Watch,
    work: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let is_done = AtomicBool::new(false);
    let monitor = || {
        while !is_done.load(Ordering::Acquire) {
            if watch.stopped() {
                rocks.cancel_background_work();
                return;
            }
            thread::park_timeout(WATCH_INTERVAL);
        }
    };
    let result = thread::scope(|scope| {
        let thread = thread::Builder::new().spawn_scoped(scope, monitor);
        let thread = thread.map_err(StoreError::io("watch over", "the compaction"))?;
        let result = work();
        is_done.store(true, Ordering::Release);
        thread.thread().unpark();
        result
    });
    // The compaction may have been cancelled after the last check of the work. Then RocksDB accepts no more
    // writes, so the caller must not go on.
    result?;
    Ok(watch.proceed()?)
}

/// Returns the size in bytes of the table files that only published states before `current` have. Best effort:
/// unreadable files are not counted.
fn held_bytes(bank: &Path, current: u64) -> u64 {
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
