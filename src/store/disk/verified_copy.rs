//! Copies of files that are verified after writing.

use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Seek, Write};
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use super::folder::open_regular;
use crate::error::StoreError;
use seedbank_algorithms::watch::{Interrupted, Watch, is_interrupted};

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

#[cfg(test)]
mod tests {
    use super::*;
    use seedbank_algorithms::watch::Unwatched;

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
}
