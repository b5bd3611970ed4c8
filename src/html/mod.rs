//! Building blocks of HTML pages, shared by the report and the server.
//!
//! ```text
//! templates/         page_base.html for any page; parts.html, figure.html, seed_change.html
//! style.css          light, dark, phone and paper
//! text.rs            escaping and numbers
//! chart.rs, bars.rs  charts as inline SVG
//! sparkline.rs       bars in the size of a word
//! figure.rs          a chart with its numbers in a table
//! changes.rs         gained and lost seeds
//! truncate.rs        truncated lists
//! ```
//!
//! Text from the web is untrusted; templates escape all text.

pub(crate) mod bars;
pub(crate) mod changes;
pub(crate) mod chart;
pub(crate) mod figure;
#[cfg(feature = "serve")]
pub(crate) mod sparkline;
pub(crate) mod text;
pub(crate) mod truncate;

/// The style sheet of every page.
pub(crate) const STYLE: &str = include_str!("style.css");
