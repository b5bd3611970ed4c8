//! Evidence for pages on inter-site links: their component, row sums, and the core that they were
//! near.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::cached_cores;
use super::load::LoadedHubGraph;
use crate::engine::Result;
use seedbank_algorithms::cores::{Nearness, RowSums, Selection, row_sums};
use seedbank_algorithms::graph::WeakComponents;
use seedbank_algorithms::page::{PageId, PageSet, SiteId};
use seedbank_store::component_cache::CoreOrigin;
use seedbank_store::evidence::{
    CoreProximity, LinkStatus, PageEvidence, PageEvidenceBlock, PageEvidenceKey,
};
use seedbank_store::page_blocks::{PageBlock, place};
use seedbank_store::records::{EvidenceSeries, RefreshId, RefreshRecord};
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{Changes, Entries, Store, StoreError};

/// A site, and a block of its page indexes.
pub(super) type BlockPlace = (SiteId, u32);

/// Evidence for pages. For cores that this refresh computed, the refresh in the origin is 0 until it has a number.
#[derive(Default)]
pub(crate) struct EvidenceBlocks(BTreeMap<BlockPlace, PageBlock<PageEvidence>>);

/// Page evidence to be stored.
pub(crate) enum NewPageEvidence {
    /// Evidence for all pages.
    All(EvidenceBlocks),
    /// Evidence for the pages of this process, and the number of pages with evidence in all processes.
    Share(EvidenceBlocks, u64),
    /// Changed blocks, new and old, and the number of pages with evidence.
    Changed(
        BTreeMap<BlockPlace, [Option<PageBlock<PageEvidence>>; 2]>,
        u64,
    ),
}

/// Pages whose evidence may have changed.
pub(crate) struct ChangedPageEvidence {
    /// Reason for being ineligible, or `Alone` for included pages; `None` for pages on no
    /// inter-site link.
    pub(crate) pages: BTreeMap<PageId, Option<LinkStatus>>,
    /// Their blocks, as of the earlier refresh.
    pub(crate) blocks: BTreeMap<BlockPlace, Option<PageBlock<PageEvidence>>>,
    /// Number of pages with evidence in the earlier refresh.
    pub(crate) previous_pages: u64,
}

/// Input from which evidence is computed.
struct Source<'a> {
    hubs: &'a LoadedHubGraph,
    components: &'a WeakComponents,
    selection: &'a Selection,
    names: Vec<PageId>,
    sums: RowSums,
}

impl<'a> Source<'a> {
    fn new(
        hubs: &'a LoadedHubGraph,
        components: &'a WeakComponents,
        selection: &'a Selection,
    ) -> Self {
        Self {
            hubs,
            components,
            selection,
            names: cached_cores::names(hubs, components)
                .into_iter()
                .map(|(name, _)| name)
                .collect(),
            sums: row_sums(&hubs.graph),
        }
    }

    /// Computes the evidence for an included page.
    fn standing(&self, number: u32) -> PageEvidence {
        let graph = &self.hubs.graph;
        let hub = graph.hub_class(number).map(|class| class as usize);
        let authority = graph.authority_class(number).map(|c| c as usize);
        let component = self.components.component_of_page(graph, number);
        let links = match component.and_then(|component| self.names.get(component as usize)) {
            None => LinkStatus::Isolated,
            Some(&component) => LinkStatus::Counted {
                component,
                as_authority: authority.map_or(0, |class| self.sums.authorities[class]),
                as_hub: hub.map_or(0, |class| self.sums.hubs[class]),
            },
        };
        let near = &self.selection.near;
        let as_hub = hub.and_then(|class| near.hubs.get(class).copied().flatten());
        let as_authority =
            authority.and_then(|class| near.authorities.get(class).copied().flatten());
        // The first core counts. If a page is near it in both roles, hub takes precedence, since
        // only hubs become seeds.
        let as_hub = as_hub.map(|near| (near, true));
        let both = as_hub
            .into_iter()
            .chain(as_authority.map(|near| (near, false)));
        let near = both.min_by_key(|(near, _)| near.core);
        let near = near.map(|(near, hub)| proximity(near, hub, &self.selection.origins));
        PageEvidence { links, near }
    }
}

/// Returns what is stored of a page near a core, given the origins of cores.
pub(super) fn proximity(near: Nearness, hub: bool, origins: &[Option<u64>]) -> CoreProximity {
    let rank = near.core;
    let origin = origins.get((rank as usize).saturating_sub(1));
    let origin = origin.copied().flatten().map(CoreOrigin::from_packed);
    CoreProximity {
        core: origin.unwrap_or(CoreOrigin { refresh: 0, rank }),
        hub,
        links: near.links,
        score: near.score,
    }
}

impl ChangedPageEvidence {
    /// Computes the evidence after a selection.
    pub(crate) fn compute(
        self,
        hubs: &LoadedHubGraph,
        components: &WeakComponents,
        selection: &Selection,
    ) -> NewPageEvidence {
        let source = Source::new(hubs, components, selection);
        let mut blocks: BTreeMap<BlockPlace, BTreeMap<u32, PageEvidence>> = BTreeMap::new();
        let mut count = self.previous_pages;
        for (page, links) in self.pages {
            let (block, at) = place(page.index());
            let block = (page.site(), block);
            let facts = blocks.entry(block).or_insert_with(|| {
                let before = self.blocks.get(&block).and_then(Option::as_ref);
                before.map_or_else(BTreeMap::new, |block| block.0.iter().copied().collect())
            });
            let new = links.map(|links| match (links, hubs.number(page)) {
                (LinkStatus::Isolated, Some(number)) => source.standing(number),
                _ => PageEvidence { links, near: None },
            });
            let old = match new {
                Some(new) => facts.insert(at, new),
                None => facts.remove(&at),
            };
            count = count.saturating_add(u64::from(new.is_some()));
            count = count.saturating_sub(u64::from(old.is_some()));
        }
        let mut before = self.blocks;
        let blocks = blocks.into_iter().map(|(place, facts)| {
            let new = (!facts.is_empty()).then(|| PageBlock(facts.into_iter().collect()));
            (place, [new, before.remove(&place).flatten()])
        });
        NewPageEvidence::Changed(blocks.collect(), count)
    }
}

/// Replaces the placeholder number 0 in origins by the number of the refresh.
fn numbered(block: &PageBlock<PageEvidence>, refresh: RefreshId) -> PageBlock<PageEvidence> {
    let mut block = block.clone();
    for near in block.0.iter_mut().filter_map(|fact| fact.1.near.as_mut()) {
        if near.core.refresh == 0 {
            near.core.refresh = refresh;
        }
    }
    block
}

impl EvidenceBlocks {
    /// Returns the evidence for included pages and for ineligible ones, both by id.
    pub(super) fn new(
        included: impl Iterator<Item = (PageId, PageEvidence)>,
        ineligible: &[(PageId, LinkStatus)],
    ) -> Self {
        let mut included = included.peekable();
        let ineligible = ineligible.iter();
        let mut ineligible = ineligible
            .map(|&(page, links)| (page, PageEvidence { links, near: None }))
            .peekable();
        // Merges both lists block by block, since a list of all pages would double the memory.
        let mut blocks: BTreeMap<BlockPlace, PageBlock<PageEvidence>> = BTreeMap::new();
        let (mut at, mut block) = ((SiteId(0), 0), Vec::new());
        loop {
            let next = match (included.peek(), ineligible.peek()) {
                (Some(a), Some(b)) if b.0 < a.0 => ineligible.next(),
                (None, _) => ineligible.next(),
                _ => included.next(),
            };
            let here = next.map(|(page, standing)| {
                let (block, place) = place(page.index());
                ((page.site(), block), (place, standing))
            });
            let is_done = here.is_none_or(|(key, _)| key != at);
            if is_done && !block.is_empty() {
                blocks.insert(at, PageBlock(block.as_slice().into()));
                block.clear();
            }
            let Some((key, standing)) = here else {
                return Self(blocks);
            };
            at = key;
            block.push(standing);
        }
    }

    /// Returns the number of pages.
    pub(super) fn pages(&self) -> u64 {
        self.0.values().map(|block| block.0.len() as u64).sum()
    }

    /// Adds to `changes` what differs from the last refresh of a series, whose blocks are `stored`. Returns the blocks that
    /// were written.
    pub(super) fn put(
        &self,
        mut stored: Entries<'_, PageEvidenceKey, PageEvidenceBlock>,
        changes: &mut Changes,
        of: SeriesRefresh,
    ) -> Result<BTreeSet<BlockPlace>> {
        let mut written = BTreeSet::new();
        let numbered = |place: &BlockPlace| {
            let new = self.0.get(place);
            new.map(|block| numbered(block, of.refresh))
        };
        let mut left: BTreeSet<BlockPlace> = self.0.keys().copied().collect();
        let mut last = None;
        // The newest version of a block comes first; older ones are not decoded.
        while let Some(entry) = stored.next_where(|key| last != Some((key.site, key.block))) {
            let (key, PageEvidenceBlock(stored)) = entry?;
            let place = (key.site, key.block);
            last = Some(place);
            left.remove(&place);
            let new = numbered(&place);
            if new != stored {
                written.insert(place);
                of.put(changes, place, new)?;
            }
        }
        // Blocks that the series does not have yet.
        for place in left {
            written.insert(place);
            of.put(changes, place, numbered(&place))?;
        }
        Ok(written)
    }
}

impl NewPageEvidence {
    /// Computes the evidence for all pages on inter-site links.
    pub(crate) fn all(
        hubs: &LoadedHubGraph,
        components: &WeakComponents,
        selection: &Selection,
    ) -> Self {
        let source = Source::new(hubs, components, selection);
        let included = hubs.by_id();
        let included = included.map(|(page, number)| (page, source.standing(number)));
        Self::All(EvidenceBlocks::new(included, &hubs.ineligible))
    }

    /// Adds to `changes` what differs from the last refresh of the series. Returns what was
    /// written; the blocks of a share are not recorded yet.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        of: SeriesRefresh,
        counted: u64,
    ) -> Result<Written> {
        let prefix = of.series.to_be_bytes();
        let (pages, blocks) = match self {
            Self::Changed(blocks, count) => {
                let mut written = BTreeSet::new();
                for (&place, [new, old]) in blocks {
                    let new = new.as_ref().map(|block| numbered(block, of.refresh));
                    if new != *old {
                        written.insert(place);
                        of.put(changes, place, new)?;
                    }
                }
                (*count, written)
            }
            Self::All(blocks) => {
                let stored = store.scan_under(&tables::PAGE_EVIDENCE, &prefix)?;
                (blocks.pages(), blocks.put(stored, changes, of)?)
            }
            Self::Share(blocks, pages) => {
                let stored = store.scan_local_under(&tables::PAGE_EVIDENCE, &prefix)?;
                (*pages, blocks.put(stored, changes, of)?)
            }
        };
        let written = Written {
            record: EvidenceSeries {
                series: of.series,
                pages,
                counted,
            },
            blocks,
        };
        if !matches!(self, Self::Share(..)) {
            written.record_blocks(changes, of.refresh)?;
        }
        Ok(written)
    }
}

/// A refresh that is being stored, and the series of its page evidence.
#[derive(Clone, Copy, Serialize, Deserialize)]
pub(crate) struct SeriesRefresh {
    pub(crate) series: RefreshId,
    pub(crate) refresh: RefreshId,
}

impl SeriesRefresh {
    /// Adds a block to `changes`, or that it no longer exists.
    fn put(
        self,
        changes: &mut Changes,
        (site, block): BlockPlace,
        new: Option<PageBlock<PageEvidence>>,
    ) -> Result<(), StoreError> {
        let key = PageEvidenceKey {
            series: self.series,
            site,
            block,
            refresh: self.refresh,
        };
        changes.put(&tables::PAGE_EVIDENCE, &key, &PageEvidenceBlock(new))
    }
}

/// Page evidence that a refresh wrote.
pub(crate) struct Written {
    pub(crate) record: EvidenceSeries,
    blocks: BTreeSet<BlockPlace>,
}

impl Written {
    /// Returns that nothing was written: the evidence of the last refresh of the series applies.
    pub(crate) const fn nothing(record: EvidenceSeries) -> Self {
        Self {
            record,
            blocks: BTreeSet::new(),
        }
    }

    /// Adds the blocks that another process has written.
    pub(super) fn add(&mut self, blocks: &PageSet) {
        let blocks = blocks.iter().map(PageId);
        self.blocks
            .extend(blocks.map(|block| (block.site(), block.index())));
    }

    /// Records in `changes` which blocks the refresh has written.
    pub(super) fn record_blocks(&self, changes: &mut Changes, refresh: RefreshId) -> Result<()> {
        if !self.blocks.is_empty() {
            let blocks = packed_set(&self.blocks);
            changes.put_page_set(PageSetKey::EvidenceBlocks(refresh), &blocks)?;
        }
        Ok(())
    }
}

/// Encodes blocks as a set of pages.
pub(super) fn packed_set(blocks: &BTreeSet<BlockPlace>) -> PageSet {
    blocks.iter().copied().map(packed).collect()
}

/// Deletes page evidence that no refresh needs once those in `pruned` are gone, and all cached
/// results of series without refreshes. `new` is the refresh that is being stored, with what it
/// wrote.
///
/// Cost: the blocks that the pruned refreshes and the oldest remaining one have written.
pub(crate) fn delete_unseen(
    store: &Store,
    changes: &mut Changes,
    pruned: &[RefreshId],
    new: RefreshId,
    written: Option<&Written>,
) -> Result<(), StoreError> {
    let mut oldest: BTreeMap<RefreshId, RefreshId> = BTreeMap::new();
    let mut touched: BTreeMap<RefreshId, PageSet> = BTreeMap::new();
    for entry in store.scan(&tables::REFRESHES)? {
        let (number, record): (RefreshId, RefreshRecord) = entry?;
        let Some(EvidenceSeries { series, .. }) = record.standings else {
            continue;
        };
        if pruned.contains(&number) {
            let blocks = touched.entry(series).or_default();
            let written = PageSetKey::EvidenceBlocks(number);
            *blocks |= store.page_set(written)?.unwrap_or_default();
            changes.delete_page_set(store, written)?;
        } else {
            oldest.entry(series).or_insert(number);
        }
    }
    if let Some(written) = written {
        oldest.entry(written.record.series).or_insert(new);
    }
    for (series, mut blocks) in touched {
        // No refresh of the series is left.
        let Some(&oldest) = oldest.get(&series) else {
            cached_cores::delete_series(store, changes, series)?;
            changes.delete_under(store, &tables::PAGE_EVIDENCE, &series.to_be_bytes())?;
            continue;
        };
        let new_blocks = written.filter(|_| oldest == new).map(|w| &w.blocks);
        if let Some(written) = new_blocks {
            blocks.extend(written.iter().copied().map(packed));
        } else {
            let written = PageSetKey::EvidenceBlocks(oldest);
            blocks |= store.page_set(written)?.unwrap_or_default();
        }
        for block in blocks.into_iter().map(PageId) {
            let place = (block.site(), block.index());
            let key = PageEvidenceKey {
                series,
                site: place.0,
                block: place.1,
                refresh: oldest,
            };
            // The first entry is the newest version for the oldest refresh, and stays, unless the
            // refresh that is being stored has written the block itself.
            let mut first = new_blocks.is_none_or(|written| !written.contains(&place));
            for entry in store.scan_from(&tables::PAGE_EVIDENCE, &key, &key.block_prefix())? {
                let (key, PageEvidenceBlock(block)) = entry?;
                if !first || block.is_none() {
                    changes.delete(&tables::PAGE_EVIDENCE, &key)?;
                }
                first = false;
            }
        }
    }
    Ok(())
}

/// Encodes a block as the id of a page whose index is the block's number.
fn packed(place: BlockPlace) -> u64 {
    PageId::new(place.0, place.1).0
}
