//! The blocks pass: rows that are made and deleted, a block of neighbouring rows at a time, in the
//! order of keys.

use super::fields::Fields;
use super::intra::Replaced;
use super::passes::{Passes, citers_event};
use crate::engine::EngineError;
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
        let mut block = Replaced::new(of_block, store.links(&tables::ROWS, of_block)?);
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
        let (_, new) = block.tell(&mut |target, places| {
            citers_event(&mut passes.targets, target, of_block, places)
        })?;
        if new.is_empty() {
            passes.changes.delete(&tables::ROWS, &of_block)?;
        } else {
            passes.changes.put(&tables::ROWS, &of_block, &new)?;
        }
    }
    Ok(())
}
