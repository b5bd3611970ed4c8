//! Ranges of parameters, and the default number of seeds per site.

use std::ops::RangeInclusive;

use super::value::{UNIT, Value};

/// The default number of seeds per site.
pub const PER_SITE: u32 = 10;
/// The range of `hops`.
pub const HOPS: RangeInclusive<u32> = 0..=MAX_HOPS;
/// The range of weights.
pub const WEIGHTS: RangeInclusive<Value> = Value(-MAX_WEIGHT * UNIT)..=Value(MAX_WEIGHT * UNIT);
/// The range of qualities and shares.
pub const SHARES: RangeInclusive<Value> = Value(0)..=Value(UNIT);
/// The range of fetch costs.
pub const PRICES: RangeInclusive<Value> = Value(0)..=Value(MAX_PRICE * UNIT);

/// The most hops; pages of real sites are nearer than that.
pub const MAX_HOPS: u32 = 1000;
/// The largest absolute weight, in units. No sum overflows.
pub const MAX_WEIGHT: i64 = 1_000_000;
/// The highest fetch cost of a page, in units. No sum overflows, even if every page of the largest web has
/// this cost.
pub const MAX_PRICE: i64 = 1000;
