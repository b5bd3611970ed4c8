//! Refresh by cores: loads the host-pruned graph or its changed part, selects cores, and caches
//! results for the next refresh.

pub(crate) mod cached_cores;
mod cached_steps;
mod component_results;
pub(crate) mod evidence;
mod incremental;
pub(crate) mod load;
mod neighbourhood;
pub(crate) mod page_evidence;
mod partial_results;
pub(crate) mod recomputed;
mod seed_rules;
mod select;
pub(crate) mod unchanged;

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::Result;
use crate::engine::history::succession;
use crate::engine::plan::{CorePlan, PlanOptions};
use crate::engine::policy::Policy;
use crate::engine::refresh::run_context::RunContext;
use cached_cores::{CachedRefresh, ComponentCounts};
use component_results::ComponentResults;
use evidence::CoresEvidence;
use incremental::{Attempt, IncrementalSelection};
use load::LoadedHubGraph;
use page_evidence::{NewPageEvidence, SeriesRefresh, Written};
use recomputed::RecomputedCores;
use seed_rules::Rejections;
use seedbank_algorithms::cores::{Core, CoreCache, Hits, Pick, Selection};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::{PageId, PageSet};
use seedbank_algorithms::rank::Work;
use seedbank_store::component_cache::CoreOrigin;
use seedbank_store::records::{CoreRecord, RefreshId, SeedEvidence, SeedRecord, Succession};
use seedbank_store::tables::{self, CoreScoresKey, CoreScoresPart, PageSetKey};
use seedbank_store::{Changes, Store, member_order};
use select::select;

/// Result of a refresh by cores, to be stored.
pub(crate) struct CoresRun {
    hubs: LoadedHubGraph,
    cache: CoreCache,
    pub(crate) selection: Selection,
    /// Rejections by policies.
    pub(crate) rejections: Rejections,
    /// Pinned pages, which are seeds before any core is extracted, in their order.
    pins: Vec<PageId>,
    /// The refresh whose results were reused.
    pub(crate) cached: Option<CachedRefresh>,
    /// The refresh that this one depends on: the one whose results were reused, or the previous one
    /// if its seeds matter. `None` for a cold refresh.
    pub(crate) depends_on: Option<RefreshId>,
    /// Whether the run started with cached steps.
    pub(crate) warm_start: bool,
    pub(crate) components: ComponentCounts,
    /// Number of pages in the loaded graph.
    pub(crate) pages_loaded: u64,
    /// Unchanged components of the loaded graph.
    verified: BTreeSet<u32>,
    findings: ComponentResults,
    /// Successors of dead seeds, if the plan uses them.
    successors: BTreeMap<PageId, Succession>,
    evidence: CoresEvidence,
}

/// Runs a plan by cores. A `cold` run reuses nothing of the previous refresh except its seeds, if
/// the plan depends on them.
///
/// Cost: the pages and rows of changed components by key or, if they are too many, one scan of
/// pages and two of rows; then [`select`](seedbank_algorithms::cores::select) on the changed
/// components.
pub(crate) fn run(
    context: RunContext<'_, CorePlan>,
    previous: Option<RefreshId>,
    cold: bool,
) -> Result<CoresRun> {
    let RunContext {
        store,
        plan,
        policy,
        watch,
        ..
    } = context;
    let mut cached = match previous {
        Some(refresh) if !cold => cached_cores::find_valid(store, refresh, plan)?,
        _ => None,
    };
    let mut successors = BTreeMap::new();
    let depends_on = cached.map(|cached| cached.refresh);
    let seeds_matter = plan.succeed || plan.params.pick == Pick::Stable;
    let depends_on = depends_on.or(previous.filter(|_| seeds_matter));
    let of_steps = previous.filter(|_| !cold && !plan.params.within.is_exact());
    let depends_on = depends_on.or(of_steps);
    let previous_seeds = match previous {
        Some(refresh) if plan.succeed => {
            let (seeds, of_dead) = succession::stable_list(store, plan, refresh, watch)?;
            successors = of_dead;
            seeds
        }
        // A core whose step is reused keeps its seed, but not one that other policies chose.
        Some(refresh) if seeds_matter || has_policy(store, refresh, &policy.policy)? => {
            seed_pages(store, refresh)?
        }
        _ => Vec::new(),
    };
    let mut reads = Work::default();
    // Try the changed components first, and fall back to the whole graph.
    if let Some(cached) = cached {
        match incremental::run(context, cached, &previous_seeds)? {
            Attempt::Done(part) => {
                let run = from_incremental(*part, context, cached);
                return Ok(CoresRun {
                    depends_on,
                    successors,
                    ..run
                });
            }
            Attempt::GivenUp(wasted) => reads = wasted,
        }
    }
    let hubs = LoadedHubGraph::load(store, plan, policy.candidates.graph_exclusions(), watch)?;
    let steps = cached_steps::load(store, of_steps, plan, &hubs)?;
    let mut warm_start = !steps.steps.is_empty();
    let mut cache = cached_cores::load(store, &hubs, cached)?.with_steps(steps);
    let (mut selection, mut rejections) = select(context, &hubs, &previous_seeds, &cache)?;
    selection.reads += reads;
    if !selection.certified && selection.reused.contains(&true) {
        // An uncertified result is never reused: start again without the cache.
        cached = None;
        warm_start = false;
        cache = cached_cores::load(store, &hubs, None)?;
        let reads = selection.reads;
        (selection, rejections) = select(context, &hubs, &previous_seeds, &cache)?;
        selection.reads += reads;
    }
    if let Some(refresh) = previous.filter(|_| !has_component_results(plan)) {
        keep_origins(store, refresh, &hubs, &mut selection)?;
    }
    let components = cache.components();
    let all = number(components.len());
    let verified: BTreeSet<u32> = (0..all).filter(|c| cache.knows(*c)).collect();
    Ok(CoresRun {
        evidence: evidence::gather(
            &hubs,
            &selection,
            plan.params.rule,
            &BTreeMap::new(),
            NewPageEvidence::all(&hubs, components, &selection),
        ),
        findings: ComponentResults::new(&hubs, components, &selection, None),
        components: ComponentCounts {
            all,
            verified: number(verified.len()),
        },
        pages_loaded: hubs.pages.len() as u64,
        hubs,
        cache,
        selection,
        rejections,
        pins: policy.pins.pages.clone(),
        cached,
        depends_on,
        warm_start,
        verified,
        successors,
    })
}

/// Returns whether results are cached by component, with the origins of cores.
fn has_component_results(plan: &CorePlan) -> bool {
    plan.params.hits == Hits::Converged && plan.params.within.is_exact()
}

/// Gives cores with the members of a core of the previous refresh its origin, so that the evidence of the
/// pages near them is written only where it changed.
///
/// Cost: the cores of the previous refresh.
fn keep_origins(
    store: &Store,
    previous: RefreshId,
    hubs: &LoadedHubGraph,
    selection: &mut Selection,
) -> Result<()> {
    let prefix = previous.to_be_bytes();
    let mut origins: BTreeMap<u32, CoreOrigin> = BTreeMap::new();
    for entry in store.scan_under(&tables::CORE_ORIGINS, &prefix)? {
        let (key, rank) = entry?;
        origins.insert(rank, key.origin);
    }
    // Cores have no hub in common, so that the first one identifies a core.
    let mut cores: BTreeMap<PageId, (u32, CoreRecord)> = BTreeMap::new();
    for entry in store.scan_under(&tables::CORES, &prefix)? {
        let ((_, rank), core) = entry?;
        if let Some(first) = core.hubs.first() {
            cores.insert(*first, (rank, core));
        }
    }
    for (origin, core) in selection.origins.iter_mut().zip(&selection.cores) {
        let core = core_record(hubs, core);
        let stored = core.hubs.first().and_then(|first| cores.get(first));
        if let Some((rank, _)) = stored.filter(|(_, stored)| stored.has_members_of(&core)) {
            *origin = origins.get(rank).map(|origin| origin.packed());
        }
    }
    Ok(())
}

/// Builds the run from an incremental selection.
fn from_incremental(
    part: IncrementalSelection,
    context: RunContext<'_, CorePlan>,
    cached: CachedRefresh,
) -> CoresRun {
    let rule = context.plan.params.rule;
    let IncrementalSelection {
        hubs,
        cache,
        selection,
        rejections,
        verified,
        components,
        pages_loaded,
        changed,
        standings,
        targets,
    } = part;
    let of_graph = cache.components();
    CoresRun {
        evidence: evidence::gather(
            &hubs,
            &selection,
            rule,
            &targets,
            standings.compute(&hubs, of_graph, &selection),
        ),
        findings: ComponentResults::new(&hubs, of_graph, &selection, Some(changed)),
        components,
        pages_loaded,
        hubs,
        cache,
        selection,
        rejections,
        pins: context.policy.pins.pages.clone(),
        cached: Some(cached),
        depends_on: None,
        warm_start: false,
        verified,
        successors: BTreeMap::new(),
    }
}

/// Returns whether a refresh ran with these policies.
fn has_policy(store: &Store, refresh: RefreshId, policy: &Policy) -> Result<bool> {
    let record = store.need(&tables::REFRESHES, &refresh)?;
    Ok(PlanOptions::from_stored(&record.settings)?.policy()? == *policy)
}

/// Returns the seeds of a refresh, best first.
fn seed_pages(store: &Store, refresh: RefreshId) -> Result<Vec<PageId>> {
    let list = store.list(refresh)?;
    Ok(list.into_iter().map(|(_, seed)| seed.page).collect())
}

impl CoresRun {
    /// Returns the seeds, best first: pinned pages, then the seeds of cores that are not pinned.
    pub(crate) fn seeds(&self) -> Vec<SeedRecord> {
        let pins: BTreeSet<PageId> = self.pins.iter().copied().collect();
        let mut pinned: BTreeMap<PageId, SeedEvidence> = BTreeMap::new();
        let mut others = Vec::new();
        for (rank, core) in (1_u32..).zip(&self.selection.cores) {
            for (hub, score) in core.hubs.iter().zip(&core.hub_scores) {
                let page = self.hubs.pages[*hub as usize];
                let evidence = SeedEvidence::Core {
                    core: rank,
                    sigma: core.sigma,
                    hub_score: *score,
                };
                if pins.contains(&page) {
                    pinned.insert(page, evidence);
                } else if core.gives_seed && *hub == core.seed {
                    others.push((page, evidence));
                }
            }
        }
        let pins = self.pins.iter().map(|&page| {
            let evidence = pinned.remove(&page);
            (page, evidence.unwrap_or(SeedEvidence::ByPolicy))
        });
        let seeds: Vec<(PageId, SeedEvidence)> = pins.collect();
        let record = |(page, evidence)| SeedRecord {
            page,
            evidence,
            succeeds: self.successors.get(&page).copied(),
        };
        seeds.into_iter().chain(others).map(record).collect()
    }

    /// Explains why cores were recomputed.
    pub(crate) fn costs(&self, store: &Store) -> Result<Vec<RecomputedCores>> {
        let run = recomputed::Recomputation {
            store,
            hubs: &self.hubs,
            components: self.cache.components(),
            verified: &self.verified,
            selection: &self.selection,
            cached: self.cached.map(|cached| cached.refresh),
            warm_start: self.warm_start,
        };
        run.costs()
    }

    /// Adds everything that the refresh stores to `changes`. Returns what was written of page
    /// evidence.
    pub(crate) fn put(
        &self,
        store: &Store,
        changes: &mut Changes,
        plan: &str,
        refresh: RefreshId,
    ) -> Result<Written> {
        put_cores(changes, refresh, &self.hubs, &self.selection)?;
        for (rank, seed) in (1_u32..).zip(self.seeds()) {
            changes.put_seed(refresh, rank, &seed)?;
        }
        let counted = self.findings.counted(self.cached);
        let written = self.evidence.put(store, changes, plan, refresh, counted)?;
        let series = written.record.series;
        let (loaded, steps) = (self.cache.cached_steps(), &self.selection.steps);
        cached_steps::put(store, changes, series, &self.hubs, loaded, steps)?;
        self.findings
            .put(store, changes, SeriesRefresh { series, refresh })?;
        Ok(written)
    }
}

/// Returns the record of a core. Numbers are those of the loaded graph; ids are stored.
fn core_record(hubs: &LoadedHubGraph, core: &Core) -> CoreRecord {
    let page = |number: &u32| hubs.pages[*number as usize];
    CoreRecord {
        sigma: core.sigma,
        edges: core.edges,
        hubs: core.hubs.iter().map(page).collect(),
        authorities: core.authorities.iter().map(page).collect(),
        sides: member_order::pack(&core.sides),
        seed: page(&core.seed),
        gives_seed: core.gives_seed,
    }
}

fn put_cores(
    changes: &mut Changes,
    refresh: RefreshId,
    hubs: &LoadedHubGraph,
    selection: &Selection,
) -> Result<()> {
    let mut removed = PageSet::new();
    for (rank, core) in (1_u32..).zip(&selection.cores) {
        let record = core_record(hubs, core);
        removed.extend(
            record
                .hubs
                .iter()
                .chain(&record.authorities)
                .map(|page| page.0),
        );
        changes.put(&tables::CORES, &(refresh, rank), &record)?;
        let bound = core.sigma_bound.map(|bound| vec![bound]);
        for (side, scores) in [
            (CoreScoresPart::Hubs, Some(&core.hub_scores)),
            (CoreScoresPart::Authorities, Some(&core.authority_scores)),
            (CoreScoresPart::Bound, bound.as_ref()),
        ] {
            let key = CoreScoresKey {
                refresh,
                rank,
                side,
            };
            if let Some(scores) = scores {
                changes.put(&tables::CORE_SCORES, &key, scores)?;
            }
        }
    }
    Ok(changes.put_page_set(PageSetKey::Removed(refresh), &removed)?)
}
