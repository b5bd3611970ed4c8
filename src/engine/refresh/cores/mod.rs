//! Refresh by cores: loads the host-pruned graph, selects cores, and caches results for the next
//! refresh.

pub(crate) mod cached_cores;
mod cached_steps;
mod component_results;
mod core_records;
pub(crate) mod evidence;
pub(crate) mod load;
pub(crate) mod page_evidence;
mod page_ids;
pub(crate) mod recomputed;
mod seed_rules;
mod select;
pub(super) mod service;
pub(crate) mod unchanged;

use std::collections::{BTreeMap, BTreeSet};

use crate::engine::history::succession;
use crate::engine::plan::{CorePlan, PlanOptions};
use crate::engine::policy::Policy;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::refresh::share_request::Earlier;
use crate::engine::refresh::shared_job::SharedJob;
use crate::engine::rounds::communicator::JobCommunicator;
use crate::engine::web_graph::Group;
use crate::engine::{EngineError, Result};
use cached_cores::{CachedRefresh, ComponentCounts};
use cached_steps::NewSteps;
use component_results::ComponentResults;
use core_records::put_cores;
use evidence::CoresEvidence;
use load::LoadedHubs;
use page_evidence::{NewPageEvidence, OwnEvidence, Written};
use recomputed::RecomputedCores;
use seed_rules::Rejections;
use seedbank_algorithms::communicator::alone;
use seedbank_algorithms::cores::{CoreCache, Pick, Selection};
use seedbank_algorithms::graph::number;
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::CachedSteps;
use seedbank_store::records::{RefreshId, SeedEvidence, SeedRecord, Succession};
use seedbank_store::{Changes, Store, tables};
use select::{GroupInput, GroupSelection, select_exact, select_in_group};

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
    /// Of exact cores: all of it that the selection needed.
    Exact(Box<ExactGraph>),
    /// Of other cores: what process 0 has of it.
    Group(Box<GroupGraph>),
}

/// A graph on which exact cores were selected, and what was cached.
struct ExactGraph {
    hubs: LoadedHubs,
    cache: CoreCache,
    /// Unchanged components of the graph.
    verified: BTreeSet<u32>,
}

/// The part in process 0 of a graph that processes share.
struct GroupGraph {
    /// The pages of cores, by their numbers in the selection.
    pages: Vec<PageId>,
    loaded_steps: CachedSteps,
    steps: NewSteps,
    /// The job of all processes; `None` if there is only this one.
    job: Option<SharedJob>,
}

impl RunGraph {
    /// Returns the pages by their numbers in the selection.
    fn pages(&self) -> &[PageId] {
        match self {
            Self::Exact(graph) => graph.hubs.pages.list(),
            Self::Group(graph) => &graph.pages,
        }
    }
}

/// Runs a plan by cores. A `cold` run reuses nothing of the previous refresh except its seeds, if
/// the plan depends on them.
///
/// Cost: one scan of pages and two of rows, or the graph image; then
/// [`select`](seedbank_algorithms::cores::select).
pub(crate) fn run(
    context: RunContext<'_, CorePlan>,
    previous: Option<RefreshId>,
    cold: bool,
) -> Result<CoresRun> {
    let (previous_seeds, successors) = previous_seeds(context, previous)?;
    let reusable = previous.filter(|_| !cold);
    let run = if context.plan.params.is_exact() {
        run_exact(context, reusable, &previous_seeds)?
    } else {
        let input = GroupInput {
            steps: cached_steps::read(context.store, reusable, context.plan)?,
            previous_seeds,
            previous,
        };
        run_in_group(context, input)?
    };
    Ok(CoresRun { successors, ..run })
}

/// Selects exact cores in this process, which reuses the results of a previous refresh.
fn run_exact(
    context: RunContext<'_, CorePlan>,
    previous: Option<RefreshId>,
    previous_seeds: &[PageId],
) -> Result<CoresRun> {
    let RunContext { store, plan, .. } = context;
    let mut cached = match previous {
        Some(refresh) => cached_cores::find_valid(store, refresh, plan)?,
        None => None,
    };
    let hubs = LoadedHubs::load(context, &alone(), &[])?;
    let mut cache = cached_cores::load(store, &hubs, cached)?;
    let (mut selection, mut rejections) = select_exact(context, &hubs, previous_seeds, &cache)?;
    if !selection.certified && selection.reused.contains(&true) {
        // An uncertified result is never reused: start again without the cache.
        cached = None;
        cache = cached_cores::load(store, &hubs, None)?;
        let reads = selection.reads;
        (selection, rejections) = select_exact(context, &hubs, previous_seeds, &cache)?;
        selection.reads += reads;
    }
    let all = number(cache.components().len());
    let verified: BTreeSet<u32> = (0..all).filter(|c| cache.knows(*c)).collect();
    let communicator = alone();
    let group = Group {
        communicator: &*communicator,
        watch: context.watch,
    };
    let share_components = hubs.share.components()?;
    let (near, origins) = (&selection.near, &selection.origins);
    let evidence = OwnEvidence::new(group, &hubs, &share_components, near, origins)?;
    let pages = NewPageEvidence::All(evidence.blocks());
    let rule = plan.params.rule;
    Ok(CoresRun {
        evidence: evidence::gather(hubs.pages.list(), &selection, rule, pages),
        findings: ComponentResults::new(&hubs, cache.components(), &selection),
        components: ComponentCounts {
            all,
            verified: number(verified.len()),
        },
        pages_loaded: hubs.pages.len() as u64,
        graph: RunGraph::Exact(Box::new(ExactGraph {
            hubs,
            cache,
            verified,
        })),
        selection,
        rejections,
        pins: context.policy.pins.pages.clone(),
        cached,
        warm_start: false,
        successors: BTreeMap::new(),
    })
}

/// Selects cores that are not exact: in all processes, if they are to work on the graph.
fn run_in_group(context: RunContext<'_, CorePlan>, input: GroupInput) -> Result<CoresRun> {
    let (found, job) = if let Some(processes) = context.processes {
        let (results, job) = SharedJob::run(
            processes,
            Earlier::default(),
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
        let found = select_in_group(context, &alone(), &[], input)?;
        (Some(found), None)
    };
    let lost = EngineError::Internal("a selection has no result");
    let (blocks, found) = found.ok_or(lost)?;
    let lost = EngineError::Internal("a selection has no result");
    let GroupSelection {
        pages,
        selection,
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
        evidence: evidence::gather(&pages, &selection, rule, standings),
        findings: ComponentResults::counted_only(&components, &selection),
        components: ComponentCounts {
            all: number(components.len()),
            verified: 0,
        },
        pages_loaded,
        warm_start: !loaded_steps.steps.is_empty(),
        graph: RunGraph::Group(Box::new(GroupGraph {
            pages,
            loaded_steps,
            steps,
            job,
        })),
        selection,
        rejections,
        pins: context.policy.pins.pages.clone(),
        cached: None,
        successors: BTreeMap::new(),
    })
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
    /// Returns the pages by their numbers in the selection.
    pub(crate) fn pages(&self) -> &[PageId] {
        self.graph.pages()
    }

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
        let RunGraph::Exact(graph) = &self.graph else {
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
        let counted = self.findings.counted();
        let written = self.evidence.put(store, changes, plan, refresh, counted)?;
        let series = written.record.series;
        let (loaded, none) = (CachedSteps::default(), NewSteps::default());
        let (loaded, new) = match &self.graph {
            RunGraph::Exact(_) => (&loaded, &none),
            RunGraph::Group(graph) => (&graph.loaded_steps, &graph.steps),
        };
        cached_steps::put(store, changes, series, loaded, new)?;
        self.findings.put(store, changes, series, refresh)?;
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
        if let RunGraph::Group(graph) = &self.graph
            && let Some(job) = &graph.job
        {
            service::put_elsewhere(job, store, changes, refresh, written)?;
        }
        Ok(())
    }
}
