//! Making a backup.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::num::NonZeroU32;
use std::path::Path;
use std::time::Instant;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::inventory::{BackupSummary, List, Listed};
use super::repository::{Found, Shelf};
use super::separate_folders::are_apart;
use super::sources::{Source, mode, sources};
use super::verify::{DamagedBackup, Faults, fault_of, faults};
use crate::disk::folder::marker_format;
use crate::disk::free_space::ensure_free_space;
use crate::disk::verified_copy::{copy, hash_file};
use crate::error::BackupError;
use crate::error::StoreError;
use crate::publish::reader::Reader;
use seedbank_algorithms::watch::{Quiet, Watch};

/// How a backup is to be made.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct BackupRequest {
    /// Delete older backups, so that this many stay, with this one, that can be restored; `None`
    /// deletes none.
    pub keep: Option<NonZeroU32>,
    /// Read every byte of the folder and compare it with what was backed up; what is not, and the
    /// bank still has, is written again, and so is what no backup there names: a backup that was
    /// killed left it. If `false`, only names and sizes of files are looked at.
    pub verify: bool,
    /// Wait while the folder is used by another backup or restore.
    pub wait: bool,
}

/// What a backup did.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct BackupReport {
    /// What was backed up.
    #[serde(flatten)]
    pub made: BackupSummary,
    /// How many files were written; the folder had the others.
    pub written_files: u64,
    /// Their bytes.
    pub written_bytes: u64,
    /// Older backups that were deleted, in order.
    pub deleted: Vec<u32>,
    /// Bytes of files that no backup needs any more, and that were removed.
    pub freed_bytes: u64,
    /// Other backups of the folder that cannot be restored.
    pub damaged: Vec<DamagedBackup>,
    /// How long it took, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// What a folder had before a backup.
struct Before {
    lists: Vec<Found>,
    present: HashMap<blake3::Hash, u64>,
    faults: Faults,
}

impl Before {
    fn readable(&self) -> impl DoubleEndedIterator<Item = &List> {
        self.lists.iter().filter_map(|(_, list)| list.as_ref().ok())
    }

    /// Whether the bytes with this hash are there, and so many.
    fn has(&self, hash: &blake3::Hash, bytes: u64) -> bool {
        self.present.get(hash) == Some(&bytes) && !self.faults.contains_key(hash)
    }

    /// What is known of a file without reading it: a table file that the latest list has under the
    /// same name, with the same size and time.
    fn known(&self, source: &Source) -> Option<Listed> {
        source.table_file()?;
        let files = &self.readable().next_back()?.files;
        let at = files.binary_search_by(|listed| listed.name.cmp(&source.name));
        let listed = &files[at.ok()?];
        let is_same = listed.bytes == source.bytes && listed.modified == source.modified;
        (is_same && self.has(&listed.hash, listed.bytes)).then(|| Listed {
            mode: source.mode,
            ..listed.clone()
        })
    }
}

/// What was written so far.
#[derive(Default)]
struct Written {
    files: Vec<Listed>,
    /// The hashes and bytes of the files that the folder did not have.
    fresh: HashMap<blake3::Hash, u64>,
}

/// Backs up the published state of a bank into a folder, which is made where it is missing. `at` is
/// the time, in seconds since 1970.
///
/// The state is opened as any reader opens it, and whatever RocksDB has checksums of in the table
/// files that are to be copied is compared first: a damaged state is not backed up. Table files that
/// are already there were compared when they were copied.
///
/// Cost: the blocks of tables between the first and the last key of each table file that is new are
/// read; every new file is read twice more, once back from the copy, and written once.
pub fn backup(
    bank: &Path,
    folder: &Path,
    request: &BackupRequest,
    at: u64,
    watch: &dyn Watch,
) -> Result<BackupReport, StoreError> {
    let begun = Instant::now();
    // What is no bank, or cannot be read, is told before a folder is made.
    marker_format(bank)?;
    drop(Reader::open_published(bank)?);
    are_apart(bank, folder)?;
    let about = fs::metadata(bank).map_err(StoreError::io("look at", bank))?;
    let shelf = Shelf::open_or_make(folder, mode(&about))?;
    let _lock = shelf.take(request.wait, watch)?;
    // Another backup may have had the folder until now, so an earlier state may not be the latest.
    let reader = Reader::open(bank)?;
    shelf.tidy()?;
    let (lists, present) = (shelf.lists()?, shelf.present()?);
    let mut faults = faults(&shelf, &lists, &present, request.verify, watch)?;
    if request.verify {
        distrust_unnamed(&lists, &present, &mut faults);
    }
    let before = Before {
        lists,
        present,
        faults,
    };
    let identity = reader.rocks.identity();
    let is_other = |list: &List| !list.bank.is_empty() && list.bank != identity;
    if !identity.is_empty() && before.readable().next_back().is_some_and(is_other) {
        return Err(BackupError::OtherBank(folder.to_path_buf()).into());
    }
    let mut written = Written::default();
    let copied = copy_all(bank, &reader, &shelf, &before, &mut written, watch);
    if copied
        .as_ref()
        .is_err_and(|e| !matches!(e, StoreError::Interrupted(_)))
    {
        // On a full disk it is in the way; what was only interrupted goes on from it.
        discard(&shelf, &before, &written);
    }
    copied?;
    let last = before.lists.last().map_or(0, |(number, _)| *number);
    let counters = reader.counters()?;
    let entry = List {
        made: BackupSummary {
            backup: last.checked_add(1).ok_or(StoreError::Full("backup"))?,
            at,
            format: reader.format()?,
            epoch: reader.epoch(),
            batch: counters.batch,
            refresh: counters.refresh,
            files: written.files.len() as u64,
            bytes: written.files.iter().map(|file| file.bytes).sum(),
        },
        bank: identity,
        mode: mode(&about),
        files: written.files,
    };
    shelf.write_list(&entry)?;
    drop(reader);
    let made = entry.made.clone();
    let (written_files, written_bytes) = (written.fresh.len() as u64, written.fresh.values().sum());
    let old = forget(&shelf, before, entry, &written.fresh, request.keep)?;
    Ok(BackupReport {
        made,
        written_files,
        written_bytes,
        deleted: old.deleted,
        freed_bytes: old.freed_bytes,
        damaged: old.damaged,
        seconds: begun.elapsed().as_secs_f64(),
    })
}

/// Counts files that no list names as bad: nobody has read them.
fn distrust_unnamed(lists: &[Found], present: &HashMap<blake3::Hash, u64>, faults: &mut Faults) {
    let readable = lists.iter().filter_map(|(_, list)| list.as_ref().ok());
    let named: HashSet<blake3::Hash> = readable.flat_map(hashes).collect();
    for hash in present.keys().filter(|hash| !named.contains(hash)) {
        faults.insert(*hash, "was not read".to_owned());
    }
}

/// Copies what the folder does not have of the state.
fn copy_all(
    bank: &Path,
    reader: &Reader,
    shelf: &Shelf,
    before: &Before,
    written: &mut Written,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    let sources = sources(bank, reader.epoch(), reader.counters()?.batch)?;
    let known: Vec<Option<Listed>> = sources.iter().map(|source| before.known(source)).collect();
    let new = || {
        sources
            .iter()
            .zip(&known)
            .filter(|(_, known)| known.is_none())
    };
    let bytes = new().map(|(source, _)| source.bytes).sum();
    ensure_free_space(shelf.path(), new().count() as u64, bytes)?;
    let tables: HashSet<&str> = new()
        .filter_map(|(source, _)| source.table_file())
        .collect();
    reader.rocks.verify_checksums(&tables, watch)?;
    watch.stage("copy", Some(bytes));
    for (source, known) in sources.iter().zip(known) {
        match known {
            Some(listed) => written.files.push(listed),
            None => put(shelf, before, source, written, watch)?,
        }
    }
    Ok(())
}

/// Puts a file into the folder, unless one with its bytes is there.
fn put(
    shelf: &Shelf,
    before: &Before,
    source: &Source,
    written: &mut Written,
    watch: &dyn Watch,
) -> Result<(), StoreError> {
    let put = || {
        let has_like = before.present.values().any(|bytes| *bytes == source.bytes);
        if has_like {
            let content = hash_file(&source.path, &Quiet(watch))?;
            if before.has(&content.hash, content.bytes) {
                watch.advance(content.bytes);
                return Ok((content, false));
            }
        }
        let unfinished = shelf.unfinished();
        let content = copy(&source.path, &unfinished, source.mode, watch)?;
        let place = shelf.file(&content.hash);
        // The same bytes, or ones that are not what they should be, may be there.
        fs::rename(&unfinished, &place).map_err(StoreError::io("write", &place))?;
        Ok((content, !before.has(&content.hash, content.bytes)))
    };
    match put() {
        Err(e) if source.has_gone(&e) => Ok(()),
        Err(e) => Err(e),
        Ok((content, is_fresh)) => {
            if is_fresh {
                written.fresh.insert(content.hash, content.bytes);
            }
            written.files.push(Listed {
                name: source.name.clone(),
                bytes: content.bytes,
                hash: content.hash,
                modified: source.modified,
                mode: source.mode,
            });
            Ok(())
        }
    }
}

/// Removes what a backup that failed has written, unless another needs it. Best effort: the next
/// backup does it again.
fn discard(shelf: &Shelf, before: &Before, written: &Written) {
    if before.lists.iter().any(|(_, list)| list.is_err()) {
        return;
    }
    let needed: HashSet<blake3::Hash> = before.readable().flat_map(hashes).collect();
    for hash in written.fresh.keys() {
        if !needed.contains(hash) {
            let _ = shelf.remove(hash);
        }
    }
}

fn hashes(list: &List) -> impl Iterator<Item = blake3::Hash> {
    list.files.iter().map(|file| file.hash)
}

/// What became of the backups before this one.
struct Old {
    deleted: Vec<u32>,
    freed_bytes: u64,
    damaged: Vec<DamagedBackup>,
}

/// Deletes the backups that are not to be kept, then the files that no list names. Where a list that
/// stays cannot be read, nobody knows which files it names, and all files stay.
fn forget(
    shelf: &Shelf,
    mut before: Before,
    list: List,
    fresh: &HashMap<blake3::Hash, u64>,
    keep: Option<NonZeroU32>,
) -> Result<Old, StoreError> {
    before.faults.retain(|hash, _| !fresh.contains_key(hash));
    before.present.extend(fresh);
    before.lists.push((list.made.backup, Ok(list)));
    let fault = |(_, list): &Found| match list {
        Ok(list) => fault_of(list, &before.faults),
        Err(what) => Some(what.clone()),
    };
    let mut whole = before.lists.iter().filter(|found| fault(found).is_none());
    let first = keep.and_then(|keep| whole.nth_back(keep.get() as usize - 1));
    let first = first.map_or(0, |(number, _)| *number);
    let (gone, stay): (Vec<&Found>, Vec<&Found>) =
        before.lists.iter().partition(|(number, _)| *number < first);
    let deleted: Vec<u32> = gone.iter().map(|(number, _)| *number).collect();
    if !deleted.is_empty() {
        shelf.delete_lists(&deleted)?;
    }
    let mut freed_bytes = 0;
    if stay.iter().all(|(_, list)| list.is_ok()) {
        let needed: HashSet<blake3::Hash> = stay
            .iter()
            .filter_map(|(_, list)| list.as_ref().ok())
            .flat_map(hashes)
            .collect();
        for (hash, bytes) in &before.present {
            if !needed.contains(hash) {
                shelf.remove(hash)?;
                freed_bytes += bytes;
            }
        }
    }
    let damaged = stay.into_iter().filter_map(|found| {
        Some(DamagedBackup {
            backup: found.0,
            what: fault(found)?,
        })
    });
    Ok(Old {
        deleted,
        freed_bytes,
        damaged: damaged.collect(),
    })
}
