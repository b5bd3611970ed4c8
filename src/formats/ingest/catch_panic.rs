//! Panics of third-party decoders on damaged input, as errors.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a closure; if it panics, returns the payload, and nothing is printed.
///
/// State that the closure modified must not be used after an error.
pub(super) fn catch_panic<T>(step: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let previous_hook = take_hook();
        set_hook(Box::new(move |info| {
            if !GUARDED.get() {
                previous_hook(info);
            }
        }));
    });
    GUARDED.set(true);
    let result = catch_unwind(AssertUnwindSafe(step));
    GUARDED.set(false);
    result
}
