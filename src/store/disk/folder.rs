//! The entries of a bank's folder: their names, and how to read, replace and remove them safely.
//!
//! Only a regular file of a size that fits its kind is read, so that a pipe or a device in its
//! place is an error and not an endless wait. Only an entry with a name that the bank itself gives
//! is removed, and never through a symbolic link.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use crate::error::StoreError;
use crate::format::older_from;

/// The file that makes a folder a bank; it holds the format's number.
pub(crate) const MARKER: &str = "SEEDBANK";

/// What the marker says before the format's number.
const MARKER_TEXT: &str = "seedbank bank, format ";

/// Held by the one writer.
pub(crate) const WRITER_LOCK: &str = "writer.lock";

/// The file that says what was acknowledged.
pub(crate) const ACKNOWLEDGED: &str = "ACKNOWLEDGED";

/// Lies in the folder of a bank that is being copied there, and says of which state the copy is:
/// `epoch 12`.
pub(crate) const COPYING: &str = "UNFINISHED-COPY";

/// Lies among the files of a bulk load from just before its intent is written. Where there is none in the
/// database, the intent was lost, or the process died before it wrote it.
pub(crate) const INGESTING: &str = "INGESTING";

/// Where `repair` puts what it replaces.
pub(crate) const DAMAGED: &str = "damaged";

/// The folders of a bank other than the live database.
pub(crate) const FOLDERS: [&str; 4] = ["published", "loads", "spill", "rejects"];

/// The largest file that is read as a whole, in bytes.
const SMALL: u64 = 4096;

/// The temporary name that a file has until it is renamed into its place.
fn fresh_name(path: &Path) -> std::path::PathBuf {
    path.with_extension("new")
}

/// Whether a name in a bank's folder is one that the bank gives.
pub(crate) fn is_own(name: &str) -> bool {
    let fixed = [MARKER, WRITER_LOCK, ACKNOWLEDGED, COPYING, DAMAGED, "live"];
    let name = name.strip_suffix(".new").unwrap_or(name);
    fixed.contains(&name) || FOLDERS.contains(&name)
}

/// Opens a regular file for reading; opening a pipe would wait for its other end.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        let what = "it is not a regular file";
        Err(io::Error::new(io::ErrorKind::InvalidData, what))
    }
}

/// The bytes of a regular file of at most 4 KiB.
pub(crate) fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?
        .take(SMALL + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > SMALL {
        let what = "it is too large";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(bytes)
}

/// The text of a regular file of at most 4 KiB.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_small(path)?)
        .map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text"))
}

/// Whether a database or a published state is in the folder.
fn has_state(bank: &Path) -> bool {
    ["live/CURRENT", "published/CURRENT"]
        .iter()
        .any(|file| bank.join(file).exists())
}

/// The format in a bank's marker; an error unless it is that of this build or can be migrated to it.
pub(crate) fn marker_format(bank: &Path) -> Result<u32, StoreError> {
    let marker = bank.join(MARKER);
    let lost = || {
        if has_state(bank) {
            StoreError::NoMarker(bank.to_path_buf())
        } else {
            StoreError::NoBank(bank.to_path_buf())
        }
    };
    let text = match read_text(&marker) {
        Ok(text) => text,
        Err(e) if e.kind() == io::ErrorKind::PermissionDenied => {
            return Err(StoreError::io("read", marker)(e));
        }
        Err(_) => return Err(lost()),
    };
    let rest = text.strip_prefix(MARKER_TEXT).ok_or_else(lost)?;
    let found = rest.trim().parse().map_err(|_| lost())?;
    match older_from(found) {
        Some(_) => Ok(found),
        None => Err(StoreError::other_format(bank, found)),
    }
}

/// Notes, durably, that a bank is being made in the folder; [`write_marker`] replaces the note at
/// the end.
pub(crate) fn begin_marker(bank: &Path) -> Result<(), StoreError> {
    let fresh = fresh_name(&bank.join(MARKER));
    let write = || {
        create_fresh(&fresh)?.sync_all()?;
        sync_folder(bank)
    };
    write().map_err(StoreError::io("write", &fresh))
}

/// Whether a bank was being made in the folder, and its marker never written.
pub(crate) fn has_begun_marker(bank: &Path) -> bool {
    fresh_name(&bank.join(MARKER)).is_file() && !bank.join(MARKER).exists()
}

/// Makes the folder a bank of this format.
pub(crate) fn write_marker(bank: &Path, format: u32) -> Result<(), StoreError> {
    replace_file(&bank.join(MARKER), format!("{MARKER_TEXT}{format}\n"))
}

/// Notes, durably, that the state of this epoch is being copied into the folder to make a bank;
/// [`end_copy`] takes the note away after the marker is written.
pub(crate) fn begin_copy(bank: &Path, epoch: u64) -> Result<(), StoreError> {
    replace_file(&bank.join(COPYING), format!("epoch {epoch}\n"))
}

/// The state of which the folder holds a part of a copy; `None` where it is something else, such
/// as a bank with its marker.
pub(crate) fn copied_epoch(bank: &Path) -> Option<u64> {
    if fs::symlink_metadata(bank.join(MARKER)).is_ok() {
        return None;
    }
    let text = read_text(&bank.join(COPYING)).ok()?;
    text.strip_prefix("epoch ")?.trim_end().parse().ok()
}

/// Takes away the note of [`begin_copy`], which says nothing more once there is a marker. Best
/// effort: the next writer tries again.
pub(crate) fn end_copy(bank: &Path) {
    let note = bank.join(COPYING);
    if fs::symlink_metadata(&note).is_ok_and(|found| found.is_file()) {
        let _ = fs::remove_file(note).and_then(|()| sync_folder(bank));
    }
}

/// Creates a file under a temporary name, in the place of one that a process that died left there.
/// A symbolic link under that name is removed and never followed.
pub(crate) fn create_fresh(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    File::create_new(path)
}

/// Opens a regular file of the bank for writing, with these options; a symbolic link is an error.
pub(crate) fn open_unlinked(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // The type of the flags differs between systems.
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits();
    options
        .write(true)
        .custom_flags(no_follow.cast_signed())
        .open(path)
}

/// Replaces a small file in one step that survives a crash.
pub(crate) fn replace_file(path: &Path, text: impl AsRef<[u8]>) -> Result<(), StoreError> {
    let fresh = fresh_name(path);
    let write = || {
        let mut file = create_fresh(&fresh)?;
        file.write_all(text.as_ref())?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        sync_folder(path.parent().unwrap_or(Path::new(".")))
    };
    write().map_err(StoreError::io("write", path))
}

/// Makes the names in a folder durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Makes a folder and those above it where they are missing, and makes their names durable.
pub(crate) fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = match folder.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    make_folders(parent)?;
    match fs::create_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        made => made?,
    }
    sync_folder(parent)
}

/// Opens a lock file, making it where it is missing.
pub(crate) fn lock_file(path: &Path) -> Result<File, StoreError> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(StoreError::State {
            state: "lock",
            what: format!("{} is not a regular file", path.display()),
        });
    }
    let mut options = OpenOptions::new();
    options.create(true).truncate(false);
    open_unlinked(path, &mut options).map_err(StoreError::io("write", path))
}

/// Whether this is a folder and not a link to one.
pub(crate) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// The names in a folder; none where it is a link or cannot be read.
pub(crate) fn names_in(folder: &Path) -> Vec<String> {
    if !is_folder(folder) {
        return Vec::new();
    }
    let Ok(entries) = fs::read_dir(folder) else {
        return Vec::new();
    };
    let names = entries.flatten().map(|entry| entry.file_name());
    names.filter_map(|name| name.into_string().ok()).collect()
}

/// Whether a bulk load of a state later than `epoch` may have been ingested in part, as far as its
/// files tell. Where the database holds no intent, that is lost.
pub(crate) fn may_be_ingested(bank: &Path, epoch: u64) -> bool {
    let loads = bank.join("loads");
    let later = names_in(&loads).into_iter();
    let mut later = later.filter(|name| name.parse().is_ok_and(|number: u64| number > epoch));
    later.any(|name| loads.join(name).join(INGESTING).exists())
}

/// Removes the sorted files of a bulk load, and the links of them that RocksDB was given.
pub(crate) fn clear_load(place: &Path) -> Result<(), StoreError> {
    for file in names_in(place) {
        let path = place.join(&file);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        let end = path.extension();
        let is_sorted = end.is_some_and(|end| end == "sst" || end == "link");
        if is_file && (is_sorted || file == INGESTING) {
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Removes what unfinished bulk loads left: folders named by a number, and the sorted files in
/// them. Anything else does not belong to the bank, and stays.
pub(crate) fn clear_loads(bank: &Path) -> Result<(), StoreError> {
    let loads = bank.join("loads");
    for name in names_in(&loads) {
        let place = loads.join(&name);
        if name.parse::<u64>().is_err() || !is_folder(&place) {
            continue;
        }
        clear_load(&place)?;
        match fs::remove_dir(&place) {
            Err(e) if e.kind() != io::ErrorKind::DirectoryNotEmpty => {
                return Err(StoreError::io("remove", &place)(e));
            }
            _ => {}
        }
    }
    Ok(())
}

/// Removes runs of sorts left by a process that died between making a file and unlinking it.
pub(crate) fn clear_spill(bank: &Path) -> Result<(), StoreError> {
    let spill = bank.join("spill");
    for name in names_in(&spill) {
        let path = spill.join(&name);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        // The prefix that `tempfile` gives.
        if is_file && name.starts_with(".tmp") {
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        }
    }
    Ok(())
}
