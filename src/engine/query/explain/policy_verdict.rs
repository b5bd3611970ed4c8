//! Verdict of a plan's policies on a page.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::policy::{PinRejection, RejectionReason};
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::RefreshId;

/// Verdict of a plan's policies on a page; the first variant that applies.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case", tag = "policy")]
#[non_exhaustive]
pub enum PolicyVerdict {
    /// The plan pins the page: it is a seed independently of the method.
    Pinned {
        /// Rank on the list.
        rank: u32,
    },
    /// The plan pins the page, but it cannot be a seed.
    PinRejected {
        /// Why it cannot be a seed.
        why: PinRejection,
    },
    /// The page stays on the list because `max-changes` allows no further change.
    Retained {
        /// Rank on the list.
        rank: u32,
        /// Last refresh of the plan in which the method selected the page.
        last_chosen: RefreshId,
    },
    /// A policy rejects the page as a seed.
    Rejected {
        /// The policy that rejects it.
        by: RejectionReason,
        /// Line of the policy's list that matches the page; absent if the policy has no list.
        #[serde(skip_serializing_if = "Option::is_none")]
        line: Option<String>,
    },
}

/// Seed that a policy puts on the list.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct SeedByPolicy {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Verdict of the policies, with the rank.
    #[serde(flatten)]
    pub verdict: PolicyVerdict,
}
