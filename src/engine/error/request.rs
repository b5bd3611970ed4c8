//! The errors of requests, except for those of plans.

use seedbank_formats::display::{counted, is_or_are};

/// Why a request is invalid for any bank.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// A refresh that would keep no refreshes of its plan, not even itself.
    #[error("keeping 0 refreshes would delete the refresh itself; keep at least 1")]
    KeepsNothing,
    /// A list compared with more than one refresh.
    #[error(
        "a list is compared with one refresh; give at most one, and no plan to compare against"
    )]
    ListAndMore,
    /// Both refresh numbers and a plan to compare against.
    #[error(
        "expected refresh numbers or a plan to compare against, found both; plans are compared by their last refreshes"
    )]
    NumbersAndPlan,
    /// A record was pushed to a batch that has already failed.
    #[error("the batch has already failed; begin another one")]
    BatchEnded,
    /// A snapshot, and inputs that may be truncated.
    #[error(
        "truncated inputs cannot be kept in a snapshot, since pages after their ends would become gone; ingest them as a delta"
    )]
    TruncatedSnapshot,
    /// A search for an empty text.
    #[error("expected a URL, a site, or a part of one, found an empty text")]
    NothingToFind,
    /// Quotas for a crawl of zero pages.
    #[error("expected a crawl of at least 1 page, found 0")]
    NoPages,
    /// A plan, and quotas by weights that do not depend on a plan.
    #[error("quotas by {0} do not use a plan; remove the plan, or use quotas by value or seeds")]
    QuotasWithoutPlan(&'static str),
    /// Quotas by value of a plan that has no values of pages.
    #[error(
        "the plan has no values of pages: it uses cores or PageRank; use a plan with a cover method, or no plan"
    )]
    PlanWithoutValues,
    /// More than two refreshes in a diff.
    #[error("expected at most two refreshes to compare, found more")]
    TooManyRefreshes,
    /// A list to compare has too many URLs.
    #[error("expected a list of at most {most} URLs, found {}", counted(*urls, "URL"))]
    LongList {
        /// The number of URLs in the list.
        urls: usize,
        /// The maximum.
        most: usize,
    },
    /// A crawl for a comparison fetches no pages or too many.
    #[error("expected crawls of 1 to {most} fetches, found {fetches}")]
    Fetches {
        /// The requested number of fetches.
        fetches: u64,
        /// The maximum.
        most: u64,
    },
    /// A graph of pages in a format that supports only hosts.
    #[error("the format supports only hosts; request the graph of sites")]
    GraphOfHosts,
    /// An address in a build without remote files.
    #[error(
        "this build does not support remote files; install a package of a release, or build with the feature `remote`"
    )]
    NoRemote,
    /// A graph in the BV format by its address.
    #[error("a BV graph consists of files on this machine, found an address; download them first")]
    RemoteGraph,
    /// Parquet in a build without it.
    #[error("this build does not support Parquet; build it with the feature `parquet`")]
    NoParquet,
}

/// Why an experiment cannot be run: it is empty, or the bank has nothing to measure.
///
/// A report omits such an experiment and says why.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// An experiment without random draws to compare with.
    #[error("expected at least one random draw to compare with, found 0")]
    NoDraws,
    /// Distances with no cores or no sampled pages.
    #[error("distances need at least one core and one sample")]
    NoDistances,
    /// A budget with no list or no pages.
    #[error("a budget needs at least one list and one page")]
    NoBudget,
    /// A comparison with no seeds or no fetches.
    #[error("a comparison needs at least one seed and one fetch")]
    NoComparison,
    /// The bank has no crawled page.
    #[error("the bank has no crawled page to select as a seed")]
    NothingCrawled,
    /// The state after a batch cannot be reconstructed, or no page was crawled after it.
    #[error(
        "seeds cannot be selected on the state after batch {batch}: {}",
        past_words(*first, *last)
    )]
    NoPast {
        /// The requested batch.
        batch: u32,
        /// The first batch whose state can be reconstructed.
        first: u32,
        /// The last batch.
        last: u32,
    },
    /// Too few batches keep what they overwrote.
    #[error(
        "a comparison by later batches requires at least 5 batches with times of fetches, found {}; ingest each crawl as a batch of its own",
        counted(*batches, "batch")
    )]
    TooFewBatches {
        /// The number of batches.
        batches: u64,
    },
    /// A plan that does not select over the web, in a comparison by later batches.
    #[error(
        "a comparison by later batches needs a plan over the whole web, and plan {plan} is another one; name a plan with `scope` = web"
    )]
    NotOverWeb {
        /// The plan.
        plan: String,
    },
    /// Coverage with no seeds, hops, draws or sites.
    #[error("coverage needs at least one seed, hop, draw and site")]
    NoCoverage,
    /// No site to which another one links is large enough to measure coverage on.
    #[error(
        "no site has {} and a link from another site",
        counted(*min_pages, "crawled page")
    )]
    SmallSites {
        /// The minimum number of crawled pages of a site.
        min_pages: u32,
    },
    /// The refresh has no cores.
    #[error("refresh {refresh} of plan {plan} has no cores, so there are no distances to measure")]
    NoCores {
        /// The refresh.
        refresh: u32,
        /// Its plan.
        plan: String,
    },
    /// The refresh has no seeds.
    #[error("refresh {refresh} of plan {plan} selected no seeds, so there is nothing to evaluate")]
    NothingSelected {
        /// The refresh.
        refresh: u32,
        /// Its plan.
        plan: String,
    },
    /// A list is empty.
    #[error("{list} contains no seeds")]
    EmptyList {
        /// The list's name.
        list: String,
    },
    /// No seed of a list is a page that can be crawled today.
    #[error(
        "none of {} of {list} is a page today ({dead} died, {unknown} {} not in the bank)",
        counted(*given, "seed"),
        is_or_are(unknown)
    )]
    NoLiveSeeds {
        /// The list's name.
        list: String,
        /// The number of seeds in the list.
        given: u64,
        /// The number of seeds that are gone, spam or no longer linked to today.
        dead: u64,
        /// The number of seeds that the bank does not contain or that are not URLs.
        unknown: u64,
    },
}

/// Formats the range of batches after which seeds can be selected.
fn past_words(first: u32, last: u32) -> String {
    if first < last {
        format!("expected a batch from {first} to {}", last - 1)
    } else {
        "the bank can reconstruct only the current state".to_owned()
    }
}
