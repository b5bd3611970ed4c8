//! Why nothing was picked, and what to do about it.

use super::params::{MAX_HOPS, MAX_WEIGHT};
use super::value::Value;
use crate::watch::Interrupted;

/// Why no pages were picked.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum CoverError {
    /// Removing covered pages has no meaning for the method.
    #[error(
        "`--covered remove` makes no sense for {0}; leave it out, or take max-out, max-weight or max-scc"
    )]
    CannotRemove(&'static str),
    /// max-out is defined by removing.
    #[error(
        "max-out always removes the pages it has covered; leave `--covered zero` out, or take `max-weight --depth 1`"
    )]
    CannotZero,
    /// A depth for a method that uses none, or one of its own.
    #[error("{0} takes no `--depth`; leave it out, or take max-weight, max-scc or root-scc")]
    NoDepth(&'static str),
    /// Greedy looks as deep as it covers.
    #[error(
        "greedy always looks {hops} hops deep, as far as it covers; leave `--depth {depth}` out, or take `max-weight --depth {depth}`"
    )]
    GreedyDepth {
        /// The depth that was given.
        depth: u32,
        /// The hops that are covered.
        hops: u32,
    },
    /// Deeper than what a pick covers.
    #[error(
        "a depth of {depth} is more than the {hops} hops that a seed covers; take `--depth {hops}` or less, or raise `--hops`"
    )]
    TooDeep {
        /// The depth that was given.
        depth: u32,
        /// The hops that are covered.
        hops: u32,
    },
    /// More hops than [`MAX_HOPS`].
    #[error("{0} hops are more than any site has; take `--hops {MAX_HOPS}` or less")]
    TooManyHops(u32),
    /// Both seeds per site and a total.
    #[error("`--per-site` and `--seeds` contradict each other; give one of them")]
    TwoCounts,
    /// A way to share out without a total.
    #[error("`--share` needs a total to share out; add `--seeds N`")]
    NothingToShare,
    /// No seeds at all.
    #[error("a plan for no seeds selects nothing; ask for at least 1")]
    NoSeeds,
    /// A weight setting beyond [`MAX_WEIGHT`].
    #[error("{setting} {value} is too large; take one from -{MAX_WEIGHT} to {MAX_WEIGHT}")]
    WeightTooLarge {
        /// The setting's name on the command line.
        setting: &'static str,
        /// What it was set to.
        value: Value,
    },
    /// A probability outside 0..=1.
    #[error("`--p-uniq {0}` is no probability; take one from 0 to 1")]
    NoProbability(Value),
    /// The caller asked for the work to stop.
    #[error(transparent)]
    Interrupted(#[from] Interrupted),
}
