//! Cover density as an exact decimal.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// One per cent in the units kept.
const PERCENT: u64 = 1_000_000;

/// The text is not a density.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected a cover density as a percentage above 0 and up to 100 with at most six decimals, found {0:?}"
)]
pub struct BadDensity(pub String);

/// A cover density in per cent, `0 < d <= 100`, kept in millionths of a per cent, so that whether a
/// page fits is decided in integers.
///
/// Text, and formats for people, have the percentage (`99.5`); binary formats have the millionths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, JsonSchema)]
#[schemars(inline, with = "f64", extend("exclusiveMinimum" = 0, "maximum" = 100))]
pub struct Density(u64);

impl Density {
    /// Complete: every hub leads to every authority.
    pub const COMPLETE: Self = Self(100 * PERCENT);

    /// The density of this many millionths of a per cent.
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

    /// The fewest edges that `hubs` by `authorities` pages must have.
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
        let (whole, rest) = (self.0 / PERCENT, self.0 % PERCENT);
        if rest == 0 {
            return write!(f, "{whole}");
        }
        let decimals = format!("{rest:06}");
        write!(f, "{whole}.{}", decimals.trim_end_matches('0'))
    }
}

impl FromStr for Density {
    type Err = BadDensity;

    fn from_str(text: &str) -> Result<Self, BadDensity> {
        let bad = || BadDensity(text.to_owned());
        let (whole, rest) = text.split_once('.').unwrap_or((text, "0"));
        let digits = |part: &str| !part.is_empty() && part.bytes().all(|b| b.is_ascii_digit());
        if !digits(whole) || !digits(rest) || rest.len() > 6 || whole.len() > 9 {
            return Err(bad());
        }
        let whole: u64 = whole.parse().map_err(|_| bad())?;
        let rest: u64 = format!("{rest:0<6}").parse().map_err(|_| bad())?;
        Self::from_millionths(whole * PERCENT + rest).map_err(|_| bad())
    }
}

impl Serialize for Density {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            // The nearest f64 prints as the same six decimals.
            serializer.serialize_f64(self.0 as f64 / PERCENT as f64)
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Density {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            deserializer.deserialize_any(Percentage)
        } else {
            Self::from_millionths(u64::deserialize(deserializer)?).map_err(de::Error::custom)
        }
    }
}

struct Percentage;

impl de::Visitor<'_> for Percentage {
    type Value = Density;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a percentage above 0 and up to 100")
    }

    fn visit_u64<E: de::Error>(self, value: u64) -> Result<Density, E> {
        value.to_string().parse().map_err(E::custom)
    }

    fn visit_i64<E: de::Error>(self, value: i64) -> Result<Density, E> {
        value.to_string().parse().map_err(E::custom)
    }

    fn visit_f64<E: de::Error>(self, value: f64) -> Result<Density, E> {
        value.to_string().parse().map_err(E::custom)
    }

    fn visit_str<E: de::Error>(self, value: &str) -> Result<Density, E> {
        value.parse().map_err(E::custom)
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
