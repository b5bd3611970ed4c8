//! A step of a decoder that panics, in the crates below, at some damages.

use std::any::Any;
use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, set_hook, take_hook};
use std::sync::Once;

thread_local! {
    static GUARDED: Cell<bool> = const { Cell::new(false) };
}

/// Runs a step; an error is what it panicked with, of which nothing is printed.
///
/// What the step has changed must not be used after an error.
pub(super) fn caught<T>(step: impl FnOnce() -> T) -> Result<T, Box<dyn Any + Send>> {
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
    done
}
