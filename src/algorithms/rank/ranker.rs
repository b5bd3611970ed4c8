//! The trait of procedures that find the next core.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::{HubGraph, HubShare, Remaining, Touched};
use crate::watch::{Interrupted, Watch};

use super::cached_steps::ProvenStep;
use super::principal::{Doubt, Principal};
use super::regions::CachedRegion;
use super::residual_bounds::ResidualBound;
use super::work::Work;

/// How close a pair of hub scores h and authority scores a is to a singular pair, after a fixed number of iterations.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Convergence {
    /// `||A^T h - sigma a|| / sigma`, with h and a of length 1, which is `||A^T A a - sigma^2 a|| / sigma^2`; 0 for a singular
    /// pair.
    pub residual: f64,
    /// The share of sigma that the last iteration added: 1 if there was only one.
    pub sigma_change: f64,
}

/// Source of the next core.
#[derive(Clone, Debug)]
pub enum Next {
    /// A computed principal pair: the core has to be extracted.
    Solved(Arc<Principal>),
    /// A cached step of a component of the whole graph.
    Cached {
        /// The component, as numbered in [`WeakComponents`](crate::graph::WeakComponents).
        component: u32,
        /// The step, from 0.
        step: usize,
        /// Why it is not certain that this step comes next; `None` if it is.
        doubt: Option<Doubt>,
    },
}

/// A part of the graph: all classes of a region, in a numbering of their own.
#[derive(Debug)]
pub struct GraphPart {
    /// The share of the part that this process has. Pages have their numbers in the whole graph.
    pub(crate) share: Arc<HubShare>,
    /// The pages that are left of it.
    pub(crate) left: Remaining,
    /// The local classes of the whole graph, ascending, by their numbers in the part: hubs, authorities.
    pub(crate) classes: [Vec<u32>; 2],
}

/// Finds the place of the next core. Results do not depend on the number of threads.
pub trait Ranker {
    /// Returns the source of the next core; `None` if no inter-site link is left.
    fn next(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted>;

    /// Returns a more accurate version of `found`, the last result of [`next`](Self::next), if a
    /// decision needs one. The caller must hold the only reference to `found`, so that its memory
    /// can be reused. `None` if `found` is exact or is not the last result.
    fn refine(
        &mut self,
        _graph: &HubGraph,
        _left: &Remaining,
        _found: Next,
        _watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted> {
        Ok(None)
    }

    /// Returns the part of the graph whose classes the last result of [`next`](Self::next) names; `None` if it names those of
    /// the whole graph.
    fn part(&self) -> Option<&GraphPart> {
        None
    }

    /// Returns how far the last result of [`next`](Self::next) has converged; `None` if that is proved.
    fn convergence(&self) -> Option<Convergence> {
        None
    }

    /// Must be called after the pages of a core are removed, and before [`pages_removed`](Self::pages_removed).
    /// All processes call it at the same time.
    fn core_taken(&mut self, _pages: &[u32]) -> Result<(), Interrupted> {
        Ok(())
    }

    /// Must be called after pages of these classes were removed, except for a cached step.
    fn pages_removed(&mut self, _graph: &HubGraph, _left: &Remaining, _touched: &Touched) {}

    /// Must be called after the cached step of this component, as returned by [`next`](Self::next),
    /// was taken.
    fn cached_step_taken(&mut self, _component: u32) {}

    /// Returns the work so far.
    fn work(&self) -> Work;

    /// Returns whether the last result of [`next`](Self::next) could take another place among the
    /// steps of its own component if other components were different. From there on nothing of the
    /// component may be reused.
    fn is_order_sensitive(&self) -> bool {
        false
    }

    /// Takes the steps so far, and their regions, from rankers that cache proofs; others return none. All processes call it
    /// at the same time.
    fn take_proven_steps(&mut self) -> Result<(Vec<ProvenStep>, Vec<CachedRegion>), Interrupted> {
        Ok(Default::default())
    }

    /// Returns for each component of the whole graph that has remaining links a bound on what is
    /// left of it.
    fn residual_bounds(&self) -> BTreeMap<u32, ResidualBound> {
        BTreeMap::new()
    }
}
