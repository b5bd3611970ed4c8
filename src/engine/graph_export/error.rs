//! Errors of writing a graph.

use std::io;

use crate::engine::EngineError;

/// Error of writing a graph.
pub(super) enum GraphError {
    /// The bank could not be read.
    Read(EngineError),
    /// The output could not be written.
    Write(io::Error),
}

impl<E: Into<EngineError>> From<E> for GraphError {
    fn from(error: E) -> Self {
        Self::Read(error.into())
    }
}
