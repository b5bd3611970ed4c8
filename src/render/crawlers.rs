//! Lines and elements of the seed list formats of crawlers.

use std::io::{self, Write};

use serde::Serialize;

use crate::engine::query::{Evidence, Seed};

/// Text around and between the seeds of a list.
pub(super) struct Frame {
    pub(super) begins: &'static str,
    pub(super) between: &'static str,
    pub(super) ends: &'static str,
    /// The whole text of a list without seeds.
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

/// One line per seed.
pub(super) const LINES: Frame = Frame {
    begins: "",
    between: "",
    ends: "",
    empty: "",
};

/// Returns the metadata of a seed as names and values, for crawlers that keep metadata with a URL.
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

/// Returns the evidence of a seed under its JSON names, prefixed with `seed.`.
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

/// Formats a URL and its metadata as key=value, separated by tabs.
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

/// Formats a line for the injector of Nutch.
///
/// Scores of different cores or sites are not comparable, so `nutch.score` depends only on the rank:
/// it descends from 1 in equal steps and never reaches 0, which Nutch treats as worthless.
pub(super) fn nutch_line(seed: &Seed, seeds: usize) -> String {
    let better = f64::from(seed.rank.saturating_sub(1));
    let score = 1.0 - better / (seeds as f64).max(better + 1.0);
    tabbed(seed, Some(("nutch.score", format!("{score}"))))
}

/// Formats a line for StormCrawler spouts that read URLs with metadata.
pub(super) fn stormcrawler_line(seed: &Seed) -> String {
    tabbed(seed, None)
}

/// Writes an item of the list `seeds` of a Browsertrix Crawler configuration. A JSON string is also a
/// YAML string.
pub(super) fn browsertrix_item(out: &mut dyn Write, seed: &Seed) -> io::Result<()> {
    writeln!(out, "  - url: {}", serde_json::to_string(&seed.url)?)
}

/// Request as read by Scrapy (`scrapy.utils.request.request_from_dict`).
#[derive(Serialize)]
struct Request<'a> {
    url: &'a str,
    /// Scrapy schedules the highest first; 0 is the default of other requests.
    priority: u64,
    meta: Seeded<'a>,
}

/// Data that a crawler keeps with a request.
#[derive(Serialize)]
struct Seeded<'a> {
    seed: &'a Seed,
}

/// The number of priorities of Scrapy requests. Scrapy keeps a queue for each, on disk a folder.
const PRIORITIES: u64 = 16;

/// Formats a start request of Scrapy; no seed has a higher priority than a better one. `seeds` is their
/// number.
pub(super) fn scrapy_request(seed: &Seed, seeds: usize) -> io::Result<String> {
    let better = u64::from(seed.rank).saturating_sub(1);
    let seeds = (seeds as u64).max(better + 1);
    // Parts of equal size, from the best to the worst.
    let parts = seeds.min(PRIORITIES);
    Ok(serde_json::to_string(&Request {
        url: &seed.url,
        priority: parts - better * parts / seeds,
        meta: Seeded { seed },
    })?)
}

/// Request as read by Crawlee. The key by which Crawlee recognises requests for the same page is left to it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct CrawleeRequest<'a> {
    url: &'a str,
    user_data: Seeded<'a>,
}

/// Formats a request of a list of Crawlee, which has no priorities: it takes requests in their order.
pub(super) fn crawlee_request(seed: &Seed) -> io::Result<String> {
    Ok(serde_json::to_string(&CrawleeRequest {
        url: &seed.url,
        user_data: Seeded { seed },
    })?)
}

/// Argument of URLFrontier's `PutURLs`, in the JSON mapping of its protocol buffers.
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
    /// The queue: the site, whose limit is set under the same key.
    key: &'a str,
    metadata: serde_json::Map<String, serde_json::Value>,
}

/// Formats a line for URLFrontier.
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
