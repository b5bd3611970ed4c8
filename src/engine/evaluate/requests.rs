//! Requests of the experiments.

use crate::engine::Which;
use crate::engine::plan::{Goal, PlanOptions};
use seedbank_store::records::BatchId;

/// List of seeds to evaluate.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeedList {
    /// The seeds of a refresh; dead ones are left out.
    Refresh(Which),
    /// The seeds of a refresh, with each dead one replaced by its current successor, if it has one
    /// that is not a seed already.
    Succeeded(Which),
    /// Any URLs.
    Urls {
        /// Name of the list in the result.
        name: String,
        /// The URLs, best first.
        urls: Vec<String>,
    },
}

/// The request of `evaluate actual`.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct ActualRequest {
    /// The plan; `None` for all plans.
    pub plan: Option<String>,
    /// The first batch; `None` for all batches.
    pub since: Option<BatchId>,
}

/// The request of `evaluate crawl`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::CrawlRequest;
///
/// let request = CrawlRequest { depth: 2, draws: 4, holdouts: 0, ..CrawlRequest::default() };
/// let found = bank.evaluate_crawl(&request)?;
/// // The seed, and the two pages that it links to.
/// assert_eq!((found.depths[0].pages, found.depths[1].pages), (1, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CrawlRequest {
    /// The seeds.
    pub list: SeedList,
    /// Depth of the crawl, in links.
    pub depth: u32,
    /// Number of random seed sets of the same size to compare with.
    pub draws: u32,
    /// Seed of the random streams.
    pub rng_seed: u64,
    /// Number of pages with the highest PageRank to report, with the depth at which they are
    /// reached.
    pub top: u32,
    /// Lists that the seeds are compared with by pages fetched.
    pub compared_with: ComparedWith,
    /// Number of times that a tenth of the crawled pages is held out for that while the plan
    /// selects again. URLs are only evaluated with everything known.
    pub holdouts: u32,
    /// Pages that crawls fetch; empty as in [`MethodsRequest::budgets`].
    pub budgets: Vec<u64>,
}

/// Lists that seeds are compared with by pages fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum ComparedWith {
    /// No comparison.
    Nothing,
    /// The baselines of today's crawlers.
    #[default]
    Baselines,
    /// Those, and a plan of every method.
    Methods,
}

impl Default for CrawlRequest {
    fn default() -> Self {
        Self {
            list: SeedList::Refresh(Which::default()),
            depth: 6,
            draws: 100,
            rng_seed: 0,
            top: 10,
            compared_with: ComparedWith::default(),
            holdouts: 5,
            budgets: Vec::new(),
        }
    }
}

/// The request of `evaluate distances`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::DistancesRequest;
///
/// let found = bank.evaluate_distances(&DistancesRequest::default())?;
/// assert_eq!((found.cores.len(), found.all.pairs), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DistancesRequest {
    /// The refresh, which must have cores.
    pub which: Which,
    /// Maximum number of cores to measure, in order.
    pub cores: u32,
    /// Number of pages from which the graph's average distance is sampled.
    pub samples: u32,
    /// Seed of the sample.
    pub rng_seed: u64,
}

impl Default for DistancesRequest {
    fn default() -> Self {
        Self {
            which: Which::default(),
            cores: 100,
            samples: 400,
            rng_seed: 0,
        }
    }
}

/// The request of `evaluate coverage`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::CoverageRequest;
///
/// let request = CoverageRequest { min_pages: 1, per_site: 1, hops: 1, ..CoverageRequest::default() };
/// let found = bank.evaluate_coverage(&request)?;
/// assert_eq!(found.sites, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct CoverageRequest {
    /// Maximum number of seeds per site: they go from 1 to this, at `hops`.
    pub per_site: u32,
    /// Maximum number of hops: they go from 1 to this, at `fixed_seeds`.
    pub hops: u32,
    /// Seeds per site while the hops vary.
    pub fixed_seeds: u32,
    /// Minimum number of crawled pages of a site. Nearly any seeds cover smaller sites.
    pub min_pages: u32,
    /// Maximum number of sites; if there are more, this many are drawn at random.
    pub max_sites: u32,
    /// Number of random lists that are averaged.
    pub draws: u32,
    /// Seed of the random streams, and of the draw of sites.
    pub rng_seed: u64,
    /// Values of pages: the weights and `p_uniq`; other parameters are ignored.
    pub value: PlanOptions,
}

impl Default for CoverageRequest {
    fn default() -> Self {
        Self {
            per_site: 10,
            hops: 5,
            fixed_seeds: 5,
            min_pages: 10,
            max_sites: 1000,
            draws: 20,
            rng_seed: 0,
            value: PlanOptions::default(),
        }
    }
}

/// The request of `evaluate budget`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Which;
/// use seedbank::engine::evaluate::{BudgetRequest, SeedList};
///
/// let request = BudgetRequest {
///     lists: vec![
///         SeedList::Refresh(Which::default()),
///         SeedList::Urls { name: "today".to_owned(), urls: vec!["http://x.example/".to_owned()] },
///     ],
///     pages: 10,
/// };
/// let found = bank.evaluate_budget(&request)?;
/// assert_eq!((found.lists[0].pages, found.lists[1].pages), (3, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BudgetRequest {
    /// Lists to compare, at least one.
    pub lists: Vec<SeedList>,
    /// Maximum number of pages crawled from each list.
    pub pages: u64,
}

/// The request of `evaluate methods`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::MethodsRequest;
///
/// let request = MethodsRequest { seeds: vec![1], budgets: vec![2], ..MethodsRequest::default() };
/// let found = bank.evaluate_methods(&request)?;
/// let random = found.comparison.lists.iter().find(|list| list.list == "random");
/// assert_eq!(random.map(|list| list.known.all.crawled.mean), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct MethodsRequest {
    /// Numbers of seeds, at least one.
    pub seeds: Vec<u32>,
    /// Pages that crawls fetch; if empty, a tenth, half and twice as many as are crawled, rounded
    /// to one digit.
    pub budgets: Vec<u64>,
    /// Number of times that a tenth of the crawled pages is held out; 0 selects with everything
    /// known only.
    pub draws: u32,
    /// Seed of all random streams.
    pub rng_seed: u64,
    /// Plan of the bank that is also compared. Its goal and its values of pages apply unless `goal` and
    /// `value` override them.
    pub plan: Option<String>,
    /// The goal, which determines the figure that decides and the values of pages; `None` for that of
    /// the plan, or coverage.
    pub goal: Option<Goal>,
    /// Values of pages; other parameters are ignored.
    pub value: PlanOptions,
    /// Batch after which crawled pages are also held out; `None` for the first with a complete
    /// history after it.
    pub since: Option<BatchId>,
}

impl Default for MethodsRequest {
    fn default() -> Self {
        Self {
            seeds: vec![20, 100],
            budgets: Vec::new(),
            draws: 5,
            rng_seed: 0,
            plan: None,
            goal: None,
            value: PlanOptions::default(),
            since: None,
        }
    }
}
