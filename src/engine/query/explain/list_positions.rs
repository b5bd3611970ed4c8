//! Positions of pages on the list of a refresh, which policies can make different from the method's
//! selection.

use std::collections::HashMap;

use seedbank_algorithms::page::PageId;
use seedbank_store::records::RefreshId;
use seedbank_store::{Store, StoreError, tables};

/// Position of a page on the list and in the method's selection.
#[derive(Clone, Copy, Debug)]
pub(super) struct ListPosition {
    /// Rank on the list; `None` if the page is not on it.
    pub(super) listed: Option<u32>,
    /// Rank in the method's selection; `None` if it does not contain the page.
    pub(super) chosen: Option<u32>,
    /// Last refresh of the plan in which the method selected the page.
    pub(super) last_chosen: RefreshId,
}

/// Positions of the pages that are on the list or in the method's selection.
///
/// Memory: some 40 bytes per seed.
pub(super) struct ListPositions(HashMap<PageId, ListPosition>);

impl ListPositions {
    /// Reads the positions of a refresh. `differs` tells whether its list differs from the method's selection.
    ///
    /// Cost: one scan of its seeds, and one of its list if that differs.
    pub(super) fn read(
        store: &Store,
        refresh: RefreshId,
        differs: bool,
    ) -> Result<Self, StoreError> {
        let prefix = refresh.to_be_bytes();
        let mut positions = HashMap::new();
        for entry in store.scan_under(&tables::SEEDS, &prefix)? {
            let ((_, rank), seed) = entry?;
            let position = ListPosition {
                listed: (!differs).then_some(rank),
                chosen: Some(rank),
                last_chosen: refresh,
            };
            positions.insert(seed.page, position);
        }
        if differs {
            for entry in store.scan_under(&tables::FINAL_LIST, &prefix)? {
                let ((_, rank), listed) = entry?;
                let position = ListPosition {
                    listed: Some(rank),
                    chosen: listed.chosen,
                    last_chosen: listed.last_chosen,
                };
                positions.insert(listed.page, position);
            }
        }
        Ok(Self(positions))
    }

    /// Returns the position of a page; `None` if it is neither on the list nor in the selection.
    pub(super) fn get(&self, page: PageId) -> Option<ListPosition> {
        self.0.get(&page).copied()
    }

    /// Iterates over the pages on the list with their ranks, in no particular order.
    pub(super) fn listed(&self) -> impl Iterator<Item = (u32, PageId)> {
        let all = self.0.iter();
        all.filter_map(|(page, position)| Some((position.listed?, *page)))
    }
}
