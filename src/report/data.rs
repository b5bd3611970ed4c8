//! What a report tells, as plain data: the page is made from it, and the JSON file beside the page
//! is it (`schema/report.schema.json`).

use schemars::JsonSchema;
use serde::Serialize;

/// Everything that a report tells of one refresh.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Report {
    /// The bank's name: the last part of its folder.
    pub bank: String,
    /// The plan.
    pub plan: String,
    /// Its method.
    pub method: String,
    /// What the plan said of its parameters, as on the command line.
    pub parameters: Vec<Parameter>,
    /// The refresh.
    pub refresh: u32,
    /// When it ran, in seconds since 1970 (UTC).
    pub at: u64,
    /// The last batch of the state that it ran on.
    pub batch: u32,
    /// The last batch that the bank has taken; what is measured is measured on the state after it.
    pub bank_batch: u32,
    /// Whether every result was proven.
    pub certified: bool,
    /// Why not, where it was not.
    pub doubt: Option<String>,
    /// What the bank holds.
    pub web: Web,
    /// Its seeds, best first.
    pub seeds: Vec<SeedLine>,
    /// Its cores, in order; none where the method is not by cores.
    pub cores: Vec<CoreLine>,
    /// A crawl from the seeds beside crawls from random pages.
    pub crawl: Option<Crawl>,
    /// How far the cores are from each other.
    pub distances: Option<Distances>,
    /// What cover methods cover.
    pub coverage: Option<Coverage>,
    /// What the seeds, and those of other plans, give for so many pages.
    pub budget: Option<Budget>,
    /// Why an experiment could not be made, one sentence each.
    pub left_out: Vec<String>,
    /// What is claimed of such seeds, and whether it holds here.
    pub claims: Vec<Claim>,
    /// What the plan's refresh before this one had.
    pub changes: Option<Changes>,
    /// The plan's refreshes up to this one that are kept, in order.
    pub costs: Vec<Cost>,
}

/// A parameter of a plan.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Parameter {
    /// Its name on the command line.
    pub name: String,
    /// Its value.
    pub value: String,
}

/// What a bank holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Web {
    /// Sites.
    pub sites: u64,
    /// Crawled pages.
    pub crawled: u64,
    /// Known pages.
    pub known: u64,
    /// Gone pages.
    pub gone: u64,
    /// Links within sites.
    pub intra_links: u64,
    /// Links between sites.
    pub inter_links: u64,
}

/// A seed with its reason.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct SeedLine {
    /// Its rank, from 1.
    pub rank: u32,
    /// The page.
    pub url: String,
    /// Its site.
    pub site: String,
    /// Why it was selected.
    pub reason: Reason,
    /// Whether the plan's refresh before this one had it; `null` where there was none.
    pub kept: Option<bool>,
    /// Why it can start no crawl any more: gone, spam, or no page; `null` while it can.
    #[schemars(extend("enum" = ["gone", "spam", "no page", null]))]
    pub dead: Option<String>,
}

/// Why a seed was selected.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
#[serde(tag = "by", rename_all = "kebab-case")]
pub enum Reason {
    /// It is the chosen hub of a core.
    Core {
        /// The core's rank.
        #[schemars(range(min = 1))]
        core: u32,
        /// Its hub score, L2-normalised over pages.
        hub_score: f64,
    },
    /// It covers value on its site.
    Cover {
        /// The score that it was picked by; `null` where it was drawn.
        gain: Option<f64>,
        /// Pages that it covers and no earlier pick of the site does.
        covered_pages: u64,
        /// Their value.
        covered_value: f64,
        /// Its place among the picks of the site, from 1.
        #[schemars(range(min = 1))]
        pick: u32,
        /// The refresh that picked it.
        #[schemars(range(min = 1))]
        since: u32,
    },
}

/// A core.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CoreLine {
    /// Its rank, from 1.
    pub rank: u32,
    /// The singular value of the region that it came from.
    pub sigma: f64,
    /// Links from its hubs to its authorities, in per cent of all that could be.
    pub density: f64,
    /// Its hubs.
    pub hubs: u64,
    /// Its authorities.
    pub authorities: u64,
    /// The sites of its hubs, the one with the most hubs first.
    pub hub_sites: Vec<SiteShare>,
    /// The sites of its authorities, the one with the most authorities first.
    pub authority_sites: Vec<SiteShare>,
    /// Its best authorities, at most ten.
    pub best_authorities: Vec<String>,
    /// The hub that became the seed.
    pub seed: String,
}

/// A site's part of something.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct SiteShare {
    /// The site.
    pub site: String,
    /// Its pages.
    pub pages: u64,
}

/// A mean with its standard error.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Mean {
    /// The mean.
    pub mean: f64,
    /// Its standard error; not a number, in JSON `null`, where a single observation tells none.
    #[schemars(with = "Option<f64>")]
    pub error: f64,
}

/// Something that is claimed of seeds.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, JsonSchema)]
pub struct Claim {
    /// Whether it holds here.
    pub holds: bool,
    /// One sentence with the figures.
    pub text: String,
}

/// A crawl from the seeds beside crawls from as many random pages, breadth first.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Crawl {
    /// Seeds that the crawl started from: those that are still there.
    pub seeds: u64,
    /// Seeds that died since they were selected: gone, unlinked, or spam by now.
    pub dead: u64,
    /// Random sets of as many pages.
    pub draws: u32,
    /// Crawled and known pages: the whole web of the bank.
    pub web: u64,
    /// Depth by depth; the seeds themselves are depth 0.
    pub depths: Vec<CrawlDepth>,
}

/// What a crawl finds at one depth.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CrawlDepth {
    /// Links from the nearest seed.
    pub depth: u32,
    /// Pages up to this depth, from the seeds.
    pub reached: u64,
    /// Pages reached from random pages instead, in per cent.
    pub reached_random: Mean,
    /// PageRank of the pages up to this depth, in per cent of the web's.
    pub pagerank: f64,
    /// PageRank reached from random pages instead; the error is a bound, the sum of those of the depths.
    pub pagerank_random: Mean,
    /// Mean PageRank of the pages at this depth, in times the average of the web; `null` where
    /// there are none.
    pub rank: Option<f64>,
    /// The rank of the pages found from random pages instead; `None` where none was found.
    pub rank_random: Option<Mean>,
    /// Spam among the pages at this depth, in per cent; `null` where there are none.
    pub spam: Option<f64>,
    /// The share of spam found from random pages instead; `None` where the bank marks none.
    pub spam_random: Option<Mean>,
    /// Value of the pages at this depth.
    pub value: f64,
    /// The value reached from random pages instead.
    pub value_random: Mean,
}

/// How far cores are from each other: links from any page of one to any page of the other.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Distances {
    /// From each core in order to each core in order; `null` where there is no way.
    pub matrix: Vec<Vec<Option<u32>>>,
    /// Mean over ordered pairs of different cores that have a way; `null` where none has.
    pub mean: Option<f64>,
    /// Mean from a core to the next in rank, and back; `null` where there is no way.
    pub neighbours: Option<f64>,
    /// Ordered pairs of different cores without a way.
    pub unreachable: u64,
    /// The average distance between two pages of the web that have a way, from a sample; `null`
    /// where none has.
    pub average: Option<Mean>,
}

/// What cover methods cover on a sample of sites.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Coverage {
    /// Sites in the sample.
    pub sites: u64,
    /// Sites that could have been in it.
    pub sites_all: u64,
    /// Crawled pages that a site must have.
    pub min_pages: u32,
    /// Hops that a seed reaches while the number of seeds goes up.
    pub hops: u32,
    /// Seeds for a site while the hops go up.
    pub per_site: u32,
    /// Random draws for each site.
    pub draws: u32,
    /// By the number of seeds for a site; `random` and then the methods.
    pub by_seeds: Vec<MethodCurve>,
    /// By hops; `random` and then the methods.
    pub by_hops: Vec<MethodCurve>,
}

/// What one method covers.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct MethodCurve {
    /// The method.
    pub method: String,
    /// The depth of its weight, where it has one.
    pub depth: Option<u32>,
    /// Point by point.
    pub points: Vec<CoveragePoint>,
}

/// What so many seeds for a site cover within so many hops: means over sites.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub struct CoveragePoint {
    /// Seeds for a site.
    pub per_site: u32,
    /// Hops.
    pub hops: u32,
    /// Pages covered, in per cent of the site.
    pub pages: Mean,
    /// Value covered, in per cent of the positive value of the site.
    pub value: Mean,
    /// Pages, in per cent more than random covers; `null` for random itself.
    pub more_pages: Option<Mean>,
    /// Value, in per cent more than random covers; `null` for random itself.
    pub more_value: Option<Mean>,
}

/// Crawls of so many pages from several lists of seeds.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct Budget {
    /// At most so many pages are crawled.
    pub pages: u64,
    /// The refresh of the report, then the last ones of other plans.
    pub lists: Vec<BudgetLine>,
}

/// What one list gives.
#[derive(Clone, PartialEq, Debug, Default, Serialize, JsonSchema)]
pub struct BudgetLine {
    /// The list.
    pub name: String,
    /// Pages crawled.
    pub pages: u64,
    /// Value of those that the bank has crawled.
    pub value: f64,
    /// Clicks on the pages.
    pub clicks: u64,
    /// Spam pages.
    pub spam: u64,
    /// PageRank of the pages together, in per cent of the web's.
    pub pagerank: f64,
}

/// What changed since an earlier refresh of the plan.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct Changes {
    /// The earlier refresh.
    pub refresh: u32,
    /// The last batch of the state that it ran on.
    pub batch: u32,
    /// Whether it ran with other parameters.
    pub other_parameters: bool,
    /// Seeds that it did not have, best first.
    pub gained: Vec<ChangedSeed>,
    /// Seeds that only it had, best first.
    pub lost: Vec<ChangedSeed>,
    /// Seeds of both, best first.
    pub kept: Vec<String>,
}

/// A seed that came or went.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, JsonSchema)]
pub struct ChangedSeed {
    /// The page.
    pub url: String,
    /// Why it came or went, in words.
    pub because: String,
    /// The batch that brought it; `null` where no page concerned changed.
    #[schemars(range(min = 1))]
    pub batch: Option<u32>,
    /// Who may follow a lost seed that is dead.
    pub successor: Option<String>,
}

/// What a refresh cost.
#[derive(Clone, PartialEq, Debug, Serialize, JsonSchema)]
pub struct Cost {
    /// The refresh.
    pub refresh: u32,
    /// When it ran, in seconds since 1970 (UTC).
    pub at: u64,
    /// The last batch of the state that it ran on.
    pub batch: u32,
    /// Seeds selected.
    pub seeds: u32,
    /// How long it took, in seconds.
    pub seconds: f64,
    /// Entries of rows or citers read while ranking.
    pub link_visits: u64,
    /// Pages settled plus adjacency entries scanned.
    pub page_visits: u64,
    /// Whether nothing of an earlier refresh was reused.
    pub cold: bool,
    /// Whether every result was proven.
    pub certified: bool,
}
