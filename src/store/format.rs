//! The format version of banks, and the older formats that can be migrated to it.

use crate::table_info::TableInfo;

/// The format version of banks that this build reads and writes.
pub const FORMAT: u32 = 1;

/// The last format of the builds before 0.1. This build reads none of them, and no later format
/// takes one of their numbers, 2 to 11: the format after 1 is 12.
pub(crate) const LAST_UNRELEASED: u32 = 11;

/// An older format from which a [step](crate::publish::migration_steps) leads to the next one.
pub(crate) struct OlderFormat {
    /// The number of the format.
    pub(crate) number: u32,
    /// The number of the next format.
    pub(crate) next: u32,
    /// The tables of the format; the others of [`ALL`](crate::tables::ALL) are made when the bank is
    /// opened for writing.
    pub(crate) tables: &'static [TableInfo],
}

/// The older formats, the oldest first. There are none yet, since format 1 is the first.
#[cfg(not(test))]
pub(crate) const OLDER: &[OlderFormat] = &[];

/// The formats on the way from this one to [`FORMAT`], in order, without the last; `None` where this
/// build cannot read the format.
pub(crate) fn older_from(format: u32) -> Option<&'static [OlderFormat]> {
    if format == FORMAT {
        return Some(&[]);
    }
    let first = OLDER.iter().position(|older| older.number == format)?;
    OLDER.get(first..)
}

/// A format 0 that exists in unit tests alone.
#[cfg(test)]
pub(crate) const OLDER: &[OlderFormat] = &[crate::maintenance::migrate::tests::FORMAT_0];
