//! Creation of a bank in a staging folder that is renamed at the end.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::folder::{make_folders, parent_of, sync_folder};
use crate::disk::lock::Lock;
use crate::error::StoreError;

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
    let busy = |_| StoreError::Busy(path.to_path_buf());
    if let Ok(leftover) = File::open(path) {
        let _lock = Lock::try_exclusive(leftover).map_err(busy)?;
        fs::remove_dir_all(path).map_err(StoreError::io("remove", path))?;
    }
    fs::create_dir(path).map_err(StoreError::io("make", path))?;
    let folder = File::open(path).map_err(StoreError::io("open", path))?;
    Lock::try_exclusive(folder).map_err(busy)
}

#[cfg(test)]
mod tests {
    use super::*;

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
