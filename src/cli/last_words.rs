//! A process that cannot go on says so and ends with status 1, not by a signal.
//!
//! Running out of memory or threads ends a process from within: Rust's allocator and RocksDB, which
//! is C++, both call `abort`, with words for programmers or with none. Neither can be caught as an
//! error: Rust has no hook for it, and an exception must not pass from C++ into Rust. All that is
//! left is the signal that `abort` raises. A bank survives the end of the process at any moment.
//!
//! This is the one place with unsafe code, since handlers may do little and the compiler cannot see
//! how much they do. Everything that this handler uses is prepared at the start.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use signal_hook::consts::SIGABRT;
use signal_hook::low_level::{exit, register};

const WORDS: &str = "\
error: the process could not go on: memory or a thread could not be had, unless the lines above say otherwise
hint: give it more memory, or smaller numbers of --memory and --threads; nothing half done is visible
";

/// The same as a line of JSON; a handler cannot tell the time without taking memory.
const WORDS_AS_JSON: &str = "{\"level\":\"error\",\"message\":\"the process could not go on: memory \
or a thread could not be had, unless the lines above say otherwise\",\"hint\":\"give it more memory, or \
smaller numbers of --memory and --threads; nothing half done is visible\",\"exit_status\":1}
";

/// Gives the process its last words from now on.
pub(super) fn prepare(as_json: bool) -> io::Result<()> {
    let out = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let words = if as_json { WORDS_AS_JSON } else { WORDS }.as_bytes();
    let action = move || {
        // If this fails, nobody can be told.
        let _ = (&out).write(words);
        exit(1);
    };
    // SAFETY: the action calls `write` and `_exit`, which are both allowed in a handler; it
    // allocates no memory, takes no lock, and does not panic.
    #[expect(unsafe_code, reason = "the action is allowed in a handler, see above")]
    unsafe { register(SIGABRT, action) }.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn both_forms_say_the_same() {
        let line: Value = serde_json::from_str(WORDS_AS_JSON).unwrap();
        let of = |field: &str| line[field].as_str().unwrap();
        let text = format!("error: {}\nhint: {}\n", of("message"), of("hint"));
        assert_eq!(text, WORDS);
        assert_eq!(
            (of("level"), &line["exit_status"]),
            ("error", &Value::from(1))
        );
    }
}
