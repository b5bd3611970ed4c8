//! What the policies of a plan say of a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::policy::{HeldBy, PinFault};
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::RefreshId;

/// What the policies of a plan say of a page; the first of these that holds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "policy")]
#[non_exhaustive]
pub enum PolicyVerdict {
    /// The plan pins it: it is a seed whatever the method says.
    Pinned {
        /// Its rank on the list.
        rank: u32,
    },
    /// The plan pins it, and it is no seed.
    PinRejected {
        /// Why not.
        why: PinFault,
    },
    /// It stays on the list, since no more of the list may change.
    Retained {
        /// Its rank on the list.
        rank: u32,
        /// The last refresh of the plan in which the method came to it.
        last_chosen: RefreshId,
    },
    /// It is no seed, and a policy would not let it be one.
    Rejected {
        /// The policy.
        by: HeldBy,
        /// The line of the list that names it; left out where no line does.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<String>,
    },
}

/// A seed that policies have on the list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SeedByPolicy {
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Which policy, and the page's rank.
    #[serde(flatten)]
    pub verdict: PolicyVerdict,
}
