//! The intra pass: intra-site links, a block of neighbouring pages at a time, in the order of keys.

use super::fields::Fields;
use super::links::{change, difference};
use super::passes::{PageEvent, Passes, intra_block_event, intra_event, page_event};
use crate::engine::EngineError;
use crate::page::PageId;
use crate::storage::links::LinkKey;
use crate::storage::{Sorted, Store, tables};
use crate::watch::Watch;

/// Works in what the links of pages are replaced by.
pub(super) fn intra_pass(
    store: &Store,
    mut pages: Sorted,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    while let Some(key) = pages.peek()? {
        watch.proceed()?;
        let (of_block, _) = LinkKey::of_page(Fields(key).page()?);
        let old = store.links(&tables::INTRA, of_block)?;
        let mut new = old.clone();
        let mut has_changed = false;
        while let Some(key) = pages.peek()? {
            let page = Fields(key).page()?;
            let (block, place) = LinkKey::of_page(page);
            if block != of_block {
                break;
            }
            let Some((_, value)) = pages.next_entry()? else {
                break;
            };
            let mut targets = Vec::with_capacity(value.len() / 4);
            let mut fields = Fields(value);
            while !fields.0.is_empty() {
                targets.push(fields.u32()?);
            }
            if old.at(place) != targets {
                replace(page, old.at(place), &targets, passes)?;
                new.set(place, targets);
                has_changed = true;
            }
        }
        if !has_changed {
            continue;
        }
        let (lost, gained) = difference(&old.distinct(), &new.distinct());
        for (targets, is_gained) in [(lost, false), (gained, true)] {
            for target in targets {
                let target = PageId::new(of_block.site, target);
                intra_block_event(&mut passes.targets, target, of_block.block, is_gained)?;
            }
        }
        if new.is_empty() {
            passes.changes.delete(&tables::INTRA, &of_block)?;
        } else {
            passes.changes.put(&tables::INTRA, &of_block, &new)?;
        }
    }
    Ok(())
}

/// What it does to others that a page has other links.
fn replace(
    page: PageId,
    old: &[u32],
    new: &[u32],
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let (lost, gained) = difference(old, new);
    for (list, is_gained) in [(&lost, false), (&gained, true)] {
        for &target in list {
            let target = PageId::new(page.site(), target);
            intra_event(&mut passes.targets, target, page.index(), is_gained)?;
        }
    }
    passes.counts.links_added += gained.len() as u64;
    passes.counts.links_removed += lost.len() as u64;
    page_event(
        &mut passes.pages,
        page,
        &PageEvent::Intra(change(old.len(), new.len())),
    )
}
