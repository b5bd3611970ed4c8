//! Errors of building a graph.

/// Reason why rows do not make a graph.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum GraphError {
    /// A list of pages is not strictly ascending.
    #[error("the pages of a row are not in ascending order; sort and deduplicate them first")]
    Unsorted,
    /// A page has two rows.
    #[error("page {0} has two rows; merge their targets into one row first")]
    TwoRows(u32),
    /// More rows or pages than 32-bit numbers can count.
    #[error("more than 4 billion rows or pages; rank parts of the graph separately")]
    TooLarge,
}
