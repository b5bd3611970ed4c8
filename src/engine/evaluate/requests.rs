//! What the experiments are asked.

use crate::cover::Value;
use crate::engine::Which;

/// Seeds to judge.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum SeedList {
    /// The seeds of a refresh; those that died since take no part.
    Refresh(Which),
    /// The seeds of a refresh, and in the place of each that died its successor as things stand
    /// today, where there is one that is no seed already.
    Succeeded(Which),
    /// Any URLs.
    Urls {
        /// What the list is called in the answer.
        name: String,
        /// The URLs, best first.
        urls: Vec<String>,
    },
}

/// What `evaluate crawl` is asked.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::CrawlRequest;
///
/// let request = CrawlRequest { depth: 2, draws: 4, ..CrawlRequest::default() };
/// let found = bank.evaluate_crawl(&request, &Unwatched)?;
/// // The seed, and the two pages that it links to.
/// assert_eq!((found.depths[0].pages, found.depths[1].pages), (1, 3));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CrawlRequest {
    /// The seeds.
    pub list: SeedList,
    /// How deep the crawl goes.
    pub depth: u32,
    /// How many random seed sets of the same size it is compared with.
    pub draws: u32,
    /// The seed of their streams.
    pub rng_seed: u64,
    /// How many pages of the highest PageRank are named with the depth at which they are reached.
    pub top: u32,
}

impl Default for CrawlRequest {
    fn default() -> Self {
        Self {
            list: SeedList::Refresh(Which::default()),
            depth: 6,
            draws: 100,
            rng_seed: 0,
            top: 10,
        }
    }
}

/// What `evaluate distances` is asked.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::DistancesRequest;
///
/// let found = bank.evaluate_distances(&DistancesRequest::default(), &Unwatched)?;
/// assert_eq!((found.cores.len(), found.all.pairs), (1, 0));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct DistancesRequest {
    /// The refresh, which must have cores.
    pub which: Which,
    /// At most so many cores, in order.
    pub cores: u32,
    /// From how many pages the graph's average distance is sampled.
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

/// What `evaluate coverage` is asked.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::CoverageRequest;
///
/// let request = CoverageRequest { min_pages: 1, per_site: 1, hops: 1, ..CoverageRequest::default() };
/// let found = bank.evaluate_coverage(&request, &Unwatched)?;
/// assert_eq!(found.sites, 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct CoverageRequest {
    /// Seeds per site go from 1 to this, at `hops`.
    pub per_site: u32,
    /// Hops go from 1 to this, at `fixed_seeds`.
    pub hops: u32,
    /// Seeds per site while the hops vary.
    pub fixed_seeds: u32,
    /// Sites with fewer crawled pages are left out: nearly any seeds cover them.
    pub min_pages: u32,
    /// Of more sites, so many are drawn.
    pub max_sites: u32,
    /// How many streams of random seeds are averaged.
    pub draws: u32,
    /// The seed of the streams, and of the draw of sites.
    pub rng_seed: u64,
    /// The value of a page that is neither spam nor clicked.
    pub value_base: Value,
    /// The value of a spam page.
    pub value_spam: Value,
    /// The value of a clicked page.
    pub value_clicked: Value,
    /// Overrides `P_uniq` of every site.
    pub p_uniq: Option<Value>,
}

impl Default for CoverageRequest {
    fn default() -> Self {
        let weights = crate::cover::Weights::default();
        Self {
            per_site: 10,
            hops: 5,
            fixed_seeds: 5,
            min_pages: 10,
            max_sites: 1000,
            draws: 20,
            rng_seed: 0,
            value_base: weights.base,
            value_spam: weights.spam,
            value_clicked: weights.clicked,
            p_uniq: None,
        }
    }
}

/// What `evaluate budget` is asked.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{BudgetRequest, SeedList, Which};
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
    /// At most so many pages are crawled.
    pub pages: u64,
}
