//! The shape of a crawl in numbers, to compare a generated crawl with a real one.
//!
//! All data are held in memory, so this is for crawls of up to some million links.

mod counts;
mod graph;
mod sigma;

pub use counts::Shape;
