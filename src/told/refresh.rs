//! What a refresh did, in words.

use crate::engine::RefreshView;
use crate::shown::counted;

/// How a refresh came to its list: whether it is certified, whether it began anew, and how much was
/// reused.
#[must_use]
pub fn how(refresh: &RefreshView) -> String {
    let certified = if refresh.certified {
        "certified"
    } else {
        "not certified"
    };
    let cold = if refresh.cold { ", cold" } else { "" };
    let reused = counted(refresh.steps_reused, "step");
    let computed = refresh.steps_recomputed;
    format!("{certified}{cold}, {reused} reused, {computed} computed")
}
