//! Reports an abort of the process and ends it with status 1 instead of a signal.
//!
//! When memory or threads run out, Rust's allocator and RocksDB, which is C++, call `abort`, with a
//! message for programmers or with none. Neither can be caught as an error: Rust has no hook for it,
//! and an exception must not unwind from C++ into Rust. What can be caught is the signal that `abort`
//! raises. A bank survives the end of the process at any moment.
//!
//! This is the only module with unsafe code, since a signal handler may call few functions and the
//! compiler cannot check which ones it calls. Everything that the handler uses is prepared in advance.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;

use signal_hook::consts::SIGABRT;
use signal_hook::low_level::{exit, register};

const MESSAGE: &str = "\
error: the process was aborted: out of memory or threads, unless the lines above say otherwise
hint: provide more memory, or use smaller values of --memory and --threads; no partial result is visible
";

/// The same text as a line of JSON, without a timestamp: reading the clock in a handler could allocate.
const MESSAGE_AS_JSON: &str = "{\"level\":\"error\",\"message\":\"the process was aborted: out of memory \
or threads, unless the lines above say otherwise\",\"hint\":\"provide more memory, or use smaller values \
of --memory and --threads; no partial result is visible\",\"exit_status\":1}
";

/// Installs the handler for aborts.
pub(super) fn prepare(as_json: bool) -> io::Result<()> {
    let out = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let message = if as_json { MESSAGE_AS_JSON } else { MESSAGE }.as_bytes();
    let action = move || {
        // There is no way to report a failure here.
        let _ = (&out).write(message);
        exit(1);
    };
    // SAFETY: the action only calls `write` and `_exit`, which are async-signal-safe; it does not
    // allocate memory, take locks, or panic.
    #[expect(unsafe_code, reason = "the action is async-signal-safe, see above")]
    unsafe { register(SIGABRT, action) }.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::Value;

    #[test]
    fn both_formats_have_the_same_text() {
        let line: Value = serde_json::from_str(MESSAGE_AS_JSON).unwrap();
        let of = |field: &str| line[field].as_str().unwrap();
        let text = format!("error: {}\nhint: {}\n", of("message"), of("hint"));
        assert_eq!(text, MESSAGE);
        assert_eq!(
            (of("level"), &line["exit_status"]),
            ("error", &Value::from(1))
        );
    }
}
