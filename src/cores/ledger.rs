//! What a run leaves to later ones: its cores by weakly connected component of the whole graph.
//!
//! What a core removes stays within its component, so the cores of a component, and their order
//! among themselves, depend on nothing outside it. A later run takes them over, as long as the
//! component is what it was, and only decides anew how the components' cores interleave.
//!
//! **One exception.** Sigmas within 1e-9 of the largest one are tied, and the largest may be in
//! another component: where two sigmas of one component differ by more than rounding and by less
//! than that, what is elsewhere could change their order. Nothing is taken over from there on.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{HubGraph, WeakComponents};
use crate::rank::{Doubt, KnownSteps, Next, Rest, TIED};

use super::found::Core;
use super::near::NearPage;

/// A core that an earlier run found.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownCore {
    /// The core, in numbers of the present graph.
    pub core: Core,
    /// The classes that were near it, and near no earlier core of its component; nothing for a
    /// component that is absent from the graph.
    pub near: Vec<NearPage>,
    /// How the caller names it, if an earlier run kept it: only then it counts as reused.
    pub origin: Option<u64>,
}

/// What an earlier run found in a component.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KnownComponent {
    /// Its cores, in order.
    pub cores: Vec<KnownCore>,
    /// A bound of the largest sigma in what is left after them.
    pub next: f64,
    /// The sigma and the best authority of the step after them, where they are known.
    pub ahead: Option<(f64, u32)>,
}

/// The components of a graph, with what is known of them. What is known of components beyond the
/// graph's own is about *absent* ones: their steps take part as far as they are known, and where
/// what is left of one could come next, the run ends there and says so.
#[derive(Clone, PartialEq, Debug)]
pub struct Ledger {
    components: WeakComponents,
    known: BTreeMap<u32, KnownComponent>,
}

/// What a run found in a component, for later ones.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundComponent {
    /// The ranks (from 1) of its cores that may be taken over, in order, each with the classes that
    /// were near it and near no earlier core.
    pub cores: Vec<(u32, Vec<NearPage>)>,
    /// A bound of the largest sigma in what is left after them.
    pub next: f64,
    /// The sigma and the best authority of the step after them, where they are known.
    pub ahead: Option<(f64, u32)>,
}

impl Ledger {
    /// What is known (by component) of a graph with these components.
    #[must_use]
    pub const fn new(components: WeakComponents, known: BTreeMap<u32, KnownComponent>) -> Self {
        Self { components, known }
    }

    /// Nothing is known.
    #[must_use]
    pub fn empty(graph: &HubGraph) -> Self {
        Self::new(WeakComponents::of(graph, &[]), BTreeMap::new())
    }

    /// Whether anything is known of a component.
    #[must_use]
    pub fn knows(&self, component: u32) -> bool {
        self.known.contains_key(&component)
    }

    /// The components of the graph.
    #[must_use]
    pub const fn components(&self) -> &WeakComponents {
        &self.components
    }

    pub(super) fn steps(&self) -> BTreeMap<u32, KnownSteps> {
        let step = |known: &KnownCore| {
            let core = &known.core;
            Some((core.sigma, *core.authorities.first()?))
        };
        let known = self.known.iter();
        known
            .map(|(&component, known)| {
                let steps = known.cores.iter().map_while(step).collect();
                let known = KnownSteps {
                    steps,
                    next: known.next,
                    ahead: known.ahead,
                };
                (component, known)
            })
            .collect()
    }

    /// The core that comes next and its component, if it is known.
    pub(super) fn core(&self, next: &Next) -> Option<(u32, &KnownCore, Option<Doubt>)> {
        let Next::Known {
            component,
            step,
            doubt,
        } = next
        else {
            return None;
        };
        let core = self.known.get(component)?.cores.get(*step)?;
        Some((*component, core, *doubt))
    }
}

/// Gathers what later runs may take over.
#[derive(Debug, Default)]
pub(super) struct Keeping {
    found: BTreeMap<u32, FoundComponent>,
    /// Components of which nothing more may be taken over.
    cut: BTreeSet<u32>,
}

impl Keeping {
    /// A core was found or taken over.
    pub(super) fn note(
        &mut self,
        component: u32,
        (rank, core): (u32, &Core),
        near: Vec<NearPage>,
        delicate: bool,
    ) {
        if self.cut.contains(&component) {
            return;
        }
        let found = self.found.entry(component).or_default();
        if delicate || core.doubt.is_some() {
            self.cut.insert(component);
            found.next = match core.doubt {
                // What could not be proved bounds nothing.
                Some(_) => f64::MAX,
                None => core.sigma * (1.0 + 4.0 * TIED),
            };
        } else {
            found.cores.push((rank, near));
        }
    }

    /// All of it, with what is left.
    pub(super) fn finish(mut self, rests: BTreeMap<u32, Rest>) -> BTreeMap<u32, FoundComponent> {
        for (component, rest) in rests {
            if self.cut.contains(&component) {
                continue;
            }
            if let Some(found) = self.found.get_mut(&component) {
                (found.next, found.ahead) = (rest.bound, rest.ahead);
            } else if rest.computed {
                let found = FoundComponent {
                    cores: Vec::new(),
                    next: rest.bound,
                    ahead: rest.ahead,
                };
                self.found.insert(component, found);
            }
        }
        self.found
    }
}
