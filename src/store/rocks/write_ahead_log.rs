//! The log of a database: what small commits wrote and no file of a table has yet.
//!
//! Writing the log to files of tables takes a file and two syncs for each table that a commit changed,
//! fifteen tables or so; for a batch of a few records that is nearly all of its time. So a small log is
//! part of a published state, and readers read it into memory. It is written to files once it is
//! [`MOST_BYTES`] large, or has come to [`MOST_LOGS`] files: each process that writes begins one.

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::disk::folder::{create_fresh, names_in, open_regular, sync_folder};

/// A log that has as many bytes is written to files of tables. A reader takes some milliseconds to read
/// it.
const MOST_BYTES: u64 = 1 << 20;

/// So is a log of as many files.
const MOST_LOGS: usize = 16;

/// The files of a database's log, by their names in order.
pub(crate) fn logs_in(database: &Path) -> Vec<String> {
    let mut names = names_in(database);
    names.retain(|name| number(name).is_some());
    names.sort_unstable_by_key(|name| number(name));
    names
}

/// Whether the log of a database is small enough to stay one. Everything that was written with a sync
/// counts.
pub(crate) fn is_small(database: &Path) -> bool {
    let logs = logs_in(database);
    let sizes = logs.iter().map(|name| fs::metadata(database.join(name)));
    let bytes = sizes.map(|about| about.map_or(MOST_BYTES, |about| about.len()));
    logs.len() < MOST_LOGS && bytes.fold(0, u64::saturating_add) < MOST_BYTES
}

/// Gives a published state files of its own for the log, where the checkpoint has linked those of the
/// live database: damage to one of them must not be damage to both. The former state has most of them
/// already; these are linked, so that nothing has to be written.
///
/// Cost: reads the log; a copy and a sync of what the former state has not.
pub(crate) fn set_apart(place: &Path, live: &Path, former: Option<&Path>) -> io::Result<()> {
    let mut changed = false;
    for name in logs_in(place) {
        let (own, lives) = (place.join(&name), live.join(&name));
        let node = |path: &Path| fs::metadata(path).map(|found| (found.dev(), found.ino()));
        if node(&lives).ok() != Some(node(&own)?) {
            continue;
        }
        let bytes = read(&own)?;
        let fresh = own.with_extension("new");
        let kept = former.map(|former| former.join(&name));
        let kept = kept.filter(|kept| read(kept).is_ok_and(|kept| kept == bytes));
        match kept {
            Some(kept) if fs::hard_link(&kept, &fresh).is_ok() => {}
            _ => {
                let mut file = create_fresh(&fresh)?;
                file.write_all(&bytes)?;
                file.sync_all()?;
            }
        }
        fs::rename(&fresh, &own)?;
        changed = true;
    }
    if changed {
        sync_folder(place)?;
    }
    Ok(())
}

/// Brings a database's log to the disk, as far as it is written.
pub(crate) fn sync(database: &Path) -> io::Result<()> {
    for name in logs_in(database) {
        open_regular(&database.join(name))?.sync_all()?;
    }
    sync_folder(database)
}

/// All bytes of a log.
fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Whether every file of the log of `other` is one of the log of `database`, which may have more
/// behind its bytes.
///
/// Cost: reads both logs.
pub(crate) fn begins(database: &Path, other: &Path) -> io::Result<bool> {
    for name in logs_in(other) {
        let theirs = read(&other.join(&name))?;
        let ours = match open_regular(&database.join(&name)) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => Vec::new(),
            ours => {
                let mut first = Vec::new();
                ours?.take(theirs.len() as u64).read_to_end(&mut first)?;
                first
            }
        };
        if ours != theirs {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The log of a database at one moment, by which a log that later lost something is recognised.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LogMark {
    /// The number of the first file that the database still needed. RocksDB removes the files before
    /// it in a thread of its own, so their presence says nothing.
    first: u64,
    /// The number of the last file that had anything in it.
    last: u64,
    /// The size of that file in bytes.
    bytes: u64,
    /// 128 bits of the hash of the names, lengths and bytes of the files from the first to the last.
    hash: u128,
}

impl fmt::Display for LogMark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            first,
            last,
            bytes,
            hash,
        } = self;
        write!(f, "log {first} {last} {bytes} {hash:032x}")
    }
}

/// The first 128 bits of a hash.
fn half(hash: blake3::Hash) -> u128 {
    let (first, _) = hash.as_bytes().split_at(16);
    first
        .iter()
        .fold(0, |all, byte| all << 8 | u128::from(*byte))
}

impl LogMark {
    /// Parses what stands behind `log` in the text that `Display` writes.
    pub(crate) fn parse<'a>(mut words: impl FnMut() -> Option<&'a str>) -> Option<Self> {
        Some(Self {
            first: words()?.parse().ok()?,
            last: words()?.parse().ok()?,
            bytes: words()?.parse().ok()?,
            hash: u128::from_str_radix(words()?, 16).ok()?,
        })
    }

    /// The log of a database as it is now, from the file with the number `first`, which is the first
    /// that the database needs; `None` where nothing is in it.
    ///
    /// Cost: reads the log.
    pub(crate) fn new(database: &Path, first: u64) -> io::Result<Option<Self>> {
        let mut last = None;
        for name in logs_in(database) {
            if let Some(number) = number(&name).filter(|number| *number >= first)
                && let Some(bytes) = length_of(&database.join(&name))?
                && bytes > 0
            {
                last = Some((number, bytes));
            }
        }
        let Some((last, bytes)) = last else {
            return Ok(None);
        };
        let mut mark = Self {
            first,
            last,
            bytes,
            hash: 0,
        };
        mark.hash = mark.hash_in(database)?.map_or(0, half);
        Ok(Some(mark))
    }

    /// Whether the log of a database has everything that this one had, perhaps with more behind it.
    ///
    /// Cost: reads the log.
    pub(crate) fn is_in(&self, database: &Path) -> io::Result<bool> {
        let hash = self.hash_in(database)?;
        Ok(hash.is_some_and(|hash| half(hash) == self.hash))
    }

    /// What a log in which something of this one is missing says about the database, which needs the
    /// files of its log from the number `first` on.
    pub(crate) fn missing(&self, first: u64) -> MissingLog {
        if first <= self.first {
            MissingLog::Lost
        } else if first > self.last {
            MissingLog::InTables
        } else {
            MissingLog::Unknown
        }
    }

    /// The hash of the names, lengths and bytes of a database's log from the first file to the end of
    /// the mark; `None` where the log is shorter.
    fn hash_in(&self, database: &Path) -> io::Result<Option<blake3::Hash>> {
        let mut hasher = blake3::Hasher::new();
        let mut has_last = false;
        for name in logs_in(database) {
            let path = database.join(&name);
            let Some(number) = number(&name).filter(|at| (self.first..=self.last).contains(at))
            else {
                continue;
            };
            let Some(mut length) = length_of(&path)? else {
                continue;
            };
            if number == self.last {
                has_last = length >= self.bytes;
                length = self.bytes;
            }
            if length > 0 {
                hasher.update(name.as_bytes());
                hasher.update(&length.to_be_bytes());
                hasher.update_reader(open_regular(&path)?.take(length))?;
            }
        }
        Ok(has_last.then(|| hasher.finalize()))
    }
}

/// Where the part of a log is that is missing from its files.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MissingLog {
    /// It is lost: the database needs all files that the mark covers.
    Lost,
    /// It is in files of tables: the database needs none of the files that the mark covers.
    InTables,
    /// Some files were written to tables, and the mark cannot tell whether only those are missing.
    Unknown,
}

/// The number in the name of a file of a log.
fn number(name: &str) -> Option<u64> {
    name.strip_suffix(".log")?.parse().ok()
}

/// The size of a file; `None` where it is gone, since RocksDB removes files of a log in a thread of
/// its own once they are written to tables.
fn length_of(path: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// The hash of the names, lengths and bytes of a database's log; `None` where nothing is in it.
///
/// Cost: reads the log.
pub(crate) fn fingerprint(database: &Path) -> io::Result<Option<blake3::Hash>> {
    let mut hasher = blake3::Hasher::new();
    let mut is_empty = true;
    for name in logs_in(database) {
        let path = database.join(&name);
        let bytes = fs::metadata(&path)?.len();
        if bytes == 0 {
            continue;
        }
        is_empty = false;
        hasher.update(name.as_bytes());
        hasher.update(&bytes.to_be_bytes());
        hasher.update_reader(open_regular(&path)?)?;
    }
    Ok((!is_empty).then(|| hasher.finalize()))
}
