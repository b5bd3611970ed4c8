//! Writes seed lists in the formats that crawlers read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::crawlers::{
    ARRAY, BROWSERTRIX, Frame, LINES, browsertrix_item, crawlee_request, evidence, nutch_line,
    scrapy_request, stormcrawler_line, urlfrontier_line,
};
use super::seed_parquet;
use crate::engine::query::Seed;
use crate::named_enum::named_enum;
use seedbank_formats::display::{counted, csv_field};

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
/// use seedbank::render::{SeedFormat, write_seeds};
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
        (SeedFormat::Parquet, _) => return out.write_all(&seed_parquet::to_bytes(seeds)?),
        (SeedFormat::Csv, _) => out.write_all(CSV_HEADER.as_bytes())?,
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
            SeedFormat::Csv => out.write_all(csv_line(seed).as_bytes())?,
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

/// Columns of CSV. They are the same for every method.
const CSV_HEADER: &str = "rank,url,site,method,plan,refresh,core,sigma,hub_score,\
    gain,covered_pages,covered_value,pick,since,seats,by_policy\r\n";

/// The columns with evidence, under the names of [`evidence`] without `seed.`.
const EVIDENCE: [&str; 9] = [
    "core",
    "sigma",
    "hub_score",
    "gain",
    "covered_pages",
    "covered_value",
    "pick",
    "since",
    "seats",
];

fn csv_line(seed: &Seed) -> String {
    let mut fields = vec![
        seed.rank.to_string(),
        csv_field(&seed.url),
        csv_field(&seed.site),
        csv_field(seed.method.name()),
        csv_field(&seed.plan),
        seed.refresh.to_string(),
    ];
    let known = evidence(&seed.evidence);
    let value = |column: &&str| {
        let mut known = known.iter();
        let found = known.find(|(name, _)| name.trim_start_matches("seed.") == *column);
        found.map_or_else(String::new, |(_, value)| value.clone())
    };
    fields.extend(EVIDENCE.iter().map(value));
    fields.push(seed_parquet::by_policy(seed).unwrap_or_default().to_owned());
    fields.join(",") + "\r\n"
}

/// Formats a line of Heritrix's seeds.txt: the URL and a comment.
fn heritrix_line(seed: &Seed) -> String {
    let mut line = format!("{} # rank {}", seed.url, seed.rank);
    for (name, value) in evidence(&seed.evidence) {
        line.push_str(", ");
        line.push_str(name.trim_start_matches("seed."));
        line.push(' ');
        line.push_str(&value);
    }
    line
}

#[cfg(test)]
#[path = "seeds_tests.rs"]
mod tests;
