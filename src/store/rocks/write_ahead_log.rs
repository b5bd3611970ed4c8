//! The write-ahead log of a database: the changes of small commits that are in no table file yet.
//!
//! A flush takes a file and two syncs per changed table, some fifteen tables; for a batch of a few
//! records that is nearly all of its time. So a small log is part of a published state, and readers
//! replay it into memory. It is flushed once it has [`MAX_BYTES`] or [`MAX_FILES`] files: each writing
//! process starts a file.

use std::fmt;
use std::fs;
use std::io::{self, Read, Write};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::disk::{create_fresh, names_in, open_regular, sync_folder};

/// The size in bytes from which on a log is flushed. A reader replays a smaller one within some
/// milliseconds.
const MAX_BYTES: u64 = 1 << 20;

/// The number of files from which on a log is flushed.
const MAX_FILES: usize = 16;

/// Returns the names of the log files of a database, in the order of their numbers.
pub(crate) fn log_files(database: &Path) -> io::Result<Vec<String>> {
    let mut names = names_in(database)?;
    names.retain(|name| log_number(name).is_some());
    names.sort_unstable_by_key(|name| log_number(name));
    Ok(names)
}

/// Returns whether the log of a database is small enough not to be flushed. Counts all synced bytes.
pub(crate) fn is_small(database: &Path) -> io::Result<bool> {
    let logs = log_files(database)?;
    let sizes = logs.iter().map(|name| fs::metadata(database.join(name)));
    let bytes = sizes.map(|file| file.map_or(MAX_BYTES, |file| file.len()));
    Ok(logs.len() < MAX_FILES && bytes.fold(0, u64::saturating_add) < MAX_BYTES)
}

/// Replaces the log files of a published state that are hard links to those of the live database, so
/// that damage to one state is not damage to both. Files that the previous published state has with
/// the same bytes are linked from there; others are copied and synced.
///
/// Cost: reads the log.
pub(crate) fn separate_from_live(
    state: &Path,
    live: &Path,
    previous: Option<&Path>,
) -> io::Result<()> {
    let mut changed = false;
    for name in log_files(state)? {
        let own = state.join(&name);
        let node = |path: &Path| fs::metadata(path).map(|file| (file.dev(), file.ino()));
        if node(&live.join(&name)).ok() != Some(node(&own)?) {
            continue;
        }
        let bytes = read(&own)?;
        let fresh = own.with_extension("new");
        let same = previous
            .map(|previous| previous.join(&name))
            .filter(|file| read(file).is_ok_and(|found| found == bytes));
        match same {
            Some(same) if fs::hard_link(&same, &fresh).is_ok() => {}
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
        sync_folder(state)?;
    }
    Ok(())
}

/// Syncs the log files of a database.
pub(crate) fn sync(database: &Path) -> io::Result<()> {
    for name in log_files(database)? {
        open_regular(&database.join(name))?.sync_all()?;
    }
    sync_folder(database)
}

fn read(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Returns whether each log file of `other` is a prefix of the log file of `database` with its name.
///
/// Cost: reads both logs.
pub(crate) fn is_prefix(database: &Path, other: &Path) -> io::Result<bool> {
    for name in log_files(other)? {
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

/// A fingerprint of the log of a database at one moment. It reveals whether the log later lost
/// anything.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct LogFingerprint {
    /// The number of the first file that the database needed. RocksDB removes earlier files in a
    /// background thread, so their presence means nothing.
    first: u64,
    /// The number of the last file that was not empty.
    last: u64,
    /// The size of that file in bytes.
    bytes: u64,
    /// 128 bits of the hash of the names, lengths and bytes of the files from the first to the last.
    hash: u128,
}

impl fmt::Display for LogFingerprint {
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

/// Returns the first 128 bits of a hash.
fn first_half(hash: blake3::Hash) -> u128 {
    let first = hash.as_bytes().first_chunk();
    first.map_or(0, |bytes| u128::from_be_bytes(*bytes))
}

impl LogFingerprint {
    /// Parses the words after `log` in the text that `Display` writes.
    pub(crate) fn parse<'a>(mut words: impl FnMut() -> Option<&'a str>) -> Option<Self> {
        Some(Self {
            first: words()?.parse().ok()?,
            last: words()?.parse().ok()?,
            bytes: words()?.parse().ok()?,
            hash: u128::from_str_radix(words()?, 16).ok()?,
        })
    }

    /// Computes the fingerprint of the log of a database, from the file numbered `first`, the first
    /// one that the database needs; `None` if the log is empty.
    ///
    /// Cost: reads the log.
    pub(crate) fn new(database: &Path, first: u64) -> io::Result<Option<Self>> {
        let mut last = None;
        for name in log_files(database)? {
            if let Some(number) = log_number(&name).filter(|number| *number >= first)
                && let Some(bytes) = length_of(&database.join(&name))?
                && bytes > 0
            {
                last = Some((number, bytes));
            }
        }
        let Some((last, bytes)) = last else {
            return Ok(None);
        };
        let mut fingerprint = Self {
            first,
            last,
            bytes,
            hash: 0,
        };
        fingerprint.hash = fingerprint.hash_in(database)?.map_or(0, first_half);
        Ok(Some(fingerprint))
    }

    /// Returns whether the log of a database begins with the log of this fingerprint.
    ///
    /// Cost: reads the log.
    pub(crate) fn is_contained_in(&self, database: &Path) -> io::Result<bool> {
        let hash = self.hash_in(database)?;
        Ok(hash.is_some_and(|hash| first_half(hash) == self.hash))
    }

    /// Classifies a log that lacks a part of this one, in a database whose first needed log file has
    /// the number `first`.
    pub(crate) fn missing(&self, first: u64) -> MissingLog {
        if first <= self.first {
            MissingLog::Lost
        } else if first > self.last {
            MissingLog::Flushed
        } else {
            MissingLog::Unknown
        }
    }

    /// Returns the hash of the names, lengths and bytes of the log files of a database up to the end of
    /// this fingerprint; `None` if the log is shorter.
    fn hash_in(&self, database: &Path) -> io::Result<Option<blake3::Hash>> {
        let mut hasher = blake3::Hasher::new();
        let mut has_last = false;
        for name in log_files(database)? {
            let path = database.join(&name);
            let Some(number) = log_number(&name).filter(|at| (self.first..=self.last).contains(at))
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

/// Where a missing part of a log went.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum MissingLog {
    /// It is lost: the database needs all files of the fingerprint.
    Lost,
    /// It was flushed: the database needs none of the files of the fingerprint.
    Flushed,
    /// Some files were flushed, and it is unknown whether only those are missing.
    Unknown,
}

/// Parses the number in the name of a log file.
pub(super) fn log_number(name: &str) -> Option<u64> {
    name.strip_suffix(".log")?.parse().ok()
}

/// Returns the size of a file; `None` if RocksDB, which removes flushed log files in a background
/// thread, has removed it.
fn length_of(path: &Path) -> io::Result<Option<u64>> {
    match fs::metadata(path) {
        Ok(found) => Ok(Some(found.len())),
        Err(e) if e.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(e) => Err(e),
    }
}

/// Returns the hash of the names, lengths and bytes of all log files of a database; `None` if the log
/// is empty.
///
/// Cost: reads the log.
pub(crate) fn fingerprint(database: &Path) -> io::Result<Option<blake3::Hash>> {
    let mut hasher = blake3::Hasher::new();
    let mut is_empty = true;
    for name in log_files(database)? {
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
