//! Cached steps of a refresh within a tolerance, for the next refresh of the plan.

use super::load::LoadedHubGraph;
use crate::engine::plan::{CorePlan, PlanOptions, ResolvedPlan};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::graph::{Csr, NONE, number};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::{CachedStep, CachedSteps, ProvenStep};
use seedbank_store::records::{EvidenceSeries, RefreshId};
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
    let Some(EvidenceSeries { series, .. }) = record.standings else {
        return Ok(kept);
    };
    for entry in store.scan_under(&tables::STEP_CACHE, &series.to_be_bytes())? {
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
                key: format!("series {series}, core {rank}"),
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

/// Stores the steps of a refresh in place of those of the previous one of the series, as far as they
/// differ. `loaded` are those of the previous one that [`load`] returned for this graph.
///
/// Cost: the pages of the steps, and what differs; without loaded steps one scan of the stored keys.
pub(super) fn put(
    store: &Store,
    changes: &mut Changes,
    series: RefreshId,
    hubs: &LoadedHubGraph,
    loaded: &CachedSteps,
    steps: &[ProvenStep],
) -> Result<()> {
    let prefix = series.to_be_bytes();
    if steps.is_empty() {
        return Ok(changes.delete_under(store, &tables::STEP_CACHE, &prefix)?);
    }
    // Classes are renumbered by every load, so steps are stored with groups of pages instead. Only
    // groups that a step names are stored.
    let classes = hubs.graph.authority_members();
    let mut named = vec![false; classes.len()];
    for ProvenStep { cached, .. } in steps {
        let scores = cached.scores.iter().map(|entry| entry.0);
        for class in scores.chain(cached.weights.iter().map(|entry| entry.0)) {
            named[class as usize] = true;
        }
    }
    let named = (0_u32..).zip(&named).filter(|(_, named)| **named);
    let named: Vec<u32> = named.map(|(class, _)| class).collect();
    let members: usize = named.iter().map(|class| classes.list(*class).len()).sum();
    let kept = kept_groups(loaded, classes, &named, hubs.pages.len());
    // Groups are numbered below the number of their pages, which bounds what a reader allocates.
    let are_kept = kept
        .iter()
        .all(|group| *group == NONE || (*group as usize) < members);
    let loaded_steps = if are_kept { &*loaded.steps } else { &[] };
    let mut groups = vec![NONE; classes.len()];
    let mut is_taken = vec![false; members];
    for (class, group) in named
        .iter()
        .zip(&kept)
        .filter(|(_, group)| are_kept && **group != NONE)
    {
        groups[*class as usize] = *group;
        is_taken[*group as usize] = true;
    }
    let mut free = (0_u32..).zip(&is_taken).filter(|(_, is_taken)| !**is_taken);
    let mut pages: Vec<(PageId, u32)> = Vec::with_capacity(members);
    for &class in &named {
        let group = &mut groups[class as usize];
        if *group == NONE {
            let next = free
                .next()
                .ok_or(EngineError::Internal("more groups than pages"))?;
            *group = next.0;
        }
        let members = classes.list(class).iter();
        pages.extend(members.map(|number| (hubs.pages[*number as usize], *group)));
    }
    pages.sort_unstable();
    let (pages, of_pages) = pages.into_iter().unzip();
    let record = StepCacheRecord {
        pages,
        groups: of_pages,
        ..StepCacheRecord::default()
    };
    let key = (series, 0);
    if loaded_steps.is_empty() || store.need(&tables::STEP_CACHE, &key)? != record {
        changes.put(&tables::STEP_CACHE, &key, &record)?;
    }
    for (at, ProvenStep { cached, .. }) in steps.iter().enumerate() {
        let (scores, weights) = (
            by_group(&cached.scores, &groups),
            by_group(&cached.weights, &groups),
        );
        let is_stored = loaded_steps
            .get(at)
            .is_some_and(|stored| (&stored.scores, &stored.weights) == (&scores, &weights));
        if !is_stored {
            let record = StepCacheRecord {
                scores,
                weights,
                ..StepCacheRecord::default()
            };
            changes.put(&tables::STEP_CACHE, &(series, number(at + 1)), &record)?;
        }
    }
    // Steps beyond the last one.
    let last = number(steps.len());
    let stored = if loaded.steps.is_empty() {
        store.keys_under(&tables::STEP_CACHE, &prefix)?
    } else {
        (0..=number(loaded.steps.len()))
            .map(|rank| (series, rank))
            .collect()
    };
    for key in stored.into_iter().filter(|(_, rank)| *rank > last) {
        changes.delete(&tables::STEP_CACHE, &key)?;
    }
    Ok(())
}

/// Returns the loaded group with the same pages for each of the `named` classes; [`NONE`] if there is
/// none.
fn kept_groups(loaded: &CachedSteps, classes: &Csr, named: &[u32], pages: usize) -> Vec<u32> {
    let mut group_of = vec![NONE; pages];
    for group in 0..number(loaded.groups.len()) {
        for page in loaded.groups.list(group) {
            group_of[*page as usize] = group;
        }
    }
    let kept = |class: &u32| {
        let members = classes.list(*class);
        let group = members
            .first()
            .map_or(NONE, |first| group_of[*first as usize]);
        let is_same = group != NONE && loaded.groups.list(group) == members;
        if is_same { group } else { NONE }
    };
    named.iter().map(kept).collect()
}

/// Replaces classes by their groups, in ascending order.
fn by_group<T: Copy>(of: &[(u32, T)], groups: &[u32]) -> Vec<(u32, T)> {
    let group = |class: u32| groups[class as usize];
    let entries = of.iter().map(|(class, code)| (group(*class), *code));
    let mut entries: Vec<(u32, T)> = entries.collect();
    // Mostly sorted: most groups keep their numbers.
    entries.sort_by_key(|entry| entry.0);
    entries
}
