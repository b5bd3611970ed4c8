//! Clusters of several processes on one machine: threads where possible, real processes where signals
//! are sent.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod greetings;
mod losses;
mod members_files;
mod mesh;
mod process_numbers;
mod requests;
mod strangers;
mod support;
