//! Cached steps of a refresh within a tolerance, for the next refresh of the plan: process 0 reads and stores them, all
//! processes have the steps of the previous refresh, and each has the new ones of its classes.

use super::load::OwnPages;
use crate::engine::plan::{CorePlan, PlanOptions, ResolvedPlan};
use crate::engine::web_graph::{Group, malformed, numbers_of_pages, pages_of_numbers};
use crate::engine::{EngineError, Result};
use seedbank_algorithms::graph::{Csr, HubShare, NONE, number};
use seedbank_algorithms::page::PageId;
use seedbank_algorithms::rank::{CachedRegion, CachedStep, CachedSteps, ProvenStep};
use seedbank_store::records::{EvidenceSeries, RefreshId};
use seedbank_store::step_cache::{StepCacheRecord, StepRegion};
use seedbank_store::{Changes, Store, StoreError, tables};

/// About the bytes of an entry in a message: of a number, of a number with a code, and of a hash.
const OF_NUMBER: usize = 5;
const OF_ENTRY: usize = 8;
const OF_HASH: usize = 9;

/// The entries of a step in a message: scores, and weights.
type Entries = (Vec<(u32, u8)>, Vec<(u32, u16)>);

fn bytes_of(entries: &Entries) -> usize {
    OF_ENTRY * (entries.0.len() + entries.1.len() + 1)
}

/// The cached steps of a refresh as they are stored.
#[derive(Default)]
pub(super) struct StoredSteps {
    /// The grouped pages, and the group of each.
    pub(super) pages: Vec<PageId>,
    pub(super) groups: Vec<u32>,
    pub(super) regions: Vec<StepRegion>,
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
            stored.regions = record.regions;
            continue;
        }
        let step = CachedStep {
            region: record.region,
            bound: record.bound,
            scores: record.scores,
            weights: record.weights,
        };
        let groups = count_groups(&stored.groups);
        let damage = if let Some(last) = last_group(&step).filter(|last| *last >= groups) {
            Some(format!("expected a group below {groups}, found {last}"))
        } else if step.region as usize >= stored.regions.len() {
            let regions = stored.regions.len();
            Some(format!(
                "expected a region below {regions}, found {}",
                step.region
            ))
        } else {
            None
        };
        if let Some(what) = damage {
            return Err(EngineError::DamagedCache(StoreError::Damaged {
                table: tables::STEP_CACHE.name,
                key: format!("series {series}, core {rank}"),
                what,
            }));
        }
        stored.steps.push(step);
    }
    Ok(stored)
}

/// Returns in all processes the steps that process 0 has read, with groups in numbers in the web, without pages that left the
/// graph. All processes call it at the same time.
pub(super) fn distribute(
    group: Group<'_>,
    stored: StoredSteps,
    own: &OwnPages,
) -> Result<CachedSteps> {
    let StoredSteps {
        pages,
        groups,
        regions,
        steps,
    } = stored;
    let found = numbers_of_pages(group, &pages, |page| own.number(page))?;
    drop(pages);
    let mut of_pages: Vec<u32> = Vec::new();
    group.send_from_first(
        groups.into_iter(),
        |_| OF_NUMBER,
        |group| {
            of_pages.push(group);
            Ok(())
        },
    )?;
    let numbers = found.into_iter();
    let numbers = numbers.map(|(at, number)| Some((*of_pages.get(at as usize)?, number)));
    let numbers: Option<Vec<(u32, u32)>> = numbers.collect();
    let count = count_groups(&of_pages);
    let groups = groups_of(numbers.ok_or_else(malformed)?, count);
    let mut all_regions: Vec<CachedRegion> = Vec::new();
    group.send_from_first(
        regions.into_iter(),
        |region| OF_HASH * (region.sample.len() + 2),
        |StepRegion {
             fingerprint,
             sample,
         }| {
            all_regions.push(CachedRegion {
                fingerprint,
                sample,
            });
            Ok(())
        },
    )?;
    let mut all: Vec<CachedStep> = Vec::new();
    group.send_from_first(
        steps
            .into_iter()
            .map(|step| ((step.region, step.bound), (step.scores, step.weights))),
        |(_, entries)| bytes_of(entries),
        |((region, bound), (scores, weights))| {
            let step = CachedStep {
                region,
                bound,
                scores,
                weights,
            };
            if last_group(&step).is_some_and(|last| last >= count) {
                return Err(malformed().into());
            }
            all.push(step);
            Ok(())
        },
    )?;
    Ok(CachedSteps {
        groups,
        regions: all_regions,
        steps: all,
    })
}

/// The new steps of all processes, as process 0 stores them.
#[derive(Default)]
pub(super) struct NewSteps {
    /// The pages of classes, by their numbers in the web, in the order of their first pages.
    classes: Csr,
    /// The pages of all classes by number, ascending.
    pages: Vec<(u32, PageId)>,
    regions: Vec<StepRegion>,
    /// Entries are by class.
    steps: Vec<CachedStep>,
}

impl NewSteps {
    /// Returns in process 0 the new steps of all processes; in other processes, nothing. All processes call it at the same
    /// time.
    ///
    /// Cost: the pages of the classes that steps name, and the entries of all steps. Memory: in process 0, these.
    pub(super) fn collect(
        group: Group<'_>,
        share: &HubShare,
        steps: &[ProvenStep],
        regions: &[CachedRegion],
        own: &OwnPages,
    ) -> Result<Self> {
        let cached = steps.iter().map(|step| &step.cached);
        let named = cached.clone().flat_map(|step| &step.scores);
        let named = named.map(|entry| entry.0);
        let named = named.chain(cached.flat_map(|step| &step.weights).map(|entry| entry.0));
        let mut named: Vec<u32> = named.collect();
        named.sort_unstable();
        named.dedup();
        // Classes are numbered by process, in this order.
        let mut of_processes: Vec<Vec<Vec<u32>>> = vec![Vec::new(); group.processes()];
        let members = share.graph().authority_members();
        group.send_to_first(
            named.iter().map(|class| members.list(*class).to_vec()),
            |members| OF_NUMBER * (members.len() + 1),
            |from, members| {
                let of_process = of_processes.get_mut(from).ok_or_else(malformed)?;
                of_process.push(members);
                Ok(())
            },
        )?;
        let mut collected = Self::default();
        if group.is_first() {
            let without_entries = |step: &ProvenStep| CachedStep {
                region: step.cached.region,
                bound: step.cached.bound,
                ..CachedStep::default()
            };
            collected.steps = steps.iter().map(without_entries).collect();
            let stored = |region: &CachedRegion| StepRegion {
                fingerprint: region.fingerprint,
                sample: region.sample.clone(),
            };
            collected.regions = regions.iter().map(stored).collect();
        }
        let numbers = collected.add_classes(of_processes)?;
        let place = |class: u32| named.binary_search(&class).map_or(u32::MAX, number);
        let entries = (0_u32..).zip(steps).map(|(at, step)| {
            let scores = step.cached.scores.iter();
            let weights = step.cached.weights.iter();
            let scores = scores.map(|(class, code)| (place(*class), *code));
            let weights = weights.map(|(class, code)| (place(*class), *code));
            (at, (scores.collect(), weights.collect()))
        });
        group.send_to_first(
            entries,
            |(_, entries): &(u32, Entries)| bytes_of(entries),
            |from, (at, (scores, weights))| {
                let step = collected.steps.get_mut(at as usize);
                let (step, numbers) = step.zip(numbers.get(from)).ok_or_else(malformed)?;
                for (class, code) in scores {
                    let class = numbers.get(class as usize).ok_or_else(malformed)?;
                    step.scores.push((*class, code));
                }
                for (class, code) in weights {
                    let class = numbers.get(class as usize).ok_or_else(malformed)?;
                    step.weights.push((*class, code));
                }
                Ok(())
            },
        )?;
        for step in &mut collected.steps {
            step.scores.sort_unstable();
            step.weights.sort_unstable();
        }
        let mut numbers = collected.classes.entries().to_vec();
        numbers.sort_unstable();
        let pages = pages_of_numbers(group, &numbers, |number| own.page(number))?;
        collected.pages = numbers.into_iter().zip(pages).collect();
        Ok(collected)
    }

    /// Adds the classes of each process. Returns their numbers.
    fn add_classes(&mut self, of_processes: Vec<Vec<Vec<u32>>>) -> Result<Vec<Vec<u32>>> {
        let mut numbers: Vec<Vec<u32>> = Vec::new();
        let mut all: Vec<(Vec<u32>, usize, usize)> = Vec::new();
        for (process, classes) in of_processes.into_iter().enumerate() {
            numbers.push(vec![0; classes.len()]);
            let numbered = classes.into_iter().enumerate();
            all.extend(numbered.map(|(at, members)| (members, process, at)));
        }
        // Classes have no page in common.
        all.sort_unstable();
        for (class, (members, process, at)) in (0..).zip(all) {
            if members.is_empty() {
                return Err(malformed().into());
            }
            self.classes.push(members);
            if let Some(number) = numbers.get_mut(process).and_then(|of| of.get_mut(at)) {
                *number = class;
            }
        }
        Ok(numbers)
    }

    /// Returns the page with a number, if it is one of a class.
    fn page(&self, number: u32) -> Option<PageId> {
        let at = self.pages.binary_search_by_key(&number, |of| of.0).ok()?;
        self.pages.get(at).map(|of| of.1)
    }
}

/// Returns the number of groups, given those of all grouped pages.
fn count_groups(groups: &[u32]) -> u32 {
    groups.iter().max().map_or(0, |last| last.saturating_add(1))
}

/// Returns the largest group of a step; `None` if it has none.
fn last_group(step: &CachedStep) -> Option<u32> {
    let scored = step.scores.iter().map(|entry| entry.0);
    let weighted = step.weights.iter().map(|entry| entry.0);
    scored.chain(weighted).max()
}

/// Returns the numbers of the pages of each group, given pairs of a group and a number.
fn groups_of(mut numbers: Vec<(u32, u32)>, count: u32) -> Csr {
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

/// Stores the steps of a refresh in place of those of the previous one of the series, as far as they
/// differ. `loaded` are those of the previous one, with groups in the numbers of this graph.
///
/// Cost: the pages of the steps, and what differs; without loaded steps one scan of the stored keys.
pub(super) fn put(
    store: &Store,
    changes: &mut Changes,
    series: RefreshId,
    loaded: &CachedSteps,
    new: &NewSteps,
) -> Result<()> {
    let NewSteps {
        classes,
        steps,
        regions,
        ..
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
            pages.push((new.page(*number).ok_or(unknown)?, *group));
        }
    }
    pages.sort_unstable();
    let (pages, of_pages) = pages.into_iter().unzip();
    let record = StepCacheRecord {
        pages,
        groups: of_pages,
        regions: regions.clone(),
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
        let is_stored = loaded_steps.get(at).is_some_and(|stored| {
            (&stored.scores, &stored.weights) == (&scores, &weights)
                && stored.region == cached.region
                && stored.bound.to_bits() == cached.bound.to_bits()
        });
        if !is_stored {
            let record = StepCacheRecord {
                region: cached.region,
                bound: cached.bound,
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use seedbank_algorithms::communicator::of_threads;
    use seedbank_algorithms::graph::Rows;
    use seedbank_algorithms::page::SiteId;
    use seedbank_algorithms::rank::Origin;
    use seedbank_algorithms::watch::Unwatched;

    const PAGES: u32 = 60;

    fn page(number: u32) -> PageId {
        PageId::new(SiteId(number % 5), PAGES - number)
    }

    /// The numbers of the pages of a process.
    fn own(process: usize, processes: usize) -> Vec<u32> {
        let of_process = |number: &u32| *number as usize % 7 % processes == process;
        (0..PAGES).filter(of_process).collect()
    }

    /// Rows of pages; some are equal, and some authorities have the same citers.
    fn rows(own: &[u32]) -> Rows {
        let mut rows = Rows::new();
        for &number in own.iter().filter(|number| *number % 3 != 1) {
            let first = number % 11 * 4;
            let targets: Vec<u32> = (first..first + 6).filter(|to| *to != number).collect();
            rows.push(&[number], &targets).unwrap();
        }
        rows
    }

    /// Steps with entries of own classes that follow from their first pages.
    fn steps(share: &HubShare) -> Vec<ProvenStep> {
        let members = share.graph().authority_members();
        let step = |step: u32| {
            let own = (0..share.own_authorities()).map(|class| (class, members.list(class)[0]));
            let scores = own.clone().filter(|of| of.1 % 3 == step);
            let weights = own.filter(|of| of.1 % 5 == step);
            let code = |first: u32| u8::try_from(first % 200 + 1).unwrap();
            ProvenStep {
                sigma_bound: 1.0,
                origin: Origin::Computed,
                cached: CachedStep {
                    region: step % 2,
                    bound: f64::from(step),
                    scores: scores.map(|of| (of.0, code(of.1))).collect(),
                    weights: weights
                        .map(|of| (of.0, u16::from(code(of.1)) + 300))
                        .collect(),
                },
            }
        };
        (0..3).map(step).collect()
    }

    /// Calls `run` in each of several processes with its group, its share and its pages.
    fn in_processes<T: Send>(
        processes: usize,
        run: impl Fn(Group<'_>, &HubShare, &OwnPages) -> T + Sync,
    ) -> Vec<T> {
        let run = &run;
        std::thread::scope(|scope| {
            let threads: Vec<_> = of_threads(processes)
                .into_iter()
                .enumerate()
                .map(|(process, communicator)| {
                    scope.spawn(move || {
                        let own = own(process, processes);
                        let share = HubShare::new(&communicator, &rows(&own)).unwrap();
                        let pages = own.iter().map(|number| page(*number)).collect();
                        let pages = OwnPages::new(pages, own, 5).unwrap();
                        let group = Group {
                            communicator: &*communicator,
                            watch: &Unwatched,
                        };
                        run(group, &share, &pages)
                    })
                })
                .collect();
            let threads = threads.into_iter();
            threads.map(|thread| thread.join().unwrap()).collect()
        })
    }

    #[test]
    fn process_0_collects_the_same_steps_from_any_number_of_processes() {
        let collect = |processes| {
            let found = in_processes(processes, |group, share, own| {
                NewSteps::collect(group, share, &steps(share), &[], own).unwrap()
            });
            let mut found = found.into_iter();
            let first = found.next().unwrap();
            for other in found {
                assert!(other.steps.is_empty() && other.pages.is_empty());
            }
            first
        };
        let expected = collect(1);
        let classes = &expected.classes;
        let firsts = (0..number(classes.len())).map(|class| classes.list(class)[0]);
        let firsts: Vec<u32> = firsts.collect();
        assert!(firsts.len() > 10 && firsts.is_sorted());
        assert!(classes.entries().len() > firsts.len());
        for (number, of_number) in &expected.pages {
            assert_eq!(page(*number), *of_number);
        }
        let named = expected.steps.iter().flat_map(|step| &step.scores);
        for (class, code) in named {
            assert_eq!(u32::from(*code), firsts[*class as usize] + 1);
        }
        for processes in 2..=3 {
            let found = collect(processes);
            assert_eq!(found.classes, expected.classes);
            assert_eq!(found.pages, expected.pages);
            assert_eq!(found.steps, expected.steps);
        }
    }

    #[test]
    fn all_processes_get_the_stored_steps() {
        let stored = || StoredSteps {
            // Every third page left the graph.
            pages: (0..PAGES)
                .map(|at| {
                    if at % 3 == 0 {
                        PageId::new(SiteId(1), 999 + at)
                    } else {
                        page(at)
                    }
                })
                .collect(),
            groups: (0..PAGES).map(|at| at % 8).collect(),
            regions: vec![
                StepRegion {
                    fingerprint: [3; 16],
                    sample: vec![1, 5],
                };
                2
            ],
            steps: vec![
                CachedStep {
                    region: 1,
                    bound: 2.5,
                    scores: (0..8).map(|group| (group, 9)).collect(),
                    weights: Vec::new(),
                };
                20
            ],
        };
        let mut all = BTreeSet::new();
        for processes in 1..=3 {
            let found = in_processes(processes, |group, _, own| {
                let is_first = group.is_first();
                let stored = if is_first {
                    stored()
                } else {
                    StoredSteps::default()
                };
                distribute(group, stored, own).unwrap()
            });
            for steps in found {
                assert_eq!(steps.steps, stored().steps);
                assert_eq!(steps.regions.len(), 2);
                let groups =
                    (0..number(steps.groups.len())).map(|group| steps.groups.list(group).to_vec());
                all.insert(groups.collect::<Vec<_>>());
            }
        }
        assert_eq!(all.len(), 1);
        let groups = all.first().unwrap();
        assert_eq!(groups.len(), 8);
        let grouped: usize = groups.iter().map(Vec::len).sum();
        assert_eq!(grouped, PAGES as usize * 2 / 3);
    }

    #[test]
    fn a_step_with_a_group_that_does_not_exist_is_refused() {
        let found = in_processes(2, |group, _, own| {
            let stored = StoredSteps {
                pages: vec![page(1)],
                groups: vec![0],
                steps: vec![CachedStep {
                    scores: vec![(1, 1)],
                    ..CachedStep::default()
                }],
                ..StoredSteps::default()
            };
            distribute(group, stored, own).is_err()
        });
        assert_eq!(found, [true, true]);
    }
}
