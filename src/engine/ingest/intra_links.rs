//! Intra-site links, in blocks of neighbouring pages, in the order of pages.

use super::link_delta::{LinkDelta, PendingBlocks, delta, write_blocks};
use super::passes::{PageEvent, Passes, page_event};
use super::target_events::intra_event;
use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_store::links::LinkKey;
use seedbank_store::tables;

/// The block of `intra` that the pass has reached, and blocks that are complete.
#[derive(Default)]
pub(super) struct IntraBlocks {
    at: Option<LinkDelta<u32>>,
    pending: PendingBlocks<u32>,
}

impl IntraBlocks {
    /// Replaces the links of a page within its site. Returns the change of their number. Pages come
    /// in ascending order.
    pub(super) fn replace(
        &mut self,
        page: PageId,
        targets: Vec<u32>,
        passes: &mut Passes<'_>,
    ) -> Result<i64> {
        let (key, place) = LinkKey::of_page(page);
        if self.at.as_ref().is_none_or(|at| at.key != key) {
            self.finish_block();
            if self.pending.is_full() {
                self.write(passes)?;
            }
            self.at = Some(LinkDelta::new(
                key,
                passes.store.links(&tables::INTRA, key)?,
            ));
        }
        let Some(at) = &mut self.at else {
            return Ok(0);
        };
        let [gained, lost] = at.replace(place, targets);
        if gained + lost > 0 {
            let [more, fewer] = at.last_changes(gained, lost);
            let page_at = |index| PageId::new(page.site(), index);
            passes
                .fetches
                .add_links(more.map(page_at), fewer.map(page_at));
            passes.counts.links_added += gained as u64;
            passes.counts.links_removed += lost as u64;
            let event = PageEvent::Intra(delta(lost, gained));
            page_event(&mut passes.pages, page, &event)?;
        }
        Ok(delta(lost, gained))
    }

    fn finish_block(&mut self) {
        if let Some(block) = self.at.take().filter(|block| !block.is_unchanged()) {
            self.pending.push(block);
        }
    }

    /// Writes the blocks, and emits the changes of their targets.
    pub(super) fn write(&mut self, passes: &mut Passes<'_>) -> Result<()> {
        self.finish_block();
        write_blocks(
            &tables::INTRA,
            std::mem::take(&mut self.pending),
            passes,
            intra_event,
        )
    }
}
