//! The principal singular pair of the region with the largest sigma, zero elsewhere.
//!
//! Regions wait in a queue under an upper bound on their sigma: at first the root of the largest
//! row sum of `A^T A`, later never more than what was proved for the region they came from
//! (removing pages only lowers sigma). A region is solved when it could come first, so all regions
//! that could be tied for first place are solved before one is taken. Where a sigma is known less
//! exactly than another comes near it, its region is solved anew, exactly enough to tell a tie.
//!
//! Only regions that lost pages are cut into components again, and large ones only near what they
//! lost: that finds small parts. The rest may be disconnected. That makes no difference as long as
//! its principal pair is clearly apart from the second; where it is not, the region is cut exactly.
//!
//! A component of the whole graph whose steps are known from an earlier run waits among the solved
//! regions under the sigma of its next step, and nothing of it is read. When its steps are used up,
//! what is left of it joins the queue like any other, under the bound that the earlier run left. It
//! need not even be in the graph, as long as what is left of it cannot come first.

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;
use std::sync::Arc;

use crate::graph::{HubGraph, NONE, Remaining, Touched, WeakComponents, number};
use crate::watch::{Interrupted, Watch};

use super::components::{Component, Labels};
use super::inherited_state::{InheritedVectors, RegionState, Started};
use super::large_region::{self, Attempt, DEEP, FIRST, Precision, TIGHT};
use super::principal::{Doubt, Principal, TIED};
use super::ranker::{Next, Ranker};
use super::replay::{self, CachedComponent, Descending, KNOWN, Replays, descending, entry, first};
use super::residual_bounds::{self, ResidualBound};
use super::solve::{EXACT, FINE, solve};
use super::vector_block::Workspace;
use super::work::Work;

/// Sigmas are accurate to rounding.
const ROUNDING: f64 = 1e-12;
/// A region with this many authority classes is cut only near what it lost.
const BROAD: Range<usize> = 1024..large::SIZES.end;

/// Takes cores from the region with the largest sigma.
#[derive(Clone, Debug)]
pub struct Converged {
    /// The component of the whole graph that each authority class is in.
    components: Vec<u32>,
    replays: Replays,
    labels: Labels,
    regions: BTreeMap<u32, RegionState>,
    /// Regions not solved yet, by bound.
    waiting: BTreeSet<(Descending, u32)>,
    /// Solved regions, by sigma and then by the best authority.
    solved: BTreeSet<(Descending, u32, u32)>,
    /// Solved regions whose sigma is not proved.
    doubtful: BTreeSet<u32>,
    position: Vec<u32>,
    room: Workspace,
    work: Work,
}

impl Converged {
    /// A ranker of this whole graph. `known` has what an earlier run found in components that have
    /// not changed; those beyond the graph's own are absent from it. No entry is read yet: a
    /// component is cut into regions once it could come first.
    #[must_use]
    pub fn new(
        graph: &HubGraph,
        components: &WeakComponents,
        known: BTreeMap<u32, CachedComponent>,
    ) -> Self {
        let classes = 0..number(graph.authority_members().len());
        let (replays, unknown, waiting) = Replays::new(components, known);
        let mut ranker = Self {
            components: classes
                .map(|class| components.component_of_authority(class))
                .collect(),
            labels: Labels::none(graph),
            regions: BTreeMap::new(),
            waiting,
            solved: BTreeSet::new(),
            doubtful: BTreeSet::new(),
            position: vec![NONE; graph.authority_members().len()],
            room: Workspace::default(),
            work: Work::default(),
            replays,
        };
        let steps = ranker.replays.all();
        ranker.solved = steps
            .map(|(component, step)| entry(component, step))
            .collect();
        for (authorities, bound) in unknown {
            let (label, uncut) = ranker.labels.uncut(authorities, bound);
            ranker.wait(label, uncut, None, bound, false);
        }
        ranker
    }

    fn absent(&self, first: u32) -> Next {
        let wanted = residual_bounds::needed(first, &self.solved, &self.replays, &self.waiting);
        Next::Absent(wanted)
    }

    fn solved_region(&self, label: u32) -> Option<&Arc<Principal>> {
        let solved = self.regions.get(&label)?.solved.as_ref();
        solved.map(|(principal, _)| principal)
    }

    /// The sigma of the first solved region.
    fn top(&self) -> Option<f64> {
        self.solved.first().map(|first| f64::from_bits(first.0.0))
    }

    /// Why it is uncertain that the region with this label and sigma comes first; `None` if it
    /// does.
    fn doubt(&self, label: u32, sigma: f64) -> Option<Doubt> {
        let limit = sigma * (1.0 - 2.0 * TIED);
        let rival = self.doubtful.iter().find_map(|other| {
            let rival = self.solved_region(*other)?;
            let is_rival = *other != label || !rival.is_loose();
            (is_rival && rival.upper > limit).then_some(rival.gap)
        });
        // A tie is undecided only just at its bound.
        let edge = sigma * (1.0 - TIED);
        let at_edge = edge * (1.0 - ROUNDING)..edge * (1.0 + ROUNDING);
        match rival {
            Some(gap) => Some(Doubt::Value { gap }),
            None if self.is_one_between(&at_edge) => Some(Doubt::Comparison { error: ROUNDING }),
            None => None,
        }
    }

    /// Solves all regions that could come first; `false` where one is absent from the graph.
    fn solve_first(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<bool, Interrupted> {
        while let Some(&(bound, label)) = self.waiting.first() {
            let sigma = self.top().unwrap_or(0.0);
            if f64::from_bits(bound.0) < sigma * (1.0 - 2.0 * TIED) {
                break;
            }
            if label & KNOWN != 0 {
                return Ok(false);
            }
            watch.proceed()?;
            self.solve(graph, left, label, watch)?;
            self.waiting.remove(&(bound, label));
        }
        Ok(true)
    }

    /// A region whose sigma is proved less exactly than another sigma comes near it.
    fn loose(&self) -> Option<u32> {
        let limit = self.top()? * (1.0 - 2.0 * TIED);
        let near = self.solved.iter();
        let near = near.take_while(|solved| f64::from_bits(solved.0.0) >= limit);
        let is_alone = near.take(2).count() < 2;
        let comes_near = |label: &&u32| {
            self.solved_region(**label).is_some_and(|principal| {
                let is_first = is_alone && principal.sigma >= limit;
                principal.is_loose() && principal.upper > limit && !is_first
            })
        };
        self.doubtful.iter().find(comes_near).copied()
    }

    /// Solves a solved region again, more exactly: a large one first to this `depth`.
    fn tighten(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        label: u32,
        depth: Precision,
        watch: &dyn Watch,
    ) -> Result<(), Interrupted> {
        let Some(held) = self.regions.get_mut(&label) else {
            return Ok(());
        };
        let (is_connected, bound) = (held.is_connected, held.component.bound);
        let Some((principal, best)) = held.solved.take() else {
            return Ok(());
        };
        self.solved
            .remove(&(descending(principal.sigma), best, label));
        self.doubtful.remove(&label);
        let principal = Arc::unwrap_or_clone(principal);
        let (room, work) = (&mut self.room, &mut self.work);
        let (region, warm) = match large_region::deepen(principal, depth, room, work, watch)? {
            Attempt::Solved(principal) => {
                self.keep(graph, left, label, principal);
                return Ok(());
            }
            Attempt::Open(region, warm) => (region, warm),
        };
        if !is_connected {
            self.waiting.insert((descending(bound), label));
            self.cut(graph, left, label);
            return Ok(());
        }
        let of = (graph, left, label);
        let (region, warm) = self.whole(of, (region, warm));
        let principal = solve(region, warm, EXACT, &mut self.work, watch)?;
        self.keep(graph, left, label, principal);
        Ok(())
    }

    /// Whether a solved region has a sigma in this range.
    fn is_one_between(&self, sigmas: &Range<f64>) -> bool {
        let next = self.solved.range((descending(sigmas.end), 0, 0)..).next();
        next.is_some_and(|next| f64::from_bits(next.0.0) > sigmas.start)
    }

    fn enqueue(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        authorities: &[u32],
        parent: Option<&InheritedVectors>,
        bound: f64,
    ) {
        let parts = self.labels.split(graph, left, authorities, &mut self.work);
        for (label, component) in parts {
            let parent = parent.map(|parent| parent.of(authorities, &component));
            self.wait(label, component, parent, bound, true);
        }
    }

    /// Queues a component of what is left (or perhaps several, not cut yet) to be solved.
    fn wait(
        &mut self,
        label: u32,
        mut component: Component,
        parent: Option<InheritedVectors>,
        bound: f64,
        is_connected: bool,
    ) {
        component.bound = component.bound.min(bound);
        self.waiting.insert((descending(component.bound), label));
        let held = RegionState {
            component,
            is_connected,
            parent,
            solved: None,
        };
        self.regions.insert(label, held);
    }

    fn solve(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        label: u32,
        watch: &dyn Watch,
    ) -> Result<(), Interrupted> {
        let Some(held) = self.regions.get_mut(&label) else {
            return Ok(());
        };
        if held.component.hubs.is_empty() {
            self.cut(graph, left, label);
            return Ok(());
        }
        let is_connected = held.is_connected;
        let of = (graph, left, &self.labels);
        let (region, warm) = held.begin(of, label, &mut self.position, &mut self.work);
        let (region, warm) = if large_region::is_worth_it(&region) {
            let (room, work) = (&mut self.room, &mut self.work);
            match large_region::attempt(region, warm, FIRST, room, work, watch)? {
                Attempt::Solved(principal) => {
                    self.keep(graph, left, label, principal);
                    return Ok(());
                }
                Attempt::Open(region, starts) => (region, starts),
            }
        } else {
            (region, warm)
        };
        if !is_connected {
            drop(region);
            self.cut(graph, left, label);
            return Ok(());
        }
        let (region, warm) = self.whole((graph, left, label), (region, warm));
        let principal = solve(region, warm, FINE, &mut self.work, watch)?;
        self.keep(graph, left, label, principal);
        Ok(())
    }

    /// A region without the classes that have gone from it, and its starts on what is left.
    fn whole(
        &mut self,
        (graph, left, label): (&HubGraph, &Remaining, u32),
        started: Started,
    ) -> Started {
        match self.regions.get(&label) {
            Some(held) => held.whole((graph, left), started, &mut self.position, &mut self.work),
            None => started,
        }
    }

    /// Cuts a waiting region into its connected parts.
    fn cut(&mut self, graph: &HubGraph, left: &Remaining, label: u32) {
        let Some(held) = self.regions.remove(&label) else {
            return;
        };
        self.labels.clear(&held.component);
        let Component {
            authorities, bound, ..
        } = held.component;
        self.waiting.remove(&(descending(bound), label));
        self.enqueue(graph, left, &authorities, None, bound);
    }

    fn keep(&mut self, graph: &HubGraph, left: &Remaining, label: u32, principal: Principal) {
        let best = principal.best_authority(graph, left);
        if principal.upper > principal.sigma * (1.0 + TIED) {
            self.doubtful.insert(label);
        }
        self.solved
            .insert((descending(principal.sigma), best, label));
        if let Some(held) = self.regions.get_mut(&label) {
            held.solved = Some((Arc::new(principal), best));
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
            if !self.solve_first(graph, left, watch)? {
                let first = self.waiting.first();
                return Ok(Some(
                    self.absent(first.map_or(NONE, |first| first.1 ^ KNOWN)),
                ));
            }
            let Some(label) = self.loose() else {
                break;
            };
            self.tighten(graph, left, label, TIGHT, watch)?;
        }
        let Some(label) = first(&self.solved) else {
            return Ok(None);
        };
        if let Some((step, (sigma, _))) = self.replays.next(label ^ KNOWN) {
            if self.replays.is_ahead(label ^ KNOWN) {
                return Ok(Some(self.absent(label ^ KNOWN)));
            }
            return Ok(Some(Next::Cached {
                component: label ^ KNOWN,
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
        let Some(label) = first(&self.solved) else {
            return Ok(None);
        };
        if self
            .solved_region(label)
            .is_none_or(|principal| principal.is_exact)
        {
            return Ok(None);
        }
        drop(found);
        self.tighten(graph, left, label, DEEP, watch)?;
        self.next(graph, left, watch)
    }

    fn cached_step_taken(&mut self, component: u32) {
        let Some((_, step)) = self.replays.next(component) else {
            return;
        };
        self.solved.remove(&entry(component, step));
        match self.replays.advance(component) {
            Some(Ok(step)) => {
                self.solved.insert(entry(component, step));
            }
            Some(Err((_, bound))) if self.replays.is_absent(component) => {
                replay::wait(&mut self.waiting, component, bound);
            }
            Some(Err((authorities, bound))) => {
                let (label, uncut) = self.labels.uncut(authorities, bound);
                self.wait(label, uncut, None, bound, false);
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
            let Some(mut held) = self.regions.remove(&label) else {
                continue;
            };
            self.doubtful.remove(&label);
            let mut bound = held.component.bound;
            let mut parent = held.parent;
            if let Some((principal, best)) = held.solved {
                self.solved
                    .remove(&(descending(principal.sigma), best, label));
                bound = bound.min(principal.upper);
                parent = Some(InheritedVectors::Whole(principal));
            } else {
                self.waiting.remove(&(descending(bound), label));
            }
            if BROAD.contains(&held.component.authorities.len()) {
                let before = held.component.authorities.clone();
                let work = &mut self.work;
                let near = self.labels.detach(graph, left, touched, label, work);
                self.labels.retain(&mut held.component, left, label);
                let of = |part: &Component| parent.as_ref().map(|p| p.of(&before, part));
                for (label, part) in near {
                    let parent = of(&part);
                    self.wait(label, part, parent, bound, true);
                }
                parent = of(&held.component);
                if BROAD.contains(&held.component.authorities.len()) {
                    self.wait(label, held.component, parent, bound, false);
                    continue;
                }
            }
            self.labels.clear(&held.component);
            self.enqueue(
                graph,
                left,
                &held.component.authorities,
                parent.as_ref(),
                bound,
            );
        }
    }

    fn work(&self) -> Work {
        self.work
    }

    fn is_order_sensitive(&self) -> bool {
        // Sigmas nearer than rounding are tied with the top, whichever of them is larger.
        self.top().is_some_and(|top| {
            self.is_one_between(&(top * (1.0 - 2.0 * TIED)..top * (1.0 - ROUNDING)))
        })
    }

    fn residual_bounds(&self) -> BTreeMap<u32, ResidualBound> {
        residual_bounds::collect(
            &self.regions,
            &self.components,
            &self.replays,
            &self.waiting,
        )
    }
}

#[cfg(test)]
#[path = "converged_tests.rs"]
mod tests;
