//! The value of a page to the crawler, in exact fixed-point arithmetic.
//!
//! Values are integers of millionths, so sums and ties are exact and do not depend on the order of
//! summation.

use std::fmt;
use std::str::FromStr;

use schemars::JsonSchema;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::decimal::{self, BadDecimal};
use crate::page::MAX_QUALITY;

/// Millionths in one unit.
pub const UNIT: i64 = decimal::UNIT;

/// Returns page values by PageRank: the rank times the number of pages, in millionths, rounded to nearest.
/// PageRanks depend only on the links, to the bit.
#[must_use]
pub fn pagerank_values(ranks: &[f64]) -> Vec<i64> {
    let pages = ranks.len() as f64;
    let millionths = |rank: &f64| {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "PageRanks add up to 1, so this is at most a million times the number of pages"
        )]
        let value = (rank * pages * 1e6).round() as i64;
        value
    };
    ranks.iter().map(millionths).collect()
}

/// A value, a weight or a probability, in millionths.
///
/// Its text is a decimal number with up to six decimals; binary encodings have the millionths.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, JsonSchema)]
#[schemars(inline, with = "f64")]
pub struct Value(pub i64);

impl Value {
    /// The value of an integer number of units.
    #[must_use]
    pub const fn units(units: i32) -> Self {
        Self(units as i64 * UNIT)
    }

    /// Converts a quality in ten-thousandths to a value from 0 to 1.
    #[must_use]
    pub const fn from_quality(steps: u16) -> Self {
        Self(steps as i64 * (UNIT / MAX_QUALITY as i64))
    }
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, self.0)
    }
}

impl FromStr for Value {
    type Err = BadDecimal;

    fn from_str(text: &str) -> Result<Self, BadDecimal> {
        decimal::parse(text).map(Self)
    }
}

impl Serialize for Value {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        if !serializer.is_human_readable() {
            return serializer.serialize_i64(self.0);
        }
        if self.0 % UNIT == 0 {
            serializer.serialize_i64(self.0 / UNIT)
        } else {
            // Correctly rounded: below 2^53 millionths, the shortest text that parses to this number has the
            // decimals of the value.
            serializer.serialize_f64(self.0 as f64 / UNIT as f64)
        }
    }
}

impl<'de> Deserialize<'de> for Value {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        if deserializer.is_human_readable() {
            let expecting = "a decimal number with at most six decimals";
            decimal::deserialize(deserializer, expecting).map(Self)
        } else {
            i64::deserialize(deserializer).map(Self)
        }
    }
}

/// `P_uniq(site)`: the estimated share of unique pages among the pages linked from a site, an exact ratio
/// from 0 to 1.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct PUniq {
    numerator: u64,
    denominator: u64,
}

impl PUniq {
    /// The given setting, or if it is `None`, the estimate [`PUniq::from_digests`].
    #[must_use]
    pub fn new(setting: Option<Value>, distinct: u64, with_digest: u64) -> Self {
        let by_digests = || Self::from_digests(distinct, with_digest);
        setting.map_or_else(by_digests, Self::fixed)
    }

    /// The estimate `(d + 10) / (n + 10)`, where `n` of the site's crawled pages have a content digest and
    /// `d` of those digests are distinct; 1 if no page has a digest.
    #[must_use]
    pub fn from_digests(distinct: u64, with_digest: u64) -> Self {
        Self {
            numerator: distinct.min(with_digest).saturating_add(10),
            denominator: with_digest.saturating_add(10),
        }
    }

    /// A given ratio, clamped to 0..=1.
    #[must_use]
    pub fn fixed(setting: Value) -> Self {
        Self {
            numerator: setting.0.clamp(0, UNIT).unsigned_abs(),
            denominator: UNIT.unsigned_abs(),
        }
    }
}

/// The weights of page values. To add one, add a field here, a term in [`page_value`], and a parameter of
/// plans.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Weights {
    /// The weight of a page that is neither spam nor clicked.
    pub base: Value,
    /// The weight of a spam page, clicked or not.
    pub spam: Value,
    /// The weight of a clicked page.
    pub clicked: Value,
    /// The value that a quality of 1 adds to any page; lower qualities add in proportion.
    pub quality: Value,
}

impl Weights {
    /// The value that a page's quality, in ten-thousandths, adds: `quality` times it, rounded to the nearest
    /// millionth, halves up.
    #[must_use]
    pub const fn quality_value(&self, quality: u16) -> i64 {
        let steps = MAX_QUALITY as i64;
        // A weight below 2^20 units times 10,000 steps is below 2^54.
        let twice = self.quality.0.saturating_mul(2 * quality as i64);
        twice.saturating_add(steps).div_euclid(2 * steps)
    }
}

impl Default for Weights {
    fn default() -> Self {
        Self {
            base: Value::units(1),
            spam: Value::units(-10),
            clicked: Value::units(10),
            quality: Value(0),
        }
    }
}

/// The properties of a page that determine its value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct PageFacts {
    /// Whether the page is marked as spam.
    pub spam: bool,
    /// The number of clicks.
    pub clicks: u64,
    /// The number of outlinks to uncrawled pages, as given in its record or as counted.
    pub uncrawled_outlinks: u32,
    /// The page's quality, in ten-thousandths; 0 if it has none.
    pub quality: u16,
}

/// Computes the value of a page in millionths: its weight, plus the value of its quality
/// ([`Weights::quality_value`]), plus `uncrawled_outlinks * P_uniq` rounded to the nearest millionth,
/// halves up.
///
/// The result is exact: the last term is below 2^32 units and each weight below 2^20 units
/// ([`limits`](super::limits)), so a value is below 2^53 millionths.
#[must_use]
pub fn page_value(facts: PageFacts, p_uniq: PUniq, weights: &Weights) -> i64 {
    let weight = if facts.spam {
        weights.spam
    } else if facts.clicks > 0 {
        weights.clicked
    } else {
        weights.base
    };
    // 2^33 * 2^64 * 2^20 fits into 128 bits.
    let twice = 2
        * u128::from(facts.uncrawled_outlinks)
        * u128::from(p_uniq.numerator)
        * u128::from(UNIT.unsigned_abs());
    let den = u128::from(p_uniq.denominator);
    let term = (twice + den) / (2 * den);
    let term = i64::try_from(term).unwrap_or(i64::MAX);
    let weight = weight
        .0
        .saturating_add(weights.quality_value(facts.quality));
    weight.saturating_add(term)
}

#[cfg(test)]
#[path = "value_tests.rs"]
mod tests;
