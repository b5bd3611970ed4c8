//! Files and folders outside the database: safe access, locks, verified copies and disk space.

use std::collections::HashSet;
use std::ffi::OsString;
use std::fs::{self, File, OpenOptions, Permissions, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::error::{StoreError, is_file_damage, is_refusal};
use seedbank_algorithms::watch::{Interrupted, Watch, is_interrupted};

// The entries of a bank's folder: their names, and safe ways to read, replace and remove them.
//
// Only regular files of a plausible size are read, so that a pipe or a device in place of a file is an
// error and not an endless wait. Only entries with names that a bank uses are removed, and never
// through a symbolic link.

/// The file that marks a folder as a bank; contains the format.
pub(crate) const MARKER: &str = "SEEDBANK";

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

/// A file that shows what the file system can do.
pub(crate) const PROBE: &str = "probe";

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
        PROBE,
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

/// Durably marks the folder as an unfinished copy of the state with this epoch, until [`end_copy`],
/// which follows the marker.
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

/// Creates a file under a temporary name and replaces a leftover of a killed process, also a folder. A symbolic link
/// is removed, never followed.
pub(crate) fn create_fresh(path: &Path) -> io::Result<File> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        _ => fs::remove_file(path),
    };
    match removed {
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

/// Syncs a folder, which makes the names in it durable. Some file systems, such as CIFS, cannot sync folders (`EINVAL`); this
/// is reported once, and nothing can be done about it.
pub fn sync_folder(folder: &Path) -> io::Result<()> {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    match File::open(folder)?.sync_all() {
        Err(e) if e.raw_os_error() == Some(rustix::io::Errno::INVAL.raw_os_error()) => {
            if !REPORTED.swap(true, Ordering::Relaxed) {
                tracing::warn!(
                    "the file system cannot sync folders, such as {}: a power cut may undo the last command",
                    folder.display()
                );
            }
            Ok(())
        }
        synced => synced,
    }
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

/// Returns whether something has this name, also a symbolic link that leads nowhere.
pub(crate) fn exists(path: &Path) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(_) => Ok(true),
        Err(e) if is_file_damage(&e) => Ok(false),
        Err(e) => Err(e),
    }
}

/// Returns the names in a folder; none if it is missing, a file or a symbolic link.
pub(crate) fn names_in(folder: &Path) -> io::Result<Vec<String>> {
    let mut names = Vec::new();
    if exists(folder)? && is_folder(folder) {
        for entry in fs::read_dir(folder)? {
            names.extend(entry?.file_name().into_string().ok());
        }
    }
    Ok(names)
}

/// As [`names_in`], for callers that need all names.
pub(crate) fn list(folder: &Path) -> Result<Vec<String>, StoreError> {
    names_in(folder).map_err(StoreError::io("read", folder))
}

/// Returns whether the folder of a bulk load of a state later than `epoch` has the mark
/// [`INGESTING`], so that some of its files may be ingested.
pub(crate) fn may_be_partly_ingested(bank: &Path, epoch: u64) -> Result<bool, StoreError> {
    let loads = bank.join("loads");
    for name in list(&loads)? {
        let mark = loads.join(&name).join(INGESTING);
        let is_later = name.parse().is_ok_and(|number: u64| number > epoch);
        if is_later && exists(&mark).map_err(StoreError::io("look at", &mark))? {
            return Ok(true);
        }
    }
    Ok(false)
}

/// Removes the sorted files of a bulk load, and their second names that RocksDB ingested.
pub(crate) fn clear_load(folder: &Path) -> Result<(), StoreError> {
    for file in list(folder)? {
        let path = folder.join(&file);
        let end = path.extension();
        let is_sorted = end.is_some_and(|end| end == "sst" || end == "link");
        if is_sorted || [INGESTING, PREPARED].contains(&file.as_str()) {
            remove_leftover(&path)?;
        }
    }
    Ok(())
}

/// Removes a file or folder that an interrupted process left, if there is one. A link belongs to somebody else, and stays.
pub(crate) fn remove_leftover(path: &Path) -> Result<(), StoreError> {
    let removed = match fs::symlink_metadata(path) {
        Ok(found) if found.is_file() => fs::remove_file(path),
        // In the place of a file too: what is left there must not keep the next process from its work.
        Ok(found) if found.is_dir() => fs::remove_dir_all(path),
        _ => return Ok(()),
    };
    removed.map_err(StoreError::io("remove", path))
}

/// Removes the leftovers of bulk loads: sorted files in folders named by a number, and these folders.
/// Anything else does not belong to the bank and stays.
pub(crate) fn clear_loads(bank: &Path) -> Result<(), StoreError> {
    let loads = bank.join("loads");
    for name in list(&loads)? {
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
    for name in list(&spill)? {
        // The prefix of the `tempfile` crate.
        if name.starts_with(".tmp") {
            remove_leftover(&spill.join(&name))?;
        }
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

/// The time between two attempts to take a lock.
const RETRY_INTERVAL: Duration = Duration::from_millis(100);

/// The time that a lock must be held before it counts as held. A probe holds it for a moment, and so
/// does a child process between its fork and its exec if its parent, the holder, was killed.
pub(crate) const LOCK_GRACE: Duration = Duration::from_millis(100);

/// A lock on a file. It is released once the last clone is dropped.
#[derive(Clone)]
pub(crate) struct Lock(Arc<LockedFile>);

impl Lock {
    /// Takes an exclusive lock; fails if another process holds one.
    pub(crate) fn try_exclusive(file: File) -> Result<Self, TryLockError> {
        file.try_lock()?;
        Ok(Self(Arc::new(LockedFile(file))))
    }

    /// Takes a shared lock; fails if another process holds an exclusive one.
    pub(crate) fn try_shared(file: File) -> Result<Self, TryLockError> {
        file.try_lock_shared()?;
        Ok(Self(Arc::new(LockedFile(file))))
    }

    /// Takes a shared lock; waits for the holder of an exclusive one.
    pub(crate) fn shared(file: File) -> io::Result<Self> {
        loop {
            match file.lock_shared() {
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                locked => return locked.map(|()| Self(Arc::new(LockedFile(file)))),
            }
        }
    }

    /// Takes an exclusive lock; `None` if another process holds one for longer than [`LOCK_GRACE`]. With
    /// `wait` it waits for the holder instead. Errors name `path`.
    pub(crate) fn exclusive(
        file: File,
        path: &Path,
        wait: bool,
        watch: &dyn Watch,
    ) -> Result<Option<Self>, StoreError> {
        let start = Instant::now();
        loop {
            match file.try_lock() {
                Ok(()) => return Ok(Some(Self(Arc::new(LockedFile(file))))),
                Err(TryLockError::WouldBlock) => {}
                Err(TryLockError::Error(e)) => return Err(StoreError::locking(path)(e)),
            }
            watch.proceed()?;
            if start.elapsed() < LOCK_GRACE {
                std::thread::sleep(LOCK_GRACE / 50);
            } else if wait {
                std::thread::sleep(RETRY_INTERVAL);
            } else {
                return Ok(None);
            }
        }
    }

    /// Returns the locked file.
    pub(crate) fn file(&self) -> &File {
        &self.0.0
    }
}

/// A file that is unlocked when it is dropped. To close it is not enough: a child process that another
/// thread forks has the same open file until its exec.
struct LockedFile(File);

impl Drop for LockedFile {
    fn drop(&mut self) {
        // If this fails, the lock ends when the last process closes the file.
        let _ = self.0.unlock();
    }
}

/// Fails with [`StoreError::FileSystem`] if the file system of `folder` lacks what a bank needs: replacing a file, and
/// syncing a folder, without which RocksDB opens no database. Reports once that it has no hard links: then files are copied.
/// Messages name `bank`. Locks need no probe, since the caller holds one.
///
/// Cost: some ten system calls. What a killed process leaves is replaced by the next probe.
pub(crate) fn probe(folder: &Path, bank: &Path) -> Result<(), StoreError> {
    static REPORTED: AtomicBool = AtomicBool::new(false);
    let file = folder.join(PROBE);
    let fresh = temporary_name(&file);
    let made = create_fresh(&file).and_then(|_| create_fresh(&fresh));
    made.map_err(StoreError::io("write", &file))?;
    let replaced = fs::rename(&fresh, &file);
    let linked = fs::hard_link(&file, &fresh);
    let synced = File::open(folder).and_then(|folder| folder.sync_all());
    // Best effort: the next probe replaces them.
    let _ = fs::remove_file(&file);
    let _ = fs::remove_file(&fresh);
    for (done, lacks) in [
        (replaced, "replace a file by another"),
        (synced, "sync a folder"),
    ] {
        match done {
            Err(source) if is_refusal(&source) => {
                let path = bank.to_path_buf();
                return Err(StoreError::FileSystem {
                    lacks,
                    path,
                    source,
                });
            }
            // Another error is that of the operation that meets it next.
            _ => {}
        }
    }
    let has_no_links = linked.is_err_and(|e| is_refusal(&e));
    if has_no_links && !REPORTED.swap(true, Ordering::Relaxed) {
        tracing::warn!(
            "the file system of {} makes no hard links: files are copied, which takes more time and space",
            bank.display()
        );
    }
    Ok(())
}

/// The maximum overhead of a file in bytes: the unused part of its last block, and its name.
const FILE_OVERHEAD: u64 = 8 << 10;

/// Fails with [`StoreError::InsufficientSpace`] if the file system of an existing folder has no space
/// for this number of files with this number of bytes in total.
pub(crate) fn ensure_free_space(folder: &Path, files: u64, bytes: u64) -> Result<(), StoreError> {
    let stat = rustix::fs::statvfs(folder)
        .map_err(|e| StoreError::io("look at the file system of", folder)(e.into()))?;
    let free = stat.f_bavail.saturating_mul(stat.f_frsize);
    let needed = bytes.saturating_add(files.saturating_mul(FILE_OVERHEAD));
    if needed <= free {
        return Ok(());
    }
    Err(StoreError::InsufficientSpace {
        path: folder.to_path_buf(),
        needed,
        free,
    })
}

/// The unit of [`MetadataExt::blocks`] in bytes.
const BLOCK_BYTES: u64 = 512;

/// Returns the bytes on disk of everything in a folder, as `du` counts them: a file with several names
/// once, symbolic links not followed. Ignores files that disappear meanwhile.
///
/// Cost: reads the metadata of each file.
pub fn disk_usage(folder: &Path) -> Result<u64, StoreError> {
    let mut bytes = 0;
    let mut seen = HashSet::new();
    let mut paths = vec![folder.to_path_buf()];
    while let Some(path) = paths.pop() {
        let metadata = match fs::symlink_metadata(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            metadata => metadata.map_err(StoreError::io("read", &path))?,
        };
        let file = (metadata.dev(), metadata.ino());
        if metadata.nlink() < 2 || metadata.is_dir() || seen.insert(file) {
            bytes += metadata.blocks() * BLOCK_BYTES;
        }
        if !metadata.is_dir() {
            continue;
        }
        let entries = match fs::read_dir(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            entries => entries.map_err(StoreError::io("read", &path))?,
        };
        paths.extend(entries.flatten().map(|entry| entry.path()));
    }
    Ok(bytes)
}

/// The number of bytes read at a time.
const PIECE: usize = 1 << 20;

/// The hash and the length of a file.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Content {
    pub(crate) hash: blake3::Hash,
    pub(crate) bytes: u64,
}

/// Reads a file to its end and calls `each` with each piece.
fn each_piece(
    path: &Path,
    file: &mut dyn Read,
    watch: &dyn Watch,
    mut each: impl FnMut(&[u8]) -> Result<(), StoreError>,
) -> Result<Content, StoreError> {
    let mut hasher = blake3::Hasher::new();
    let mut bytes = 0;
    let mut buffer = vec![0; PIECE];
    loop {
        watch.proceed()?;
        let read = match file.read(&mut buffer) {
            Ok(0) => break,
            Ok(read) => read,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            // Reads over the network end when the watch says so.
            Err(e) if is_interrupted(&e) => return Err(Interrupted.into()),
            Err(e) => return Err(StoreError::io("read", path)(e)),
        };
        hasher.update(&buffer[..read]);
        each(&buffer[..read])?;
        bytes += read as u64;
    }
    let hash = hasher.finalize();
    Ok(Content { hash, bytes })
}

/// Reads and hashes a file. Reports each byte as progress.
pub(crate) fn hash_file(path: &Path, watch: &dyn Watch) -> Result<Content, StoreError> {
    let mut file = open_regular(path).map_err(StoreError::io("read", path))?;
    hash_reader(path, &mut file, watch)
}

/// As [`hash_file`] for an open file; `path` is its name for messages.
pub(crate) fn hash_reader(
    path: &Path,
    file: &mut dyn Read,
    watch: &dyn Watch,
) -> Result<Content, StoreError> {
    each_piece(path, file, watch, |piece| {
        watch.advance(piece.len() as u64);
        Ok(())
    })
}

/// Reads and hashes a file, and writes its bytes. Reports each byte as progress.
pub(crate) fn hash_and_write(
    from: &Path,
    to: &Path,
    writer: &mut dyn Write,
    watch: &dyn Watch,
) -> Result<Content, StoreError> {
    let mut file = open_regular(from).map_err(StoreError::io("read", from))?;
    each_piece(from, &mut file, watch, |piece| {
        writer
            .write_all(piece)
            .map_err(StoreError::io("write", to))?;
        watch.advance(piece.len() as u64);
        Ok(())
    })
}

/// Copies a file to a path that must not exist, with these permissions. The copy is hashed while it is
/// written, synced, read back from the disk, and compared. Reports each written byte as progress. If
/// this fails, it removes the incomplete copy.
pub(crate) fn copy(
    from: &Path,
    to: &Path,
    mode: u32,
    watch: &dyn Watch,
) -> Result<Content, StoreError> {
    let mut source = open_regular(from).map_err(StoreError::io("read", from))?;
    copy_reader(from, &mut source, to, mode, watch)
}

/// As [`copy`] from an open file; `from` is its name for messages.
pub(crate) fn copy_reader(
    from: &Path,
    source: &mut dyn Read,
    to: &Path,
    mode: u32,
    watch: &dyn Watch,
) -> Result<Content, StoreError> {
    // Nobody else may read the file before it has its final permissions.
    let mut options = OpenOptions::new();
    options.read(true).write(true).create_new(true).mode(0o600);
    let mut file = options.open(to).map_err(StoreError::io("write", to))?;
    let copied = copy_into(from, source, to, &mut file, mode, watch);
    if copied.is_err() {
        // Best effort: the first error matters more.
        let _ = fs::remove_file(to);
    }
    copied
}

fn copy_into(
    from: &Path,
    source: &mut dyn Read,
    to: &Path,
    file: &mut File,
    mode: u32,
    watch: &dyn Watch,
) -> Result<Content, StoreError> {
    let read = each_piece(from, source, watch, |piece| {
        file.write_all(piece).map_err(StoreError::io("write", to))?;
        watch.advance(piece.len() as u64);
        Ok(())
    })?;
    file.set_permissions(fs::Permissions::from_mode(mode))
        .and_then(|()| file.sync_all())
        .map_err(StoreError::io("write", to))?;
    drop_from_cache(file);
    file.rewind().map_err(StoreError::io("read back", to))?;
    let written = each_piece(to, file, watch, |_| Ok(()))?;
    if written == read {
        return Ok(read);
    }
    let error = io::Error::new(
        io::ErrorKind::InvalidData,
        "the disk returns other bytes than were written",
    );
    Err(StoreError::io("read back", to)(error))
}

/// Asks the operating system to drop a synced file from its cache, so that reading it back reads the
/// disk. Without that support, reading back reads the cache.
fn drop_from_cache(file: &File) {
    #[cfg(any(target_os = "linux", target_os = "android", target_os = "freebsd"))]
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::DontNeed);
    #[cfg(not(any(target_os = "linux", target_os = "android", target_os = "freebsd")))]
    let _ = file;
}

/// The prefix of the name of a staging folder.
const STAGING_PREFIX: &str = ".seedbank-making-";

/// Creates a bank in a folder that does not exist or is empty: `create` creates it in a staging folder
/// next to `path`, which is renamed at the end. The staging folder of a killed process for the same path is
/// removed first.
pub fn create_staged<T, E: From<StoreError>>(
    path: &Path,
    create: impl FnOnce(&Path) -> Result<T, E>,
) -> Result<T, E> {
    match fs::read_dir(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        Err(e) if e.kind() == io::ErrorKind::NotADirectory => {
            return Err(StoreError::Occupied(path.to_path_buf()).into());
        }
        Err(e) => return Err(StoreError::io("read", path)(e).into()),
        Ok(mut entries) => {
            if entries.next().is_some() {
                return Err(StoreError::Occupied(path.to_path_buf()).into());
            }
        }
    }
    let parent = parent_of(path);
    let Some(name) = path.file_name() else {
        let what = io::Error::new(io::ErrorKind::InvalidInput, "the path ends without a name");
        return Err(StoreError::io("make", path)(what).into());
    };
    make_folders(parent).map_err(StoreError::io("make", parent))?;
    let mut staging = OsString::from(STAGING_PREFIX);
    staging.push(name);
    let staging = parent.join(staging);
    // The process at work holds a lock on the staging folder itself.
    let lock = create_locked(&staging)?;
    let created = create(&staging).and_then(|report| {
        fs::rename(&staging, path).map_err(StoreError::io("make", path))?;
        Ok(report)
    });
    if created.is_err() {
        // Best effort: the first error matters more.
        let _ = fs::remove_dir_all(&staging);
    }
    let report = created?;
    drop(lock);
    sync_folder(parent).map_err(StoreError::io("write to", parent))?;
    Ok(report)
}

/// Creates an empty folder and locks it.
fn create_locked(path: &Path) -> Result<Lock, StoreError> {
    let busy = |e| match e {
        TryLockError::WouldBlock => StoreError::Busy(path.to_path_buf()),
        TryLockError::Error(e) => StoreError::locking(path)(e),
    };
    match File::open(path) {
        Err(e) if e.kind() == io::ErrorKind::NotFound => {}
        leftover => {
            let leftover = leftover.map_err(StoreError::io("open", path))?;
            let _lock = Lock::try_exclusive(leftover).map_err(busy)?;
            fs::remove_dir_all(path).map_err(StoreError::io("remove", path))?;
        }
    }
    fs::create_dir(path).map_err(StoreError::io("make", path))?;
    let folder = File::open(path).map_err(StoreError::io("open", path))?;
    Lock::try_exclusive(folder).map_err(busy)
}

/// Returns a folder for the bank of a unit test, in memory if the system has such a place, since every commit waits for the
/// disk.
#[cfg(test)]
pub(crate) fn scratch() -> tempfile::TempDir {
    tempfile::tempdir_in("/dev/shm").unwrap_or_else(|_| tempfile::tempdir().unwrap())
}

#[cfg(test)]
mod tests {
    use super::*;
    use seedbank_algorithms::watch::Unwatched;

    fn open(path: &Path) -> File {
        File::create(path).unwrap()
    }

    /// A child process that was forked has the open file of its parent, as a duplicate has.
    #[test]
    fn a_dropped_lock_is_free_although_a_child_process_has_the_open_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let file = open(&path);
        let of_child = file.try_clone().unwrap();
        let lock = Lock::try_exclusive(file).unwrap();
        assert!(Lock::try_exclusive(open(&path)).is_err());
        drop(lock);
        let lock = Lock::try_exclusive(open(&path)).unwrap();
        drop((lock, of_child));

        let file = open(&path);
        let of_child = file.try_clone().unwrap();
        let lock = Lock::shared(file).unwrap();
        assert!(Lock::try_exclusive(open(&path)).is_err());
        drop(lock);
        assert!(Lock::try_exclusive(open(&path)).is_ok());
        drop(of_child);
    }

    #[test]
    fn a_lock_is_held_until_the_last_clone_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("lock");
        let lock = Lock::try_exclusive(open(&path)).unwrap();
        drop(lock.clone());
        assert!(Lock::try_shared(open(&path)).is_err());
        drop(lock);
        assert!(Lock::try_shared(open(&path)).is_ok());
    }

    #[test]
    fn what_no_disk_has_is_refused_with_the_numbers() {
        let folder = tempfile::tempdir().unwrap();
        ensure_free_space(folder.path(), 1, 1).unwrap();
        let error = ensure_free_space(folder.path(), 1, 1 << 60).unwrap_err();
        let StoreError::InsufficientSpace { needed, free, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(needed, (1 << 60) + FILE_OVERHEAD);
        assert!(free > 0 && free < needed);
    }

    #[test]
    fn a_file_counts_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        let empty = disk_usage(folder.path()).unwrap();
        fs::create_dir(path("inner")).unwrap();
        let with_inner = disk_usage(folder.path()).unwrap();
        fs::write(path("a"), vec![7; 100_000]).unwrap();
        let with_a = disk_usage(folder.path()).unwrap();
        assert!(with_a >= with_inner + 100_000 && with_inner >= empty);
        fs::hard_link(path("a"), path("inner/b")).unwrap();
        assert_eq!(disk_usage(folder.path()).unwrap(), with_a);
        // The target of a symbolic link is not in the folder.
        std::os::unix::fs::symlink("/", path("inner/c")).unwrap();
        assert!(disk_usage(folder.path()).unwrap() < with_a + 10_000);
        assert_eq!(disk_usage(&path("none")).unwrap(), 0);
    }

    #[test]
    fn a_copy_has_the_bytes_and_the_permissions() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        let bytes = vec![7; 3 * PIECE + 5];
        fs::write(&from, &bytes).unwrap();
        let copied = copy(&from, &to, 0o640, &Unwatched).unwrap();
        assert_eq!(copied.hash, blake3::hash(&bytes));
        assert_eq!(copied.bytes, bytes.len() as u64);
        assert_eq!(fs::read(&to).unwrap(), bytes);
        let mode = fs::metadata(&to).unwrap().permissions().mode();
        assert_eq!(mode & 0o7777, 0o640);
        assert_eq!(hash_file(&to, &Unwatched).unwrap(), copied);
        // What is there is not replaced, and not removed either.
        copy(&from, &to, 0o640, &Unwatched).unwrap_err();
        assert_eq!(fs::read(&to).unwrap(), bytes);
    }

    /// Stops the work at the third look.
    struct Soon(std::sync::atomic::AtomicU32);

    impl Watch for Soon {
        fn stopped(&self) -> bool {
            self.0.fetch_add(1, std::sync::atomic::Ordering::Relaxed) >= 2
        }
    }

    #[test]
    fn what_is_stopped_leaves_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let (from, to) = (folder.path().join("from"), folder.path().join("to"));
        fs::write(&from, vec![7; 3 * PIECE]).unwrap();
        let stopped = copy(&from, &to, 0o600, &Soon(0.into())).unwrap_err();
        assert!(matches!(stopped, StoreError::Interrupted(Interrupted)));
        assert!(!to.exists());
    }

    #[test]
    fn a_leftover_of_any_kind_is_replaced() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("file");
        let fresh = temporary_name(&path);
        fs::create_dir_all(fresh.join("folder")).unwrap();
        replace_file(&path, "text").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"text");
        // A link is removed, and what it leads to stays.
        std::os::unix::fs::symlink(&path, &fresh).unwrap();
        replace_file(&path, "other").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"other");
        for name in [PROBE, "probe.new"] {
            fs::create_dir(folder.path().join(name)).unwrap();
            probe(folder.path(), folder.path()).unwrap();
        }
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn it_is_there_whole_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bank");
        let fill = |place: &Path| {
            assert!(!place.join("left").exists());
            fs::write(place.join("file"), "x").map_err(StoreError::io("write", place))
        };
        // The leftovers of a killed process.
        let left = folder.path().join(".seedbank-making-bank");
        fs::create_dir(&left).unwrap();
        fs::write(left.join("left"), "").unwrap();
        let failed: Result<(), StoreError> = create_staged(&path, |place| {
            fill(place)?;
            assert!(!path.exists());
            Err(StoreError::Full("batch"))
        });
        assert!(failed.is_err());
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
        fs::create_dir(&path).unwrap();
        create_staged(&path, fill).unwrap();
        assert_eq!(fs::read(path.join("file")).unwrap(), b"x");
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        let again = create_staged(&path, fill);
        assert!(matches!(again, Err(StoreError::Occupied(_))));
    }
}
