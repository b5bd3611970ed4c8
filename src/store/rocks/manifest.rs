//! Fingerprints of the MANIFEST of a database.
//!
//! RocksDB takes a damaged end of a MANIFEST for its regular end and opens an older state without a
//! warning. A MANIFEST is append-only and names every table file, and table files never change. So its
//! length and hash at one moment identify the contents of all table files, and a database whose
//! MANIFEST has another prefix is not the acknowledged one.

use std::fmt;
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use crate::disk::{open_regular, read_text, replace_file};
use crate::error::{IfUndamaged, StoreError, is_file_damage};

/// The maximum number of retries while an open database replaces its MANIFEST.
const MAX_RETRIES: u32 = 100;

/// The fingerprint of a prefix of a MANIFEST.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Manifest {
    /// The name of the file.
    name: String,
    /// The length of the prefix in bytes.
    bytes: u64,
    /// The hash of the prefix.
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

/// Parses the number in the name of a MANIFEST; later ones have higher numbers.
fn number(name: &str) -> Option<u64> {
    name.strip_prefix("MANIFEST-")?.parse().ok()
}

fn invalid(what: impl Into<String>) -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, what.into())
}

/// Returns the name of the MANIFEST that CURRENT names.
fn current(database: &Path) -> io::Result<String> {
    let text = read_text(&database.join("CURRENT"))?;
    let name = text.strip_suffix('\n').unwrap_or_default();
    if number(name).is_none() {
        let what = format!("expected the name of a MANIFEST, found {name:?}");
        return Err(invalid(what));
    }
    Ok(name.to_owned())
}

/// Returns the hash of the first bytes of a file, up to `limit`, and their number.
fn hash_prefix(file: File, limit: u64) -> io::Result<(blake3::Hash, u64)> {
    let mut hasher = blake3::Hasher::new();
    hasher.update_reader(file.take(limit))?;
    Ok((hasher.finalize(), hasher.count()))
}

impl Manifest {
    /// Returns the name of the file.
    pub(super) fn name(&self) -> &str {
        &self.name
    }

    /// Computes the fingerprint of the current MANIFEST of a database. Syncs the file first: a power
    /// cut must not leave less than the acknowledged prefix.
    ///
    /// Cost: reads the MANIFEST, some 150 bytes for each table file.
    pub(crate) fn read(database: &Path) -> Result<Self, StoreError> {
        let attempt = || -> io::Result<Self> {
            let name = current(database)?;
            let file = open_regular(&database.join(&name))?;
            // The file may grow meanwhile; any synced prefix is a valid fingerprint.
            let length = file.metadata()?.len();
            file.sync_all()?;
            let (hash, bytes) = hash_prefix(file, length)?;
            Ok(Self { name, bytes, hash })
        };
        let mut retries = 0;
        loop {
            match attempt() {
                // An open database may have switched to another MANIFEST.
                Err(e) if e.kind() == io::ErrorKind::NotFound && retries < MAX_RETRIES => {
                    retries += 1;
                }
                Err(e) => return Err(StoreError::io("read the MANIFEST of", database)(e)),
                Ok(manifest) => return Ok(manifest),
            }
        }
    }

    /// Compares the MANIFEST of a database that nobody has open with this fingerprint; an error of damage to `state`
    /// if they differ. With `exact` the MANIFEST must not be longer than the fingerprinted prefix.
    ///
    /// A later MANIFEST starts with a snapshot of the whole state, so only its structure can be
    /// checked; the caller must ensure that its state is not older.
    pub(crate) fn compare(
        &self,
        state: &'static str,
        database: &Path,
        exact: bool,
    ) -> Result<ManifestMatch, StoreError> {
        let name = read_structure(state, database)?;
        if name == self.name {
            self.compare_file(state, database, exact)?;
            return Ok(ManifestMatch::Same);
        }
        if exact || number(&name) < number(&self.name) {
            let what = format!("CURRENT names {name}, expected {}", self.name);
            return Err(StoreError::state(state, what));
        }
        ensure_complete(state, database, &name).map(|()| ManifestMatch::Later)
    }

    /// Compares the file of this name with this fingerprint, as [`Manifest::compare`] does.
    fn compare_file(
        &self,
        state: &'static str,
        database: &Path,
        exact: bool,
    ) -> Result<(), StoreError> {
        let Self { name, bytes, hash } = self;
        let path = database.join(name);
        let failed = || StoreError::reading(state, name, &path);
        let length = fs::metadata(&path).map_err(failed())?.len();
        if length < *bytes || exact && length > *bytes {
            let what = format!("{name} has {length} bytes, expected {bytes}");
            return Err(StoreError::state(state, what));
        }
        let file = open_regular(&path).map_err(failed())?;
        let (found, _) = hash_prefix(file, *bytes).map_err(failed())?;
        if found == *hash {
            Ok(())
        } else {
            let what = format!("{name} differs from the acknowledged MANIFEST");
            Err(StoreError::state(state, what))
        }
    }

    /// Returns whether a database has this MANIFEST, but its CURRENT names none or a missing one.
    pub(crate) fn is_unreferenced(&self, database: &Path) -> Result<bool, StoreError> {
        let has_current = match current(database) {
            Err(e) if is_file_damage(&e) => false,
            Err(e) => return Err(StoreError::io("read", database.join("CURRENT"))(e)),
            Ok(name) => database.join(name).is_file(),
        };
        let found = self.compare_file("live", database, false).if_undamaged()?;
        Ok(!has_current && found.is_some())
    }

    /// Rewrites CURRENT of a database that nobody has open, so that it names this MANIFEST.
    pub(crate) fn restore_current(&self, database: &Path) -> Result<(), StoreError> {
        replace_file(&database.join("CURRENT"), format!("{}\n", self.name))
    }
}

/// How the MANIFEST of a database relates to the acknowledged one.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum ManifestMatch {
    /// It is the acknowledged MANIFEST, perhaps with more records at its end.
    Same,
    /// It is a later MANIFEST.
    Later,
}

/// Checks the structure of a database without an acknowledged MANIFEST; an error of damage to `state` if it is wrong.
pub(crate) fn check_structure(state: &'static str, database: &Path) -> Result<(), StoreError> {
    let name = read_structure(state, database)?;
    ensure_complete(state, database, &name)
}

/// Checks that all entries are regular files, and returns the name of the current MANIFEST. RocksDB would block for ever on
/// a pipe, write through a symbolic link, and report a folder as unreadable.
fn read_structure(state: &'static str, database: &Path) -> Result<String, StoreError> {
    let failed = || StoreError::reading(state, "the folder cannot be read", database);
    for entry in fs::read_dir(database).map_err(failed())? {
        let entry = entry.map_err(failed())?;
        let kind = entry.file_type().map_err(failed())?;
        if !kind.is_file() {
            let name = PathBuf::from(entry.file_name());
            let what = format!("{} is not a regular file", name.display());
            return Err(StoreError::state(state, what));
        }
    }
    let path = database.join("CURRENT");
    current(database).map_err(StoreError::reading(state, "CURRENT", &path))
}

/// Fails unless a MANIFEST ends at the end of a record.
fn ensure_complete(state: &'static str, database: &Path, name: &str) -> Result<(), StoreError> {
    let path = database.join(name);
    if is_complete(&path).map_err(StoreError::reading(state, name, &path))? {
        return Ok(());
    }
    let what = format!("{name} ends within a record");
    Err(StoreError::state(state, what))
}

/// Returns whether a MANIFEST ends at the end of a record. The checksums of RocksDB cover the contents.
///
/// Blocks of 32 KiB hold records: a checksum of four bytes, a length of two, a kind of one, then the
/// bytes; fewer than seven bytes at the end of a block are padding.
fn is_complete(path: &Path) -> io::Result<bool> {
    const BLOCK: usize = 32 << 10;
    const HEADER: usize = 7;
    let mut bytes = Vec::new();
    open_regular(path)?.read_to_end(&mut bytes)?;
    let mut complete = true;
    for block in bytes.chunks(BLOCK) {
        let mut rest = block;
        while rest.len() >= HEADER {
            let length = usize::from(u16::from_le_bytes([rest[4], rest[5]]));
            // The kinds are full (1), first (2), middle (3) and last (4) fragment of a record.
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
