//! Answers of a bank in words and as lists, the same on the command line and in a browser.
//!
//! Whatever is told holds URLs and names that others chose: before it is printed on a terminal it goes
//! through [`readable`](crate::shown::readable) or [`plain`](crate::shown::plain), and into HTML only
//! escaped.

mod explain;
mod lines;
mod policy;
mod refresh;
mod seeds;
mod sentence;
mod web;

pub use explain::{of_page, of_site};
pub use lines::Lines;
pub use policy::{policy, shortage, stars};
pub use refresh::how;
pub use seeds::{SeedFormat, write_seeds};
pub use sentence::sentence;
