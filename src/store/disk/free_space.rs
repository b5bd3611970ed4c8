//! Whether a file system has room for what is to be written, asked before the first byte is.

use std::path::Path;

use crate::error::StoreError;

/// What a file takes beyond its bytes, at most: its last block is not full, and it has a name.
const FOR_EACH_FILE: u64 = 8 << 10;

/// Fails with [`StoreError::InsufficientSpace`] where the file system of a folder, which exists, has less room
/// than so many files of so many bytes together take.
pub(crate) fn has_room(folder: &Path, files: u64, bytes: u64) -> Result<(), StoreError> {
    let about = rustix::fs::statvfs(folder)
        .map_err(|e| StoreError::io("look at the file system of", folder)(e.into()))?;
    let free = about.f_bavail.saturating_mul(about.f_frsize);
    let needed = bytes.saturating_add(files.saturating_mul(FOR_EACH_FILE));
    if needed <= free {
        return Ok(());
    }
    Err(StoreError::InsufficientSpace {
        path: folder.to_path_buf(),
        needed,
        free,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_no_disk_has_is_refused_with_the_numbers() {
        let folder = tempfile::tempdir().unwrap();
        has_room(folder.path(), 1, 1).unwrap();
        let error = has_room(folder.path(), 1, 1 << 60).unwrap_err();
        let StoreError::InsufficientSpace { needed, free, .. } = error else {
            panic!("{error}");
        };
        assert_eq!(needed, (1 << 60) + FOR_EACH_FILE);
        assert!(free > 0 && free < needed);
    }
}
