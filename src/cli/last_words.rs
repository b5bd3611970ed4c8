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

const WORDS: &[u8] = b"\
error: the process could not go on: memory or a thread could not be had, unless the lines above say otherwise
hint: give it more memory, or smaller numbers of --memory and --threads; nothing half done is visible
";

/// Gives the process its last words from now on.
pub(super) fn prepare() -> io::Result<()> {
    let out = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let action = move || {
        // If this fails, nobody can be told.
        let _ = (&out).write(WORDS);
        exit(1);
    };
    // SAFETY: the action calls `write` and `_exit`, which are both allowed in a handler; it
    // allocates no memory, takes no lock, and does not panic.
    #[expect(unsafe_code, reason = "the action is allowed in a handler, see above")]
    unsafe { register(SIGABRT, action) }.map(drop)
}
