//! The targets pass: the in-links of pages, pages that come or go with links to them, and the
//! effect of a change of state on the uncrawled counts of the pages that link there.

use super::fields::group;
use super::passes::{
    PageEvent, Passes, Places, TargetEvent, page_event, read_target, uncrawled_event,
};
use super::rows::row_uncrawled_event;
use crate::engine::EngineError;
use seedbank_algorithms::page::{PageId, RowId};
use seedbank_algorithms::watch::Watch;
use seedbank_store::aliases::AliasReference;
use seedbank_store::links::{BLOCK_LEN, Link, LinkBlock, LinkKey};
use seedbank_store::records::PageState;
use seedbank_store::{Sorted, Store, Table, tables};

/// What a batch does to one page as a target.
#[derive(Default)]
struct Target {
    old: Option<PageState>,
    new: Option<PageState>,
    has_record: bool,
    /// How many more aliases lead to it than before; `None` where none begins or ceases to.
    leads: Option<i64>,
    /// Blocks of `intra` with a change, each once, ascending.
    intra: Vec<(u32, Places)>,
    /// Blocks of `rows` with a change, each once, ascending.
    citers: Vec<(LinkKey, Places)>,
}

impl Target {
    fn clear(&mut self) {
        self.old = None;
        self.new = None;
        self.has_record = false;
        self.leads = None;
        self.intra.clear();
        self.citers.clear();
    }
}

/// Returns 1 for a page that counts as uncrawled where it is linked to, and 0 for any other.
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
    let mut target = Target::default();
    while let Some(key) = events.peek()? {
        watch.proceed()?;
        let of_page: [u8; 8] = group(key)?;
        let page = PageId(u64::from_be_bytes(of_page));
        target.clear();
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
                TargetEvent::Lead(begins) => {
                    let more = target.leads.unwrap_or(0);
                    target.leads = Some(if begins { more + 1 } else { more - 1 });
                }
                TargetEvent::Intra { block, places } => target.intra.push((block, places)),
                TargetEvent::Citers { block, places } => target.citers.push((block, places)),
            }
        }
        if !stated {
            let record = store.need(&tables::PAGES, &page)?;
            target.old = Some(record.state);
            target.new = Some(record.state);
            target.has_record = record.last_seen.is_some();
        }
        work_in(store, page, &mut target, &mut back, passes)?;
    }
    back.intra.write(passes)?;
    back.citers.write(passes)
}

/// The tables by which sources are found, each at the block that the pass has reached.
struct WayBack {
    intra: Blocks<u32>,
    citers: Blocks<LinkKey>,
}

/// A table at the block that the pass has reached.
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

    /// Applies what a page gained and lost. Returns the blocks that had its sources before the
    /// batch, and whether it has any sources now.
    fn apply(
        &mut self,
        store: &Store,
        page: PageId,
        events: &[(T, Places)],
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
        if events.iter().any(|(_, places)| places.block.is_some()) {
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

/// An ascending list of blocks after gains and losses, which ascend too.
fn after<T: Ord + Copy>(old: &[T], events: &[(T, Places)]) -> Vec<T> {
    let mut new = Vec::with_capacity(old.len() + events.len());
    let mut old = old.iter().copied().peekable();
    for &(source, places) in events {
        let Some(gained) = places.block else {
            continue;
        };
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
    target: &mut Target,
    back: &mut WayBack,
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let state_counts = uncrawled(target.old) != uncrawled(target.new);
    let links_count = !target.intra.is_empty() || !target.citers.is_empty();
    if !state_counts && !links_count && target.leads.is_none() {
        return Ok(());
    }
    let (old_intra, on_site) = back.intra.apply(store, page, &target.intra, passes)?;
    let (old_citers, elsewhere) = back.citers.apply(store, page, &target.citers, passes)?;
    if !target.has_record {
        let state = if on_site || elsewhere || is_led_to(store, page, target, passes)? {
            PageState::Known
        } else {
            PageState::Unlinked
        };
        if target.new != Some(state) {
            target.new = Some(state);
            page_event(&mut passes.pages, page, &PageEvent::State(state))?;
        }
    }
    count_intra(store, page, target, &old_intra, passes)?;
    count_citers(store, page, target, &old_citers, passes)
}

/// Whether an alias leads to a page after the batch.
fn is_led_to(
    store: &Store,
    page: PageId,
    target: &Target,
    passes: &Passes<'_>,
) -> Result<bool, EngineError> {
    let mut leads = target.leads.unwrap_or(0);
    if passes.aliases.any {
        let before = store.alias_references(page)?.into_iter();
        leads += before.fold(0, |sum, (_, why)| {
            sum + i64::from(why == AliasReference::Alias)
        });
    }
    Ok(leads > 0)
}

/// `blocks` had the sources before the batch; the blocks in the store are of that time as well.
fn count_intra(
    store: &Store,
    page: PageId,
    target: &Target,
    blocks: &[u32],
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let (old, new) = (uncrawled(target.old), uncrawled(target.new));
    let site = page.site();
    let pages = &mut passes.pages;
    for &(block, places) in &target.intra {
        uncrawled_event(pages, site, block, places.gained, new)?;
        uncrawled_event(pages, site, block, places.lost, -old)?;
    }
    if new != old {
        for &block in blocks {
            let links = store.links(&tables::INTRA, LinkKey { site, block })?;
            let linked = places_of(&links, page.index());
            let kept = linked & !lost(&target.intra, block);
            uncrawled_event(pages, site, block, kept, new - old)?;
        }
    }
    Ok(())
}

/// The places of a block whose lists have an entry.
fn places_of<T: Link>(links: &LinkBlock<T>, entry: T) -> u64 {
    links
        .places_of(entry)
        .fold(0, |all, place| all | 1 << place)
}

/// The places of a block that lost their link.
fn lost<T: Ord + Copy>(blocks: &[(T, Places)], block: T) -> u64 {
    let found = blocks.binary_search_by(|(other, _)| other.cmp(&block));
    found.map_or(0, |at| blocks[at].1.lost)
}

/// The places of a block that are marked.
fn marked(places: u64) -> impl Iterator<Item = u32> {
    (0..BLOCK_LEN).filter(move |place| places & (1 << place) != 0)
}

/// Adjusts the uncrawled counts of the rows that gained or kept a link to the page.
fn count_citers(
    store: &Store,
    page: PageId,
    target: &Target,
    blocks: &[LinkKey],
    passes: &mut Passes<'_>,
) -> Result<(), EngineError> {
    let (old, new) = (uncrawled(target.old), uncrawled(target.new));
    let mut count = |key: LinkKey, places: u64, by: i64| {
        marked(places).try_for_each(|place| {
            row_uncrawled_event(RowId::new(key.site, key.index(place)), by, passes)
        })
    };
    if new != 0 {
        for &(block, places) in &target.citers {
            // A row that lost a target is deleted, and its count with it.
            count(block, places.gained, new)?;
        }
    }
    if new != old {
        for &block in blocks {
            let links = store.links(&tables::ROWS, block)?;
            let kept = places_of(&links, page) & !lost(&target.citers, block);
            count(block, kept, new - old)?;
        }
    }
    Ok(())
}
