//! The marker of a bank: what its folder contains, and in which format.

use std::fmt;
use std::path::Path;

use crate::disk::{MARKER, create_fresh, read_text, replace_file, sync_folder, temporary_name};
use crate::error::{StoreError, is_file_damage};
use crate::format::Format;
use crate::tables::shards::Parts;

/// The text of the marker before the format, after the kind of the bank.
const FORMAT_TEXT: &str = ", format ";

/// What a folder with a marker contains.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum BankKind {
    /// A bank in one database.
    Single,
    /// A cluster bank of this many parts.
    Cluster(u32),
    /// A part of a cluster bank, with its number and the number of parts.
    Part(u32, u32),
}

impl fmt::Display for BankKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Single => write!(f, "seedbank bank"),
            Self::Cluster(parts) => write!(f, "seedbank bank of {parts} parts"),
            Self::Part(number, parts) => write!(f, "seedbank part {number} of {parts}"),
        }
    }
}

impl BankKind {
    /// Returns the kind of the folder of a part of a bank.
    pub(crate) fn of_part(part: u32, parts: Parts) -> Self {
        match part {
            0 if !parts.is_cluster() => Self::Single,
            0 => Self::Cluster(parts.count()),
            _ => Self::Part(part, parts.count()),
        }
    }

    fn parse(text: &str) -> Option<Self> {
        let text = text.strip_prefix("seedbank ")?;
        if text == "bank" {
            return Some(Self::Single);
        }
        if let Some(part) = text.strip_prefix("part ") {
            let (number, parts) = part.split_once(" of ")?;
            return Some(Self::Part(number.parse().ok()?, parts.parse().ok()?));
        }
        let parts = text.strip_prefix("bank of ")?;
        Some(Self::Cluster(parts.strip_suffix(" parts")?.parse().ok()?))
    }
}

/// Returns whether the folder contains a database or a published state.
fn has_state(bank: &Path) -> bool {
    ["live/CURRENT", "published/CURRENT"]
        .iter()
        .any(|file| bank.join(file).exists())
}

/// Fails unless the folder has the marker of a bank in the format of this build, and for a part of a cluster bank.
pub(crate) fn ensure_bank(bank: &Path) -> Result<(), StoreError> {
    match marker(bank)? {
        BankKind::Part(..) => Err(StoreError::IsPart(bank.to_path_buf())),
        BankKind::Single | BankKind::Cluster(_) => Ok(()),
    }
}

/// Reads the kind of a bank from its marker; an error if its format is not that of this build.
pub(crate) fn marker(bank: &Path) -> Result<BankKind, StoreError> {
    let marker = bank.join(MARKER);
    let lost = || {
        if has_state(bank) {
            StoreError::NoMarker(bank.to_path_buf())
        } else {
            StoreError::NoBank(bank.to_path_buf())
        }
    };
    let text = match read_text(&marker) {
        Ok(text) => text,
        Err(e) if is_file_damage(&e) => return Err(lost()),
        Err(e) => return Err(StoreError::io("read", marker)(e)),
    };
    let (kind, format) = text.split_once(FORMAT_TEXT).ok_or_else(lost)?;
    let kind = BankKind::parse(kind).ok_or_else(lost)?;
    let found: Format = format.trim().parse().map_err(|_| lost())?;
    found.ensure_current(bank)?;
    Ok(kind)
}

/// Durably marks the folder as one in which a bank is being created, until [`write_marker`].
pub(crate) fn begin_marker(bank: &Path) -> Result<(), StoreError> {
    let fresh = temporary_name(&bank.join(MARKER));
    let write = || {
        create_fresh(&fresh)?.sync_all()?;
        sync_folder(bank)
    };
    write().map_err(StoreError::io("write", &fresh))
}

/// Returns whether [`begin_marker`] was called for the folder, but not [`write_marker`].
pub(crate) fn has_begun_marker(bank: &Path) -> bool {
    temporary_name(&bank.join(MARKER)).is_file() && !bank.join(MARKER).exists()
}

/// Marks the folder as a bank of this kind in the format of this build.
pub(crate) fn write_marker(bank: &Path, kind: BankKind) -> Result<(), StoreError> {
    let format = Format::current();
    replace_file(&bank.join(MARKER), format!("{kind}{FORMAT_TEXT}{format}\n"))
}
