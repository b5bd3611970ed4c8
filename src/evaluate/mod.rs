//! Judging seeds: searches over the whole graph, and statistics of what they find.
//!
//! | module | what it does |
//! | --- | --- |
//! | [`estimate`] | means and their standard errors |

pub mod estimate;

pub use estimate::Estimate;
