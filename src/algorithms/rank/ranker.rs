//! The trait that says where the next core is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::{HubGraph, Remaining, Touched};
use crate::watch::{Interrupted, Watch};

use super::cached_steps::ProvenStep;
use super::principal::{Doubt, Principal};
use super::residual_bounds::ResidualBound;
use super::work::Work;

/// Where the next core comes from.
#[derive(Clone, Debug)]
pub enum Next {
    /// A principal pair that was computed: the core has to be extracted.
    Solved(Arc<Principal>),
    /// A step of a component of the whole graph that is known from an earlier run.
    Cached {
        /// The component, as numbered in [`WeakComponents`](crate::graph::WeakComponents).
        component: u32,
        /// The step, from 0.
        step: usize,
        /// Why it is not certain that it comes next; `None` if it is.
        doubt: Option<Doubt>,
    },
    /// Components that are not in the graph: the first of them comes next, or could, and the others
    /// may come after it.
    Absent(Vec<u32>),
}

/// Says where the next core is. Results do not depend on the number of threads.
pub trait Ranker {
    /// Where to take the next core from; `None` when no inter-site link is left.
    fn next(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted>;

    /// A more accurate version of what [`next`](Self::next) found, for when a decision could not be
    /// made about `found`, which is not exact. Nobody else may hold `found`, so that its memory can
    /// be reused. `None` if it was not this ranker that found it last.
    fn refine(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        found: Next,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted>;

    /// To be called when pages of these classes have left the graph, other than with a known step.
    fn pages_removed(&mut self, graph: &HubGraph, left: &Remaining, touched: &Touched);

    /// To be called when the known step that [`next`](Self::next) gave for this component was
    /// taken.
    fn cached_step_taken(&mut self, _component: u32) {}

    /// What was read so far.
    fn work(&self) -> Work;

    /// Whether what [`next`](Self::next) gave could have come at another place among the steps of
    /// its own component, had other components been different. Then nothing of the component may be
    /// reused from there on.
    fn is_order_sensitive(&self) -> bool {
        false
    }

    /// The steps that were taken, where what is proven of them is kept; else none.
    fn take_proven_steps(&mut self) -> Vec<ProvenStep> {
        Vec::new()
    }

    /// What is left of each component of the whole graph, for those of which anything is left.
    fn residual_bounds(&self) -> BTreeMap<u32, ResidualBound> {
        BTreeMap::new()
    }
}
