//! The standings of pages on inter-site links: their components, row sums, and what they were near.

use std::collections::{BTreeMap, BTreeSet};

use super::kept;
use super::load::Hubs;
use crate::engine::EngineError;
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
use seedbank_store::{Changes, Store, StoreError};

/// A site and a block of its page indexes.
type BlockPlace = (SiteId, u32);

/// Page evidence on its way to the store. For a core that the new refresh computed, the refresh in
/// the origin is still 0.
pub(crate) enum NewStandings {
    /// The standings of all pages.
    All(BTreeMap<BlockPlace, PageBlock<PageEvidence>>),
    /// Blocks with pages whose standing may have changed, as they are and as they were; and the
    /// number of pages that have a standing.
    Changed(
        BTreeMap<BlockPlace, [Option<PageBlock<PageEvidence>>; 2]>,
        u64,
    ),
}

/// What the standings of pages that may have changed are worked out from.
pub(crate) struct ChangedStandings {
    /// What is known of the pages apart from their links; `None` for those on no inter-site link.
    pub(crate) pages: BTreeMap<PageId, Option<LinkStatus>>,
    /// The blocks that they are in, as the earlier refresh sees them.
    pub(crate) blocks: BTreeMap<BlockPlace, Option<PageBlock<PageEvidence>>>,
    /// How many pages have a standing in the earlier refresh.
    pub(crate) earlier: u64,
}

/// What standings are worked out from.
struct Source<'a> {
    hubs: &'a Hubs,
    components: &'a WeakComponents,
    selection: &'a Selection,
    names: Vec<PageId>,
    sums: RowSums,
}

impl<'a> Source<'a> {
    fn new(hubs: &'a Hubs, components: &'a WeakComponents, selection: &'a Selection) -> Self {
        Self {
            hubs,
            components,
            selection,
            names: kept::names(hubs, components)
                .into_iter()
                .map(|(name, _)| name)
                .collect(),
            sums: row_sums(&hubs.graph),
        }
    }

    /// The standing of a page that takes part.
    fn standing(&self, number: u32) -> PageEvidence {
        let graph = &self.hubs.graph;
        let hub = graph.hub_class(number).map(|class| class as usize);
        let authority = graph.authority_class(number).map(|c| c as usize);
        let component = self.components.of_page(graph, number);
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
        // The first core counts; if it is the same in both roles, the one as a hub, since hubs
        // become seeds.
        let as_hub = as_hub.map(|near| (near, true));
        let both = as_hub
            .into_iter()
            .chain(as_authority.map(|near| (near, false)));
        let near = both.min_by_key(|(near, _)| near.core);
        let near = near.map(|(near, hub)| self.near(near, hub));
        PageEvidence { links, near }
    }

    fn near(&self, near: Nearness, hub: bool) -> CoreProximity {
        let rank = near.core;
        let origin = self.selection.origins.get(rank as usize - 1);
        let origin = origin.copied().flatten().map(CoreOrigin::from_packed);
        CoreProximity {
            core: origin.unwrap_or(CoreOrigin { refresh: 0, rank }),
            hub,
            links: near.links,
            score: near.score,
        }
    }
}

impl ChangedStandings {
    /// The standings after a selection.
    pub(crate) fn settle(
        self,
        hubs: &Hubs,
        components: &WeakComponents,
        selection: &Selection,
    ) -> NewStandings {
        let source = Source::new(hubs, components, selection);
        let mut blocks: BTreeMap<BlockPlace, BTreeMap<u32, PageEvidence>> = BTreeMap::new();
        let mut count = self.earlier;
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
        NewStandings::Changed(blocks.collect(), count)
    }
}

/// A block whose new cores get the number of the refresh, now that it has one.
fn numbered(block: &PageBlock<PageEvidence>, refresh: RefreshId) -> PageBlock<PageEvidence> {
    let mut block = block.clone();
    for near in block.0.iter_mut().filter_map(|fact| fact.1.near.as_mut()) {
        if near.core.refresh == 0 {
            near.core.refresh = refresh;
        }
    }
    block
}

impl NewStandings {
    /// The standings of all pages on inter-site links.
    pub(crate) fn all(hubs: &Hubs, components: &WeakComponents, selection: &Selection) -> Self {
        let source = Source::new(hubs, components, selection);
        let taking_part = hubs.by_id();
        let mut taking_part = taking_part
            .map(|(page, number)| (page, source.standing(number)))
            .peekable();
        let left_out = hubs.left_out.iter();
        let mut left_out = left_out
            .map(|&(page, links)| (page, PageEvidence { links, near: None }))
            .peekable();
        // Block after block: a list of all would take as much memory again.
        let mut blocks: BTreeMap<BlockPlace, PageBlock<PageEvidence>> = BTreeMap::new();
        let (mut at, mut block) = ((SiteId(0), 0), Vec::new());
        loop {
            let next = match (taking_part.peek(), left_out.peek()) {
                (Some(a), Some(b)) if b.0 < a.0 => left_out.next(),
                (None, _) => left_out.next(),
                _ => taking_part.next(),
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
                return Self::All(blocks);
            };
            at = key;
            block.push(standing);
        }
    }

    /// Hands those to `changes` that differ from what the last refresh of the series sees; returns
    /// where they are, and the blocks written.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        OfSeries { series, refresh }: OfSeries,
        counted: u64,
    ) -> Result<Written, EngineError> {
        let mut written = BTreeSet::new();
        let mut write = |(site, block): BlockPlace, new: Option<PageBlock<PageEvidence>>| {
            let key = PageEvidenceKey {
                series,
                site,
                block,
                refresh,
            };
            written.insert((site, block));
            changes.put(&tables::PAGE_EVIDENCE, &key, &PageEvidenceBlock(new))
        };
        let pages = match self {
            Self::Changed(blocks, count) => {
                for (&place, [new, old]) in blocks {
                    let new = new.as_ref().map(|block| numbered(block, refresh));
                    if new != *old {
                        write(place, new)?;
                    }
                }
                *count
            }
            Self::All(blocks) => {
                let mut left: BTreeSet<BlockPlace> = blocks.keys().copied().collect();
                let mut last = None;
                for entry in store.scan_under(&tables::PAGE_EVIDENCE, &series.to_be_bytes())? {
                    let (key, PageEvidenceBlock(kept)) = entry?;
                    let place = (key.site, key.block);
                    // The newest version of a block comes first.
                    if last.replace(place) == Some(place) {
                        continue;
                    }
                    left.remove(&place);
                    let new = blocks.get(&place).map(|block| numbered(block, refresh));
                    if new != kept {
                        write(place, new)?;
                    }
                }
                for place in left {
                    let new = blocks.get(&place).map(|block| numbered(block, refresh));
                    write(place, new)?;
                }
                blocks.values().map(|block| block.0.len() as u64).sum()
            }
        };
        if !written.is_empty() {
            let blocks: PageSet = written.iter().copied().map(packed).collect();
            changes.put(
                &tables::PAGE_SETS,
                &PageSetKey::EvidenceBlocks(refresh),
                &blocks,
            )?;
        }
        Ok(Written {
            record: EvidenceSeries {
                series,
                pages,
                counted,
            },
            blocks: written,
        })
    }
}

/// A refresh that is being stored, and the series that its standings belong to.
#[derive(Clone, Copy)]
pub(crate) struct OfSeries {
    pub(crate) series: RefreshId,
    pub(crate) refresh: RefreshId,
}

/// What a refresh wrote of standings.
pub(crate) struct Written {
    pub(crate) record: EvidenceSeries,
    blocks: BTreeSet<BlockPlace>,
}

impl Written {
    /// Nothing: the standings are those that the last refresh of the series sees.
    pub(crate) const fn nothing(record: EvidenceSeries) -> Self {
        Self {
            record,
            blocks: BTreeSet::new(),
        }
    }
}

/// Deletes the standings that no refresh sees any longer once the pruned ones are gone, and what is
/// kept of a series without refreshes; `new` is the refresh being stored, with what it wrote.
///
/// Cost: the blocks that the pruned refreshes and the oldest one that stays have written.
pub(crate) fn delete_unseen(
    store: &Store,
    changes: &mut Changes,
    pruned: &[RefreshId],
    (new, written): (RefreshId, Option<&Written>),
) -> Result<(), StoreError> {
    let mut oldest: BTreeMap<RefreshId, RefreshId> = BTreeMap::new();
    let mut touched: BTreeMap<RefreshId, PageSet> = BTreeMap::new();
    let blocks_of = |refresh| store.get(&tables::PAGE_SETS, &PageSetKey::EvidenceBlocks(refresh));
    for entry in store.scan(&tables::REFRESHES)? {
        let (number, record): (RefreshId, RefreshRecord) = entry?;
        let Some(EvidenceSeries { series, .. }) = record.standings else {
            continue;
        };
        if pruned.contains(&number) {
            let blocks = touched.entry(series).or_default();
            *blocks |= blocks_of(number)?.unwrap_or_default();
            changes.delete(&tables::PAGE_SETS, &PageSetKey::EvidenceBlocks(number))?;
        } else {
            oldest.entry(series).or_insert(number);
        }
    }
    if let Some(written) = written {
        oldest.entry(written.record.series).or_insert(new);
    }
    for (series, mut blocks) in touched {
        let Some(&oldest) = oldest.get(&series) else {
            kept::delete_series(store, changes, series)?;
            changes.delete_under(store, &tables::PAGE_EVIDENCE, &series.to_be_bytes())?;
            continue;
        };
        let of_new = written.filter(|_| oldest == new).map(|w| &w.blocks);
        match of_new {
            Some(written) => blocks.extend(written.iter().copied().map(packed)),
            None => blocks |= blocks_of(oldest)?.unwrap_or_default(),
        }
        for block in blocks.into_iter().map(PageId) {
            let place = (block.site(), block.index());
            let key = PageEvidenceKey {
                series,
                site: place.0,
                block: place.1,
                refresh: oldest,
            };
            // The newest version that the oldest refresh sees comes first, unless that refresh is
            // the one being stored and has written the block anew.
            let mut first = of_new.is_none_or(|written| !written.contains(&place));
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

/// The number of a block in sets of blocks: that of a page with the block's number for its index.
fn packed(place: BlockPlace) -> u64 {
    PageId::new(place.0, place.1).0
}
