//! How a number that does not fit gets out of `webgraph`'s decoding.
//!
//! A [`Decode`](webgraph::graphs::bvgraph::Decode) has no way to fail. A number that does not fit
//! leaves by unwinding, without the panic hook, and [`guarded`] turns it into an error. It does the
//! same with a panic of the crates below, which assert on codes that are too long; the message of
//! such a panic is not printed.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::sync::Once;

/// What does not fit, as text.
struct Misfit(String);

/// Leaves the decoding step that [`guarded`] runs.
pub(super) fn misfit(what: String) -> ! {
    resume_unwind(Box::new(Misfit(what)))
}

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a decoding step; an error says what does not fit in it.
///
/// What the step has changed must not be used after an error.
pub(super) fn guarded<T>(step: impl FnOnce() -> T) -> Result<T, String> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |about| {
            if !GUARDED.get() {
                before(about);
            }
        }));
    });
    GUARDED.set(true);
    let done = catch_unwind(AssertUnwindSafe(step));
    GUARDED.set(false);
    done.map_err(|payload: Box<dyn Any + Send>| match payload.downcast() {
        Ok(misfit) => {
            let Misfit(what) = *misfit;
            what
        }
        Err(_) => "its bits are no codes".to_owned(),
    })
}
