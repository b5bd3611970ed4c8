//! What a core selection can be asked for.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::{Density, Slack};

/// How the graph is ranked; the rules are in the guide, on its page about cores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Hits {
    /// The principal singular pair of the region with the largest sigma.
    #[default]
    Converged,
    /// A fixed number of iterations from the uniform vector.
    Classic,
}

/// What happens to a best candidate that would bring the density below the one asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum Growth {
    /// The best candidate that fits is taken instead.
    #[default]
    Maximal,
    /// The core is done.
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
    /// The best hub.
    #[default]
    Best,
    /// A hub that was a seed in the previous refresh (of several, the one that ranked first
    /// there), else the best hub.
    Stable,
}

/// The most iterations of [`Hits::Classic`]: the paper runs 60, and scores no longer change in the
/// last bit far below this number.
pub(super) const MAX_ITERATIONS: u32 = 100_000;

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
    /// Zero seeds.
    #[error("expected at least 1 seed, found 0")]
    NoSeeds,
    /// Classic HITS with zero iterations, which gives no scores.
    #[error("expected at least 1 iteration of classic HITS, found 0")]
    NoIterations,
    /// Classic HITS with too many iterations, which would run for days.
    #[error(
        "expected at most {MAX_ITERATIONS} iterations of classic HITS, found {0}; 60 are usual"
    )]
    TooManyIterations(u32),
    /// A core size below two: a core has at least a hub and an authority.
    #[error("expected a core size of at least 2 pages (a hub and an authority), found {0}")]
    SmallCore(u32),
    /// Zero new members per round, so that extraction would never end.
    #[error("expected at least 1 new member per round, found 0")]
    NoNewMembers,
    /// A maximum of zero hubs: a core without a hub has no seed.
    #[error(
        "expected a maximum of at least 1 hub per core, found 0; a core needs a hub as its seed"
    )]
    NoHubs,
    /// Classic HITS with a bound, which it cannot prove.
    #[error(
        "classic HITS cannot prove a bound on its cores; use converged HITS, or a bound of 0 per cent"
    )]
    ClassicWithin,
}

impl CoreParams {
    /// Whether the parameters make sense.
    pub fn validate(&self) -> Result<(), BadParams> {
        if self.seeds == 0 {
            return Err(BadParams::NoSeeds);
        }
        if self.hits == Hits::Classic && self.iterations == 0 {
            return Err(BadParams::NoIterations);
        }
        if self.hits == Hits::Classic && self.iterations > MAX_ITERATIONS {
            return Err(BadParams::TooManyIterations(self.iterations));
        }
        if self.hits == Hits::Classic && !self.within.is_exact() {
            return Err(BadParams::ClassicWithin);
        }
        if let Rule::Size { size, new_members } = self.rule {
            if size < 2 {
                return Err(BadParams::SmallCore(size));
            }
            if new_members == 0 {
                return Err(BadParams::NoNewMembers);
            }
        }
        if self.max_hubs == Some(0) {
            return Err(BadParams::NoHubs);
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
        let cases = [
            (CoreParams { seeds: 0, ..good }, BadParams::NoSeeds),
            (
                CoreParams {
                    hits: Hits::Classic,
                    iterations: 0,
                    ..good
                },
                BadParams::NoIterations,
            ),
            (
                CoreParams {
                    hits: Hits::Classic,
                    iterations: MAX_ITERATIONS + 1,
                    ..good
                },
                BadParams::TooManyIterations(MAX_ITERATIONS + 1),
            ),
            (
                CoreParams {
                    hits: Hits::Classic,
                    within: "1".parse().unwrap(),
                    ..good
                },
                BadParams::ClassicWithin,
            ),
            (size(1, 1), BadParams::SmallCore(1)),
            (size(9, 0), BadParams::NoNewMembers),
            (
                CoreParams {
                    max_hubs: Some(0),
                    ..good
                },
                BadParams::NoHubs,
            ),
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
