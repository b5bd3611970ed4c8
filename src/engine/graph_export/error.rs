//! Why a graph was not written.

use std::io;

use crate::engine::EngineError;

/// Why a graph was not written.
pub(super) enum GraphError {
    /// It could not be read.
    Read(EngineError),
    /// It could not be put where the caller wants it.
    Write(io::Error),
}

impl<E: Into<EngineError>> From<E> for GraphError {
    fn from(error: E) -> Self {
        Self::Read(error.into())
    }
}
