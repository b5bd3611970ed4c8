//! What a bank is on disk: its tables and files; what damage, kills and power cuts leave of it;
//! readers beside a writer.
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
mod damages;
#[cfg(target_os = "linux")]
mod faults;
#[cfg(target_os = "linux")]
mod file_systems;
#[cfg(target_os = "linux")]
mod forgotten_images;
mod fuzz_inputs;
mod graph_image;
mod link_bits;
mod log_damage;
#[cfg(unix)]
mod maintenance;
mod many_batches;
#[cfg(target_os = "linux")]
mod power_cut;
#[cfg(target_os = "linux")]
mod preload;
#[cfg(unix)]
mod processes;
#[cfg(unix)]
mod published;
mod readers;
mod remote_backups;
mod schema_tables;
#[path = "../support/mod.rs"]
mod support;
#[cfg(target_os = "linux")]
mod system_errors;
#[path = "../fuzz/targets/mod.rs"]
mod targets;
#[cfg(target_os = "linux")]
mod two_builds;
#[cfg(unix)]
mod web_shares;
