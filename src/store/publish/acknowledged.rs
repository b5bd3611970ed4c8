//! The last acknowledged state of a bank, recorded outside its database.
//!
//! ```text
//! BANK/ACKNOWLEDGED   two slots of 512 bytes, each one line of text padded with spaces:
//!   serial 17 epoch 12 batch 9 refresh 3 in log bank ID state ID published 11
//!     log 120 122 2048 HASH MANIFEST-000123 48211 HASH SUM
//! ```
//!
//! A slot has the epoch and the identity of the state, the epoch of the published state, and fingerprints of
//! the log and the MANIFEST that a database with the state must have.
//!
//! A commit is acknowledged twice: as soon as the log has it (`in log`), so that it is recorded even if the
//! disk is too full to publish it, and again once it is published. Each time the older slot is overwritten in
//! place and synced. That takes no disk space, except on copy-on-write file systems, and an interrupted write
//! leaves the other slot intact. If the file has another hard link, as in a copy of the bank by `cp -al`, it
//! is replaced instead, so that the copy keeps its own.
//!
//! Cost: 512 bytes and two syncs per commit; the MANIFEST and the log are read twice.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::str::FromStr;

use crate::disk::{ACKNOWLEDGED, open_no_follow, read_small, replace_file};
use crate::error::{StoreError, is_file_damage};
use crate::rocks::manifest::Manifest;
use crate::rocks::write_ahead_log::LogFingerprint;
use crate::tables::records::lineage::StateId;
use crate::tables::records::{BatchId, RefreshId};

/// The size of a slot in bytes: a disk sector.
const SLOT: usize = 512;

/// An acknowledged state: the last one that a command reported as stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Acknowledged {
    /// The epoch of the state.
    pub(crate) epoch: u64,
    /// The last batch in the state; 0 if there is none.
    pub(crate) batch: BatchId,
    /// The last refresh in the state; 0 if there is none.
    pub(crate) refresh: RefreshId,
    /// Whether the state is flushed to table files; if `false`, parts may be in the log only.
    pub(crate) is_flushed: bool,
    /// The identity of the state.
    pub(crate) id: StateId,
    /// The epoch of the state that was published then; 0 if unknown.
    pub(crate) published: u64,
    /// The fingerprint of the log; `None` if the log was empty.
    pub(crate) log: Option<LogFingerprint>,
    /// The fingerprint of the MANIFEST of the live database.
    pub(crate) manifest: Manifest,
}

/// Returns the checksum at the end of a line of a file outside the database, in hexadecimal.
pub(crate) fn checksum(text: &str) -> String {
    let mut hash = blake3::hash(text.as_bytes()).to_hex();
    hash.truncate(16);
    hash.to_string()
}

/// Returns a line without its checksum; `None` if the checksum is missing or wrong.
pub(crate) fn strip_checksum(line: &str) -> Option<&str> {
    let (text, end) = line.rsplit_once(' ')?;
    (checksum(text) == end).then_some(text)
}

impl fmt::Display for Acknowledged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            epoch,
            batch,
            refresh,
            is_flushed,
            id,
            published,
            log,
            manifest,
        } = self;
        let location = if *is_flushed { "files" } else { "log" };
        write!(
            f,
            "epoch {epoch} batch {batch} refresh {refresh} in {location} {id} published {published} "
        )?;
        if let Some(log) = log {
            write!(f, "{log} ")?;
        }
        write!(f, "{manifest}")
    }
}

fn number<T: FromStr>(text: Option<&str>) -> Result<T, ()> {
    text.and_then(|text| text.parse().ok()).ok_or(())
}

impl FromStr for Acknowledged {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ').peekable();
        let mut named = |name: &str| {
            let found = words.next_if_eq(&name).is_some();
            found.then(|| words.next()).flatten()
        };
        let epoch = number(named("epoch"))?;
        let batch = number(named("batch"))?;
        let refresh = number(named("refresh"))?;
        let is_flushed = match named("in") {
            Some("files") => true,
            Some("log") => false,
            _ => return Err(()),
        };
        let bank = named("bank").ok_or(())?;
        let state = named("state").ok_or(())?;
        let id = StateId::parse(bank, state).ok_or(())?;
        let published = number(named("published"))?;
        let mut log = None;
        if words.next_if_eq(&"log").is_some() {
            log = Some(LogFingerprint::parse(|| words.next()).ok_or(())?);
        }
        let manifest: Vec<&str> = words.collect();
        Ok(Self {
            epoch,
            batch,
            refresh,
            is_flushed,
            id,
            published,
            log,
            manifest: manifest.join(" ").parse()?,
        })
    }
}

/// Parses the serial number and the state in a slot; `None` if the slot is damaged.
fn parse_slot(bytes: &[u8]) -> Option<(u64, Acknowledged)> {
    let line = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let text = strip_checksum(line.trim_end_matches(' '))?;
    let (serial, rest) = text.strip_prefix("serial ")?.split_once(' ')?;
    Some((serial.parse().ok()?, rest.parse().ok()?))
}

fn parse_slots(bytes: &[u8]) -> [Option<(u64, Acknowledged)>; 2] {
    let (one, other) = bytes.split_at(SLOT.min(bytes.len()));
    [parse_slot(one), parse_slot(other)]
}

/// Returns the contents of the intact slot with the higher serial number.
fn latest(bytes: &[u8]) -> Option<(u64, Acknowledged)> {
    let [one, other] = parse_slots(bytes);
    let serial = |slot: &Option<(u64, Acknowledged)>| slot.as_ref().map(|(serial, _)| *serial);
    if serial(&one) > serial(&other) {
        one
    } else {
        other
    }
}

fn damaged(what: &str) -> StoreError {
    StoreError::state(ACKNOWLEDGED, what)
}

impl Acknowledged {
    /// Reads the last acknowledged state of a bank; `None` if the file is missing.
    pub(crate) fn read(bank: &Path) -> Result<Option<Self>, StoreError> {
        let path = bank.join(ACKNOWLEDGED);
        let bytes = match read_small(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) if is_file_damage(&e) => return Err(damaged(&e.to_string())),
            read => read.map_err(StoreError::io("read", &path))?,
        };
        match latest(&bytes) {
            Some((_, state)) => Ok(Some(state)),
            None => Err(damaged("it cannot be read")),
        }
    }

    /// Returns what is wrong with the file; `None` if it is intact.
    ///
    /// One damaged slot loses no information, only redundancy.
    pub(crate) fn fault(bank: &Path) -> Result<Option<String>, StoreError> {
        let path = bank.join(ACKNOWLEDGED);
        let bytes = match read_small(&path) {
            Err(e) if is_file_damage(&e) => return Ok(Some(e.to_string())),
            read => read.map_err(StoreError::io("read", &path))?,
        };
        if bytes.len() != 2 * SLOT {
            return Ok(Some(format!("it has {} bytes", bytes.len())));
        }
        Ok(match parse_slots(&bytes) {
            [Some(_), Some(_)] => None,
            _ => Some("a slot cannot be read".to_owned()),
        })
    }

    /// Writes this state to the file, durably.
    pub(crate) fn write(&self, bank: &Path) -> Result<(), StoreError> {
        let path = bank.join(ACKNOWLEDGED);
        let found = match fs::symlink_metadata(&path) {
            // A file with two hard links also belongs to a copy of the bank.
            Ok(found) if found.is_file() && found.nlink() == 1 => match read_small(&path) {
                Err(e) if !is_file_damage(&e) => return Err(StoreError::io("read", &path)(e)),
                read => read.ok(),
            },
            _ => None,
        };
        let found = found.filter(|bytes| bytes.len() == 2 * SLOT);
        let last = found.as_deref().and_then(latest).map(|(serial, _)| serial);
        let (Some(bytes), Some(last)) = (&found, last) else {
            // Both slots are written, so that the file has its final size.
            let mut text = self.slot(1)?;
            text.extend(self.slot(2)?);
            return replace_file(&path, text);
        };
        let serial = last.saturating_add(1);
        let is_last = |slot: Option<(u64, Self)>| slot.is_some_and(|(serial, _)| serial == last);
        let [one, _] = parse_slots(bytes);
        // The slot of the last state stays intact if this write is interrupted.
        let offset = if is_last(one) { SLOT as u64 } else { 0 };
        let write = || {
            let file = open_no_follow(&path, &mut OpenOptions::new())?;
            file.write_all_at(&self.slot(serial).map_err(io::Error::other)?, offset)?;
            file.sync_all()
        };
        write().map_err(StoreError::io("write", &path))
    }

    /// Returns the bytes of a slot.
    fn slot(&self, serial: u64) -> Result<Vec<u8>, StoreError> {
        let text = format!("serial {serial} {self}");
        let mut bytes = format!("{text} {}", checksum(&text)).into_bytes();
        if bytes.len() >= SLOT {
            return Err(damaged("the acknowledged state does not fit"));
        }
        bytes.resize(SLOT - 1, b' ');
        bytes.push(b'\n');
        Ok(bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A state with the longest possible text; in epoch 3 without a log.
    fn state(epoch: u64) -> Acknowledged {
        let hash = blake3::hash(b"x").to_hex();
        let id = StateId {
            bank: u128::MAX - 1,
            state: u128::MAX,
        };
        let max = u64::MAX.to_string();
        let log = format!("{max} {max} {max} {}", "f".repeat(32));
        let mut words = log.split(' ');
        Acknowledged {
            epoch,
            batch: u32::MAX,
            refresh: u32::MAX,
            is_flushed: epoch.is_multiple_of(2),
            id,
            published: u64::MAX,
            log: LogFingerprint::parse(|| words.next()).filter(|_| epoch != 3),
            manifest: format!("MANIFEST-{max} {max} {hash}").parse().unwrap(),
        }
    }

    #[test]
    fn the_last_one_is_read_back() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Acknowledged::read(folder.path()).unwrap(), None);
        for epoch in [1, 2, 3, u64::MAX] {
            state(epoch).write(folder.path()).unwrap();
            let read = Acknowledged::read(folder.path()).unwrap();
            assert_eq!(read, Some(state(epoch)));
            assert_eq!(Acknowledged::fault(folder.path()).unwrap(), None);
        }
    }

    /// A write that is cut off, at any byte, leaves the one before.
    #[test]
    fn half_a_write_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ACKNOWLEDGED);
        state(1).write(folder.path()).unwrap();
        state(2).write(folder.path()).unwrap();
        let before = fs::read(&path).unwrap();
        state(3).write(folder.path()).unwrap();
        let after = fs::read(&path).unwrap();
        let mut differ = (0..before.len()).filter(|&at| before[at] != after[at]);
        let (first, last) = (differ.next().unwrap(), differ.next_back().unwrap());
        assert_eq!(first / SLOT, last / SLOT, "one slot is written");
        for cut in first..=last {
            let mut torn = before.clone();
            torn[first..cut].copy_from_slice(&after[first..cut]);
            fs::write(&path, &torn).unwrap();
            let read = Acknowledged::read(folder.path()).unwrap();
            assert_eq!(read, Some(state(2)), "cut at {cut}");
        }
        // And a torn slot is written anew.
        state(4).write(folder.path()).unwrap();
        state(5).write(folder.path()).unwrap();
        assert_eq!(Acknowledged::fault(folder.path()).unwrap(), None);
        let read = Acknowledged::read(folder.path()).unwrap();
        assert_eq!(read, Some(state(5)));
    }

    #[test]
    fn a_flipped_bit_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ACKNOWLEDGED);
        state(1).write(folder.path()).unwrap();
        state(2).write(folder.path()).unwrap();
        let sound = fs::read(&path).unwrap();
        for at in 0..sound.len() {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
            assert!(
                Acknowledged::fault(folder.path()).unwrap().is_some(),
                "byte {at}"
            );
            let read = Acknowledged::read(folder.path()).unwrap().unwrap();
            assert!([state(1), state(2)].contains(&read));
        }
        fs::write(&path, "").unwrap();
        assert!(Acknowledged::read(folder.path()).unwrap_err().is_damage());
    }
}
