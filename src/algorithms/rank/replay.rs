//! Steps that are known from an earlier run, and how many of them are used up.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{WeakComponents, number};

use super::certificate::VALUE;
use super::principal::TIED;

/// Sigmas are proved to within at least half of this, relatively; ties are far closer.
pub(super) const PROVED: f64 = VALUE.tau;

/// What an earlier run found in a component of the whole graph.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CachedComponent {
    /// The sigma of each step, and its best authority.
    pub steps: Vec<(f64, u32)>,
    /// An upper bound on the largest sigma in what is left after them.
    pub residual_bound: f64,
    /// The sigma and the best authority of the step after them, where those are known but its core
    /// is not, as for a component that is absent from the graph.
    pub next_step: Option<(f64, u32)>,
}

/// A component whose steps are known.
#[derive(Clone, Debug)]
struct Replay {
    known: CachedComponent,
    step: usize,
    /// How many of the steps have cores.
    cores: usize,
    authorities: Vec<u32>,
}

/// What is left to be ranked: authority classes, and an upper bound on their sigma.
pub(super) type Left = (Vec<u32>, f64);

/// The components of a graph whose steps are known.
#[derive(Clone, Debug, Default)]
pub(super) struct Replays {
    steps: BTreeMap<u32, Replay>,
    /// How many components the graph has; those with higher numbers are absent from it.
    present: u32,
    /// Components of which no step is known, only a bound.
    bounded: BTreeSet<u32>,
}

/// The next step of a component: its sigma and its best authority.
pub(super) type Step = (f64, u32);

/// Orders nonnegative floats by their bits, the largest first.
pub(super) type Descending = Reverse<u64>;

pub(super) fn descending(value: f64) -> Descending {
    Reverse(value.to_bits())
}

/// Marks the labels of components whose steps are known, and of absent ones.
pub(super) const KNOWN: u32 = 1 << 31;

/// The absent components among the waiting ones, of which no further step is known, with the bounds
/// on what is left of them.
pub(super) fn absent(waiting: &BTreeSet<(Descending, u32)>) -> impl Iterator<Item = (u32, f64)> {
    let absent = waiting.iter().filter(|(_, label)| label & KNOWN != 0);
    absent.map(|(bound, label)| (label ^ KNOWN, f64::from_bits(bound.0)))
}

/// Queues an absent component, unless nothing is left of it.
pub(super) fn wait(waiting: &mut BTreeSet<(Descending, u32)>, component: u32, bound: f64) {
    if bound > 0.0 {
        waiting.insert((descending(bound), component | KNOWN));
    }
}

/// The place of a component with known steps among the solved regions.
pub(super) fn entry(component: u32, (sigma, best): Step) -> (Descending, u32, u32) {
    (descending(sigma), best, component | KNOWN)
}

impl Replays {
    /// Takes in what is known. Returns it, what has to be ranked from the beginning, and the queue
    /// of absent components without known steps.
    pub(super) fn new(
        components: &WeakComponents,
        mut known: BTreeMap<u32, CachedComponent>,
    ) -> (Self, Vec<Left>, BTreeSet<(Descending, u32)>) {
        let mut replays = Self {
            present: number(components.len()),
            ..Self::default()
        };
        let mut left = Vec::new();
        for (component, authorities) in (0..).zip(components.authorities_by_component()) {
            match known.remove(&component) {
                Some(known) if !known.steps.is_empty() => {
                    let replay = Replay {
                        cores: known.steps.len(),
                        known,
                        step: 0,
                        authorities,
                    };
                    replays.steps.insert(component, replay);
                }
                Some(known) => {
                    replays.bounded.insert(component);
                    let bound = known.residual_bound.min(components.bound(component));
                    left.push((authorities, bound));
                }
                None => left.push((authorities, components.bound(component))),
            }
        }
        let mut absent = BTreeSet::new();
        for (component, mut known) in known {
            let cores = known.steps.len();
            known.steps.extend(known.next_step);
            if known.steps.is_empty() {
                wait(&mut absent, component, known.residual_bound);
            } else {
                let replay = Replay {
                    known,
                    step: 0,
                    cores,
                    authorities: Vec::new(),
                };
                replays.steps.insert(component, replay);
            }
        }
        (replays, left, absent)
    }

    /// Whether a component is not in the graph.
    pub(super) const fn is_absent(&self, component: u32) -> bool {
        component >= self.present
    }

    /// Whether no step of the component was known, only a bound.
    pub(super) fn is_bounded(&self, component: u32) -> bool {
        self.bounded.contains(&component)
    }

    /// Whether the core of the next step is not known.
    pub(super) fn is_ahead(&self, component: u32) -> bool {
        let replay = self.steps.get(&component);
        replay.is_some_and(|replay| replay.step >= replay.cores)
    }

    /// The next step of each component.
    pub(super) fn all(&self) -> impl Iterator<Item = (u32, Step)> {
        let steps = self.steps.iter();
        steps.filter_map(|(&component, replay)| Some((component, replay.step()?)))
    }

    /// The next step of a component, and its number from 0.
    pub(super) fn next(&self, component: u32) -> Option<(usize, Step)> {
        let replay = self.steps.get(&component)?;
        Some((replay.step, replay.step()?))
    }

    /// Notes that the next step of the component is done; returns the one after it, or what is left
    /// to be ranked.
    pub(super) fn advance(&mut self, component: u32) -> Option<Result<Step, Left>> {
        let mut replay = self.steps.remove(&component)?;
        let (sigma, _) = replay.step()?;
        replay.step += 1;
        let Some(step) = replay.step() else {
            // The step taken need not have been the largest of several tied ones, and what is
            // proved of a sigma is its value.
            let bound = replay.known.residual_bound.min(sigma * (1.0 + PROVED));
            return Some(Err((replay.authorities, bound)));
        };
        self.steps.insert(component, replay);
        Some(Ok(step))
    }
}

impl Replay {
    fn step(&self) -> Option<Step> {
        self.known.steps.get(self.step).copied()
    }
}

/// The solved region to take: among those tied for the largest sigma the one whose best
/// authority has the smallest URL. Of regions with bitwise equal sigma (there can be very many)
/// all but the first are skipped.
pub(super) fn first(solved: &BTreeSet<(Descending, u32, u32)>) -> Option<u32> {
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
