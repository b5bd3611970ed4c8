//! Incremental refresh by cores. Loads by key only the components of the graph that batches changed
//! since the plan's previous refresh, and reuses the results of all others.
//!
//! A batch changes the graph at pages whose state, spam mark or row it changed. Every added or
//! removed link has such a page at one end. The page at its other end is a target of an old row of
//! the changed page, or links to that page now (a page that no longer links to it has itself
//! changed its row). So the components that may have changed are those that contained any of these
//! pages, and what they became are the components that contain these pages now. All other
//! components are unchanged; the run knows their cached cores and an upper bound on sigma for the
//! rest of each. When the selection reaches such a bound, the run loads that component too and
//! starts again with what it has found.
//!
//! If the changes affect a large part of the graph, one scan of all is cheaper.

use std::collections::{BTreeMap, BTreeSet};

use super::cached_cores::{CachedRefresh, ComponentCounts, StoredCores};
use super::component_results::{Changed, ahead};
use super::load::{LoadedHubGraph, PageFilter};
use super::neighbourhood::Neighbourhood;
use super::page_evidence::ChangedPageEvidence;
use super::partial_results::PartialResults;
use super::seed_rules::Rejections;
use super::select::select;
use crate::engine::history::timeline::PageTimelines;
use crate::engine::plan::CorePlan;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::{EngineError, Result};
use seedbank_algorithms::cores::{CachedComponent, CoreCache, Selection};
use seedbank_algorithms::graph::{Fingerprint, WeakComponents, number};
use seedbank_algorithms::page::{PageId, RowId, SiteId};
use seedbank_algorithms::rank::Work;
use seedbank_algorithms::watch::Watch;
use seedbank_store::component_cache::ComponentRecord;
use seedbank_store::evidence::{LinkStatus, PageEvidence, PageEvidenceBlock, PageEvidenceKey};
use seedbank_store::page_blocks::{PageBlock, place};
use seedbank_store::{Store, StoreError, tables};

/// Gives up if more than 1 in this many pages would be loaded by key.
const MIN_UNCHANGED_RATIO: u64 = 2;

/// Initial number of unloaded components below the last core's sigma that are considered
/// individually.
const INITIAL_BELOW: usize = 8;

/// Tolerance in comparing sigmas of cores: tied or less exactly proved cores may be out of order.
const SIGMA_TOLERANCE: f64 = 1.0 - 1e-5;

/// Result of an incremental run.
pub(crate) struct IncrementalSelection {
    pub(crate) hubs: LoadedHubGraph,
    pub(crate) cache: CoreCache,
    pub(crate) selection: Selection,
    /// Rejections by policies.
    pub(crate) rejections: Rejections,
    /// The loaded components that are unchanged.
    pub(crate) verified: BTreeSet<u32>,
    pub(crate) components: ComponentCounts,
    pub(crate) pages_loaded: u64,
    pub(crate) changed: Changed,
    pub(crate) standings: ChangedPageEvidence,
    /// Targets of the seeds of reused cores whose components were not loaded.
    pub(crate) targets: BTreeMap<PageId, Vec<PageId>>,
}

/// Outcome of an incremental run.
pub(crate) enum Attempt {
    /// The run succeeded with a certified result.
    Done(Box<IncrementalSelection>),
    /// Too much changed, or the result is not certified. Contains the work done in vain.
    GivenUp(Work),
}

/// Page evidence of the previous refresh, cached as it is read.
struct PreviousEvidence<'a> {
    store: &'a Store,
    cached: CachedRefresh,
    blocks: BTreeMap<(SiteId, u32), Option<PageBlock<PageEvidence>>>,
}

impl PreviousEvidence<'_> {
    fn standing(&mut self, page: PageId) -> Result<Option<PageEvidence>, StoreError> {
        let (block, at) = place(page.index());
        let site = page.site();
        if !self.blocks.contains_key(&(site, block)) {
            let key = PageEvidenceKey {
                series: self.cached.series,
                site,
                block,
                refresh: self.cached.refresh,
            };
            let mut found =
                self.store
                    .scan_from(&tables::PAGE_EVIDENCE, &key, &key.block_prefix())?;
            let PageEvidenceBlock(found) = found
                .next()
                .transpose()?
                .map_or(PageEvidenceBlock(None), |f| f.1);
            self.blocks.insert((site, block), found);
        }
        let block = self.blocks.get(&(site, block)).and_then(Option::as_ref);
        Ok(block.and_then(|block| block.at(at).copied()))
    }

    /// Returns the component that contained a page.
    fn component(&mut self, page: PageId) -> Result<Option<PageId>, StoreError> {
        Ok(match self.standing(page)?.map(|standing| standing.links) {
            Some(LinkStatus::Counted { component, .. }) => Some(component),
            _ => None,
        })
    }
}

/// Components that are not loaded, by descending bound.
type Unloaded = Vec<(PageId, ComponentRecord)>;

struct IncrementalRun<'a> {
    store: &'a Store,
    cached: CachedRefresh,
    neighbourhood: Neighbourhood<'a>,
    previous_evidence: PreviousEvidence<'a>,
    cores: StoredCores<'a>,
    /// The components looked at, as in the previous refresh.
    old: BTreeMap<PageId, ComponentRecord>,
    /// The maximum number of pages to load, and the number of pages in `old`.
    max_pages: u64,
    pages: u64,
}

/// Runs the plan on the changed components.
pub(crate) fn run(
    context: RunContext<'_, CorePlan>,
    cached: CachedRefresh,
    previous_seeds: &[PageId],
) -> Result<Attempt> {
    let RunContext {
        store,
        plan,
        policy,
        watch,
        ..
    } = context;
    let max_pages = cached.counted / MIN_UNCHANGED_RATIO;
    let max_pages = max_pages.min(context.exceeded_limit.unwrap_or(u64::MAX));
    let max_pages = max_pages.min(context.exceeded_limit.unwrap_or(u64::MAX));
    let cores = StoredCores::open(store, cached)?;
    let seeds = plan.params.seeds as usize;
    // Unless policies pass over cores, at most one core per seed is needed.
    let too_many = cores.len() > seeds && !policy.policy.may_pass_over_cores();
    if too_many || !cached.certified || cached.batch > store.counters()?.batch {
        // Cached data of surplus or uncertified cores may belong to any component.
        return Ok(Attempt::GivenUp(Work::default()));
    }
    watch.stage("load what changed", None);
    let filter = PageFilter::new(store, plan, policy.candidates.graph_exclusions(), watch)?;
    let mut run = IncrementalRun {
        store,
        cached,
        neighbourhood: Neighbourhood::new(filter, max_pages),
        previous_evidence: PreviousEvidence {
            store,
            cached,
            blocks: BTreeMap::new(),
        },
        cores,
        old: BTreeMap::new(),
        max_pages,
        pages: 0,
    };
    let Some(touched_pages) = run.touched_pages(watch)? else {
        return Ok(Attempt::GivenUp(Work::default()));
    };
    for &page in &touched_pages {
        let component = run.previous_evidence.component(page)?;
        if !run.add_old(component)? {
            return Ok(Attempt::GivenUp(Work::default()));
        }
    }
    if !run
        .neighbourhood
        .load_connected(touched_pages.iter().copied())?
    {
        return Ok(Attempt::GivenUp(Work::default()));
    }
    run.select(context, previous_seeds, &touched_pages)
}

impl IncrementalRun<'_> {
    /// Returns the pages at which links may have been added or removed and those whose evidence may
    /// have changed; `None` if there are too many.
    fn touched_pages(&mut self, watch: &dyn Watch) -> Result<Option<BTreeSet<PageId>>> {
        let past = PageTimelines::open(self.store, self.cached.batch)?;
        let mut count = 0;
        for part in past.possibly_changed()? {
            count += part?.1.len();
            if count > self.max_pages.saturating_mul(2) {
                return Ok(None);
            }
        }
        let mut touched_pages = BTreeSet::new();
        let (mut seen_rows, mut seen_citing_rows) = (BTreeSet::new(), BTreeSet::new());
        for part in past.possibly_changed()? {
            let (batch, pages) = part?;
            for page in pages.into_iter().map(PageId) {
                watch.proceed()?;
                let timeline = past.timeline(page)?;
                if !timeline.is_changed_by(batch) {
                    continue;
                }
                touched_pages.insert(page);
                for row in timeline.rows().flatten() {
                    if seen_rows.insert(RowId::new(page.site(), row)) {
                        touched_pages.extend(past.targets(page, Some(row))?);
                    }
                }
                for row in self.neighbourhood.citing(page)? {
                    if seen_citing_rows.insert(row) {
                        touched_pages.extend(self.neighbourhood.carriers(row)?);
                    }
                }
                if touched_pages.len() as u64 > self.max_pages {
                    return Ok(None);
                }
            }
        }
        Ok(Some(touched_pages))
    }

    /// Adds a component to those looked at. Returns `false` if they become too large.
    fn add_old(&mut self, component: Option<PageId>) -> Result<bool> {
        if let Some(component) = component
            && !self.old.contains_key(&component)
        {
            let key = (self.cached.series, component);
            let record = self.store.need(&tables::COMPONENT_CACHE, &key)?;
            self.pages += u64::from(record.pages);
            self.old.insert(component, record);
        }
        Ok(self.pages <= self.max_pages)
    }

    /// Returns the unloaded components by descending bound: those with at least the last core's
    /// sigma, and `more` below it. Also returns a bound on the others, and the number of pages in
    /// components of the first kind without a cached core or next step, which therefore have to be
    /// loaded.
    fn unloaded(&self, more: usize) -> Result<(Unloaded, Option<f64>, u64)> {
        let last = (self.cached.refresh, number(self.cores.len()));
        let last = self.store.get(&tables::CORE_EVIDENCE, &last)?;
        let last = last.map_or(0.0, |core| core.sigma * SIGMA_TOLERANCE);
        let mut unloaded = Vec::new();
        let (mut below, mut tied) = (0, 0);
        let prefix = self.cached.series.to_be_bytes();
        for entry in self
            .store
            .scan_under(&tables::COMPONENT_CACHE_ORDER, &prefix)?
        {
            let (key, ()) = entry?;
            if self.old.contains_key(&key.component) {
                continue;
            }
            if key.bound < last {
                below += 1;
                if below > more {
                    return Ok((unloaded, Some(key.bound), tied));
                }
            }
            let of = (self.cached.series, key.component);
            let record = self.store.need(&tables::COMPONENT_CACHE, &of)?;
            if record.bound().to_bits() != key.bound.to_bits() {
                return Err(self.damaged(
                    tables::COMPONENT_CACHE_ORDER.name,
                    "the order differs from that of the components",
                ));
            }
            if key.bound >= last && record.cores.is_empty() && record.ahead.is_none() {
                tied += u64::from(record.pages);
            }
            unloaded.push((key.component, record));
        }
        Ok((unloaded, None, tied))
    }

    fn damaged(&self, table: &'static str, what: &str) -> EngineError {
        EngineError::DamagedCache(StoreError::Damaged {
            table,
            key: format!("series {}", self.cached.series),
            what: what.to_owned(),
        })
    }

    /// Selects cores, and loads further components while the selection needs them.
    fn select(
        mut self,
        context: RunContext<'_, CorePlan>,
        previous_seeds: &[PageId],
        touched_pages: &BTreeSet<PageId>,
    ) -> Result<Attempt> {
        let may_pass_over = context.policy.policy.may_pass_over_cores();
        let mut reads = Work::default();
        let (mut more, mut load) = (INITIAL_BELOW, 1);
        let mut wanted = Vec::new();
        let mut partial_results = PartialResults::default();
        loop {
            // Every loaded page belongs to a component that must be counted in `old`.
            for page in self.neighbourhood.included().clone() {
                let component = self.previous_evidence.component(page)?;
                if !self.add_old(component)? {
                    return Ok(Attempt::GivenUp(reads));
                }
            }
            // Components that could contain the next core enter the selection with their
            // cached cores, all others by one bound.
            let (unloaded, rest, tied) = self.unloaded(more)?;
            if self.pages.saturating_add(tied) > self.max_pages {
                return Ok(Attempt::GivenUp(reads));
            }
            let mut others = BTreeSet::new();
            let ahead = unloaded.iter().filter_map(|(_, record)| record.ahead);
            others.extend(ahead.map(|ahead| ahead.best));
            for core in unloaded.iter().flat_map(|(_, record)| &record.cores) {
                let record = &self.cores.core(core.origin)?.record;
                others.extend(record.hubs.iter().chain(&record.authorities));
            }
            let hubs = self.neighbourhood.graph(&others)?;
            let components = WeakComponents::new(&hubs.graph, &hubs.pages);
            let (mut known, verified) = self.known(&hubs, &components, &partial_results)?;
            let loaded = components.fingerprints();
            if !wanted.iter().all(|wanted| loaded.contains(wanted)) {
                return Err(self.damaged(
                    tables::COMPONENT_CACHE.name,
                    "the fingerprint does not match the links",
                ));
            }
            let first = number(components.len());
            for ((_, record), component) in unloaded.iter().zip(first..) {
                let is_elsewhere =
                    |page: u32| components.component_of_page(&hubs.graph, page).is_none();
                let found = self
                    .cores
                    .unloaded_component(&hubs, record, &is_elsewhere)?;
                known.insert(component, found);
            }
            let rest_component = first + number(unloaded.len());
            if let Some(next) = rest {
                let known_rest = CachedComponent {
                    next,
                    ..CachedComponent::default()
                };
                known.insert(rest_component, known_rest);
            }
            let cache = CoreCache::new(components, known);
            let (mut selection, rejections) = select(context, &hubs, previous_seeds, &cache)?;
            reads += selection.reads;
            if selection.absent.is_empty() {
                if !selection.certified
                    || (may_pass_over && selection.cores.len() < self.cores.len())
                {
                    // An uncertified result is never reused, and cached data of surplus cores may
                    // belong to any component.
                    return Ok(Attempt::GivenUp(reads));
                }
                selection.reads = reads;
                let part = self.finish(
                    hubs,
                    cache,
                    selection,
                    rejections,
                    verified,
                    unloaded,
                    touched_pages,
                )?;
                return Ok(Attempt::Done(Box::new(part)));
            }
            // The selection needs these components, so load them and start again.
            for &component in selection.absent.iter().take(load) {
                let Some((name, record)) = unloaded.get((component - first) as usize) else {
                    more *= 2;
                    continue;
                };
                wanted.push(record.fingerprint);
                if !self.add_old(Some(*name))? || !self.neighbourhood.load_connected([*name])? {
                    return Ok(Attempt::GivenUp(reads));
                }
            }
            load *= 2;
            partial_results = PartialResults::new(hubs, &cache, &selection);
        }
    }

    /// Returns what is known of each loaded component, and which of them are unchanged.
    fn known(
        &mut self,
        hubs: &LoadedHubGraph,
        components: &WeakComponents,
        partial_results: &PartialResults,
    ) -> Result<(BTreeMap<u32, CachedComponent>, BTreeSet<u32>)> {
        let old = self.old.values();
        let old: BTreeMap<Fingerprint, &ComponentRecord> =
            old.map(|record| (record.fingerprint, record)).collect();
        let mut known = BTreeMap::new();
        let mut verified = BTreeSet::new();
        for (fingerprint, component) in components.fingerprints().iter().zip(0..) {
            let is_in_it =
                |page: u32| components.component_of_page(&hubs.graph, page) == Some(component);
            if let Some(record) = old.get(fingerprint) {
                verified.insert(component);
                known.insert(component, self.cores.component(hubs, record, &is_in_it)?);
            }
            let Some(found) = partial_results.component(fingerprint, hubs) else {
                continue;
            };
            let cores = |known: &CachedComponent| known.cores.len();
            if known
                .get(&component)
                .is_none_or(|cached| cores(cached) <= cores(&found))
            {
                known.insert(component, found);
            }
        }
        Ok((known, verified))
    }

    #[expect(
        clippy::too_many_arguments,
        reason = "they are the results of the steps before, each used once"
    )]
    fn finish(
        mut self,
        hubs: LoadedHubGraph,
        cache: CoreCache,
        selection: Selection,
        rejections: Rejections,
        verified: BTreeSet<u32>,
        unloaded: Unloaded,
        touched_pages: &BTreeSet<PageId>,
    ) -> Result<IncrementalSelection> {
        let present = number(cache.components().len());
        let all = self
            .cached
            .components
            .saturating_sub(number(self.old.len()))
            .saturating_add(present);
        let others = present.saturating_sub(number(verified.len()));
        // The selection took fewer cores of some unloaded components than were cached.
        let mut cut = BTreeMap::new();
        for ((name, record), component) in unloaded.into_iter().zip(present..) {
            if let Some(found) = selection.found.get(&component)
                && found.cores.len() < record.cores.len()
            {
                let mut less = record.clone();
                less.cores.truncate(found.cores.len());
                less.next = found.next;
                less.ahead = ahead(&hubs, found);
                cut.insert(name, (record, less));
            }
        }
        // Evidence can have changed only for loaded and for touched pages.
        let mut standings = BTreeMap::new();
        for &page in self.neighbourhood.included().clone().union(touched_pages) {
            self.previous_evidence.standing(page)?;
            let number = hubs.number(page);
            let component =
                number.and_then(|n| cache.components().component_of_page(&hubs.graph, n));
            let links = match component {
                Some(_) => Some(LinkStatus::Isolated),
                None => self.neighbourhood.link_state(page)?,
            };
            standings.insert(page, links);
        }
        let mut targets = BTreeMap::new();
        for core in &selection.cores {
            let seed = hubs.pages[core.seed as usize];
            if hubs.graph.hub_class(core.seed).is_none() {
                targets.insert(seed, self.neighbourhood.targets(seed)?);
            }
        }
        Ok(IncrementalSelection {
            hubs,
            cache,
            selection,
            rejections,
            verified,
            components: ComponentCounts {
                all,
                verified: all.saturating_sub(others),
            },
            pages_loaded: self.neighbourhood.included().len() as u64,
            changed: Changed { old: self.old, cut },
            standings: ChangedPageEvidence {
                pages: standings,
                blocks: self.previous_evidence.blocks,
                previous_pages: self.cached.pages,
            },
            targets,
        })
    }
}
