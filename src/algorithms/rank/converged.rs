//! The principal singular pair of the region with the largest sigma, zero elsewhere.
//!
//! Regions wait in a queue under an upper bound on their sigma: at first the root of the largest
//! row sum of `A^T A`, later at most the proved bound of the region that they were split from
//! (removing pages only lowers sigma). A region is solved when it could come first, so all regions
//! that could tie for first place are solved before one is taken. If a sigma is known less exactly
//! than another is near it, its region is solved again, exactly enough to decide a tie.
//!
//! Only regions that lost pages are split into components again, and large ones only near the
//! removed pages, which finds small parts. The rest may be disconnected, which has no effect as
//! long as its principal pair is clearly separated from the second; otherwise the region is split
//! exactly.
//!
//! A component of the whole graph with cached steps waits among the solved regions under the sigma
//! of its next step, and none of its entries are read. After its steps, what remains of it joins
//! the queue like any other region, under the cached bound.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::graph::{HubGraph, NONE, Remaining, Touched, WeakComponents, number};
use crate::watch::{Interrupted, Watch};

use super::components::{Component, Labels};
use super::inherited_state::{InheritedVectors, RegionState, WarmRegion};
use super::large_region::{self, Attempt, FOR_SCORES, FOR_TIES, INITIAL, Precision};
use super::principal::{Doubt, Principal, TIED};
use super::ranker::{Next, Ranker};
use super::replay::{
    CACHED_FLAG, Descending, ReplaySteps, Replays, descending, first_solved, queue_entry,
};
use super::residual_bounds::{self, ResidualBound};
use super::solve::{EXACT, FINE, solve};
use super::vector_block::BufferPool;
use super::work::Work;

/// Relative accuracy of sigmas.
const ROUNDING: f64 = 1e-12;
/// Numbers of authority classes of regions that are split only near removed pages.
const LOCAL_SPLIT: Range<usize> = 1024..large_region::SIZES.end;

/// Takes cores from the region with the largest sigma.
#[derive(Clone, Debug)]
pub struct Converged {
    /// The component of each authority class.
    components: Vec<u32>,
    replays: Replays,
    labels: Labels,
    regions: BTreeMap<u32, RegionState>,
    /// Unsolved regions, by bound.
    waiting: BTreeSet<(Descending, u32)>,
    /// Solved regions, by sigma and then by best authority.
    solved: BTreeSet<(Descending, u32, u32)>,
    /// Solved regions whose sigma is not proved tightly enough to decide ties.
    doubtful: BTreeSet<u32>,
    position: Vec<u32>,
    pool: BufferPool,
    work: Work,
}

impl Converged {
    /// Returns a ranker of the whole graph. `cached` has the cached steps of unchanged components. No
    /// entry is read yet: a component is split into regions once it could come first.
    #[must_use]
    pub fn new(
        graph: &HubGraph,
        components: &WeakComponents,
        cached: BTreeMap<u32, ReplaySteps>,
    ) -> Self {
        let classes = 0..number(graph.authority_members().len());
        let (replays, uncached) = Replays::new(components, cached);
        let mut ranker = Self {
            components: classes
                .map(|class| components.component_of_authority(class))
                .collect(),
            labels: Labels::none(graph),
            regions: BTreeMap::new(),
            waiting: BTreeSet::new(),
            solved: BTreeSet::new(),
            doubtful: BTreeSet::new(),
            position: vec![NONE; graph.authority_members().len()],
            pool: BufferPool::default(),
            work: Work::default(),
            replays,
        };
        let steps = ranker.replays.next_steps();
        ranker.solved = steps
            .map(|(component, step)| queue_entry(component, step))
            .collect();
        for (authorities, bound) in uncached {
            let (label, component) = ranker.labels.unsplit(authorities, bound);
            ranker.enqueue(label, component, None, bound, false);
        }
        ranker
    }

    fn solved_region(&self, label: u32) -> Option<&Arc<Principal>> {
        let solved = self.regions.get(&label)?.solved.as_ref();
        solved.map(|(principal, _)| principal)
    }

    /// Returns the sigma of the first solved region.
    fn top(&self) -> Option<f64> {
        self.solved.first().map(|first| f64::from_bits(first.0.0))
    }

    /// Returns why it is uncertain that the region with this label and sigma comes first; `None` if
    /// it does.
    fn doubt(&self, label: u32, sigma: f64) -> Option<Doubt> {
        let limit = sigma * (1.0 - 2.0 * TIED);
        let rival = self.doubtful.iter().find_map(|other| {
            let rival = self.solved_region(*other)?;
            let is_rival = *other != label || !rival.is_loosely_bounded();
            (is_rival && rival.upper > limit).then_some(rival.gap)
        });
        // A tie is undecided only within rounding of its threshold.
        let edge = sigma * (1.0 - TIED);
        let at_edge = edge * (1.0 - ROUNDING)..edge * (1.0 + ROUNDING);
        match rival {
            Some(gap) => Some(Doubt::Value { gap }),
            None if self.is_one_between(&at_edge) => Some(Doubt::Comparison { error: ROUNDING }),
            None => None,
        }
    }

    /// Solves all regions that could come first.
    fn solve_first(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<(), Interrupted> {
        while let Some(&(bound, label)) = self.waiting.first() {
            let sigma = self.top().unwrap_or(0.0);
            if f64::from_bits(bound.0) < sigma * (1.0 - 2.0 * TIED) {
                break;
            }
            watch.proceed()?;
            self.solve(graph, left, label, watch)?;
            self.waiting.remove(&(bound, label));
        }
        Ok(())
    }

    /// Returns a region whose bound is too loose to order it against another one.
    fn loosely_bounded(&self) -> Option<u32> {
        let limit = self.top()? * (1.0 - 2.0 * TIED);
        let near = self.solved.iter();
        let near = near.take_while(|solved| f64::from_bits(solved.0.0) >= limit);
        let is_alone = near.take(2).count() < 2;
        let comes_near = |label: &&u32| {
            self.solved_region(**label).is_some_and(|principal| {
                let is_first = is_alone && principal.sigma >= limit;
                principal.is_loosely_bounded() && principal.upper > limit && !is_first
            })
        };
        self.doubtful.iter().find(comes_near).copied()
    }

    /// Solves a solved region again, more exactly: a large one first to this precision.
    fn tighten(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        label: u32,
        precision: Precision,
        watch: &dyn Watch,
    ) -> Result<(), Interrupted> {
        let Some(state) = self.regions.get_mut(&label) else {
            return Ok(());
        };
        let (is_connected, bound) = (state.is_connected, state.component.bound);
        let Some((principal, best)) = state.solved.take() else {
            return Ok(());
        };
        self.solved
            .remove(&(descending(principal.sigma), best, label));
        self.doubtful.remove(&label);
        let principal = Arc::unwrap_or_clone(principal);
        let (pool, work) = (&mut self.pool, &mut self.work);
        let (region, warm) = match large_region::refine(principal, precision, pool, work, watch)? {
            Attempt::Solved(principal) => {
                self.store_solution(graph, left, label, principal);
                return Ok(());
            }
            Attempt::Unresolved(region, warm) => (region, warm),
        };
        if !is_connected {
            self.waiting.insert((descending(bound), label));
            self.split(graph, left, label);
            return Ok(());
        }
        let (region, warm) = self.rebuilt(graph, left, label, (region, warm));
        let principal = solve(region, warm, EXACT, &mut self.work, watch)?;
        self.store_solution(graph, left, label, principal);
        Ok(())
    }

    /// Returns whether a solved region has a sigma in this range.
    fn is_one_between(&self, sigmas: &Range<f64>) -> bool {
        let next = self.solved.range((descending(sigmas.end), 0, 0)..).next();
        next.is_some_and(|next| f64::from_bits(next.0.0) > sigmas.start)
    }

    fn split_and_enqueue(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        authorities: &[u32],
        inherited: Option<&InheritedVectors>,
        bound: f64,
    ) {
        let parts = self.labels.split(graph, left, authorities, &mut self.work);
        for (label, component) in parts {
            let inherited = inherited.map(|inherited| inherited.for_part(authorities, &component));
            self.enqueue(label, component, inherited, bound, true);
        }
    }

    /// Queues a component of the remaining graph (or perhaps several, not split yet).
    fn enqueue(
        &mut self,
        label: u32,
        mut component: Component,
        inherited: Option<InheritedVectors>,
        bound: f64,
        is_connected: bool,
    ) {
        component.bound = component.bound.min(bound);
        self.waiting.insert((descending(component.bound), label));
        let state = RegionState {
            component,
            is_connected,
            inherited,
            solved: None,
        };
        self.regions.insert(label, state);
    }

    fn solve(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        label: u32,
        watch: &dyn Watch,
    ) -> Result<(), Interrupted> {
        let Some(state) = self.regions.get_mut(&label) else {
            return Ok(());
        };
        if state.component.hubs.is_empty() {
            self.split(graph, left, label);
            return Ok(());
        }
        let is_connected = state.is_connected;
        let (position, work) = (&mut self.position, &mut self.work);
        let (region, warm) = state.prepare(graph, left, &self.labels, label, position, work);
        let (region, warm) = if large_region::is_large(&region) {
            let (pool, work) = (&mut self.pool, &mut self.work);
            match large_region::attempt(region, &warm, INITIAL, pool, work, watch)? {
                Attempt::Solved(principal) => {
                    self.store_solution(graph, left, label, principal);
                    return Ok(());
                }
                Attempt::Unresolved(region, starts) => (region, starts),
            }
        } else {
            (region, warm)
        };
        if !is_connected {
            drop(region);
            self.split(graph, left, label);
            return Ok(());
        }
        let (region, warm) = self.rebuilt(graph, left, label, (region, warm));
        let principal = solve(region, warm, FINE, &mut self.work, watch)?;
        self.store_solution(graph, left, label, principal);
        Ok(())
    }

    /// Returns the region without removed classes, and its start vectors there.
    fn rebuilt(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        label: u32,
        warm_region: WarmRegion,
    ) -> WarmRegion {
        match self.regions.get(&label) {
            Some(state) => {
                state.rebuilt(graph, left, warm_region, &mut self.position, &mut self.work)
            }
            None => warm_region,
        }
    }

    /// Splits a waiting region into its connected parts.
    fn split(&mut self, graph: &HubGraph, left: &Remaining, label: u32) {
        let Some(state) = self.regions.remove(&label) else {
            return;
        };
        self.labels.clear(&state.component);
        let Component {
            authorities, bound, ..
        } = state.component;
        self.waiting.remove(&(descending(bound), label));
        self.split_and_enqueue(graph, left, &authorities, None, bound);
    }

    fn store_solution(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        label: u32,
        principal: Principal,
    ) {
        let best = principal.best_authority(graph, left);
        if principal.upper > principal.sigma * (1.0 + TIED) {
            self.doubtful.insert(label);
        }
        self.solved
            .insert((descending(principal.sigma), best, label));
        if let Some(state) = self.regions.get_mut(&label) {
            state.solved = Some((Arc::new(principal), best));
        }
    }
}

impl Ranker for Converged {
    fn next(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted> {
        loop {
            self.solve_first(graph, left, watch)?;
            let Some(label) = self.loosely_bounded() else {
                break;
            };
            self.tighten(graph, left, label, FOR_TIES, watch)?;
        }
        let Some(label) = first_solved(&self.solved) else {
            return Ok(None);
        };
        if let Some((step, (sigma, _))) = self.replays.next_step(label ^ CACHED_FLAG) {
            return Ok(Some(Next::Cached {
                component: label ^ CACHED_FLAG,
                step,
                doubt: self.doubt(label, sigma),
            }));
        }
        let Some(principal) = self.solved_region(label) else {
            return Ok(None);
        };
        if let Some(doubt) = self.doubt(label, principal.sigma)
            && principal.doubt.is_none()
        {
            let mut doubted = Principal::clone(principal);
            doubted.doubt = Some(doubt);
            return Ok(Some(Next::Solved(Arc::new(doubted))));
        }
        Ok(Some(Next::Solved(Arc::clone(principal))))
    }

    fn refine(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        found: Next,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted> {
        let Some(label) = first_solved(&self.solved) else {
            return Ok(None);
        };
        if self
            .solved_region(label)
            .is_none_or(|principal| principal.is_exact)
        {
            return Ok(None);
        }
        drop(found);
        self.tighten(graph, left, label, FOR_SCORES, watch)?;
        self.next(graph, left, watch)
    }

    fn cached_step_taken(&mut self, component: u32) {
        let Some((_, step)) = self.replays.next_step(component) else {
            return;
        };
        self.solved.remove(&queue_entry(component, step));
        match self.replays.advance(component) {
            Some(Ok(step)) => {
                self.solved.insert(queue_entry(component, step));
            }
            Some(Err((authorities, bound))) => {
                let (label, component) = self.labels.unsplit(authorities, bound);
                self.enqueue(label, component, None, bound, false);
            }
            None => {}
        }
    }

    fn pages_removed(&mut self, graph: &HubGraph, left: &Remaining, touched: &Touched) {
        let hubs = touched.hubs.iter().map(|&c| self.labels.hubs[c as usize]);
        let authorities = touched.authorities.iter();
        let authorities = authorities.map(|&c| self.labels.authorities[c as usize]);
        let affected: BTreeSet<u32> = hubs.chain(authorities).filter(|&l| l != NONE).collect();
        for label in affected {
            let Some(mut state) = self.regions.remove(&label) else {
                continue;
            };
            self.doubtful.remove(&label);
            // Removing pages only lowers sigma: the parts inherit the bound and the vectors.
            let mut bound = state.component.bound;
            let mut inherited = state.inherited;
            if let Some((principal, best)) = state.solved {
                self.solved
                    .remove(&(descending(principal.sigma), best, label));
                bound = bound.min(principal.upper);
                inherited = Some(InheritedVectors::Whole(principal));
            } else {
                self.waiting.remove(&(descending(bound), label));
            }
            // Large regions: only search for small parts near the removed pages.
            if LOCAL_SPLIT.contains(&state.component.authorities.len()) {
                let previous = state.component.authorities.clone();
                let work = &mut self.work;
                let near = self.labels.detach(graph, left, touched, label, work);
                self.labels.retain(&mut state.component, left, label);
                let inherit =
                    |part: &Component| inherited.as_ref().map(|p| p.for_part(&previous, part));
                for (label, part) in near {
                    let inherited = inherit(&part);
                    self.enqueue(label, part, inherited, bound, true);
                }
                inherited = inherit(&state.component);
                if LOCAL_SPLIT.contains(&state.component.authorities.len()) {
                    self.enqueue(label, state.component, inherited, bound, false);
                    continue;
                }
            }
            self.labels.clear(&state.component);
            self.split_and_enqueue(
                graph,
                left,
                &state.component.authorities,
                inherited.as_ref(),
                bound,
            );
        }
    }

    fn work(&self) -> Work {
        self.work
    }

    fn is_order_sensitive(&self) -> bool {
        // Sigmas within rounding of the top are tied with it in any order.
        self.top().is_some_and(|top| {
            self.is_one_between(&(top * (1.0 - 2.0 * TIED)..top * (1.0 - ROUNDING)))
        })
    }

    fn residual_bounds(&self) -> BTreeMap<u32, ResidualBound> {
        residual_bounds::collect(&self.regions, &self.components, &self.replays)
    }
}

#[cfg(test)]
#[path = "converged_tests.rs"]
mod tests;
