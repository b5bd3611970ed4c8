//! Results of a refresh by cores that are cached for the next refresh of the plan, by weakly connected
//! component of the graph.
//!
//! ```text
//! component_cache  (series, component)         the cores of the component
//! near_core_cache  (series, origin of a core)  the pages near the core
//! core_origins     (refresh, origin of a core) the rank of the core in that refresh
//! ```
//!
//! A component is named by the smallest id of its pages, which stays the same while other pages come and
//! go; `page_evidence` has the component of a page. The cache has the results of the last refresh of a plan,
//! and a refresh writes only what changed. So a core is named by its *origin*, the refresh that computed it
//! and its rank there: refreshes that reuse the core keep the origin, while its rank may change.

use serde::{Deserialize, Serialize};

use super::{Hash128, RefreshId};
use crate::tables::table::{Key, record_values};
use seedbank_algorithms::page::PageId;

/// The origin of a core: the refresh that computed it, and its rank there.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
pub struct CoreOrigin {
    /// The refresh; 0 while the refresh has no number.
    pub refresh: RefreshId,
    /// The rank of the core in that refresh, from 1.
    pub rank: u32,
}

impl CoreOrigin {
    /// Packs the refresh and the rank into one number.
    #[must_use]
    pub fn packed(self) -> u64 {
        u64::from(self.refresh) << 32 | u64::from(self.rank)
    }

    /// Unpacks a number that [`packed`](Self::packed) returned.
    #[must_use]
    #[expect(
        clippy::cast_possible_truncation,
        reason = "splits the number into its halves"
    )]
    pub const fn from_packed(packed: u64) -> Self {
        Self {
            refresh: (packed >> 32) as u32,
            rank: packed as u32,
        }
    }
}

/// The cached results of a component.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct ComponentRecord {
    /// The hash of the pages and links of the component.
    pub fingerprint: Hash128,
    /// The number of pages.
    pub pages: u32,
    /// The reusable cores in order.
    pub cores: Vec<ComponentCore>,
    /// An upper bound on the largest sigma of the component without these cores.
    pub next: f64,
}

/// A core of a component.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct ComponentCore {
    /// The origin of the core.
    pub origin: CoreOrigin,
    /// The sigma of the core.
    pub sigma: f64,
}

/// Groups of pages that were near a core, and near no earlier core of its component.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct NearGroups(pub Vec<NearGroup>);

/// A group of pages with the same links that were near a core.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct NearGroup {
    /// A page of the group.
    pub page: PageId,
    /// Whether the pages were near as hubs; if `false`, as authorities.
    pub hub: bool,
    /// The number of pages on the other side of the core that each page is linked with.
    pub links: u32,
    /// The score of each page in the region that the core was extracted from.
    pub score: f64,
}

/// Keys of `core_origins` and `near_core_cache`.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct CoreOriginKey {
    /// The refresh for `core_origins`, the series for `near_core_cache`.
    pub of: RefreshId,
    /// The origin of the core.
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
        fn origins_come_back(refresh: u32, rank: u32, of: u32) {
            let origin = CoreOrigin { refresh, rank };
            prop_assert_eq!(CoreOrigin::from_packed(origin.packed()), origin);
            let key = CoreOriginKey { of, origin };
            prop_assert_eq!(CoreOriginKey::take(&key.bytes()), Some(key));
        }
    }
}
