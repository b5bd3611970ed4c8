//! Text of several lines.

use std::fmt::{Display, Write};

/// Lines of text, indented below the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Lines(pub String);

impl Lines {
    /// Adds a line, indented.
    pub fn add(&mut self, line: impl Display) {
        // Writing to a String cannot fail.
        let _ = Write::write_fmt(&mut self.0, format_args!("  {line}\n"));
    }
}
