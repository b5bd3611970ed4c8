//! What makes a request invalid, apart from its plan.

use seedbank_formats::shown::{are, counted};

/// Why a request makes no sense, whatever the bank holds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RequestError {
    /// A refresh that is to keep none of its plan's refreshes.
    #[error("to keep 0 refreshes would delete the refresh itself; keep at least 1")]
    KeepsNothing,
    /// A list compared with more than one refresh.
    #[error(
        "a list is compared with one refresh; give at most one, and no plan to compare against"
    )]
    ListAndMore,
    /// Refreshes by number and a plan to compare against.
    #[error(
        "two plans are compared by their last refreshes; give numbers or a plan to compare against, not both"
    )]
    NumbersAndPlan,
    /// A record pushed to a batch that has failed before.
    #[error("the batch has failed before; begin another")]
    BatchEnded,
    /// A search for nothing.
    #[error("there is nothing to search for; give a URL, a site, or a part of one")]
    NothingToFind,
    /// Quotas of no pages.
    #[error("a crawl of 0 pages has no quotas; ask for at least 1")]
    NoPages,
    /// Quotas by what is named, which is no plan's, and a plan.
    #[error("by {0} no plan counts; leave the plan out, or share out by value or seeds")]
    QuotasWithoutPlan(&'static str),
    /// Quotas by the values of a plan that has none.
    #[error(
        "the plan has no values of its own: it is by cores or by PageRank; name one by cover, or none"
    )]
    PlanWithoutValues,
    /// More than two refreshes to compare.
    #[error("more than two refreshes are given; a diff compares two")]
    TooManyRefreshes,
    /// A list to compare that is longer than it may be.
    #[error("the list has {}, and at most {most} are compared; give a shorter one", counted(*urls, "URL"))]
    LongList {
        /// How many URLs it has.
        urls: usize,
        /// How many it may have.
        most: usize,
    },
    /// A crawl of no pages, or of more than are read one by one.
    #[error("a list is compared by crawls of 1 to {most} fetches, not of {fetches}")]
    Fetches {
        /// How many were asked for.
        fetches: u64,
        /// How many there may be.
        most: u64,
    },
    /// A graph of pages in a format that has only hosts.
    #[error("the format has hosts alone; ask for the graph of sites")]
    GraphOfHosts,
    /// Parquet of a build that has none.
    #[error("this build has no Parquet; build it with the feature `parquet`")]
    NoParquet,
}

/// Why an experiment cannot be run: it asks for nothing, or the bank has nothing to measure.
///
/// A report leaves such an experiment out, and says why.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ExperimentError {
    /// A crawl without any random crawls to compare it with.
    #[error("give at least one random draw to compare with")]
    NoDraws,
    /// Distances between no cores, or averages over no pages.
    #[error("distances need at least one core and one sample")]
    NoDistances,
    /// No list, or no pages to crawl.
    #[error("a budget needs at least one list and one page")]
    NoBudget,
    /// Lists of no seeds, or crawls of no pages.
    #[error("a comparison needs at least one seed and one fetch")]
    NoComparison,
    /// Nothing was crawled, so that no page can be a seed.
    #[error("the bank has no crawled page, so there is nothing to choose from")]
    NothingCrawled,
    /// The state after a batch cannot be told, or nothing came after it.
    #[error(
        "seeds cannot be chosen as after batch {batch}: {}",
        past_words(*first, *last)
    )]
    NoPast {
        /// The batch asked for.
        batch: u32,
        /// The first batch after which all is known.
        first: u32,
        /// The last batch.
        last: u32,
    },
    /// Coverage by no seeds, or of nothing.
    #[error("coverage needs at least one seed, hop, draw and site")]
    NoCoverage,
    /// No site is large enough to measure coverage on.
    #[error("no site has {}", counted(*min_pages, "crawled page"))]
    SmallSites {
        /// How many crawled pages a site must have.
        min_pages: u32,
    },
    /// The refresh is by a method without cores, or found none.
    #[error("refresh {refresh} of plan {plan} has no cores, and distances are between cores")]
    NoCores {
        /// The refresh.
        refresh: u32,
        /// Its plan.
        plan: String,
    },
    /// The refresh has no seeds.
    #[error("refresh {refresh} of plan {plan} selected nothing, so there is nothing to judge")]
    NothingSelected {
        /// The refresh.
        refresh: u32,
        /// Its plan.
        plan: String,
    },
    /// A list has no lines.
    #[error("{list} names no seeds")]
    EmptyList {
        /// The list's name.
        list: String,
    },
    /// No seed of a list takes part any longer.
    #[error(
        "none of {} of {list} is a page today ({dead} died, {unknown} {} not in the bank)",
        counted(*given, "seed"),
        are(unknown)
    )]
    NoLiveSeeds {
        /// The list's name.
        list: String,
        /// How many seeds it has.
        given: u64,
        /// How many seeds are gone, spam or no longer linked to today.
        dead: u64,
        /// How many seeds the bank never knew, or are not URLs.
        unknown: u64,
    },
}

/// The batches at which seeds can be chosen.
fn past_words(first: u32, last: u32) -> String {
    if first < last {
        format!(
            "the bank can tell its past after batches {first} to {}",
            last - 1
        )
    } else {
        "the bank can tell no earlier state than the present one".to_owned()
    }
}
