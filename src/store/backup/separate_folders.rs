//! Where folders really are, links followed: a bank and its backups must not lie one in the other.

use std::path::{Component, Path, PathBuf};

use crate::error::BackupError;
use crate::error::StoreError;

/// Fails with [`BackupError::Nested`] unless neither folder lies in the other. Either may be missing.
pub(crate) fn are_apart(bank: &Path, folder: &Path) -> Result<(), StoreError> {
    let (of_bank, of_folder) = (resolved(bank)?, resolved(folder)?);
    if of_bank.starts_with(&of_folder) || of_folder.starts_with(&of_bank) {
        let (bank, folder) = (bank.to_path_buf(), folder.to_path_buf());
        return Err(BackupError::Nested { bank, folder }.into());
    }
    Ok(())
}

/// A path without links and dots; what does not exist of it is as it is written.
fn resolved(path: &Path) -> Result<PathBuf, StoreError> {
    let whole = std::path::absolute(path).map_err(StoreError::io("look at", path))?;
    let mut known = PathBuf::new();
    for part in whole.components() {
        match part {
            Component::ParentDir => {
                known.pop();
            }
            part => known.push(part),
        }
        if let Ok(real) = known.canonicalize() {
            known = real;
        }
    }
    Ok(known)
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
            let nested = are_apart(&at(bank), &at(backups));
            assert!(nested.is_err(), "{bank} {backups}");
        }
        for (bank, backups) in [("a/bank", "b"), ("a/bank", "a/ba"), ("new/bank", "new/b")] {
            are_apart(&at(bank), &at(backups)).unwrap();
        }
    }
}
