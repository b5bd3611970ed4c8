//! An earlier selection on a site that has changed since.

use super::graph::SiteGraph;
use super::known::Trail;
use super::value::PUniq;

/// An earlier selection by weight on a site, with the same parameters bar the number of seats, where
/// covered pages were zeroed, in the numbers of today's graph. Pages that are not on the site any more
/// have the numbers after those.
#[derive(Clone, Debug)]
pub struct Former {
    /// The site as it was. A page that is new has no links there and is worth nothing.
    pub graph: SiteGraph,
    /// By page: the place, from 0, of the pick that was the first to cover it; [`NONE`](crate::graph::NONE) where none
    /// did.
    pub rounds: Vec<u32>,
    /// The weights that the picks were made by.
    pub weights: Vec<i64>,
    /// By page of the site as it was.
    pub trail: Trail,
    /// `P_uniq` at the time, and today's.
    pub p_uniq: (PUniq, PUniq),
}

impl Former {
    /// Whether the first pick covered all but some of the site, as many others would have.
    pub(super) fn covers_all_at_once(&self) -> bool {
        let by_first = self.rounds.iter().filter(|round| **round == 0).count();
        by_first > self.rounds.len() - self.rounds.len() / 32
    }
}
