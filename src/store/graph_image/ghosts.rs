//! Numbers the ghosts of a share: the pages of other processes to which rows link.

use rayon::prelude::*;

use super::{Flags, GraphImage, NO_ROW, length};
use crate::error::StoreError;
use crate::tables::shards::SiteParts;
use crate::tables::store::Store;
use seedbank_algorithms::page::{PageId, SiteId};

/// Stands for a ghost that has no number yet.
pub(super) const GHOST: u32 = u32::MAX;

/// The sites of a cluster bank that are in databases of this process.
pub(super) struct OwnSites {
    parts: SiteParts,
    /// By part.
    is_own: Vec<bool>,
}

impl OwnSites {
    /// Returns `None` if the store is no cluster bank, so that all sites are in this process.
    pub(super) fn of_store(store: &Store) -> Option<Self> {
        let mut is_own = vec![false; store.part_count()? as usize];
        for (part, _) in store.local_databases() {
            if let Some(is_own) = is_own.get_mut(part as usize) {
                *is_own = true;
            }
        }
        Some(Self {
            parts: store.site_parts()?,
            is_own,
        })
    }

    /// Whether a site is in a database of this process.
    pub(super) fn has(&self, site: SiteId) -> bool {
        let is_own = self.is_own.get(self.parts.of_site(site));
        is_own.copied().unwrap_or(false)
    }
}

/// Numbers the ghosts of rows in the order of their ids, from `first` on, and removes duplicates from `ghosts`. On entry,
/// `ghosts` has one id for each entry of `targets` that is [`GHOST`], in the same order.
pub(super) fn number_ghosts(
    first: u32,
    lengths: &[u32],
    targets: &mut [u32],
    ghosts: &mut Vec<PageId>,
) -> Result<(), StoreError> {
    if ghosts.is_empty() {
        return Ok(());
    }
    let of_links = std::mem::take(ghosts);
    ghosts.clone_from(&of_links);
    ghosts.sort_unstable();
    ghosts.dedup();
    ghosts.shrink_to_fit();
    ensure_room(first, ghosts.len())?;
    let mut next = of_links.iter();
    let mut rest = targets;
    for &length in lengths {
        let (row, others) = rest.split_at_mut(length as usize);
        let mut has_ghosts = false;
        for target in row.iter_mut().filter(|target| **target == GHOST) {
            let page = next.next();
            let place = page.map_or(0, |page| ghosts.partition_point(|ghost| ghost < page));
            *target = first + self::length(place);
            has_ghosts = true;
        }
        // Ghosts follow all other pages, whatever their ids.
        if has_ghosts {
            row.sort_unstable();
        }
        rest = others;
    }
    Ok(())
}

/// Fails unless ghosts can be numbered from `first` on.
fn ensure_room(first: u32, ghosts: usize) -> Result<(), StoreError> {
    let end = u32::try_from(ghosts).ok();
    let end = end.and_then(|ghosts| first.checked_add(ghosts));
    // The largest number means "none".
    let has_room = end.is_some_and(|end| end < NO_ROW);
    has_room
        .then_some(())
        .ok_or(StoreError::Full("page to rank"))
}

/// Joins the ghosts of parts. Each part has its ghosts by id, and lists in which they are numbered from `first` on; these
/// get the numbers in the joined list, which is returned.
pub(super) fn link_ghosts(
    first: u32,
    mut parts: Vec<(Vec<PageId>, &mut [u32])>,
) -> Result<Vec<PageId>, StoreError> {
    let mut all: Vec<PageId> = Vec::new();
    if parts.iter().all(|(ghosts, _)| ghosts.is_empty()) {
        return Ok(all);
    }
    for (ghosts, _) in &parts {
        all.extend_from_slice(ghosts);
    }
    all.par_sort_unstable();
    all.dedup();
    all.shrink_to_fit();
    ensure_room(first, all.len())?;
    parts.par_iter_mut().for_each(|(ghosts, targets)| {
        let slot = |ghost: &PageId| first + length(all.partition_point(|of| of < ghost));
        let slots: Vec<u32> = ghosts.iter().map(slot).collect();
        for target in targets.iter_mut() {
            let ghost = target.checked_sub(first);
            if let Some(slot) = ghost.and_then(|ghost| slots.get(ghost as usize)) {
                *target = *slot;
            }
        }
    });
    Ok(all)
}

impl GraphImage {
    /// Adds slots for the ghosts.
    pub(super) fn add_ghosts(&mut self, ghosts: Vec<PageId>) {
        let slots = self.flags.len() + ghosts.len();
        self.flags.resize(slots, Flags::NONE);
        self.row_of.resize(slots, NO_ROW);
        if let Some(intra) = &mut self.intra {
            for _ in &ghosts {
                intra.push([]);
            }
        }
        self.ghosts = Some(ghosts);
    }
}
