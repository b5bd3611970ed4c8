//! State that a region inherits from the region that it was split from.

use std::sync::Arc;

use crate::graph::{HubGraph, Remaining};

use super::components::{Component, Labels};
use super::large_region;
use super::principal::Principal;
use super::region::Region;
use super::start_vectors::StartVectors;
use super::work::Work;

/// Maximum number of vectors that a small part inherits.
const MAX_VECTORS: usize = 6;

/// A region in the queue: waiting or solved.
#[derive(Clone, Debug)]
pub(super) struct RegionState {
    pub(super) component: Component,
    /// Whether the region is known to be connected.
    pub(super) is_connected: bool,
    /// Start vectors, if there are any.
    pub(super) inherited: Option<InheritedVectors>,
    /// The solution with its best authority; `None` until it is solved.
    pub(super) solved: Option<(Arc<Principal>, u32)>,
}

/// A region with start vectors on its positions.
pub(super) type WarmRegion = (Region, StartVectors);

impl RegionState {
    /// Returns the waiting region with this label, with start vectors. If most of the large region
    /// that it was split from remains, that is reused without its removed classes. Otherwise the
    /// region is gathered; `position` is the [scratch](Region::gather) for that.
    pub(super) fn prepare(
        &mut self,
        graph: &HubGraph,
        left: &Remaining,
        labels: &Labels,
        label: u32,
        position: &mut [u32],
        work: &mut Work,
    ) -> WarmRegion {
        let inherited = match self.inherited.take() {
            Some(InheritedVectors::Whole(principal))
                if large_region::is_large(&principal.region) =>
            {
                let principal = Arc::unwrap_or_clone(principal);
                let mut region = principal.region;
                let is_hub = |class: u32| labels.hubs[class as usize] == label;
                let is_authority = |class: u32| labels.authorities[class as usize] == label;
                region.restrict(left, is_hub, is_authority, work);
                return if region.should_rebuild() {
                    self.rebuilt(
                        graph,
                        left,
                        (region, principal.ritz_vectors),
                        position,
                        work,
                    )
                } else {
                    (region, principal.ritz_vectors)
                };
            }
            inherited => inherited,
        };
        let Component {
            hubs, authorities, ..
        } = &self.component;
        let region = Region::gather(graph, left, hubs, position, work);
        let warm = inherited.map_or_else(StartVectors::default, |inherited| {
            inherited.into_starts(authorities, &region)
        });
        (region, warm)
    }

    /// Returns the region without removed classes, and its start vectors there.
    pub(super) fn rebuilt(
        &self,
        graph: &HubGraph,
        left: &Remaining,
        warm_region: WarmRegion,
        position: &mut [u32],
        work: &mut Work,
    ) -> WarmRegion {
        let (region, warm) = warm_region;
        if region.is_intact() {
            return (region, warm);
        }
        let new = Region::gather(graph, left, &self.component.hubs, position, work);
        let warm = warm.carried(&region, &new);
        (new, warm)
    }
}

/// Vectors of the region that a region was split from.
#[derive(Clone, Debug)]
pub(super) enum InheritedVectors {
    /// All of them: most of a region usually remains as one large part.
    Whole(Arc<Principal>),
    /// Their entries on the authorities of this part, so that many small parts do not each keep the
    /// whole.
    Part(Vec<Vec<f64>>),
}

impl InheritedVectors {
    /// Returns what a part of the region inherits; `authorities` are those of
    /// [`InheritedVectors::Part`].
    pub(super) fn for_part(&self, authorities: &[u32], part: &Component) -> Self {
        match self {
            Self::Whole(principal) => {
                let region = &principal.region;
                if part.authorities.len() > region.authorities().len() / 2 {
                    Self::Whole(Arc::clone(principal))
                } else {
                    Self::Part(
                        principal
                            .ritz_vectors
                            .at(region, &part.authorities, MAX_VECTORS),
                    )
                }
            }
            Self::Part(vectors) => Self::Part(restrict(authorities, vectors, &part.authorities)),
        }
    }

    /// Returns start vectors for a region; `authorities` as in [`for_part`](Self::for_part).
    pub(super) fn into_starts(self, authorities: &[u32], region: &Region) -> StartVectors {
        match self {
            Self::Whole(principal) => principal.ritz_vectors.carried(&principal.region, region),
            Self::Part(vectors) => {
                StartVectors::Authorities(restrict(authorities, &vectors, region.authorities()))
            }
        }
    }
}

/// Maps vectors on some authorities (ascending) to others: zero for new ones.
fn restrict(old: &[u32], vectors: &[Vec<f64>], authorities: &[u32]) -> Vec<Vec<f64>> {
    let positions = authorities
        .iter()
        .map(|class| old.binary_search(class).ok());
    let positions: Vec<Option<usize>> = positions.collect();
    let restrict = |vector: &Vec<f64>| {
        let positions = positions.iter();
        positions
            .map(|at| at.map_or(0.0, |at| vector[at]))
            .collect()
    };
    vectors.iter().map(restrict).collect()
}
