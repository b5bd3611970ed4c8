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

use super::component_results::{Changed, ahead};
use super::cached_cores::{ComponentCounts, Earlier, CachedCores};
use super::load::{Hubs, PageFilter};
use super::partial_results::PartialResults;
use super::neighbourhood::Neighbourhood;
use super::seed_rules::Rejections;
use super::select::select;
use super::page_evidence::ChangedPageEvidence;
use crate::engine::EngineError;
use crate::engine::history::past::Past;
use crate::engine::plan::CorePlan;
use crate::engine::policy;
use seedbank_algorithms::cores::{KnownComponent, Ledger, Selection};
use seedbank_algorithms::graph::{Fingerprint, WeakComponents, number};
use seedbank_algorithms::page::{PageId, PageSet, RowId, SiteId};
use seedbank_algorithms::rank::Reads;
use seedbank_algorithms::watch::Watch;
use seedbank_store::blocks::{PageBlock, place};
use seedbank_store::evidence::{Links, Standing, StandingKey, Standings};
use seedbank_store::ledger::ComponentRecord;
use seedbank_store::{Store, StoreError, tables};

/// Gives up if more than 1 in this many pages would be loaded by key.
const SHARE: u64 = 2;

/// Initial number of unloaded components below the last core's sigma that are considered
/// individually.
const FEW: usize = 8;

/// Tolerance in comparing sigmas of cores: tied or less exactly proved cores may be out of order.
const ORDERED: f64 = 1.0 - 1e-5;

/// Result of an incremental run.
pub(crate) struct IncrementalSelection {
    pub(crate) hubs: Hubs,
    pub(crate) ledger: Ledger,
    pub(crate) selection: Selection,
    /// Rejections by policies.
    pub(crate) held: Rejections,
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
    GivenUp(Reads),
}

/// Page evidence of the previous refresh, cached as it is read.
struct Before<'a> {
    store: &'a Store,
    earlier: Earlier,
    blocks: BTreeMap<(SiteId, u32), Option<PageBlock<Standing>>>,
}

impl Before<'_> {
    fn standing(&mut self, page: PageId) -> Result<Option<Standing>, StoreError> {
        let (block, at) = place(page.index());
        let site = page.site();
        if !self.blocks.contains_key(&(site, block)) {
            let key = StandingKey {
                series: self.earlier.series,
                site,
                block,
                refresh: self.earlier.refresh,
            };
            let mut found = self
                .store
                .scan_from(&tables::STANDINGS, &key, &key.of_block())?;
            let Standings(found) = found.next().transpose()?.map_or(Standings(None), |f| f.1);
            self.blocks.insert((site, block), found);
        }
        let block = self.blocks.get(&(site, block)).and_then(Option::as_ref);
        Ok(block.and_then(|block| block.at(at).copied()))
    }

    /// Returns the component that contained a page.
    fn component(&mut self, page: PageId) -> Result<Option<PageId>, StoreError> {
        Ok(match self.standing(page)?.map(|standing| standing.links) {
            Some(Links::Counted { component, .. }) => Some(component),
            _ => None,
        })
    }
}

/// Components that are not loaded, by descending bound.
type Absent = Vec<(PageId, ComponentRecord)>;

struct IncrementalRun<'a> {
    store: &'a Store,
    earlier: Earlier,
    near: Neighbourhood<'a>,
    before: Before<'a>,
    kept: CachedCores<'a>,
    /// The components looked at, as in the previous refresh.
    old: BTreeMap<PageId, ComponentRecord>,
    /// The maximum number of pages to load, and the number of pages in `old`.
    most: u64,
    pages: u64,
}

/// Runs the plan on the changed components.
pub(crate) fn run(
    store: &Store,
    (plan, policies): (&CorePlan, &policy::LoadedPolicy),
    earlier: Earlier,
    previous: &[PageId],
    watch: &dyn Watch,
) -> Result<Attempt, EngineError> {
    let most = earlier.counted / SHARE;
    let kept = CachedCores::open(store, earlier)?;
    let seeds = plan.params.seeds as usize;
    // Unless policies pass over cores, at most one core per seed is needed.
    let too_many = kept.len() > seeds && !policies.policy.may_pass_over_cores();
    if too_many || !earlier.certified || earlier.batch > store.counters()?.batch {
        // Cached data of surplus or uncertified cores may belong to any component.
        return Ok(Attempt::GivenUp(Reads::default()));
    }
    watch.stage("load what changed", None);
    let rules = PageFilter::new(store, plan, policies.candidates.graph_exclusions(), watch)?;
    let mut run = IncrementalRun {
        store,
        earlier,
        near: Neighbourhood::new(rules, most),
        before: Before {
            store,
            earlier,
            blocks: BTreeMap::new(),
        },
        kept,
        old: BTreeMap::new(),
        most,
        pages: 0,
    };
    let Some(touched) = run.touched(watch)? else {
        return Ok(Attempt::GivenUp(Reads::default()));
    };
    for &page in &touched {
        let component = run.before.component(page)?;
        if !run.open(component)? {
            return Ok(Attempt::GivenUp(Reads::default()));
        }
    }
    if !run.near.spread(touched.iter().copied())? {
        return Ok(Attempt::GivenUp(Reads::default()));
    }
    run.select((plan, policies), previous, &touched, watch)
}

impl IncrementalRun<'_> {
    /// Returns the pages at which links may have been added or removed and those whose evidence may
    /// have changed; `None` if there are too many.
    fn touched(&mut self, watch: &dyn Watch) -> Result<Option<BTreeSet<PageId>>, EngineError> {
        let past = Past::open(self.store, self.earlier.batch)?;
        let stirred = past.stirred()?;
        let count: u64 = stirred.values().map(PageSet::len).sum();
        if count > self.most.saturating_mul(2) {
            return Ok(None);
        }
        let mut touched = BTreeSet::new();
        let (mut led, mut citing) = (BTreeSet::new(), BTreeSet::new());
        for (batch, pages) in stirred {
            for page in pages.into_iter().map(PageId) {
                watch.proceed()?;
                let timeline = past.timeline(page)?;
                if !timeline.is_changed_by(batch) {
                    continue;
                }
                touched.insert(page);
                for row in timeline.rows().flatten() {
                    if led.insert(RowId::new(page.site(), row)) {
                        touched.extend(past.targets(page, Some(row))?);
                    }
                }
                for row in self.near.citing(page)? {
                    if citing.insert(row) {
                        touched.extend(self.near.carriers(row)?);
                    }
                }
                if touched.len() as u64 > self.most {
                    return Ok(None);
                }
            }
        }
        Ok(Some(touched))
    }

    /// Adds a component to those looked at. Returns `false` if they become too large.
    fn open(&mut self, component: Option<PageId>) -> Result<bool, EngineError> {
        if let Some(component) = component
            && !self.old.contains_key(&component)
        {
            let key = (self.earlier.series, component);
            let record = self.store.need(&tables::COMPONENTS, &key)?;
            self.pages += u64::from(record.pages);
            self.old.insert(component, record);
        }
        Ok(self.pages <= self.most)
    }

    /// Returns the unloaded components by descending bound: those with at least the last core's
    /// sigma, and `more` below it. Also returns a bound on the others, and the number of pages in
    /// components of the first kind without a cached core or next step, which therefore have to be
    /// loaded.
    fn absent(&self, more: usize) -> Result<(Absent, Option<f64>, u64), EngineError> {
        let last = (self.earlier.refresh, number(self.kept.len()));
        let last = self.store.get(&tables::CORE_EVIDENCE, &last)?;
        let last = last.map_or(0.0, |core| core.sigma * ORDERED);
        let mut absent = Vec::new();
        let (mut below, mut tied) = (0, 0);
        let prefix = self.earlier.series.to_be_bytes();
        for entry in self.store.scan_under(&tables::COMPONENT_ORDER, &prefix)? {
            let (key, ()) = entry?;
            if self.old.contains_key(&key.component) {
                continue;
            }
            if key.bound < last {
                below += 1;
                if below > more {
                    return Ok((absent, Some(key.bound), tied));
                }
            }
            let of = (self.earlier.series, key.component);
            let record = self.store.need(&tables::COMPONENTS, &of)?;
            if record.bound().to_bits() != key.bound.to_bits() {
                return Err(self.damaged(tables::COMPONENT_ORDER.name, "it is in another order"));
            }
            if key.bound >= last && record.cores.is_empty() && record.ahead.is_none() {
                tied += u64::from(record.pages);
            }
            absent.push((key.component, record));
        }
        Ok((absent, None, tied))
    }

    fn damaged(&self, table: &'static str, what: &str) -> EngineError {
        EngineError::DamagedCache(StoreError::Damaged {
            table,
            key: format!("series {}", self.earlier.series),
            what: what.to_owned(),
        })
    }

    /// Selects cores, and loads further components while the selection needs them.
    fn select(
        mut self,
        of_plan: (&CorePlan, &policy::LoadedPolicy),
        previous: &[PageId],
        touched: &BTreeSet<PageId>,
        watch: &dyn Watch,
    ) -> Result<Attempt, EngineError> {
        let may_pass_over = of_plan.1.policy.may_pass_over_cores();
        let mut reads = Reads::default();
        let (mut more, mut load) = (FEW, 1);
        let mut wanted = Vec::new();
        let mut mine = PartialResults::default();
        loop {
            // Every loaded page belongs to a component that must be counted in `old`.
            for page in self.near.part().clone() {
                let component = self.before.component(page)?;
                if !self.open(component)? {
                    return Ok(Attempt::GivenUp(reads));
                }
            }
            let (absent, rest, tied) = self.absent(more)?;
            if self.pages.saturating_add(tied) > self.most {
                return Ok(Attempt::GivenUp(reads));
            }
            let mut others = BTreeSet::new();
            let ahead = absent.iter().filter_map(|(_, record)| record.ahead);
            others.extend(ahead.map(|ahead| ahead.best));
            for core in absent.iter().flat_map(|(_, record)| &record.cores) {
                let record = &self.kept.core(core.origin)?.record;
                others.extend(record.hubs.iter().chain(&record.authorities));
            }
            let hubs = self.near.hubs(&others)?;
            let components = WeakComponents::of(&hubs.graph, &hubs.pages);
            let (mut known, verified) = self.known(&hubs, &components, &mine)?;
            let loaded = components.fingerprints();
            if !wanted.iter().all(|wanted| loaded.contains(wanted)) {
                return Err(self.damaged(tables::COMPONENTS.name, "its pages have other links"));
            }
            let first = number(components.len());
            for ((_, record), component) in absent.iter().zip(first..) {
                let is_elsewhere = |page: u32| components.of_page(&hubs.graph, page).is_none();
                let found = self.kept.absent(&hubs, record, &is_elsewhere)?;
                known.insert(component, found);
            }
            let of_rest = first + number(absent.len());
            if let Some(next) = rest {
                let known_rest = KnownComponent {
                    next,
                    ..KnownComponent::default()
                };
                known.insert(of_rest, known_rest);
            }
            let ledger = Ledger::new(components, known);
            let (mut selection, held) =
                select(self.store, &hubs, of_plan, previous, &ledger, watch)?;
            reads += selection.reads;
            if selection.absent.is_empty() {
                if !selection.certified
                    || (may_pass_over && selection.cores.len() < self.kept.len())
                {
                    // An uncertified result is never reused, and cached data of surplus cores may
                    // belong to any component.
                    return Ok(Attempt::GivenUp(reads));
                }
                selection.reads = reads;
                let part =
                    self.finish(hubs, ledger, (selection, held), verified, absent, touched)?;
                return Ok(Attempt::Done(Box::new(part)));
            }
            for &component in selection.absent.iter().take(load) {
                let Some((name, record)) = absent.get((component - first) as usize) else {
                    more *= 2;
                    continue;
                };
                wanted.push(record.fingerprint);
                if !self.open(Some(*name))? || !self.near.spread([*name])? {
                    return Ok(Attempt::GivenUp(reads));
                }
            }
            load *= 2;
            mine = PartialResults::new(hubs, &ledger, &selection);
        }
    }

    /// Returns what is known of each loaded component, and which of them are unchanged.
    fn known(
        &mut self,
        hubs: &Hubs,
        components: &WeakComponents,
        mine: &PartialResults,
    ) -> Result<(BTreeMap<u32, KnownComponent>, BTreeSet<u32>), EngineError> {
        let old = self.old.values();
        let old: BTreeMap<Fingerprint, &ComponentRecord> =
            old.map(|record| (record.fingerprint, record)).collect();
        let mut known = BTreeMap::new();
        let mut verified = BTreeSet::new();
        for (fingerprint, component) in components.fingerprints().iter().zip(0..) {
            let is_in_it = |page: u32| components.of_page(&hubs.graph, page) == Some(component);
            if let Some(record) = old.get(fingerprint) {
                verified.insert(component);
                known.insert(component, self.kept.component(hubs, record, &is_in_it)?);
            }
            let Some(found) = mine.component(fingerprint, hubs) else {
                continue;
            };
            let cores = |known: &KnownComponent| known.cores.len();
            if known
                .get(&component)
                .is_none_or(|kept| cores(kept) <= cores(&found))
            {
                known.insert(component, found);
            }
        }
        Ok((known, verified))
    }

    fn finish(
        mut self,
        hubs: Hubs,
        ledger: Ledger,
        (selection, held): (Selection, Rejections),
        verified: BTreeSet<u32>,
        absent: Absent,
        touched: &BTreeSet<PageId>,
    ) -> Result<IncrementalSelection, EngineError> {
        let present = number(ledger.components().len());
        let all = self
            .earlier
            .components
            .saturating_sub(number(self.old.len()))
            .saturating_add(present);
        let others = present.saturating_sub(number(verified.len()));
        let mut cut = BTreeMap::new();
        for ((name, record), component) in absent.into_iter().zip(present..) {
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
        let mut standings = BTreeMap::new();
        for &page in self.near.part().clone().union(touched) {
            self.before.standing(page)?;
            let number = hubs.number(page);
            let component = number.and_then(|n| ledger.components().of_page(&hubs.graph, n));
            let links = match component {
                Some(_) => Some(Links::Alone),
                None => self.near.bare_standing(page)?,
            };
            standings.insert(page, links);
        }
        let mut targets = BTreeMap::new();
        for core in &selection.cores {
            let seed = hubs.pages[core.seed as usize];
            if hubs.graph.hub_class(core.seed).is_none() {
                targets.insert(seed, self.near.targets(seed)?);
            }
        }
        Ok(IncrementalSelection {
            hubs,
            ledger,
            selection,
            held,
            verified,
            components: ComponentCounts::without(all, others),
            pages_loaded: self.near.part().len() as u64,
            changed: Changed { old: self.old, cut },
            standings: ChangedPageEvidence {
                pages: standings,
                blocks: self.before.blocks,
                earlier: self.earlier.pages,
            },
            targets,
        })
    }
}
