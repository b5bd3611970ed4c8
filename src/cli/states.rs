//! What pages are to the crawler, in words.

use seedbank::engine::PageState;

pub(super) const fn state(state: PageState) -> &'static str {
    match state {
        PageState::Known => "known, not crawled",
        PageState::Crawled => "crawled",
        PageState::Gone => "gone",
        PageState::Unlinked => "no page any more: nobody links to it",
        PageState::Alias => "an alias",
    }
}

/// A page's state and whether it is spam.
pub(super) fn told(state: PageState, spam: bool) -> String {
    let spam = if spam { ", spam" } else { "" };
    [self::state(state), spam].concat()
}
