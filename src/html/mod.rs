//! What every page for people is made of: the report's and the server's.
//!
//! ```text
//! templates/   base.html for any page; parts.html, figure.html
//! style.css    light, dark, phone and paper
//! text.rs      escaping and numbers
//! chart.rs, bars.rs  inline SVG; figure.rs a chart with its numbers
//! ```
//!
//! Text from the web is hostile until it is escaped, which templates do with all text.

pub(crate) mod bars;
pub(crate) mod chart;
pub(crate) mod figure;
pub(crate) mod text;

/// The style of every page.
pub(crate) const STYLE: &str = include_str!("style.css");
