//! A selection by cores in all processes of a cluster bank, each on its share of the graph.
//!
//! Process 0 has the policies, the previous seeds and the cached steps, and stores the result. A cluster bank in one process
//! runs the same code, so that the number of processes makes no difference.

use std::collections::BTreeMap;
use std::sync::Arc;

use super::cached_steps::StoredSteps;
use super::component_results::ShareComponent;
use super::core_records::keep_origins;
use super::load_share::LoadedHubShare;
use super::page_evidence::EvidenceBlocks;
use super::seed_rules::{PolicySeedRules, Rejections};
use super::select::cores_error;
use super::share_evidence::ShareEvidence;
use super::shared_seed_rules::{PagesOfCores, SharedSeedRules};
use super::shared_steps::{CollectedSteps, distribute};
use crate::engine::plan::CorePlan;
use crate::engine::refresh::run_context::RunContext;
use crate::engine::web_graph::{Group, malformed, numbers_of_pages};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::communicator::Communicator;
use seedbank_algorithms::cores::{
    NearClasses, Selection, ShareInput, ShareSelection, select_on_share,
};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::{CachedStep, CachedSteps};
use seedbank_store::records::RefreshId;

/// What only process 0 has before a selection.
#[derive(Default)]
pub(super) struct SelectionInput {
    /// The seeds of the previous refresh, best first.
    pub(super) previous_seeds: Vec<PageId>,
    /// The previous refresh.
    pub(super) previous: Option<RefreshId>,
    /// Its cached steps.
    pub(super) steps: StoredSteps,
    /// The number of pages of the largest component that one process ranks, if cores are exact.
    pub(super) max_gathered: u64,
}

/// The result of a selection in process 0.
pub(super) struct SharedSelection {
    /// The pages of cores in URL order. The selection has their positions in this list, and nothing of pages near cores.
    pub(super) pages: Vec<PageId>,
    pub(super) selection: Selection,
    /// For each core its authorities to which its seed links.
    pub(super) led_to: Vec<Vec<u32>>,
    pub(super) rejections: Rejections,
    /// The cached steps with which the selection began, and those for the next one.
    pub(super) loaded_steps: CachedSteps,
    pub(super) steps: CollectedSteps,
    pub(super) components: Vec<ShareComponent>,
    /// The number of pages of the graph.
    pub(super) pages_loaded: u64,
    /// The number of pages with evidence.
    pub(super) pages_with_evidence: u64,
}

/// Selects cores together with all other processes. Process 0 has the `input`. Returns the evidence for the pages of this
/// process, and in process 0 the result. All processes call it at the same time, with the same plan.
///
/// # Errors
///
/// Those of this process; if another process fails, its caller must end the others.
pub(super) fn select_in_group(
    context: RunContext<'_, CorePlan>,
    communicator: &Arc<dyn Communicator>,
    owners: &[usize],
    input: SelectionInput,
) -> Result<(EvidenceBlocks, Option<SharedSelection>)> {
    let loaded = LoadedHubShare::load(context, communicator, owners)?;
    let group = Group {
        communicator: &**communicator,
        watch: context.watch,
    };
    let pages = &loaded.pages;
    let SelectionInput {
        previous_seeds,
        previous,
        steps,
        max_gathered,
    } = input;
    let max_gathered = group.of_first(group.is_first().then_some(&max_gathered))?;
    let previous_seeds = numbers_of_pages(group, &previous_seeds, |page| pages.number(page))?;
    let previous_seeds: Vec<u32> = previous_seeds.into_iter().map(|of| of.1).collect();
    let mut cached = distribute(group, steps, pages)?;
    let input = ShareInput {
        previous_seeds: &previous_seeds,
        cached: &cached,
        max_gathered,
    };
    let (mut selected, mut of_first) = select(context, group, &loaded, input)?;
    if !selected.certified && selected.reused.contains(&true) {
        // An uncertified result is never reused: all start again without the steps.
        let none = CachedSteps::default();
        let reads = selected.reads;
        let input = ShareInput {
            cached: &none,
            ..input
        };
        (selected, of_first) = select(context, group, &loaded, input)?;
        selected.reads += reads;
        cached = none;
    }
    let steps = CollectedSteps::collect(group, &loaded.share, &selected.steps, pages)?;
    let near = std::mem::take(&mut selected.near);
    let numbered = of_first.map(|(rejections, pages)| {
        let (selection, pages, led_to) = Numbered::new(selected, pages)?.into_parts();
        Ok::<_, EngineError>((rejections, selection, pages, led_to))
    });
    let mut numbered = numbered.transpose()?;
    // The origins of cores, which all processes need for their pages near cores.
    let origins = match &mut numbered {
        Some((_, selection, pages, _)) => {
            if let Some(previous) = previous {
                keep_origins(context.store, previous, pages, selection)?;
            }
            Some(&selection.origins)
        }
        None => None,
    };
    let origins = group.of_first(origins)?;
    context.watch.stage("evidence", None);
    let ShareEvidence { blocks, components } = ShareEvidence::new(group, &loaded, &near, &origins)?;
    let pages_loaded = group.sum(pages.len() as u64)?;
    let pages_with_evidence = group.sum(blocks.pages())?;
    let shared = numbered.map(|(rejections, selection, pages, led_to)| SharedSelection {
        pages,
        selection,
        led_to,
        rejections,
        loaded_steps: cached,
        steps,
        components,
        pages_loaded,
        pages_with_evidence,
    });
    Ok((blocks, shared))
}

/// What process 0 has of a selection besides what all have.
type OfFirst = Option<(Rejections, PagesOfCores)>;

fn select(
    context: RunContext<'_, CorePlan>,
    group: Group<'_>,
    loaded: &LoadedHubShare,
    input: ShareInput<'_>,
) -> Result<(ShareSelection, OfFirst)> {
    let params = &context.plan.params;
    let policies = if group.is_first() {
        let (store, policy) = (context.store, context.policy);
        let pages = PagesOfCores::default();
        Some(PolicySeedRules::new(store, pages, policy, params.seeds)?)
    } else {
        None
    };
    let mut rules = SharedSeedRules::new(group, &loaded.pages, policies)?;
    let selected = select_on_share(&loaded.share, params, input, &mut rules, context.watch);
    // The rules have the cause if their messages fail.
    let of_first = rules.finish()?;
    Ok((selected.map_err(cores_error)?, of_first))
}

/// A selection with positions in the list of the pages of cores in place of numbers in the web.
struct Numbered {
    selection: Selection,
    led_to: Vec<Vec<u32>>,
    pages: Vec<PageId>,
}

impl Numbered {
    fn new(selected: ShareSelection, pages: PagesOfCores) -> Result<Self> {
        let ShareSelection {
            mut cores,
            mut led_to,
            reads,
            certified,
            uncertified_reason,
            reused,
            mut steps,
            ..
        } = selected;
        let PagesOfCores(pages) = pages;
        let positions: BTreeMap<u32, u32> = pages.keys().copied().zip(0..).collect();
        // Positions follow the numbers, so the order of pages stays.
        let renumber = |page: &mut u32| -> Result<()> {
            *page = *positions.get(page).ok_or_else(malformed)?;
            Ok(())
        };
        for core in &mut cores {
            core.hubs.iter_mut().try_for_each(renumber)?;
            core.authorities.iter_mut().try_for_each(renumber)?;
            renumber(&mut core.seed)?;
        }
        led_to.iter_mut().flatten().try_for_each(renumber)?;
        // Process 0 has collected what is cached.
        for step in &mut steps {
            step.cached = CachedStep::default();
        }
        Ok(Self {
            selection: Selection {
                origins: vec![None; cores.len()],
                cores,
                reads,
                certified,
                uncertified_reason,
                steps,
                near: NearClasses::default(),
                reused,
                found: BTreeMap::new(),
                absent: Vec::new(),
            },
            led_to,
            pages: pages.into_values().collect(),
        })
    }

    fn into_parts(self) -> (Selection, Vec<PageId>, Vec<Vec<u32>>) {
        (self.selection, self.pages, self.led_to)
    }
}
