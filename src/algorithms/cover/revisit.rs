//! Time in the value of a fetch: what a crawled page counts for by the time since its last fetch.
//!
//! The value of a page is a step function of that time: nothing at first, half of its value after half of a period, and
//! all of it after the period. So it changes at most twice between two fetches.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer};

/// The seconds of a day.
pub const DAY: u64 = 86_400;

/// The most days of a period.
const MAX_DAYS: u32 = 36_500;

/// The shortest period that [`Revisit::Auto`] chooses, in seconds: a 32nd of a day.
const SHORTEST: u64 = DAY / 32;

/// The period after which a fetched page has its whole value again, as plans have it.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Revisit {
    /// Pages have their whole values at any time.
    #[default]
    Off,
    /// The time in which crawls of the plan's budget fetch as many pages as were ever crawled.
    Auto,
    /// A number of days, at least 1.
    Days(u32),
}

impl Revisit {
    /// Returns the period in seconds; `None` if pages have their whole values at any time. `pause` is the time between two
    /// crawls, if it is known, and `span` that from the first to the last one, both in seconds.
    ///
    /// That of [`Auto`](Self::Auto) is a day times a power of two, at least a 32nd of a day, so that it stays the same while the web
    /// grows a little. It is at most `span`, since no page that was fetched would count whole otherwise.
    #[must_use]
    pub fn period(
        self,
        crawled: u64,
        budget: Option<u64>,
        pause: Option<u64>,
        span: u64,
    ) -> Option<u64> {
        match self {
            Self::Off => None,
            Self::Days(days) => Some(u64::from(days) * DAY),
            Self::Auto => {
                let fetches = u128::from(budget?.max(1));
                let round = u128::from(crawled) * u128::from(pause?) / fetches;
                let mut period = SHORTEST;
                // The next one is nearer from the geometric mean of both on.
                while u128::from(period).pow(2) * 2 <= round.saturating_mul(round)
                    && period.saturating_mul(2) <= span
                {
                    period *= 2;
                }
                (period <= span).then_some(period)
            }
        }
    }
}

impl FromStr for Revisit {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let days = || {
            let days = text.parse().ok();
            days.filter(|days| (1..=MAX_DAYS).contains(days))
        };
        match text {
            "off" => Ok(Self::Off),
            "auto" => Ok(Self::Auto),
            _ => days().map(Self::Days).ok_or_else(|| {
                format!(
                    "expected a whole number of days from 1 to {MAX_DAYS}, `auto`, or `off`, found {text:?}"
                )
            }),
        }
    }
}

impl fmt::Display for Revisit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Off => f.write_str("off"),
            Self::Auto => f.write_str("auto"),
            Self::Days(days) => days.fmt(f),
        }
    }
}

impl Serialize for Revisit {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Days(days) => serializer.serialize_u32(*days),
            word => serializer.collect_str(word),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum DaysOrWord {
    Days(u32),
    Word(String),
}

impl<'de> Deserialize<'de> for Revisit {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = match DaysOrWord::deserialize(deserializer)? {
            DaysOrWord::Days(days) => days.to_string(),
            DaysOrWord::Word(word) => word,
        };
        text.parse().map_err(serde::de::Error::custom)
    }
}

impl JsonSchema for Revisit {
    fn schema_name() -> Cow<'static, str> {
        "Revisit".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "A number of days, `auto`, or `off`.",
            "anyOf": [
                {"type": "integer", "format": "uint32", "minimum": 1, "maximum": MAX_DAYS},
                {"const": "auto"},
                {"const": "off"}
            ]
        })
    }
}

/// What a page counts for, and the time since its last fetch.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Age {
    /// The part of its value.
    pub due: Due,
    /// The seconds since its last fetch; the largest number if that is not known.
    pub seconds: u64,
}

/// The part of its value that a page counts for.
#[derive(
    Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "kebab-case")]
pub enum Due {
    /// Nothing: less than half of the period has passed since its last fetch.
    Not,
    /// Half of it: less than the period has passed.
    Half,
    /// All of it.
    #[default]
    Whole,
}

impl Due {
    /// Returns what a page counts for whose last fetch was `fetched` and whose content is known to have changed last at
    /// `changed`, at the time `now`; all in seconds since 1970. Without a known fetch, and if the content changed after it, that is
    /// all of its value. `period` is in seconds; `None` for all of its value at any time.
    #[must_use]
    pub fn at(now: u64, period: Option<u64>, fetched: Option<u64>, changed: Option<u64>) -> Self {
        let (Some(period), Some(fetched)) = (period, fetched) else {
            return Self::Whole;
        };
        let since = now.saturating_sub(fetched);
        if changed > Some(fetched) || since >= period {
            Self::Whole
        } else if since.saturating_mul(2) >= period {
            Self::Half
        } else {
            Self::Not
        }
    }

    /// Returns the part of a value in millionths, rounded towards zero. A negative value stays: a page that is better not
    /// fetched is so at any time.
    #[must_use]
    pub const fn part_of(self, value: i64) -> i64 {
        match self {
            Self::Whole => value,
            _ if value < 0 => value,
            Self::Half => value / 2,
            Self::Not => 0,
        }
    }

    /// Returns the part as a number from 0 to 1.
    #[must_use]
    pub const fn fraction(self) -> f64 {
        match self {
            Self::Not => 0.0,
            Self::Half => 0.5,
            Self::Whole => 1.0,
        }
    }

    /// Lets each value count by its part. `due` has an entry for each, or none if all count whole.
    pub fn apply(due: impl IntoIterator<Item = Self>, values: &mut [i64]) {
        for (value, due) in values.iter_mut().zip(due) {
            *value = due.part_of(*value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_is_worth_nothing_then_half_then_all() {
        let period = Revisit::Days(4).period(0, None, None, 0);
        let now = 10 * DAY;
        for (fetched, changed, due) in [
            (Some(10 * DAY), None, Due::Not),
            (Some(8 * DAY + 1), None, Due::Not),
            (Some(8 * DAY), None, Due::Half),
            (Some(6 * DAY + 1), None, Due::Half),
            (Some(6 * DAY), None, Due::Whole),
            (Some(0), None, Due::Whole),
            // After the last fetch of the bank.
            (Some(11 * DAY), None, Due::Not),
            (None, None, Due::Whole),
            (None, Some(5), Due::Whole),
            (Some(9 * DAY), Some(9 * DAY), Due::Not),
            (Some(9 * DAY), Some(9 * DAY + 1), Due::Whole),
        ] {
            assert_eq!(Due::at(now, period, fetched, changed), due, "{fetched:?}");
            assert_eq!(Due::at(now, None, fetched, changed), Due::Whole);
        }
        let parts = |due: Due| [7, 1, 0, -3].map(|value| due.part_of(value));
        assert_eq!(parts(Due::Whole), [7, 1, 0, -3]);
        assert_eq!(parts(Due::Half), [3, 0, 0, -3]);
        assert_eq!(parts(Due::Not), [0, 0, 0, -3]);
    }

    #[test]
    fn the_period_of_a_round_is_a_power_of_two_of_a_day() {
        let days = |crawled, budget, pause| {
            let period = Revisit::Auto.period(crawled, Some(budget), Some(pause), u64::MAX);
            period.unwrap() as f64 / DAY as f64
        };
        let expected = [(100, 1.0), (141, 1.0), (142, 2.0), (282, 2.0), (283, 4.0)];
        for (crawled, found) in expected {
            assert!((days(crawled, 100, DAY) - found).abs() < 1e-9, "{crawled}");
        }
        // Crawls of every hour; a web that one crawl fetches.
        assert!((days(2400, 100, 3600) - 1.0).abs() < 1e-9);
        assert!((days(1, 100, DAY) - 1.0 / 32.0).abs() < 1e-9);
        // At most the time since the first crawl.
        for (span, found) in [(0, None), (DAY, Some(DAY)), (4 * DAY - 1, Some(2 * DAY))] {
            let period = Revisit::Auto.period(u64::MAX, Some(1), Some(DAY), span);
            assert_eq!(period, found);
        }
        for (budget, pause) in [(None, Some(DAY)), (Some(100), None)] {
            assert_eq!(Revisit::Auto.period(1000, budget, pause, u64::MAX), None);
        }
        assert_eq!(Revisit::Off.period(1000, Some(1), Some(DAY), DAY), None);
    }

    #[test]
    fn a_period_is_written_as_it_is_read() {
        for (text, revisit) in [
            ("off", Revisit::Off),
            ("auto", Revisit::Auto),
            ("7", Revisit::Days(7)),
        ] {
            assert_eq!(text.parse(), Ok(revisit));
            assert_eq!(revisit.to_string(), text);
            let json = serde_json::to_string(&revisit).unwrap();
            assert_eq!(serde_json::from_str::<Revisit>(&json).unwrap(), revisit);
        }
        for text in ["0", "36501", "-1", "1.5", "never", ""] {
            let error = text.parse::<Revisit>().unwrap_err();
            assert!(error.contains("days from 1 to 36500"), "{error}");
        }
    }
}
