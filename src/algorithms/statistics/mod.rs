//! Reproducible random samples, means with their standard errors, and power laws.

mod draw;
mod estimate;
mod power_law;

pub use draw::{draw, draw_below};
pub use estimate::Estimate;
pub use power_law::{PowerLaw, fit_power_law};
