//! What a bank acknowledged, known outside its database.
//!
//! ```text
//! BANK/ACKNOWLEDGED   two slots of 512 bytes, each one line of text filled up with spaces:
//!   serial 17 epoch 12 batch 9 refresh 3 in log bank ID state ID published 11
//!     log 120 122 2048 HASH MANIFEST-000123 48211 HASH SUM
//! ```
//!
//! It names the state by its number and its identity, the published state of that moment, and what a
//! database that holds the state has to have: its log, and the beginning of its MANIFEST.
//!
//! A commit is acknowledged twice: as soon as the log holds it (`in log`), so that it is known even
//! where the disk is too full to publish it, and again when it is published. The older slot is
//! overwritten in place and synced. That takes no room on the disk, except on file systems that copy
//! on write, and a write that is cut off halfway leaves the other slot intact. Where the file has
//! another name in a copy of the bank (`cp -al`), it is replaced instead, so that the copy keeps its
//! own.
//!
//! Cost: 512 bytes written and two syncs for each commit, and its MANIFEST and its log read twice.

use std::fmt;
use std::fs::{self, OpenOptions};
use std::io;
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::Path;
use std::str::FromStr;

use crate::disk::folder::{ACKNOWLEDGED, open_no_follow, read_small, replace_file};
use crate::error::StoreError;
use crate::rocks::manifest::Manifest;
use crate::rocks::write_ahead_log::LogFingerprint;
use crate::tables::records::lineage::StateId;
use crate::tables::records::{BatchId, RefreshId};

/// The size of a slot in bytes: what a disk writes as a whole.
const SLOT: usize = 512;

/// The last state that a command reported as stored.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Acknowledged {
    /// The epoch of the state.
    pub(crate) epoch: u64,
    /// The last batch in it; 0 before the first.
    pub(crate) batch: BatchId,
    /// The last refresh in it; 0 before the first.
    pub(crate) refresh: RefreshId,
    /// Whether all of it is in files that the MANIFEST names; if `false`, some of it may be in the
    /// log alone.
    pub(crate) in_files: bool,
    /// The identity of the state.
    pub(crate) id: StateId,
    /// The epoch of the state that was published then; 0 where none was known to be.
    pub(crate) published: u64,
    /// The log that holds what is in no file; `None` where nothing is in it.
    pub(crate) log: Option<LogFingerprint>,
    /// The live database's MANIFEST at that time.
    pub(crate) manifest: Manifest,
}

/// The checksum, in hexadecimal, that ends a line of a file kept outside the database.
pub(crate) fn sum(text: &str) -> String {
    let mut sum = blake3::hash(text.as_bytes()).to_hex();
    sum.truncate(16);
    sum.to_string()
}

/// A line without the checksum at its end; `None` where the checksum is missing or wrong.
pub(crate) fn summed(line: &str) -> Option<&str> {
    let (text, end) = line.rsplit_once(' ')?;
    (sum(text) == end).then_some(text)
}

impl fmt::Display for Acknowledged {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            epoch,
            batch,
            refresh,
            in_files,
            id,
            published,
            log,
            manifest,
        } = self;
        let place = if *in_files { "files" } else { "log" };
        write!(
            f,
            "epoch {epoch} batch {batch} refresh {refresh} in {place} {id} published {published} "
        )?;
        if let Some(log) = log {
            write!(f, "{log} ")?;
        }
        write!(f, "{manifest}")
    }
}

impl FromStr for Acknowledged {
    type Err = ();

    fn from_str(text: &str) -> Result<Self, ()> {
        let mut words = text.split(' ').peekable();
        let mut named = |name: &str| {
            let found = words.next_if_eq(&name).is_some();
            found.then(|| words.next()).flatten()
        };
        let number = |text: Option<&str>| text.and_then(|text| text.parse().ok()).ok_or(());
        let epoch = number(named("epoch"))?;
        let batch = named("batch")
            .and_then(|text| text.parse().ok())
            .ok_or(())?;
        let refresh = named("refresh")
            .and_then(|text| text.parse().ok())
            .ok_or(())?;
        let in_files = match named("in") {
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
            in_files,
            id,
            published,
            log,
            manifest: manifest.join(" ").parse()?,
        })
    }
}

/// The serial number and the acknowledged state in a slot; `None` where the slot is not intact.
fn slot(bytes: &[u8]) -> Option<(u64, Acknowledged)> {
    let line = std::str::from_utf8(bytes).ok()?.strip_suffix('\n')?;
    let text = summed(line.trim_end_matches(' '))?;
    let (serial, rest) = text.strip_prefix("serial ")?.split_once(' ')?;
    Some((serial.parse().ok()?, rest.parse().ok()?))
}

fn slots(bytes: &[u8]) -> [Option<(u64, Acknowledged)>; 2] {
    let (one, other) = bytes.split_at(SLOT.min(bytes.len()));
    [slot(one), slot(other)]
}

/// What a whole file says: the contents of the slot with the higher serial number.
fn latest(bytes: &[u8]) -> Option<(u64, Acknowledged)> {
    let [one, other] = slots(bytes);
    let serial = |slot: &Option<(u64, Acknowledged)>| slot.as_ref().map(|(serial, _)| *serial);
    if serial(&one) > serial(&other) {
        one
    } else {
        other
    }
}

fn damaged(what: &str) -> StoreError {
    StoreError::State {
        state: ACKNOWLEDGED,
        what: what.to_owned(),
    }
}

impl Acknowledged {
    /// The last state that the bank acknowledged; `None` where the file is missing.
    pub(crate) fn read(bank: &Path) -> Result<Option<Self>, StoreError> {
        let path = bank.join(ACKNOWLEDGED);
        let bytes = match read_small(&path) {
            Err(e) if e.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(e) if e.kind() == io::ErrorKind::InvalidData => {
                return Err(damaged(&e.to_string()));
            }
            read => read.map_err(StoreError::io("read", &path))?,
        };
        match latest(&bytes) {
            Some((_, said)) => Ok(Some(said)),
            None => Err(damaged("it cannot be read")),
        }
    }

    /// What is wrong with the file; `None` where nothing is.
    ///
    /// One unreadable slot loses no information, only the spare copy.
    pub(crate) fn fault(bank: &Path) -> Option<String> {
        match read_small(&bank.join(ACKNOWLEDGED)) {
            Err(e) => Some(e.to_string()),
            Ok(bytes) if bytes.len() != 2 * SLOT => Some(format!("it has {} bytes", bytes.len())),
            Ok(bytes) => match slots(&bytes) {
                [Some(_), Some(_)] => None,
                _ => Some("a slot of it cannot be read".to_owned()),
            },
        }
    }

    /// Acknowledges this state, durably.
    pub(crate) fn write(&self, bank: &Path) -> Result<(), StoreError> {
        let path = bank.join(ACKNOWLEDGED);
        let found = match fs::symlink_metadata(&path) {
            // A file with two names also belongs to a copy of the bank.
            Ok(found) if found.is_file() && found.nlink() == 1 => read_small(&path).ok(),
            _ => None,
        };
        let found = found.filter(|bytes| bytes.len() == 2 * SLOT);
        let last = found.as_deref().and_then(latest).map(|(serial, _)| serial);
        let (Some(bytes), Some(last)) = (&found, last) else {
            // Both slots are written, so that the file has its full size from the start.
            let mut text = self.slot(1)?;
            text.extend(self.slot(2)?);
            return replace_file(&path, text);
        };
        let serial = last.saturating_add(1);
        let is_last = |slot: Option<(u64, Self)>| slot.is_some_and(|(serial, _)| serial == last);
        let [one, _] = slots(bytes);
        let place = if is_last(one) { SLOT as u64 } else { 0 };
        let write = || {
            let file = open_no_follow(&path, &mut OpenOptions::new())?;
            file.write_all_at(&self.slot(serial).map_err(io::Error::other)?, place)?;
            file.sync_all()
        };
        write().map_err(StoreError::io("write", &path))
    }

    /// A slot's bytes.
    fn slot(&self, serial: u64) -> Result<Vec<u8>, StoreError> {
        let text = format!("serial {serial} {self}");
        let mut bytes = format!("{text} {}", sum(&text)).into_bytes();
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

    /// The longest text that there can be; in epoch 3 without a log.
    fn said(epoch: u64) -> Acknowledged {
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
            in_files: epoch.is_multiple_of(2),
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
            said(epoch).write(folder.path()).unwrap();
            let read = Acknowledged::read(folder.path()).unwrap();
            assert_eq!(read, Some(said(epoch)));
            assert_eq!(Acknowledged::fault(folder.path()), None);
        }
    }

    /// A write that is cut off, at any byte, leaves the one before.
    #[test]
    fn half_a_write_leaves_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ACKNOWLEDGED);
        said(1).write(folder.path()).unwrap();
        said(2).write(folder.path()).unwrap();
        let before = fs::read(&path).unwrap();
        said(3).write(folder.path()).unwrap();
        let after = fs::read(&path).unwrap();
        let mut differ = (0..before.len()).filter(|&at| before[at] != after[at]);
        let (first, last) = (differ.next().unwrap(), differ.next_back().unwrap());
        assert_eq!(first / SLOT, last / SLOT, "one slot is written");
        for cut in first..=last {
            let mut torn = before.clone();
            torn[first..cut].copy_from_slice(&after[first..cut]);
            fs::write(&path, &torn).unwrap();
            let read = Acknowledged::read(folder.path()).unwrap();
            assert_eq!(read, Some(said(2)), "cut at {cut}");
        }
        // And a torn slot is written anew.
        said(4).write(folder.path()).unwrap();
        said(5).write(folder.path()).unwrap();
        assert_eq!(Acknowledged::fault(folder.path()), None);
        let read = Acknowledged::read(folder.path()).unwrap();
        assert_eq!(read, Some(said(5)));
    }

    #[test]
    fn a_flipped_bit_is_seen() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(ACKNOWLEDGED);
        said(1).write(folder.path()).unwrap();
        said(2).write(folder.path()).unwrap();
        let sound = fs::read(&path).unwrap();
        for at in 0..sound.len() {
            let mut bytes = sound.clone();
            bytes[at] ^= 1 << (at % 8);
            fs::write(&path, &bytes).unwrap();
            assert!(Acknowledged::fault(folder.path()).is_some(), "byte {at}");
            let read = Acknowledged::read(folder.path()).unwrap().unwrap();
            assert!([said(1), said(2)].contains(&read));
        }
        fs::write(&path, "").unwrap();
        assert!(Acknowledged::read(folder.path()).unwrap_err().is_damage());
    }
}
