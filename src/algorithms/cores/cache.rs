//! The cores of an earlier run, cached by weakly connected component of the whole graph.
//!
//! Removing a core changes only its component, so the cores of a component, and their order among
//! themselves, depend on nothing outside it. A later run reuses them as long as the component is unchanged,
//! and only decides anew how the cores of different components interleave.
//!
//! **Exception.** Sigmas within a relative 1e-9 of the largest one are tied, and the largest may be in
//! another component. If two sigmas of one component differ by more than rounding errors but by less than
//! that, a change elsewhere could change their order. Such a core and all after it are not reused.

use std::collections::{BTreeMap, BTreeSet};

use crate::graph::{HubGraph, WeakComponents};
use crate::rank::{Doubt, Next, ReplaySteps, ResidualBound, TIED};

use super::core::Core;
use super::near_cores::NearPage;

/// A core of an earlier run.
#[derive(Clone, PartialEq, Debug)]
pub struct CachedCore {
    /// The core, with page numbers of the present graph.
    pub core: Core,
    /// The classes that were near it, and near no earlier core of its component.
    pub near: Vec<NearPage>,
    /// The caller's identifier of the core; `None` if no earlier run stored it. Only cores with an origin
    /// count as reused.
    pub origin: Option<u64>,
}

/// The results of an earlier run for a component.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct CachedComponent {
    /// Its cores, in order.
    pub cores: Vec<CachedCore>,
    /// An upper bound on the largest sigma after them.
    pub next: f64,
}

/// The components of a graph, with the cached results for some of them.
#[derive(Clone, PartialEq, Debug)]
pub struct CoreCache {
    components: WeakComponents,
    cached: BTreeMap<u32, CachedComponent>,
}

/// The result for a component, as input of later runs.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct ComponentResult {
    /// The ranks (from 1) of its reusable cores, in order, each with the classes that were near it and near
    /// no earlier core.
    pub cores: Vec<(u32, Vec<NearPage>)>,
    /// An upper bound on the largest sigma after them.
    pub next: f64,
}

impl CoreCache {
    /// Creates a cache from the components of a graph and the results for some of them.
    #[must_use]
    pub fn new(components: WeakComponents, cached: BTreeMap<u32, CachedComponent>) -> Self {
        Self { components, cached }
    }

    /// Creates a cache without results.
    #[must_use]
    pub fn empty(graph: &HubGraph) -> Self {
        Self::new(WeakComponents::new(graph, &[]), BTreeMap::new())
    }

    /// Whether the cache has results for a component.
    #[must_use]
    pub fn knows(&self, component: u32) -> bool {
        self.cached.contains_key(&component)
    }

    /// The components of the graph.
    #[must_use]
    pub const fn components(&self) -> &WeakComponents {
        &self.components
    }

    pub(super) fn steps(&self) -> BTreeMap<u32, ReplaySteps> {
        let step = |cached: &CachedCore| {
            let core = &cached.core;
            Some((core.sigma, *core.authorities.first()?))
        };
        let cached = self.cached.iter();
        cached
            .map(|(&component, cached)| {
                let steps = ReplaySteps {
                    steps: cached.cores.iter().map_while(step).collect(),
                    residual_bound: cached.next,
                };
                (component, steps)
            })
            .collect()
    }

    /// The cached core of a ranker's answer with its component and its doubt; `None` if it is a new one.
    pub(super) fn core(&self, next: &Next) -> Option<(u32, &CachedCore, Option<Doubt>)> {
        let Next::Cached {
            component,
            step,
            doubt,
        } = next
        else {
            return None;
        };
        let core = self.cached.get(component)?.cores.get(*step)?;
        Some((*component, core, *doubt))
    }
}

/// Collects the results that later runs may reuse.
#[derive(Debug, Default)]
pub(super) struct CacheBuilder {
    results: BTreeMap<u32, ComponentResult>,
    /// Components with a core that is not reusable, so neither are those after it.
    closed: BTreeSet<u32>,
}

impl CacheBuilder {
    /// Adds a new or reused core. `is_delicate`: a change elsewhere could change its order.
    pub(super) fn add(
        &mut self,
        component: u32,
        rank: u32,
        core: &Core,
        near: Vec<NearPage>,
        is_delicate: bool,
    ) {
        if self.closed.contains(&component) {
            return;
        }
        let result = self.results.entry(component).or_default();
        if is_delicate || core.doubt.is_some() {
            self.closed.insert(component);
            result.next = match core.doubt {
                // An unproved sigma bounds nothing.
                Some(_) => f64::MAX,
                None => core.sigma * (1.0 + 4.0 * TIED),
            };
        } else {
            result.cores.push((rank, near));
        }
    }

    /// Returns the results, completed by the bounds on the remainder of each component.
    pub(super) fn finish(
        mut self,
        bounds: BTreeMap<u32, ResidualBound>,
    ) -> BTreeMap<u32, ComponentResult> {
        for (component, residual) in bounds {
            if self.closed.contains(&component) {
                continue;
            }
            let known = self.results.get_mut(&component);
            if let Some(result) = known {
                result.next = residual.bound;
            } else if residual.computed {
                let result = ComponentResult {
                    cores: Vec::new(),
                    next: residual.bound,
                };
                self.results.insert(component, result);
            }
        }
        self.results
    }
}
