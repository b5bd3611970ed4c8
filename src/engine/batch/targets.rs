//! The targets pass: in-links of pages, pages that links make or unmake, and what a change of
//! state does to the uncrawled counts of those that link there.

use std::collections::BTreeMap;

use roaring::RoaringBitmap;

use super::fields::group;
use super::passes::{PageEvent, Passes, TargetEvent, page_event, read_target};
use super::rows::uncrawled_event;
use crate::engine::EngineError;
use crate::page::{PageId, RowId, SiteId};
use crate::storage::records::PageState;
use crate::storage::{Sorted, Store, tables};
use crate::watch::Watch;

/// What a batch does to one page as a target.
#[derive(Default)]
struct Target {
    old: Option<PageState>,
    new: Option<PageState>,
    has_record: bool,
    /// Source and whether it was gained; each source once.
    intra: Vec<(u32, bool)>,
    /// Row and whether it was gained; each row once.
    citers: Vec<(RowId, bool)>,
}

/// 1 for a page that counts as uncrawled where it is linked to.
fn uncrawled(state: Option<PageState>) -> i64 {
    i64::from(state == Some(PageState::Known))
}

pub(super) fn targets_pass(
    store: &Store,
    mut events: Sorted,
    passes: &mut Passes<'_>,
    watch: &dyn Watch,
) -> Result<(), EngineError> {
    while let Some(key) = events.peek()? {
        watch.proceed()?;
        let of_page: [u8; 8] = group(key)?;
        let page = PageId(u64::from_be_bytes(of_page));
        let mut target = Target::default();
        let mut stated = false;
        while let Some((key, value)) = events.next_under(&of_page)? {
            match read_target(key, value)? {
                TargetEvent::State {
                    old,
                    new,
                    has_record,
                } => {
                    stated = true;
                    target.old = old;
                    target.new = Some(new);
                    target.has_record = has_record;
                }
                TargetEvent::Intra { source, gained } => target.intra.push((source, gained)),
                TargetEvent::Citer { row, gained } => target.citers.push((row, gained)),
            }
        }
        if !stated {
            let record = store.need(&tables::PAGES, &page)?;
            target.old = Some(record.state);
            target.new = Some(record.state);
            target.has_record = record.last_seen.is_some();
        }
        work_in(store, page, target, passes)?;
    }
    Ok(())
}

fn work_in(
    store: &Store,
    page: PageId,
    mut target: Target,
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let is_new = target.old.is_none();
    let state_counts = uncrawled(target.old) != uncrawled(target.new);
    let links_count = !target.intra.is_empty() || !target.citers.is_empty();
    if !state_counts && !links_count {
        return Ok(());
    }
    let old_intra = if is_new {
        Vec::new()
    } else {
        store.get(&tables::INTRA_IN, &page)?.unwrap_or_default()
    };
    let new_intra = apply(&old_intra, &target.intra);
    if !target.intra.is_empty() {
        if new_intra.is_empty() {
            passes.changes.delete(&tables::INTRA_IN, &page)?;
        } else {
            passes.changes.put(&tables::INTRA_IN, &page, &new_intra)?;
        }
    }
    let touched = citers(store, page, is_new, &target.citers, passes)?;
    if !target.has_record {
        let linked = !new_intra.is_empty()
            || touched.values().any(|rows| !rows.is_empty())
            || (!is_new && other_citers(store, page, &touched)?);
        let state = if linked {
            PageState::Known
        } else {
            PageState::Unlinked
        };
        if target.new != Some(state) {
            target.new = Some(state);
            page_event(&mut passes.pages, page, &PageEvent::State(state))?;
        }
    }
    count_intra(page, &target, &new_intra, passes)?;
    count_citers(store, page, &target, is_new, &touched, passes)
}

/// An ascending list after gains and losses, which ascend too.
fn apply(old: &[u32], events: &[(u32, bool)]) -> Vec<u32> {
    if events.is_empty() {
        return old.to_vec();
    }
    let mut new = Vec::with_capacity(old.len() + events.len());
    let mut old = old.iter().copied().peekable();
    for &(source, gained) in events {
        while let Some(before) = old.next_if(|one| *one < source) {
            new.push(before);
        }
        old.next_if_eq(&source);
        if gained {
            new.push(source);
        }
    }
    new.extend(old);
    new
}

/// Writes the citing rows of the sites whose rows gained or lost the page; returns their new sets.
fn citers(
    store: &Store,
    page: PageId,
    is_new: bool,
    events: &[(RowId, bool)],
    passes: &mut Passes<'_>,
) -> Result<BTreeMap<SiteId, RoaringBitmap>, EngineError> {
    let mut touched = BTreeMap::new();
    for of_site in events.chunk_by(|a, b| a.0.site() == b.0.site()) {
        let site = of_site[0].0.site();
        let key = (page, site);
        let mut rows = if is_new {
            RoaringBitmap::new()
        } else {
            store.get(&tables::CITERS, &key)?.unwrap_or_default()
        };
        for (row, gained) in of_site {
            if *gained {
                rows.insert(row.index());
            } else {
                rows.remove(row.index());
            }
        }
        if rows.is_empty() {
            passes.changes.delete(&tables::CITERS, &key)?;
        } else {
            passes.changes.put(&tables::CITERS, &key, &rows)?;
        }
        touched.insert(site, rows);
    }
    Ok(touched)
}

/// Whether a site that this batch does not touch here still cites the page.
fn other_citers(
    store: &Store,
    page: PageId,
    touched: &BTreeMap<SiteId, RoaringBitmap>,
) -> Result<bool, EngineError> {
    for entry in store.scan_under(&tables::CITERS, &page.0.to_be_bytes())? {
        let ((_, site), _) = entry?;
        if !touched.contains_key(&site) {
            return Ok(true);
        }
    }
    Ok(false)
}

fn count_intra(
    page: PageId,
    target: &Target,
    new_intra: &[u32],
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let (old, new) = (uncrawled(target.old), uncrawled(target.new));
    let mut count = |source: u32, by: i64| {
        if by == 0 {
            return Ok(());
        }
        let source = PageId::new(page.site(), source);
        page_event(&mut passes.pages, source, &PageEvent::Uncrawled(by))
    };
    for &(source, gained) in &target.intra {
        count(source, if gained { new } else { -old })?;
    }
    if new != old {
        for &source in new_intra {
            if target.intra.binary_search(&(source, true)).is_err() {
                count(source, new - old)?;
            }
        }
    }
    Ok(())
}

fn count_citers(
    store: &Store,
    page: PageId,
    target: &Target,
    is_new: bool,
    touched: &BTreeMap<SiteId, RoaringBitmap>,
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let (old, new) = (uncrawled(target.old), uncrawled(target.new));
    for &(row, gained) in &target.citers {
        // A row that lost a target is deleted, and its count with it.
        if gained && new != 0 {
            uncrawled_event(row, new, passes)?;
        }
    }
    if new == old {
        return Ok(());
    }
    let mut kept = |site: SiteId, rows: &RoaringBitmap| -> Result<(), EngineError> {
        for index in rows {
            let row = RowId::new(site, index);
            if target.citers.binary_search(&(row, true)).is_err() {
                uncrawled_event(row, new - old, passes)?;
            }
        }
        Ok(())
    };
    for (site, rows) in touched {
        kept(*site, rows)?;
    }
    if !is_new {
        for entry in store.scan_under(&tables::CITERS, &page.0.to_be_bytes())? {
            let ((_, site), rows) = entry?;
            if !touched.contains_key(&site) {
                kept(site, &rows)?;
            }
        }
    }
    Ok(())
}
