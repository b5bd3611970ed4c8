//! Answers of `explain`. Their JSON Schema is in `schema/`.

use crate::engine::eligibility::Ineligible;
use crate::engine::plan::{Method, NAME_PATTERN, TuningRecord, by_cores, by_cover};
use crate::engine::policy::{PinRejection, RejectionReason};
use crate::engine::query::answers::{AliasView, is_true, yes};
use crate::engine::refresh::Proof;
use schemars::JsonSchema;
use seedbank_algorithms::cover::Due;
use seedbank_algorithms::slack::Slack;
use seedbank_formats::ingest::URL_PATTERN;
use seedbank_store::records::{BatchId, CoverStop, PageState, RefreshId};
use serde::{Deserialize, Serialize};

/// Explains why a page is a seed of a refresh or not.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Which;
/// use seedbank::engine::query::Why;
///
/// let explanation = bank.explain("http://x.example/", &Which::default())?;
/// assert!(matches!(explanation.why, Why::CoreMember(_)));
/// assert!(explanation.cost.reads <= 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Explanation {
    /// Normalised URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Site of the page.
    pub site: String,
    /// Refresh that the answer is about.
    #[serde(flatten)]
    pub run: RefreshRun,
    /// Current state of the page, which may be later than the refresh.
    pub page: CurrentPage,
    /// What the page counts for by the time since its last fetch; absent if the plan has no `revisit`, if the page is not crawled,
    /// and if a batch followed the refresh.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub revisit: Option<RevisitView>,
    /// Verdict of the plan's policies; absent if none affects the page.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicyVerdict>,
    /// Reason with its evidence.
    #[serde(flatten)]
    pub why: Why,
    /// Reads that the answer took.
    #[serde(skip)]
    pub cost: ReadCost,
}

/// What a crawled page counts for by the time since its last fetch.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RevisitView {
    /// Last fetch, in seconds since 1970 (UTC); `null` if it is not known.
    pub fetched: Option<u64>,
    /// Days from it to the last fetch in the bank; `null` if it is not known.
    pub days: Option<f64>,
    /// Days after which a page has its whole value again.
    pub whole_after: f64,
    /// The part of its value that the page counts for.
    pub counts: Due,
}

/// Refresh that an answer is about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct RefreshRun {
    /// Plan of the refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// Method that selected the seeds.
    pub method: Method,
    /// Number of the refresh.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// Last batch of the state that the refresh ran on.
    pub state_batch: BatchId,
    /// Number of seeds on its list.
    pub seeds: u32,
    /// What is proved about its cores.
    pub proof: Proof,
}

/// Reads of the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadCost {
    /// Number of point reads, and of entries read in scans.
    pub reads: u64,
    /// Bytes of keys and values read.
    pub bytes: u64,
}

/// Page in the published state, which may be later than the refresh.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CurrentPage {
    /// Known, crawled, gone, unlinked (no page links to it any more), or an alias.
    pub state: PageState,
    /// Target of the alias; absent for any other page.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<AliasView>,
    /// Spam mark of the page, or else of its site.
    pub spam: bool,
    /// Batch that first mentioned the page.
    #[schemars(range(min = 1))]
    pub first_seen: BatchId,
    /// Last batch with a record for the page; absent for a page known only from links.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub last_seen: Option<BatchId>,
    /// Whether that batch is later than the state that the refresh ran on.
    pub recorded_since_refresh: bool,
}

/// Why a page is a seed of a refresh or not, with the evidence.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Why {
    /// Cores: the hub chosen from a core.
    #[schemars(transform = by_cores)]
    CoreSeed(Box<CoreSeed>),
    /// Cores: another hub of a core, or an authority.
    #[schemars(transform = by_cores)]
    CoreMember(Box<CoreMember>),
    /// Cores: links to an authority of a core, or is linked from a hub of one, but was not added.
    #[schemars(transform = by_cores)]
    NearCore(Box<NearCore>),
    /// Cores: linked with no core. The row sums compare its neighbourhood with the last core.
    #[schemars(transform = by_cores)]
    NoCore(RowSums),
    /// Cores: has no inter-site links that count.
    #[schemars(transform = by_cores)]
    NoInterSiteLinks {
        /// Whether it has inter-site links, but the pages at all their other ends were ineligible.
        neighbours_ineligible: bool,
    },
    /// Cover: picked on its site.
    #[schemars(transform = by_cover)]
    CoverSeed(Box<CoverSeed>),
    /// Cover: covered by a seed.
    #[schemars(transform = by_cover)]
    Covered {
        /// First seed that covers it.
        by: SiteSeed,
        /// Distance from that seed, in links.
        hop: u32,
    },
    /// Cover: covered by no seed.
    #[schemars(transform = by_cover)]
    Uncovered(Box<Uncovered>),
    /// Cover: its site was allocated no seeds.
    #[schemars(transform = by_cover)]
    NoSeats {
        /// Number of crawled pages of the site when the refresh ran.
        #[schemars(range(min = 1))]
        crawled: u32,
    },
    /// Over the web: picked.
    #[schemars(transform = by_cover)]
    WebSeed(Box<WebSeed>),
    /// Over the web: reached by a seed.
    #[schemars(transform = by_cover)]
    Reached {
        /// The first pick that reaches it.
        by: SiteSeed,
        /// Distance from that seed, in links.
        hop: u32,
    },
    /// Over the web, with `duplicates` = once: has the content of another page, which counts instead.
    #[schemars(transform = by_cover)]
    Represented {
        /// URL of the page that counts.
        #[schemars(regex(pattern = URL_PATTERN))]
        by: String,
    },
    /// Over the web: eligible as a seed, and reached by none.
    #[schemars(transform = by_cover)]
    Unreached(Box<Unreached>),
    /// Not eligible.
    Ineligible {
        /// Why it was not eligible.
        reason: IneligibleReason,
    },
    /// Not known to the bank when the refresh ran.
    NotYetKnown,
}

/// Why a page was not eligible for a refresh.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum IneligibleReason {
    /// Marked as spam.
    Spam,
    /// Gone.
    Gone,
    /// Known only from links.
    NotCrawled,
    /// No page links to it any more, and it has no record.
    Unlinked,
    /// Redirects to another page, which counts instead.
    Alias,
    /// Is a resource, such as a script or an image.
    Resource,
    /// Excluded from the graph by a list of the plan.
    Excluded,
    /// Over the web: has no links, and no seed reaches it.
    NoLinks,
}

impl From<Ineligible> for IneligibleReason {
    fn from(reason: Ineligible) -> Self {
        match reason {
            Ineligible::Gone => Self::Gone,
            Ineligible::Unlinked => Self::Unlinked,
            Ineligible::Alias => Self::Alias,
            Ineligible::Resource => Self::Resource,
            Ineligible::Spam => Self::Spam,
            Ineligible::NotCrawled => Self::NotCrawled,
            Ineligible::Policy(_) => Self::Excluded,
        }
    }
}

// Answers of `explain` for plans by cores.

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

// Answers of `explain` for plans by coverage, of sites or over the web.

/// Value of pages with its components.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct ValueBreakdown {
    /// Number of pages.
    pub pages: u64,
    /// Number of clicked pages without the spam mark.
    pub clicked: u64,
    /// Number of spam pages.
    pub spam: u64,
    /// Total number of uncrawled outlinks.
    pub uncrawled_outlinks: u64,
    /// Value of the pages, in units.
    pub value: f64,
    /// Part of the value that comes from uncrawled outlinks, in units.
    pub uncrawled_value: f64,
}

/// Value of pages over the web with its components and cost.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct WebValueBreakdown {
    /// All pages, crawled and known.
    #[serde(flatten)]
    pub all: ValueBreakdown,
    /// Number of known, uncrawled pages.
    pub known: u64,
    /// Total fetch cost, in units.
    pub cost: f64,
    /// Value minus cost, in units.
    pub net: f64,
}

/// Reach and cost parameters of a plan over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebTerms {
    /// Maximum distance from a seed at which it reaches a page, in links.
    pub hops: u32,
    /// Cost of every page reached, in units.
    pub fetch_cost: f64,
    /// Number of pages that the crawl will fetch; `null` if the plan has no budget.
    pub budget: Option<u64>,
    /// How hops and fetch cost were tuned; `null` if they were given.
    pub tuned: Option<TuningRecord>,
    /// Whether values are the new links that fetches are expected to bring. Seeds that gain nothing then fill the
    /// list by their own values. JSON has the field only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub learned: bool,
    /// How much less, in percent, the list may be worth than a new one while seeds of the previous list stay. Absent if none do.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_seeds: Option<Slack>,
}

/// Evidence for a page picked over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebSeed {
    /// Rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection.
    /// JSON has the field only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// Refresh that picked it. Later refreshes reuse the pick while nothing changes.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// Whether no page was picked before it. With `max-changes`, the first seed of the list may be a later pick. Not in
    /// JSON.
    #[serde(skip)]
    pub is_first: bool,
    /// Score by which it was picked; `null` for a random pick.
    pub gain: Option<f64>,
    /// Pages that it reaches and no earlier pick does.
    pub reaches: WebValueBreakdown,
    /// Those pages by distance from it, from 0 hops on.
    pub hops: Vec<WebValueBreakdown>,
    /// Best other page at that moment, with a greater gain if the seed stays from the previous list; `null` if unknown.
    pub runner_up: Option<ScoredUrl>,
    /// Earlier pick that reaches the page itself, and the distance in links; `null` if none does.
    pub reached_by: Option<(SiteSeed, u32)>,
    /// Hops, fetch cost and budget of the plan.
    pub terms: WebTerms,
}

/// Page that is eligible as a seed and that no seed reaches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Unreached {
    /// Score after the last pick; `null` if picks are random.
    pub score: Option<f64>,
    /// Last pick, which scored higher; `null` if no remaining score was positive.
    pub last_pick: Option<SiteSeed>,
    /// Number of picks.
    pub picks: u32,
    /// Number of seeds requested.
    #[schemars(range(min = 1))]
    pub seeds_requested: u32,
    /// Hops, fetch cost and budget of the plan.
    pub terms: WebTerms,
}

impl Unreached {
    /// Whether the page would add more than the last pick, which stays from the previous list. (Without kept seeds too, a score can
    /// rise after the last pick, which pays for pages that are worth less than their cost.)
    pub(crate) fn is_better_than(&self, last: &SiteSeed) -> bool {
        let scores = self.score.zip(last.gain);
        self.terms.keep_seeds.is_some() && scores.is_some_and(|(score, gain)| score > gain)
    }
}

/// Pick of a site, or over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteSeed {
    /// Rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection.
    /// JSON has the field only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// URL of the page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Position among the picks of the site, or over the web, from 1.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// Score by which it was picked; `null` for a random pick.
    pub gain: Option<f64>,
}

/// Evidence for a page picked on its site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoverSeed {
    /// Rank on the list.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Whether `max-changes` keeps the page off the list. Its rank is then that in the method's selection.
    /// JSON has the field only if it is `true`.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    #[schemars(extend("const" = true))]
    pub deferred: bool,
    /// Refresh that picked it. Later refreshes reuse the pick while the site is unchanged.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// Position among the picks of the site, from 1.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// Number of seeds allocated to the site.
    #[schemars(range(min = 1))]
    pub seats: u32,
    /// Score by which it was picked; `null` for a random pick.
    pub gain: Option<f64>,
    /// Pages that it covers and no earlier pick of the site does.
    pub covers: ValueBreakdown,
    /// Those pages by distance from it, from 0 hops on.
    pub hops: Vec<ValueBreakdown>,
    /// Second-best page at that moment; `null` if unknown.
    pub runner_up: Option<ScoredUrl>,
    /// Earlier pick that covers the page itself, and the distance in links; `null` if none does.
    pub covered_by: Option<(SiteSeed, u32)>,
}

/// Crawled page that no seed covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Uncovered {
    /// Score after the site's last pick; `null` if picks are random.
    pub score: Option<f64>,
    /// Whether the score is exact. If not, it is an upper bound.
    pub exact: bool,
    /// Last pick of the site.
    pub last_pick: Option<SiteSeed>,
    /// Number of picks of the site.
    pub picks: u32,
    /// Number of seeds allocated to the site.
    #[schemars(range(min = 1))]
    pub seats: u32,
    /// Why the site has no more seeds.
    pub stop: CoverStop,
}

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
