//! The entries of a bank's folder: their names, and safe ways to read, replace and remove them.
//!
//! Only regular files of a plausible size are read, so that a pipe or a device in place of a file is an
//! error and not an endless wait. Only entries with names that a bank uses are removed, and never
//! through a symbolic link.

use std::fmt;
use std::fs::{self, File, OpenOptions, Permissions};
use std::io::{self, Read, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use crate::error::StoreError;
use crate::format::upgrade_path;

/// The file that marks a folder as a bank; contains the format version.
pub(crate) const MARKER: &str = "SEEDBANK";

/// The text of the marker before the format version, after the kind of the bank.
const FORMAT_TEXT: &str = ", format ";

/// What a folder with a marker contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BankKind {
    /// A bank in one database.
    Single,
    /// A cluster bank of this many parts.
    Cluster(u32),
    /// A part of a cluster bank, with its number and the number of parts.
    Part(u32, u32),
}

impl fmt::Display for BankKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => write!(f, "seedbank bank"),
            Self::Cluster(parts) => write!(f, "seedbank bank of {parts} parts"),
            Self::Part(number, parts) => write!(f, "seedbank part {number} of {parts}"),
        }
    }
}

impl BankKind {
    fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("seedbank ")?;
        if text == "bank" {
            return Some(Self::Single);
        }
        if let Some(part) = text.strip_prefix("part ") {
            let (number, parts) = part.split_once(" of ")?;
            return Some(Self::Part(number.parse().ok()?, parts.parse().ok()?));
        }
        let parts = text.strip_prefix("bank of ")?;
        Some(Self::Cluster(parts.strip_suffix(" parts")?.parse().ok()?))
    }
}

/// The lock file of the writer.
pub(crate) const WRITER_LOCK: &str = "writer.lock";

/// The file with the last acknowledged state.
pub(crate) const ACKNOWLEDGED: &str = "ACKNOWLEDGED";

/// The marker of an unfinished copy of a bank; contains the epoch of the copied state: `epoch 12`.
pub(crate) const COPYING: &str = "UNFINISHED-COPY";

/// The marker of a bulk load whose intent is about to be written. If the database has no intent, the
/// intent was lost, or the process died before it wrote the intent.
pub(crate) const INGESTING: &str = "INGESTING";

/// The folder that `repair` moves replaced files to.
pub(crate) const DAMAGED: &str = "damaged";

/// The file about the last refused batch.
pub(crate) const REFUSED: &str = "REFUSED";

/// The folder of the graph image. A reader creates it.
pub(crate) const IMAGE: &str = "image";

/// The folder of the parts of a cluster bank after the first.
pub(crate) const PARTS: &str = "parts";

/// The file with the intent of a bulk load of a cluster bank that is not decided yet.
pub(crate) const PREPARED: &str = "PREPARED";

/// The folders of a bank other than the live database.
pub(crate) const FOLDERS: [&str; 4] = ["published", "loads", "spill", "rejects"];

/// The maximum size in bytes of a file that is read as a whole.
const MAX_SMALL_FILE: u64 = 4096;

/// Returns the temporary name that a file has until it is renamed.
pub(crate) fn temporary_name(path: &Path) -> std::path::PathBuf {
    path.with_extension("new")
}

/// Returns whether a bank uses this name in its folder.
pub(crate) fn is_bank_entry(name: &str) -> bool {
    let fixed = [
        MARKER,
        WRITER_LOCK,
        ACKNOWLEDGED,
        REFUSED,
        COPYING,
        DAMAGED,
        IMAGE,
        PARTS,
        "live",
    ];
    let name = name.strip_suffix(".new").unwrap_or(name);
    fixed.contains(&name) || FOLDERS.contains(&name)
}

/// Opens a regular file for reading. Anything else is an error: opening a pipe would block.
pub(crate) fn open_regular(path: &Path) -> io::Result<File> {
    if fs::metadata(path)?.is_file() {
        File::open(path)
    } else {
        Err(invalid("it is not a regular file"))
    }
}

fn invalid(what: &str) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what)
}

/// Reads a regular file of at most 4 KiB.
pub(crate) fn read_small(path: &Path) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    open_regular(path)?
        .take(MAX_SMALL_FILE + 1)
        .read_to_end(&mut bytes)?;
    if bytes.len() as u64 > MAX_SMALL_FILE {
        return Err(invalid("it is too large"));
    }
    Ok(bytes)
}

/// Reads a regular text file of at most 4 KiB.
pub(crate) fn read_text(path: &Path) -> io::Result<String> {
    String::from_utf8(read_small(path)?).map_err(|_| invalid("it is not text"))
}

/// Returns whether the folder contains a database or a published state.
fn has_state(bank: &Path) -> bool {
    ["live/CURRENT", "published/CURRENT"]
        .iter()
        .any(|file| bank.join(file).exists())
}

/// Reads the format version from the marker of a bank; an error unless this build can open or migrate
/// the format, and for a part of a cluster bank.
pub(crate) fn marker_format(bank: &Path) -> Result<u32, StoreError> {
    match marker(bank)? {
        (BankKind::Part(..), _) => Err(StoreError::IsPart(bank.to_path_buf())),
        (_, format) => Ok(format),
    }
}

/// Reads the marker of a bank: its kind and its format version; an error unless this build can open or migrate
/// the format.
pub(crate) fn marker(bank: &Path) -> Result<(BankKind, u32), StoreError> {
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
    let (kind, format) = text.split_once(FORMAT_TEXT).ok_or_else(lost)?;
    let kind = BankKind::parse(kind).ok_or_else(lost)?;
    let found = format.trim().parse().map_err(|_| lost())?;
    match upgrade_path(found) {
        Some(_) => Ok((kind, found)),
        None => Err(StoreError::other_format(bank, found)),
    }
}

/// Durably marks the folder as one in which a bank is being created, until [`write_marker`].
pub(crate) fn begin_marker(bank: &Path) -> Result<(), StoreError> {
    let fresh = temporary_name(&bank.join(MARKER));
    let write = || {
        create_fresh(&fresh)?.sync_all()?;
        sync_folder(bank)
    };
    write().map_err(StoreError::io("write", &fresh))
}

/// Returns whether [`begin_marker`] was called for the folder, but not [`write_marker`].
pub(crate) fn has_begun_marker(bank: &Path) -> bool {
    temporary_name(&bank.join(MARKER)).is_file() && !bank.join(MARKER).exists()
}

/// Marks the folder as a bank of this kind and format.
pub(crate) fn write_marker(bank: &Path, kind: BankKind, format: u32) -> Result<(), StoreError> {
    replace_file(&bank.join(MARKER), format!("{kind}{FORMAT_TEXT}{format}\n"))
}

/// Durably marks the folder as an unfinished copy of the state with this epoch, until [`end_copy`],
/// which follows [`write_marker`].
pub(crate) fn begin_copy(bank: &Path, epoch: u64) -> Result<(), StoreError> {
    replace_file(&bank.join(COPYING), format!("epoch {epoch}\n"))
}

/// Returns the epoch of the state of which the folder has an unfinished copy; `None` if it has none,
/// or has the marker of a bank.
pub(crate) fn copied_epoch(bank: &Path) -> Option<u64> {
    if fs::symlink_metadata(bank.join(MARKER)).is_ok() {
        return None;
    }
    let text = read_text(&bank.join(COPYING)).ok()?;
    text.strip_prefix("epoch ")?.trim_end().parse().ok()
}

/// Removes the mark of [`begin_copy`]. Best effort: the next writer tries again.
pub(crate) fn end_copy(bank: &Path) {
    let path = bank.join(COPYING);
    if fs::symlink_metadata(&path).is_ok_and(|found| found.is_file()) {
        let _ = fs::remove_file(path).and_then(|()| sync_folder(bank));
    }
}

/// Creates a file under a temporary name and replaces a leftover of a killed process. A symbolic link
/// is removed, never followed.
pub(crate) fn create_fresh(path: &Path) -> io::Result<File> {
    match fs::remove_file(path) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    File::create_new(path)
}

/// Opens a file of the bank for writing, with these options; a symbolic link is an error.
pub(crate) fn open_no_follow(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    // The type of the flags differs between operating systems.
    let no_follow = rustix::fs::OFlags::NOFOLLOW.bits();
    options
        .write(true)
        .custom_flags(no_follow.cast_signed())
        .open(path)
}

/// Replaces a small file atomically and durably.
pub(crate) fn replace_file(path: &Path, text: impl AsRef<[u8]>) -> Result<(), StoreError> {
    let fresh = temporary_name(path);
    let write = || {
        let mut file = create_fresh(&fresh)?;
        file.write_all(text.as_ref())?;
        file.sync_all()?;
        fs::rename(&fresh, path)?;
        sync_folder(parent_of(path))
    };
    write().map_err(StoreError::io("write", path))
}

/// Returns the permissions of a file or folder.
pub(crate) fn mode(metadata: &fs::Metadata) -> u32 {
    metadata.permissions().mode() & 0o7777
}

/// Sets the permissions of a folder.
pub(crate) fn set_mode(folder: &Path, mode: u32) -> Result<(), StoreError> {
    fs::set_permissions(folder, Permissions::from_mode(mode))
        .map_err(StoreError::io("set the permissions of", folder))
}

/// Syncs a folder, which makes the names in it durable.
pub(crate) fn sync_folder(folder: &Path) -> io::Result<()> {
    File::open(folder)?.sync_all()
}

/// Returns the folder that contains a path.
pub(crate) fn parent_of(path: &Path) -> &Path {
    let parent = path
        .parent()
        .filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Creates a folder and its missing ancestors, durably.
pub(crate) fn make_folders(folder: &Path) -> io::Result<()> {
    if folder.is_dir() {
        return Ok(());
    }
    let parent = parent_of(folder);
    make_folders(parent)?;
    match fs::create_dir(folder) {
        Err(e) if e.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => {}
        made => made?,
    }
    sync_folder(parent)
}

/// Opens a lock file; creates it if it is missing.
pub(crate) fn lock_file(path: &Path) -> Result<File, StoreError> {
    if fs::symlink_metadata(path).is_ok_and(|found| !found.is_file()) {
        return Err(StoreError::State {
            state: "lock",
            what: format!("{} is not a regular file", path.display()),
        });
    }
    let mut options = OpenOptions::new();
    options.create(true).truncate(false);
    open_no_follow(path, &mut options).map_err(StoreError::io("write", path))
}

/// Returns whether this is a folder and not a symbolic link to one.
pub(crate) fn is_folder(path: &Path) -> bool {
    fs::symlink_metadata(path).is_ok_and(|found| found.is_dir())
}

/// Returns the names in a folder; none if it is a symbolic link or unreadable.
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

/// Returns whether the folder of a bulk load of a state later than `epoch` has the mark
/// [`INGESTING`], so that some of its files may be ingested.
pub(crate) fn may_be_partly_ingested(bank: &Path, epoch: u64) -> bool {
    let loads = bank.join("loads");
    let later = names_in(&loads).into_iter();
    let mut later = later.filter(|name| name.parse().is_ok_and(|number: u64| number > epoch));
    later.any(|name| loads.join(name).join(INGESTING).exists())
}

/// Removes the sorted files of a bulk load, and their second names that RocksDB ingested.
pub(crate) fn clear_load(folder: &Path) -> Result<(), StoreError> {
    for file in names_in(folder) {
        let path = folder.join(&file);
        let is_file = fs::symlink_metadata(&path).is_ok_and(|found| found.is_file());
        let end = path.extension();
        let is_sorted = end.is_some_and(|end| end == "sst" || end == "link");
        if is_file && (is_sorted || [INGESTING, PREPARED].contains(&file.as_str())) {
            fs::remove_file(&path).map_err(StoreError::io("remove", &path))?;
        }
    }
    Ok(())
}

/// Removes the leftovers of bulk loads: sorted files in folders named by a number, and these folders.
/// Anything else does not belong to the bank and stays.
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

/// Removes runs of sorts that a process left which died between creating and unlinking a file.
pub(crate) fn clear_spill(bank: &Path) -> Result<(), StoreError> {
    let spill = bank.join("spill");
    for name in names_in(&spill) {
        let path = spill.join(&name);
        // The prefix of the `tempfile` crate.
        let Ok(found) = fs::symlink_metadata(&path) else {
            continue;
        };
        let removed = match name.starts_with(".tmp") {
            true if found.is_file() => fs::remove_file(&path),
            true if found.is_dir() => fs::remove_dir_all(&path),
            _ => continue,
        };
        removed.map_err(StoreError::io("remove", &path))?;
    }
    Ok(())
}

/// Hard-links a table file, since table files never change; copies any other file.
pub(crate) fn link_or_copy(from: &Path, to: &Path) -> io::Result<()> {
    let is_table = from.extension().is_some_and(|end| end == "sst");
    if is_table && fs::hard_link(from, to).is_ok() {
        return Ok(());
    }
    fs::copy(from, to)?;
    File::open(to)?.sync_all()
}
