//! URLs of the nodes of a graph, for records that name pages by node.

use std::fmt;

use super::location::Location;

/// The URLs of the nodes of a graph, which are numbered from 0.
pub trait NodeUrls: fmt::Debug + Send + Sync {
    /// Iterates over the nodes with valid URLs, in order. Two nodes may have the same URL.
    ///
    /// Cost: parses every URL.
    fn locations(&self) -> Box<dyn Iterator<Item = (u32, Location)> + '_>;
}
