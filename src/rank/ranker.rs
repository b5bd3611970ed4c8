//! What tells where the next core is.

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::graph::{HubGraph, Remaining, Touched};
use crate::watch::{Interrupted, Watch};

use super::principal::{Doubt, Principal};
use super::rest::Rest;

/// Where the next core comes from.
#[derive(Clone, Debug)]
pub enum Next {
    /// This was computed: the core has to be extracted.
    Solved(Arc<Principal>),
    /// This step of a component of the whole graph is known from an earlier run.
    Known {
        /// The component, as [`WeakComponents`](crate::graph::WeakComponents) number them.
        component: u32,
        /// The step, from 0.
        step: usize,
        /// Why it is not certain that it comes next, if it is not.
        doubt: Option<Doubt>,
    },
    /// Components that are not in the graph: the first of them comes next or could, the others
    /// after it.
    Absent(Vec<u32>),
}

/// Tells where the next core is. Results do not depend on the number of threads.
pub trait Ranker {
    /// Where to take the next core from; `None` when no inter-site link is left.
    fn next(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted>;

    /// What [`next`](Self::next) found, more accurately: asked for when a decision could not be made about what was
    /// `found`, and that is not exact; nobody else may hold it, so that its memory can be used.
    /// `None` if it was not this ranker that found it last.
    fn refine(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        found: Next,
        watch: &dyn Watch,
    ) -> Result<Option<Next>, Interrupted>;

    /// Pages of these classes have left the graph, and not with a known step.
    fn removed(&mut self, graph: &HubGraph, left: &Remaining, touched: &Touched);

    /// The known step of this component that [`next`](Self::next) gave was taken.
    fn replayed(&mut self, _component: u32) {}

    /// Entries of rows and citers read so far.
    fn link_visits(&self) -> u64;

    /// Whether what [`next`](Self::next) gave could have come in another place among the steps of
    /// its own component, had others been different: then nothing of the component from there on
    /// may be reused.
    fn is_delicate(&self) -> bool {
        false
    }

    /// What is left of each component of the whole graph of which anything is.
    fn rests(&self) -> BTreeMap<u32, Rest> {
        BTreeMap::new()
    }
}
