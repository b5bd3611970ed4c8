//! Bounds on what remains of each component of the whole graph at the end of a run.

use std::collections::{BTreeMap, BTreeSet};

use super::inherited_state::RegionState;
use super::principal::TIED;
use super::replay::{CACHED_FLAG, Descending, Replays, Step, VALUE_ERROR, absent, descending};
use crate::graph::NONE;

/// What remains of a component.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ResidualBound {
    /// Upper bound on the largest sigma.
    pub bound: f64,
    /// Whether the bound was computed, at least in part.
    pub computed: bool,
    /// The sigma and the best authority of the next step; `None` if they are unknown.
    pub next_step: Option<(f64, u32)>,
}

/// The regions of a component: the largest sigma that is proved tightly enough to decide ties, with
/// its best authority, and an upper bound on the others.
#[derive(Clone, Copy, Debug, Default)]
struct Regions {
    first: Option<Step>,
    others: f64,
}

impl Regions {
    fn add(&mut self, step: Option<Step>, bound: f64) {
        let Some(step) = step else {
            self.others = self.others.max(bound);
            return;
        };
        let second = match self.first {
            Some(first) if first.0 >= step.0 => step,
            first => {
                self.first = Some(step);
                first.unwrap_or_default()
            }
        };
        self.others = self.others.max(second.0);
    }

    fn next_step(&self) -> Option<Step> {
        self.first
            .filter(|first| self.others < first.0 * (1.0 - 2.0 * TIED))
    }
}

/// Returns the bounds of all components with remaining links; `components` has the component of
/// each authority class.
pub(super) fn collect(
    regions: &BTreeMap<u32, RegionState>,
    components: &[u32],
    replays: &Replays,
    waiting: &BTreeSet<(Descending, u32)>,
) -> BTreeMap<u32, ResidualBound> {
    let mut bounds: BTreeMap<u32, (ResidualBound, Regions)> = BTreeMap::new();
    for state in regions.values() {
        let first = state.component.authorities.first();
        let component = first.map_or(NONE, |&class| components[class as usize]);
        let solved = state.solved.as_ref();
        let upper = solved.map_or(f64::INFINITY, |(principal, _)| principal.upper);
        let bound = upper.min(state.component.bound);
        let is_proved = |sigma: f64| upper <= sigma * (1.0 + TIED);
        let step = solved
            .filter(|(principal, _)| is_proved(principal.sigma) && principal.doubt.is_none())
            .map(|(principal, best)| (principal.sigma, *best));
        let (residual, regions) = bounds.entry(component).or_default();
        residual.bound = residual.bound.max(bound);
        residual.computed |= solved.is_some() || replays.is_only_bounded(component);
        regions.add(step, bound);
        residual.next_step = regions.next_step();
    }
    let mut bounds: BTreeMap<u32, ResidualBound> = bounds
        .into_iter()
        .map(|(c, residual)| (c, residual.0))
        .collect();
    for (component, bound) in absent(waiting) {
        let residual = ResidualBound {
            bound,
            ..ResidualBound::default()
        };
        bounds.insert(component, residual);
    }
    for (component, step) in replays.next_steps() {
        let residual = ResidualBound {
            bound: step.0 * (1.0 + VALUE_ERROR),
            computed: true,
            next_step: Some(step),
        };
        bounds.insert(component, residual);
    }
    bounds
}

/// Returns the absent components of which more must be known: `first`, then by sigma or its bound
/// those with a next step but no core for it, and the others.
pub(super) fn needed(
    first: u32,
    solved: &BTreeSet<(Descending, u32, u32)>,
    replays: &Replays,
    waiting: &BTreeSet<(Descending, u32)>,
) -> Vec<u32> {
    let coreless = solved
        .iter()
        .map(|(sigma, _, label)| (*sigma, label ^ CACHED_FLAG));
    let coreless = coreless.filter(|(_, component)| replays.lacks_core(*component));
    let others = absent(waiting).map(|(component, bound)| (descending(bound), component));
    let all: BTreeSet<(Descending, u32)> = coreless.chain(others).collect();
    let later = all.into_iter().map(|(_, component)| component);
    let later = later.filter(|component| *component != first);
    std::iter::once(first).chain(later).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_next_step_is_known_if_it_is_clearly_first() {
        let mut regions = Regions::default();
        regions.add(Some((2.0, 7)), 2.0);
        assert_eq!(regions.next_step(), Some((2.0, 7)));
        regions.add(Some((3.0, 5)), 3.0);
        assert_eq!(regions.next_step(), Some((3.0, 5)));
        regions.add(Some((1.0, 1)), 1.0);
        regions.add(None, 2.5);
        assert_eq!(regions.next_step(), Some((3.0, 5)));
        let mut tied = regions;
        tied.add(Some((3.0, 2)), 3.0);
        assert_eq!(tied.next_step(), None);
        regions.add(None, 3.0);
        assert_eq!(regions.next_step(), None);
    }
}
