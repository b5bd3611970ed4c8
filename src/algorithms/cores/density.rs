//! Cover density, as an exact decimal.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::decimal;

/// Millionths in one per cent.
const PERCENT: u64 = decimal::UNIT.unsigned_abs();

/// The error for a text or number that is not a density.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected a cover density as a percentage above 0 and up to 100 with at most six decimals, found {0:?}"
)]
pub struct BadDensity(pub String);

/// A cover density in per cent, `0 < d <= 100`, stored in millionths of a per cent, so that whether a page
/// fits is decided in integers.
///
/// Text and human-readable formats have the percentage (`99.5`), binary formats the millionths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, JsonSchema)]
#[schemars(inline, with = "f64", extend("exclusiveMinimum" = 0, "maximum" = 100))]
pub struct Density(u64);

impl Density {
    /// Complete: every hub links to every authority.
    pub const COMPLETE: Self = Self(100 * PERCENT);

    /// Creates a density from millionths of a per cent.
    pub fn from_millionths(millionths: u64) -> Result<Self, BadDensity> {
        if (1..=100 * PERCENT).contains(&millionths) {
            Ok(Self(millionths))
        } else {
            Err(BadDensity(format!("{millionths} millionths")))
        }
    }

    /// The density in millionths of a per cent.
    #[must_use]
    pub const fn millionths(self) -> u64 {
        self.0
    }

    /// Returns the fewest edges between `hubs` and `authorities` pages that reach this density.
    #[must_use]
    pub fn edges_needed(self, hubs: u64, authorities: u64) -> u128 {
        let all = u128::from(hubs) * u128::from(authorities) * u128::from(self.0);
        all.div_ceil(u128::from(100 * PERCENT))
    }
}

impl Default for Density {
    fn default() -> Self {
        Self::COMPLETE
    }
}

impl fmt::Display for Density {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // At most 100 per cent, so the conversion does not fail.
        decimal::write(f, i64::try_from(self.0).unwrap_or(i64::MAX))
    }
}

impl FromStr for Density {
    type Err = BadDensity;

    fn from_str(text: &str) -> Result<Self, BadDensity> {
        let density = decimal::parse_unsigned(text).map(Self::from_millionths);
        density
            .and_then(Result::ok)
            .ok_or_else(|| BadDensity(text.to_owned()))
    }
}

impl Serialize for Density {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        decimal::serialize_percent(self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Density {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "a percentage above 0 and up to 100";
        let millionths = decimal::deserialize_percent(deserializer, expecting)?;
        // 0 is no density.
        Self::from_millionths(millionths.unwrap_or(0)).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_both_ways() {
        for text in ["100", "60", "0.000001", "99.999999", "33.3"] {
            let density: Density = text.parse().unwrap();
            assert_eq!(density.to_string(), text);
            let json = serde_json::to_string(&density).unwrap();
            assert_eq!(serde_json::from_str::<Density>(&json).unwrap(), density);
            let bytes = bincode::serialize(&density).unwrap();
            assert_eq!(bincode::deserialize::<Density>(&bytes).unwrap(), density);
        }
        for text in [
            "0",
            "100.000001",
            "-1",
            "1e2",
            "",
            ".5",
            "1.",
            "0.0000001",
            "x",
        ] {
            assert_eq!(text.parse::<Density>(), Err(BadDensity(text.to_owned())));
        }
        assert!(serde_json::from_str::<Density>("101").is_err());
    }

    #[test]
    fn needed_edges_round_up() {
        let third: Density = "33.3".parse().unwrap();
        assert_eq!(third.edges_needed(1, 3), 1);
        assert_eq!(third.edges_needed(10, 101), 337);
        assert_eq!(Density::COMPLETE.edges_needed(7, 9), 63);
    }
}
