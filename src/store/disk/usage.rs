//! How much room a bank's folder takes on disk.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt;
use std::path::Path;

use crate::error::StoreError;

/// The unit of a file's room on disk, whatever the size of the file system's own blocks.
const BLOCK: u64 = 512;

/// Bytes on disk of everything in a folder, as `du` counts them: a file with several names once, no
/// link followed. What goes away meanwhile does not count.
///
/// Cost: a look at each file.
pub fn room(folder: &Path) -> Result<u64, StoreError> {
    let mut bytes = 0;
    let mut seen = HashSet::new();
    let mut places = vec![folder.to_path_buf()];
    while let Some(place) = places.pop() {
        let about = match fs::symlink_metadata(&place) {
            Ok(about) => about,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(StoreError::io("read", &place)(e)),
        };
        if about.nlink() < 2 || about.is_dir() || seen.insert((about.dev(), about.ino())) {
            bytes += about.blocks() * BLOCK;
        }
        if !about.is_dir() {
            continue;
        }
        let entries = match fs::read_dir(&place) {
            Ok(entries) => entries,
            Err(e) if e.kind() == io::ErrorKind::NotFound => continue,
            Err(e) => return Err(StoreError::io("read", &place)(e)),
        };
        places.extend(entries.flatten().map(|entry| entry.path()));
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
        let empty = room(folder.path()).unwrap();
        fs::create_dir(path("inner")).unwrap();
        let with_inner = room(folder.path()).unwrap();
        fs::write(path("a"), vec![7; 100_000]).unwrap();
        let with_a = room(folder.path()).unwrap();
        assert!(with_a >= with_inner + 100_000 && with_inner >= empty);
        fs::hard_link(path("a"), path("inner/b")).unwrap();
        assert_eq!(room(folder.path()).unwrap(), with_a);
        // What a link leads to is not in the folder.
        std::os::unix::fs::symlink("/", path("inner/c")).unwrap();
        assert!(room(folder.path()).unwrap() < with_a + 10_000);
        assert_eq!(room(&path("none")).unwrap(), 0);
    }
}
