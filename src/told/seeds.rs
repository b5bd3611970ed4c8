//! Seed lists in the formats that crawlers read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use super::crawlers::{
    ARRAY, BROWSERTRIX, Frame, LINES, browsertrix_item, evidence, nutch_line, scrapy_request,
    stormcrawler_line, urlfrontier_line,
};
use super::seed_table;
use crate::engine::ask::Seed;
use crate::named_enum::named_enum;
use seedbank_formats::display::{counted, csv_field};

named_enum! {
    /// How a seed list is written.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum SeedFormat {
        #[default]
        Text = "text", "One URL a line";
        Jsonl = "jsonl" | "json",
            "One JSON object a line, with the evidence; its JSON Schema is schema/seeds.schema.json";
        Csv = "csv", "Comma-separated values (RFC 4180) with a header";
        Nutch = "nutch",
            "URL and key=value fields with tabs between, nutch.score among them: what Apache Nutch injects";
        Heritrix = "heritrix", "The seeds.txt of Heritrix: URLs with comments";
        Stormcrawler = "stormcrawler",
            "URL and key=value fields with tabs between: what spouts of Apache StormCrawler read";
        Browsertrix = "browsertrix",
            "A list `seeds` in YAML, for the configuration of Browsertrix Crawler";
        Scrapy = "scrapy", "A JSON array of what Scrapy makes requests of";
        Urlfrontier = "urlfrontier", "One URLItem of URLFrontier a line, as JSON";
        /// (needs the feature `parquet`).
        Parquet = "parquet", "A Parquet file, with the columns that CSV has";
    }
}

impl SeedFormat {
    /// Every format that this build writes, in the order in which they are offered.
    pub fn all() -> impl Iterator<Item = Self> {
        let all = Self::VALUES.iter().map(|named| named.value);
        all.filter(|format| format.is_there())
    }

    /// What the name of a file of it ends in.
    #[must_use]
    pub const fn ending(self) -> &'static str {
        match self {
            Self::Text | Self::Nutch | Self::Heritrix | Self::Stormcrawler => "txt",
            Self::Jsonl | Self::Urlfrontier => "jsonl",
            Self::Csv => "csv",
            Self::Browsertrix => "yaml",
            Self::Scrapy => "json",
            Self::Parquet => "parquet",
        }
    }

    /// Whether a file of it is no text, which no terminal should get.
    #[must_use]
    pub const fn is_binary(self) -> bool {
        matches!(self, Self::Parquet)
    }

    /// Whether this build writes it.
    #[must_use]
    pub const fn is_there(self) -> bool {
        cfg!(feature = "parquet") || !matches!(self, Self::Parquet)
    }

    const fn frame(self) -> Frame {
        match self {
            Self::Browsertrix => BROWSERTRIX,
            Self::Scrapy => ARRAY,
            _ => LINES,
        }
    }
}

/// Writes a list, or a part of one of `all` seeds. A Parquet file is made in memory first; where this
/// build has none, the error is [`io::ErrorKind::Unsupported`].
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::Which;
/// use seedbank::told::{SeedFormat, write_seeds};
///
/// let seeds = bank.seeds(&Which::default())?;
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
        (SeedFormat::Parquet, _) => return out.write_all(&seed_table::file(seeds)?),
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
            SeedFormat::Urlfrontier => writeln!(out, "{}", urlfrontier_line(seed)?)?,
            // It is written above, as a whole.
            SeedFormat::Parquet => {}
        }
    }
    out.write_all(frame.ends.as_bytes())
}

/// A list in parts, for as many crawlers: the seeds of a site are in one part, and each part is in the
/// order of the list. A site goes to the part that has the fewest seeds so far, the first of several,
/// the sites in the order of their best seeds. There may be fewer sites than parts: some are empty then.
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

/// The columns, the same for every method, so that a reader need not know which one it was.
const CSV_HEADER: &str = "rank,url,site,method,plan,refresh,core,sigma,hub_score,\
    gain,covered_pages,covered_value,pick,since,seats,by_policy\r\n";

/// Those of its columns that say why a page is a seed, under the names of [`evidence`].
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
    fields.push(seed_table::by_policy(seed).unwrap_or_default().to_owned());
    fields.join(",") + "\r\n"
}

/// A line of Heritrix's seeds.txt, which may end in a comment.
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
