//! Display names of kinds and states.

use crate::engine::ingest::BatchKind;
use crate::engine::query::PageState;

/// Returns the display name of a kind of batch.
#[must_use]
pub const fn kind_name(kind: BatchKind) -> &'static str {
    match kind {
        BatchKind::Snapshot => "snapshot",
        BatchKind::Delta => "delta",
        BatchKind::Undo => "undo",
        BatchKind::Forget => "forget",
    }
}

/// Returns a phrase for the state of a page.
#[must_use]
pub const fn state_name(state: PageState) -> &'static str {
    match state {
        PageState::Known => "known, not crawled",
        PageState::Crawled => "crawled",
        PageState::Gone => "gone",
        PageState::Unlinked => "no longer a page: no page links to it",
        PageState::Alias => "an alias",
    }
}
