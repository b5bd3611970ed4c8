//! Errors of a selection by coverage.

use crate::watch::Interrupted;

/// An error of a selection.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CoverError {
    /// The parameters are invalid.
    #[error(transparent)]
    Params(#[from] BadParams),
    /// The caller interrupted the work.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}

/// Invalid parameters. Messages name parameters as a plan file does.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BadParams {
    /// The named method cannot remove covered pages.
    #[error(
        "{0} does not support `covered` = remove; omit it, or use max-out, max-weight or max-scc"
    )]
    CannotRemove(&'static str),
    /// `covered` = zero with max-out, which removes by definition.
    #[error(
        "max-out always removes the pages that it has covered; omit `covered` = zero, or use max-weight with `depth` = 1"
    )]
    CannotZero,
    /// A depth for the named method, which does not have one.
    #[error("{0} does not support `depth`; omit it, or use max-weight, max-scc or root-scc")]
    NoDepth(&'static str),
    /// A depth for greedy, which always looks as far ahead as a seed covers.
    #[error(
        "greedy always looks {hops} hops ahead, as far as a seed covers; omit `depth` = {depth}, or use max-weight with it"
    )]
    GreedyDepth {
        /// The requested depth.
        depth: u32,
        /// The hops that a seed covers.
        hops: u32,
    },
    /// A depth that exceeds the hops that a seed covers.
    #[error(
        "expected a depth of at most the {hops} hops that a seed covers, found {depth}; use `depth` = {hops} or less, or raise `hops`"
    )]
    TooDeep {
        /// The requested depth.
        depth: u32,
        /// The hops that a seed covers.
        hops: u32,
    },
    /// A number out of its range. Plans check the ranges of their parameters first, with a longer message.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// Both seeds per site and a total.
    #[error("`per-site` conflicts with `seeds`; use one of them")]
    TwoCounts,
    /// A way to distribute seeds over sites, but no total number.
    #[error("`share` requires a total number of seeds; add `seeds`")]
    NothingToShare,
    /// A weight of quality in a plan with values by PageRank.
    #[error(
        "`value-quality` conflicts with `value-by` = pagerank, where the value of a page is its PageRank; omit one of them"
    )]
    QualityByPagerank,
    /// The named method only selects site by site.
    #[error("{0} selects site by site; omit `scope` = web, or use greedy or max-weight")]
    OnlyPerSite(&'static str),
    /// The named method only selects over the whole web.
    #[error("{0} selects over the whole web; add `scope` = web, or use another method")]
    OnlyOverWeb(&'static str),
    /// The period `revisit` = auto without a budget.
    #[error(
        "`revisit` = auto requires `budget`, from which it follows; add it, or give a number of days"
    )]
    RevisitNeedsBudget,
    /// The named parameter in a plan with learned values.
    #[error(
        "`learned` conflicts with `{0}`: its values come from past crawls, its method is greedy over the whole web, and nothing is tuned on pages held out; omit one of them"
    )]
    ExcludedByLearned(&'static str),
    /// `per-site` in a plan over the whole web.
    #[error("a plan over the whole web has one list of seeds; use `seeds` instead of `per-site`")]
    PerSiteOverWeb,
    /// `share` in a plan over the whole web.
    #[error("a plan over the whole web does not distribute seeds over sites; omit `share`")]
    ShareOverWeb,
    /// `covered` = remove with a method by weight over the whole web.
    #[error(
        "over the whole web, only max-out removes the pages that it has covered; omit `covered` = remove"
    )]
    RemoveOverWeb,
    /// A fetch cost for the named method, which does not select by value.
    #[error(
        "{0} does not select by value, so `fetch-cost` does not apply; use greedy or max-weight"
    )]
    NoGain(&'static str),
    /// A budget for the named method, which has no settings to try.
    #[error("`budget` applies to greedy only, and the method is {0}; omit it, or use greedy")]
    NoBudget(&'static str),
    /// A way in which duplicates count for the named method, for which each counts.
    #[error("`duplicates` applies to greedy only, and the method is {0}; omit it, or use greedy")]
    NoContents(&'static str),
    /// A part of the worth for which seeds stay, with the named method, which does not pick by worth.
    #[error("`keep-seeds` applies to greedy only, and the method is {0}; omit it, or use greedy")]
    KeepsNoSeeds(&'static str),
    /// A limit of the search for settings, or of the crawl that judges them, without a budget.
    #[error("`tune-visits`, `holdouts` and `crawl` require `budget`, whose crawl they are about")]
    NothingToTune,
    /// The named parameter of plans over the whole web in a plan over sites.
    #[error("`{0}` applies only to plans over the whole web; add `scope` = web, or omit `{0}`")]
    NeedsWeb(&'static str),
}
