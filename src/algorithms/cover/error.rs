//! Why nothing was picked, and what to do about it.

use crate::watch::Interrupted;

/// Why no pages were picked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoverError {
    /// The parameters make no sense.
    #[error(transparent)]
    Params(#[from] BadParams),
    /// The caller asked for the work to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Parameters that make no sense. The texts name parameters as a plan file does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadParams {
    /// The method, which is named, cannot remove covered pages.
    #[error(
        "`covered` = remove makes no sense for {0}; leave it out, or take max-out, max-weight or max-scc"
    )]
    CannotRemove(&'static str),
    /// max-out is defined by removing.
    #[error(
        "max-out always removes the pages it has covered; leave `covered` = zero out, or take max-weight with `depth` = 1"
    )]
    CannotZero,
    /// A depth for the named method, which uses none or has one of its own.
    #[error("{0} takes no `depth`; leave it out, or take max-weight, max-scc or root-scc")]
    NoDepth(&'static str),
    /// A depth for greedy, which always looks as deep as it covers.
    #[error(
        "greedy always looks {hops} hops deep, as far as it covers; leave `depth` = {depth} out, or take max-weight with it"
    )]
    GreedyDepth {
        /// The depth that was given.
        depth: u32,
        /// The hops that are covered.
        hops: u32,
    },
    /// A depth beyond what a pick covers.
    #[error(
        "a depth of {depth} is more than the {hops} hops that a seed covers; take `depth` = {hops} or less, or raise `hops`"
    )]
    TooDeep {
        /// The depth that was given.
        depth: u32,
        /// The hops that are covered.
        hops: u32,
    },
    /// A number out of its range; plans check the ranges of their parameters before, and say more.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// Both seeds per site and a total.
    #[error("`per-site` and `seeds` contradict each other; give one of them")]
    TwoCounts,
    /// A way to share out seeds, but no total.
    #[error("`share` needs a total to share out; give `seeds`")]
    NothingToShare,
    /// A weight of quality, of a plan by PageRank.
    #[error(
        "with `value-by` = pagerank a page is worth its PageRank alone; leave `value-quality` out, or `value-by`"
    )]
    QualityByPagerank,
    /// A method that knows only sites, which is named.
    #[error("{0} works site by site; leave `scope` = web out, or take greedy or max-weight")]
    OnlyPerSite(&'static str),
    /// Seeds per site, of a plan over the whole web.
    #[error("a plan over the whole web has one list: give `seeds` in the place of `per-site`")]
    PerSiteOverWeb,
    /// A way to share out seeds, of a plan over the whole web.
    #[error("a plan over the whole web shares nothing out over sites; leave `share` out")]
    ShareOverWeb,
    /// Covered pages cannot be removed from the whole web by weight.
    #[error(
        "over the whole web only max-out removes the pages it has covered; leave `covered` = remove out"
    )]
    RemoveOverWeb,
    /// A price for the named method, which has no gains that it could be taken from.
    #[error(
        "{0} picks by no value that a `fetch-cost` could be taken from; take greedy or max-weight"
    )]
    NoGain(&'static str),
    /// A budget for the named method, of which there is nothing to try.
    #[error("`budget` tries hops and prices of greedy, not of {0}; leave it out, or take greedy")]
    NoBudget(&'static str),
    /// A limit of what is tried, but nothing to try.
    #[error("`tune-visits` limits what a `budget` tries; give that too, or leave it out")]
    NothingToTune,
    /// A parameter of plans over the whole web, which is named, for a plan over sites.
    #[error("`{0}` belongs to plans over the whole web; give `scope` = web, or leave it out")]
    NeedsWeb(&'static str),
}
