//! What a core selection can be asked for.

use std::ops::RangeInclusive;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Density, Slack};

/// How the graph is ranked; the rules are in the guide, on its page about cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hits {
    /// The principal pair of hub and authority scores, whatever the start; proven.
    #[default]
    Converged,
    /// A fixed number of iterations from equal scores, as published.
    Classic,
}

/// What happens to a best candidate that would bring the density below the one asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// The best page that fits is taken instead, until none fits.
    #[default]
    Maximal,
    /// The core is complete.
    Literal,
}

/// When a core is done.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// Fixed cover density.
    Density {
        /// No page is added that would bring the density below it.
        density: Density,
        /// What happens where the best candidate would do so.
        growth: Growth,
    },
    /// Fixed size, tested once per round, so it can be exceeded.
    Size {
        /// The number of hubs and authorities together.
        size: u32,
        /// The most hubs, and then the most authorities, that a round adds.
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

/// Which hub of a core becomes the seed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Pick {
    /// The hub with the best score.
    #[default]
    Best,
    /// A hub that was a seed in the plan's previous refresh (of several, the one that ranked first
    /// there), else the best hub.
    Stable,
}

/// Iterations of [`Hits::Classic`]: the paper runs 60, and scores no longer change in the last bit
/// far below the largest number.
pub const ITERATIONS: RangeInclusive<u32> = 1..=100_000;

/// The parameters of a core selection.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields, rename_all = "kebab-case")]
pub struct CoreParams {
    /// The number of seeds, one from each core.
    pub seeds: u32,
    /// How the graph is ranked.
    pub hits: Hits,
    /// The number of iterations of [`Hits::Classic`].
    pub iterations: u32,
    /// When a core is done.
    pub rule: Rule,
    /// The most hubs of a core, after which only authorities are added; `None` for no limit.
    pub max_hubs: Option<u32>,
    /// Which hub becomes the seed.
    pub pick: Pick,
    /// How far below the largest sigma a core's may lie.
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

/// Parameters that make no sense.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum BadParams {
    /// A number out of its range. Plans check the ranges of their parameters first, with a longer text.
    #[error("{0} is out of range")]
    OutOfRange(&'static str),
    /// Classic HITS with a bound, which it cannot prove.
    #[error(
        "classic HITS cannot prove a bound on its cores; use converged HITS, or a bound of 0 per cent"
    )]
    ClassicWithin,
}

impl CoreParams {
    /// Whether the parameters make sense.
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
            // Rounds that add nothing would never end.
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
mod tests {
    use super::*;

    #[test]
    fn parameters_that_make_no_sense_are_refused() {
        let good = CoreParams::default();
        assert_eq!(good.validate(), Ok(()));
        let size = |size, new_members| CoreParams {
            rule: Rule::Size { size, new_members },
            ..good
        };
        let out = BadParams::OutOfRange;
        let classic = CoreParams {
            hits: Hits::Classic,
            ..good
        };
        let iterations = |iterations| CoreParams {
            iterations,
            ..classic
        };
        let within = CoreParams {
            within: "1".parse().unwrap(),
            ..classic
        };
        let max_hubs = CoreParams {
            max_hubs: Some(0),
            ..good
        };
        let cases = [
            (CoreParams { seeds: 0, ..good }, out("seeds")),
            (iterations(0), out("iterations")),
            (iterations(ITERATIONS.end() + 1), out("iterations")),
            (within, BadParams::ClassicWithin),
            (size(1, 1), out("core-size")),
            (size(9, 0), out("new-members")),
            (max_hubs, out("max-hubs")),
        ];
        for (params, error) in cases {
            assert_eq!(params.validate(), Err(error));
        }
    }

    #[test]
    fn parameters_survive_json_and_binary() {
        let params = CoreParams {
            rule: Rule::Size {
                size: 20,
                new_members: 2,
            },
            max_hubs: Some(999),
            pick: Pick::Stable,
            ..CoreParams::default()
        };
        let json = serde_json::to_string(&params).unwrap();
        assert_eq!(serde_json::from_str::<CoreParams>(&json).unwrap(), params);
        let bytes = bincode::serialize(&params).unwrap();
        assert_eq!(bincode::deserialize::<CoreParams>(&bytes).unwrap(), params);
        assert_eq!(
            serde_json::from_str::<CoreParams>("{}").unwrap(),
            CoreParams::default()
        );
    }
}
