//! Check that a bank and its backups are in separate folders.

use std::path::{Component, Path, PathBuf};

use crate::error::BackupError;
use crate::error::StoreError;

/// Fails with [`BackupError::Nested`] if one folder contains the other, also through links. Either may be
/// missing.
pub(crate) fn ensure_separate(bank: &Path, folder: &Path) -> Result<(), StoreError> {
    let (real_bank, real_folder) = (resolved(bank)?, resolved(folder)?);
    if real_bank.starts_with(&real_folder) || real_folder.starts_with(&real_bank) {
        let (bank, folder) = (bank.to_path_buf(), folder.to_path_buf());
        return Err(BackupError::Nested { bank, folder }.into());
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
            let nested = ensure_separate(&at(bank), &at(backups));
            assert!(nested.is_err(), "{bank} {backups}");
        }
        for (bank, backups) in [("a/bank", "b"), ("a/bank", "a/ba"), ("new/bank", "new/b")] {
            ensure_separate(&at(bank), &at(backups)).unwrap();
        }
    }
}
