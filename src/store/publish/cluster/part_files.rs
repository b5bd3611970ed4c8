//! The files of the parts of a cluster bank outside their databases.

use std::io::Read;
use std::path::{Path, PathBuf};

use crate::disk::folder::{BankKind, PARTS, PREPARED, is_folder, marker, open_regular};
use crate::error::StoreError;
use crate::publish::published::Pointer;
use crate::tables::parts::message::{Fields, Message};
use crate::tables::records::lineage::StateId;
use crate::tables::records::{Intent, Meta};
use crate::tables::shards::Parts;
use crate::tables::table::Value;

/// The largest size in bytes of the file of a prepared intent.
const MAX_PREPARED: u64 = 16 << 20;

/// Creates the error of parts that contradict each other.
pub(super) fn damaged(what: impl Into<String>) -> StoreError {
    StoreError::state("cluster", what)
}

/// Returns the folder of a part; that of the first part is the folder of the bank.
pub(crate) fn part_folder(bank: &Path, part: u32) -> PathBuf {
    if part == 0 {
        bank.to_path_buf()
    } else {
        bank.join(PARTS).join(format!("{part:03}"))
    }
}

/// Returns the parts of a cluster bank; `None` for a bank in one database.
pub(crate) fn parts_of(bank: &Path) -> Result<Option<Parts>, StoreError> {
    // A bank that is being copied or repaired has no marker.
    let kind = match marker(bank) {
        Err(StoreError::NoMarker(_)) if !is_folder(&bank.join(PARTS)) => BankKind::Single,
        found => found?.0,
    };
    match kind {
        BankKind::Single => Ok(None),
        BankKind::Part(..) => Err(StoreError::IsPart(bank.to_path_buf())),
        BankKind::Cluster(parts) => {
            let parts = Parts::new(parts);
            let invalid = || damaged("the marker has an invalid number of parts");
            parts.map(Some).ok_or_else(invalid)
        }
    }
}

/// Returns the number of parts of a cluster bank; `None` for a bank in one database.
pub fn cluster_parts(bank: &Path) -> Result<Option<u32>, StoreError> {
    Ok(parts_of(bank)?.map(Parts::count))
}

/// Fails if the bank is a cluster bank, which `doing` does not support.
pub(crate) fn ensure_single(bank: &Path, doing: &'static str) -> Result<(), StoreError> {
    // The folder tells it even if the marker is damaged.
    if is_folder(&bank.join(PARTS)) {
        let path = bank.to_path_buf();
        return Err(StoreError::IsCluster { doing, path });
    }
    Ok(())
}

/// Returns the number of parts of the bank to which a part of this process belongs.
pub(super) fn part_kind(bank: &Path, part: u32) -> Result<Parts, StoreError> {
    let folder = part_folder(bank, part);
    let parts = match marker(&folder)?.0 {
        BankKind::Part(_, parts) | BankKind::Cluster(parts) => Parts::new(parts),
        BankKind::Single => None,
    };
    parts.ok_or_else(|| {
        damaged(format!(
            "{} is not a part of a cluster bank",
            folder.display()
        ))
    })
}

/// Fails unless a folder is this part of a cluster bank.
pub(super) fn ensure_part(bank: &Path, part: u32, parts: Parts) -> Result<u32, StoreError> {
    let folder = part_folder(bank, part);
    let (kind, format) = marker(&folder).map_err(|e| match e {
        StoreError::NoBank(path) => damaged(format!("part {part} is missing: {}", path.display())),
        e => e,
    })?;
    if kind == BankKind::Part(part, parts.count()) {
        return Ok(format);
    }
    let expected = BankKind::Part(part, parts.count());
    Err(damaged(format!(
        "{}: expected {expected}, found {kind}",
        folder.display()
    )))
}

/// Fails unless a part has the state of the first part.
pub(super) fn ensure_same_state(
    part: u32,
    found: StateId,
    expected: StateId,
) -> Result<(), StoreError> {
    if found == expected {
        return Ok(());
    }
    Err(damaged(format!(
        "part {part} has another state than the first part: expected {expected}, found {found}"
    )))
}

/// Returns the folder of the bulk load of a state.
pub(super) fn load_folder(bank: &Path, epoch: u64) -> PathBuf {
    bank.join("loads").join(epoch.to_string())
}

/// Reads the prepared intent of a part; an error if it is damaged.
pub(super) fn read_prepared(part: &Path, epoch: u64) -> Result<Intent, StoreError> {
    let path = load_folder(part, epoch).join(PREPARED);
    let mut bytes = Vec::new();
    open_regular(&path)
        .and_then(|file| file.take(MAX_PREPARED).read_to_end(&mut bytes))
        .map_err(StoreError::io("read", &path))?;
    let invalid = || damaged(format!("{} is damaged", path.display()));
    let (text, hash) = bytes.split_last_chunk::<32>().ok_or_else(invalid)?;
    if blake3::hash(text) != *hash {
        return Err(invalid());
    }
    match Meta::decode(text) {
        Ok(Meta::Intent(intent)) if intent.counters.epoch == epoch => Ok(intent),
        _ => Err(invalid()),
    }
}

/// What the files of a part tell of its last commits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct PartStatus {
    /// The published epoch.
    pub(super) published: u64,
    /// Whether the next epoch is prepared.
    pub(super) is_prepared: bool,
}

impl PartStatus {
    /// Reads the files of a part.
    pub(super) fn read(folder: &Path) -> Result<Self, StoreError> {
        let published = Pointer::read(folder)?.epoch;
        let next = load_folder(folder, published.saturating_add(1));
        Ok(Self {
            published,
            is_prepared: next.join(PREPARED).is_file(),
        })
    }

    /// Returns the last epoch that is published or prepared.
    pub(super) fn reached(self) -> u64 {
        self.published + u64::from(self.is_prepared)
    }

    pub(super) fn message(self) -> Message {
        let message = Message::default().number(self.published);
        message.number(self.is_prepared.into())
    }

    pub(super) fn from_message(bytes: &[u8]) -> Result<Self, StoreError> {
        let mut fields = Fields(bytes);
        Ok(Self {
            published: fields.number()?,
            is_prepared: fields.number()? == 1,
        })
    }
}

/// What an interrupted commit left.
#[derive(Debug)]
pub(super) enum Interrupted {
    /// Nothing.
    None,
    /// Not all parts are prepared: the commit is undone.
    Undecided,
    /// All parts have the state with this epoch or are prepared for it: the commit is finished.
    Decided(u64),
}

/// Returns what an interrupted commit left, from the files outside the databases of all parts.
pub(super) fn interrupted(all: &[PartStatus]) -> Result<Interrupted, StoreError> {
    let reached = || all.iter().map(|part| part.reached());
    let (Some(least), Some(most)) = (reached().min(), reached().max()) else {
        return Ok(Interrupted::None);
    };
    if least == most {
        let is_prepared = all.iter().any(|part| part.is_prepared);
        return Ok(if is_prepared {
            Interrupted::Decided(most)
        } else {
            Interrupted::None
        });
    }
    // Every part that reached the later state is only prepared for it.
    if all.iter().all(|part| part.published == least) {
        return Ok(Interrupted::Undecided);
    }
    let behind = reached().position(|epoch| epoch == least).unwrap_or(0);
    Err(damaged(format!(
        "expected state {most} in part {behind}, found state {least}"
    )))
}
