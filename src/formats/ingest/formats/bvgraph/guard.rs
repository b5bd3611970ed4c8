//! How a number that does not fit gets out of `webgraph`'s decoding.
//!
//! A [`Decode`](webgraph::graphs::bvgraph::Decode) has no way to fail. A number that does not fit
//! leaves by unwinding, without the panic hook, and [`guarded`] turns it into an error. It does the
//! same with a panic of the crates below, which assert on codes that are too long; the message of
//! such a panic is not printed.

use std::panic::resume_unwind;

use crate::ingest::catch_panic::catch_panic;

/// What does not fit, as text.
struct Misfit(String);

/// Leaves the decoding step that [`guarded`] runs.
pub(super) fn misfit(what: String) -> ! {
    resume_unwind(Box::new(Misfit(what)))
}

/// Runs a decoding step; an error says what does not fit in it.
///
/// What the step has changed must not be used after an error.
pub(super) fn guarded<T>(step: impl FnOnce() -> T) -> Result<T, String> {
    catch_panic(step).map_err(|payload| match payload.downcast() {
        Ok(misfit) => {
            let Misfit(what) = *misfit;
            what
        }
        Err(_) => "its bits are not valid codes".to_owned(),
    })
}
