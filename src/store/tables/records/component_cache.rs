//! The ledger: what a refresh by cores leaves to the next one of its plan, besides its cores and
//! their scores, by weakly connected component of the graph that it ran on (see
//! `cores::Ledger` of the algorithms).
//!
//! ```text
//! components       (series, component)         what was found in it
//! component_order  (series, bound, component)  the same components, the densest first
//! near_cores       (series, origin of a core)  what was near the core
//! core_origins     (refresh, origin of a core) its rank in that refresh
//! ```
//!
//! A component is named by the smallest id of its pages, which stays the same while other pages
//! come and go; the component of a page is in its standing. All of it is as the last refresh of a
//! plan left it, and only what changed is written. That is why a core is named by its *origin*, the
//! refresh that computed it and its rank there: later refreshes that take the core over keep the
//! origin, while its rank changes with what is found elsewhere.

use serde::{Deserialize, Serialize};

use super::{Hash128, RefreshId};
use crate::tables::table::{Key, record_values};
use seedbank_algorithms::page::PageId;

/// Which refresh computed a core, and its rank there, from 1.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct CoreOrigin {
    /// The refresh; 0 while it has no number yet.
    pub refresh: RefreshId,
    /// The core's rank in that refresh, from 1.
    pub rank: u32,
}

impl CoreOrigin {
    /// The refresh and the rank in one number.
    #[must_use]
    pub fn packed(self) -> u64 {
        u64::from(self.refresh) << 32 | u64::from(self.rank)
    }

    /// The origin that [`packed`](Self::packed) made this number of.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "the halves are what is asked for"
    )]
    pub const fn of_packed(packed: u64) -> Self {
        Self {
            refresh: (packed >> 32) as u32,
            rank: packed as u32,
        }
    }
}

/// What a refresh found in a component.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ComponentRecord {
    /// A hash of the component's pages and links.
    pub fingerprint: Hash128,
    /// The number of pages in the component.
    pub pages: u32,
    /// The component's cores that may be taken over, in order.
    pub cores: Vec<ComponentCore>,
    /// An upper bound on the largest sigma in what is left of the component after those cores.
    pub next: f64,
    /// The next step, where it is known but its core is not.
    pub ahead: Option<NextStep>,
}

/// A step whose core is not kept.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct NextStep {
    /// The step's sigma.
    pub sigma: f64,
    /// The step's best authority.
    pub best: PageId,
}

impl NextStep {
    /// Whether this can be the next step where `next` bounds what is left: the two agree to within
    /// the precision to which sigma is proved.
    #[must_use]
    pub fn fits(&self, next: f64) -> bool {
        self.sigma > 0.0 && (next / self.sigma - 1.0).abs() <= 2e-6
    }
}

impl ComponentRecord {
    /// An upper bound on the largest sigma in the component.
    #[must_use]
    pub fn bound(&self) -> f64 {
        let first = self.cores.first();
        first.map_or(self.next, |core| core.sigma.max(self.next))
    }

    /// The component's place among those of a series.
    #[must_use]
    pub fn order(&self, series: RefreshId, component: PageId) -> ComponentOrderKey {
        ComponentOrderKey {
            series,
            bound: self.bound(),
            component,
        }
    }
}

/// A core of a component.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ComponentCore {
    /// The core's name: where it was computed.
    pub origin: CoreOrigin,
    /// The core's sigma.
    pub sigma: f64,
}

/// Groups of alike pages that were near a core and near no earlier core of its component.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct NearGroups(pub Vec<NearGroup>);

/// Pages with the same links that were near a core.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct NearGroup {
    /// One of the pages.
    pub page: PageId,
    /// Whether they were near as hubs; if `false`, as authorities.
    pub hub: bool,
    /// How many pages of the core, on the other side, each of them is linked with.
    pub links: u32,
    /// The score of each of them in the region that the core came from.
    pub score: f64,
}

/// Keys of `component_cache_order`.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct ComponentOrderKey {
    /// The series.
    pub series: RefreshId,
    /// The upper bound on the component's sigmas; not negative.
    pub bound: f64,
    /// The component.
    pub component: PageId,
}

impl Key for ComponentOrderKey {
    fn put(&self, out: &mut Vec<u8>) {
        // The bits of positive doubles sort as the doubles do; inverted, the largest comes first.
        ((self.series, !self.bound.to_bits()), self.component).put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let ((series, inverted), component): ((_, u64), _) = Key::take(bytes)?;
        let bound = f64::from_bits(!inverted);
        (bound >= 0.0).then_some(Self {
            series,
            bound,
            component,
        })
    }
}

/// Keys of `core_origins` and `near_core_cache`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CoreOriginKey {
    /// The refresh for `core_origins`, the series for `near_core_cache`.
    pub of: RefreshId,
    /// The core's name: where it was computed.
    pub origin: CoreOrigin,
}

impl Key for CoreOriginKey {
    fn put(&self, out: &mut Vec<u8>) {
        ((self.of, self.origin.refresh), self.origin.rank).put(out);
    }
    fn take(bytes: &[u8]) -> Option<Self> {
        let ((of, refresh), rank) = Key::take(bytes)?;
        Some(Self {
            of,
            origin: CoreOrigin { refresh, rank },
        })
    }
}

record_values!(ComponentRecord, NearGroups);

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn the_densest_component_comes_first(a in 0.0_f64..1e9, b in 0.0_f64..1e9, id: u64) {
            let key = |bound| ComponentOrderKey { series: 3, bound, component: PageId(id) };
            let (first, second) = (key(a.max(b)), key(a.min(b)));
            prop_assert!(first.bytes() <= second.bytes());
            prop_assert_eq!(ComponentOrderKey::take(&first.bytes()), Some(first));
            prop_assert_eq!(ComponentOrderKey::take(&first.bytes()[1..]), None);
        }

        #[test]
        fn origins_come_back(refresh: u32, rank: u32, of: u32) {
            let origin = CoreOrigin { refresh, rank };
            prop_assert_eq!(CoreOrigin::of_packed(origin.packed()), origin);
            let key = CoreOriginKey { of, origin };
            prop_assert_eq!(CoreOriginKey::take(&key.bytes()), Some(key));
        }
    }
}
