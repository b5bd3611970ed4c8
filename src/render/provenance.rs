//! How a refresh came to its result.

use crate::engine::RefreshView;
use seedbank_formats::shown::counted;

/// Whether a refresh is proven, and what of it was taken over from the one before.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// let refreshes = bank.history()?.refreshes;
/// let how = seedbank::render::provenance(&refreshes[0]);
/// assert_eq!(how, "certified, cold, 0 steps reused, 1 computed");
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
