//! What is kept of steps within a bound, by page, and the same by the classes of a graph.

use crate::graph::HubGraph;

use super::coarse;
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
    pub const fn is_kept(self) -> bool {
        matches!(self, Self::Carried | Self::Proven | Self::Raised)
    }
}

/// What is kept of a step: of authorities, by page, each once.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct KeptStep {
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
    /// What a later run can begin with.
    pub kept: KeptStep,
}

/// A step by classes.
#[derive(Clone, Debug, Default)]
pub(super) struct Step {
    /// Where the scores are largest.
    pub(super) best: Vec<u32>,
    pub(super) scores: Vec<(u32, u8)>,
    pub(super) weights: Vec<(u32, u16)>,
}

/// Weights above 1, by position.
pub(super) fn packed(y: &[f64]) -> Vec<(u32, u16)> {
    let codes = (0..).zip(y);
    let codes = codes.map(|(at, y)| (at, coarse::weight_code(*y).unwrap_or(0)));
    codes.filter(|(_, code)| *code > 0).collect()
}

/// Scores above 0, by position.
pub(super) fn packed_scores(x: &[f64]) -> Vec<(u32, u8)> {
    let codes = (0..).zip(x).map(|(at, x)| (at, coarse::score_code(*x)));
    codes.filter(|(_, code)| *code > 0).collect()
}

impl Step {
    /// The step on the classes of a graph: a class has the largest of what its pages had.
    pub(super) fn of(graph: &HubGraph, region: &Region, step: &KeptStep) -> Self {
        Self::new(
            by_class(graph, region, &step.scores),
            by_class(graph, region, &step.weights),
        )
    }

    pub(super) fn new(scores: Vec<(u32, u8)>, weights: Vec<(u32, u16)>) -> Self {
        let most = scores.iter().map(|(_, code)| *code).max();
        let best = scores.iter().filter(|(_, code)| Some(*code) == most);
        Self {
            best: best.map(|(at, _)| *at).collect(),
            scores,
            weights,
        }
    }

    pub(super) fn by_page(&self, graph: &HubGraph, region: &Region) -> KeptStep {
        KeptStep {
            scores: by_page(graph, region, &self.scores),
            weights: by_page(graph, region, &self.weights),
        }
    }
}

/// What pages have, by the position of their class, ascending: a class has the most of its pages.
fn by_class<T: Ord + Copy + Default>(
    graph: &HubGraph,
    region: &Region,
    of: &[(u32, T)],
) -> Vec<(u32, T)> {
    let mut codes = vec![T::default(); graph.authority_members().len()];
    for &(page, code) in of {
        if let Some(class) = graph.authority_class(page) {
            let most = &mut codes[class as usize];
            *most = code.max(*most);
        }
    }
    let codes = (0..)
        .zip(region.authorities())
        .map(|(at, class)| (at, codes[*class as usize]));
    codes.filter(|(_, code)| *code > T::default()).collect()
}

fn by_page<T: Copy>(graph: &HubGraph, region: &Region, of: &[(u32, T)]) -> Vec<(u32, T)> {
    let members = |at: u32| {
        graph
            .authority_members()
            .list(region.authorities()[at as usize])
    };
    let count = of.iter().map(|(at, _)| members(*at).len()).sum();
    let mut pages = Vec::with_capacity(count);
    for &(at, code) in of {
        pages.extend(members(at).iter().map(|&page| (page, code)));
    }
    pages
}
