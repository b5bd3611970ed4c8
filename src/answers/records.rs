//! Records of quotas, cores and scores: their columns, and the formats that other programs read.

use std::collections::BTreeMap;
use std::io::{self, Write};

use serde::Serialize;

use super::table::{Look, record, record_header, record_line};
use crate::engine::query::{CoreView, Quotas, SiteQuota};
use crate::engine::scores::PageScore;
use crate::named_enum::named_enum;
use seedbank_formats::display::readable;
use seedbank_formats::ingest::registrable_domain;
use seedbank_formats::parquet_writer::{Table, TableRow};

record! { SiteQuota, site;
    "site" ("site", Look::Site): Text = site.site.as_str();
    "quota" ("quota", Look::Plain): Integer = site.quota;
    "pages" ("pages", Look::Plain): Integer = site.pages;
    "crawled" ("crawled", Look::Plain): Integer = site.crawled;
    "uncrawled" ("uncrawled", Look::Plain): Integer = site.uncrawled;
    "share" ("share, %", Look::Percent(2)): Float = site.share;
    "limit" ("limit", Look::Plain): Integer = site.limit;
}

/// A page of a core, as a row of a table.
#[derive(Clone, Copy, Debug)]
pub struct CorePage<'a> {
    /// The core.
    pub core: &'a CoreView,
    /// `hub` or `authority`. A page that is both has two rows.
    pub side: &'static str,
    /// URL of the page.
    pub url: &'a str,
    /// Score of the page on this side.
    pub score: f64,
}

impl<'a> CorePage<'a> {
    /// Returns the pages of a core: its hubs, and then its authorities.
    pub fn all(core: &'a CoreView) -> impl Iterator<Item = Self> {
        let sides = [
            ("hub", &core.hubs, &core.hub_scores),
            ("authority", &core.authorities, &core.authority_scores),
        ];
        sides.into_iter().flat_map(move |(side, pages, scores)| {
            let pages = pages.iter().zip(scores);
            pages.map(move |(url, &score)| Self {
                core,
                side,
                url,
                score,
            })
        })
    }
}

record! { CorePage<'_>, page;
    "core": Integer = page.core.rank;
    "side": RepeatedText = page.side;
    "url": Text = page.url;
    "score": Float = page.score;
    "sigma": Float = page.core.sigma;
    "density": Float = page.core.density;
    "seed": RepeatedText = page.core.seed.as_str();
    "gives_seed": Boolean = page.core.gives_seed;
    "refresh": Integer = page.core.refresh;
}

record! { PageScore, page;
    "url": Text = page.url.as_str();
    "site": RepeatedText = page.site.as_str();
    "state": RepeatedText = page.state.name();
    "in_degree": Integer = page.in_degree;
    "out_degree": Integer = page.out_degree;
    "pagerank": Float = page.pagerank;
    "harmonic": Float = page.harmonic;
    "harmonic_error": Float = page.harmonic_error;
    "seed_rank": Integer = page.seed_rank;
    "core": Integer = page.core;
    "hub_score": Float = page.hub_score;
    "authority_score": Float = page.authority_score;
    "covered_by": RepeatedText = page.covered_by.as_deref();
    "covered_at": Integer = page.covered_at;
}

named_enum! {
    /// Format of a table of scores.
    #[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
    pub enum ScoreFormat {
        #[default]
        Csv = "csv", "Comma-separated values (RFC 4180) with a header";
        Text = "text", "A human-readable table";
        Jsonl = "jsonl" | "json",
            "One JSON object per line; its JSON Schema is schema/scores.schema.json";
        /// (needs the feature `parquet`).
        Parquet = "parquet", "A Parquet file with the columns of CSV";
    }
}

/// Writer of page scores.
pub struct ScoreWriter<W: Write + Send> {
    to: Sink<W>,
    /// Whether the header is still to be written.
    needs_header: bool,
}

enum Sink<W: Write + Send> {
    Csv(W),
    Text(W),
    Jsonl(W),
    Parquet(Box<Table<W>>),
}

impl<W: Write + Send> ScoreWriter<W> {
    /// Creates a writer. It writes nothing before the first page or [`finish`](Self::finish).
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::scores::ScoresRequest;
    /// use seedbank::answers::{ScoreFormat, ScoreWriter};
    ///
    /// let mut out = ScoreWriter::new(Vec::new(), ScoreFormat::Csv)?;
    /// let each = |score| -> Result<(), Box<dyn std::error::Error>> { Ok(out.page(&score)?) };
    /// bank.scores(&ScoresRequest::default(), each)?;
    /// let csv = String::from_utf8(out.finish()?)?;
    /// assert!(csv.starts_with("url,site,state,in_degree"));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn new(out: W, format: ScoreFormat) -> io::Result<Self> {
        let to = match format {
            ScoreFormat::Csv => Sink::Csv(out),
            ScoreFormat::Text => Sink::Text(out),
            ScoreFormat::Jsonl => Sink::Jsonl(out),
            ScoreFormat::Parquet => Sink::Parquet(Box::new(Table::new(out, PageScore::COLUMNS)?)),
        };
        Ok(Self {
            to,
            needs_header: true,
        })
    }

    fn write_header(&mut self) -> io::Result<()> {
        if std::mem::take(&mut self.needs_header) {
            match &mut self.to {
                Sink::Csv(out) => out.write_all(record_header::<PageScore>().as_bytes())?,
                Sink::Text(out) => out.write_all(TEXT_HEADER.as_bytes())?,
                Sink::Jsonl(_) | Sink::Parquet(_) => {}
            }
        }
        Ok(())
    }

    /// Writes the scores of a page.
    pub fn page(&mut self, score: &PageScore) -> io::Result<()> {
        self.write_header()?;
        match &mut self.to {
            Sink::Csv(out) => out.write_all(record_line(score).as_bytes()),
            Sink::Text(out) => out.write_all(text_line(score).as_bytes()),
            Sink::Jsonl(out) => {
                serde_json::to_writer(&mut *out, score)?;
                out.write_all(b"\n")
            }
            Sink::Parquet(table) => table.row(&score.cells()),
        }
    }

    /// Writes buffered output and returns the underlying writer.
    pub fn finish(mut self) -> io::Result<W> {
        self.write_header()?;
        let mut out = match self.to {
            Sink::Csv(out) | Sink::Text(out) | Sink::Jsonl(out) => out,
            Sink::Parquet(table) => table.finish()?,
        };
        out.flush()?;
        Ok(out)
    }
}

const TEXT_HEADER: &str =
    "pagerank    harmonic    ± error  linked from   links to   seed   core  url\n";

/// Formats a row of the table for people. The URL comes last, since its width is not limited.
fn text_line(score: &PageScore) -> String {
    let rank = |rank: Option<u32>| rank.map_or_else(|| "-".to_owned(), |rank| rank.to_string());
    format!(
        "{:>8.2e} {:>11.2} {:>10.2}  {:>11}  {:>9}  {:>5}  {:>5}  {}\n",
        score.pagerank,
        score.harmonic,
        score.harmonic_error,
        score.in_degree,
        score.out_degree,
        rank(score.seed_rank),
        rank(score.core),
        readable(&score.url)
    )
}

/// Limits of a domain.
#[derive(Default)]
struct Domain {
    /// Pages of all its sites.
    pages: u64,
    /// Pages of the site with the largest quota.
    most: u32,
    /// Number of sites.
    sites: u64,
}

/// Returns the sites with a positive quota.
fn limited(quotas: &Quotas) -> impl Iterator<Item = &SiteQuota> {
    quotas.sites.iter().filter(|site| site.quota > 0)
}

/// Returns the number of sites with a quota of 0, which have no line in a list of limits.
#[must_use]
pub fn without_limit(quotas: &Quotas) -> usize {
    quotas.sites.len() - limited(quotas).count()
}

/// Writes limits of domains, without sites whose quota is 0 (crawlers read a limit of 0 as *unlimited*), in the format of the generator of Common Crawl's Nutch
/// (`generate.domain.limits.file`): registrable domain, its pages, pages per host, hosts, and
/// partitions, separated by tabs and ordered by name.
///
/// Pages per host is the largest quota of a host of the domain. If the bank's sites are domains, their
/// hosts are unknown, and each may have all pages of its domain.
pub fn write_domain_limits(mut out: impl Write, quotas: &Quotas) -> io::Result<()> {
    let mut domains: BTreeMap<&str, Domain> = BTreeMap::new();
    for site in limited(quotas) {
        let name = registrable_domain(without_port(&site.site));
        let domain = domains.entry(name).or_default();
        domain.pages += u64::from(site.quota);
        domain.most = domain.most.max(site.quota);
        // A site that is a whole domain may have any number of hosts.
        domain.sites += if name == site.site {
            u64::from(site.quota)
        } else {
            1
        };
    }
    for (name, domain) in domains {
        let limits = [domain.pages, domain.most.into(), domain.sites];
        let [pages, most, sites] = limits.map(|limit| limit.min(i32::MAX as u64));
        writeln!(out, "{name}\t{pages}\t{most}\t{sites}\t1")?;
    }
    Ok(())
}

fn without_port(site: &str) -> &str {
    match site.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => site,
    }
}

/// Argument of URLFrontier's `SetCrawlLimit`.
#[derive(Serialize)]
struct QueueLimit<'a> {
    key: &'a str,
    limit: u32,
}

/// Writes limits of queues, one per site, as arguments of URLFrontier's `SetCrawlLimit`: one JSON
/// object per line, the largest quota first.
pub fn write_queue_limits(mut out: impl Write, quotas: &Quotas) -> io::Result<()> {
    for site in limited(quotas) {
        let limit = QueueLimit {
            key: &site.site,
            limit: site.quota,
        };
        writeln!(out, "{}", serde_json::to_string(&limit)?)?;
    }
    Ok(())
}
