//! The format version of banks, and the older formats that this build can migrate.

/// The format version of banks that this build reads and writes.
pub const FORMAT: u32 = 15;

/// The last format of the builds before 0.1, which this build cannot read. The numbers 2 to 11 are
/// never reused: the format after 1 is 12.
pub(crate) const LAST_UNRELEASED: u32 = 11;

/// An older format that a migration step (`src/store/publish/migration_steps.rs`) upgrades.
pub(crate) struct OlderFormat {
    /// The number of the format.
    pub(crate) number: u32,
    /// The number of the next format.
    pub(crate) next: u32,
    /// The number of tables that the format lacks, the last ones of [`ALL`](crate::tables::ALL). They are created
    /// when the bank is opened for writing.
    pub(crate) missing_tables: usize,
}

/// Format 1 also has no fetch times of pages and no counts of stale records. Both are read as absent, so nothing
/// is rewritten.
const FORMAT_1: OlderFormat = OlderFormat {
    number: 1,
    next: 12,
    missing_tables: 4,
};

/// Format 12 has no table of failed fetches, and the cached steps of refreshes within a bound by refresh.
const FORMAT_12: OlderFormat = OlderFormat {
    number: 12,
    next: 13,
    missing_tables: 4,
};

/// Format 13 has no tables of what fetches brought, of what batches overwrote of them, and of fetches by seed.
const FORMAT_13: OlderFormat = OlderFormat {
    number: 13,
    next: 14,
    missing_tables: 3,
};

/// Format 14 has each set of pages in one part, whose key is that of the first part.
const FORMAT_14: OlderFormat = OlderFormat {
    number: 14,
    next: 15,
    missing_tables: 0,
};

/// The older formats, the oldest first.
#[cfg(not(test))]
pub(crate) const OLDER: &[OlderFormat] = &[FORMAT_1, FORMAT_12, FORMAT_13, FORMAT_14];

/// Returns the formats to migrate through from `format` to [`FORMAT`], in order, without the last;
/// `None` if this build cannot read the format.
pub(crate) fn upgrade_path(format: u32) -> Option<&'static [OlderFormat]> {
    if format == FORMAT {
        return Some(&[]);
    }
    let first = OLDER.iter().position(|older| older.number == format)?;
    OLDER.get(first..)
}

/// A format 0 that exists only in unit tests.
#[cfg(test)]
pub(crate) const OLDER: &[OlderFormat] = &[
    crate::maintenance::migrate::tests::FORMAT_0,
    FORMAT_1,
    FORMAT_12,
    FORMAT_13,
    FORMAT_14,
];
