//! What is left of each component of the whole graph when a run ends.

use std::collections::{BTreeMap, BTreeSet};

use super::inherited_state::RegionState;
use super::principal::TIED;
use super::replay::{Descending, KNOWN, PROVED, Replays, Step, absent, descending};
use crate::graph::NONE;

/// What is left of a component.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct ResidualBound {
    /// An upper bound on the largest sigma there.
    pub bound: f64,
    /// Whether any of it was computed.
    pub computed: bool,
    /// The sigma and the best authority of the next step; `None` where they are not known.
    pub next_step: Option<(f64, u32)>,
}

/// The regions of a component: the largest sigma that is proved well enough to tell ties, with its
/// best authority, and an upper bound on the others.
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

    fn ahead(&self) -> Option<Step> {
        self.first
            .filter(|first| self.others < first.0 * (1.0 - 2.0 * TIED))
    }
}

/// What is left of each component of which anything is left; `components` has the component of each
/// authority class.
pub(super) fn collect(
    regions: &BTreeMap<u32, RegionState>,
    components: &[u32],
    replays: &Replays,
    waiting: &BTreeSet<(Descending, u32)>,
) -> BTreeMap<u32, ResidualBound> {
    let mut rests: BTreeMap<u32, (ResidualBound, Regions)> = BTreeMap::new();
    for held in regions.values() {
        let first = held.component.authorities.first();
        let component = first.map_or(NONE, |&class| components[class as usize]);
        let solved = held.solved.as_ref();
        let upper = solved.map_or(f64::INFINITY, |(principal, _)| principal.upper);
        let bound = upper.min(held.component.bound);
        let is_proved = |sigma: f64| upper <= sigma * (1.0 + TIED);
        let step = solved
            .filter(|(principal, _)| is_proved(principal.sigma) && principal.doubt.is_none())
            .map(|(principal, best)| (principal.sigma, *best));
        let (rest, regions) = rests.entry(component).or_default();
        rest.bound = rest.bound.max(bound);
        rest.computed |= solved.is_some() || replays.is_bounded(component);
        regions.add(step, bound);
        rest.next_step = regions.ahead();
    }
    let mut rests: BTreeMap<u32, ResidualBound> =
        rests.into_iter().map(|(c, rest)| (c, rest.0)).collect();
    for (component, bound) in absent(waiting) {
        let rest = ResidualBound {
            bound,
            ..ResidualBound::default()
        };
        rests.insert(component, rest);
    }
    for (component, step) in replays.all() {
        let rest = ResidualBound {
            bound: step.0 * (1.0 + PROVED),
            computed: true,
            next_step: Some(step),
        };
        rests.insert(component, rest);
    }
    rests
}

/// The absent components of which more has to be known: this one first, then those whose next step
/// is known without its core, and the others, by sigma or its bound.
pub(super) fn needed(
    first: u32,
    solved: &BTreeSet<(Descending, u32, u32)>,
    replays: &Replays,
    waiting: &BTreeSet<(Descending, u32)>,
) -> Vec<u32> {
    let ahead = solved
        .iter()
        .map(|(sigma, _, label)| (*sigma, label ^ KNOWN));
    let ahead = ahead.filter(|(_, component)| replays.is_ahead(*component));
    let others = absent(waiting).map(|(component, bound)| (descending(bound), component));
    let all: BTreeSet<(Descending, u32)> = ahead.chain(others).collect();
    let rest = all.into_iter().map(|(_, component)| component);
    let rest = rest.filter(|component| *component != first);
    std::iter::once(first).chain(rest).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_step_is_known_where_it_is_clearly_the_first() {
        let mut regions = Regions::default();
        regions.add(Some((2.0, 7)), 2.0);
        assert_eq!(regions.ahead(), Some((2.0, 7)));
        regions.add(Some((3.0, 5)), 3.0);
        assert_eq!(regions.ahead(), Some((3.0, 5)));
        regions.add(Some((1.0, 1)), 1.0);
        regions.add(None, 2.5);
        assert_eq!(regions.ahead(), Some((3.0, 5)));
        let mut tied = regions;
        tied.add(Some((3.0, 2)), 3.0);
        assert_eq!(tied.ahead(), None);
        regions.add(None, 3.0);
        assert_eq!(regions.ahead(), None);
    }
}
