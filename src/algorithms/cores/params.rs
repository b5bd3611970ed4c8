//! The parameters of a selection by cores.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::Density;
use crate::slack::Slack;

/// The variant of HITS that ranks the graph; `src/guide/cores.md` has the rules.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hits {
    /// The principal pair of hub and authority scores, with a proof.
    #[default]
    Converged,
    /// A fixed number of iterations from equal scores, as published.
    Classic,
}

/// The action if the best candidate would bring the density below the required one.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// Take the best page that fits instead, until none fits.
    #[default]
    Maximal,
    /// End the core.
    Literal,
}

/// The rule that ends a core.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Fixed cover density.
    Density {
        /// No page is added that would bring the density below it.
        density: Density,
        /// The action if the best candidate would do so.
        growth: Growth,
    },
    /// Fixed size, checked once per round, so a core can exceed it.
    Size {
        /// The number of hubs and authorities together.
        size: u32,
        /// The most hubs, and the most authorities, that a round adds.
        new_members: u32,
    },
}

impl Default for Rule {
    fn default() -> Self {
        Self::Density {
            density: Density::COMPLETE,
            growth: Growth::Maximal,
        }
    }
}

/// The hub of a core that becomes the seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// The hub with the best score.
    #[default]
    Best,
    /// The hub that ranked first among the seeds of the plan's previous refresh; the best hub if none was a
    /// seed.
    Stable,
}

/// The range of iterations of [`Hits::Classic`]. The paper runs 60; scores stop changing in the last bit
/// far below the maximum.
pub const ITERATIONS: RangeInclusive<u32> = 1..=100_000;

/// The parameters of a core selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CoreParams {
    /// The number of seeds, one from each core.
    pub seeds: u32,
    /// The variant of HITS that ranks the graph.
    pub hits: Hits,
    /// The number of iterations of [`Hits::Classic`].
    pub iterations: u32,
    /// The rule that ends a core.
    pub rule: Rule,
    /// The most hubs of a core, after which only authorities are added; `None` for no limit.
    pub max_hubs: Option<u32>,
    /// The hub that becomes the seed.
    pub pick: Pick,
    /// The percentage by which a core's sigma may be below the largest sigma.
    pub within: Slack,
}

impl Default for CoreParams {
    fn default() -> Self {
        Self {
            seeds: 100,
            hits: Hits::default(),
            iterations: 60,
            rule: Rule::default(),
            max_hubs: None,
            pick: Pick::default(),
            within: Slack::EXACT,
        }
    }
}

/// Invalid parameters.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadParams {
    /// A number out of its range. Plans check the ranges of their parameters first, with a longer message.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// A bound with classic HITS, which cannot prove it.
    #[error(
        "classic HITS cannot prove a bound on its cores; use converged HITS, or a bound of 0 per cent"
    )]
    ClassicWithin,
    /// An exact converged selection in a graph that several processes share.
    #[error(
        "exact cores cannot be selected by several processes; use a bound above 0 per cent, or classic HITS"
    )]
    ExactOnShare,
}

impl CoreParams {
    /// Returns whether cores are exact: those of a converged computation, without a bound.
    #[must_use]
    pub const fn is_exact(&self) -> bool {
        matches!(self.hits, Hits::Converged) && self.within.is_exact()
    }

    /// Validates the parameters.
    pub fn validate(&self) -> Result<(), BadParams> {
        let is_classic = self.hits == Hits::Classic;
        let (size, new_members) = match self.rule {
            Rule::Density { .. } => (2, 1),
            Rule::Size { size, new_members } => (size, new_members),
        };
        let ranges = [
            ("seeds", self.seeds > 0),
            (
                "iterations",
                !is_classic || ITERATIONS.contains(&self.iterations),
            ),
            // A hub and an authority.
            ("core-size", size >= 2),
            // A round without new members would repeat forever.
            ("new-members", new_members > 0),
            // A core without a hub has no seed.
            ("max-hubs", self.max_hubs != Some(0)),
        ];
        if let Some((name, _)) = ranges.into_iter().find(|(_, is_in)| !is_in) {
            return Err(BadParams::OutOfRange(name));
        }
        if is_classic && !self.within.is_exact() {
            return Err(BadParams::ClassicWithin);
        }
        Ok(())
    }
}

#[cfg(test)]
#[path = "params_tests.rs"]
mod tests;
