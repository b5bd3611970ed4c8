//! Compaction of all tables of a bank, which frees the space of overwritten entries.
//!
//! The state changes only after all tables are compacted, those of all parts of a cluster bank. If that is interrupted
//! or fails, the bank keeps its state, with some tables compacted. Compaction changes files and no entries, so parts
//! stay equal; a commit without changes then publishes the new files in all parts.

use std::collections::{BTreeMap, HashSet};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::disk::{ensure_free_space, names_in};
use crate::error::StoreError;
use crate::publish::part_files::part_folder;
use crate::publish::published::{published_folder, state_folder};
use crate::publish::writer::Writer;
use crate::rocks::database::Database;
use crate::table_info::Family;
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

/// The number and the size of table files.
#[derive(Clone, Copy, Default)]
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

    /// Returns the table files of several databases.
    fn read_all(parts: &[(u32, Arc<Database>)]) -> Result<Self, StoreError> {
        let mut all = Self::default();
        for (_, rocks) in parts {
            all.add(Self::read(rocks)?);
        }
        Ok(all)
    }

    const fn add(&mut self, more: Self) {
        self.files += more.files;
        self.bytes += more.bytes;
    }
}

impl Writer {
    /// Compacts all tables, of all parts at the same time, and publishes the result. Readers of earlier states keep the
    /// previous files open. Fails without changes if there is not as much free space as the files take, or if another
    /// process has a part. Also removes a graph image that no command uses.
    ///
    /// Cost: reads and writes the whole bank once; takes its space twice until it is published.
    pub fn compact(&self, watch: &dyn Watch) -> Result<CompactReport, StoreError> {
        let start = Instant::now();
        let parts = self.local_part_databases()?;
        let before = TableFiles::read_all(&parts)?;
        self.ensure_space_of_parts(&parts)?;
        watch.stage("merge files", Some(before.bytes));
        interruptible(&parts, watch, || {
            parts
                .par_iter()
                .try_for_each(|(_, rocks)| compact_all(rocks, watch))
        })?;
        self.remove_unused_image(watch)?;
        // The oldest state that is kept without readers.
        let kept = if self.parts().is_cluster() {
            self.replace_states()?;
            self.counters()?.epoch.saturating_sub(1)
        } else {
            let counters = self.advance_epoch()?;
            self.store.rocks.compact_family(Family::Meta)?;
            self.publish(&counters)?;
            counters.epoch
        };
        let after = TableFiles::read_all(&parts)?;
        let held = parts
            .iter()
            .map(|(part, _)| held_bytes(&part_folder(&self.bank, *part), kept));
        Ok(CompactReport {
            files_before: before.files,
            bytes_before: before.bytes,
            files: after.files,
            bytes: after.bytes,
            held_bytes: held.sum(),
            seconds: start.elapsed().as_secs_f64(),
        })
    }

    /// Returns the databases of all parts; fails if another process has one.
    fn local_part_databases(&self) -> Result<Vec<(u32, Arc<Database>)>, StoreError> {
        let databases = self.store.local_databases();
        let databases: Vec<(u32, Arc<Database>)> = databases
            .map(|(part, database)| (part, Arc::clone(database)))
            .collect();
        let is_local = |part: &u32| databases.iter().any(|(local, _)| local == part);
        match (0..self.parts().count()).find(|part| !is_local(part)) {
            None => Ok(databases),
            Some(part) => Err(StoreError::PartElsewhere {
                doing: "compaction",
                part,
                path: part_folder(&self.bank, part),
            }),
        }
    }

    /// Fails unless each disk has as much free space as the table files on it take.
    fn ensure_space_of_parts(&self, parts: &[(u32, Arc<Database>)]) -> Result<(), StoreError> {
        let mut disks: BTreeMap<u64, (PathBuf, TableFiles)> = BTreeMap::new();
        for (part, rocks) in parts {
            let folder = part_folder(&self.bank, *part);
            let metadata = fs::metadata(&folder).map_err(StoreError::io("look at", &folder))?;
            let (_, files) = disks
                .entry(metadata.dev())
                .or_insert((folder, TableFiles::default()));
            files.add(TableFiles::read(rocks)?);
        }
        disks
            .values()
            .try_for_each(|(folder, needed)| ensure_free_space(folder, needed.files, needed.bytes))
    }
}

fn compact_all(rocks: &Database, watch: &dyn Watch) -> Result<(), StoreError> {
    let files = rocks.table_files()?;
    for family in Family::ALL {
        watch.proceed()?;
        let compacted = rocks.compact_family(family);
        // After a cancellation, RocksDB reports an error; the interrupt is the cause.
        watch.proceed()?;
        compacted?;
        let own = files.iter().filter(|file| file.family == family.name());
        watch.advance(own.map(|file| file.bytes).sum());
    }
    Ok(())
}

/// Runs work that waits for compactions. On an interrupt, another thread cancels the running compactions.
fn interruptible(
    parts: &[(u32, Arc<Database>)],
    watch: &dyn Watch,
    work: impl FnOnce() -> Result<(), StoreError>,
) -> Result<(), StoreError> {
    let is_done = AtomicBool::new(false);
    let monitor = || {
        while !is_done.load(Ordering::Acquire) {
            if watch.stopped() {
                for (_, rocks) in parts {
                    rocks.cancel_background_work();
                }
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

/// Returns the size in bytes of the table files that only published states before `kept` have. Best effort:
/// unreadable files are not counted.
fn held_bytes(bank: &Path, kept: u64) -> u64 {
    let published = published_folder(bank);
    let tables = |folder: &Path| {
        let names = names_in(folder).unwrap_or_default().into_iter();
        let tables =
            names.filter(|name| Path::new(name).extension().is_some_and(|end| end == "sst"));
        let found = tables.filter_map(|name| fs::metadata(folder.join(name)).ok());
        found.collect::<Vec<_>>()
    };
    let epochs = names_in(&published).unwrap_or_default().into_iter();
    let epochs: Vec<u64> = epochs.filter_map(|name| name.parse().ok()).collect();
    let (earlier, later): (Vec<u64>, Vec<u64>) =
        epochs.into_iter().partition(|epoch| *epoch < kept);
    let of_states = |epochs: Vec<u64>| {
        let folders = epochs.into_iter().map(|epoch| state_folder(bank, epoch));
        folders
            .flat_map(|folder| tables(&folder))
            .collect::<Vec<_>>()
    };
    let now = of_states(later);
    let mut seen: HashSet<u64> = now.iter().map(MetadataExt::ino).collect();
    let files = of_states(earlier).into_iter();
    let only = files.filter(|file| seen.insert(file.ino()));
    only.map(|file| file.len()).sum()
}
