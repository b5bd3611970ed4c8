//! The memory budget of a batch, in shares.

/// Number of shares of the memory budget. Two thirds of them can be in use at the same time; the
/// rest covers allocator overhead and read-ahead.
const SHARES: usize = 48;

/// Number of shares of a sorter: for one that sorts every link, for one that sorts every row, and
/// for most others.
pub(super) const LARGE: usize = 5;
pub(super) const MEDIUM: usize = 2;
pub(super) const SMALL: usize = 1;

/// Number of shares of a portion of the input, while nothing else is in memory.
pub(super) const GATHER_SHARES: usize = 14;

/// Returns the size of a share of a memory budget, in bytes.
pub(super) const fn share_of(memory: usize) -> usize {
    memory / SHARES
}
