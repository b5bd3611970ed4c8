//! What kinds of things are called.

use crate::engine::{BatchKind, PageState};

/// What a batch is called by its kind.
#[must_use]
pub const fn kind_name(kind: BatchKind) -> &'static str {
    match kind {
        BatchKind::Snapshot => "snapshot",
        BatchKind::Delta => "delta",
        BatchKind::Undo => "undo",
        BatchKind::Forget => "forget",
    }
}

/// What a page is to the crawler.
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
