//! What `explain` answers with where seeds are by cores.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::query::answers::{is_true, yes};
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::RefreshId;

/// A core in numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreNumbers {
    /// Its rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// The singular value of the region that it came from.
    pub sigma: f64,
    /// Within a bound: what no place left was denser than.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 0))]
    pub sigma_bound: Option<f64>,
    /// How many hubs it has.
    #[schemars(range(min = 1))]
    pub hubs: u32,
    /// How many authorities it has.
    #[schemars(range(min = 1))]
    pub authorities: u32,
    /// How many sites its authorities are on.
    #[schemars(range(min = 1))]
    pub authority_sites: u32,
    /// How many links lead from its hubs to its authorities.
    #[schemars(range(min = 1))]
    pub edges: u64,
    /// Whether the page that is named as its seed is on the list; where not, policies keep it off, and
    /// it is the hub that would be the seed. JSON has the field only then.
    #[serde(default = "yes", skip_serializing_if = "is_true")]
    #[schemars(extend("const" = false))]
    pub gives_seed: bool,
}

/// A page with a score.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct ScoredUrl {
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its score.
    pub score: f64,
}

/// A page's place on one side of a core.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SidePosition {
    /// Its score, L2-normalised over pages.
    pub score: f64,
    /// Its place by score, from 1; ties by URL.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Its place in the order in which the side was taken, from 1.
    #[schemars(range(min = 1))]
    pub position: u32,
}

/// Why a page is the seed of a core.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreSeed {
    /// Its rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether no more of the list may change, so that the page is not on it: then its rank is that
    /// among the seeds that the method came to. JSON has the field only then.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// The first refresh of the unbroken run in which it has been a seed.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// The core.
    pub core: CoreNumbers,
    /// Its place among the hubs.
    pub hub: SidePosition,
    /// How many authorities of the core it links to.
    pub linked_authorities: u32,
    /// How many sites those authorities are on.
    pub linked_sites: u32,
    /// Those of them that were taken first, at most three.
    #[schemars(length(max = 3), inner(regex(pattern = URL_PATTERN)))]
    pub first_authorities: Vec<String>,
    /// The best hub besides it, with its score; `None` where it is the only hub.
    pub runner_up: Option<ScoredUrl>,
}

/// A page of a core that is not its seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreMember {
    /// The core.
    pub core: CoreNumbers,
    /// Its place among the hubs; `None` where it is no hub.
    pub hub: Option<SidePosition>,
    /// Its place among the authorities; `None` where it is no authority.
    pub authority: Option<SidePosition>,
    /// The core's seed with its hub score; where the core gives none, the hub that would be.
    pub seed: ScoredUrl,
}

/// Why a candidate was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotAdded {
    /// It has too few links with the core: it would have lowered the density.
    TooFewLinks,
    /// The core had all the hubs that it may have.
    MaxHubs,
    /// The core had reached its size.
    CoreSize,
    /// Growth is literal: the core was done when its best candidate did not fit.
    GrowthEnded,
}

/// A side of a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// It links to the authorities.
    Hub,
    /// The hubs link to it.
    Authority,
}

/// A candidate of a core that was not taken.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct NearCore {
    /// The first core that it was near.
    pub core: CoreNumbers,
    /// The core's seed with its hub score; where the core gives none, the hub that would be.
    pub seed: ScoredUrl,
    /// Whether it was near as a hub or as an authority.
    pub role: Role,
    /// Its score there, in that role.
    pub score: f64,
    /// The page with the lowest score that was taken in this role.
    pub weakest: ScoredUrl,
    /// How many links it has with the core's other side.
    #[schemars(range(min = 1))]
    pub links: u32,
    /// How many links one more page in this role would have needed.
    #[schemars(range(min = 1))]
    pub links_needed: u64,
    /// Why it was not taken.
    pub reason: NotAdded,
    /// Its row sums.
    pub row_sums: RowSums,
}

/// How dense the neighbourhood of a page was in the graph that the refresh started from.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct RowSums {
    /// The sum of the outdegrees of the hubs that link to it.
    pub as_authority: u64,
    /// The sum of the indegrees of the authorities that it links to.
    pub as_hub: u64,
    /// The square of the last core's sigma; `null` where there are no cores. The best page of a
    /// region with this sigma has at least this row sum.
    pub last_lambda: Option<f64>,
    /// Whether one of the row sums reaches it, so that this alone does not rule the page out.
    pub reaches_last_core: bool,
}
