//! The share of one of several processes that have a cluster bank: the image of the sites that are in databases of this
//! process.
//!
//! A page of another process to which rows link is a *ghost*. Ghosts have slots after all other pages, in the order of
//! their ids. They have no row, no links and no attributes, and are no pages until [`GraphImage::set_ghost`] sets what
//! the process that has them answers.

use std::ops::Range;

use super::ghosts::OwnSites;
use super::scan::{missing_target, scan};
use super::{Flags, GraphImage, HostPrefix, ImageLinks, length};
use crate::error::StoreError;
use crate::tables::records::PageState;
use crate::tables::records::links::LinkKey;
use crate::tables::store::Store;
use seedbank_algorithms::page::{RowId, SiteId};
use seedbank_algorithms::watch::Watch;

impl GraphImage {
    /// Loads the graph of the sites that are in databases of this process, from the tables and nothing else. Entries of
    /// sites of other processes are not read.
    ///
    /// Pages of other processes to which rows link are [ghosts](Self::ghosts). Whether they exist, the processes that
    /// have them know.
    ///
    /// Cost: one scan of the own sites, pages, rows and intra-site links, and the sorting of the URLs of each site. Memory:
    /// that of an image of these sites, 28 bytes for each ghost, and 48 for each site of the bank; while it loads, up to 8
    /// more for each link to another process.
    pub fn load_share(
        store: &Store,
        links: ImageLinks,
        prefix: HostPrefix<'_>,
        watch: &dyn Watch,
    ) -> Result<Self, StoreError> {
        watch.stage("load graph", None);
        let own = OwnSites::of_store(store);
        let mut image = scan(store, own.as_ref(), links, prefix, watch)?;
        image.ghosts.get_or_insert_default();
        Ok(image)
    }

    /// Whether the image has only the sites that are in databases of this process.
    #[must_use]
    pub const fn is_share(&self) -> bool {
        self.ghosts.is_some()
    }

    /// Returns the slots of the pages of other processes to which rows link, in the order of their ids.
    #[must_use]
    pub fn ghosts(&self) -> Range<u32> {
        let count = self.ghosts.as_ref().map_or(0, Vec::len);
        length(self.flags.len() - count)..length(self.flags.len())
    }

    /// Sets the state of a ghost, which the process that has the page knows.
    pub fn set_ghost(&mut self, slot: u32, state: PageState) {
        if self.ghosts().contains(&slot) {
            self.flags[slot as usize] = Flags::new(state, false);
        }
    }

    /// Returns the error of a ghost that does not exist in the process to which it belongs.
    ///
    /// Cost: a pass over the links.
    #[must_use]
    pub fn missing_ghost(&self, slot: u32) -> StoreError {
        let mut rows = 0..length(self.row_indexes.len());
        let first = rows.find(|row| self.row(*row).contains(&slot)).unwrap_or(0);
        let site = self.sites.partition_point(|site| site.first_row <= first);
        let index = self.row_indexes.get(first as usize);
        let site = SiteId(length(site.saturating_sub(1)));
        let row = RowId::new(site, index.copied().unwrap_or(0));
        missing_target(LinkKey::of_row(row).0, self.page(slot))
    }
}
