//! What a bank is on disk: its tables and files; what damage, kills and power cuts leave of it;
//! readers beside a writer; banks that earlier builds wrote.
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

mod bank_damage;
mod bank_folder;
mod check_finds_damage;
#[cfg(unix)]
mod cluster_banks;
#[cfg(unix)]
mod cluster_cores;
#[cfg(target_os = "linux")]
mod cluster_maintenance;
#[cfg(unix)]
mod cluster_processes;
#[cfg(unix)]
mod copies;
mod crash;
#[cfg(unix)]
mod crash_maintenance;
#[cfg(unix)]
mod crash_repair;
mod damages;
#[cfg(target_os = "linux")]
mod faults;
mod fuzz_inputs;
mod graph_image;
#[cfg(unix)]
mod kills;
mod link_bits;
mod log_damage;
mod many_batches;
mod old_formats;
#[cfg(target_os = "linux")]
mod power_cut;
#[cfg(target_os = "linux")]
mod preload;
#[cfg(target_os = "linux")]
mod process_kills;
#[cfg(unix)]
mod processes;
mod readers;
mod remote_backups;
mod schema_tables;
#[path = "../support/mod.rs"]
mod support;
#[path = "../fuzz/targets/mod.rs"]
mod targets;
#[cfg(unix)]
mod web_shares;
