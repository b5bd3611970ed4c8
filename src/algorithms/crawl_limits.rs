//! Limits of a simulated crawl, beside its number of fetches.
//!
//! A crawler limits what it takes from a site. A list that is chosen for a crawl without limits may have most of its
//! seeds on one site, and finds little in a crawl with them.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::decimal;

/// Millionths in one per cent.
const PERCENT: u64 = decimal::UNIT.unsigned_abs();

/// The error for a text that is not a list of limits.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected `none`, or limits separated by commas: per-site=N or per-site=P%, and depth=D, found {0:?}"
)]
pub struct BadCrawlLimits(pub String);

/// The limits of a crawl. In text and plan files `per-site=10%,depth=3`, or `none`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CrawlLimits {
    /// The largest number of pages of one site that the crawl fetches; `None` for no limit.
    pub per_site: Option<PerSite>,
    /// The largest number of links from a seed to a page that the crawl fetches; `None` for no limit.
    pub depth: Option<u32>,
}

/// The largest number of pages of one site that a crawl fetches.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum PerSite {
    /// This number, at least 1.
    Pages(u64),
    /// This part of all fetches, in millionths of a per cent, above 0 and up to 100 per cent.
    Percent(u64),
}

impl CrawlLimits {
    /// The number of pages of one site in a crawl of `fetches` pages: at least 1; `None` for no limit.
    #[must_use]
    pub fn pages_per_site(&self, fetches: u64) -> Option<u64> {
        Some(match self.per_site? {
            PerSite::Pages(pages) => pages,
            PerSite::Percent(percent) => {
                let pages = u128::from(fetches) * u128::from(percent) / u128::from(100 * PERCENT);
                u64::try_from(pages).unwrap_or(u64::MAX).max(1)
            }
        })
    }

    /// Whether a crawl fetches pages at this depth.
    #[must_use]
    pub fn reach(&self, depth: u32) -> bool {
        self.depth.is_none_or(|deepest| depth <= deepest)
    }
}

/// Counts the pages that a crawl fetches of each site.
#[derive(Clone, Debug, Default)]
pub struct SiteCounter {
    counts: Vec<u64>,
    limit: Option<u64>,
}

impl SiteCounter {
    /// Begins a crawl of `fetches` pages. `sites` are all sites that its pages may be on.
    pub fn begin(&mut self, limits: &CrawlLimits, fetches: u64, sites: usize) {
        self.limit = limits.pages_per_site(fetches);
        self.counts.clear();
        if self.limit.is_some() {
            self.counts.resize(sites, 0);
        }
    }

    /// Counts a page of a site, unless the site has reached its limit. Returns whether the crawl fetches it.
    pub fn admits(&mut self, site: impl FnOnce() -> u32) -> bool {
        let Some(limit) = self.limit else {
            return true;
        };
        let Some(count) = self.counts.get_mut(site() as usize) else {
            return true;
        };
        *count += 1;
        *count <= limit
    }
}

impl fmt::Display for CrawlLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.per_site {
            Some(PerSite::Pages(pages)) => write!(f, "per-site={pages}")?,
            Some(PerSite::Percent(percent)) => {
                f.write_str("per-site=")?;
                // At most 100 per cent, so the conversion does not fail.
                decimal::write(f, i64::try_from(percent).unwrap_or(i64::MAX))?;
                f.write_str("%")?;
            }
            None => {}
        }
        match (self.per_site, self.depth) {
            (None, None) => f.write_str("none"),
            (_, None) => Ok(()),
            (None, Some(depth)) => write!(f, "depth={depth}"),
            (Some(_), Some(depth)) => write!(f, ",depth={depth}"),
        }
    }
}

impl FromStr for CrawlLimits {
    type Err = BadCrawlLimits;

    fn from_str(text: &str) -> Result<Self, BadCrawlLimits> {
        let bad = || BadCrawlLimits(text.to_owned());
        let mut limits = Self::default();
        if text == "none" {
            return Ok(limits);
        }
        for limit in text.split(',') {
            let (name, value) = limit.trim().split_once('=').ok_or_else(bad)?;
            let is_new = match name {
                "per-site" => limits
                    .per_site
                    .replace(per_site(value).ok_or_else(bad)?)
                    .is_none(),
                "depth" => limits
                    .depth
                    .replace(value.parse().map_err(|_| bad())?)
                    .is_none(),
                _ => false,
            };
            if !is_new {
                return Err(bad());
            }
        }
        Ok(limits)
    }
}

fn per_site(text: &str) -> Option<PerSite> {
    if let Some(percent) = text.strip_suffix('%') {
        let percent = decimal::parse_unsigned(percent)?;
        return (1..=100 * PERCENT)
            .contains(&percent)
            .then_some(PerSite::Percent(percent));
    }
    let pages = text.parse().ok()?;
    (pages > 0).then_some(PerSite::Pages(pages))
}

impl Serialize for CrawlLimits {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for CrawlLimits {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for CrawlLimits {
    fn schema_name() -> Cow<'static, str> {
        "CrawlLimits".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "Limits of a crawl separated by commas, `per-site=N` or `per-site=P%` and `depth=D`, or `none`.",
            "type": "string"
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_the_same_as_text() {
        for text in [
            "none",
            "per-site=7",
            "per-site=2.5%",
            "depth=0",
            "per-site=10%,depth=3",
        ] {
            let limits: CrawlLimits = text.parse().unwrap();
            assert_eq!(limits.to_string(), text);
            let bytes = bincode::serialize(&limits).unwrap();
            assert_eq!(bincode::deserialize::<CrawlLimits>(&bytes).unwrap(), limits);
        }
        for text in [
            "",
            "per-site",
            "per-site=0",
            "per-site=0%",
            "per-site=101%",
            "per-site=-1",
            "per-site=1,per-site=2",
            "depth=x",
            "rounds=3",
        ] {
            assert!(text.parse::<CrawlLimits>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_part_of_the_fetches_is_at_least_one_page() {
        let limits: CrawlLimits = "per-site=10%".parse().unwrap();
        let pages: Vec<Option<u64>> = [0, 9, 10, 19, 5_000, u64::MAX]
            .map(|fetches| limits.pages_per_site(fetches))
            .to_vec();
        let expected = [1, 1, 1, 1, 500, u64::MAX / 10].map(Some);
        assert_eq!(pages, expected);
        assert_eq!(CrawlLimits::default().pages_per_site(5_000), None);
    }
}
