//! Tests that are skipped for want of something say so where `make test` finds it.

use std::fs::OpenOptions;
use std::io::Write;

/// Says that a test is skipped since `what` is not here, and what to do about it. `make test` names
/// `what` on its last line: it reads the file that `SEEDBANK_SKIPPED` names.
pub fn skipped(test: &str, what: &str, advice: &str) {
    eprintln!("SKIPPED {test}: it needs {what}, which is not here ({advice})");
    let Some(list) = std::env::var_os("SEEDBANK_SKIPPED") else {
        return;
    };
    // One short write each, since several tests append at the same time.
    let line = format!("tests that need {what}\n");
    let mut list = OpenOptions::new()
        .create(true)
        .append(true)
        .open(list)
        .unwrap();
    list.write_all(line.as_bytes()).unwrap();
}
