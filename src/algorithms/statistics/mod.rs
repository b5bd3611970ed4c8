//! Reproducible random samples, and means with their standard errors.

mod draw;
mod estimate;

pub use draw::{draw, draw_below};
pub use estimate::Estimate;
