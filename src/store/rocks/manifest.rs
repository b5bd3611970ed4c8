//! A fingerprint of a database's MANIFEST, taken from its bytes.
//!
//! RocksDB takes a damaged end of a MANIFEST for its regular end, and opens an older state without
//! a warning. A MANIFEST only grows, and names every table file, none of which ever changes; so its
//! length and hash at one moment identify everything that was in files then, and a database whose
//! MANIFEST begins otherwise is not the one that was acknowledged.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::disk::folder::{open_regular, read_text, replace_file};
use crate::error::StoreError;

/// How often a database whose MANIFEST is being replaced is looked at again.
const TRIES: u32 = 100;

/// The first bytes of a MANIFEST.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Manifest {
    /// The file's name.
    name: String,
    /// How many bytes there are.
    bytes: u64,
    /// Their hash.
    hash: blake3::Hash,
}

impl fmt::Display for Manifest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {} {}", self.name, self.bytes, self.hash.to_hex())
    }
}

impl FromStr for Manifest {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ');
        let mut word = || words.next().ok_or(());
        let name = word()?.to_owned();
        let bytes = word()?.parse().map_err(|_| ())?;
        let hash = blake3::Hash::from_hex(word()?).map_err(|_| ())?;
        number(&name).ok_or(())?;
        Ok(Self { name, bytes, hash })
    }
}

/// The number in a MANIFEST's name; later ones have higher numbers.
fn number(name: &str) -> Option<u64> {
    name.strip_prefix("MANIFEST-")?.parse().ok()
}

/// The name of a database's MANIFEST.
fn current(database: &Path) -> io::Result<String> {
    let text = read_text(&database.join("CURRENT"))?;
    let name = text.strip_suffix('\n').unwrap_or_default();
    if number(name).is_none() {
        let what = "it names no MANIFEST";
        return Err(io::Error::new(io::ErrorKind::InvalidData, what));
    }
    Ok(name.to_owned())
}

/// The hash of the first bytes of a file, `most` at the most, and how many there were.
fn hash_of(file: File, most: u64) -> io::Result<(blake3::Hash, u64)> {
    let mut hasher = blake3::Hasher::new();
    let mut rest = file.take(most);
    let mut bytes = 0;
    let mut buffer = vec![0; 64 << 10];
    loop {
        let read = rest.read(&mut buffer)?;
        if read == 0 {
            return Ok((hasher.finalize(), bytes));
        }
        hasher.update(&buffer[..read]);
        bytes += read as u64;
    }
}

impl Manifest {
    /// The MANIFEST of a database as it is now. It is made durable first: what is acknowledged must
    /// not be longer than what a power cut leaves.
    ///
    /// Cost: reads the MANIFEST, some 150 bytes for each table file.
    pub(crate) fn of(database: &Path) -> Result<Self, StoreError> {
        let read = || -> io::Result<Self> {
            let name = current(database)?;
            let file = open_regular(&database.join(&name))?;
            // It may grow meanwhile; any beginning of it that is on disk will do.
            let length = file.metadata()?.len();
            file.sync_all()?;
            let (hash, bytes) = hash_of(file, length)?;
            Ok(Self { name, bytes, hash })
        };
        let mut tries = 0;
        loop {
            match read() {
                // An open database may switch to another MANIFEST.
                Err(e) if e.kind() == io::ErrorKind::NotFound && tries < TRIES => tries += 1,
                Err(e) => return Err(StoreError::io("read the MANIFEST of", database)(e)),
                Ok(manifest) => return Ok(manifest),
            }
        }
    }

    /// Compares a database that nobody has open with this acknowledged MANIFEST of it; an error
    /// says what is wrong. With `whole` its MANIFEST must have nothing beyond the acknowledged
    /// bytes.
    ///
    /// A later MANIFEST begins with everything that was known when it was begun. Only its structure
    /// can be checked here; the caller has to make sure that the state it names is not older.
    pub(crate) fn fault(&self, database: &Path, whole: bool) -> Result<Begins, String> {
        regular_files(database)?;
        let said = |name: &str, e: io::Error| format!("{name}: {e}");
        let name = current(database).map_err(|e| said("CURRENT", e))?;
        let path = database.join(&name);
        if name != self.name {
            if whole || number(&name) < number(&self.name) {
                return Err(format!("CURRENT names {name}, expected {}", self.name));
            }
            return match is_whole(&path) {
                Ok(true) => Ok(Begins::Later),
                Ok(false) => Err(format!("{name} ends within a record")),
                Err(e) => Err(said(&name, e)),
            };
        }
        self.begins(&path, whole).map(|()| Begins::Same)
    }

    /// Whether a file begins with these bytes or, with `whole`, consists of them; an error says
    /// what it has instead.
    fn begins(&self, path: &Path, whole: bool) -> Result<(), String> {
        let Self { name, bytes, hash } = self;
        let said = |e: io::Error| format!("{name}: {e}");
        let length = fs::metadata(path).map_err(said)?.len();
        if length < *bytes || whole && length > *bytes {
            return Err(format!("{name} has {length} bytes, expected {bytes}"));
        }
        let file = open_regular(path).map_err(said)?;
        let (found, _) = hash_of(file, *bytes).map_err(said)?;
        if found == *hash {
            Ok(())
        } else {
            Err(format!("{name} differs from what was acknowledged"))
        }
    }

    /// Whether a database has this MANIFEST, but its CURRENT names none or a missing one.
    pub(crate) fn is_unnamed(&self, database: &Path) -> bool {
        let names_one = current(database).is_ok_and(|name| database.join(name).is_file());
        !names_one && self.begins(&database.join(&self.name), false).is_ok()
    }

    /// Makes CURRENT of a database, which nobody has open, name this MANIFEST.
    pub(crate) fn name_in(&self, database: &Path) -> Result<(), StoreError> {
        replace_file(&database.join("CURRENT"), format!("{}\n", self.name))
    }
}

/// How a sound database relates to what was acknowledged.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Begins {
    /// Its MANIFEST begins with the acknowledged one.
    Same,
    /// It has a later MANIFEST.
    Later,
}

/// Checks a database of which no MANIFEST was acknowledged; the error says what is wrong.
pub(crate) fn structure_fault(database: &Path) -> Result<(), String> {
    regular_files(database)?;
    let name = current(database).map_err(|e| format!("CURRENT: {e}"))?;
    match is_whole(&database.join(&name)) {
        Ok(true) => Ok(()),
        Ok(false) => Err(format!("{name} ends within a record")),
        Err(e) => Err(format!("{name}: {e}")),
    }
}

/// Checks that all entries are regular files. RocksDB would wait for ever on a pipe in place of a file,
/// write through a symbolic link, and fail on a folder as if it could not read it.
fn regular_files(database: &Path) -> Result<(), String> {
    let entries = fs::read_dir(database).map_err(|e| format!("the folder cannot be read: {e}"))?;
    for entry in entries {
        let entry = entry.map_err(|e| format!("the folder cannot be read: {e}"))?;
        if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
            let name = PathBuf::from(entry.file_name());
            return Err(format!("{} is not a regular file", name.display()));
        }
    }
    Ok(())
}

/// Whether the records of a MANIFEST end where the file ends; RocksDB's own checksums cover the
/// rest.
///
/// Records lie in blocks of 32 KiB: a checksum of four bytes, a length of two, a kind of one, then
/// the bytes; a rest of fewer than seven bytes at the end of a block is padding.
fn is_whole(path: &Path) -> io::Result<bool> {
    const BLOCK: usize = 32 << 10;
    const HEADER: usize = 7;
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    let mut complete = true;
    for block in bytes.chunks(BLOCK) {
        let mut rest = block;
        while rest.len() >= HEADER {
            let length = usize::from(u16::from_le_bytes([rest[4], rest[5]]));
            // The kinds are, from 1: whole, first, middle, last.
            complete = match rest[6] {
                1 | 4 => true,
                2 | 3 => false,
                _ => return Ok(false),
            };
            let Some(after) = rest.get(HEADER + length..) else {
                return Ok(false);
            };
            rest = after;
        }
        if block.len() < BLOCK && !rest.is_empty() {
            return Ok(false);
        }
    }
    Ok(complete && !bytes.is_empty())
}
