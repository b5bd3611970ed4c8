//! The blocks pass: rows that are made and deleted, a block of neighbouring rows at a time, in the
//! order of keys.

use super::fields::Fields;
use super::links::difference;
use super::passes::{Passes, citer_block_event, citer_event};
use crate::engine::EngineError;
use crate::page::RowId;
use crate::storage::links::LinkKey;
use crate::storage::{Sorted, Store, tables};
use crate::watch::Watch;

/// Writes the rows, and tells their targets. A row is made or deleted, never both.
pub(super) fn row_blocks_pass(
    store: &Store,
    mut rows: Sorted,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    while let Some(key) = rows.peek()? {
        watch.proceed()?;
        let (of_block, _) = LinkKey::of_row(Fields(key).row()?);
        let old = store.links(&tables::ROWS, of_block)?;
        let mut new = old.clone();
        while let Some(key) = rows.peek()? {
            let row = Fields(key).row()?;
            let (block, place) = LinkKey::of_row(row);
            if block != of_block {
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
            tell(row, old.at(place), false, passes)?;
            tell(row, &targets, true, passes)?;
            new.set(place, targets);
        }
        let (lost, gained) = difference(&old.distinct(), &new.distinct());
        for (targets, is_gained) in [(lost, false), (gained, true)] {
            for target in targets {
                citer_block_event(&mut passes.targets, target, of_block, is_gained)?;
            }
        }
        if new.is_empty() {
            passes.changes.delete(&tables::ROWS, &of_block)?;
        } else {
            passes.changes.put(&tables::ROWS, &of_block, &new)?;
        }
    }
    Ok(())
}

fn tell(
    row: RowId,
    targets: &[crate::page::PageId],
    is_gained: bool,
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    for target in targets {
        citer_event(&mut passes.targets, *target, row, is_gained)?;
    }
    Ok(())
}
