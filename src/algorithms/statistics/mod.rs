//! Reproducible random samples, means with their standard errors, geometric means, and power laws.

mod draw;
mod estimate;
mod geometric_mean;
mod power_law;

pub use draw::{draw, draw_below};
pub use estimate::Estimate;
pub use geometric_mean::{geometric_mean, mean_count, nearest_count};
pub use power_law::{PowerLaw, fit_power_law};
