//! Selects cores: exact ones in one process, others in all processes of a cluster bank, each on its share of the graph.
//!
//! Process 0 has the policies, the previous seeds and the cached steps, and stores the result.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cached_steps::{NewSteps, StoredSteps, distribute};
use super::component_results::ComponentSummary;
use super::core_records::keep_origins;
use super::load::LoadedHubs;
use super::page_evidence::{EvidenceBlocks, OwnEvidence};
use super::page_ids::PageIds;
use super::seed_rules::{GroupSeedRules, PagesOfCores, Rejections};
use crate::engine::error::PlanError;
use crate::engine::plan::CorePlan;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::web_graph::{Group, malformed, numbers_of_pages};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::communicator::{Communicator, alone};
use seedbank_algorithms::cores::{
    self, CoreCache, CoresError, Hits, NearClasses, Selection, SelectionInput,
};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::{CachedStep, CachedSteps};
use seedbank_store::records::RefreshId;

/// What process 0 has of a selection besides what all have.
type OfFirst = Option<(Rejections, PagesOfCores)>;

/// Selects cores and seeds on a loaded graph. All processes call it at the same time.
fn select(
    context: RunContext<'_, CorePlan>,
    group: Group<'_>,
    loaded: &LoadedHubs,
    input: SelectionInput<'_>,
) -> Result<(Selection, OfFirst)> {
    let RunContext {
        store,
        plan,
        policy,
        watch,
        ..
    } = context;
    let params = &plan.params;
    let mut rules = GroupSeedRules::new(group, &loaded.pages, store, policy, params.seeds)?;
    let selected = cores::select(&loaded.share, params, input, &mut rules, watch);
    // The rules have the cause if their messages fail.
    let of_first = rules.finish()?;
    let selection = selected.map_err(|error| match error {
        CoresError::Interrupted(e) => e.into(),
        CoresError::Params(e) => PlanError::from(e).into(),
        e @ CoresError::NoHub { .. } => EngineError::Cores(e),
    })?;
    Ok((selection, of_first))
}

/// Selects exact cores in one process, and counts rejections by policies. `previous` are the seeds of the previous refresh,
/// best first. `cache` contains the results of unchanged components.
pub(crate) fn select_exact(
    context: RunContext<'_, CorePlan>,
    hubs: &LoadedHubs,
    previous: &[PageId],
    cache: &CoreCache,
) -> Result<(Selection, Rejections)> {
    let previous = previous.iter().filter_map(|page| hubs.number(*page));
    let previous: Vec<u32> = previous.collect();
    let communicator = alone();
    let group = Group {
        communicator: &*communicator,
        watch: context.watch,
    };
    let input = SelectionInput {
        previous_seeds: &previous,
        cache: Some(cache),
        ..SelectionInput::default()
    };
    let (selection, of_first) = select(context, group, hubs, input)?;
    let (rejections, _) = of_first.ok_or_else(malformed)?;
    Ok((selection, rejections))
}

/// What only process 0 has before a selection.
#[derive(Default)]
pub(super) struct GroupInput {
    /// The seeds of the previous refresh, best first.
    pub(super) previous_seeds: Vec<PageId>,
    /// The previous refresh.
    pub(super) previous: Option<RefreshId>,
    /// Its cached steps.
    pub(super) steps: StoredSteps,
}

/// The result of a selection in process 0.
pub(super) struct GroupSelection {
    /// The pages of cores in URL order. The selection has their positions in this list, and nothing of pages near cores.
    pub(super) pages: Vec<PageId>,
    pub(super) selection: Selection,
    pub(super) rejections: Rejections,
    /// The cached steps with which the selection began, and those for the next one.
    pub(super) loaded_steps: CachedSteps,
    pub(super) steps: NewSteps,
    pub(super) components: Vec<ComponentSummary>,
    /// The number of pages of the graph.
    pub(super) pages_loaded: u64,
    /// The number of pages with evidence.
    pub(super) pages_with_evidence: u64,
}

/// Selects cores that are not exact, together with all other processes. Process 0 has the `input`. Returns the evidence for
/// the pages of this process, and in process 0 the result. All processes call it at the same time, with the same plan.
///
/// # Errors
///
/// Those of this process; if another process fails, its caller must end the others.
pub(super) fn select_in_group(
    context: RunContext<'_, CorePlan>,
    communicator: &Arc<dyn Communicator>,
    owners: &[usize],
    input: GroupInput,
) -> Result<(EvidenceBlocks, Option<GroupSelection>)> {
    let loaded = LoadedHubs::load(context, communicator, owners)?;
    let group = Group {
        communicator: &**communicator,
        watch: context.watch,
    };
    let pages = &loaded.pages;
    let GroupInput {
        previous_seeds,
        previous,
        steps,
    } = input;
    let previous_seeds = numbers_of_pages(group, &previous_seeds, |page| pages.number(page))?;
    let previous_seeds: Vec<u32> = previous_seeds.into_iter().map(|of| of.1).collect();
    let mut cached = distribute(group, steps, pages)?;
    let components = loaded.share.components()?;
    // Classic cores are not cached.
    let ids = match context.plan.params.hits {
        Hits::Classic => PageIds::Own(pages),
        Hits::Converged => PageIds::of_classes(group, &loaded.share, pages)?,
    };
    let id = |page| ids.id(page);
    let input = SelectionInput {
        previous_seeds: &previous_seeds,
        components: Some(&components),
        id: Some(&id),
        ..SelectionInput::default()
    };
    let with_steps = SelectionInput {
        steps: Some(&cached),
        ..input
    };
    let (mut selection, mut of_first) = select(context, group, &loaded, with_steps)?;
    if !selection.certified && selection.reused.contains(&true) {
        // An uncertified result is never reused: all start again without the steps.
        cached = CachedSteps::default();
        let reads = selection.reads;
        (selection, of_first) = select(context, group, &loaded, input)?;
        selection.reads += reads;
    }
    let (found, regions) = (&selection.steps, &selection.regions);
    let steps = NewSteps::collect(group, &loaded.share, found, regions, pages)?;
    let near = std::mem::take(&mut selection.near);
    let numbered = of_first.map(|(rejections, pages)| {
        let (selection, pages) = numbered(selection, pages)?;
        Ok::<_, EngineError>((rejections, selection, pages))
    });
    let mut numbered = numbered.transpose()?;
    // The origins of cores, which all processes need for their pages near cores.
    let origins = match &mut numbered {
        Some((_, selection, pages)) => {
            if let Some(previous) = previous {
                keep_origins(context.store, previous, pages, selection)?;
            }
            Some(&selection.origins)
        }
        None => None,
    };
    let origins = group.of_first(origins)?;
    context.watch.stage("evidence", None);
    let evidence = OwnEvidence::new(group, &loaded, &components, &near, &origins)?;
    let blocks = evidence.blocks();
    let components = evidence.components;
    let pages_loaded = group.sum(pages.len() as u64)?;
    let pages_with_evidence = group.sum(blocks.pages())?;
    let found = numbered.map(|(rejections, selection, pages)| GroupSelection {
        pages,
        selection,
        rejections,
        loaded_steps: cached,
        steps,
        components,
        pages_loaded,
        pages_with_evidence,
    });
    Ok((blocks, found))
}

/// Replaces numbers in the web by positions in the list of the pages of cores, and returns that list.
fn numbered(mut selection: Selection, pages: PagesOfCores) -> Result<(Selection, Vec<PageId>)> {
    let positions: BTreeMap<u32, u32> = pages.keys().copied().zip(0..).collect();
    // Positions follow the numbers, so the order of pages stays.
    let renumber = |page: &mut u32| -> Result<()> {
        *page = *positions.get(page).ok_or_else(malformed)?;
        Ok(())
    };
    for core in &mut selection.cores {
        core.hubs.iter_mut().try_for_each(renumber)?;
        core.authorities.iter_mut().try_for_each(renumber)?;
        renumber(&mut core.seed)?;
    }
    selection
        .led_to
        .iter_mut()
        .flatten()
        .try_for_each(renumber)?;
    // Process 0 has collected what is cached.
    for step in &mut selection.steps {
        step.cached = CachedStep::default();
    }
    selection.near = NearClasses::default();
    Ok((selection, pages.into_values().collect()))
}
