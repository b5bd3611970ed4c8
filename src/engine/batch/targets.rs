//! The targets pass: in-links of pages, pages that links make or unmake, and what a change of
//! state does to the uncrawled counts of those that link there.

use super::fields::group;
use super::passes::{PageEvent, Passes, TargetEvent, page_event, read_target};
use super::rows::uncrawled_event;
use crate::engine::EngineError;
use crate::page::{PageId, RowId};
use crate::storage::links::{Link, LinkBlock, LinkKey};
use crate::storage::records::PageState;
use crate::storage::{Sorted, Store, Table, tables};
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
    /// Block of `intra` and whether it was gained; each block once.
    intra_blocks: Vec<(u32, bool)>,
    /// The same for blocks of `rows`.
    citer_blocks: Vec<(LinkKey, bool)>,
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
    let mut back = WayBack {
        intra: Blocks::new(&tables::INTRA_IN),
        citers: Blocks::new(&tables::CITERS),
    };
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
                TargetEvent::IntraBlock { block, gained } => {
                    target.intra_blocks.push((block, gained));
                }
                TargetEvent::CiterBlock { block, gained } => {
                    target.citer_blocks.push((block, gained));
                }
            }
        }
        if !stated {
            let record = store.need(&tables::PAGES, &page)?;
            target.old = Some(record.state);
            target.new = Some(record.state);
            target.has_record = record.last_seen.is_some();
        }
        work_in(store, page, target, &mut back, passes)?;
    }
    back.intra.write(passes)?;
    back.citers.write(passes)
}

/// The tables by which sources are found, each at the block that the pass is at.
struct WayBack {
    intra: Blocks<u32>,
    citers: Blocks<LinkKey>,
}

/// A table at the block that the pass is at.
struct Blocks<T: 'static> {
    table: &'static Table<LinkKey, LinkBlock<T>>,
    at: Option<(LinkKey, LinkBlock<T>)>,
    has_changed: bool,
}

impl<T: Link> Blocks<T> {
    const fn new(table: &'static Table<LinkKey, LinkBlock<T>>) -> Self {
        Self {
            table,
            at: None,
            has_changed: false,
        }
    }

    /// Works in what a page gained and lost. Gives where its sources were before the batch, and
    /// whether it has any now.
    fn apply(
        &mut self,
        store: &Store,
        page: PageId,
        events: &[(T, bool)],
        passes: &mut Passes<'_>,
    ) -> Result<(Vec<T>, bool), EngineError> {
        let (key, place) = LinkKey::of_page(page);
        let mut block = match self.at.take() {
            Some((at, block)) if at == key => block,
            other => {
                self.at = other;
                self.write(passes)?;
                store.links(self.table, key)?
            }
        };
        let old = block.at(place).to_vec();
        if !events.is_empty() {
            self.has_changed = true;
            block.set(place, after(&old, events));
        }
        let is_linked = !block.at(place).is_empty();
        self.at = Some((key, block));
        Ok((old, is_linked))
    }

    fn write(&mut self, passes: &mut Passes<'_>) -> Result<(), EngineError> {
        if let Some((key, block)) = self.at.take()
            && std::mem::take(&mut self.has_changed)
        {
            if block.is_empty() {
                passes.changes.delete(self.table, &key)?;
            } else {
                passes.changes.put(self.table, &key, &block)?;
            }
        }
        Ok(())
    }
}

/// An ascending list after gains and losses, which ascend too.
fn after<T: Ord + Copy>(old: &[T], events: &[(T, bool)]) -> Vec<T> {
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

fn work_in(
    store: &Store,
    page: PageId,
    mut target: Target,
    back: &mut WayBack,
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let state_counts = uncrawled(target.old) != uncrawled(target.new);
    let links_count = !target.intra.is_empty() || !target.citers.is_empty();
    if !state_counts && !links_count {
        return Ok(());
    }
    let (old_intra, on_site) = back
        .intra
        .apply(store, page, &target.intra_blocks, passes)?;
    let (old_citers, elsewhere) = back
        .citers
        .apply(store, page, &target.citer_blocks, passes)?;
    if !target.has_record {
        let state = if on_site || elsewhere {
            PageState::Known
        } else {
            PageState::Unlinked
        };
        if target.new != Some(state) {
            target.new = Some(state);
            page_event(&mut passes.pages, page, &PageEvent::State(state))?;
        }
    }
    count_intra(store, page, &target, &old_intra, passes)?;
    count_citers(store, page, &target, &old_citers, passes)
}

/// `blocks`: where the sources were before the batch; so are the blocks that the store has.
fn count_intra(
    store: &Store,
    page: PageId,
    target: &Target,
    blocks: &[u32],
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
        for source in store.intra_sources(page, blocks)? {
            if target.intra.binary_search(&(source, false)).is_err() {
                count(source, new - old)?;
            }
        }
    }
    Ok(())
}

/// The same for rows.
fn count_citers(
    store: &Store,
    page: PageId,
    target: &Target,
    blocks: &[LinkKey],
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let (old, new) = (uncrawled(target.old), uncrawled(target.new));
    for &(row, gained) in &target.citers {
        // A row that lost a target is deleted, and its count with it.
        if gained && new != 0 {
            uncrawled_event(row, new, passes)?;
        }
    }
    if new != old {
        for row in store.citing_rows(page, blocks)? {
            if target.citers.binary_search(&(row, false)).is_err() {
                uncrawled_event(row, new - old, passes)?;
            }
        }
    }
    Ok(())
}
