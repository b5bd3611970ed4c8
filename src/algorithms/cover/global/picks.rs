//! The result of a selection over the web.

use super::super::pick::{Pick, Scored, Stop};

/// The seeds of a plan over the web.
#[derive(Clone, PartialEq, Debug)]
pub struct WebCover {
    /// The seeds, in the order in which they were picked.
    pub picks: Vec<Pick>,
    /// The reason for the end of the selection.
    pub stop: Stop,
    /// The candidates that no pick reaches, ascending, with their scores after the last pick.
    pub uncovered: Vec<Scored>,
    /// Pages settled plus adjacency entries scanned, including the pass.
    pub page_visits: u64,
}
