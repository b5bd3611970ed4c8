//! The ranges of settings, and the number of seeds per site.

use std::ops::RangeInclusive;

use super::value::{UNIT, Value};

/// Seeds per site of a plan that does not say how many.
pub const PER_SITE: u32 = 10;
/// How many hops a plan may ask for.
pub const HOPS: RangeInclusive<u32> = 0..=MAX_HOPS;
/// The weights of pages.
pub const WEIGHTS: RangeInclusive<Value> = Value(-MAX_WEIGHT * UNIT)..=Value(MAX_WEIGHT * UNIT);
/// Qualities, and shares of links.
pub const SHARES: RangeInclusive<Value> = Value(0)..=Value(UNIT);
/// What a page may cost.
pub const PRICES: RangeInclusive<Value> = Value(0)..=Value(MAX_PRICE * UNIT);

/// The most hops a plan may ask for: no real site has pages further away than that.
pub const MAX_HOPS: u32 = 1000;
/// The largest absolute weight setting, in units; keeps every sum far from overflow.
pub const MAX_WEIGHT: i64 = 1_000_000;
/// The highest price of a page, in units: even where every page of the largest web has it, sums do
/// not overflow.
pub const MAX_PRICE: i64 = 1000;
