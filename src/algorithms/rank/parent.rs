//! What a region takes over from the one that it came from.

use std::sync::Arc;

use crate::graph::{HubGraph, Remaining};

use super::components::{Component, Labels};
use super::large;
use super::principal::Principal;
use super::reads::Reads;
use super::region::Region;
use super::starts::Starts;

/// How many vectors of a region are kept for a small part of it.
const KEPT: usize = 6;

/// A region that waits to be solved, or is solved.
#[derive(Clone, Debug)]
pub(super) struct Held {
    pub(super) component: Component,
    /// Whether it is known to be connected.
    pub(super) is_connected: bool,
    /// The vectors to start from, where there are any.
    pub(super) parent: Option<Parent>,
    /// The solution with its best authority; `None` until it is solved.
    pub(super) solved: Option<(Arc<Principal>, u32)>,
}

/// A region with vectors on its positions that may be good starts.
pub(super) type Started = (Region, Starts);

impl Held {
    /// The region that waits under this label, with starts. Where most of the large region that it came
    /// from is left, that is taken on, and what has gone from it counts no longer. Else it is gathered;
    /// `position` is the [scratch](Region::gather) for that.
    pub(super) fn begin(
        &mut self,
        (graph, left, labels): (&HubGraph, &Remaining, &Labels),
        label: u32,
        position: &mut [u32],
        visits: &mut Reads,
    ) -> Started {
        let parent = match self.parent.take() {
            Some(Parent::Whole(whole)) if large::is_worth_it(&whole.region) => {
                let whole = Arc::unwrap_or_clone(whole);
                let mut region = whole.region;
                let is_hub = |class: u32| labels.hubs[class as usize] == label;
                let is_authority = |class: u32| labels.authorities[class as usize] == label;
                region.renew(left, is_hub, is_authority, visits);
                let of = (graph, left);
                return if region.is_worn() {
                    self.whole(of, (region, whole.kept), position, visits)
                } else {
                    (region, whole.kept)
                };
            }
            parent => parent,
        };
        let Component {
            hubs, authorities, ..
        } = &self.component;
        let region = Region::gather(graph, left, hubs, position, visits);
        let warm = parent.map_or_else(Starts::default, |parent| {
            parent.starts(authorities, &region)
        });
        (region, warm)
    }

    /// A region without the classes that have gone from it, and its starts on what is left.
    pub(super) fn whole(
        &self,
        (graph, left): (&HubGraph, &Remaining),
        (region, warm): Started,
        position: &mut [u32],
        visits: &mut Reads,
    ) -> Started {
        if region.is_whole() {
            return (region, warm);
        }
        let new = Region::gather(graph, left, &self.component.hubs, position, visits);
        let warm = warm.carried(&region, &new);
        (new, warm)
    }
}

/// Vectors of the region that a region came from.
#[derive(Clone, Debug)]
pub(super) enum Parent {
    /// All of them: what is left of a region is mostly one large part.
    Whole(Arc<Principal>),
    /// Their entries on the authorities of this part: many small parts must not keep the whole
    /// each.
    Part(Vec<Vec<f64>>),
}

impl Parent {
    /// What a part of a region starts from; `authorities` are those that [`Parent::Part`] covers.
    pub(super) fn of(&self, authorities: &[u32], part: &Component) -> Self {
        match self {
            Self::Whole(principal) => {
                let region = &principal.region;
                if part.authorities.len() > region.authorities().len() / 2 {
                    Self::Whole(Arc::clone(principal))
                } else {
                    Self::Part(principal.kept.at(region, &part.authorities, KEPT))
                }
            }
            Self::Part(vectors) => Self::Part(restricted(authorities, vectors, &part.authorities)),
        }
    }

    /// Starts for a region, from what was kept of its parent; `authorities` as above.
    pub(super) fn starts(self, authorities: &[u32], region: &Region) -> Starts {
        match self {
            Self::Whole(principal) => principal.kept.carried(&principal.region, region),
            Self::Part(vectors) => {
                Starts::Authorities(restricted(authorities, &vectors, region.authorities()))
            }
        }
    }
}

/// Vectors on some authorities (ascending) carried over to others: zero where those are new.
fn restricted(old: &[u32], vectors: &[Vec<f64>], authorities: &[u32]) -> Vec<Vec<f64>> {
    let places = authorities
        .iter()
        .map(|class| old.binary_search(class).ok());
    let places: Vec<Option<usize>> = places.collect();
    let restrict = |vector: &Vec<f64>| {
        let places = places.iter();
        places.map(|at| at.map_or(0.0, |at| vector[at])).collect()
    };
    vectors.iter().map(restrict).collect()
}
