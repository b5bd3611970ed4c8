//! The principal pair of a region: its scores, and how certain they are.

use crate::graph::{HubGraph, NONE, Remaining};

use super::region::Region;
use super::start_vectors::StartVectors;
use super::vectors::largest;

/// Scores within this relative distance of the best are tied (`src/guide/cores.md`, *Ties*).
pub const TIED: f64 = 1e-9;

/// Reason why a result is not certified.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum Doubt {
    /// No larger value was found, but it was not proved that none exists.
    #[error(
        "cannot prove that the largest sigma was found (relative gap to the next one {gap:.1e})"
    )]
    Value {
        /// `1 - (sigma_2 / sigma_1)^2`, as observed.
        gap: f64,
    },
    /// Sigma is proved, but the scores are not accurate enough to decide ties.
    #[error(
        "cannot compute the scores within {error:.1e}: two communities are almost equally dense (relative gap {gap:.1e})"
    )]
    Vector {
        /// Lower bound on `1 - (sigma_2 / sigma_1)^2`.
        gap: f64,
        /// Upper bound on the relative error of the scores.
        error: f64,
    },
    /// Two scores, or two sigmas, are too close to the threshold of a tie to decide it.
    #[error(
        "cannot decide whether two candidates tie: they differ by the threshold, within the error of {error:.1e}"
    )]
    Comparison {
        /// Upper bound on the relative error of the compared numbers.
        error: f64,
    },
}

/// The principal singular pair of a region, with a score for one page of each class.
#[derive(Clone, Debug)]
pub struct Principal {
    /// The region; scores are by position in it.
    pub region: Region,
    /// The largest singular value of the region's links between pages.
    pub sigma: f64,
    /// Proved upper bound on the largest singular value of the region; infinite if none was proved.
    pub upper: f64,
    /// Lower bound on `1 - (sigma_2 / sigma_1)^2` within the region.
    pub gap: f64,
    /// Hub score of one page of each hub class; L2-normalised over pages.
    pub hub_scores: Vec<f64>,
    /// Authority score of one page of each authority class; L2-normalised over pages.
    pub authority_scores: Vec<f64>,
    /// Upper bounds on the absolute errors of the hub scores.
    pub hub_errors: Vec<f64>,
    /// Upper bounds on the absolute errors of the authority scores.
    pub authority_errors: Vec<f64>,
    /// Why the pair is not certified; `None` if it is.
    pub doubt: Option<Doubt>,
    /// Whether no more accurate result can be computed.
    pub(crate) is_exact: bool,
    /// Whether [`large_region`](super::large_region) cannot improve the pair.
    pub(super) is_refined: bool,
    /// Further Ritz vectors: start vectors once pages were removed.
    pub(crate) ritz_vectors: StartVectors,
}

impl Principal {
    /// Returns whether each score is, up to its error, the sum of the linked scores over sigma.
    pub(crate) const fn is_eigenpair(&self) -> bool {
        self.upper.is_finite()
    }

    /// Returns the smallest page among the authorities tied for the best score.
    pub(super) fn best_authority(&self, graph: &HubGraph, left: &Remaining) -> u32 {
        let limit = largest(&self.authority_scores) * (1.0 - TIED);
        let classes = self.region.authorities().iter();
        let tied = classes
            .zip(&self.authority_scores)
            .filter(|(_, score)| **score >= limit);
        let pages = tied.filter_map(|(&class, _)| left.next_authority_page(graph, class, None));
        pages.min().unwrap_or(NONE)
    }

    /// Returns whether the bound on sigma is too loose to decide ties and could be tightened.
    pub(super) fn is_loosely_bounded(&self) -> bool {
        let is_tight = self.upper <= self.sigma * (1.0 + TIED);
        !is_tight && !self.is_exact && self.doubt.is_none()
    }
}
