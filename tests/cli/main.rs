//! Commands that create, maintain and describe a bank; errors, exit statuses and logs of all commands. Many tests are the texts
//! beside this file (`tests/support/transcript.rs`).
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]
#![expect(
    unreachable_pub,
    reason = "what is shared here is reachable by nobody outside"
)]

#[cfg(unix)]
mod backups;
mod daily;
mod hints;
#[cfg(unix)]
mod interrupts;
mod limits;
#[cfg(unix)]
mod links;
#[cfg(unix)]
mod maintenance;
mod metrics;
#[cfg(unix)]
mod process_errors;
#[cfg(unix)]
mod process_exports;
#[cfg(unix)]
mod process_inputs;
#[cfg(unix)]
mod process_status;
#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod relays;
mod schemas;
#[cfg(unix)]
mod slow_networks;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod systemd;
#[cfg(unix)]
mod wrong_lines;

crate::transcripts!(
    "tests/cli", besides ["wrong_lines"],
    backups commands failures forget refused
);
