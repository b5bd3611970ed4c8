//! By how much a result may fall short of the best one.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::decimal;

/// Millionths in one per cent.
const PERCENT: u64 = decimal::UNIT.unsigned_abs();

/// The error for a text or number that is not a slack.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("expected 0 for the best result, or a percentage from 0.5 to 50, found {0:?}")]
pub struct BadSlack(pub String);

/// The percentage by which a result may fall short of the best one: 0 for the best itself, else 0.5 to 50. Smaller ones would
/// require more precise scores than [cached steps](crate::rank::CachedStep) have.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, JsonSchema)]
#[schemars(inline, with = "f64", extend("minimum" = 0, "maximum" = 50))]
pub struct Slack(u64);

impl Slack {
    /// No slack: the result is the best one.
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

    /// The least value that is within the slack of this one, rounded up.
    #[must_use]
    pub fn least(self, best: i64) -> i64 {
        let below =
            i128::from(best.unsigned_abs()) * i128::from(self.0) / i128::from(100 * PERCENT);
        // At most half of the value.
        best.saturating_sub(i64::try_from(below).unwrap_or(i64::MAX))
    }

    fn from_millionths(millionths: u64) -> Option<Self> {
        let is_valid = millionths == 0 || (PERCENT / 2..=50 * PERCENT).contains(&millionths);
        is_valid.then_some(Self(millionths))
    }
}

impl FromStr for Slack {
    type Err = BadSlack;

    fn from_str(text: &str) -> Result<Self, BadSlack> {
        let number = text.strip_suffix('%').unwrap_or(text);
        let slack = decimal::parse_unsigned(number).and_then(Self::from_millionths);
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
        decimal::serialize_percent(self.0, serializer)
    }
}

impl<'de> Deserialize<'de> for Slack {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let expecting = "0, or a percentage from 0.5 to 50";
        let millionths = decimal::deserialize_percent(deserializer, expecting)?;
        let slack = millionths.and_then(Self::from_millionths);
        slack.ok_or_else(|| de::Error::custom(format!("expected {expecting}")))
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
            ("1%", 0.01),
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
        for text in ["", ".", "%", "1%%", "-1", "0.4", "51", "x", "1e0", "NaN"] {
            assert_eq!(text.parse::<Slack>(), Err(BadSlack(text.to_owned())));
        }
        assert_eq!(
            ["0", "2.5"].map(|t| t.parse::<Slack>().unwrap().to_string()),
            ["0", "2.5"]
        );
    }

    #[test]
    fn the_least_value_is_within_the_slack() {
        let slack = |text: &str| text.parse::<Slack>().unwrap();
        for (text, best, least) in [
            ("0", 7, 7),
            ("1", 1000, 990),
            ("1", 99, 99),
            ("50", 3, 2),
            ("50", 0, 0),
            ("1", -1000, -1010),
            ("50", i64::MIN, i64::MIN),
        ] {
            assert_eq!(slack(text).least(best), least, "{text} {best}");
        }
    }
}
