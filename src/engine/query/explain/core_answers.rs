//! Answers of `explain` for plans by cores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::query::answers::{is_true, yes};
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::RefreshId;

/// Figures of a core.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreNumbers {
    /// Rank of the core, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Singular value of the region from which the core was grown.
    pub sigma: f64,
    /// In a plan with `within`: upper bound of the singular value of every remaining region.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub sigma_bound: Option<f64>,
    /// Number of hubs.
    #[schemars(range(min = 1))]
    pub hubs: u32,
    /// Number of sites of the hubs.
    #[schemars(range(min = 1))]
    pub hub_sites: u32,
    /// Number of authorities.
    #[schemars(range(min = 1))]
    pub authorities: u32,
    /// Number of sites of the authorities.
    #[schemars(range(min = 1))]
    pub authority_sites: u32,
    /// Number of links from hubs to authorities.
    #[schemars(range(min = 1))]
    pub edges: u64,
    /// Whether the page named as its seed is on the list. `false` if policies reject it: it is then the hub
    /// that would be the seed. JSON has the field only if it is `false`.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    #[schemars(extend("const" = false))]
    pub gives_seed: bool,
}

impl CoreNumbers {
    /// Whether the hubs are several pages of one site, as the pages of a template are.
    #[must_use]
    pub const fn is_template(&self) -> bool {
        self.hubs > 1 && self.hub_sites == 1
    }
}

/// Page with a score.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScoredUrl {
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Score of the page.
    pub score: f64,
}

/// Position of a page among the hubs or the authorities of a core.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SidePosition {
    /// Score of the page, L2-normalised over pages.
    pub score: f64,
    /// Rank by score, from 1; ties by URL.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Position in the order of additions, from 1.
    #[schemars(range(min = 1))]
    pub position: u32,
}

/// Why a page is the seed of a core.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreSeed {
    /// Rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection.
    /// JSON has the field only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// First refresh of the uninterrupted series in which it is a seed.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// The core.
    pub core: CoreNumbers,
    /// Position among the hubs.
    pub hub: SidePosition,
    /// Number of authorities of the core that it links to.
    pub linked_authorities: u32,
    /// Number of sites of those authorities.
    pub linked_sites: u32,
    /// Those of them that were added first, at most three.
    #[schemars(length(max = 3), inner(regex(pattern = URL_PATTERN)))]
    pub first_authorities: Vec<String>,
    /// Best other hub with its score; `None` if there is none.
    pub runner_up: Option<ScoredUrl>,
}

/// Page of a core that is not its seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreMember {
    /// The core.
    pub core: CoreNumbers,
    /// Position among the hubs; `None` if it is not a hub.
    pub hub: Option<SidePosition>,
    /// Position among the authorities; `None` if it is not an authority.
    pub authority: Option<SidePosition>,
    /// Seed of the core with its hub score; if it gives none, the hub that would be its seed.
    pub seed: ScoredUrl,
}

/// Why a candidate was not added to a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotAdded {
    /// It has too few links with the core, and would have lowered the density too far.
    TooFewLinks,
    /// The core had its maximum number of hubs.
    MaxHubs,
    /// The core had reached its size.
    CoreSize,
    /// With literal growth, the core was complete when its best candidate did not fit.
    GrowthEnded,
}

/// Role of a page in a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// Links to the authorities.
    Hub,
    /// Linked from the hubs.
    Authority,
}

/// Candidate of a core that was not added.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct NearCore {
    /// First core that it is linked with.
    pub core: CoreNumbers,
    /// Seed of the core with its hub score; if it gives none, the hub that would be its seed.
    pub seed: ScoredUrl,
    /// Role in which it was a candidate.
    pub role: Role,
    /// Score in that role.
    pub score: f64,
    /// Added page with the lowest score in this role.
    pub weakest: ScoredUrl,
    /// Number of its links with the core's other side.
    #[schemars(range(min = 1))]
    pub links: u32,
    /// Number of links that another page in this role would have needed.
    #[schemars(range(min = 1))]
    pub links_needed: u64,
    /// Why it was not added.
    pub reason: NotAdded,
    /// Row sums of the page.
    pub row_sums: RowSums,
}

/// Density of the neighbourhood of a page in the graph at the start of the refresh.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RowSums {
    /// Sum of the outdegrees of the hubs that link to it.
    pub as_authority: u64,
    /// Sum of the indegrees of the authorities that it links to.
    pub as_hub: u64,
    /// Squared sigma of the last core; `null` if there are no cores. The best page of a region with this
    /// sigma has at least this row sum.
    pub last_lambda: Option<f64>,
    /// Whether one of the row sums reaches `last_lambda`. If so, the row sums alone do not rule the page out.
    pub reaches_last_core: bool,
}
