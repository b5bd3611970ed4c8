//! Seedbank: from which pages a continuous crawl should start, and why those.
//!
//! The crate docs are the architecture; they are completed as the rooms are built.

pub mod cores;
pub mod engine;
pub mod graph;
pub mod ingest;
pub mod page;
pub mod rank;
pub mod storage;
pub mod synth;
pub mod watch;
