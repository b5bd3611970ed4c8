//! Kinds of damage: one file of a bank, of any kind, is flipped, cut, overwritten, deleted, swapped
//! or replaced by an older one.

use std::collections::BTreeMap;
use std::fs;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use rand::RngExt;
use rand_pcg::Pcg64Mcg;

use super::banks::Subject;
use crate::support::folders::{contents, copy, files};

/// Which of the two copies of the data is hit.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Side {
    Live,
    Published,
    /// A table file that both have under different names.
    Both,
    /// A file beside the data.
    Neither,
}

/// Damage that was done.
#[derive(Clone, Debug)]
pub struct Strike {
    /// The kind of file that was hit.
    pub kind: String,
    pub side: Side,
    /// What was done, in one word.
    pub deed: &'static str,
    /// The same in full.
    pub what: String,
    /// The files that were hit, by their paths within the bank.
    pub hit: Vec<PathBuf>,
    /// How many steps earlier the file was like this; `None` where it never was.
    pub steps: Option<usize>,
}

/// The kind of a file by its path within the bank: numbers do not matter.
pub fn kind(path: &Path) -> String {
    let parts: Vec<String> = path
        .iter()
        .map(|part| {
            let part = part.to_str().unwrap();
            for end in ["sst", "log"] {
                if Path::new(part).extension().is_some_and(|of| of == end) {
                    return format!("*.{end}");
                }
            }
            let letters = |c: char| !c.is_ascii_digit();
            let begin = part.find(|c| !letters(c)).unwrap_or(part.len());
            let end = part.rfind(|c| !letters(c)).map_or(part.len(), |at| at + 1);
            if begin == part.len() {
                part.to_owned()
            } else {
                format!("{}N{}", &part[..begin], &part[end..])
            }
        })
        .collect();
    parts.join("/")
}

fn side(path: &Path) -> Side {
    match path.iter().next().and_then(|first| first.to_str()) {
        Some("live") => Side::Live,
        Some("published") => Side::Published,
        _ => Side::Neither,
    }
}

/// How often a kind is hit: more often if it holds what the bank knows, or points to it.
fn weight(kind: &str) -> u32 {
    let name = kind.rsplit('/').next().unwrap_or(kind);
    match name {
        "*.sst" | "MANIFEST-N" => 4,
        "*.log" | "CURRENT" | "ACKNOWLEDGED" => 3,
        _ => 1,
    }
}

fn pick<'a, T>(rng: &mut Pcg64Mcg, of: &'a [T]) -> &'a T {
    &of[rng.random_range(0..of.len())]
}

/// A range within `bytes` that is not empty; often a short one.
fn range(rng: &mut Pcg64Mcg, bytes: usize) -> Range<usize> {
    let from = rng.random_range(0..bytes);
    let most = if rng.random_bool(0.5) {
        bytes - from
    } else {
        (bytes - from).min(64)
    };
    from..from + rng.random_range(1..=most)
}

/// A file that is about to be hit.
struct Target {
    /// Its path within the bank.
    path: PathBuf,
    at: PathBuf,
    bytes: Vec<u8>,
    /// Whether it has two names, of which only one is hit.
    is_one: bool,
}

impl Target {
    /// Writes in place, so that a file with two names is hit under both.
    fn write(&self, bytes: &[u8]) {
        if self.is_one {
            fs::remove_file(&self.at).unwrap();
        }
        fs::write(&self.at, bytes).unwrap();
    }

    /// Its name, as it is reported.
    fn name(&self) -> String {
        let names = if self.is_one {
            " under one of its names"
        } else {
            ""
        };
        format!("{}{names}", self.path.display())
    }
}

/// Damages a copy of a subject. `None` where the drawn damage makes no sense or changes nothing.
pub fn strike(rng: &mut Pcg64Mcg, subject: &Subject, bank: &Path) -> Option<Strike> {
    if rng.random_range(0..20) == 0 {
        return strike_folder(rng, subject, bank);
    }
    let mut kinds: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in files(bank) {
        kinds.entry(kind(&path)).or_default().push(path);
    }
    let all: Vec<&String> = kinds
        .keys()
        .flat_map(|kind| std::iter::repeat_n(kind, weight(kind) as usize))
        .collect();
    let kind: String = (*pick(rng, &all)).clone();
    let path = pick(rng, &kinds[&kind]).clone();
    let at = bank.join(&path);
    let is_linked = fs::metadata(&at).unwrap().nlink() > 1;
    let is_one = is_linked && rng.random_bool(0.5);
    let mut done = Strike {
        side: if is_linked && !is_one {
            Side::Both
        } else {
            side(&path)
        },
        kind,
        deed: "",
        what: String::new(),
        hit: vec![path.clone()],
        steps: None,
    };
    let target = Target {
        bytes: fs::read(&at).unwrap(),
        path,
        at,
        is_one,
    };
    let deed = rng.random_range(0..11);
    (done.deed, done.what) = match deed {
        0..5 if target.bytes.is_empty() => return None,
        0..5 => strike_bytes(rng, deed, &target, bank),
        5 => {
            fs::remove_file(&target.at).unwrap();
            // The other name stays.
            done.side = side(&target.path);
            ("delete", format!("{} deleted", target.path.display()))
        }
        6 => {
            target.write(&[]);
            ("empty", format!("{} emptied", target.name()))
        }
        7 => {
            let more = rng.random_range(1..300);
            let mut longer = target.bytes.clone();
            longer.extend((0..more).map(|_| rng.random::<u8>()));
            target.write(&longer);
            (
                "append",
                format!("{more} bytes appended to {}", target.name()),
            )
        }
        8 | 9 => {
            let other = swap(rng, &kinds, &target, bank)?;
            let sides = [side(&target.path), side(&other)];
            done.side = if sides[0] == sides[1] {
                sides[0]
            } else {
                Side::Both
            };
            let names = [target.path.display(), other.display()];
            let description = format!("{} and {} swapped", names[0], names[1]);
            done.hit.push(other);
            ("swap", description)
        }
        _ => {
            let (steps, description) = replace_by_older(rng, subject, &target, &done.kind)?;
            done.steps = Some(steps);
            ("older", description)
        }
    };
    let is_changed = fs::read(&target.at).ok() != Some(target.bytes);
    is_changed.then_some(done)
}

/// Hits some of a file's bytes; it is not empty.
fn strike_bytes(
    rng: &mut Pcg64Mcg,
    deed: u32,
    target: &Target,
    bank: &Path,
) -> (&'static str, String) {
    let (name, length) = (target.name(), target.bytes.len());
    let mut changed = target.bytes.clone();
    let done = match deed {
        0 | 1 => {
            let (place, bit) = (rng.random_range(0..length), rng.random_range(0..8));
            changed[place] ^= 1 << bit;
            let what = format!("bit {bit} of byte {place} of {length} of {name} flipped");
            ("flip", what)
        }
        2 => {
            let mut kept = rng.random_range(0..length);
            if rng.random_bool(0.5) {
                kept = length - 1 - kept % length.min(100);
            }
            changed.truncate(kept);
            ("cut", format!("{name} cut from {length} to {kept} bytes"))
        }
        3 => {
            let range = range(rng, length);
            changed[range.clone()].fill(0);
            (
                "zero",
                format!("bytes {range:?} of {length} of {name} zeroed"),
            )
        }
        _ => {
            let range = range(rng, length);
            let others = files(bank);
            let other = pick(rng, &others);
            let from = fs::read(bank.join(other)).unwrap();
            let begin = if from.is_empty() {
                0
            } else {
                rng.random_range(0..from.len())
            };
            for (to, from) in changed[range.clone()].iter_mut().zip(&from[begin..]) {
                *to = *from;
            }
            let what = format!(
                "bytes {range:?} of {length} of {name} overwritten with those of {} from {begin}",
                other.display()
            );
            ("overwrite", what)
        }
    };
    target.write(&changed);
    done
}

/// Swaps a file with another one of the same kind, in whichever folder; returns the other one.
fn swap(
    rng: &mut Pcg64Mcg,
    kinds: &BTreeMap<String, Vec<PathBuf>>,
    target: &Target,
    bank: &Path,
) -> Option<PathBuf> {
    let like: Vec<&PathBuf> = kinds
        .values()
        .flatten()
        .filter(|other| **other != target.path)
        .filter(|other| kind_in_folder(other) == kind_in_folder(&target.path))
        .collect();
    if like.is_empty() {
        return None;
    }
    let other = (*pick(rng, &like)).clone();
    let aside = bank.with_extension("swapped");
    fs::rename(&target.at, &aside).unwrap();
    fs::rename(bank.join(&other), &target.at).unwrap();
    fs::rename(&aside, bank.join(&other)).unwrap();
    Some(other)
}

fn replace_by_older(
    rng: &mut Pcg64Mcg,
    subject: &Subject,
    target: &Target,
    of_kind: &str,
) -> Option<(usize, String)> {
    let (steps, older) = older(rng, subject)?;
    // Numbers in names change from step to step, so the last file of the kind is meant.
    let like: Vec<PathBuf> = files(older)
        .into_iter()
        .filter(|other| *other == target.path || kind(other) == of_kind)
        .collect();
    let same = like.iter().find(|other| **other == target.path);
    let from = same.or(like.last())?;
    target.write(&fs::read(older.join(from)).unwrap());
    let (name, from) = (target.name(), from.display());
    let description = format!("{name} replaced by {from} of {steps} steps before");
    Some((steps, description))
}

/// The kind of a file by its name alone.
fn kind_in_folder(path: &Path) -> String {
    kind(Path::new(path.file_name().unwrap()))
}

fn older<'a>(rng: &mut Pcg64Mcg, subject: &'a Subject) -> Option<(usize, &'a PathBuf)> {
    let last = subject.earlier.len() - 1;
    // Most often the state just before.
    let number = if rng.random_bool(0.7) {
        last
    } else {
        rng.random_range(0..=last)
    };
    Some((subject.earlier.len() - number, subject.earlier.get(number)?))
}

/// Deletes a folder, or replaces it by an older copy.
fn strike_folder(rng: &mut Pcg64Mcg, subject: &Subject, bank: &Path) -> Option<Strike> {
    let mut folders: Vec<PathBuf> = ["live", "published", "loads", "spill", "rejects"]
        .map(PathBuf::from)
        .into();
    for entry in fs::read_dir(bank.join("published")).unwrap() {
        let entry = entry.unwrap();
        if entry.file_type().unwrap().is_dir() {
            folders.push(Path::new("published").join(entry.file_name()));
        }
    }
    let path = pick(rng, &folders).clone();
    let at = bank.join(&path);
    if !at.is_dir() {
        return None;
    }
    let before = contents(&at);
    fs::remove_dir_all(&at).unwrap();
    let (deed, what) = if rng.random_bool(0.5) {
        ("delete", format!("{} deleted", path.display()))
    } else {
        let (steps, older) = older(rng, subject)?;
        let from = older.join(&path);
        if !from.is_dir() {
            return None;
        }
        copy(&from, &at);
        if contents(&at) == before {
            return None;
        }
        let what = format!(
            "{} replaced by that of {steps} steps before",
            path.display()
        );
        ("older", what)
    };
    Some(Strike {
        kind: format!("{}/", kind(&path)),
        side: side(&path),
        deed,
        what,
        hit: Vec::new(),
        steps: None,
    })
}
