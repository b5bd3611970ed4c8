//! Refresh by cores: loads the host-pruned graph or its changed part, selects cores, and caches
//! results for the next refresh.

pub(crate) mod cached_cores;
mod cached_steps;
mod component_results;
mod core_records;
pub(crate) mod evidence;
mod incremental;
pub(crate) mod load;
mod load_share;
mod neighbourhood;
pub(crate) mod page_evidence;
mod partial_results;
pub(crate) mod recomputed;
mod seed_rules;
mod select;
pub(super) mod service;
mod share_evidence;
mod shared_put;
mod shared_seed_rules;
mod shared_selection;
mod shared_steps;
pub(crate) mod unchanged;

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::history::succession;
use crate::engine::plan::{CorePlan, PlanOptions};
use crate::engine::policy::Policy;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::shared_job::SharedJob;
use crate::engine::rounds::communicator::JobCommunicator;
use crate::engine::{EngineError, Result};
use cached_cores::{CachedRefresh, ComponentCounts};
use cached_steps::NewSteps;
use component_results::ComponentResults;
use core_records::{keep_origins, put_cores};
use evidence::CoresEvidence;
use incremental::{Attempt, IncrementalSelection};
use load::LoadedHubGraph;
use page_evidence::{NewPageEvidence, SeriesRefresh, Written};
use recomputed::RecomputedCores;
use seed_rules::Rejections;
use seedbank_algorithms::communicator::of_threads;
use seedbank_algorithms::cores::{CoreCache, Hits, Pick, Selection};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::{CachedSteps, Work};
use seedbank_store::records::{RefreshId, SeedEvidence, SeedRecord, Succession};
use seedbank_store::{Changes, Store, tables};
use select::select;
use shared_selection::{SelectionInput, SharedSelection, select_in_group};
use shared_steps::CollectedSteps;

/// The number of pages of a component that one process ranks even if it is to rank none: more processes would need more time
/// for their messages than for the component.
const ALWAYS_GATHERED: u64 = 256;

/// Result of a refresh by cores, to be stored.
pub(crate) struct CoresRun {
    graph: RunGraph,
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
    findings: ComponentResults,
    /// Successors of dead seeds, if the plan uses them.
    successors: BTreeMap<PageId, Succession>,
    evidence: CoresEvidence,
}

/// The graph on which a selection ran, and what depends on its form.
enum RunGraph {
    /// One process has loaded all of it that the selection needed.
    Loaded(Box<LoadedGraph>),
    /// Processes share it.
    Shared(Box<SharedGraph>),
}

/// A graph that one process has loaded, and what it cached.
struct LoadedGraph {
    hubs: LoadedHubGraph,
    cache: CoreCache,
    /// Unchanged components of the graph.
    verified: BTreeSet<u32>,
}

/// What process 0 has of a graph that processes share.
struct SharedGraph {
    /// The pages of cores, by their numbers in the selection.
    pages: Vec<PageId>,
    loaded_steps: CachedSteps,
    steps: CollectedSteps,
    /// The job of all processes; `None` if there is only this one.
    job: Option<SharedJob>,
}

impl RunGraph {
    /// Returns the pages by their numbers in the selection.
    fn pages(&self) -> &[PageId] {
        match self {
            Self::Loaded(graph) => &graph.hubs.pages,
            Self::Shared(graph) => &graph.pages,
        }
    }
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
    let depends_on = cached.map(|cached| cached.refresh);
    let seeds_matter = plan.succeed || plan.params.pick == Pick::Stable;
    let depends_on = depends_on.or(previous.filter(|_| seeds_matter));
    let of_steps = previous.filter(|_| !cold && !plan.params.within.is_exact());
    let depends_on = depends_on.or(of_steps);
    let (previous_seeds, successors) = previous_seeds(context, previous)?;
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
    // One process with all parts shares the graph with itself, so that its result is that of several.
    if let Some(limit) = context.exceeded_limit {
        let input = SelectionInput {
            steps: cached_steps::read(store, of_steps, plan)?,
            previous_seeds,
            previous,
            max_gathered: limit.max(ALWAYS_GATHERED),
        };
        let mut run = run_shared(context, input)?;
        run.selection.reads += reads;
        // Results by component are not reused.
        let depends_on = previous.filter(|_| seeds_matter).or(of_steps);
        return Ok(CoresRun {
            depends_on,
            successors,
            ..run
        });
    }
    let hubs = LoadedHubGraph::load(store, plan, policy.candidates.graph_exclusions(), watch)?;
    let steps = cached_steps::read(store, of_steps, plan)?.on_graph(&hubs);
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
        keep_origins(store, refresh, &hubs.pages, &mut selection)?;
    }
    let components = cache.components();
    let all = number(components.len());
    let verified: BTreeSet<u32> = (0..all).filter(|c| cache.knows(*c)).collect();
    Ok(CoresRun {
        evidence: evidence::gather(
            &hubs.pages,
            &selection,
            plan.params.rule,
            &evidence::led_to(&hubs, &selection, &BTreeMap::new()),
            NewPageEvidence::all(&hubs, components, &selection),
        ),
        findings: ComponentResults::new(&hubs, components, &selection, None),
        components: ComponentCounts {
            all,
            verified: number(verified.len()),
        },
        pages_loaded: hubs.pages.len() as u64,
        graph: RunGraph::Loaded(Box::new(LoadedGraph {
            hubs,
            cache,
            verified,
        })),
        selection,
        rejections,
        pins: policy.pins.pages.clone(),
        cached,
        depends_on,
        warm_start,
        successors,
    })
}

/// Selects cores on a graph that is shared: by all processes, if they are to work on it.
fn run_shared(context: RunContext<'_, CorePlan>, input: SelectionInput) -> Result<CoresRun> {
    let (found, job) = if let Some(processes) = context.processes {
        let (results, job) = SharedJob::run(
            processes,
            context.watch,
            |watch, job| {
                let communicator = JobCommunicator::begin(job, processes.local.by_number()?);
                let context = RunContext { watch, ..context };
                let owners = processes.local.owners()?;
                select_in_group(context, &communicator, owners, input).map(Some)
            },
            |_| Ok(None),
        )?;
        (results.into_iter().flatten().next(), Some(job))
    } else {
        let lost = EngineError::Internal("a process has no communicator");
        let communicator = of_threads(1).pop().ok_or(lost)?;
        let parts = context.store.part_count().unwrap_or(1);
        let owners = vec![0; parts as usize];
        let found = select_in_group(context, &communicator, &owners, input)?;
        (Some(found), None)
    };
    let lost = EngineError::Internal("a selection has no result");
    let (blocks, found) = found.ok_or(lost)?;
    let lost = EngineError::Internal("a selection has no result");
    let SharedSelection {
        pages,
        selection,
        led_to,
        rejections,
        loaded_steps,
        steps,
        components,
        pages_loaded,
        pages_with_evidence,
    } = found.ok_or(lost)?;
    let standings = match job {
        Some(_) => NewPageEvidence::Share(blocks, pages_with_evidence),
        None => NewPageEvidence::All(blocks),
    };
    let rule = context.plan.params.rule;
    Ok(CoresRun {
        evidence: evidence::gather(&pages, &selection, rule, &led_to, standings),
        findings: ComponentResults::of_share(&components, &selection),
        components: ComponentCounts {
            all: number(components.len()),
            verified: 0,
        },
        pages_loaded,
        warm_start: !loaded_steps.steps.is_empty(),
        graph: RunGraph::Shared(Box::new(SharedGraph {
            pages,
            loaded_steps,
            steps,
            job,
        })),
        selection,
        rejections,
        pins: context.policy.pins.pages.clone(),
        cached: None,
        depends_on: None,
        successors: BTreeMap::new(),
    })
}

/// Returns whether results are cached by component, with the origins of cores.
fn has_component_results(plan: &CorePlan) -> bool {
    plan.params.hits == Hits::Converged && plan.params.within.is_exact()
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
            &hubs.pages,
            &selection,
            rule,
            &evidence::led_to(&hubs, &selection, &targets),
            standings.compute(&hubs, of_graph, &selection),
        ),
        findings: ComponentResults::new(&hubs, of_graph, &selection, Some(changed)),
        components,
        pages_loaded,
        graph: RunGraph::Loaded(Box::new(LoadedGraph {
            hubs,
            cache,
            verified,
        })),
        selection,
        rejections,
        pins: context.policy.pins.pages.clone(),
        cached: Some(cached),
        depends_on: None,
        warm_start: false,
        successors: BTreeMap::new(),
    }
}

/// Returns the seeds of the previous refresh, best first, if the selection depends on them, and the successors of dead ones.
fn previous_seeds(
    context: RunContext<'_, CorePlan>,
    previous: Option<RefreshId>,
) -> Result<(Vec<PageId>, BTreeMap<PageId, Succession>)> {
    let RunContext {
        store,
        plan,
        policy,
        watch,
        ..
    } = context;
    let seeds = match previous {
        Some(refresh) if plan.succeed => {
            return succession::stable_list(store, plan, refresh, watch);
        }
        // A core whose step is reused keeps its seed, but not one that other policies chose.
        Some(refresh)
            if plan.params.pick == Pick::Stable || has_policy(store, refresh, &policy.policy)? =>
        {
            seed_pages(store, refresh)?
        }
        _ => Vec::new(),
    };
    Ok((seeds, BTreeMap::new()))
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
        let pages = self.graph.pages();
        for (rank, core) in (1_u32..).zip(&self.selection.cores) {
            for (hub, score) in core.hubs.iter().zip(&core.hub_scores) {
                let page = pages[*hub as usize];
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
        let RunGraph::Loaded(graph) = &self.graph else {
            let reused = &self.selection.reused;
            return Ok(recomputed::without_components(reused, self.warm_start));
        };
        let run = recomputed::Recomputation {
            store,
            hubs: &graph.hubs,
            components: graph.cache.components(),
            verified: &graph.verified,
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
        put_cores(changes, refresh, self.graph.pages(), &self.selection)?;
        for (rank, seed) in (1_u32..).zip(self.seeds()) {
            changes.put_seed(refresh, rank, &seed)?;
        }
        let counted = self.findings.counted(self.cached);
        let written = self.evidence.put(store, changes, plan, refresh, counted)?;
        let series = written.record.series;
        match &self.graph {
            RunGraph::Loaded(graph) => {
                let LoadedGraph { hubs, cache, .. } = &**graph;
                let steps = self.selection.steps.iter();
                let new = NewSteps {
                    classes: hubs.graph.authority_members(),
                    page: |number: u32| hubs.pages.get(number as usize).copied(),
                    steps: steps.map(|step| &step.cached).collect(),
                };
                cached_steps::put(store, changes, series, cache.cached_steps(), &new)?;
            }
            RunGraph::Shared(graph) => {
                let new = graph.steps.new_steps();
                cached_steps::put(store, changes, series, &graph.loaded_steps, &new)?;
            }
        }
        self.findings
            .put(store, changes, SeriesRefresh { series, refresh })?;
        Ok(written)
    }

    /// Lets other processes keep the evidence for their pages for the commit of the writer that has `store` open, and adds what
    /// they write to `written`.
    pub(crate) fn put_elsewhere(
        &self,
        store: &Store,
        changes: &mut Changes,
        refresh: RefreshId,
        written: &mut Written,
    ) -> Result<()> {
        if let RunGraph::Shared(graph) = &self.graph
            && let Some(job) = &graph.job
        {
            shared_put::put_elsewhere(job, store, changes, refresh, written)?;
        }
        Ok(())
    }
}
