//! The densest place of what remains: its region, its scores, and how certain they are.

use crate::graph::{HubGraph, NONE, Remaining};

use super::region::Region;
use super::start_vectors::StartVectors;
use super::vectors::largest;

/// Scores within this relative distance of the best are tied (`src/guide/cores.md`, *Ties*).
pub const TIED: f64 = 1e-9;

/// Why a result is not certified.
#[derive(Clone, Copy, PartialEq, Debug, thiserror::Error)]
pub enum Doubt {
    /// No larger value was found, but it could not be proved that none exists.
    #[error(
        "cannot prove that the largest sigma was found (relative gap to the next one {gap:.1e})"
    )]
    Value {
        /// `1 - (sigma_2 / sigma_1)^2` as far as it was seen.
        gap: f64,
    },
    /// Sigma is proved, but the scores are not accurate enough to decide ties.
    #[error(
        "cannot compute the scores within {error:.1e}: two communities are almost equally dense (relative gap {gap:.1e})"
    )]
    Vector {
        /// `1 - (sigma_2 / sigma_1)^2`, from below.
        gap: f64,
        /// An upper bound on the relative error of the scores.
        error: f64,
    },
    /// Two scores, or two sigmas, are so close to the threshold of a tie that it cannot be decided.
    #[error(
        "cannot decide whether two candidates tie: they differ by the threshold, within the error of {error:.1e}"
    )]
    Comparison {
        /// An upper bound on the relative error of what was compared.
        error: f64,
    },
}

/// Where the next core is: a region with its scores, one for each page of a class.
#[derive(Clone, Debug)]
pub struct Principal {
    /// The region; scores are by position in it.
    pub region: Region,
    /// The largest singular value of the region's links between pages.
    pub sigma: f64,
    /// A proved upper bound on the largest singular value of the region; infinite where none was
    /// proved.
    pub upper: f64,
    /// `1 - (sigma_2 / sigma_1)^2` within the region, from below.
    pub gap: f64,
    /// Hub score of one page of each hub class; L2-normalised over pages.
    pub hub_scores: Vec<f64>,
    /// Authority score of one page of each authority class; L2-normalised over pages.
    pub authority_scores: Vec<f64>,
    /// Upper bounds on the absolute errors of the hub scores.
    pub hub_errors: Vec<f64>,
    /// Upper bounds on the absolute errors of the authority scores.
    pub authority_errors: Vec<f64>,
    /// Why this is not certified; `None` if it is.
    pub doubt: Option<Doubt>,
    /// Whether nothing more accurate can be computed.
    pub(crate) is_exact: bool,
    /// Whether [`large_region`](super::large_region) can do no better.
    pub(super) is_deep: bool,
    /// Further Ritz vectors: good starts once pages have left the region.
    pub(crate) kept: StartVectors,
}

impl Principal {
    /// Whether the scores are those of a singular pair, up to their errors: each is the sum of the
    /// scores that it is linked with, over sigma.
    pub(crate) const fn is_eigenpair(&self) -> bool {
        self.upper.is_finite()
    }

    /// The smallest page among the authorities tied for the best score.
    pub(super) fn best_authority(&self, graph: &HubGraph, left: &Remaining) -> u32 {
        let limit = largest(&self.authority_scores) * (1.0 - TIED);
        let classes = self.region.authorities().iter();
        let tied = classes
            .zip(&self.authority_scores)
            .filter(|(_, score)| **score >= limit);
        let pages = tied.filter_map(|(&class, _)| left.next_authority_page(graph, class, None));
        pages.min().unwrap_or(NONE)
    }

    /// Whether sigma is proved less exactly than ties need, and could be proved more exactly.
    pub(super) fn is_loose(&self) -> bool {
        let is_proved = self.upper <= self.sigma * (1.0 + TIED);
        !is_proved && !self.is_exact && self.doubt.is_none()
    }
}
