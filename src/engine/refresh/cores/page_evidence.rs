//! Evidence for pages on inter-site links: their component, row sums, and the core that they were
//! near.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::cached_cores;
use super::component_results::ComponentSummary;
use super::load::{LoadedHubs, OwnPages};
use crate::engine::Result;
use crate::engine::web_graph::{Group, malformed};
use seedbank_algorithms::cores::{NearClasses, Nearness, Standings, standings};
use seedbank_algorithms::graph::ShareComponents;
use seedbank_algorithms::page::{PageId, PageSet, SiteId};
use seedbank_store::component_cache::CoreOrigin;
use seedbank_store::evidence::{
    CoreProximity, LinkStatus, PageEvidence, PageEvidenceBlock, PageEvidenceKey,
};
use seedbank_store::page_blocks::{PageBlock, place};
use seedbank_store::records::{EvidenceSeries, RefreshId, RefreshRecord};
use seedbank_store::tables::{self, PageSetKey};
use seedbank_store::{Changes, Entries, Store, StoreError};

/// About the bytes of a number in a message, and of a page id.
const OF_NUMBER: usize = 5;
const OF_PAGE: usize = 9;

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
}

/// Evidence for the included pages of this process, from what all processes know.
pub(super) struct OwnEvidence<'a> {
    loaded: &'a LoadedHubs,
    standings: Standings<'a>,
    origins: &'a [Option<u64>],
    /// The names of the components of own pages, by the number of the smallest page of each.
    names: BTreeMap<u32, PageId>,
    /// In process 0, the components of the whole graph.
    pub(super) components: Vec<ComponentSummary>,
}

impl<'a> OwnEvidence<'a> {
    /// Computes it, given the components of the graph, the classes near cores and the origin of each core. All processes call
    /// it at the same time.
    pub(super) fn new(
        group: Group<'_>,
        loaded: &'a LoadedHubs,
        components: &'a ShareComponents,
        near: &'a NearClasses,
        origins: &'a [Option<u64>],
    ) -> Result<Self> {
        let pages = &loaded.pages;
        let standings = standings(&loaded.share, components, near, pages.numbers())?;
        let own = summaries(pages, &standings);
        let Names { names, components } = Names::exchange(group, own)?;
        Ok(Self {
            loaded,
            standings,
            origins,
            names,
            components,
        })
    }

    /// Returns the evidence for an included page, given its position among the own pages.
    fn of_page(&self, position: usize) -> PageEvidence {
        let number = self.loaded.pages.numbers()[position];
        let Some(standing) = self.standings.of_page(position, number) else {
            return PageEvidence {
                links: LinkStatus::Isolated,
                near: None,
            };
        };
        let component = self.names.get(&standing.component);
        let near = standing.near;
        PageEvidence {
            links: component.map_or(LinkStatus::Isolated, |&component| LinkStatus::Counted {
                component,
                as_authority: standing.as_authority,
                as_hub: standing.as_hub,
            }),
            near: near.map(|(near, hub)| proximity(near, hub, self.origins)),
        }
    }

    /// Returns the evidence for all own pages on inter-site links.
    pub(super) fn blocks(&self) -> EvidenceBlocks {
        let included = self.loaded.pages.by_id();
        let included = included.map(|(page, position)| (page, self.of_page(position)));
        EvidenceBlocks::new(included, &self.loaded.ineligible)
    }
}

/// Returns what is stored of a page near a core, given the origins of cores.
fn proximity(near: Nearness, hub: bool, origins: &[Option<u64>]) -> CoreProximity {
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

/// Returns what the pages of this process say of components, by the number of the smallest page of each.
fn summaries(pages: &OwnPages, standings: &Standings<'_>) -> BTreeMap<u32, ComponentSummary> {
    let mut own: BTreeMap<u32, ComponentSummary> = BTreeMap::new();
    for (name, at) in pages.by_id() {
        if let Some(standing) = standings.of_page(at, pages.numbers()[at]) {
            let of_page = ComponentSummary {
                name,
                pages: 1,
                row_sum: standing.as_authority,
            };
            let summary = own.entry(standing.component);
            summary.and_modify(|of| of.add(of_page)).or_insert(of_page);
        }
    }
    own
}

impl ComponentSummary {
    /// Adds what other pages of the component say.
    fn add(&mut self, other: Self) {
        self.name = self.name.min(other.name);
        self.pages = self.pages.saturating_add(other.pages);
        self.row_sum = self.row_sum.max(other.row_sum);
    }
}

/// The names of components.
struct Names {
    /// Of the components of own pages, by the number of the smallest page of each.
    names: BTreeMap<u32, PageId>,
    /// In process 0, all components.
    components: Vec<ComponentSummary>,
}

impl Names {
    /// Combines what processes know of components. All processes call it at the same time.
    ///
    /// Cost: some 30 bytes for each component and process. Memory: in process 0, 24 bytes for each component.
    fn exchange(group: Group<'_>, own: BTreeMap<u32, ComponentSummary>) -> Result<Self> {
        if group.processes() == 1 {
            let mut components: Vec<ComponentSummary> = own.values().copied().collect();
            components.sort_unstable_by_key(|of| of.name);
            let names = own.into_iter().map(|(component, of)| (component, of.name));
            return Ok(Self {
                names: names.collect(),
                components,
            });
        }
        // A component is combined in one of the processes.
        let processes = group.processes();
        let process_of = |component: u32| component as usize % processes;
        let summaries = own.iter().map(|(&component, of)| {
            let summary = (component, (of.name, of.pages, of.row_sum));
            (process_of(component), summary)
        });
        let mut combined: BTreeMap<u32, (ComponentSummary, Vec<usize>)> = BTreeMap::new();
        group.send(
            summaries,
            |_| OF_PAGE + 4 * OF_NUMBER,
            |from, (component, (name, pages, row_sum))| {
                let of_process = ComponentSummary {
                    name,
                    pages,
                    row_sum,
                };
                let entry = combined.entry(component);
                let (of, asked) = entry.or_insert_with(|| (of_process, Vec::new()));
                if !asked.is_empty() {
                    of.add(of_process);
                }
                asked.push(from);
                Ok(())
            },
        )?;
        let answers = combined.iter().flat_map(|(component, (of, asked))| {
            let answer = (*component, of.name);
            asked.iter().map(move |process| (*process, answer))
        });
        let mut names: BTreeMap<u32, PageId> = BTreeMap::new();
        group.send(
            answers,
            |_| OF_PAGE + OF_NUMBER,
            |_, (component, name)| {
                names.insert(component, name);
                Ok(())
            },
        )?;
        let all = combined.values();
        let all = all.map(|(of, _)| (of.name, of.pages, of.row_sum));
        let mut components: Vec<ComponentSummary> = Vec::new();
        group.send_to_first(
            all,
            |_| OF_PAGE + 3 * OF_NUMBER,
            |_, (name, pages, row_sum)| {
                components.push(ComponentSummary {
                    name,
                    pages,
                    row_sum,
                });
                Ok(())
            },
        )?;
        components.sort_unstable_by_key(|of| of.name);
        if !own.keys().eq(names.keys()) {
            return Err(malformed().into());
        }
        Ok(Self { names, components })
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::web_graph::in_threads;

    #[test]
    fn a_component_is_named_after_its_smallest_page_of_all_processes() {
        for processes in 1..=3 {
            let found = in_threads(processes, |group, process| {
                // Page `p` is in component `p % 7`, and belongs to process `p % processes`.
                let mut own: BTreeMap<u32, ComponentSummary> = BTreeMap::new();
                for page in (0..40).filter(|page| page % processes == process) {
                    let of_page = ComponentSummary {
                        name: PageId(100 - page as u64),
                        pages: 1,
                        row_sum: page as u64,
                    };
                    let component = u32::try_from(page % 7).unwrap();
                    let summary = own.entry(component);
                    summary.and_modify(|of| of.add(of_page)).or_insert(of_page);
                }
                let found = Names::exchange(group, own.clone()).unwrap();
                assert!(own.keys().eq(found.names.keys()));
                found
            });
            let last = |component: u32| (0..40).rev().find(|page| page % 7 == component).unwrap();
            for (process, Names { names, components }) in found.into_iter().enumerate() {
                for (component, name) in names {
                    assert_eq!(name.0, 100 - u64::from(last(component)));
                }
                let found = components
                    .iter()
                    .map(|of| (of.name.0, of.pages, of.row_sum));
                let expected = (0..7).map(|component| {
                    let (last, pages) = (last(component), 5 + u32::from(component < 5));
                    (100 - u64::from(last), pages, u64::from(last))
                });
                let mut expected: Vec<_> = expected.collect();
                expected.sort_unstable();
                expected.truncate(if process == 0 { 7 } else { 0 });
                assert_eq!(found.collect::<Vec<_>>(), expected);
            }
        }
    }
}
