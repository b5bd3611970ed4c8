//! Seed lists: their columns, and the formats that crawlers read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::table::{record, record_header, record_line, value};
use crate::engine::query::{ByPolicy, Evidence, Seed};
use crate::named_enum::named_enum;
use seedbank_formats::display::counted;
use seedbank_formats::parquet_writer::{Cell, Table, TableRow};

/// Returns a field of the evidence of a seed; `None` if its evidence is of another kind.
macro_rules! of_evidence {
    ($seed:ident, $Kind:ident, $field:ident) => {
        match $seed.evidence {
            Evidence::$Kind { $field, .. } => Some($field),
            _ => None,
        }
    };
}

record! { Seed, seed;
    "rank": Integer = seed.rank;
    "url": Text = seed.url.as_str();
    "site": RepeatedText = seed.site.as_str();
    "method": RepeatedText = seed.method.name();
    "plan": RepeatedText = seed.plan.as_str();
    "refresh": Integer = seed.refresh;
    "core": Integer = of_evidence!(seed, Core, core);
    "sigma": Float = of_evidence!(seed, Core, sigma);
    "hub_score": Float = of_evidence!(seed, Core, hub_score);
    "gain": Float = of_evidence!(seed, Cover, gain);
    "covered_pages": Integer = of_evidence!(seed, Cover, covered_pages);
    "covered_value": Float = of_evidence!(seed, Cover, covered_value);
    "pick": Integer = of_evidence!(seed, Cover, pick);
    "since": Integer = of_evidence!(seed, Cover, since);
    "seats": Integer = of_evidence!(seed, Cover, seats);
    "by_policy": RepeatedText = by_policy(seed);
}

/// The columns that precede the evidence, and those that follow it.
const OTHER_COLUMNS: [&str; 7] = [
    "rank",
    "url",
    "site",
    "method",
    "plan",
    "refresh",
    "by_policy",
];

/// Returns the policy that put a seed on the list; `None` if the method selected it.
const fn by_policy(seed: &Seed) -> Option<&'static str> {
    match seed.by_policy {
        Some(ByPolicy::Pin) => Some("pin"),
        Some(ByPolicy::MaxChanges) => Some("max-changes"),
        None => None,
    }
}

/// Returns the columns with the evidence of a seed, as far as they have values.
fn evidence(seed: &Seed) -> impl Iterator<Item = (&'static str, String)> {
    let columns = Seed::COLUMNS.iter().zip(seed.cells());
    let known = columns
        .filter(|(column, cell)| *cell != Cell::None && !OTHER_COLUMNS.contains(&column.name));
    known.map(|(column, cell)| (column.name, value(cell)))
}

/// Builds a Parquet file in memory.
fn parquet(seeds: &[Seed]) -> io::Result<Vec<u8>> {
    let mut table = Table::new(Vec::new(), Seed::COLUMNS)?;
    for seed in seeds {
        table.row(&seed.cells())?;
    }
    table.finish()
}

named_enum! {
    /// Format of a seed list.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum SeedFormat {
        #[default]
        Text = "text", "One URL per line";
        Jsonl = "jsonl" | "json",
            "One JSON object per line, with the evidence; its JSON Schema is schema/seeds.schema.json";
        Csv = "csv", "Comma-separated values (RFC 4180) with a header";
        Nutch = "nutch",
            "URL and key=value fields separated by tabs, including nutch.score, for the injector of Apache Nutch";
        Heritrix = "heritrix", "The seeds.txt of Heritrix: URLs with comments";
        Stormcrawler = "stormcrawler",
            "URL and key=value fields separated by tabs, for spouts of Apache StormCrawler";
        Browsertrix = "browsertrix",
            "A list `seeds` in YAML, for the configuration of Browsertrix Crawler";
        Scrapy = "scrapy", "A JSON array of Scrapy requests";
        Crawlee = "crawlee", "A JSON array of requests for Crawlee, in JavaScript and in Python";
        Urlfrontier = "urlfrontier", "One URLItem of URLFrontier per line, as JSON";
        /// (needs the feature `parquet`).
        Parquet = "parquet", "A Parquet file with the columns of CSV";
    }
}

impl SeedFormat {
    /// Returns every format that this build supports, in display order.
    pub fn all() -> impl Iterator<Item = Self> {
        let all = Self::VALUES.iter().map(|named| named.value);
        all.filter(|format| format.is_there())
    }

    /// Returns the file name extension.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Text | Self::Nutch | Self::Heritrix | Self::Stormcrawler => "txt",
            Self::Jsonl | Self::Urlfrontier => "jsonl",
            Self::Csv => "csv",
            Self::Browsertrix => "yaml",
            Self::Scrapy | Self::Crawlee => "json",
            Self::Parquet => "parquet",
        }
    }

    /// Returns whether the format is binary, and must not be printed on a terminal.
    #[must_use]
    pub const fn is_binary(self) -> bool {
        matches!(self, Self::Parquet)
    }

    /// Returns whether this build supports the format.
    #[must_use]
    pub const fn is_there(self) -> bool {
        cfg!(feature = "parquet") || !matches!(self, Self::Parquet)
    }

    const fn frame(self) -> Frame {
        match self {
            Self::Browsertrix => BROWSERTRIX,
            Self::Scrapy | Self::Crawlee => ARRAY,
            _ => LINES,
        }
    }
}

/// Writes seeds, which may be part of a list of `all` seeds. A Parquet file is built in memory first.
///
/// # Errors
///
/// [`io::ErrorKind::Unsupported`] if this build does not support Parquet, and errors of `out`.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Which;
/// use seedbank::answers::{SeedFormat, write_seeds};
///
/// let seeds = bank.seeds("default")?.collect::<Result<Vec<_>, _>>()?;
/// let mut list = Vec::new();
/// write_seeds(&mut list, &seeds, seeds.len(), SeedFormat::Text)?;
/// assert_eq!(list, b"http://a.example/\n");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn write_seeds(
    mut out: impl Write,
    seeds: &[Seed],
    all: usize,
    format: SeedFormat,
) -> io::Result<()> {
    match (format, seeds.first()) {
        (SeedFormat::Parquet, _) => return out.write_all(&parquet(seeds)?),
        (SeedFormat::Csv, _) => out.write_all(record_header::<Seed>().as_bytes())?,
        (SeedFormat::Heritrix, Some(seed)) => writeln!(
            out,
            "# {} of seedbank plan {}, method {}, refresh {}",
            counted(seeds.len(), "seed"),
            seed.plan,
            seed.method,
            seed.refresh
        )?,
        _ => {}
    }
    let frame = format.frame();
    if seeds.is_empty() {
        return out.write_all(frame.empty.as_bytes());
    }
    out.write_all(frame.begins.as_bytes())?;
    for (at, seed) in seeds.iter().enumerate() {
        if at > 0 {
            out.write_all(frame.between.as_bytes())?;
        }
        match format {
            SeedFormat::Text => writeln!(out, "{}", seed.url)?,
            SeedFormat::Jsonl => writeln!(out, "{}", serde_json::to_string(seed)?)?,
            SeedFormat::Csv => out.write_all(record_line(seed).as_bytes())?,
            SeedFormat::Nutch => writeln!(out, "{}", nutch_line(seed, all))?,
            SeedFormat::Heritrix => writeln!(out, "{}", heritrix_line(seed))?,
            SeedFormat::Stormcrawler => writeln!(out, "{}", stormcrawler_line(seed))?,
            SeedFormat::Browsertrix => browsertrix_item(&mut out, seed)?,
            SeedFormat::Scrapy => write!(out, "{}", scrapy_request(seed, all)?)?,
            SeedFormat::Crawlee => write!(out, "{}", crawlee_request(seed)?)?,
            SeedFormat::Urlfrontier => writeln!(out, "{}", urlfrontier_line(seed)?)?,
            // Parquet returned above.
            SeedFormat::Parquet => {}
        }
    }
    out.write_all(frame.ends.as_bytes())
}

/// Splits a list into `parts` lists, one per crawler. All seeds of a site are in the same part, and
/// each part keeps the order of the list.
///
/// Sites are assigned in the order of their best seeds, each to the part with the fewest seeds so far
/// (the first of several). Some parts are empty if there are fewer sites than parts.
#[must_use]
pub fn split_seeds(seeds: &[Seed], parts: usize) -> Vec<Vec<Seed>> {
    let mut of_site: BTreeMap<&str, Vec<&Seed>> = BTreeMap::new();
    let mut sites = Vec::new();
    for seed in seeds {
        let list = of_site.entry(&seed.site).or_default();
        if list.is_empty() {
            sites.push(&*seed.site);
        }
        list.push(seed);
    }
    let mut split: Vec<Vec<Seed>> = vec![Vec::new(); parts];
    for site in sites {
        let list = of_site.remove(site).unwrap_or_default();
        if let Some(part) = split.iter_mut().min_by_key(|part| part.len()) {
            part.extend(list.into_iter().cloned());
        }
    }
    for part in &mut split {
        part.sort_by_key(|seed| seed.rank);
    }
    split
}

/// Formats a line of Heritrix's seeds.txt: the URL and a comment.
fn heritrix_line(seed: &Seed) -> String {
    let mut line = format!("{} # rank {}", seed.url, seed.rank);
    for (name, value) in evidence(seed) {
        line.extend([", ", name, " ", &value]);
    }
    line
}

/// Text around and between the seeds of a list.
struct Frame {
    begins: &'static str,
    between: &'static str,
    ends: &'static str,
    /// The whole text of a list without seeds.
    empty: &'static str,
}

/// Configuration of Browsertrix Crawler, in YAML.
const BROWSERTRIX: Frame = Frame {
    begins: "seeds:\n",
    between: "",
    ends: "",
    empty: "seeds: []\n",
};

/// One JSON array.
const ARRAY: Frame = Frame {
    begins: "[\n",
    between: ",\n",
    ends: "\n]\n",
    empty: "[]\n",
};

/// One line per seed.
const LINES: Frame = Frame {
    begins: "",
    between: "",
    ends: "",
    empty: "",
};

/// Returns the metadata of a seed as names and values, for crawlers that keep metadata with a URL.
fn metadata(seed: &Seed) -> Vec<(String, String)> {
    let fields = [
        ("rank", seed.rank.to_string()),
        ("plan", seed.plan.clone()),
        ("method", seed.method.name().to_owned()),
        ("refresh", seed.refresh.to_string()),
    ];
    let fields = fields.into_iter().chain(evidence(seed));
    fields
        .map(|(name, value)| (format!("seed.{name}"), value))
        .collect()
}

/// Formats a URL and its metadata as key=value, separated by tabs.
fn tabbed(seed: &Seed, more: Option<(String, String)>) -> String {
    let mut line = seed.url.clone();
    for (name, value) in metadata(seed).into_iter().chain(more) {
        line.extend(["\t", &name, "=", &value]);
    }
    line
}

/// Formats a line for the injector of Nutch.
///
/// Scores of different cores or sites are not comparable, so `nutch.score` depends only on the rank:
/// it descends from 1 in equal steps and never reaches 0, which Nutch treats as worthless.
fn nutch_line(seed: &Seed, seeds: usize) -> String {
    let better = f64::from(seed.rank.saturating_sub(1));
    let score = 1.0 - better / (seeds as f64).max(better + 1.0);
    tabbed(seed, Some(("nutch.score".to_owned(), format!("{score}"))))
}

/// Formats a line for StormCrawler spouts that read URLs with metadata.
fn stormcrawler_line(seed: &Seed) -> String {
    tabbed(seed, None)
}

/// Writes an item of the list `seeds` of a Browsertrix Crawler configuration. A JSON string is also a
/// YAML string.
fn browsertrix_item(out: &mut dyn Write, seed: &Seed) -> io::Result<()> {
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
fn scrapy_request(seed: &Seed, seeds: usize) -> io::Result<String> {
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
fn crawlee_request(seed: &Seed) -> io::Result<String> {
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
fn urlfrontier_line(seed: &Seed) -> io::Result<String> {
    let values = metadata(seed).into_iter();
    let values = values.map(|(name, value)| {
        let list = serde_json::json!({ "values": [value] });
        (name, list)
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

#[cfg(test)]
#[path = "seeds_tests.rs"]
mod tests;
