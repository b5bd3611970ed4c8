//! What the experiments can be asked.

use crate::engine::Which;
use crate::engine::plan::PlanOptions;
use seedbank_store::records::BatchId;

/// Seeds to judge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeedList {
    /// The seeds of a refresh; those that died since take no part.
    Refresh(Which),
    /// The seeds of a refresh, where each that died is replaced by its successor as things stand
    /// today, if there is one that is not a seed already.
    Succeeded(Which),
    /// Any URLs.
    Urls {
        /// What the list is called in the answer.
        name: String,
        /// The URLs, best first.
        urls: Vec<String>,
    },
}

/// The request of `evaluate crawl`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::CrawlRequest;
///
/// let request = CrawlRequest { depth: 2, draws: 4, holdouts: 0, ..CrawlRequest::default() };
/// let found = bank.evaluate_crawl(&request, &Unwatched)?;
/// // The seed, and the two pages that it links to.
/// assert_eq!((found.depths[0].pages, found.depths[1].pages), (1, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CrawlRequest {
    /// The seeds.
    pub list: SeedList,
    /// How deep the crawl goes, in links.
    pub depth: u32,
    /// How many random seed sets of the same size it is compared with.
    pub draws: u32,
    /// The seed of the random streams that draw them.
    pub rng_seed: u64,
    /// How many pages with the highest PageRank are named, with the depth at which they are
    /// reached.
    pub top: u32,
    /// What the seeds are compared with by pages fetched.
    pub beside: Beside,
    /// How often a tenth of the crawled pages is held out for that while the plan chooses anew; URLs
    /// that were given are judged with everything known alone.
    pub holdouts: u32,
    /// Pages that crawls fetch; empty as in [`MethodsRequest::budgets`].
    pub budgets: Vec<u64>,
}

/// What stands beside seeds that are judged by pages fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum Beside {
    /// They are not judged so.
    Nothing,
    /// What crawlers use today.
    #[default]
    Baselines,
    /// That, and a plan of every method.
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
            beside: Beside::default(),
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
/// let found = bank.evaluate_distances(&DistancesRequest::default(), &Unwatched)?;
/// assert_eq!((found.cores.len(), found.all.pairs), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DistancesRequest {
    /// The refresh, which must have cores.
    pub which: Which,
    /// How many cores are measured at most, in order.
    pub cores: u32,
    /// The number of pages from which the graph's average distance is sampled.
    pub samples: u32,
    /// The seed of the sample's stream.
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
/// let found = bank.evaluate_coverage(&request, &Unwatched)?;
/// assert_eq!(found.sites, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct CoverageRequest {
    /// The most seeds per site: they go from 1 to this, at `hops`.
    pub per_site: u32,
    /// The most hops: they go from 1 to this, at `fixed_seeds`.
    pub hops: u32,
    /// Seeds per site while the hops vary.
    pub fixed_seeds: u32,
    /// The fewest crawled pages of a site. Smaller ones are left out: nearly any seeds cover them.
    pub min_pages: u32,
    /// The most sites; if there are more, this many are drawn at random.
    pub max_sites: u32,
    /// How many streams of random seeds are averaged.
    pub draws: u32,
    /// The seed of the streams, and of the draw of sites.
    pub rng_seed: u64,
    /// What pages are worth: the weights and `p_uniq`; other parameters are ignored.
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
/// let found = bank.evaluate_budget(&request, &Unwatched)?;
/// assert_eq!((found.lists[0].pages, found.lists[1].pages), (3, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BudgetRequest {
    /// The lists to compare, at least one.
    pub lists: Vec<SeedList>,
    /// The most pages that are crawled from each list.
    pub pages: u64,
}

/// The request of `evaluate methods`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::evaluate::MethodsRequest;
///
/// let request = MethodsRequest { seeds: vec![1], budgets: vec![2], ..MethodsRequest::default() };
/// let found = bank.evaluate_methods(&request, &Unwatched)?;
/// let random = found.comparison.lists.iter().find(|list| list.list == "random");
/// assert_eq!(random.map(|list| list.known.all.crawled.mean), Some(1.0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Debug)]
pub struct MethodsRequest {
    /// Numbers of seeds, at least one.
    pub seeds: Vec<u32>,
    /// Pages that crawls fetch; where it is empty a tenth, half and twice as many as are crawled,
    /// rounded to one digit.
    pub budgets: Vec<u64>,
    /// How often a tenth of the crawled pages is held out; 0 chooses with everything known alone.
    pub draws: u32,
    /// The seed of all random streams.
    pub rng_seed: u64,
    /// A plan of the bank that is compared as well; pages are worth what it says, unless `value` says
    /// otherwise.
    pub plan: Option<String>,
    /// What pages are worth; other parameters are not looked at.
    pub value: PlanOptions,
    /// The batch at which seeds are chosen as well; `None` for the first after which the bank knows
    /// all of its past.
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
            value: PlanOptions::default(),
            since: None,
        }
    }
}
