//! Cached steps of a refresh within a tolerance, for the next refresh of the plan.

use super::load::LoadedHubGraph;
use crate::engine::plan::{CorePlan, PlanOptions, ResolvedPlan};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::graph::{Csr, NONE, number};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::{CachedStep, CachedSteps};
use seedbank_store::records::{EvidenceSeries, RefreshId};
use seedbank_store::step_cache::StepCacheRecord;
use seedbank_store::{Changes, Store, StoreError, tables};

/// The cached steps of a refresh as they are stored.
#[derive(Default)]
pub(super) struct StoredSteps {
    /// The grouped pages, and the group of each.
    pub(super) pages: Vec<PageId>,
    pub(super) groups: Vec<u32>,
    pub(super) steps: Vec<CachedStep>,
}

/// Reads the cached steps of a refresh. Returns none if the plan is exact or had other parameters.
pub(super) fn read(
    store: &Store,
    refresh: Option<RefreshId>,
    plan: &CorePlan,
) -> Result<StoredSteps> {
    let mut stored = StoredSteps::default();
    let Some(refresh) = refresh.filter(|_| !plan.params.within.is_exact()) else {
        return Ok(stored);
    };
    let record = store.need(&tables::REFRESHES, &refresh)?;
    match PlanOptions::from_stored(&record.settings)?.resolve()? {
        ResolvedPlan::Cores(previous_plan) if plan.can_reuse(&previous_plan) => {}
        _ => return Ok(stored),
    }
    let Some(EvidenceSeries { series, .. }) = record.standings else {
        return Ok(stored);
    };
    for entry in store.scan_under(&tables::STEP_CACHE, &series.to_be_bytes())? {
        let ((_, rank), record) = entry?;
        if rank == 0 {
            (stored.pages, stored.groups) = (record.pages, record.groups);
            continue;
        }
        let step = CachedStep {
            scores: record.scores,
            weights: record.weights,
        };
        let groups = count_groups(&stored.groups);
        if let Some(last) = last_group(&step).filter(|last| *last >= groups) {
            return Err(EngineError::DamagedCache(StoreError::Damaged {
                table: tables::STEP_CACHE.name,
                key: format!("series {series}, core {rank}"),
                what: format!("expected a group below {groups}, found {last}"),
            }));
        }
        stored.steps.push(step);
    }
    Ok(stored)
}

impl StoredSteps {
    /// Returns the steps with groups in the numbers of a graph, without pages that left it.
    pub(super) fn on_graph(self, hubs: &LoadedHubGraph) -> CachedSteps {
        let pages = self.groups.iter().zip(&self.pages);
        let numbers = pages.filter_map(|(group, page)| Some((*group, hubs.number(*page)?)));
        CachedSteps {
            groups: groups_of(numbers.collect(), count_groups(&self.groups)),
            steps: self.steps,
        }
    }
}

/// Returns the number of groups, given those of all grouped pages.
pub(super) fn count_groups(groups: &[u32]) -> u32 {
    groups.iter().max().map_or(0, |last| last.saturating_add(1))
}

/// Returns the largest group of a step; `None` if it has none.
pub(super) fn last_group(step: &CachedStep) -> Option<u32> {
    let scored = step.scores.iter().map(|entry| entry.0);
    let weighted = step.weights.iter().map(|entry| entry.0);
    scored.chain(weighted).max()
}

/// Returns the numbers of the pages of each group, given pairs of a group and a number.
pub(super) fn groups_of(mut numbers: Vec<(u32, u32)>, count: u32) -> Csr {
    numbers.sort_unstable();
    let mut rest = numbers.as_slice();
    let mut groups = Csr::default();
    for group in 0..count {
        let (own, others) = rest.split_at(rest.partition_point(|of| of.0 == group));
        groups.push(own.iter().map(|of| of.1));
        rest = others;
    }
    groups
}

/// The steps of a refresh, to be stored.
pub(super) struct NewSteps<'a, P> {
    /// The pages of classes, by number, in the order of their first pages.
    pub(super) classes: &'a Csr,
    /// Returns the page with a number, if it is one of a class.
    pub(super) page: P,
    /// Entries are by class, each class at most once.
    pub(super) steps: Vec<&'a CachedStep>,
}

/// Stores the steps of a refresh in place of those of the previous one of the series, as far as they
/// differ. `loaded` are those of the previous one, with groups in the numbers of this graph.
///
/// Cost: the pages of the steps, and what differs; without loaded steps one scan of the stored keys.
pub(super) fn put(
    store: &Store,
    changes: &mut Changes,
    series: RefreshId,
    loaded: &CachedSteps,
    new: &NewSteps<'_, impl Fn(u32) -> Option<PageId>>,
) -> Result<()> {
    let NewSteps {
        classes,
        page,
        steps,
    } = new;
    let prefix = series.to_be_bytes();
    if steps.is_empty() {
        return Ok(changes.delete_under(store, &tables::STEP_CACHE, &prefix)?);
    }
    // Classes are renumbered by every load, so steps are stored with groups of pages instead. Only
    // groups that a step names are stored.
    let mut named = vec![false; classes.len()];
    for cached in steps {
        let scores = cached.scores.iter().map(|entry| entry.0);
        for class in scores.chain(cached.weights.iter().map(|entry| entry.0)) {
            named[class as usize] = true;
        }
    }
    let named = (0_u32..).zip(&named).filter(|(_, named)| **named);
    let named: Vec<u32> = named.map(|(class, _)| class).collect();
    let members: usize = named.iter().map(|class| classes.list(*class).len()).sum();
    let kept = kept_groups(loaded, classes, &named);
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
        for number in classes.list(class) {
            let unknown = EngineError::Internal("a page of a class has no id");
            pages.push((page(*number).ok_or(unknown)?, *group));
        }
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
    for (at, cached) in steps.iter().enumerate() {
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
fn kept_groups(loaded: &CachedSteps, classes: &Csr, named: &[u32]) -> Vec<u32> {
    let lists = [&loaded.groups, classes];
    let last = lists.iter().flat_map(|of| of.entries()).max();
    let mut group_of = vec![NONE; last.map_or(0, |last| *last as usize + 1)];
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
