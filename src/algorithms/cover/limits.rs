//! The largest settings that a plan may have.

/// The most hops a plan may ask for: no real site has pages further away than that.
pub const MAX_HOPS: u32 = 1000;
/// The largest absolute weight setting, in units; keeps every sum far from overflow.
pub const MAX_WEIGHT: i64 = 1_000_000;
/// The highest price of a page, in units: even where every page of the largest web has it, sums do
/// not overflow.
pub const MAX_PRICE: i64 = 1000;
