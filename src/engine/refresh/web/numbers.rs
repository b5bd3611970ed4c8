//! An earlier refresh of a plan over the web, and the numbers of pages in today's web.

use seedbank_algorithms::page::PageId;
use seedbank_store::records::{BatchId, RefreshId};

/// From page ids to numbers.
pub(super) struct Numbers(Vec<(PageId, u32)>);

impl Numbers {
    pub(super) fn new(pages: &[PageId]) -> Self {
        let mut by_id: Vec<(PageId, u32)> = pages.iter().copied().zip(0..).collect();
        by_id.sort_unstable();
        Self(by_id)
    }

    pub(super) fn of(&self, page: PageId) -> Option<u32> {
        let at = self.0.binary_search_by_key(&page, |(id, _)| *id).ok()?;
        Some(self.0[at].1)
    }
}

/// An earlier refresh of the plan with the same parameters.
#[derive(Clone, Copy)]
pub(crate) struct Earlier {
    pub(crate) refresh: RefreshId,
    /// The last batch of the state that it ran on.
    pub(crate) batch: BatchId,
    /// The last batch of today's state.
    pub(crate) today: BatchId,
}
