//! Failed fetches of a page after its last fetch that did not fail.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::tables::table::record_values;
use seedbank_algorithms::fetch_status::FetchStatus;

/// The failed fetches of a page after its last fetch that did not fail.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct Failures {
    /// The result of the last one.
    pub status: FetchStatus,
    /// Their number.
    #[schemars(range(min = 1))]
    pub count: u32,
    /// The time of the first one, in seconds since 1970 (UTC).
    pub since: u64,
    /// The time of the last one, in seconds since 1970 (UTC).
    pub last: u64,
}

impl Failures {
    /// Returns those after a fetch that did not fail. If it was between the first and the last one, only
    /// the last one is certainly later than it.
    #[must_use]
    pub const fn after(self, answered: u64) -> Option<Self> {
        if self.last <= answered {
            None
        } else if self.since <= answered {
            Some(Self {
                count: 1,
                since: self.last,
                ..self
            })
        } else {
            Some(self)
        }
    }

    /// Returns these and later ones. At the same second the fetch is the same one, and the given result
    /// replaces the stored one; older ones are already counted, or are stale.
    #[must_use]
    pub fn and(self, later: Self) -> Self {
        let more = match later.since {
            since if since > self.last => later.count,
            _ if later.last > self.last => 1,
            _ => 0,
        };
        Self {
            status: later.status,
            count: self.count.saturating_add(more).max(later.count),
            since: self.since.min(later.since),
            last: later.last,
        }
    }
}

record_values!(Failures);
