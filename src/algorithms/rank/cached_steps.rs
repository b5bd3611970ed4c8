//! Cached steps of approximate cores by region: on groups of equal pages when stored, on the classes of a region in a run.

use std::cmp::Reverse;

use crate::graph::{Csr, HubGraph, Role, number};
use crate::watch::Interrupted;

use super::region::Region;
use super::regions::CachedRegion;

/// How a step was obtained.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Cached, and within the bound of an earlier step.
    Carried,
    /// Cached, and proved by its cached weights, or of a region that has not changed.
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
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CachedSteps {
    /// The pages of each group, by their numbers in the current graph; a page is in at most one
    /// group.
    pub groups: Csr,
    /// The regions that had steps.
    pub regions: Vec<CachedRegion>,
    /// The steps.
    pub steps: Vec<CachedStep>,
}

/// A cached step: values of groups of authorities, each group at most once.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CachedStep {
    /// The region of the step, by its place among those with steps.
    pub region: u32,
    /// The upper bound on the largest eigenvalue of the remaining graph of the region.
    pub bound: f64,
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

/// The cached steps of a region, on its own local classes.
#[derive(Clone, Debug, Default)]
pub(super) struct RegionSteps {
    /// The entries of each step are by class, ascending.
    pub(super) steps: Vec<CachedStep>,
    /// Whether the region has not changed: its steps and their bounds are those of a run without a cache.
    pub(super) is_unchanged: bool,
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
    /// Converts from local classes of a graph, given the place of each of them in the region.
    pub(super) fn from_cached(step: CachedStep, places: impl Fn(u32) -> Option<u32>) -> Self {
        let mut scores = step.scores;
        let mut weights = step.weights;
        scores.retain_mut(|of| places(of.0).map(|at| of.0 = at).is_some());
        weights.retain_mut(|of| places(of.0).map(|at| of.0 = at).is_some());
        Self::new(scores, weights)
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
}

/// The present classes of cached groups.
pub(super) struct Groups {
    /// The local authority classes of the pages of each group.
    classes: Csr,
}

impl Groups {
    pub(super) fn new(graph: &HubGraph, groups: &Csr) -> Self {
        let mut classes = Csr::with_capacity(groups.len(), groups.len());
        for group in 0..number(groups.len()) {
            let pages = groups.list(group).iter();
            let of_pages = pages.filter_map(|page| graph.authority_class(*page));
            let mut of_pages: Vec<u32> = of_pages.collect();
            of_pages.sort_unstable();
            of_pages.dedup();
            classes.push(of_pages);
        }
        Self { classes }
    }

    /// Returns the values of groups by class, ascending: a class has the largest value of its groups.
    pub(super) fn by_class<T: Ord + Copy>(&self, entries: &[(u32, T)]) -> Vec<(u32, T)> {
        let mut found = Vec::with_capacity(entries.len());
        for &(group, code) in entries {
            found.extend(self.classes.list(group).iter().map(|class| (*class, code)));
        }
        // Classes are mostly in the order of the groups, which this sort exploits.
        found.sort_by_key(|&(class, code)| (class, Reverse(code)));
        found.dedup_by_key(|(class, _)| *class);
        found
    }
}
