//! Check that a bank and its backups are in separate folders.

use std::path::{Component, Path, PathBuf};

use crate::error::BackupError;
use crate::error::StoreError;
use crate::publish::cluster::part_files::part_folder;

/// Fails with [`BackupError::Nested`] if the folder of one of the parts of a bank contains the other folder or is in it,
/// also through links. The bank or the folder may be missing. A bank in one database has one part.
pub(crate) fn ensure_separate(bank: &Path, parts: u32, folder: &Path) -> Result<(), StoreError> {
    let real_folder = resolved(folder)?;
    for part in 0..parts {
        let bank = part_folder(bank, part);
        let real_bank = resolved(&bank)?;
        if real_bank.starts_with(&real_folder) || real_folder.starts_with(&real_bank) {
            let folder = folder.to_path_buf();
            return Err(BackupError::Nested { bank, folder }.into());
        }
    }
    Ok(())
}

/// Resolves symbolic links and dots in a path; parts that do not exist stay as written.
fn resolved(path: &Path) -> Result<PathBuf, StoreError> {
    let absolute = std::path::absolute(path).map_err(StoreError::io("look at", path))?;
    let mut resolved = PathBuf::new();
    for part in absolute.components() {
        match part {
            Component::ParentDir => {
                resolved.pop();
            }
            part => resolved.push(part),
        }
        if let Ok(real) = resolved.canonicalize() {
            resolved = real;
        }
    }
    Ok(resolved)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn folders_one_in_the_other_are_found_through_links_and_dots() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("a/bank")).unwrap();
        fs::create_dir(at("b")).unwrap();
        std::os::unix::fs::symlink(at("a/bank"), at("link")).unwrap();
        for (bank, backups) in [
            ("a/bank", "a/bank"),
            ("a/bank", "a/bank/x/y"),
            ("a/bank", "a"),
            ("a/bank", "link/x"),
            ("link", "a/bank/x"),
            ("a/bank", "b/../a/bank/x"),
            ("new/bank", "new"),
            ("a/bank", "new/../a"),
        ] {
            let nested = ensure_separate(&at(bank), 1, &at(backups));
            assert!(nested.is_err(), "{bank} {backups}");
        }
        for (bank, backups) in [("a/bank", "b"), ("a/bank", "a/ba"), ("new/bank", "new/b")] {
            ensure_separate(&at(bank), 1, &at(backups)).unwrap();
        }
        // Part 1 of a cluster bank is a link to a folder elsewhere.
        fs::create_dir_all(at("c/parts")).unwrap();
        std::os::unix::fs::symlink(at("b"), at("c/parts/001")).unwrap();
        ensure_separate(&at("c"), 1, &at("b/x")).unwrap();
        assert!(ensure_separate(&at("c"), 2, &at("b/x")).is_err());
    }
}
