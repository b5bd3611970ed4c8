//! Why a page that a method selected is not a seed.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// Why a page that a method selected is not a seed.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum RejectionReason {
    /// Its site has the maximum number of seeds.
    MaxPerSite,
    /// Its domain has the maximum number of seeds.
    MaxPerDomain,
    /// `exclude` contains it.
    Exclude,
    /// `only` does not contain it.
    Only,
    /// `exclude-from-graph` contains it.
    ExcludeFromGraph,
    /// Its quality is too low, or unknown.
    MinQuality,
    /// Its last fetches failed.
    MaxFailures,
    /// It was fetched within the days of `rest`.
    Rest,
    /// Its core has too few hubs.
    MinHubs,
    /// Its core has too few authorities.
    MinAuthorities,
    /// The hubs of its core are on too few sites; on a single site they are pages of one template.
    MinHubSites,
    /// The limit on changes of the list was reached.
    MaxChanges,
}
