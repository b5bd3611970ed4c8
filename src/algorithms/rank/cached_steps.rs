//! Cached steps of approximate cores: by group of equal pages when stored, by class of a graph in a
//! run.

use std::cmp::Reverse;

use crate::graph::{Csr, HubGraph, NONE, Role, number};
use crate::watch::Interrupted;

use super::region::Region;

/// How a step was obtained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Cached, and within the bound of an earlier step.
    Carried,
    /// Cached, and proved by its cached weights.
    Proven,
    /// Cached, and proved by its cached weights after raising them where the graph changed.
    Raised,
    /// Cached, with a newly computed bound.
    Bounded,
    /// Computed.
    Computed,
}

impl Origin {
    /// Returns whether the step was proved from cached data alone.
    #[must_use]
    pub const fn is_cached(self) -> bool {
        matches!(self, Self::Carried | Self::Proven | Self::Raised)
    }
}

/// The cached steps of a run, in order. Their entries name groups of pages that were equal then.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CachedSteps {
    /// The pages of each group, by their numbers in the current graph; a page is in at most one
    /// group.
    pub groups: Csr,
    /// The steps.
    pub steps: Vec<CachedStep>,
}

/// A cached step: values of groups of authorities, each group at most once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CachedStep {
    /// Codes of nonzero scores.
    pub scores: Vec<(u32, u8)>,
    /// Codes of the weights above 1 that prove the bound. Empty if the proof of an earlier step was
    /// enough.
    pub weights: Vec<(u32, u16)>,
}

/// A step that was taken.
#[derive(Clone, PartialEq, Debug)]
pub struct ProvenStep {
    /// Upper bound on the largest sigma of the remaining graph.
    pub sigma_bound: f64,
    /// How the step was obtained.
    pub origin: Origin,
    /// What a later run can start from, by the authority classes of the graph.
    pub cached: CachedStep,
}

/// A step on the positions of a region, in class order.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// Positions with the largest score.
    pub(super) best: Vec<u32>,
    pub(super) scores: Vec<(u32, u8)>,
    pub(super) weights: Vec<(u32, u16)>,
    /// Whether any process has some of these.
    pub(super) has_weights: bool,
    /// `|A x|^2 / |x|^2` when it was last evaluated; infinite before.
    pub(super) lambda: f64,
}

/// Returns the nonzero codes of the authorities of a region, without ghosts, with their positions, in class order.
pub(super) fn nonzero_codes<T: Default + PartialEq>(
    region: &Region,
    code: impl Fn(usize) -> T,
) -> Vec<(u32, T)> {
    let own = region.own(Role::Authority);
    let positions = region.authorities_by_class().map(|(_, at)| at);
    let positions = positions.filter(|at| (*at as usize) < own);
    let codes = positions.map(|at| (at, code(at as usize)));
    codes.filter(|(_, code)| *code != T::default()).collect()
}

impl Step {
    /// Converts from groups: a class has the largest value of its pages.
    pub(super) fn from_cached(groups: &Groups, step: &CachedStep) -> Self {
        Self::new(
            groups.on_region(&step.scores),
            groups.on_region(&step.weights),
        )
    }

    pub(super) fn new(scores: Vec<(u32, u8)>, weights: Vec<(u32, u16)>) -> Self {
        let most = scores.iter().map(|(_, code)| *code).max();
        let best = scores.iter().filter(|(_, code)| Some(*code) == most);
        Self {
            best: best.map(|(at, _)| *at).collect(),
            has_weights: !weights.is_empty(),
            scores,
            weights,
            lambda: f64::INFINITY,
        }
    }

    /// Takes into account what other processes have of the step.
    pub(super) fn complete(&mut self, region: &Region) -> Result<(), Interrupted> {
        let most = self.scores.iter().map(|(_, code)| *code).max().unwrap_or(0);
        let own = [u64::from(most), u64::from(self.has_weights)];
        let [most_of_all, has_weights] = region.largest_counts(own)?;
        if most_of_all > u64::from(most) {
            self.best.clear();
        }
        self.has_weights = has_weights > 0;
        Ok(())
    }

    pub(super) fn by_class(&self, region: &Region) -> CachedStep {
        CachedStep {
            scores: by_class(region, &self.scores),
            weights: by_class(region, &self.weights),
        }
    }
}

/// Maps cached groups to the positions of a region.
pub(super) struct Groups {
    /// The current authority classes of the pages of each group, within the region.
    classes: Csr,
    /// The position of each class; [`NONE`] if it is not in the region.
    positions: Vec<u32>,
}

impl Groups {
    pub(super) fn new(graph: &HubGraph, region: &Region, groups: &Csr) -> Self {
        let mut positions = vec![NONE; graph.authority_members().len()];
        for (at, &class) in (0..).zip(region.authorities()) {
            positions[class as usize] = at;
        }
        let mut classes = Csr::with_capacity(groups.len(), groups.len());
        for group in 0..number(groups.len()) {
            let pages = groups.list(group).iter();
            let of_pages = pages.filter_map(|page| graph.authority_class(*page));
            let mut of_pages: Vec<u32> = of_pages
                .filter(|class| positions[*class as usize] != NONE)
                .collect();
            of_pages.sort_unstable();
            of_pages.dedup();
            classes.push(of_pages);
        }
        Self { classes, positions }
    }

    /// Returns the values of groups by position, in class order: a class has the largest value of
    /// its groups.
    fn on_region<T: Ord + Copy>(&self, entries: &[(u32, T)]) -> Vec<(u32, T)> {
        let mut found = Vec::with_capacity(entries.len());
        for &(group, code) in entries {
            found.extend(self.classes.list(group).iter().map(|class| (*class, code)));
        }
        // Classes are mostly in the order of the groups, which this sort exploits.
        found.sort_by_key(|&(class, code)| (class, Reverse(code)));
        found.dedup_by_key(|(class, _)| *class);
        for (place, _) in &mut found {
            *place = self.positions[*place as usize];
        }
        found
    }
}

fn by_class<T: Copy>(region: &Region, entries: &[(u32, T)]) -> Vec<(u32, T)> {
    let class = |at: u32| region.authorities()[at as usize];
    entries
        .iter()
        .map(|(at, code)| (class(*at), *code))
        .collect()
}
