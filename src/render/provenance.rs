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
    let certified = if refresh.certified {
        "certified"
    } else {
        "not certified"
    };
    format!("{certified}, {}", reuse(refresh))
}

/// Describes how many steps a refresh reused.
#[must_use]
pub fn reuse(refresh: &RefreshView) -> String {
    format!(
        "{}{} reused, {} computed",
        if refresh.cold { "cold, " } else { "" },
        counted(refresh.steps_reused, "step"),
        refresh.steps_recomputed
    )
}

/// Describes whether the result of a refresh is proven, for readers who do not know what a certificate is.
/// The proof is about the computation: it says nothing about how much a crawl from the seeds finds.
#[must_use]
pub const fn proof(certified: bool) -> &'static str {
    if certified {
        "computation proven"
    } else {
        "computation not proven"
    }
}
