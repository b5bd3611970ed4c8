//! The versions of the format that banks are written and read in.

/// The format version of banks that this build writes.
pub const FORMAT: u32 = 5;

/// The oldest format that this build reads, and brings to its own when it writes: format 4 knew
/// what it had acknowledged in its log alone.
pub const OLDEST_FORMAT: u32 = 4;
