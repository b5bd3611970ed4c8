//! A site of a generated web.

use super::draw::Draw;

/// The common properties of a site's pages.
#[derive(Clone, Copy, Debug)]
pub(super) struct Site {
    pub(super) number: u32,
    pub(super) key: Draw,
    /// The number of pages on day 0.
    pub(super) size: u32,
    /// Pages 1 to `sections` are the section pages; page 0 is the home page.
    pub(super) sections: u32,
    pub(super) spam: bool,
}

impl Site {
    /// Returns whether a page never disappears: the home page and section pages.
    pub(super) const fn stays(&self, page: u32) -> bool {
        page <= self.sections
    }

    /// Returns the section of a page; the home page belongs to the first one.
    pub(super) fn section(&self, page: u32) -> u32 {
        page.saturating_sub(1) % self.sections.max(1)
    }
}
