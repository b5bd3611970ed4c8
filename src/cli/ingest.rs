//! `ingest`: takes in a batch.

use std::collections::BTreeMap;
use std::fmt::{Display, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use seedbank::engine::{Bank, Format, IngestReport, IngestRequest};
use seedbank::ingest::{Input, Nofollow, PassedOver, Unread, bv_graph_file, field_meant};
use seedbank::shown::{counted, plain};

use super::failure::CliError;
use super::metrics_file::MetricsArgs;
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::values::{self, FormatArgs, human_bytes, kind_name};

const EXAMPLES: &str = r#"Examples:
  seedbank ingest bank --snapshot part-1.jsonl.gz part-2.jsonl.gz
  crawler | seedbank ingest bank --name 2026-11-21 -
  seedbank ingest bank --input links --pages pages.tsv links.tsv
  seedbank ingest bank --snapshot --input bvgraph --urls uk-2002.urls.gz uk-2002
  seedbank ingest bank edges-*.txt.gz --input ccgraph --vertices vertices-*.txt.gz --ranks ranks.txt.gz
  seedbank ingest bank CC-MAIN-20240517233122-20240518023122-00000.warc.wat.gz
  seedbank ingest bank crawl-*.warc.gz
  seedbank seeds other-bank | seedbank ingest bank -
  seedbank ingest bank sitemap.xml.gz archive.cdxj crawldb-dump/part-r-* linkdb-dump/part-r-*
  seedbank ingest bank crawl.log --input heritrix-links
  seedbank ingest bank crawl.parquet
  seedbank ingest bank --sites sites.tsv

A record, one on each line:
  {"url": "http://a.example/", "outlinks": ["http://b.example/"], "spam": false, "clicks": 3,
   "uncrawled_outlinks": 12, "quality": 0.8, "digest": "d41d8c", "fetched": "2026-11-19T04:00:00Z",
   "gone": false}
Only url is required; schema/record.schema.json says what each field means. An outlink may also be an
object: {"url": "http://b.example/", "text": "ignored"}, or with href in place of url.
Parquet, Arrow, CSV and TSV have the same fields as columns.

A site in the list of --sites, as JSON or as TSV (site, quality, spam, quota):
  {"site": "a.example", "quality": 0.8, "spam": false, "quota": 5000}
What a page's own records say beats what is said of its site; null takes it away
(schema/site.schema.json)."#;

/// Work a batch of records into a bank, all of it or nothing
///
/// All files together are one batch. They may be compressed (gzip or zstd); `-` is standard input.
/// Bad records are left out, counted by reason and listed in a rejects file (the first 100000); too
/// many of them, and the whole batch is refused. Over 100000 that are more than half of what was read,
/// and reading stops there. A batch that takes away much of what the bank has is refused, too, as a
/// delta given as a snapshot does. The same batch a second time changes nothing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct IngestArgs {
    /// The bank
    bank: PathBuf,
    /// The files of the batch; `-` is standard input. Of a graph in the BV format, its basename
    #[arg(required_unless_present = "sites", value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A list of sites with their attributes, JSON Lines or TSV: site, quality, spam, quota. It is
    /// part of the batch, or all of it
    #[arg(long, value_name = "FILE")]
    sites: Option<PathBuf>,
    /// The format of the files
    #[arg(long, value_parser = formats(), default_value = "auto", env = "SEEDBANK_INPUT")]
    input: Format,
    /// With `--input links`: a TSV of pages, url, spam, clicks, uncrawled outlinks
    #[arg(long, value_name = "FILE")]
    pages: Option<PathBuf>,
    /// With `--input bvgraph`: a URL for each node, one a line; without it node 7 is
    /// http://n7.invalid/
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// With `--input ccgraph`: the list of vertices, in its parts and their order
    #[arg(long, value_name = "FILE", num_args = 1..)]
    vertices: Vec<PathBuf>,
    /// With `--input ccgraph`: the ranks of hosts, by which each gets its quality
    #[arg(long, value_name = "FILE", num_args = 1..)]
    ranks: Vec<PathBuf>,
    /// Of WARC and WAT: whether links are kept or dropped that are not to be followed, by `rel=nofollow` or by
    /// the page's `meta` for robots
    #[arg(long, value_name = "WHAT", value_parser = nofollow(), default_value = "keep")]
    nofollow: Nofollow,
    /// The batch is the whole state: crawled pages without a record become gone
    #[arg(long)]
    snapshot: bool,
    /// The batch's name in `history`; the first file's name unless said otherwise
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// Refuse the batch where more than so many per cent of the records are bad
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = values::percent,
        env = "SEEDBANK_MAX_REJECTS")]
    max_rejects: f64,
    /// Refuse the batch where it takes away, net, more than so many per cent of all crawled pages, or
    /// of the links of the pages that it names and that stay crawled; never for less than 100 pages
    /// or 1,000 links. 100 switches it off
    #[arg(long, value_name = "PERCENT", default_value = "20", value_parser = values::percent,
        env = "SEEDBANK_MAX_LOSS")]
    max_loss: f64,
    /// Where bad records are listed; unless said otherwise in the bank's folder rejects/, in
    /// batch-000003.jsonl for batch 3, in batch-000003-attempt-1.jsonl where it was refused or tried
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Do everything but change the bank; bad records are listed all the same
    #[arg(long)]
    dry_run: bool,
    /// Apply the batch also where an earlier batch had the same records
    #[arg(long)]
    again: bool,
    /// Memory for sorting; what does not fit goes to files in the bank's folder
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = values::memory,
        env = "SEEDBANK_MEMORY")]
    memory: usize,
    /// Wait while another process writes to the bank
    #[arg(long, value_parser = BoolishValueParser::new(), env = "SEEDBANK_WAIT")]
    wait: bool,
    #[command(flatten)]
    metrics: MetricsArgs,
    #[command(flatten)]
    format: FormatArgs,
}

/// The formats that the library reads, by name.
fn formats() -> impl TypedValueParser<Value = Format> {
    let names = Format::NAMES.iter();
    let values = names.map(|(name, sentence)| PossibleValue::new(*name).help(*sentence));
    PossibleValuesParser::new(values).try_map(|name| {
        Format::named(&name).ok_or_else(|| format!("no format has the name {name}"))
    })
}

fn nofollow() -> impl TypedValueParser<Value = Nofollow> {
    let keep = PossibleValue::new("keep").help("They are links as any other");
    let drop = PossibleValue::new("drop").help("They are left out, and counted");
    PossibleValuesParser::new([keep, drop]).map(|name| match &*name {
        "drop" => Nofollow::Drop,
        _ => Nofollow::Keep,
    })
}

/// The request that the arguments mean.
fn request(args: IngestArgs) -> Result<IngestRequest, CliError> {
    let is_graph = matches!(args.input, Format::BvGraph { .. });
    if args.pages.is_some() && !matches!(args.input, Format::Links { .. }) {
        return Err(CliError::Usage(
            "--pages goes with --input links; JSON Lines have the pages in their records"
                .to_owned(),
        ));
    }
    if args.urls.is_some() && !is_graph {
        return Err(CliError::Usage(
            "--urls goes with --input bvgraph; other formats have URLs in their lines".to_owned(),
        ));
    }
    check_web_graph(&args)?;
    check_nofollow(&args)?;
    if is_graph {
        let [basename] = &args.files[..] else {
            return Err(CliError::Usage(
                "--input bvgraph takes one graph, since the numbers of its nodes are its own; give each a batch of its own"
                    .to_owned(),
            ));
        };
        if basename.as_os_str() == "-" {
            return Err(CliError::Usage(
                "a graph is two files and cannot come from standard input; give its basename"
                    .to_owned(),
            ));
        }
    }
    let files: Vec<&Path> = args
        .files
        .iter()
        .chain(&args.pages)
        .chain(&args.urls)
        .chain(&args.vertices)
        .chain(&args.ranks)
        .chain(&args.sites)
        .map(|file| &**file)
        .collect();
    if files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        return Err(CliError::Usage(
            "standard input (-) is given more than once, and can be read only once".to_owned(),
        ));
    }
    let graph = match &args.files[..] {
        [basename] if is_graph => graph_files(basename),
        _ => Vec::new(),
    };
    if let Some(rejects) = &args.rejects
        && files
            .into_iter()
            .chain(graph.iter().map(|file| &**file))
            .any(|file| is_same(file, rejects))
    {
        return Err(CliError::Usage(format!(
            "--rejects {} would overwrite an input; name another file",
            rejects.display()
        )));
    }
    if let Some(rejects) = &args.rejects
        && is_inside(&args.bank, rejects)
    {
        return Err(CliError::Usage(format!(
            "--rejects {} would overwrite a file of the bank; name one outside it",
            rejects.display()
        )));
    }
    let mut format = args.input;
    match &mut format {
        Format::Links { pages } => *pages = args.pages,
        Format::BvGraph { urls } => *urls = args.urls.map(Input::named),
        Format::CcGraph { vertices, ranks } => {
            *vertices = args.vertices.into_iter().map(Input::named).collect();
            *ranks = args.ranks.into_iter().map(Input::named).collect();
        }
        Format::Warc { nofollow } | Format::Wat { nofollow } | Format::Auto { nofollow } => {
            *nofollow = args.nofollow;
        }
        _ => {}
    }
    Ok(IngestRequest {
        inputs: args.files.into_iter().map(Input::named).collect(),
        format,
        sites: args.sites.map(Input::named),
        snapshot: args.snapshot,
        name: args.name,
        max_rejects: args.max_rejects,
        max_loss: args.max_loss,
        rejects: args.rejects,
        dry_run: args.dry_run,
        wait: args.wait,
        again: args.again,
        memory: args.memory,
    })
}

/// Whether it is said what becomes of links that are not to be followed only where there may be such.
fn check_nofollow(args: &IngestArgs) -> Result<(), CliError> {
    let may_be_archive = matches!(
        args.input,
        Format::Warc { .. } | Format::Wat { .. } | Format::Auto { .. }
    );
    if args.nofollow == Nofollow::Keep || may_be_archive {
        return Ok(());
    }
    let text = "--nofollow goes with --input warc and wat; other formats do not say which links are not to be followed";
    Err(CliError::Usage(text.to_owned()))
}

/// Whether the lists of a web graph are given where there is one, and nowhere else.
fn check_web_graph(args: &IngestArgs) -> Result<(), CliError> {
    let is_web_graph = matches!(args.input, Format::CcGraph { .. });
    let usage = |text: &str| Err(CliError::Usage(text.to_owned()));
    if !is_web_graph && !args.vertices.is_empty() {
        return usage("--vertices goes with --input ccgraph");
    }
    if !is_web_graph && !args.ranks.is_empty() {
        return usage(
            "--ranks goes with --input ccgraph; quality is a field of records, and of --sites",
        );
    }
    if is_web_graph && args.vertices.is_empty() {
        return usage(
            "--input ccgraph takes the files of edges, and with --vertices those of vertices, which say what the numbers in the edges are",
        );
    }
    if is_web_graph && args.files.is_empty() {
        return usage("--input ccgraph takes the files of edges, which are missing");
    }
    Ok(())
}

fn graph_files(basename: &Path) -> Vec<PathBuf> {
    let files = ["graph", "properties"].map(|kind| bv_graph_file(basename, kind));
    files.into()
}

/// Whether a file, which may not exist yet, is one of the bank's own; its folder of rejects is
/// allowed.
fn is_inside(bank: &Path, file: &Path) -> bool {
    let folder = match file.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    };
    match (bank.canonicalize(), folder.canonicalize()) {
        (Ok(bank), Ok(folder)) => {
            folder.starts_with(&bank) && !folder.starts_with(bank.join("rejects"))
        }
        _ => false,
    }
}

fn is_same(a: &Path, b: &Path) -> bool {
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

pub(super) fn run(args: IngestArgs, session: &Session) -> Result<Outcome, CliError> {
    let bank = Bank::at(&args.bank);
    let format = args.format.format;
    let metrics = args.metrics.clone();
    metrics.check(&args.bank)?;
    let request = request(args)?;
    let watch = session.watch()?;
    let report = bank.ingest(&request, &watch);
    drop(watch);
    let report = report?;
    // The batch is in: that is told first, and what is wrong with the file after it.
    let written = metrics.write(&bank);
    if report.read.records == 0 {
        session.warn("the input has no records");
    }
    if let Some(batch) = report.repeats {
        session.warn(format_args!(
            "batch {batch} had the same records without fetch times; applied again, since other batches came between"
        ));
    }
    let unknown = &report.read.unknown_fields;
    if !unknown.names.is_empty() {
        let others = match unknown.others {
            0 => String::new(),
            others => format!(" and {others} of other names"),
        };
        // Every record that was taken has its url.
        let meant = |name| field_meant(name).filter(|field| *field != "url");
        let names = unknown.names.iter().map(|(name, count)| match meant(name) {
            Some(field) => format!("{name} {count} (did you mean {field}?)"),
            None => format!("{name} {count}"),
        });
        let names: Vec<String> = names.collect();
        session.warn(format_args!(
            "fields that no record has were left out: {}{others}",
            names.join(", ")
        ));
    }
    match format {
        values::Format::Json => print_json(&report)?,
        values::Format::Text => print(&text(&report))?,
    }
    written?;
    Ok(Outcome::Done)
}

/// The report for people.
fn text(report: &IngestReport) -> String {
    let mut text = String::new();
    let kind = kind_name(report.kind);
    let (read, counts) = (&report.read, &report.counts);
    let head = match (report.same_as, report.batch) {
        (Some(same), _) => {
            format!(
                "nothing changed: batch {same} had the same records (--again applies them again)"
            )
        }
        (None, Some(batch)) => format!("batch {batch}"),
        (None, None) => "dry run, the bank is as it was".to_owned(),
    };
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "{head}: {} ({kind}), {}, {} of text, {:.2} s",
        plain(&report.name),
        counted(read.records, "record"),
        human_bytes(read.bytes),
        report.seconds
    );
    if report.same_as.is_none() {
        let _ = writeln!(
            text,
            "pages: {} new, {} became crawled, {} became gone, {} changed\nlinks: {} added, {} removed",
            counts.born,
            counts.became_crawled,
            counts.became_gone,
            counts.changed,
            counts.links_added,
            counts.links_removed
        );
    }
    text += &of_sites_and_aliases(report);
    if counts.overruled > 0 {
        let _ = writeln!(
            text,
            "overruled: {} of pages that have another record in the batch",
            counted(counts.overruled, "record")
        );
    }
    let barred = &report.barred;
    if barred.records + barred.links > 0 {
        let _ = writeln!(
            text,
            "blocked, since it was forgotten: {}, {} of other pages",
            counted(barred.records, "record"),
            counted(barred.links, "link")
        );
    }
    text += &passed_over(&read.passed_over);
    text += &unread(&read.unread);
    if read.rejected() > 0 {
        let _ = write!(
            text,
            "rejected: {} of {}: {}",
            read.rejected(),
            counted(read.records, "record"),
            list(&read.rejects)
        );
        if let Some(file) = &report.rejects_file {
            let first = match report.rejects_listed {
                all if all == read.rejected() => String::new(),
                first => format!("the first {first} are "),
            };
            let _ = write!(
                text,
                "; {first}listed in {}",
                plain(&file.to_string_lossy())
            );
        }
        text.push('\n');
    }
    if !read.dropped_outlinks.is_empty() {
        let dropped: u64 = read.dropped_outlinks.values().sum();
        let _ = writeln!(
            text,
            "outlinks dropped: {dropped}: {}",
            list(&read.dropped_outlinks)
        );
    }
    if read.duplicate_outlinks + read.self_links > 0 {
        let _ = writeln!(
            text,
            "outlinks left out: {} given twice, {} of a page to itself",
            read.duplicate_outlinks, read.self_links
        );
    }
    if read.zones_assumed > 0 {
        let _ = writeln!(
            text,
            "fetch times without a time zone, taken as UTC: {}",
            read.zones_assumed
        );
    }
    text
}

/// How many records said nothing of a page, where there are any.
fn passed_over(by_reason: &BTreeMap<PassedOver, u64>) -> String {
    let passed: u64 = by_reason.values().sum();
    if passed == 0 {
        return String::new();
    }
    format!(
        "passed over, since they say nothing of a page: {}: {}\n",
        counted(passed, "record"),
        list(by_reason)
    )
}

/// How many pages were not read for links, where there are any.
fn unread(by_reason: &BTreeMap<Unread, u64>) -> String {
    let pages: u64 = by_reason.values().sum();
    if pages == 0 {
        return String::new();
    }
    format!(
        "pages not read for links, or not to the end: {pages}: {}\n",
        list(by_reason)
    )
}

/// What the batch did to sites and aliases, where it did anything.
fn of_sites_and_aliases(report: &IngestReport) -> String {
    let mut text = String::new();
    if report.same_as.is_none() && report.sites.named > 0 {
        let _ = writeln!(
            text,
            "sites: {} named, of {} other attributes than before",
            report.sites.named, report.sites.changed
        );
    }
    let aliases = &report.aliases;
    if aliases.became + aliases.ended + aliases.cut > 0 {
        let _ = writeln!(
            text,
            "aliases: {} more, {} are pages again or gone, {} lead nowhere (a circle, or over five)",
            aliases.became, aliases.ended, aliases.cut
        );
    }
    text
}

/// Names with their counts.
fn list<K: Display>(counts: &BTreeMap<K, u64>) -> String {
    let mut text = String::new();
    for (name, count) in counts {
        let comma = if text.is_empty() { "" } else { ", " };
        let _ = write!(text, "{comma}{name} {count}");
    }
    text
}
