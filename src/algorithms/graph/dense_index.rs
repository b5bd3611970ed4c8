//! 32-bit numbers of pages and classes.

/// Marks "no class" in arrays of class numbers.
pub const NONE: u32 = u32::MAX;

/// Converts a count or index that is known to be below 2^32.
///
/// [`Rows::push`](super::Rows::push) and [`Rows::graph`](super::Rows::graph) reject inputs that are
/// too large.
#[must_use]
pub fn number(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(NONE)
}
