//! Why a page that a method puts forward is no seed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a page that a method puts forward is no seed.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RejectionReason {
    /// Its site has as many seeds as it may.
    MaxPerSite,
    /// Its domain has as many seeds as it may.
    MaxPerDomain,
    /// `exclude` names it.
    Exclude,
    /// `only` does not name it.
    Only,
    /// `exclude-from-graph` names it.
    ExcludeFromGraph,
    /// Its quality is too low, or not known.
    MinQuality,
    /// Its core has too few hubs.
    MinHubs,
    /// Its core has too few authorities.
    MinAuthorities,
    /// As many seeds changed as may.
    MaxChanges,
}
