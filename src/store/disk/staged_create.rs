//! Making a bank in steps of which nobody sees any before the last is done.

use std::ffi::OsString;
use std::fs::{self, File};
use std::io;
use std::path::Path;

use super::folder::{make_folders, sync_folder};
use crate::error::StoreError;

/// What stands before the name of a bank that is being made beside its place.
const UNFINISHED: &str = ".seedbank-making-";

/// Makes a bank for a folder that does not exist or is empty: `make` makes it in a folder beside that
/// one, which is moved there at the end. What a process that died had begun for the same place is removed
/// first.
pub fn create_staged<T, E: From<StoreError>>(
    path: &Path,
    make: impl FnOnce(&Path) -> Result<T, E>,
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
    let parent = match path.parent() {
        Some(parent) if !parent.as_os_str().is_empty() => parent,
        _ => Path::new("."),
    };
    let Some(name) = path.file_name() else {
        let what = io::Error::new(io::ErrorKind::InvalidInput, "the path ends without a name");
        return Err(StoreError::io("make", path)(what).into());
    };
    make_folders(parent).map_err(StoreError::io("make", parent))?;
    let mut begun = OsString::from(UNFINISHED);
    begun.push(name);
    let place = parent.join(begun);
    // Whoever is at work holds the folder's own lock.
    let lock = begin(&place)?;
    let moved = make(&place).and_then(|report| {
        fs::rename(&place, path).map_err(StoreError::io("make", path))?;
        Ok(report)
    });
    if moved.is_err() {
        // Best effort: the user needs to see the first error.
        let _ = fs::remove_dir_all(&place);
    }
    let report = moved?;
    drop(lock);
    sync_folder(parent).map_err(StoreError::io("write to", parent))?;
    Ok(report)
}

/// Makes an empty folder, and takes its lock.
fn begin(place: &Path) -> Result<File, StoreError> {
    if let Ok(left) = File::open(place) {
        left.try_lock()
            .map_err(|_| StoreError::Busy(place.to_path_buf()))?;
        fs::remove_dir_all(place).map_err(StoreError::io("remove", place))?;
    }
    fs::create_dir(place).map_err(StoreError::io("make", place))?;
    let folder = File::open(place).map_err(StoreError::io("open", place))?;
    folder
        .try_lock()
        .map_err(|_| StoreError::Busy(place.to_path_buf()))?;
    Ok(folder)
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
        // What a process that died left.
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
