//! The targets pass: updates the in-links of pages, pages that appear or disappear with links to
//! them, and the uncrawled counts of pages that link to a page whose state changed.

use super::events::{Places, TargetEvent, group, read_target};
use super::passes::{PageEvent, Passes, page_event, uncrawled_event};
use super::rows::{CiterEvent, citer_event, places_of};
use crate::engine::Result;
use seedbank_algorithms::page::PageId;
use seedbank_store::aliases::AliasReference;
use seedbank_store::links::{Link, LinkBlock, LinkKey};
use seedbank_store::records::PageState;
use seedbank_store::{Sorted, Table, tables};

/// Changes of one page as a target.
#[derive(Default)]
struct Target {
    old: Option<PageState>,
    new: Option<PageState>,
    has_record: bool,
    /// Change of the number of aliases that lead to it; `None` if none begins or ceases to.
    leads: Option<i64>,
    /// Changed blocks of `intra`, each once, ascending.
    intra: Vec<(u32, Places)>,
    /// Changed blocks of `rows`, each once, ascending.
    citers: Vec<(LinkKey, Places)>,
}

/// Returns 1 for a page that counts as an uncrawled target, and 0 for any other.
fn uncrawled(state: Option<PageState>) -> i64 {
    i64::from(state == Some(PageState::Known))
}

pub(super) fn targets_pass(mut events: Sorted, passes: &mut Passes<'_>) -> Result<()> {
    let mut in_links = InLinks {
        intra: Blocks::new(&tables::INTRA_IN),
        citers: Blocks::new(&tables::CITERS),
    };
    while let Some(key) = events.peek()? {
        passes.watch.proceed()?;
        let of_page: [u8; 8] = group(key)?;
        let page = PageId(u64::from_be_bytes(of_page));
        let mut target = Target::default();
        let mut has_state = false;
        while let Some((key, value)) = events.next_under(&of_page)? {
            match read_target(key, value)? {
                TargetEvent::State {
                    old,
                    new,
                    has_record,
                } => {
                    has_state = true;
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
        // Only links to the page changed, so its state is the stored one.
        if !has_state {
            let record = passes.store.need(&tables::PAGES, &page)?;
            target.old = Some(record.state);
            target.new = Some(record.state);
            target.has_record = record.last_seen.is_some();
        }
        apply(page, &mut target, &mut in_links, passes)?;
    }
    in_links.intra.write(passes)?;
    in_links.citers.write(passes)
}

/// The tables of in-links, each at the block that the pass has reached.
struct InLinks {
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

    /// Applies gains and losses of a page. Returns the blocks that contained its sources before the
    /// batch, and whether it has any sources now.
    fn apply(
        &mut self,
        page: PageId,
        events: &[(T, Places)],
        passes: &mut Passes<'_>,
    ) -> Result<(Vec<T>, bool)> {
        let (key, place) = LinkKey::of_page(page);
        let mut block = match self.at.take() {
            Some((at, block)) if at == key => block,
            other => {
                self.at = other;
                self.write(passes)?;
                passes.store.links(self.table, key)?
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

    fn write(&mut self, passes: &mut Passes<'_>) -> Result<()> {
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

/// Applies gains and losses to a list of blocks. Both ascend.
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

fn apply(
    page: PageId,
    target: &mut Target,
    in_links: &mut InLinks,
    passes: &mut Passes<'_>,
) -> Result<()> {
    let state_counts = uncrawled(target.old) != uncrawled(target.new);
    let links_count = !target.intra.is_empty() || !target.citers.is_empty();
    if !state_counts && !links_count && target.leads.is_none() {
        return Ok(());
    }
    let (old_intra, on_site) = in_links.intra.apply(page, &target.intra, passes)?;
    let (old_citers, elsewhere) = in_links.citers.apply(page, &target.citers, passes)?;
    if !target.has_record {
        let state = if on_site || elsewhere || is_led_to(page, target, passes)? {
            PageState::Known
        } else {
            PageState::Unlinked
        };
        if target.new != Some(state) {
            target.new = Some(state);
            page_event(&mut passes.pages, page, &PageEvent::State(state))?;
        }
    }
    count_intra(page, target, &old_intra, passes)?;
    count_citers(page, target, &old_citers, passes)
}

/// Whether an alias leads to a page after the batch.
fn is_led_to(page: PageId, target: &Target, passes: &Passes<'_>) -> Result<bool> {
    let mut leads = target.leads.unwrap_or(0);
    if passes.aliases.any {
        let before = passes.store.alias_references(page)?.into_iter();
        leads += before.fold(0, |sum, (_, why)| {
            sum + i64::from(why == AliasReference::Alias)
        });
    }
    Ok(leads > 0)
}

/// Updates the uncrawled counts of pages on the same site. `blocks` contained the sources before
/// the batch; the blocks in the store are of that time too.
fn count_intra(
    page: PageId,
    target: &Target,
    blocks: &[u32],
    passes: &mut Passes<'_>,
) -> Result<()> {
    let (old, new) = (uncrawled(target.old), uncrawled(target.new));
    let site = page.site();
    let pages = &mut passes.pages;
    for &(block, places) in &target.intra {
        uncrawled_event(pages, site, block, places.gained, new)?;
        uncrawled_event(pages, site, block, places.lost, -old)?;
    }
    if new != old {
        for &block in blocks {
            let links = passes
                .store
                .links(&tables::INTRA, LinkKey { site, block })?;
            let linked = places_of(&links, page.index());
            let kept = linked & !lost(&target.intra, block);
            uncrawled_event(pages, site, block, kept, new - old)?;
        }
    }
    Ok(())
}

/// Returns the places of a block that lost their link.
fn lost<T: Ord + Copy>(blocks: &[(T, Places)], block: T) -> u64 {
    let found = blocks.binary_search_by(|(other, _)| other.cmp(&block));
    found.map_or(0, |at| blocks[at].1.lost)
}

/// Reports links of rows to the page that change the uncrawled counts of rows. `blocks` contained the rows before the
/// batch.
fn count_citers(
    page: PageId,
    target: &Target,
    blocks: &[LinkKey],
    passes: &mut Passes<'_>,
) -> Result<()> {
    let (old, new) = (uncrawled(target.old), uncrawled(target.new));
    let citers = &mut passes.citers;
    if new != 0 {
        for &(block, places) in &target.citers {
            // A row that lost a target is deleted together with its count.
            citer_event(citers, block, page, &CiterEvent::Gained(places.gained))?;
        }
    }
    if new != old {
        for &block in blocks {
            let kept = CiterEvent::Kept {
                except: lost(&target.citers, block),
                by: new - old,
            };
            citer_event(citers, block, page, &kept)?;
        }
    }
    Ok(())
}
