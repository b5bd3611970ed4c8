//! The limits and rounds of a simulated crawl, beside its number of fetches.
//!
//! A crawler limits what it takes from a site, and fetches from many sites at a time. A list that is chosen for a crawl without
//! limits may have most of its seeds on one site, and finds little in a crawl with them.

use std::borrow::Cow;
use std::fmt;
use std::slice;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use crate::decimal;

/// Millionths in one per cent.
const PERCENT: u64 = decimal::UNIT.unsigned_abs();

/// The error for a text that is not a list of limits.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error(
    "expected `panel`, `none`, a crawler (breadth-first, browsertrix, heritrix, nutch or scrapy), or limits separated by \
     commas: per-site, depth, rounds, sites-at-once, round, per-site-round, fail, enter=seeds or crawled, or duration and delay, found {0:?}"
)]
pub struct BadCrawlLimits(pub String);

/// The limits of a crawl. In text and plan files `per-site=10%,depth=3`, or `none`.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub struct CrawlLimits {
    /// The largest number of pages of one site that the crawl fetches; `None` for no limit.
    pub per_site: Option<Amount>,
    /// The largest number of links from a seed to a page that the crawl fetches; `None` for no limit.
    pub depth: Option<u32>,
    /// The number of rounds after which the crawl ends; `None` for no limit.
    pub rounds: Option<Amount>,
    /// The largest number of pages that the crawl fetches in a round; `None` for no limit.
    pub round: Option<Amount>,
    /// The largest number of pages of one site that the crawl fetches in a round; `None` for one, if the crawl has rounds.
    pub per_site_round: Option<Amount>,
    /// The part of the fetches that fail, in millionths of a per cent, up to 100 per cent.
    pub fail: u64,
    /// The sites that the crawl enters.
    pub enter: Enter,
}

/// The sites that a crawl enters.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Enter {
    /// All sites.
    #[default]
    All,
    /// The sites of its seeds.
    Seeds,
    /// The sites of its seeds and of crawled pages, and no site that is only linked to.
    Crawled,
}

/// A number of pages or rounds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Amount {
    /// This number, at least 1.
    Number(u64),
    /// This part of all fetches, in millionths of a per cent, above 0 and up to 100 per cent.
    Percent(u64),
}

impl Amount {
    /// Returns the number in a crawl of `fetches` pages, at least 1.
    #[must_use]
    pub fn of(self, fetches: u64) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Percent(percent) => {
                let part = u128::from(fetches) * u128::from(percent) / u128::from(100 * PERCENT);
                u64::try_from(part).unwrap_or(u64::MAX).max(1)
            }
        }
    }
}

/// The crawlers that have a name, with their limits. The guide's page on coverage has the sources.
const CRAWLERS: [(&str, &str); 5] = [
    ("breadth-first", "none"),
    ("browsertrix", "enter=seeds"),
    ("heritrix", "sites-at-once=25,depth=20"),
    ("nutch", "rounds=10,round=10%,per-site-round=0.5%"),
    ("scrapy", "per-site-round=1"),
];

/// The crawl that a list of seeds is made for. In text and plan files `panel`, or limits.
///
/// No list is the best for every crawler: one that is made for the panel is good for all of them.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Crawls {
    /// A crawl with these limits.
    One(CrawlLimits),
    /// The crawls of [`Crawls::PANEL`], each of the same number of fetches. What lists find is the geometric mean of what
    /// these crawls find.
    Panel,
}

impl Default for Crawls {
    fn default() -> Self {
        Self::One(CrawlLimits::NONE)
    }
}

impl Crawls {
    /// Crawls as most crawlers make them: breadth-first; with at most a tenth of the fetches from each site; with at most a
    /// fiftieth; polite, in rounds of one page of each of 50 sites, and ending in time; and as Nutch.
    pub const PANEL: [CrawlLimits; 5] = [
        CrawlLimits::NONE,
        CrawlLimits {
            per_site: Some(Amount::Percent(10 * PERCENT)),
            ..CrawlLimits::NONE
        },
        CrawlLimits {
            per_site: Some(Amount::Percent(2 * PERCENT)),
            ..CrawlLimits::NONE
        },
        CrawlLimits {
            rounds: Some(Amount::Percent(5 * PERCENT)),
            round: Some(Amount::Number(50)),
            ..CrawlLimits::NONE
        },
        CrawlLimits {
            rounds: Some(Amount::Number(10)),
            round: Some(Amount::Percent(10 * PERCENT)),
            per_site_round: Some(Amount::Percent(PERCENT / 2)),
            ..CrawlLimits::NONE
        },
    ];

    /// The limits of each crawl.
    #[must_use]
    pub fn limits(&self) -> &[CrawlLimits] {
        match self {
            Self::One(limits) => slice::from_ref(limits),
            Self::Panel => &Self::PANEL,
        }
    }

    /// Returns whether the pages that a crawl fetches depend on their sites.
    #[must_use]
    pub fn need_sites(&self) -> bool {
        self.limits().iter().any(CrawlLimits::needs_sites)
    }
}

impl From<CrawlLimits> for Crawls {
    fn from(limits: CrawlLimits) -> Self {
        Self::One(limits)
    }
}

impl fmt::Display for Crawls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::One(limits) => limits.fmt(f),
            Self::Panel => f.write_str("panel"),
        }
    }
}

impl FromStr for Crawls {
    type Err = BadCrawlLimits;

    fn from_str(text: &str) -> Result<Self, BadCrawlLimits> {
        match text {
            "panel" => Ok(Self::Panel),
            limits => limits.parse().map(Self::One),
        }
    }
}

impl CrawlLimits {
    /// No limits.
    pub const NONE: Self = Self {
        per_site: None,
        depth: None,
        rounds: None,
        round: None,
        per_site_round: None,
        fail: 0,
        enter: Enter::All,
    };

    /// Whether a crawl fetches pages at this depth.
    #[must_use]
    pub fn reach(&self, depth: u32) -> bool {
        self.depth.is_none_or(|deepest| depth <= deepest)
    }

    /// Returns whether the crawl has rounds. Without any, it fetches all pages of a depth at a time.
    #[must_use]
    pub const fn has_rounds(&self) -> bool {
        self.rounds.is_some() || self.round.is_some() || self.per_site_round.is_some()
    }

    /// Returns the largest number of pages of one site that a crawl of `fetches` pages fetches; `None` for no limit.
    #[must_use]
    pub fn most_of_site(&self, fetches: u64) -> Option<u64> {
        let in_all = self.per_site.map(|limit| limit.of(fetches));
        let in_rounds = self.rounds.map(|rounds| {
            let in_round = self.per_site_round.map_or(1, |limit| limit.of(fetches));
            rounds.of(fetches).saturating_mul(in_round)
        });
        in_all.into_iter().chain(in_rounds).min()
    }

    /// Returns whether the pages that the crawl fetches depend on their sites.
    #[must_use]
    pub fn needs_sites(&self) -> bool {
        self.per_site.is_some() || self.has_rounds() || self.enter != Enter::All
    }

    /// Returns whether the fetch of a page fails, given its number in URL order. The same pages fail in all crawls.
    #[must_use]
    pub fn fails(&self, number: u32) -> bool {
        if self.fail == 0 {
            return false;
        }
        // The mixing steps of SplitMix64 (Steele, Lea and Flood, 2014).
        let mut bits = u64::from(number).wrapping_add(0x9e37_79b9_7f4a_7c15);
        bits = (bits ^ (bits >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        bits = (bits ^ (bits >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        bits ^= bits >> 31;
        bits % (100 * PERCENT) < self.fail
    }

    /// Returns whether the fetch of a page fails, given its URL. They are others than by number.
    #[must_use]
    pub fn fails_at(&self, url: &str) -> bool {
        if self.fail == 0 {
            return false;
        }
        let [a, b, c, d, ..] = *blake3::hash(url.as_bytes()).as_bytes();
        self.fails(u32::from_le_bytes([a, b, c, d]))
    }

    /// Returns the limits that differ from the default: their names and values.
    fn parts(&self) -> Vec<(&'static str, String)> {
        let amount = |amount: Amount| match amount {
            Amount::Number(number) => number.to_string(),
            Amount::Percent(part) => percent(part),
        };
        let is_one_each = self.per_site_round.is_none();
        [
            ("per-site", self.per_site.map(amount)),
            ("depth", self.depth.map(|depth| depth.to_string())),
            ("rounds", self.rounds.map(amount)),
            (
                "sites-at-once",
                self.round.filter(|_| is_one_each).map(amount),
            ),
            ("round", self.round.filter(|_| !is_one_each).map(amount)),
            ("per-site-round", self.per_site_round.map(amount)),
            ("fail", (self.fail > 0).then(|| percent(self.fail))),
            (
                "enter",
                match self.enter {
                    Enter::All => None,
                    Enter::Seeds => Some("seeds".to_owned()),
                    Enter::Crawled => Some("crawled".to_owned()),
                },
            ),
        ]
        .into_iter()
        .filter_map(|(name, value)| Some((name, value?)))
        .collect()
    }
}

/// A number in millionths.
struct Millionths(u64);

impl fmt::Display for Millionths {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        decimal::write(f, i64::try_from(self.0).unwrap_or(i64::MAX))
    }
}

fn percent(part: u64) -> String {
    format!("{}%", Millionths(part))
}

impl fmt::Display for CrawlLimits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let parts = self.parts();
        if parts.is_empty() {
            return f.write_str("none");
        }
        for (at, (name, value)) in parts.iter().enumerate() {
            let comma = if at > 0 { "," } else { "" };
            write!(f, "{comma}{name}={value}")?;
        }
        Ok(())
    }
}

impl FromStr for CrawlLimits {
    type Err = BadCrawlLimits;

    /// Parses limits. The name of a crawler gives its limits; limits after it replace those of the same name.
    fn from_str(text: &str) -> Result<Self, BadCrawlLimits> {
        let bad = || BadCrawlLimits(text.to_owned());
        let first = text.split(',').next().unwrap_or_default();
        let crawler = CRAWLERS.iter().find(|(name, _)| *name == first.trim());
        let (mut limits, rest) = match crawler {
            Some((_, limits)) => (limits.parse()?, text.split_once(',').map(|of| of.1)),
            None => (Self::default(), Some(text).filter(|text| *text != "none")),
        };
        let Some(text) = rest else {
            return Ok(limits);
        };
        let mut names = Vec::new();
        let [mut duration, mut delay] = [None; 2];
        for limit in text.split(',') {
            let (name, value) = limit.trim().split_once('=').ok_or_else(bad)?;
            if names.contains(&name) {
                return Err(bad());
            }
            names.push(name);
            let amount = || amount(value).ok_or_else(bad);
            match name {
                "per-site" => limits.per_site = Some(amount()?),
                "depth" => limits.depth = Some(value.parse().map_err(|_| bad())?),
                "rounds" => limits.rounds = Some(amount()?),
                "sites-at-once" => (limits.round, limits.per_site_round) = (Some(amount()?), None),
                "round" => limits.round = Some(amount()?),
                "per-site-round" => limits.per_site_round = Some(amount()?),
                "fail" => limits.fail = part(value).ok_or_else(bad)?,
                "enter" if value == "seeds" => limits.enter = Enter::Seeds,
                "enter" if value == "crawled" => limits.enter = Enter::Crawled,
                "enter" if value == "all" => limits.enter = Enter::All,
                "duration" => duration = Some(seconds(value).ok_or_else(bad)?),
                "delay" => delay = Some(seconds(value).ok_or_else(bad)?),
                _ => return Err(bad()),
            }
        }
        // A site is fetched from once in each delay.
        match (duration, delay) {
            (None, None) => {}
            (Some(duration), Some(delay)) if !names.contains(&"rounds") && duration >= delay => {
                limits.rounds = Some(Amount::Number(duration / delay));
            }
            _ => return Err(bad()),
        }
        let is_one_each = names.contains(&"sites-at-once");
        let has_round = names
            .iter()
            .any(|name| ["round", "per-site-round"].contains(name));
        // Without `per-site-round`, the limit is named `sites-at-once`.
        let is_ambiguous =
            limits.round.is_some() && limits.per_site_round.is_none() && names.contains(&"round");
        if is_one_each && has_round || is_ambiguous {
            return Err(bad());
        }
        Ok(limits)
    }
}

/// Parses a part in per cent, above 0.
fn part(text: &str) -> Option<u64> {
    let percent = decimal::parse_unsigned(text.strip_suffix('%')?)?;
    (1..=100 * PERCENT).contains(&percent).then_some(percent)
}

fn amount(text: &str) -> Option<Amount> {
    if text.ends_with('%') {
        return part(text).map(Amount::Percent);
    }
    let number = text.parse().ok()?;
    (number > 0).then_some(Amount::Number(number))
}

/// Parses a whole number of seconds, minutes or hours.
fn seconds(text: &str) -> Option<u64> {
    let unit = text.strip_suffix(['s', 'm', 'h'])?;
    let seconds = match text.as_bytes().last()? {
        b'h' => 3_600,
        b'm' => 60,
        _ => 1,
    };
    let number: u64 = unit.parse().ok()?;
    number.checked_mul(seconds).filter(|seconds| *seconds > 0)
}

impl Serialize for Crawls {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for Crawls {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map_err(de::Error::custom)
    }
}

impl JsonSchema for Crawls {
    fn schema_name() -> Cow<'static, str> {
        "Crawls".into()
    }
    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        schemars::json_schema!({
            "description": "Limits of a crawl separated by commas, such as `per-site=10%,depth=5`; `none`; or `panel`, for several crawls.",
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
            "rounds=3,sites-at-once=50",
            "panel",
            "rounds=10,round=10%,per-site-round=0.5%,fail=10%,enter=seeds",
            "depth=3,enter=crawled",
        ] {
            let crawls: Crawls = text.parse().unwrap();
            assert_eq!(crawls.to_string(), text);
            let bytes = bincode::serialize(&crawls).unwrap();
            assert_eq!(bincode::deserialize::<Crawls>(&bytes).unwrap(), crawls);
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
            "depth=1,depth=2",
            "round=3",
            "round=3,sites-at-once=2",
            "fail=0%",
            "enter=x",
            "duration=1h",
            "delay=1s",
            "duration=1s,delay=2s",
            "duration=1h,delay=1s,rounds=2",
            "heritrix=1",
            "depth=1,heritrix",
            "heritrix,",
            "panel,depth=3",
        ] {
            assert!(text.parse::<Crawls>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_crawler_stands_for_its_limits() {
        for (text, limits) in [
            ("breadth-first", "none"),
            ("breadth-first,depth=2", "depth=2"),
            ("heritrix", "depth=20,sites-at-once=25"),
            (
                "heritrix,depth=3,fail=1%",
                "depth=3,sites-at-once=25,fail=1%",
            ),
            (
                "duration=6h,delay=10s,sites-at-once=50",
                "rounds=2160,sites-at-once=50",
            ),
            ("browsertrix,enter=all", "none"),
        ] {
            assert_eq!(text.parse::<CrawlLimits>().unwrap().to_string(), limits);
        }
        for (name, _) in CRAWLERS {
            assert!(BadCrawlLimits(String::new()).to_string().contains(name));
            assert!(name.parse::<CrawlLimits>().is_ok());
        }
    }

    #[test]
    fn a_part_of_the_pages_fails() {
        let limits: CrawlLimits = "fail=10%".parse().unwrap();
        let failed = (0..10_000).filter(|&page| limits.fails(page)).count();
        assert!((900..1_100).contains(&failed), "{failed}");
        let all: CrawlLimits = "fail=100%".parse().unwrap();
        assert!((0..100).all(|page| all.fails(page) && !CrawlLimits::default().fails(page)));
    }

    #[test]
    fn a_part_of_the_fetches_is_at_least_one_page() {
        let tenth = Amount::Percent(10 * PERCENT);
        let pages = [0, 9, 10, 19, 5_000, u64::MAX].map(|fetches| tenth.of(fetches));
        assert_eq!(pages, [1, 1, 1, 1, 500, u64::MAX / 10]);
    }

    #[test]
    fn a_site_has_its_limit_and_that_of_all_rounds() {
        for (limits, most) in [
            ("none", None),
            ("depth=2", None),
            ("per-site=10%", Some(500)),
            ("sites-at-once=50,rounds=5%", Some(250)),
            ("nutch", Some(250)),
            ("per-site=100,sites-at-once=50,rounds=5%", Some(100)),
        ] {
            let limits: CrawlLimits = limits.parse().unwrap();
            assert_eq!(limits.most_of_site(5000), most, "{limits}");
        }
    }
}
