//! Errors of formats, for which a whole input is refused.

use std::error::Error;

use crate::ingest::open::InputError;
use crate::ingest::source::Stop;

/// An error of a format, for which a whole input is refused.
pub(super) trait FormatError: Error + Send + Sync + 'static {}

impl<E: FormatError> From<E> for InputError {
    fn from(error: E) -> Self {
        Self::Format(Box::new(error))
    }
}

impl<E: FormatError> From<E> for Stop {
    fn from(error: E) -> Self {
        Self::Input(error.into())
    }
}
