//! Intra-site links, a block of neighbouring pages at a time, in the order of pages.

use super::links::change;
use super::passes::{PageEvent, Passes, Places, intra_event, page_event};
use crate::engine::EngineError;
use crate::page::PageId;
use crate::storage::links::{Link, LinkBlock, LinkKey};
use crate::storage::{Store, tables};

/// The block of `intra` that the pass is at.
#[derive(Default)]
pub(super) struct IntraBlocks {
    at: Option<Replaced<u32>>,
}

impl IntraBlocks {
    /// Replaces the links of a page within its site. Pages come in ascending order.
    pub(super) fn replace(
        &mut self,
        store: &Store,
        page: PageId,
        targets: Vec<u32>,
        passes: &mut Passes<'_>,
    ) -> Result<(), EngineError> {
        let (key, place) = LinkKey::of_page(page);
        if self.at.as_ref().is_none_or(|at| at.key != key) {
            self.write(passes)?;
            self.at = Some(Replaced::new(key, store.links(&tables::INTRA, key)?));
        }
        let Some(at) = &mut self.at else {
            return Ok(());
        };
        let old = at.old.at(place).len();
        let new = targets.len();
        let [gained, lost] = at.replace(place, targets);
        if gained + lost > 0 {
            passes.counts.links_added += gained;
            passes.counts.links_removed += lost;
            let event = PageEvent::Intra(change(old, new));
            page_event(&mut passes.pages, page, &event)?;
        }
        Ok(())
    }

    /// Writes the block that the pass leaves, and tells its targets.
    pub(super) fn write(&mut self, passes: &mut Passes<'_>) -> Result<(), EngineError> {
        let Some(block) = self.at.take().filter(|block| !block.events.is_empty()) else {
            return Ok(());
        };
        let LinkKey { site, block: of } = block.key;
        let (key, new) = block.tell(&mut |target, places| {
            intra_event(&mut passes.targets, PageId::new(site, target), of, places)
        })?;
        if new.is_empty() {
            passes.changes.delete(&tables::INTRA, &key)?;
        } else {
            passes.changes.put(&tables::INTRA, &key, &new)?;
        }
        Ok(())
    }
}

/// A block some of whose lists are replaced.
pub(super) struct Replaced<T> {
    pub(super) key: LinkKey,
    pub(super) old: LinkBlock<T>,
    new: LinkBlock<T>,
    /// Target, place, and whether it was gained.
    events: Vec<(T, u32, bool)>,
}

impl<T: Link> Replaced<T> {
    pub(super) fn new(key: LinkKey, old: LinkBlock<T>) -> Self {
        Self {
            key,
            new: old.clone(),
            old,
            events: Vec::new(),
        }
    }

    /// Replaces a list; how many targets it gained and lost.
    pub(super) fn replace(&mut self, place: u32, targets: Vec<T>) -> [u64; 2] {
        let before = self.events.len();
        let old = self.old.at(place);
        let gained = only(&targets, old);
        self.events
            .extend(gained.map(|target| (target, place, true)));
        let lost_from = self.events.len();
        let lost = only(old, &targets);
        self.events
            .extend(lost.map(|target| (target, place, false)));
        let counts = [lost_from - before, self.events.len() - lost_from];
        if counts != [0, 0] {
            self.new.set(place, targets);
        }
        counts.map(|count| count as u64)
    }

    /// Hands on what the block does to each target, ascending; gives the block as it is now.
    pub(super) fn tell(
        mut self,
        told: &mut dyn FnMut(T, Places) -> Result<(), EngineError>,
    ) -> Result<(LinkKey, LinkBlock<T>), EngineError> {
        self.events.sort_unstable();
        let (old, new) = (self.old.distinct(), self.new.distinct());
        for of_target in self.events.chunk_by(|a, b| a.0 == b.0) {
            let target = of_target[0].0;
            let mut places = Places::default();
            for (_, place, gained) in of_target {
                let bit = 1 << place;
                if *gained {
                    places.gained |= bit;
                } else {
                    places.lost |= bit;
                }
            }
            let was = old.binary_search(&target).is_ok();
            let is = new.binary_search(&target).is_ok();
            places.block = (was != is).then_some(is);
            told(target, places)?;
        }
        Ok((self.key, self.new))
    }
}

/// What one ascending list has and the other has not.
fn only<T: Ord + Copy>(these: &[T], those: &[T]) -> impl Iterator<Item = T> {
    let missing = |one: &&T| those.is_empty() || those.binary_search(one).is_err();
    these.iter().filter(missing).copied()
}
