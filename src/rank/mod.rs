//! HITS on the host-pruned graph: pure numerics on classes of equal pages.
//!
//! A [`Ranker`] tells, for what remains of the graph, where the next core is to be taken and the
//! scores there: [`Classic`] as the paper does it, [`Converged`] the principal singular pair of
//! the region with the largest sigma. What a ranker had to read is counted in *link visits*:
//! entries of merged rows and citers read. [`pagerank()`] ranks the whole graph instead.

mod block;
mod certificate;
mod classic;
mod components;
mod converged;
mod dense;
mod lanczos;
mod large;
mod pagerank;
mod parent;
mod region;
mod replay;
mod rest;
mod rows;
mod solve;
#[cfg(test)]
mod tests;
mod vectors;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use classic::Classic;
pub use converged::Converged;
pub use pagerank::pagerank;
pub use region::Region;
pub use replay::KnownSteps;
pub use rest::Rest;

use crate::graph::{HubGraph, NONE, Remaining, Touched};
use crate::watch::{Interrupted, Watch};

/// Scores within this relative distance of the best are tied (DESIGN section 4, *Ties*).
pub const TIED: f64 = 1e-9;

/// Why a result is not certified.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum Doubt {
    /// Nothing larger was found, but that nothing larger exists could not be proved.
    #[error("no proof that the largest sigma was found (relative gap to the next one {gap:.1e})")]
    Value {
        /// `1 - (sigma_2 / sigma_1)^2` as far as it was seen.
        gap: f64,
    },
    /// Sigma is proved, but the scores are not accurate enough to tell ties.
    #[error("scores uncertain by {error:.1e}: two places nearly as dense (relative gap {gap:.1e})")]
    Vector {
        /// `1 - (sigma_2 / sigma_1)^2`, from below.
        gap: f64,
        /// Bound of the relative error of the scores.
        error: f64,
    },
    /// Two scores, or two sigmas, are as far apart as the bound of a tie.
    #[error("two candidates differ by just what bounds a tie, within the error of {error:.1e}")]
    Comparison {
        /// Bound of the relative error of the scores compared.
        error: f64,
    },
}

/// Where the next core is: a region with its scores, one for each page of a class.
#[derive(Clone, Debug)]
pub struct Principal {
    /// The region; scores are by its positions.
    pub region: Region,
    /// The largest singular value of the region's links between pages.
    pub sigma: f64,
    /// Proved bound of the largest singular value of the region (infinite where none was).
    pub upper: f64,
    /// `1 - (sigma_2 / sigma_1)^2` within the region, from below.
    pub gap: f64,
    /// Hub score of one page of each hub class; L2-normalised over pages.
    pub hub_scores: Vec<f64>,
    /// Authority score of one page of each authority class; L2-normalised over pages.
    pub authority_scores: Vec<f64>,
    /// Bounds of the errors of the hub scores, absolute.
    pub hub_errors: Vec<f64>,
    /// Bounds of the errors of the authority scores, absolute.
    pub authority_errors: Vec<f64>,
    /// Why this is not certified, if it is not.
    pub doubt: Option<Doubt>,
    /// Whether nothing more accurate can be computed.
    pub(crate) is_exact: bool,
    /// Whether [`large`] can do no better.
    is_deep: bool,
    /// Further Ritz vectors: good starts once pages have left the region.
    pub(crate) kept: Vec<Vec<f64>>,
}

impl Principal {
    /// Whether the scores are those of a singular pair, each the sum of what it is linked with over
    /// sigma, but for their errors.
    pub(crate) const fn is_eigenpair(&self) -> bool {
        self.upper.is_finite()
    }

    /// The smallest page among the authorities tied for the best score.
    fn best_authority(&self, graph: &HubGraph, left: &Remaining) -> u32 {
        let limit = vectors::largest(&self.authority_scores) * (1.0 - TIED);
        let classes = self.region.authorities().iter();
        let tied = classes
            .zip(&self.authority_scores)
            .filter(|(_, score)| **score >= limit);
        let pages = tied.filter_map(|(&class, _)| left.next_authority_page(graph, class, None));
        pages.min().unwrap_or(NONE)
    }

    /// Whether sigma is proved less exactly than ties are told, and might be.
    fn is_loose(&self) -> bool {
        let is_proved = self.upper <= self.sigma * (1.0 + TIED);
        !is_proved && !self.is_exact && self.doubt.is_none()
    }
}

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

    /// The same, more accurately: asked for when a decision could not be made about what was
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
