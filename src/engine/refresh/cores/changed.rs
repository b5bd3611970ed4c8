//! Refresh by cores at the cost of what changed. The components of the graph that batches since the
//! plan's previous refresh touched are loaded by key; the others are taken as that refresh left
//! them.
//!
//! A batch changes the graph at pages whose state, spam mark or row it changed. Every link that
//! came or went has such a page at one end. So at the other end is a page that the rows of the
//! changed page led or lead to, or that leads to it now (a page that led to it and no longer does
//! has itself changed its row). The components that any of these pages was in may have changed;
//! what any of these pages is connected with now is what became of those components. Everything
//! else is unchanged, and known by its steps and by a bound on what is left of it. When the run
//! reaches such a bound, it loads that component too and starts again with what it has found.
//!
//! Where the changes affect a large part of the graph, one scan costs less.

use std::collections::{BTreeMap, BTreeSet};

use super::findings::{Changed, ahead};
use super::kept::{ComponentCounts, Earlier, KeptCores};
use super::load::{Hubs, Rules};
use super::mine::Mine;
use super::neighbourhood::Neighbourhood;
use super::seeds::Held;
use super::select::select;
use super::standings::ChangedStandings;
use crate::engine::EngineError;
use crate::engine::history::timeline::PageTimelines;
use crate::engine::plan::CorePlan;
use crate::engine::policy;
use seedbank_algorithms::cores::{CachedComponent, CoreCache, Selection};
use seedbank_algorithms::graph::{Fingerprint, WeakComponents, number};
use seedbank_algorithms::page::{PageId, PageSet, RowId, SiteId};
use seedbank_algorithms::rank::Reads;
use seedbank_algorithms::watch::Watch;
use seedbank_store::blocks::{PageBlock, place};
use seedbank_store::evidence::{Links, Standing, StandingKey, Standings};
use seedbank_store::ledger::ComponentRecord;
use seedbank_store::{Store, StoreError, tables};

/// If more than one page in this many has to be loaded by key, one scan of all costs less.
const SHARE: u64 = 2;

/// How many components below the last core's sigma are named one by one, at first.
const FEW: usize = 8;

/// Sigmas are in order, except for those that are tied or proved less exactly.
const ORDERED: f64 = 1.0 - 1e-5;

/// What the run found.
pub(crate) struct ChangedSelection {
    pub(crate) hubs: Hubs,
    pub(crate) ledger: CoreCache,
    pub(crate) selection: Selection,
    /// What policies held back.
    pub(crate) held: Held,
    /// The components of the graph that are unchanged.
    pub(crate) verified: BTreeSet<u32>,
    pub(crate) components: ComponentCounts,
    pub(crate) pages_loaded: u64,
    pub(crate) changed: Changed,
    pub(crate) standings: ChangedStandings,
    /// The targets of the seeds of cores that were taken over without looking at their component.
    pub(crate) targets: BTreeMap<PageId, Vec<PageId>>,
}

/// The outcome of trying to load no more than what changed.
pub(crate) enum Attempt {
    /// The run came to a certain result.
    Done(Box<ChangedSelection>),
    /// Too much changed, or the result is not certain; with what was read in vain.
    GivenUp(Reads),
}

/// The standings that the earlier refresh sees, as far as they were asked for.
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

    /// The component that a page was in.
    fn component(&mut self, page: PageId) -> Result<Option<PageId>, StoreError> {
        Ok(match self.standing(page)?.map(|standing| standing.links) {
            Some(Links::Counted { component, .. }) => Some(component),
            _ => None,
        })
    }
}

/// Components that are not loaded, the densest first.
type Absent = Vec<(PageId, ComponentRecord)>;

struct ChangedRun<'a> {
    store: &'a Store,
    earlier: Earlier,
    near: Neighbourhood<'a>,
    before: Before<'a>,
    kept: KeptCores<'a>,
    /// The components that were looked at, as they were before.
    old: BTreeMap<PageId, ComponentRecord>,
    /// The most pages that are loaded, and how many the components in `old` have.
    most: u64,
    pages: u64,
}

/// Runs a plan on what changed.
pub(crate) fn run(
    store: &Store,
    (plan, policies): (&CorePlan, &policy::Rules),
    earlier: Earlier,
    previous: &[PageId],
    watch: &dyn Watch,
) -> Result<Attempt, EngineError> {
    let most = earlier.counted / SHARE;
    let kept = KeptCores::open(store, earlier)?;
    let seeds = plan.params.seeds as usize;
    // Where every core gives a seed, so many are enough.
    let too_many = kept.len() > seeds && !policies.policy.may_pass_over_cores();
    if too_many || !earlier.certified || earlier.batch > store.counters()?.batch {
        // What is kept of further cores, or of uncertain ones, may be anywhere.
        return Ok(Attempt::GivenUp(Reads::default()));
    }
    watch.stage("load what changed", None);
    let rules = Rules::new(store, plan, policies.candidates.leave_out(), watch)?;
    let mut run = ChangedRun {
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

impl ChangedRun<'_> {
    /// The pages at which links may have come or gone, and those whose standing may have changed;
    /// `None` where there are too many.
    fn touched(&mut self, watch: &dyn Watch) -> Result<Option<BTreeSet<PageId>>, EngineError> {
        let past = PageTimelines::open(self.store, self.earlier.batch)?;
        let possibly_changed = past.possibly_changed()?;
        let count: u64 = possibly_changed.values().map(PageSet::len).sum();
        if count > self.most.saturating_mul(2) {
            return Ok(None);
        }
        let mut touched = BTreeSet::new();
        let (mut led, mut citing) = (BTreeSet::new(), BTreeSet::new());
        for (batch, pages) in possibly_changed {
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

    /// Notes that a component is looked at; `false` where that becomes too much.
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

    /// The densest components that are not looked at: those as dense as the last core, and `more`
    /// below it; a bound on the rest; and how many pages those as dense have of which no core or
    /// next step is known, so that one has to be chosen.
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
        EngineError::Ledger(StoreError::Damaged {
            table,
            key: format!("series {}", self.earlier.series),
            what: what.to_owned(),
        })
    }

    /// Selects, and loads more as long as that is needed.
    fn select(
        mut self,
        of_plan: (&CorePlan, &policy::Rules),
        previous: &[PageId],
        touched: &BTreeSet<PageId>,
        watch: &dyn Watch,
    ) -> Result<Attempt, EngineError> {
        let may_pass_over = of_plan.1.policy.may_pass_over_cores();
        let mut reads = Reads::default();
        let (mut more, mut load) = (FEW, 1);
        let mut wanted = Vec::new();
        let mut mine = Mine::default();
        loop {
            // A loaded page was in a component that is then looked at.
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
                let known_rest = CachedComponent {
                    next,
                    ..CachedComponent::default()
                };
                known.insert(of_rest, known_rest);
            }
            let ledger = CoreCache::new(components, known);
            let (mut selection, held) =
                select(self.store, &hubs, of_plan, previous, &ledger, watch)?;
            reads += selection.reads;
            if selection.absent.is_empty() {
                if !selection.certified
                    || (may_pass_over && selection.cores.len() < self.kept.len())
                {
                    // Nothing is built upon an uncertain result; and what is kept of further cores may
                    // be anywhere.
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
            mine = Mine::new(hubs, &ledger, &selection);
        }
    }

    /// What is known of the components of the graph, and which of them are unchanged.
    fn known(
        &mut self,
        hubs: &Hubs,
        components: &WeakComponents,
        mine: &Mine,
    ) -> Result<(BTreeMap<u32, CachedComponent>, BTreeSet<u32>), EngineError> {
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
            let cores = |known: &CachedComponent| known.cores.len();
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
        ledger: CoreCache,
        (selection, held): (Selection, Held),
        verified: BTreeSet<u32>,
        absent: Absent,
        touched: &BTreeSet<PageId>,
    ) -> Result<ChangedSelection, EngineError> {
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
        Ok(ChangedSelection {
            hubs,
            ledger,
            selection,
            held,
            verified,
            components: ComponentCounts::without(all, others),
            pages_loaded: self.near.part().len() as u64,
            changed: Changed { old: self.old, cut },
            standings: ChangedStandings {
                pages: standings,
                blocks: self.before.blocks,
                earlier: self.earlier.pages,
            },
            targets,
        })
    }
}
