//! Cached steps of a refresh within a tolerance, for the next refresh of the plan.

use super::load::LoadedHubGraph;
use crate::engine::plan::{CorePlan, PlanOptions, ResolvedPlan};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::graph::{Csr, NONE};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::{CachedStep, CachedSteps, ProvenStep};
use seedbank_store::records::RefreshId;
use seedbank_store::step_cache::StepCacheRecord;
use seedbank_store::{Changes, Store, StoreError, tables};

/// Loads the cached steps of a refresh, with groups in the numbers of the current graph. Returns
/// none if the plan is exact or had other parameters.
pub(super) fn load(
    store: &Store,
    refresh: Option<RefreshId>,
    plan: &CorePlan,
    hubs: &LoadedHubGraph,
) -> Result<CachedSteps> {
    let mut kept = CachedSteps::default();
    let Some(refresh) = refresh.filter(|_| !plan.params.within.is_exact()) else {
        return Ok(kept);
    };
    let record = store.need(&tables::REFRESHES, &refresh)?;
    match PlanOptions::from_stored(&record.settings)?.resolve()? {
        ResolvedPlan::Cores(previous_plan) if plan.can_reuse(&previous_plan) => {}
        _ => return Ok(kept),
    }
    for entry in store.scan_under(&tables::STEP_CACHE, &refresh.to_be_bytes())? {
        let ((_, rank), record) = entry?;
        if rank == 0 {
            kept.groups = groups(&record, hubs);
            continue;
        }
        let groups = kept.groups.len();
        let scored = record.scores.last().map(|last| last.0);
        let last = record.weights.last().map(|last| last.0).max(scored);
        if last.is_some_and(|last| last as usize >= groups) {
            return Err(EngineError::DamagedCache(StoreError::Damaged {
                table: tables::STEP_CACHE.name,
                key: format!("refresh {refresh}, core {rank}"),
                what: format!(
                    "expected a group below {groups}, found {}",
                    last.unwrap_or(0)
                ),
            }));
        }
        kept.steps.push(CachedStep {
            scores: record.scores,
            weights: record.weights,
        });
    }
    Ok(kept)
}

/// Returns the numbers of the pages of each group, without those that left the graph.
fn groups(record: &StepCacheRecord, hubs: &LoadedHubGraph) -> Csr {
    let pages = record.groups.iter().zip(&record.pages);
    let numbers = pages.filter_map(|(group, page)| Some((*group, hubs.number(*page)?)));
    let mut numbers: Vec<(u32, u32)> = numbers.collect();
    numbers.sort_unstable();
    let mut rest = numbers.as_slice();
    let mut groups = Csr::default();
    for group in 0..record.groups.iter().max().map_or(0, |last| last + 1) {
        let (own, others) = rest.split_at(rest.partition_point(|of| of.0 == group));
        groups.push(own.iter().map(|of| of.1));
        rest = others;
    }
    groups
}

/// Stores the steps of a refresh and deletes those of the previous one.
pub(super) fn put(
    store: &Store,
    changes: &mut Changes,
    plan: &str,
    refresh: RefreshId,
    hubs: &LoadedHubGraph,
    steps: &[ProvenStep],
) -> Result<()> {
    if let Some(plan) = store.get(&tables::PLANS, &plan.to_owned())? {
        let before = plan.last_refresh.to_be_bytes();
        changes.delete_under(store, &tables::STEP_CACHE, &before)?;
    }
    if steps.is_empty() {
        return Ok(());
    }
    let classes = hubs.graph.authority_members();
    // Classes are renumbered by every load, so steps are stored with groups of pages instead. Only
    // groups that a step names are stored.
    let mut named = vec![false; classes.len()];
    for ProvenStep { cached, .. } in steps {
        let scores = cached.scores.iter().map(|entry| entry.0);
        for class in scores.chain(cached.weights.iter().map(|entry| entry.0)) {
            named[class as usize] = true;
        }
    }
    let mut groups = vec![NONE; named.len()];
    let mut pages: Vec<(PageId, u32)> = Vec::new();
    let of_named = (0_u32..).zip(&named).filter(|(_, named)| **named);
    for (group, (class, _)) in (0..).zip(of_named) {
        groups[class as usize] = group;
        let members = classes.list(class).iter();
        pages.extend(members.map(|number| (hubs.pages[*number as usize], group)));
    }
    pages.sort_unstable();
    let (pages, of_pages) = pages.into_iter().unzip();
    let record = StepCacheRecord {
        pages,
        groups: of_pages,
        ..StepCacheRecord::default()
    };
    changes.put(&tables::STEP_CACHE, &(refresh, 0), &record)?;
    for (rank, ProvenStep { cached, .. }) in (1_u32..).zip(steps) {
        let record = StepCacheRecord {
            scores: by_group(&cached.scores, &groups),
            weights: by_group(&cached.weights, &groups),
            ..StepCacheRecord::default()
        };
        changes.put(&tables::STEP_CACHE, &(refresh, rank), &record)?;
    }
    Ok(())
}

/// Replaces classes by their groups. Both ascend together.
fn by_group<T: Copy>(of: &[(u32, T)], groups: &[u32]) -> Vec<(u32, T)> {
    let group = |class: u32| groups[class as usize];
    of.iter()
        .map(|(class, code)| (group(*class), *code))
        .collect()
}
