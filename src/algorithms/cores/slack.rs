//! The slack of a core's sigma.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::decimal;

/// Millionths in one per cent.
const PERCENT: u64 = decimal::UNIT.unsigned_abs();

/// The error for a text or number that is not a slack.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected 0 for exact cores, or a percentage from 0.5 to 50, found {0:?}")]
pub struct BadSlack(pub String);

/// The percentage by which a core's sigma may be below the largest sigma: 0 for exact cores, else 0.5 to 50.
/// Smaller slacks would require more precise scores than [cached steps](crate::rank::CachedStep) have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, JsonSchema)]
#[schemars(inline, with = "f64", extend("minimum" = 0, "maximum" = 50))]
pub struct Slack(u64);

impl Slack {
    /// No slack: the cores are those of an exact computation.
    pub const EXACT: Self = Self(0);

    /// The default of new plans.
    pub const ONE_PERCENT: Self = Self(PERCENT);

    /// Whether the slack is 0.
    #[must_use]
    pub const fn is_exact(self) -> bool {
        self.0 == 0
    }

    /// The slack as a fraction from 0 to 1.
    #[must_use]
    pub fn share(self) -> f64 {
        self.0 as f64 / (100 * PERCENT) as f64
    }

    fn from_millionths(millionths: u64) -> Option<Self> {
        let is_valid = millionths == 0 || (PERCENT / 2..=50 * PERCENT).contains(&millionths);
        is_valid.then_some(Self(millionths))
    }
}

impl FromStr for Slack {
    type Err = BadSlack;

    fn from_str(text: &str) -> Result<Self, BadSlack> {
        let slack = decimal::parse_unsigned(text).and_then(Self::from_millionths);
        slack.ok_or_else(|| BadSlack(text.to_owned()))
    }
}

impl fmt::Display for Slack {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // At most 50 per cent, so the conversion does not fail.
        decimal::write(f, i64::try_from(self.0).unwrap_or(i64::MAX))
    }
}

impl Serialize for Slack {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if serializer.is_human_readable() {
            // The nearest f64 prints as the same six decimals.
            serializer.serialize_f64(self.0 as f64 / PERCENT as f64)
        } else {
            serializer.serialize_u64(self.0)
        }
    }
}

impl<'de> Deserialize<'de> for Slack {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let percent = f64::deserialize(deserializer)?;
            format!("{percent}").parse().map_err(de::Error::custom)
        } else {
            let millionths = u64::deserialize(deserializer)?;
            let bad = || de::Error::custom(BadSlack(format!("{millionths} millionths")));
            Self::from_millionths(millionths).ok_or_else(bad)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_slack_is_none_or_a_percentage() {
        for (text, share) in [
            ("0", 0.0),
            ("0.0", 0.0),
            ("1", 0.01),
            ("0.5", 0.005),
            ("50", 0.5),
        ] {
            let slack: Slack = text.parse().unwrap();
            assert!((slack.share() - share).abs() < 1e-12);
            let json = serde_json::to_string(&slack).unwrap();
            assert_eq!(serde_json::from_str::<Slack>(&json).unwrap(), slack);
            let bytes = bincode::serialize(&slack).unwrap();
            assert_eq!(bincode::deserialize::<Slack>(&bytes).unwrap(), slack);
        }
        for text in ["", ".", "-1", "0.4", "51", "x", "1e0", "NaN"] {
            assert_eq!(text.parse::<Slack>(), Err(BadSlack(text.to_owned())));
        }
        assert_eq!(
            ["0", "2.5"].map(|t| t.parse::<Slack>().unwrap().to_string()),
            ["0", "2.5"]
        );
    }
}
