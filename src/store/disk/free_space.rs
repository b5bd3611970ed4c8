//! Checks of free disk space before writing.

use std::path::Path;

use crate::error::StoreError;

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

#[cfg(test)]
mod tests {
    use super::*;

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
}
