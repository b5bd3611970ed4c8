//! `synth`: generates a crawl, or a graph of hosts.

use std::path::{Path, PathBuf};

use clap::{Args, ValueEnum};
use schemars::JsonSchema;
use serde::Serialize;

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{self, Format, FormatArgs, human_bytes, integer};

use seedbank::display::{counted, escape_controls};
use seedbank::synth::hosts::{HostsList, HostsOptions, HostsSummary, generate as generate_hosts};
use seedbank::synth::{SynthOptions, SynthSummary, generate};

/// The default number of daily deltas.
const DAYS: u32 = 7;

const EXAMPLES: &str = "\
Examples:
  seedbank synth crawl --pages 10000 --days 7
  seedbank ingest bank --snapshot crawl/day-000.jsonl.zst
  seedbank ingest bank crawl/day-001.jsonl.zst
  seedbank synth large --pages 18500000 --like uk-2002 --days 10 --daily 1
  seedbank synth graph --shape hosts --pages 100000
  seedbank ingest bank graph/edges-*.txt.gz --input ccgraph --vertices graph/vertices-*.txt.gz \
    --ranks graph/ranks.txt.gz";

/// Generate a test crawl: a snapshot and daily deltas
///
/// Equal options give equal bytes on every machine. The pages do not exist; their hosts end in
/// names that are reserved for examples.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct SynthArgs {
    /// The folder to create
    dir: PathBuf,
    /// What to generate
    #[arg(long, value_enum, default_value_t)]
    shape: SynthShape,
    /// Number of crawled pages in the snapshot, or of hosts in a graph
    #[arg(long, value_name = "N", value_parser = integer::<u64>(1..=u64::MAX))]
    pages: u64,
    /// Number of crawled sites [default: one per 36 pages]
    #[arg(long, value_name = "N", value_parser = integer::<u32>(1..=u32::MAX))]
    sites: Option<u32>,
    /// The real crawl whose link statistics are imitated [default: ku-2017-webir]
    #[arg(long, value_enum, value_name = "CRAWL")]
    like: Option<Like>,
    /// Number of daily deltas after the snapshot [default: 7]
    #[arg(long, value_name = "N", value_parser = integer::<u32>(0..=u32::MAX))]
    days: Option<u32>,
    /// Records of a daily delta, as a percentage of the pages
    ///
    /// The default follows the rates of published studies, about 8.5.
    #[arg(long, value_name = "PERCENT", value_parser = values::percent)]
    daily: Option<f64>,
    /// Seed of the random number generator
    #[arg(long, value_name = "N", default_value_t = 0, value_parser = integer::<u64>(0..=u64::MAX))]
    rng_seed: u64,
    #[command(flatten)]
    format: FormatArgs,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum SynthShape {
    /// A crawl of pages, as JSON Lines
    #[default]
    Pages,
    /// A graph of hosts with the proportions and file layout of Common Crawl's host graphs
    Hosts,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, ValueEnum)]
enum Like {
    /// 22 links per page, 3.7 inter-site; half of the links lead to pages that are not crawled
    #[default]
    #[value(name = "ku-2017-webir")]
    Ku2017Webir,
    /// 16 links per page, 1.2 inter-site, all to crawled pages; the crawl has 18,500,000 pages
    #[value(name = "uk-2002")]
    Uk2002,
}

/// Converts the arguments to options.
fn options(args: &SynthArgs) -> SynthOptions {
    let like = match args.like.unwrap_or_default() {
        Like::Ku2017Webir => SynthOptions::new(args.pages),
        Like::Uk2002 => SynthOptions::uk_2002(args.pages),
    };
    let like = match args.daily {
        Some(percent) => like.with_daily_share(percent / 100.0),
        None => like,
    };
    SynthOptions {
        sites: args.sites,
        days: args.days.unwrap_or(DAYS),
        rng_seed: args.rng_seed,
        ..like
    }
}

pub(super) fn run(args: &SynthArgs, session: &Session) -> Result<Outcome, CliError> {
    if args.shape == SynthShape::Hosts {
        let of_pages = [
            ("--sites", args.sites.is_some()),
            ("--like", args.like.is_some()),
            ("--days", args.days.is_some()),
            ("--daily", args.daily.is_some()),
        ];
        if let Some((flag, _)) = of_pages.iter().find(|(_, given)| *given) {
            return Err(CliError::Usage(format!(
                "{flag} applies to crawls of pages, not to graphs of hosts; omit {flag} or --shape hosts"
            )));
        }
        let options = HostsOptions {
            rng_seed: args.rng_seed,
            ..HostsOptions::new(args.pages)
        };
        return hosts(&args.dir, &options, args.format.format, session);
    }
    let options = options(args);
    let summary = session.run(|watch| generate(&args.dir, &options, watch))?;
    args.format
        .format
        .print(&result(&summary), |_| text(&summary))?;
    Ok(Outcome::Done)
}

/// The output of `synth --format json`.
#[derive(Serialize, JsonSchema)]
pub(super) struct SynthResult {
    /// Number of crawled sites.
    #[schemars(range(min = 1))]
    sites: u32,
    /// The files, ordered by day.
    files: Vec<FileResult>,
}

/// The file of one day.
#[derive(Serialize, JsonSchema)]
struct FileResult {
    /// The path of the file.
    path: String,
    /// The day; day 0 is the snapshot, the others are deltas.
    day: u32,
    /// Compressed size of the file in bytes.
    file_bytes: u64,
    /// Size of the JSON Lines in bytes before compression.
    text_bytes: u64,
    /// Number of records: on day 0 all pages, later the sum of the counts below.
    records: u64,
    /// Pages created on that day.
    born: u64,
    /// Gone pages that came back.
    returned: u64,
    /// Pages whose content changed.
    changed: u64,
    /// Pages that disappeared on that day.
    gone: u64,
    /// Records with clicks only.
    clicked: u64,
    /// Links in the records.
    links: u64,
    /// Inter-site links in the records.
    inter_site_links: u64,
}

fn result(summary: &SynthSummary) -> SynthResult {
    let files = summary.files.iter().map(|file| FileResult {
        path: file.path.to_string_lossy().into_owned(),
        day: file.day,
        file_bytes: file.file_bytes,
        text_bytes: file.counts.bytes,
        records: file.counts.records,
        born: file.counts.born,
        returned: file.counts.returned,
        changed: file.counts.changed,
        gone: file.counts.gone,
        clicked: file.counts.clicked,
        links: file.counts.links,
        inter_site_links: file.counts.inter_site_links,
    });
    SynthResult {
        sites: summary.sites,
        files: files.collect(),
    }
}

/// Formats the summary as text.
fn text(summary: &SynthSummary) -> String {
    let mut text = String::new();
    for file in &summary.files {
        append_line!(
            text,
            "{}: {}, {} ({} inter-site), {}",
            escape_controls(&file.path.to_string_lossy()),
            counted(file.counts.records, "record"),
            counted(file.counts.links, "link"),
            file.counts.inter_site_links,
            human_bytes(file.file_bytes)
        );
    }
    text
}

pub(super) fn hosts(
    dir: &Path,
    options: &HostsOptions,
    format: Format,
    session: &Session,
) -> Result<Outcome, CliError> {
    let summary = session.run(|watch| generate_hosts(dir, options, watch))?;
    format.print(&hosts_result(&summary), |_| hosts_text(&summary))?;
    Ok(Outcome::Done)
}

/// The output of `synth --shape hosts --format json`.
#[derive(Serialize, JsonSchema)]
pub(crate) struct HostsResult {
    /// Number of hosts.
    #[schemars(range(min = 1))]
    hosts: u64,
    /// Number of hosts without links to other hosts.
    dangling: u64,
    /// Number of links between hosts.
    links: u64,
    /// The files of vertices, edges and ranks, each with its parts in order.
    files: Vec<ListResult>,
}

/// A file of the graph.
#[derive(Serialize, JsonSchema)]
struct ListResult {
    /// The path of the file.
    path: String,
    /// Its contents: `vertices`, `edges` or `ranks`.
    list: &'static str,
    /// Number of lines; a file of ranks also has a header.
    lines: u64,
    /// The size of the file in bytes, compressed.
    file_bytes: u64,
    /// Size of the text in bytes before compression.
    text_bytes: u64,
}

fn hosts_result(summary: &HostsSummary) -> HostsResult {
    let files = summary.files.iter().map(|file| ListResult {
        path: file.path.to_string_lossy().into_owned(),
        list: match file.list {
            HostsList::Vertices => "vertices",
            HostsList::Edges => "edges",
            HostsList::Ranks => "ranks",
        },
        lines: file.lines,
        file_bytes: file.file_bytes,
        text_bytes: file.text_bytes,
    });
    HostsResult {
        hosts: summary.hosts,
        dangling: summary.dangling,
        links: summary.links,
        files: files.collect(),
    }
}

/// Formats the summary of a graph as text.
fn hosts_text(summary: &HostsSummary) -> String {
    let mut text = String::new();
    for file in &summary.files {
        append_line!(
            text,
            "{}: {}, {}",
            escape_controls(&file.path.to_string_lossy()),
            counted(file.lines, "line"),
            human_bytes(file.file_bytes)
        );
    }
    append_line!(
        text,
        "{}, {} without links; {}",
        counted(summary.hosts, "host"),
        summary.dangling,
        counted(summary.links, "link")
    );
    text
}
