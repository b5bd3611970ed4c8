//! Errors within the decoder of `webgraph`.
//!
//! A [`Decode`](webgraph::graphs::bvgraph::Decode) cannot fail. So an invalid number unwinds the
//! stack without calling the panic hook, and [`guarded`] turns that into an error. It does the same
//! with a panic of the crates below, which assert on codes that are too long; the message of such a
//! panic is not printed.

use std::panic::resume_unwind;

use crate::ingest::catch_panic::catch_panic;

/// A description of an invalid number.
struct InvalidCode(String);

/// Unwinds the decoding step that [`guarded`] runs.
pub(super) fn reject(what: String) -> ! {
    resume_unwind(Box::new(InvalidCode(what)))
}

/// Runs a decoding step; an error describes what is invalid.
///
/// After an error, values that the step has changed must not be used.
pub(super) fn guarded<T>(step: impl FnOnce() -> T) -> Result<T, String> {
    catch_panic(step).map_err(|payload| match payload.downcast() {
        Ok(invalid) => {
            let InvalidCode(what) = *invalid;
            what
        }
        Err(_) => "its bits are not valid codes".to_owned(),
    })
}
