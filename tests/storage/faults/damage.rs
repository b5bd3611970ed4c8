//! Random damage to one file, or to one part, that a command left.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::processes::{PARTS, part};
use crate::support::folders::{copy, files};

/// Groups of files; one is chosen before a file, so that the few files that matter are hit as often
/// as the many tables.
const GROUPS: [fn(&Path, bool) -> bool; 7] = [
    |path, _| has(path, "loads/"),
    |path, _| has(path, "live/MANIFEST") || path.ends_with("live/CURRENT"),
    |path, _| has(path, "live/") && path.extension().is_some_and(|end| end == "log"),
    |path, _| path.ends_with("published/CURRENT"),
    |path, _| path.ends_with("ACKNOWLEDGED"),
    |path, is_changed| is_changed && path.extension().is_some_and(|end| end == "sst"),
    |_, is_changed| is_changed,
];

fn has(path: &Path, part: &str) -> bool {
    path.to_str().unwrap().contains(part)
}

fn pick<'a, T>(rng: &mut Pcg64Mcg, of: &'a [T]) -> &'a T {
    &of[rng.random_range(0..of.len())]
}

/// Damages one file below `disk`, of those whose paths are accepted by `may_be`; `before` is the disk as it
/// was before the command. Returns the file's path and what was done, or `None` if
/// there was nothing to do.
pub fn strike(
    rng: &mut Pcg64Mcg,
    disk: &Path,
    before: &Path,
    may_be: impl Fn(&str) -> bool,
) -> Option<(PathBuf, String)> {
    let mut all = files(disk);
    all.retain(|path| may_be(path.to_str().unwrap()));
    if all.is_empty() {
        return None;
    }
    let loads = Path::new("bank/loads");
    if may_be("bank/loads/") && disk.join(loads).is_dir() && rng.random_bool(0.04) {
        fs::remove_dir_all(disk.join(loads)).unwrap();
        return Some((loads.to_path_buf(), "deleted".to_owned()));
    }
    if let Some(done) = replace_part(rng, disk, before, &may_be) {
        return Some(done);
    }
    // If a group has no file, all files are used.
    let group = pick(rng, &GROUPS);
    let is_changed = |path: &PathBuf| {
        let (now, before) = (disk.join(path), before.join(path));
        let about = |path: &Path| fs::metadata(path).ok().map(|found| found.len());
        about(&now) != about(&before) || fs::read(now).ok() != fs::read(before).ok()
    };
    let chosen: Vec<&PathBuf> = all
        .iter()
        .filter(|path| group(path, is_changed(path)))
        .collect();
    let path: PathBuf = if chosen.is_empty() || rng.random_bool(0.1) {
        pick(rng, &all).clone()
    } else {
        (*pick(rng, &chosen)).clone()
    };
    let done = hit(rng, &disk.join(&path), &before.join(&path))?;
    Some((path, done))
}

/// Replaces one part of a cluster bank, in one case of twelve, by what it was before the command.
fn replace_part(
    rng: &mut Pcg64Mcg,
    disk: &Path,
    before: &Path,
    may_be: impl Fn(&str) -> bool,
) -> Option<(PathBuf, String)> {
    let number = rng.random_range(0..12 * PARTS);
    let bank = Path::new("bank");
    if number >= PARTS || !may_be("bank/parts/") || !disk.join(bank).join("parts").exists() {
        return None;
    }
    let path = part(bank, number);
    let (now, before) = (disk.join(&path), before.join(&path));
    let aside = disk.join("aside");
    fs::rename(&now, &aside).unwrap();
    copy(&before, &now);
    if number == 0 {
        // The other parts are in the folder of the first one.
        fs::remove_dir_all(now.join("parts")).unwrap();
        fs::rename(aside.join("parts"), now.join("parts")).unwrap();
    }
    fs::remove_dir_all(aside).unwrap();
    Some((path, "(a part) as before the command".to_owned()))
}

/// Damages this file; `older` is where it was before the command, if it was there.
fn hit(rng: &mut Pcg64Mcg, at: &Path, older: &Path) -> Option<String> {
    let bytes = fs::read(at).ok()?;
    let mut changed = bytes.clone();
    let done = match rng.random_range(0..12) {
        0..3 => {
            fs::remove_file(at).unwrap();
            return Some("deleted".to_owned());
        }
        3 => {
            fs::remove_file(at).unwrap();
            fs::create_dir(at).unwrap();
            return Some("made a folder".to_owned());
        }
        4..6 if !bytes.is_empty() => {
            let mut kept = rng.random_range(0..bytes.len());
            if rng.random_bool(0.5) {
                kept = bytes.len() - 1 - kept % bytes.len().min(100);
            }
            changed.truncate(kept);
            format!("cut from {} to {kept} bytes", bytes.len())
        }
        6..9 if !bytes.is_empty() => {
            let (byte, bit) = (rng.random_range(0..bytes.len()), rng.random_range(0..8));
            changed[byte] ^= 1 << bit;
            format!("bit {bit} of byte {byte} of {} flipped", bytes.len())
        }
        9..11 if older.is_file() => {
            changed = fs::read(older).unwrap();
            "as before the command".to_owned()
        }
        _ => {
            changed.clear();
            "emptied".to_owned()
        }
    };
    if changed == bytes {
        return None;
    }
    // Under one of its names, or under all of them.
    let is_linked = fs::metadata(at).unwrap().nlink() > 1;
    let is_one = is_linked && rng.random_bool(0.5);
    if is_one {
        fs::remove_file(at).unwrap();
    }
    fs::write(at, changed).unwrap();
    let names = if is_one {
        " under one of its names"
    } else {
        ""
    };
    Some(done + names)
}
