//! What is kept of steps within a bound, by groups of equal pages, and the same by the classes of a graph.

use std::cmp::Reverse;

use crate::graph::{Csr, HubGraph, NONE, number};

use super::quantize;
use super::region::Region;

/// How a step came about.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Origin {
    /// Kept, and an earlier step's bound was enough.
    Carried,
    /// Kept, and what was kept proves it.
    Proven,
    /// Kept, and what was kept proves it once raised where the graph has changed.
    Raised,
    /// Kept, by a bound that had to be computed.
    Bounded,
    /// Computed.
    Computed,
}

impl Origin {
    /// Whether nothing had to be computed beside what was kept.
    #[must_use]
    pub const fn is_cached(self) -> bool {
        matches!(self, Self::Carried | Self::Proven | Self::Raised)
    }
}

/// What is kept of a run: its steps in order, whose entries name groups of pages that were equal then.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CachedSteps {
    /// The pages of each group, by their numbers in the present graph; each page is in one at most.
    pub groups: Csr,
    /// The steps.
    pub steps: Vec<CachedStep>,
}

/// What is kept of a step: of groups of authorities, each once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct CachedStep {
    /// The scores on a grid, where they are not 0.
    pub scores: Vec<(u32, u8)>,
    /// The weights that prove the bound on a grid, where they are above 1. Empty where an earlier step
    /// proved it.
    pub weights: Vec<(u32, u16)>,
}

/// A step that was taken.
#[derive(Clone, PartialEq, Debug)]
pub struct ProvenStep {
    /// An upper bound on the largest sigma of what was left.
    pub sigma_bound: f64,
    /// How the step came about.
    pub origin: Origin,
    /// What a later run can begin with, by the authority classes of the graph.
    pub cached: CachedStep,
}

/// A step on the positions of a region, in the order of their classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// Where the scores are largest.
    pub(super) best: Vec<u32>,
    pub(super) scores: Vec<(u32, u8)>,
    pub(super) weights: Vec<(u32, u16)>,
    /// What its place amounted to, `|A x|^2 / |x|^2`, when it was last looked at; infinite before.
    pub(super) lambda: f64,
}

/// Weights above 1, with their positions.
pub(super) fn packed(region: &Region, y: &[f64]) -> Vec<(u32, u16)> {
    let code = |at: u32| quantize::weight_code(y[at as usize]).unwrap_or(0);
    let codes = region.authorities_by_class().map(|(_, at)| (at, code(at)));
    codes.filter(|(_, code)| *code > 0).collect()
}

/// Scores above 0, with their positions.
pub(super) fn packed_scores(region: &Region, x: &[f64]) -> Vec<(u32, u8)> {
    let code = |at: u32| quantize::score_code(x[at as usize]);
    let codes = region.authorities_by_class().map(|(_, at)| (at, code(at)));
    codes.filter(|(_, code)| *code > 0).collect()
}

impl Step {
    /// What was kept by groups: a class has the largest of what its pages had.
    pub(super) fn of(groups: &Groups, step: &CachedStep) -> Self {
        Self::new(groups.places(&step.scores), groups.places(&step.weights))
    }

    pub(super) fn new(scores: Vec<(u32, u8)>, weights: Vec<(u32, u16)>) -> Self {
        let most = scores.iter().map(|(_, code)| *code).max();
        let best = scores.iter().filter(|(_, code)| Some(*code) == most);
        Self {
            best: best.map(|(at, _)| *at).collect(),
            scores,
            weights,
            lambda: f64::INFINITY,
        }
    }

    pub(super) fn by_class(&self, region: &Region) -> CachedStep {
        CachedStep {
            scores: by_class(region, &self.scores),
            weights: by_class(region, &self.weights),
        }
    }
}

/// Where what groups have goes.
pub(super) struct Groups {
    /// The authority classes of the region that the pages of each group are in now.
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

    /// What groups have, by position in the order of classes: a class has the most of its groups.
    fn places<T: Ord + Copy>(&self, of: &[(u32, T)]) -> Vec<(u32, T)> {
        let mut found = Vec::with_capacity(of.len());
        for &(group, code) in of {
            found.extend(self.classes.list(group).iter().map(|class| (*class, code)));
        }
        // Classes mostly follow each other as groups did, which this sort makes use of.
        found.sort_by_key(|&(class, code)| (class, Reverse(code)));
        found.dedup_by_key(|(class, _)| *class);
        for (place, _) in &mut found {
            *place = self.positions[*place as usize];
        }
        found
    }
}

fn by_class<T: Copy>(region: &Region, of: &[(u32, T)]) -> Vec<(u32, T)> {
    let class = |at: u32| region.authorities()[at as usize];
    of.iter().map(|(at, code)| (class(*at), *code)).collect()
}
