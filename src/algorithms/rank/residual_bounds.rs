//! Bounds on what remains of each component of the whole graph at the end of a run.

use std::collections::BTreeMap;

use super::inherited_state::RegionState;
use super::replay::{Replays, VALUE_ERROR};
use crate::graph::NONE;

/// What remains of a component.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ResidualBound {
    /// Upper bound on the largest sigma.
    pub bound: f64,
    /// Whether the bound was computed, at least in part.
    pub computed: bool,
}

/// Returns the bounds of all components with remaining links; `components` has the component of
/// each authority class.
pub(super) fn collect(
    regions: &BTreeMap<u32, RegionState>,
    components: &[u32],
    replays: &Replays,
) -> BTreeMap<u32, ResidualBound> {
    let mut bounds: BTreeMap<u32, ResidualBound> = BTreeMap::new();
    for state in regions.values() {
        let first = state.component.authorities.first();
        let component = first.map_or(NONE, |&class| components[class as usize]);
        let solved = state.solved.as_ref();
        let upper = solved.map_or(f64::INFINITY, |(principal, _)| principal.upper);
        let residual = bounds.entry(component).or_default();
        residual.bound = residual.bound.max(upper.min(state.component.bound));
        residual.computed |= solved.is_some() || replays.is_only_bounded(component);
    }
    for (component, step) in replays.next_steps() {
        let residual = ResidualBound {
            bound: step.0 * (1.0 + VALUE_ERROR),
            computed: true,
        };
        bounds.insert(component, residual);
    }
    bounds
}
