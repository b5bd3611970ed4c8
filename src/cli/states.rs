//! What pages are to the crawler, in words.

use seedbank::engine::PageState;
use seedbank::told::state_name;

/// A page's state and whether it is spam.
pub(super) fn told(state: PageState, spam: bool) -> String {
    let spam = if spam { ", spam" } else { "" };
    [state_name(state), spam].concat()
}
