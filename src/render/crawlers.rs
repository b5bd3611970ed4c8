//! Seed lists as crawlers take them: what each line or element of a format is.

use std::io::{self, Write};

use serde::Serialize;

use crate::engine::{Evidence, Seed};

/// What a list of each of these formats begins and ends with, and what stands between two seeds.
pub(super) struct Frame {
    pub(super) begins: &'static str,
    pub(super) between: &'static str,
    pub(super) ends: &'static str,
    /// A list without seeds.
    pub(super) empty: &'static str,
}

/// Configuration of Browsertrix Crawler, in YAML.
pub(super) const BROWSERTRIX: Frame = Frame {
    begins: "seeds:\n",
    between: "",
    ends: "",
    empty: "seeds: []\n",
};

/// One JSON array.
pub(super) const ARRAY: Frame = Frame {
    begins: "[\n",
    between: ",\n",
    ends: "\n]\n",
    empty: "[]\n",
};

/// A line for each seed, and nothing else.
pub(super) const LINES: Frame = Frame {
    begins: "",
    between: "",
    ends: "",
    empty: "",
};

/// What is known of a seed, as names and values: metadata, for crawlers that carry it along.
fn metadata(seed: &Seed) -> Vec<(&'static str, String)> {
    let mut fields = vec![
        ("seed.rank", seed.rank.to_string()),
        ("seed.plan", seed.plan.clone()),
        ("seed.method", seed.method.name().to_owned()),
        ("seed.refresh", seed.refresh.to_string()),
    ];
    fields.extend(evidence(&seed.evidence));
    fields
}

/// Why it is a seed, under the names that JSON Lines use with `seed.` before them.
pub(super) fn evidence(evidence: &Evidence) -> Vec<(&'static str, String)> {
    match evidence {
        Evidence::Core {
            core,
            sigma,
            hub_score,
        } => vec![
            ("seed.core", core.to_string()),
            ("seed.sigma", sigma.to_string()),
            ("seed.hub_score", hub_score.to_string()),
        ],
        Evidence::Cover {
            gain,
            covered_pages,
            covered_value,
            pick,
            since,
            seats,
        } => {
            let gain = gain.map(|gain| ("seed.gain", gain.to_string()));
            let mut fields: Vec<_> = gain.into_iter().collect();
            fields.extend([
                ("seed.covered_pages", covered_pages.to_string()),
                ("seed.covered_value", covered_value.to_string()),
                ("seed.pick", pick.to_string()),
                ("seed.since", since.to_string()),
            ]);
            fields.extend(seats.map(|seats| ("seed.seats", seats.to_string())));
            fields
        }
        Evidence::ByPolicy {} => Vec::new(),
    }
}

/// A line of URL and metadata, key=value with tabs between.
fn tabbed(seed: &Seed, more: Option<(&'static str, String)>) -> String {
    let mut line = seed.url.clone();
    for (name, value) in metadata(seed).into_iter().chain(more) {
        line.push('\t');
        line.push_str(name);
        line.push('=');
        line.push_str(&value);
    }
    line
}

/// A line for the injector of Nutch.
///
/// Scores of different cores or sites cannot be compared, so `nutch.score` follows the rank
/// alone: from 1 down in equal steps, and never 0, which Nutch would take for worthless.
pub(super) fn nutch_line(seed: &Seed, seeds: usize) -> String {
    let better = f64::from(seed.rank.saturating_sub(1));
    let score = 1.0 - better / (seeds as f64).max(better + 1.0);
    tabbed(seed, Some(("nutch.score", format!("{score}"))))
}

/// A line for a spout of StormCrawler that reads URLs with metadata.
pub(super) fn stormcrawler_line(seed: &Seed) -> String {
    tabbed(seed, None)
}

/// An item of the list `seeds` of a configuration of Browsertrix Crawler. A string of JSON is one of
/// YAML too.
pub(super) fn browsertrix_item(out: &mut dyn Write, seed: &Seed) -> io::Result<()> {
    writeln!(out, "  - url: {}", serde_json::to_string(&seed.url)?)
}

/// What Scrapy makes a request of (`scrapy.utils.request.request_from_dict`).
#[derive(Serialize)]
struct Request<'a> {
    url: &'a str,
    /// Scrapy takes the highest first, and 0 is that of all other requests.
    priority: u64,
    meta: Meta<'a>,
}

#[derive(Serialize)]
struct Meta<'a> {
    seed: &'a Seed,
}

/// A start request of Scrapy: better seeds of `seeds` have a higher priority.
pub(super) fn scrapy_request(seed: &Seed, seeds: usize) -> io::Result<String> {
    let worse = (seeds as u64).saturating_sub(seed.rank.into());
    Ok(serde_json::to_string(&Request {
        url: &seed.url,
        priority: worse + 1,
        meta: Meta { seed },
    })?)
}

/// An item that URLFrontier's `PutURLs` takes, in JSON as its protocol buffers are written.
#[derive(Serialize)]
struct UrlItem<'a> {
    discovered: Discovered<'a>,
    #[serde(rename = "ID")]
    id: &'a str,
}

#[derive(Serialize)]
struct Discovered<'a> {
    info: UrlInfo<'a>,
}

#[derive(Serialize)]
struct UrlInfo<'a> {
    url: &'a str,
    /// The queue: the site, under which its limit is set too.
    key: &'a str,
    metadata: serde_json::Map<String, serde_json::Value>,
}

/// A line for URLFrontier.
pub(super) fn urlfrontier_line(seed: &Seed) -> io::Result<String> {
    let values = metadata(seed).into_iter();
    let values = values.map(|(name, value)| {
        let list = serde_json::json!({ "values": [value] });
        (name.to_owned(), list)
    });
    let info = UrlInfo {
        url: &seed.url,
        key: &seed.site,
        metadata: values.collect(),
    };
    Ok(serde_json::to_string(&UrlItem {
        discovered: Discovered { info },
        id: &seed.url,
    })?)
}
