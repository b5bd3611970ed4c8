//! Numbers of pages and classes.

/// Stands for "no class" where a class number is expected.
pub const NONE: u32 = u32::MAX;

/// A count or index that is known to be below 2^32, as a 32-bit number.
///
/// [`Rows::push`](super::Rows::push) and [`Rows::graph`](super::Rows::graph) refuse inputs for
/// which one could be larger.
#[must_use]
pub fn number(index: usize) -> u32 {
    debug_assert!(
        u32::try_from(index).is_ok(),
        "checked when the rows came in"
    );
    u32::try_from(index).unwrap_or(NONE)
}
