//! A generated web.
mod address;
mod calibrate;
mod draw;
mod files;
mod life;
mod links;
mod options;
mod record;
mod rolls;
pub mod shape;
mod stream;
mod web;

pub use files::{DayFile, SynthSummary, generate};
pub use options::{SynthError, SynthOptions};
pub use record::DayCounts;
pub use stream::{DayReader, day_text};
pub use web::Web;
