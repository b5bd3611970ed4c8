//! What `explain` answers with. As JSON it has a schema in `schema/`.

use super::says::PolicySays;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::engine::ask::answers::AliasView;
use crate::engine::plan::{Method, NAME_PATTERN, Tuned, by_cores, by_cover};
use crate::ingest::URL_PATTERN;
use crate::storage::records::{BatchId, CoverStop, PageState, RefreshId};

/// Why a page is a seed of a refresh, or why not.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{Which, Why};
///
/// let explanation = bank.explain("http://x.example/", &Which::default())?;
/// assert!(matches!(explanation.why, Why::CoreMember(_)));
/// assert!(explanation.cost.reads <= 20);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Explanation {
    /// The page, normalised.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its site.
    pub site: String,
    /// The refresh that the answer is about.
    #[serde(flatten)]
    pub asked: Asked,
    /// The page as it is today, which may be later than the refresh.
    pub page: PageToday,
    /// What the policies of the plan say of it; left out where they say nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub policy: Option<PolicySays>,
    /// The answer.
    #[serde(flatten)]
    pub why: Why,
    /// What the answer cost to read.
    #[serde(skip)]
    pub cost: ReadCost,
}

/// The refresh that an answer is about.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Asked {
    /// The plan of the refresh.
    #[schemars(regex(pattern = NAME_PATTERN))]
    pub plan: String,
    /// How its seeds were selected.
    pub method: Method,
    /// The refresh that is asked.
    #[schemars(range(min = 1))]
    pub refresh: RefreshId,
    /// The last batch of the state that the refresh ran on.
    pub state_after: BatchId,
    /// How many seeds it selected.
    pub seeds: u32,
    /// Whether its results were proven.
    pub certified: bool,
}

/// Reads of the store.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct ReadCost {
    /// How many point reads there were, and entries read in ranges.
    pub reads: u64,
    /// How many bytes of keys and values were read.
    pub bytes: u64,
}

/// A page as the published state has it, which may be later than the refresh.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct PageToday {
    /// Known, crawled, gone, unlinked (nobody links to it any longer), or an alias.
    pub state: PageState,
    /// What makes it an alias; absent where it is none.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub alias: Option<AliasView>,
    /// The spam mark.
    pub spam: bool,
    /// The batch that first named the page.
    #[schemars(range(min = 1))]
    pub first_seen: BatchId,
    /// The last batch with a record for the page; none for a page that is only linked to.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(range(min = 1))]
    pub last_seen: Option<BatchId>,
    /// Whether that batch came after the state that the refresh ran on.
    pub recorded_since: bool,
}

/// The kinds of answers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Why {
    /// Cores: it is the hub that was chosen from a core.
    #[schemars(transform = by_cores)]
    CoreSeed(Box<CoreSeed>),
    /// Cores: it is a hub or an authority of a core.
    #[schemars(transform = by_cores)]
    CoreMember(Box<CoreMember>),
    /// Cores: it links to an authority of a core, or is linked from a hub of it, but was not taken.
    #[schemars(transform = by_cores)]
    NearCore(Box<NearCore>),
    /// Cores: it was near no core; its row sums show how far away it was.
    #[schemars(transform = by_cores)]
    RowSum(RowSums),
    /// Cores: it has no inter-site links that count.
    #[schemars(transform = by_cores)]
    Unlinked {
        /// Whether it is on inter-site links, but the pages at all their other ends were left out.
        others_left_out: bool,
    },
    /// Cover: it was picked on its site.
    #[schemars(transform = by_cover)]
    CoverSeed(Box<CoverSeed>),
    /// Cover: a seed covers it.
    #[schemars(transform = by_cover)]
    Covered {
        /// The seed that covers it first.
        by: SiteSeed,
        /// Its distance from that seed.
        hop: u32,
    },
    /// Cover: no seed covers it.
    #[schemars(transform = by_cover)]
    Uncovered(Box<Uncovered>),
    /// Cover: its site got no seats when the seeds were shared out.
    #[schemars(transform = by_cover)]
    NoSeats {
        /// Crawled pages of the site at that time.
        #[schemars(range(min = 1))]
        crawled: u32,
    },
    /// Over the web: it was picked.
    #[schemars(transform = by_cover)]
    WebSeed(Box<WebSeed>),
    /// Over the web: a seed reaches it.
    #[schemars(transform = by_cover)]
    Reached {
        /// The seed that was the first to be picked of those that reach it.
        by: SiteSeed,
        /// How many links from that seed.
        hop: u32,
    },
    /// Over the web: it could be a seed, and no seed reaches it.
    #[schemars(transform = by_cover)]
    Unreached(Box<Unreached>),
    /// It took no part.
    LeftOut {
        /// Why it took no part.
        reason: LeftOut,
    },
    /// The bank did not know it when the refresh ran.
    Later,
}

/// Why a page took no part.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum LeftOut {
    /// It is spam.
    Spam,
    /// It is gone.
    Gone,
    /// It was not crawled, only linked to.
    NotCrawled,
    /// Nobody links to it any longer, so it is not a page.
    NoPage,
    /// It redirects to another page, or names another one as canonical: that one takes part.
    Alias,
    /// A list of the plan leaves it out of the graph.
    Excluded,
    /// Over the web: no crawl leads anywhere from it, and no seed reaches it.
    NoLinks,
}

/// A core in numbers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreNumbers {
    /// Its rank, from 1.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// The singular value of the region that it came from.
    pub sigma: f64,
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
pub struct PlaceView {
    /// Its score, L2-normalised over pages.
    pub score: f64,
    /// Its place by score, from 1; ties by URL.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// Its place in the order in which the side was taken, from 1.
    #[schemars(range(min = 1))]
    pub taken: u32,
}

/// Why a page is the seed of a core.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoreSeed {
    /// Its rank among the seeds.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// The first refresh of the unbroken run in which it has been a seed.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// The core.
    pub core: CoreNumbers,
    /// Its place among the hubs.
    pub hub: PlaceView,
    /// How many authorities of the core it links to.
    pub leads_to: u32,
    /// How many sites those authorities are on.
    pub leads_to_sites: u32,
    /// Those of them that were taken first, at most three.
    #[schemars(length(max = 3), inner(regex(pattern = URL_PATTERN)))]
    pub first: Vec<String>,
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
    pub hub: Option<PlaceView>,
    /// Its place among the authorities; `None` where it is no authority.
    pub authority: Option<PlaceView>,
    /// The core's seed with its hub score.
    pub seed: ScoredUrl,
}

/// Why a candidate was not taken.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum NotTaken {
    /// It has too few links with the core: it would have lowered the density.
    LacksLinks,
    /// The core had all the hubs that it may have.
    HubsFull,
    /// The core had reached its size.
    CoreFull,
    /// Growth is literal: the core was done when its best candidate did not fit.
    Ended,
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
    /// The core's seed with its hub score.
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
    pub needs: u64,
    /// Why it was not taken.
    pub reason: NotTaken,
    /// Its row sums.
    pub sums: RowSums,
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
    pub reaches: bool,
}

/// Value and what makes it up.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct Parts {
    /// The number of pages.
    pub pages: u64,
    /// How many of the pages are clicked and not spam.
    pub clicked: u64,
    /// How many of the pages are spam.
    pub spam: u64,
    /// The uncrawled outlinks of all the pages, summed.
    pub uncrawled_outlinks: u64,
    /// The value of the pages, in units.
    pub value: f64,
    /// The part of the value that comes from uncrawled outlinks, in units.
    pub uncrawled_value: f64,
}

/// Over the web: value, what makes it up, and what it costs.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, Deserialize, JsonSchema)]
pub struct WebParts {
    /// All pages, crawled and known.
    #[serde(flatten)]
    pub all: Parts,
    /// How many of them are known and not crawled.
    pub known: u64,
    /// What the pages cost, in units: the price of a page for each.
    pub cost: f64,
    /// The value less the cost, in units.
    pub net: f64,
}

/// Over the web: how far seeds reach and what a page costs.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebTerms {
    /// How many hops from a seed a page is reached.
    pub hops: u32,
    /// What every page reached costs, in units.
    pub fetch_cost: f64,
    /// How many pages the crawl will fetch; `null` where the list is not made for a crawl.
    pub budget: Option<u64>,
    /// How the plan came by hops and price; `null` where they were given.
    pub tuned: Option<Tuned>,
}

/// Why a page was picked over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct WebSeed {
    /// Its rank among the seeds.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// The refresh that picked it. Later ones may have taken it over, nothing having changed.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// Its place in the order of picks, from 1; with a budget the order of the list is another.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// The score that it was picked by; `null` where it was drawn at random.
    pub gain: Option<f64>,
    /// What it reaches that no earlier pick does.
    pub reaches: WebParts,
    /// What it is the first to reach, by distance from it, from 0 hops on.
    pub hops: Vec<WebParts>,
    /// The second best page at that moment; `null` where it is not known.
    pub runner_up: Option<ScoredUrl>,
    /// The earlier pick that reaches the page itself, and its distance; `null` where none does.
    pub reached_by: Option<(SiteSeed, u32)>,
    /// How far seeds reach and what a page costs.
    pub terms: WebTerms,
}

/// A page that could be a seed and that no seed reaches.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Unreached {
    /// What it would have been picked by after the last pick; `null` where pages are drawn.
    pub score: Option<f64>,
    /// The last pick, which outweighed it; `null` where the scores that are left are not positive.
    pub last_pick: Option<SiteSeed>,
    /// How many picks there are.
    pub picks: u32,
    /// How many seeds were asked for.
    #[schemars(range(min = 1))]
    pub seeds_asked: u32,
    /// How far seeds reach and what a page costs.
    pub terms: WebTerms,
}

/// A pick of a site, or over the web.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
pub struct SiteSeed {
    /// Its rank among the seeds.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// The page.
    #[schemars(regex(pattern = URL_PATTERN))]
    pub url: String,
    /// Its place among the picks of the site, or over the web, from 1.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// The score that it was picked by; `null` where it was drawn at random.
    pub gain: Option<f64>,
}

/// Why a page was picked on its site.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct CoverSeed {
    /// Its rank among the seeds.
    #[schemars(range(min = 1))]
    pub rank: u32,
    /// The refresh that picked it. Later ones may have taken it over, the site being unchanged.
    #[schemars(range(min = 1))]
    pub since: RefreshId,
    /// Its place among the picks of the site, from 1.
    #[schemars(range(min = 1))]
    pub pick: u32,
    /// The number of seeds that the site was to have.
    #[schemars(range(min = 1))]
    pub seats: u32,
    /// The score that it was picked by; `null` where it was drawn at random.
    pub gain: Option<f64>,
    /// What it covers that no earlier pick of the site does.
    pub covers: Parts,
    /// What the seed is the first to cover, by distance from it, from 0 hops on.
    pub hops: Vec<Parts>,
    /// The second best page at that moment; `null` where it is not known.
    pub runner_up: Option<ScoredUrl>,
    /// The earlier pick that covers the page itself, and its distance; `null` where none does.
    pub covered_by: Option<(SiteSeed, u32)>,
}

/// A crawled page that no seed covers.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct Uncovered {
    /// Its score after the site's last pick; `null` where pages are drawn.
    pub score: Option<f64>,
    /// Whether the score is exact; if `false`, it is an upper bound.
    pub exact: bool,
    /// The site's last pick.
    pub last_pick: Option<SiteSeed>,
    /// How many picks the site has.
    pub picks: u32,
    /// The number of seeds that the site was to have.
    #[schemars(range(min = 1))]
    pub seats: u32,
    /// Why the site has no more seeds.
    pub stop: CoverStop,
}
