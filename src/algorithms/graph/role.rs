//! The two sides of the graph.

/// Side of the graph that a class is on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Role {
    /// A hub class.
    Hub,
    /// An authority class.
    Authority,
}

impl Role {
    pub(crate) const fn other(self) -> Self {
        match self {
            Self::Hub => Self::Authority,
            Self::Authority => Self::Hub,
        }
    }
}
