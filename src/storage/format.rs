//! The format versions in which banks are written and read.

/// The format version of banks that this build writes.
pub const FORMAT: u32 = 11;

/// The oldest format that this build reads and, when it writes, upgrades to its own: format 4 kept
/// what it had acknowledged in its log alone.
pub const OLDEST_FORMAT: u32 = 4;

/// The first format that keeps what it has acknowledged in a file of its own.
pub(super) const ACKNOWLEDGING: u32 = 5;

/// The first format with the tables of aliases.
pub(super) const WITH_ALIASES: u32 = 6;

/// The first format with the lists of plans.
pub(super) const WITH_LISTS: u32 = 7;

/// The first format that can take the last batch back, bar what was forgotten, and look up the
/// lists that a page is on.
pub(super) const WITH_UNDO: u32 = 8;

/// The first format that keeps what proves the steps of a refresh within a bound.
pub(super) const WITH_KEPT_STEPS: u32 = 9;

/// The first format whose banks and states have identities, and whose intents name the size and the
/// hash of every file of a bulk load.
pub(super) const WITH_LINEAGE: u32 = 11;
