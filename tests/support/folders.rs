//! Folders of banks: copies that keep hard links, and their contents.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// Copies a folder as `cp -a` does: a file with several names stays one file. A live database and
/// its published states share their tables in this way.
pub fn copy(from: &Path, to: &Path) {
    let mut linked = HashMap::new();
    fs::create_dir(to).unwrap();
    copy_into(from, to, &mut linked);
}

fn copy_into(from: &Path, to: &Path, linked: &mut HashMap<(u64, u64), PathBuf>) {
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let to = to.join(entry.file_name());
        let about = entry.metadata().unwrap();
        if about.is_dir() {
            fs::create_dir(&to).unwrap();
            copy_into(&entry.path(), &to, linked);
        } else if about.nlink() < 2 {
            fs::copy(entry.path(), to).unwrap();
        } else if let Some(first) = linked.get(&(about.dev(), about.ino())) {
            fs::hard_link(first, to).unwrap();
        } else {
            fs::copy(entry.path(), &to).unwrap();
            linked.insert((about.dev(), about.ino()), to);
        }
    }
}

/// All files under a folder, by their paths within it, in order. The graph image and the file about the
/// last refused batch are left out, since they belong to no state of a bank.
pub fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    let mut folders = vec![folder.to_path_buf()];
    while let Some(next) = folders.pop() {
        for entry in fs::read_dir(next).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() && !path.is_symlink() {
                if path.file_name() != Some("image".as_ref()) {
                    folders.push(path);
                }
            } else if path.file_name() != Some("REFUSED".as_ref()) {
                found.push(path.strip_prefix(folder).unwrap().to_path_buf());
            }
        }
    }
    found.sort();
    found
}

/// A hash of every file under a folder, by the file's path within it.
pub fn contents(folder: &Path) -> BTreeMap<PathBuf, blake3::Hash> {
    let hashed = files(folder).into_iter().map(|path| {
        let bytes = fs::read(folder.join(&path)).unwrap();
        (path, blake3::hash(&bytes))
    });
    hashed.collect()
}

/// What `changes` gives where nothing changed.
pub const NO_FILES: [&Path; 0] = [];

/// The files that are not what they were before: changed, added and gone.
pub fn changes(before: &BTreeMap<PathBuf, blake3::Hash>, folder: &Path) -> Vec<PathBuf> {
    let after = contents(folder);
    let all: BTreeSet<&PathBuf> = before.keys().chain(after.keys()).collect();
    let changed = all
        .into_iter()
        .filter(|path| before.get(*path) != after.get(*path));
    changed.cloned().collect()
}
