//! Where pages stand on the list of a refresh, which policies can make another than what the method came
//! to.

use std::collections::HashMap;

use seedbank_algorithms::page::PageId;
use seedbank_store::records::RefreshId;
use seedbank_store::{Store, StoreError, tables};

/// Where a page stands on the list, and in what the method came to.
#[derive(Clone, Copy, Debug)]
pub(super) struct Place {
    /// Its rank on the list; `None` where it is not on it.
    pub(super) listed: Option<u32>,
    /// Its rank among the seeds that the method came to; `None` where it is none of them.
    pub(super) chosen: Option<u32>,
    /// The last refresh of the plan in which the method came to it.
    pub(super) last_chosen: RefreshId,
}

/// The places of the pages that are on the list, or that the method came to.
///
/// Memory: some 40 bytes a seed.
pub(super) struct Places(HashMap<PageId, Place>);

impl Places {
    /// Reads the places of a refresh. `differs` says whether its list is another than what the method
    /// came to.
    ///
    /// Cost: one scan of its seeds, and where the list differs one of that.
    pub(super) fn read(
        store: &Store,
        refresh: RefreshId,
        differs: bool,
    ) -> Result<Self, StoreError> {
        let prefix = refresh.to_be_bytes();
        let mut places = HashMap::new();
        for entry in store.scan_under(&tables::SEEDS, &prefix)? {
            let ((_, rank), seed) = entry?;
            let place = Place {
                listed: (!differs).then_some(rank),
                chosen: Some(rank),
                last_chosen: refresh,
            };
            places.insert(seed.page, place);
        }
        if differs {
            for entry in store.scan_under(&tables::FINAL_LIST, &prefix)? {
                let ((_, rank), listed) = entry?;
                let place = Place {
                    listed: Some(rank),
                    chosen: listed.chosen,
                    last_chosen: listed.last_chosen,
                };
                places.insert(listed.page, place);
            }
        }
        Ok(Self(places))
    }

    /// The place of a page; `None` where it is neither on the list nor did the method come to it.
    pub(super) fn of(&self, page: PageId) -> Option<Place> {
        self.0.get(&page).copied()
    }

    /// The pages on the list with their ranks, in no order.
    pub(super) fn listed(&self) -> impl Iterator<Item = (u32, PageId)> {
        let all = self.0.iter();
        all.filter_map(|(page, place)| Some((place.listed?, *page)))
    }
}
