//! What a region takes over from the one that it came from.

use std::sync::Arc;

use crate::graph::{HubGraph, Remaining};

use super::components::{Component, Labels};
use super::large_region;
use super::principal::Principal;
use super::region::Region;
use super::start_vectors::StartVectors;
use super::work::Work;

/// How many vectors of a region are kept for a small part of it.
const KEPT: usize = 6;

/// A region that waits to be solved, or is solved.
#[derive(Clone, Debug)]
pub(super) struct RegionState {
    pub(super) component: Component,
    /// Whether it is known to be connected.
    pub(super) is_connected: bool,
    /// The vectors to start from, where there are any.
    pub(super) parent: Option<InheritedVectors>,
    /// The solution with its best authority; `None` until it is solved.
    pub(super) solved: Option<(Arc<Principal>, u32)>,
}

/// A region with vectors on its positions that may be good starts.
pub(super) type Started = (Region, StartVectors);

impl RegionState {
    /// The region that waits under this label, with starts. Where most of the large region that it came
    /// from is left, that is taken on, and what has gone from it counts no longer. Else it is gathered;
    /// `position` is the [scratch](Region::gather) for that.
    pub(super) fn begin(
        &mut self,
        (graph, left, labels): (&HubGraph, &Remaining, &Labels),
        label: u32,
        position: &mut [u32],
        work: &mut Work,
    ) -> Started {
        let parent = match self.parent.take() {
            Some(InheritedVectors::Whole(whole)) if large_region::is_worth_it(&whole.region) => {
                let whole = Arc::unwrap_or_clone(whole);
                let mut region = whole.region;
                let is_hub = |class: u32| labels.hubs[class as usize] == label;
                let is_authority = |class: u32| labels.authorities[class as usize] == label;
                region.renew(left, is_hub, is_authority, work);
                let of = (graph, left);
                return if region.is_worn() {
                    self.whole(of, (region, whole.kept), position, work)
                } else {
                    (region, whole.kept)
                };
            }
            parent => parent,
        };
        let Component {
            hubs, authorities, ..
        } = &self.component;
        let region = Region::gather(graph, left, hubs, position, work);
        let warm = parent.map_or_else(StartVectors::default, |parent| {
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
        work: &mut Work,
    ) -> Started {
        if region.is_whole() {
            return (region, warm);
        }
        let new = Region::gather(graph, left, &self.component.hubs, position, work);
        let warm = warm.carried(&region, &new);
        (new, warm)
    }
}

/// Vectors of the region that a region came from.
#[derive(Clone, Debug)]
pub(super) enum InheritedVectors {
    /// All of them: what is left of a region is mostly one large part.
    Whole(Arc<Principal>),
    /// Their entries on the authorities of this part: many small parts must not keep the whole
    /// each.
    Part(Vec<Vec<f64>>),
}

impl InheritedVectors {
    /// What a part of a region starts from; `authorities` are those that [`InheritedVectors::Part`] covers.
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
    pub(super) fn starts(self, authorities: &[u32], region: &Region) -> StartVectors {
        match self {
            Self::Whole(principal) => principal.kept.carried(&principal.region, region),
            Self::Part(vectors) => {
                StartVectors::Authorities(restricted(authorities, &vectors, region.authorities()))
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
