//! The row blocks pass: writes new and deleted rows, in blocks of neighbouring rows, in key order.

use super::fields::Fields;
use super::link_delta::{LinkDelta, PendingBlocks, write_blocks};
use super::passes::Passes;
use super::target_events::citers_event;
use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_store::links::LinkKey;
use seedbank_store::{Sorted, tables};

/// Writes the rows, and emits changes of their targets. No row is both created and deleted.
pub(super) fn row_blocks_pass(mut rows: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    let mut pending = PendingBlocks::default();
    while let Some(key) = rows.peek()? {
        passes.watch.proceed()?;
        let (of_block, _) = LinkKey::of_row(Fields(key).row()?);
        let mut block = LinkDelta::new(of_block, passes.store.links(&tables::ROWS, of_block)?);
        while let Some(key) = rows.peek()? {
            let (key, place) = LinkKey::of_row(Fields(key).row()?);
            if key != of_block {
                break;
            }
            let Some((_, content)) = rows.next_entry()? else {
                break;
            };
            let mut targets = Vec::with_capacity(content.len() / 8);
            let mut fields = Fields(content);
            while !fields.0.is_empty() {
                targets.push(fields.page()?);
            }
            block.replace(place, targets);
        }
        pending.push(block);
        if pending.is_full() {
            write(std::mem::take(&mut pending), passes)?;
        }
    }
    write(pending, passes)
}

fn write(pending: PendingBlocks<PageId>, passes: &mut Passes<'_>) -> Result<()> {
    write_blocks(&tables::ROWS, pending, passes, citers_event)
}
