//! Cached steps of components, and which of them are taken.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::graph::WeakComponents;

use super::certificate::VALUE;
use super::principal::TIED;

/// Sigmas are proved to within at least half of this, relatively; ties are far closer.
pub(super) const VALUE_ERROR: f64 = VALUE.tau;

/// Steps of a component of the whole graph, cached by a previous run.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ReplaySteps {
    /// The sigma of each step, and its best authority.
    pub steps: Vec<(f64, u32)>,
    /// Upper bound on the largest sigma in what remains after the steps.
    pub residual_bound: f64,
}

/// A component with cached steps.
#[derive(Clone, Debug)]
struct Replay {
    cached: ReplaySteps,
    step: usize,
    authorities: Vec<u32>,
}

/// What remains to be ranked: authority classes, and an upper bound on their sigma.
pub(super) type Remainder = (Vec<u32>, f64);

/// The components with cached steps.
#[derive(Clone, Debug, Default)]
pub(super) struct Replays {
    steps: BTreeMap<u32, Replay>,
    /// Components with a cached bound but no cached step.
    bounded_only: BTreeSet<u32>,
}

/// The next step of a component: its sigma and its best authority.
pub(super) type Step = (f64, u32);

/// Orders nonnegative floats by their bits, largest first.
pub(super) type Descending = Reverse<u64>;

pub(super) fn descending(value: f64) -> Descending {
    Reverse(value.to_bits())
}

/// Marks the labels of components with cached steps.
pub(super) const CACHED_FLAG: u32 = 1 << 31;

/// Returns the entry of a component with cached steps among the solved regions.
pub(super) fn queue_entry(component: u32, step: Step) -> (Descending, u32, u32) {
    let (sigma, best) = step;
    (descending(sigma), best, component | CACHED_FLAG)
}

impl Replays {
    /// Returns the replays, and what must be ranked from scratch.
    pub(super) fn new(
        components: &WeakComponents,
        mut cached: BTreeMap<u32, ReplaySteps>,
    ) -> (Self, Vec<Remainder>) {
        let mut replays = Self::default();
        let mut uncached = Vec::new();
        for (component, authorities) in (0..).zip(components.authorities_by_component()) {
            match cached.remove(&component) {
                Some(cached) if !cached.steps.is_empty() => {
                    let replay = Replay {
                        cached,
                        step: 0,
                        authorities,
                    };
                    replays.steps.insert(component, replay);
                }
                Some(cached) => {
                    replays.bounded_only.insert(component);
                    let bound = cached.residual_bound.min(components.bound(component));
                    uncached.push((authorities, bound));
                }
                None => uncached.push((authorities, components.bound(component))),
            }
        }
        (replays, uncached)
    }

    /// Returns whether only a bound was cached for the component.
    pub(super) fn is_only_bounded(&self, component: u32) -> bool {
        self.bounded_only.contains(&component)
    }

    /// Returns the next step of each component.
    pub(super) fn next_steps(&self) -> impl Iterator<Item = (u32, Step)> {
        let steps = self.steps.iter();
        steps.filter_map(|(&component, replay)| Some((component, replay.step()?)))
    }

    /// Returns the next step of a component, and its number from 0.
    pub(super) fn next_step(&self, component: u32) -> Option<(usize, Step)> {
        let replay = self.steps.get(&component)?;
        Some((replay.step, replay.step()?))
    }

    /// Completes the next step of the component; returns the one after it, or what remains to be
    /// ranked.
    pub(super) fn advance(&mut self, component: u32) -> Option<Result<Step, Remainder>> {
        let mut replay = self.steps.remove(&component)?;
        let (sigma, _) = replay.step()?;
        replay.step += 1;
        let Some(step) = replay.step() else {
            // The step need not be the largest of several tied ones, and sigma is only proved to
            // within `VALUE_ERROR`.
            let bound = replay
                .cached
                .residual_bound
                .min(sigma * (1.0 + VALUE_ERROR));
            return Some(Err((replay.authorities, bound)));
        };
        self.steps.insert(component, replay);
        Some(Ok(step))
    }
}

impl Replay {
    fn step(&self) -> Option<Step> {
        self.cached.steps.get(self.step).copied()
    }
}

/// Returns the solved region to take: among those tied for the largest sigma the one whose best
/// authority has the smallest URL. Of regions with bitwise equal sigma, which can be very many, all
/// but the first are skipped.
pub(super) fn first_solved(solved: &BTreeSet<(Descending, u32, u32)>) -> Option<u32> {
    let &(Reverse(top), best, label) = solved.first()?;
    let limit = f64::from_bits(top) * (1.0 - TIED);
    let mut chosen = (best, label);
    let mut sigma = top;
    loop {
        let next = solved.range((Reverse(sigma - 1), 0, 0)..).next();
        match next {
            Some(&(Reverse(bits), best, label)) if f64::from_bits(bits) >= limit => {
                chosen = chosen.min((best, label));
                sigma = bits;
            }
            _ => return Some(chosen.1),
        }
    }
}
