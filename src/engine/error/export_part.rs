//! The parts of an export, for its error.

use std::fmt;

/// A part of an export.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ExportPart {
    /// The records of pages.
    Records,
    /// The list of sites.
    Sites,
}

impl fmt::Display for ExportPart {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Records => "the records",
            Self::Sites => "the list of sites",
        })
    }
}
