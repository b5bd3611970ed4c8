//! Describes how a refresh obtained its result.

use crate::engine::refresh::RefreshView;
use seedbank_formats::display::counted;

/// Describes whether a refresh is certified, and how many steps it reused.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// let refreshes = bank.history()?.refreshes;
/// let provenance = seedbank::render::provenance(&refreshes[0]);
/// assert_eq!(provenance, "certified, cold, 0 steps reused, 1 computed");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[must_use]
pub fn provenance(refresh: &RefreshView) -> String {
    format!(
        "{}{}, {} reused, {} computed",
        if refresh.certified {
            "certified"
        } else {
            "not certified"
        },
        if refresh.cold { ", cold" } else { "" },
        counted(refresh.steps_reused, "step"),
        refresh.steps_recomputed
    )
}
