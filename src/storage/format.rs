//! The format versions in which banks are written and read.

/// The format version of banks that this build writes.
pub const FORMAT: u32 = 5;

/// The oldest format that this build reads and, when it writes, upgrades to its own: format 4 kept
/// what it had acknowledged in its log alone.
pub const OLDEST_FORMAT: u32 = 4;
