//! What a run leaves to later ones: its cores by weakly connected component of the whole graph.
//!
//! What a core removes stays within its component, so the cores of a component, and their order
//! among themselves, depend on nothing outside it. A later run takes them over as long as the
//! component is unchanged, and decides anew only how the cores of different components interleave.
//!
//! **One exception.** Sigmas within 1e-9 of the largest one are tied, and the largest may be in
//! another component. Where two sigmas of one component differ by more than rounding but by less
//! than that, something elsewhere could change their order. Nothing is taken over from there on.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{HubGraph, WeakComponents};
use crate::rank::{CachedComponent, CachedSteps, Doubt, Next, ResidualBound, TIED};

use super::found::Core;
use super::near::NearPage;

/// A core that an earlier run found.
#[derive(Clone, PartialEq, Debug)]
pub struct KnownCore {
    /// The core, in numbers of the present graph.
    pub core: Core,
    /// The classes that were near it, and near no earlier core of its component; empty for a
    /// component that is absent from the graph.
    pub near: Vec<NearPage>,
    /// The caller's name for it, if an earlier run kept it: only then does it count as reused.
    pub origin: Option<u64>,
}

/// What an earlier run found in a component.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct KnownComponent {
    /// Its cores, in order.
    pub cores: Vec<KnownCore>,
    /// An upper bound on the largest sigma in what is left after them.
    pub next: f64,
    /// The sigma and the best authority of the step after them; `None` where they are not known.
    pub ahead: Option<(f64, u32)>,
}

/// The components of a graph, with what is known of them. Components numbered beyond the graph's
/// own are *absent* ones: their steps take part as far as they are known, and where what is left of
/// one could come next, the run ends there and says so.
#[derive(Clone, PartialEq, Debug)]
pub struct Ledger {
    components: WeakComponents,
    known: BTreeMap<u32, KnownComponent>,
    steps: CachedSteps,
}

/// What a run found in a component, for later ones.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct FoundComponent {
    /// The ranks (from 1) of its cores that may be taken over, in order, each with the classes that
    /// were near it and near no earlier core.
    pub cores: Vec<(u32, Vec<NearPage>)>,
    /// An upper bound on the largest sigma in what is left after them.
    pub next: f64,
    /// The sigma and the best authority of the step after them; `None` where they are not known.
    pub ahead: Option<(f64, u32)>,
}

impl Ledger {
    /// A ledger of the components of a graph, with what is known of each.
    #[must_use]
    pub fn new(components: WeakComponents, known: BTreeMap<u32, KnownComponent>) -> Self {
        Self {
            components,
            known,
            steps: CachedSteps::default(),
        }
    }

    /// The same with the steps that an earlier run within a bound kept.
    #[must_use]
    pub fn with_steps(mut self, steps: CachedSteps) -> Self {
        self.steps = steps;
        self
    }

    /// The steps that an earlier run within a bound kept.
    pub(super) const fn kept_steps(&self) -> &CachedSteps {
        &self.steps
    }

    /// A ledger in which nothing is known.
    #[must_use]
    pub fn empty(graph: &HubGraph) -> Self {
        Self::new(WeakComponents::new(graph, &[]), BTreeMap::new())
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

    pub(super) fn steps(&self) -> BTreeMap<u32, CachedComponent> {
        let step = |known: &KnownCore| {
            let core = &known.core;
            Some((core.sigma, *core.authorities.first()?))
        };
        let known = self.known.iter();
        known
            .map(|(&component, known)| {
                let steps = known.cores.iter().map_while(step).collect();
                let known = CachedComponent {
                    steps,
                    residual_bound: known.next,
                    next_step: known.ahead,
                };
                (component, known)
            })
            .collect()
    }

    /// The next core with its component and its doubt, if it is a known one.
    pub(super) fn core(&self, next: &Next) -> Option<(u32, &KnownCore, Option<Doubt>)> {
        let Next::Cached {
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
    /// Components from which nothing further may be taken over.
    cut: BTreeSet<u32>,
}

impl Keeping {
    /// Notes a core that was found or taken over.
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
                // A sigma that could not be proved bounds nothing.
                Some(_) => f64::MAX,
                None => core.sigma * (1.0 + 4.0 * TIED),
            };
        } else {
            found.cores.push((rank, near));
        }
    }

    /// Everything that was gathered, together with what is left.
    pub(super) fn finish(
        mut self,
        bounds: BTreeMap<u32, ResidualBound>,
    ) -> BTreeMap<u32, FoundComponent> {
        for (component, residual) in bounds {
            if self.cut.contains(&component) {
                continue;
            }
            if let Some(found) = self.found.get_mut(&component) {
                (found.next, found.ahead) = (residual.bound, residual.next_step);
            } else if residual.computed {
                let found = FoundComponent {
                    cores: Vec::new(),
                    next: residual.bound,
                    ahead: residual.next_step,
                };
                self.found.insert(component, found);
            }
        }
        self.found
    }
}
