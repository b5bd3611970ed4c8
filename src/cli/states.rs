//! Names of page states.

use seedbank::engine::query::PageState;
use seedbank::render::state_name;

/// Returns the name of a page's state, and whether the page is spam.
pub(super) fn state_and_spam(state: PageState, spam: bool) -> String {
    let spam = if spam { ", spam" } else { "" };
    [state_name(state), spam].concat()
}
