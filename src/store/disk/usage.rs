//! Disk usage of a folder.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::StoreError;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
