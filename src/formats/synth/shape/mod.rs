//! The shape of a crawl in numbers, to compare a generated one with a real one.
//!
//! Everything is held in memory, so this is for crawls of up to some million links.

mod counts;
mod graph;
mod sigma;

pub use counts::{CountStats, Shape};
