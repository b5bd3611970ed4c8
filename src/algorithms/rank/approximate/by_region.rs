//! Steps of all regions in the order of their bounds.
//!
//! **Order.** Each region has an upper bound on its largest eigenvalue: at first its largest row sum, later what its steps have
//! proved. The next core comes from the region with the largest bound, of equal ones from that with the smallest page, once
//! its step is found and its bound still is the largest. That bound holds for the whole remaining graph, and the step is
//! within the bound of its region. A region is looked at once it could come first.
//!
//! **Reuse.** The steps of a region depend on nothing outside of it. If its fingerprint is that of a region of the previous run,
//! its steps are taken over. Otherwise the cached steps whose best authorities are in it are tried, unless too large a share of
//! its rows changed.
//!
//! **Parts.** A region is a graph of its own, with vectors as long as it. One that has most links is not copied: there the
//! whole graph is used, without the pages of other regions.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::super::cached_steps::{CachedStep, CachedSteps, Groups, ProvenStep, RegionSteps};
use super::super::ranker::{GraphPart, Next, Ranker};
use super::super::region::Region;
use super::super::region_share::RegionShare;
use super::super::regions::{CachedRegion, IdOfPage, Regions};
use super::super::replay::{Descending, descending};
use super::super::vector_block::BufferPool;
use super::super::work::Work;
use super::{Found, ROUNDING, RegionSolver};
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::exchange::gather;
use crate::graph::{
    HubGraph, HubShare, NONE, PlacesInPart, Remaining, Role, ShareComponents, Touched, number,
};
use crate::watch::{Interrupted, Watch};

/// The cached steps of a region are left alone if more than this share of its rows changed; in unit tests they are always
/// tried.
///
/// Where .5 % of the rows of a university's crawl changed, 7 % of the passes were left; where 1.6 % of those of a web of
/// blogs did, none were saved, and the attempt cost 1 %.
const MAX_CHANGED: f64 = if cfg!(test) { 1.0 } else { 0.05 };

/// A region that was looked at.
#[derive(Debug)]
struct OpenRegion {
    /// `None` if it has most links: there the classes are those of the whole graph.
    part: Option<GraphPart>,
    solver: RegionSolver,
    found: Option<Found>,
}

/// A step that was taken, and whose core is not removed yet.
#[derive(Debug)]
struct Taken {
    region: u32,
    step: ProvenStep,
}

/// Takes cores from places whose sigma is proved to be near the largest.
pub struct Approximate<'a> {
    within: f64,
    share: Arc<HubShare>,
    id: &'a IdOfPage<'a>,
    regions: Regions,
    /// The cached steps of regions that are not open yet.
    cached: BTreeMap<u32, RegionSteps>,
    open: BTreeMap<u32, OpenRegion>,
    /// Regions with links, by the bound on their largest eigenvalue.
    waiting: BTreeSet<(Descending, u32)>,
    taken: Option<Taken>,
    /// The region of the last step.
    last: Option<u32>,
    places: PlacesInPart,
    steps: Vec<ProvenStep>,
    work: Work,
}

impl<'a> Approximate<'a> {
    /// Returns a ranker of this graph whose sigmas are at least `1 - within` times the largest; `cached` has the steps of the
    /// previous run. All processes call its functions at the same time, with the same `cached`.
    ///
    /// Cost: a product over the whole graph, and a pass over its rows and pages.
    pub fn new(
        share: &Arc<HubShare>,
        components: &ShareComponents,
        within: f64,
        cached: &CachedSteps,
        id: &'a IdOfPage<'a>,
    ) -> Result<Self, Interrupted> {
        let mut work = Work::default();
        let whole = Region::of_share(RegionShare::new(Arc::clone(share))?, &share.all());
        let ones = vec![1.0; whole.own(Role::Authority)];
        let pool = &mut BufferPool::default();
        let (row_sums, _) = whole.multiply(Role::Authority, &ones, pool, &mut work)?;
        drop(whole);
        let regions = Regions::new(share, components, &row_sums, id)?;
        let waiting = (0..regions.len())
            .map(|region| (descending(regions.largest_row_sum(region)), region))
            .collect();
        Ok(Self {
            within,
            share: Arc::clone(share),
            id,
            cached: by_region(share, &regions, cached, id)?,
            open: BTreeMap::new(),
            waiting,
            taken: None,
            last: None,
            places: share.no_places(),
            steps: Vec::new(),
            work,
            regions,
        })
    }

    /// Opens a region for its first step. `left` has the remaining pages of the whole graph.
    fn opened(&mut self, region: u32, left: &Remaining) -> Result<OpenRegion, Interrupted> {
        let cached = self.cached.remove(&region).unwrap_or_default();
        let largest_row_sum = self.regions.largest_row_sum(region);
        let [hubs, authorities] = self.regions.classes(region);
        if self.regions.is_most(region) {
            let only = self.share.only(left, |role, class| {
                let classes = match role {
                    Role::Hub => hubs,
                    Role::Authority => authorities,
                };
                classes.binary_search(&class).is_ok()
            });
            let solver = RegionSolver::new(
                &self.share,
                &only,
                self.within,
                largest_row_sum,
                cached,
                Some,
            )?;
            return Ok(OpenRegion {
                part: None,
                solver,
                found: None,
            });
        }
        let share = Arc::new(self.share.part([hubs, authorities], &mut self.places));
        let part = GraphPart {
            left: share.all(),
            classes: [hubs.to_vec(), authorities.to_vec()],
            share,
        };
        let place = |class: u32| authorities.binary_search(&class).ok().map(number);
        let (share, left) = (&part.share, &part.left);
        let solver = RegionSolver::new(share, left, self.within, largest_row_sum, cached, place)?;
        Ok(OpenRegion {
            part: Some(part),
            solver,
            found: None,
        })
    }
}

/// Returns the cached steps of each region, as far as they are worth trying. A step belongs to the region with the authority
/// that scored best.
fn by_region(
    share: &HubShare,
    regions: &Regions,
    cached: &CachedSteps,
    id: &IdOfPage<'_>,
) -> Result<BTreeMap<u32, RegionSteps>, Interrupted> {
    let groups = Groups::new(share.graph(), &cached.groups);
    let mut steps: Vec<CachedStep> = Vec::with_capacity(cached.steps.len());
    let mut best: Vec<(u8, Reverse<u32>)> = Vec::with_capacity(cached.steps.len());
    for step in &cached.steps {
        let scores = groups.by_class(&step.scores);
        let regions_of = scores.iter();
        let regions_of =
            regions_of.map(|(class, code)| (*code, Reverse(regions.of_authority(*class))));
        best.push(regions_of.max().unwrap_or((0, Reverse(NONE))));
        steps.push(CachedStep {
            weights: groups.by_class(&step.weights),
            scores,
            ..*step
        });
    }
    let best = best_of_all(share, best)?;
    let mut all: BTreeMap<u32, RegionSteps> = BTreeMap::new();
    // The step whose weights are the latest in a former region, and the one whose weights a region got last.
    let mut latest: BTreeMap<u32, usize> = BTreeMap::new();
    let mut given: BTreeMap<u32, usize> = BTreeMap::new();
    for (at, (_, Reverse(region))) in best.into_iter().enumerate() {
        let former = steps[at].region;
        if !cached.steps[at].weights.is_empty() {
            latest.insert(former, at);
        }
        if region == NONE {
            continue;
        }
        // A step without weights shares those of an earlier one, which may belong to another region now.
        let mut step = CachedStep {
            weights: Vec::new(),
            ..steps[at].clone()
        };
        if let Some(&from) = latest.get(&former)
            && (from == at || given.get(&region) != Some(&from))
        {
            let weights = steps[from].weights.iter();
            let weights = weights.filter(|of| regions.of_authority(of.0) == region);
            step.weights = weights.copied().collect();
            given.insert(region, from);
        }
        step.scores
            .retain(|of| regions.of_authority(of.0) == region);
        all.entry(region).or_default().steps.push(step);
    }
    let mut counts = vec![0_usize; cached.regions.len()];
    for step in &cached.steps {
        if let Some(count) = counts.get_mut(step.region as usize) {
            *count += 1;
        }
    }
    let mut worth_trying = BTreeMap::new();
    for (region, mut of_region) in all {
        let first = of_region.steps.first().map_or(NONE, |step| step.region);
        let is_first = |step: &CachedStep| step.region == first;
        let former = cached.regions.get(first as usize);
        of_region.is_unchanged = former
            .is_some_and(|former| former.fingerprint == regions.fingerprint(region))
            && of_region.steps.iter().all(is_first)
            && of_region.steps.len() == counts[first as usize];
        let mut is_worth = of_region.is_unchanged;
        if !is_worth {
            let sample = regions.sample(share, region, id)?;
            let formers: BTreeSet<u32> = of_region.steps.iter().map(|step| step.region).collect();
            let formers = formers
                .iter()
                .filter_map(|at| cached.regions.get(*at as usize));
            let changed = formers.map(|former| former.changed_share(&sample));
            is_worth = changed.fold(1.0, f64::min) <= MAX_CHANGED;
        }
        if is_worth {
            worth_trying.insert(region, of_region);
        }
    }
    Ok(worth_trying)
}

/// Returns for each step the best score and its region in all processes.
fn best_of_all(
    share: &HubShare,
    mut best: Vec<(u8, Reverse<u32>)>,
) -> Result<Vec<(u8, Reverse<u32>)>, Interrupted> {
    if share.communicator().processes() == 1 {
        return Ok(best);
    }
    let mut message = Encoder::default();
    for (code, Reverse(region)) in &best {
        message.number((*code).into());
        message.number((*region).into());
    }
    for message in gather(share.communicator(), message)? {
        let mut message = Decoder(&message);
        for best in &mut best {
            let of_process = message.number().zip(message.index());
            let (code, region) = of_process.ok_or_else(|| share.malformed())?;
            let code = u8::try_from(code).map_err(|_| share.malformed())?;
            *best = (*best).max((code, Reverse(region)));
        }
    }
    Ok(best)
}

impl Ranker for Approximate<'_> {
    fn next(
        &mut self,
        _graph: &HubGraph,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted> {
        self.last = None;
        while let Some(first) = self.waiting.first().copied() {
            let region = first.1;
            let mut open = match self.open.remove(&region) {
                Some(open) => open,
                None => self.opened(region, left)?,
            };
            if let Some(Found {
                step,
                place,
                origin,
            }) = open.found.take()
            {
                let next = open.solver.principal(place)?;
                let mut cached = CachedStep {
                    region,
                    bound: open.solver.upper,
                    scores: step.scores,
                    weights: step.weights,
                };
                if let Some(part) = &open.part {
                    let [_, classes] = &part.classes;
                    let scores = cached.scores.iter_mut();
                    scores.for_each(|of| of.0 = classes[of.0 as usize]);
                    let weights = cached.weights.iter_mut();
                    weights.for_each(|of| of.0 = classes[of.0 as usize]);
                }
                self.taken = Some(Taken {
                    region,
                    step: ProvenStep {
                        sigma_bound: open.solver.upper.sqrt() * (1.0 + ROUNDING),
                        origin,
                        cached,
                    },
                });
                self.last = Some(region);
                self.open.insert(region, open);
                return Ok(Some(Next::Solved(Arc::new(next))));
            }
            let left = open.part.as_ref().map_or(left, |part| &part.left);
            open.found = open.solver.next(left, watch)?;
            self.work += std::mem::take(&mut open.solver.work);
            self.waiting.remove(&first);
            if open.found.is_some() {
                self.waiting.insert((descending(open.solver.upper), region));
                self.open.insert(region, open);
            }
        }
        Ok(None)
    }

    fn part(&self) -> Option<&GraphPart> {
        self.open.get(&self.last?)?.part.as_ref()
    }

    fn core_taken(&mut self, pages: &[u32]) -> Result<(), Interrupted> {
        let Some(Taken { region, step }) = &self.taken else {
            return Ok(());
        };
        if let Some(OpenRegion {
            part: Some(part),
            solver,
            ..
        }) = self.open.get_mut(region)
        {
            let losses = part.share.remove(&mut part.left, pages.iter().copied())?;
            solver.pages_removed(&part.left, &losses.touched());
        }
        self.steps.push(step.clone());
        Ok(())
    }

    fn pages_removed(&mut self, _graph: &HubGraph, left: &Remaining, touched: &Touched) {
        if let Some(Taken { region, .. }) = self.taken.take()
            && let Some(open) = self.open.get_mut(&region)
            && open.part.is_none()
        {
            open.solver.pages_removed(left, touched);
        }
    }

    fn work(&self) -> Work {
        self.work
    }

    fn take_proven_steps(&mut self) -> Result<(Vec<ProvenStep>, Vec<CachedRegion>), Interrupted> {
        let mut steps = std::mem::take(&mut self.steps);
        // Regions are numbered by their first steps.
        let mut numbers: BTreeMap<u32, u32> = BTreeMap::new();
        let mut regions = Vec::new();
        for step in &mut steps {
            let region = step.cached.region;
            step.cached.region = if let Some(number) = numbers.get(&region) {
                *number
            } else {
                let new = number(regions.len());
                regions.push(CachedRegion {
                    fingerprint: self.regions.fingerprint(region),
                    sample: self.regions.sample(&self.share, region, self.id)?,
                });
                numbers.insert(region, new);
                new
            };
        }
        Ok((steps, regions))
    }
}
