//! The log of a database: what small commits wrote and no file of a table has yet.
//!
//! Writing the log to files of tables takes a file and two syncs for each table that a commit changed,
//! fifteen tables or so; for a batch of a few records that is nearly all of its time. So a small log is
//! part of a published state, and readers read it into memory. It is written to files once it is
//! [`MOST_BYTES`] large, or has come to [`MOST_LOGS`] files: each process that writes begins one.

use std::fs;
use std::io::{self, Read};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use super::folder::{names_in, open_regular, sync_folder};

/// A log that has as many bytes is written to files of tables. A reader takes some milliseconds to read
/// it.
const MOST_BYTES: u64 = 1 << 20;

/// So is a log of as many files.
const MOST_LOGS: usize = 16;

/// The files of a database's log, by their names in order.
pub(super) fn logs_in(database: &Path) -> Vec<String> {
    let mut names = names_in(database);
    names.retain(|name| {
        let number = name.strip_suffix(".log");
        number.is_some_and(|number| number.parse::<u64>().is_ok())
    });
    names.sort_unstable();
    names
}

/// Whether the log of a database is small enough to stay one. Everything that was written with a sync
/// counts.
pub(super) fn is_small(database: &Path) -> bool {
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
pub(super) fn set_apart(place: &Path, live: &Path, former: Option<&Path>) -> io::Result<()> {
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
                fs::write(&fresh, &bytes)?;
                fs::File::open(&fresh)?.sync_all()?;
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
pub(super) fn sync(database: &Path) -> io::Result<()> {
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
pub(super) fn begins(database: &Path, other: &Path) -> io::Result<bool> {
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

/// The hash of the names, lengths and bytes of a database's log; `None` where nothing is in it.
///
/// Cost: reads the log.
pub(super) fn fingerprint(database: &Path) -> io::Result<Option<blake3::Hash>> {
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
