//! Commands that create, maintain and describe a bank; errors, exit statuses and logs of all commands.
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
#[cfg(unix)]
mod cluster_backups;
mod commands;
mod completions;
mod daily;
mod failures;
mod forget;
#[cfg(unix)]
mod interrupts;
mod limits;
#[cfg(unix)]
mod links;
mod log_lines;
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
mod refused;
#[cfg(unix)]
mod relays;
mod schemas;
#[cfg(unix)]
mod slow_networks;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod systemd;
mod undo;
#[cfg(unix)]
mod wrong_lines;
