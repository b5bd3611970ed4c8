//! Seedbank: from which pages a continuous crawl should start, and why those.
//!
//! The crate docs are the architecture; they are completed as the rooms are built.

pub mod page;
pub mod synth;
pub mod watch;
