//! `ingest`: applies a batch of records to a bank.

use std::collections::BTreeMap;
use std::fmt::Display;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use clap::builder::{BoolishValueParser, PossibleValue, PossibleValuesParser, TypedValueParser};
use clap::{Args, value_parser};

use super::failure::CliError;
use super::output::MetricsArgs;
use super::session::{Outcome, Session};
use super::values::{self, FormatArgs, human_bytes, kind_name, time};

use seedbank::display::{counted, escape_controls};
use seedbank::engine::ingest::{ColumnNames, Format, Truncated};
use seedbank::engine::remote::listed_inputs;
use seedbank::engine::{IngestReport, IngestRequest};
use seedbank::ingest::{
    DropReason, HtmlPages, Input, Nofollow, ReadSummary, SkipReason, Unread, bv_graph_file,
    suggest_field,
};

const EXAMPLES: &str = r#"Examples:
  seedbank ingest bank --snapshot part-1.jsonl.gz part-2.jsonl.gz
  crawler | seedbank ingest bank --name 2026-11-21 -
  seedbank ingest bank --input links --pages pages.tsv links.tsv
  seedbank ingest bank --snapshot --input bvgraph --urls uk-2002.urls.gz uk-2002
  seedbank ingest bank edges-*.txt.gz --input ccgraph --vertices vertices-*.txt.gz --ranks ranks.txt.gz
  seedbank ingest bank CC-MAIN-20240517233122-20240518023122-00000.warc.wat.gz
  seedbank ingest bank crawl-*.warc.gz
  seedbank ingest bank crawl.wacz
  seedbank seeds other-bank | seedbank ingest bank -
  seedbank ingest bank sitemap.xml.gz archive.cdxj crawldb-dump/part-r-* linkdb-dump/part-r-*
  seedbank ingest bank crawl.log --input heritrix-links --as-of 2026-11-19
  seedbank ingest bank crawl.parquet
  seedbank ingest bank 's3://crawls/2026-11-21/part-*.jsonl.zst'
  seedbank ingest bank --paths wat.paths.gz --base https://data.commoncrawl.org/
  seedbank ingest bank --sites sites.tsv

A record (one per line):
  {"url": "http://a.example/", "outlinks": ["http://b.example/"], "spam": false, "clicks": 3,
   "uncrawled_outlinks": 12, "quality": 0.8, "digest": "d41d8c", "fetched": "2026-11-19T04:00:00Z",
   "gone": false}
Only url is required; schema/record.schema.json describes every field. An outlink may also be an object:
{"url": "http://b.example/", "text": "ignored"}, or with href instead of url.
Parquet, Arrow, CSV and TSV files have the same fields as columns.

A site in the list given with --sites, as JSON or as TSV (site, quality, spam, quota):
  {"site": "a.example", "quality": 0.8, "spam": false, "quota": 5000}
A page's own attributes take precedence over its site's; null removes one (schema/site.schema.json)."#;

/// Apply a batch of records to a bank, completely or not at all
///
/// All files together are one batch. They may be compressed with gzip, zstd or brotli (`.br`); of a WACZ file
/// (ZIP), the WARC files in it are read. `-` reads standard input. Bad records, and fields that cannot be read, are omitted,
/// counted by reason, and listed in a rejects file (the first 100000).
/// The batch is rejected if too many records are bad; reading stops early if more than 100000 are bad
/// and they are more than half of those read. Records of fetches that are older than the last one of
/// their page are skipped, counted, and listed there too. The batch is also rejected if it would remove a large part of
/// the bank, as happens when a delta is given as a snapshot. Applying the same batch again changes
/// nothing.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[expect(clippy::struct_excessive_bools, reason = "each is a switch of its own")]
pub(super) struct IngestArgs {
    /// The bank
    bank: PathBuf,
    /// The files of the batch, or addresses of remote files; `-` reads standard input. For a BV graph, its
    /// basename
    ///
    /// Addresses begin with s3://, gs://, az://, https:// or http://. In those of buckets, `*` matches all
    /// characters but `/`, and `**` also that.
    #[arg(required_unless_present_any = ["sites", "paths"], value_name = "FILE")]
    files: Vec<PathBuf>,
    /// A list of more files of the batch, one path or address per line, also compressed
    #[arg(long, value_name = "FILE")]
    paths: Option<PathBuf>,
    /// With --paths: the address or folder to which each path of the list is appended
    #[arg(long, value_name = "ADDRESS", requires = "paths")]
    base: Option<String>,
    /// A list of sites with their attributes (site, quality, spam, quota), as JSON Lines or TSV
    ///
    /// It is part of the batch, or the whole batch if no files are given.
    #[arg(long, value_name = "FILE")]
    sites: Option<PathBuf>,
    /// Format of the files
    #[arg(long, value_parser = formats(), default_value = "auto", env = "SEEDBANK_INPUT")]
    input: Format,
    /// For tables: which columns are which fields, as FIELD=COLUMN,..., if they have other names
    ///
    /// With url and outlinks alone, each row is one link: `--columns url=Source,outlinks=Destination`. With
    /// `split=SEPARATOR` at the end, a cell of outlinks has several URLs: `--columns 'url=Address,outlinks=Links,split=|'`.
    #[arg(long, value_name = "FIELD=COLUMN", value_parser = value_parser!(ColumnNames))]
    columns: Option<ColumnNames>,
    /// With `--input links`: a TSV file of pages (url, spam, clicks, uncrawled outlinks)
    #[arg(long, value_name = "FILE")]
    pages: Option<PathBuf>,
    /// With `--input bvgraph`: a file with one URL per line, one for each node
    ///
    /// Without it, node 7 gets the URL http://n7.invalid/, and so on.
    #[arg(long, value_name = "FILE")]
    urls: Option<PathBuf>,
    /// With `--input ccgraph`: the vertex files, all parts in order
    #[arg(long, value_name = "FILE", num_args = 1..)]
    vertices: Vec<PathBuf>,
    /// With `--input ccgraph`: the files of host ranks, from which qualities are derived
    #[arg(long, value_name = "FILE", num_args = 1..)]
    ranks: Vec<PathBuf>,
    /// For WARC and WAT: what to do with links marked nofollow
    ///
    /// A link is marked by `rel=nofollow`, or by the page's `meta` element for robots.
    #[arg(long, value_name = "WHAT", value_parser = nofollow(), default_value = "keep")]
    nofollow: Nofollow,
    /// Treat the batch as the whole state: crawled pages without a record become gone
    #[arg(long)]
    snapshot: bool,
    /// Fetch time of pages whose records have no `fetched` [default: now]
    ///
    /// In any form that `fetched` has. A record is skipped if its page was fetched later. With --snapshot,
    /// pages without a record that were fetched later do not become gone.
    #[arg(long, value_name = "TIME", value_parser = values::time_of)]
    as_of: Option<u64>,
    /// Name of the batch in `history` [default: the name of the first file]
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
    /// What to do with a file that ends within a record
    ///
    /// Not with Parquet, whose index is at its end, and not with --snapshot, since pages after the end would become
    /// gone.
    #[arg(long, value_name = "WHAT", value_parser = truncated(), default_value = "refuse")]
    truncated: Truncated,
    /// Reject the batch if more than this percentage of its records is bad
    ///
    /// Up to 10 bad records are accepted if others are good, except with 0. A field that cannot be read counts as
    /// absent, and does not make its record bad; only the URL of its page is essential.
    #[arg(long, value_name = "PERCENT", default_value = "1", value_parser = values::percent,
        env = "SEEDBANK_MAX_REJECTS")]
    max_rejects: f64,
    /// Reject the batch if it would remove more than this percentage of crawled pages or links
    ///
    /// Counts the net loss of the whole bank: what the batch removes, less what it adds. A loss of fewer than
    /// 100 pages or 1,000 links never rejects a batch. 100 switches the check off.
    #[arg(long, value_name = "PERCENT", default_value = "20", value_parser = values::percent,
        env = "SEEDBANK_MAX_LOSS")]
    max_loss: f64,
    /// Write the list of bad records to this file
    ///
    /// The default is batch-000003.jsonl in the bank's folder rejects/ for batch 3, or
    /// batch-000003-attempt-1.jsonl if the batch was rejected or was a dry run.
    #[arg(long, value_name = "FILE")]
    rejects: Option<PathBuf>,
    /// Read and check the batch without changing the bank; bad records are listed all the same
    #[arg(long)]
    dry_run: bool,
    /// Apply the batch even if an earlier batch had the same records
    #[arg(long)]
    again: bool,
    /// Learn from pages that are fetched again even if the batch looks like a bulk import
    ///
    /// A batch that brings more than ten times the number of new links expected from earlier
    /// batches says little about what later fetches bring.
    #[arg(long)]
    learn_from_bulk: bool,
    /// Keep hosts that only crawlers in a private network can fetch from
    ///
    /// Without it, links to names of one label, private addresses, localhost, .local, .internal, .localhost and .onion are
    /// dropped, and records of such pages are bad.
    #[arg(long)]
    allow_private: bool,
    /// Memory for sorting; larger data is sorted in files in the bank's folder
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

/// Returns a parser for the names of the formats that the library reads.
fn formats() -> impl TypedValueParser<Value = Format> {
    let names = Format::NAMES.iter();
    let values = names.map(|(name, sentence)| PossibleValue::new(*name).help(*sentence));
    PossibleValuesParser::new(values)
        .try_map(|name| Format::named(&name).ok_or_else(|| format!("unknown format {name}")))
}

fn nofollow() -> impl TypedValueParser<Value = Nofollow> {
    let keep = PossibleValue::new("keep").help("Keep them like other links");
    let drop = PossibleValue::new("drop").help("Drop them and count them");
    PossibleValuesParser::new([keep, drop]).map(|name| match &*name {
        "drop" => Nofollow::Drop,
        _ => Nofollow::Keep,
    })
}

fn truncated() -> impl TypedValueParser<Value = Truncated> {
    let refuse = PossibleValue::new("refuse").help("Reject the batch");
    let keep = PossibleValue::new("keep")
        .help("Take the complete records before the end, and count the file");
    PossibleValuesParser::new([refuse, keep]).map(|name| match &*name {
        "keep" => Truncated::Keep,
        _ => Truncated::Refuse,
    })
}

/// Converts the arguments to a request.
fn request(args: IngestArgs) -> Result<IngestRequest, CliError> {
    let is_graph = matches!(args.input, Format::BvGraph { .. });
    let usage = |text: &str| Err(CliError::Usage(text.to_owned()));
    if args.pages.is_some() && !matches!(args.input, Format::Links { .. }) {
        return usage(
            "--pages requires --input links; other formats have page attributes in their records",
        );
    }
    if args.urls.is_some() && !is_graph {
        return usage("--urls requires --input bvgraph; other formats contain URLs");
    }
    let may_be_table = matches!(
        args.input,
        Format::Csv | Format::Tsv | Format::Parquet | Format::Arrow | Format::Auto { .. }
    );
    if args.columns.is_some() && !may_be_table {
        return usage(
            "--columns requires a table: --input csv, tsv, parquet or arrow, or no --input",
        );
    }
    check_web_graph(&args)?;
    check_nofollow(&args)?;
    if is_graph {
        let [basename] = &args.files[..] else {
            return usage(
                "--input bvgraph reads one graph per batch, since node numbers are local to a graph; ingest each graph as a batch of its own",
            );
        };
        if basename.as_os_str() == "-" {
            return usage(
                "a BV graph cannot be read from standard input, since it consists of two files; give its basename",
            );
        }
        if args.paths.is_some() {
            return usage(
                "--input bvgraph reads one graph per batch; give its basename instead of --paths",
            );
        }
    }
    check_rejects(&args, is_graph)?;
    let mut format = args.input;
    match &mut format {
        Format::Links { pages } => *pages = args.pages.map(Input::named),
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
        columns: args.columns.unwrap_or_default(),
        sites: args.sites.map(Input::named),
        snapshot: args.snapshot,
        as_of: args.as_of,
        name: args.name,
        truncated: args.truncated,
        max_rejects: args.max_rejects,
        max_loss: args.max_loss,
        rejects: args.rejects,
        dry_run: args.dry_run,
        wait: args.wait,
        again: args.again,
        learn_from_bulk: args.learn_from_bulk,
        allow_private: args.allow_private,
        memory: args.memory,
    })
}

/// Checks that standard input is read once, and that the list of bad records overwrites no input and no file of the bank.
fn check_rejects(args: &IngestArgs, is_graph: bool) -> Result<(), CliError> {
    let usage = |text: &str| Err(CliError::Usage(text.to_owned()));
    let files: Vec<&Path> = args
        .files
        .iter()
        .chain(&args.pages)
        .chain(&args.urls)
        .chain(&args.vertices)
        .chain(&args.ranks)
        .chain(&args.sites)
        .chain(&args.paths)
        .map(|file| &**file)
        .collect();
    if files.iter().filter(|file| file.as_os_str() == "-").count() > 1 {
        return usage("standard input (-) is given more than once and can be read only once");
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
            "--rejects {} would overwrite a file of the bank; name a file outside the bank",
            rejects.display()
        )));
    }
    Ok(())
}

/// Checks that --nofollow is used only with formats that mark such links.
fn check_nofollow(args: &IngestArgs) -> Result<(), CliError> {
    let may_be_archive = matches!(
        args.input,
        Format::Warc { .. } | Format::Wat { .. } | Format::Auto { .. }
    );
    if args.nofollow == Nofollow::Keep || may_be_archive {
        return Ok(());
    }
    let text = "--nofollow requires --input warc or wat; other formats do not mark nofollow links";
    Err(CliError::Usage(text.to_owned()))
}

/// Checks that the files of a host graph are given with --input ccgraph, and only then.
fn check_web_graph(args: &IngestArgs) -> Result<(), CliError> {
    let is_web_graph = matches!(args.input, Format::CcGraph { .. });
    let usage = |text: &str| Err(CliError::Usage(text.to_owned()));
    if !is_web_graph && !args.vertices.is_empty() {
        return usage("--vertices requires --input ccgraph");
    }
    if !is_web_graph && !args.ranks.is_empty() {
        return usage(
            "--ranks requires --input ccgraph; elsewhere, quality is a field of records and of --sites",
        );
    }
    if is_web_graph && args.vertices.is_empty() {
        return usage(
            "--input ccgraph requires vertex files (--vertices) besides the edge files, since edges only contain vertex ids",
        );
    }
    if is_web_graph && args.files.is_empty() {
        return usage("--input ccgraph requires edge files");
    }
    Ok(())
}

fn graph_files(basename: &Path) -> Vec<PathBuf> {
    let files = ["graph", "properties"].map(|kind| bv_graph_file(basename, kind));
    files.into()
}

/// Returns whether a file, which may not exist yet, belongs to the bank; its folder of rejects does
/// not count.
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
    let bank = session.bank(&args.bank);
    let format = args.format.format;
    let metrics = args.metrics.clone();
    metrics.check(&args.bank)?;
    let (paths, base) = (args.paths.clone(), args.base.clone());
    let mut request = request(args)?;
    let report = session.run(|watch| {
        if let Some(paths) = &paths {
            let listed = listed_inputs(paths, base.as_deref(), Arc::new(watch.clone()))?;
            request.inputs.extend(listed);
        }
        bank.watched(watch.clone()).ingest(&request)
    })?;
    // The batch is applied, so it is reported first, and an error of the metrics file after it.
    let written = metrics.write(&bank);
    if report.is_empty {
        session.warn("the input has no records, so it is not a batch; the bank is unchanged");
    }
    if let Some(batch) = report.repeats {
        session.warn(format_args!(
            "batch {batch} had the same records apart from fetch times; applied again, since other batches came between"
        ));
    }
    let unknown = &report.read.unknown_fields;
    if !unknown.names.is_empty() {
        let others = match unknown.others {
            0 => String::new(),
            others => format!(" and {others} with other names"),
        };
        // Every accepted record has its url, so no unknown field can be a misspelt url.
        let meant = |name| suggest_field(name).filter(|field| *field != "url");
        let names = unknown.names.iter().map(|(name, count)| match meant(name) {
            Some(field) => format!("{name} {count} (did you mean {field}?)"),
            None => format!("{name} {count}"),
        });
        let names: Vec<String> = names.collect();
        session.warn(format_args!(
            "unknown fields were ignored: {}{others}",
            names.join(", ")
        ));
    }
    if let Some(count) = report.read.dropped_outlinks.get(&DropReason::SeveralUrls) {
        session.warn(format_args!(
            "{count} outlinks seem to have several URLs in one field; give them as a JSON array, or say what separates them in a column: --columns 'outlinks=NAME,split=SEPARATOR'"
        ));
    }
    if let Some(warning) = without_links(&report.read.html) {
        session.warn(warning);
    }
    format.print(&report, ingest_text)?;
    written?;
    Ok(Outcome::Done)
}

/// Formats the report as text.
pub(super) fn ingest_text(report: &IngestReport) -> String {
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
        (None, None) if report.is_empty => "nothing changed: no records".to_owned(),
        (None, None) => "dry run, the bank is unchanged".to_owned(),
    };
    append_line!(
        text,
        "{head}: {} ({kind}), {}, {} of text, {:.2} s",
        escape_controls(&report.name),
        counted(read.records, "record"),
        human_bytes(read.bytes),
        report.seconds
    );
    if report.same_as.is_none() && !report.is_empty {
        append_line!(
            text,
            "pages: {} new, {} became crawled, {} became gone, {} changed\nlinks: {} added, {} removed",
            counts.new_pages,
            counts.became_crawled,
            counts.became_gone,
            counts.changed,
            counts.links_added,
            counts.links_removed
        );
    }
    if counts.became_resources > 0 {
        append_line!(
            text,
            "resources: {} new (scripts, styles, images and the like, which are no pages)",
            counts.became_resources
        );
    }
    text += &sites_and_aliases(report);
    if counts.superseded > 0 {
        append_line!(
            text,
            "duplicates: {} of pages that have another record in the batch",
            counted(counts.superseded, "record")
        );
    }
    text += &stale(report);
    text += &clock(report);
    text += &failed(report);
    text += &learned(report);
    if report.attributed > 0 {
        append_line!(
            text,
            "seeds: crawlers attribute {} to seeds",
            counted(report.attributed, "fetch")
        );
    }
    let blocked = &report.blocked;
    if blocked.records + blocked.links > 0 {
        append_line!(
            text,
            "blocked because forgotten earlier: {}, {} of other pages",
            counted(blocked.records, "record"),
            counted(blocked.links, "link")
        );
    }
    text += &passed_over(&read.passed_over);
    text += &unread(&read.unread);
    text += &bad_records(report);
    text += &omitted_outlinks(read);
    if read.zones_assumed > 0 {
        append_line!(
            text,
            "fetch times without a time zone, read as UTC: {}",
            read.zones_assumed
        );
    }
    text
}

/// Describes bad records and fields, and truncated inputs; empty if there are none.
fn bad_records(report: &IngestReport) -> String {
    let (mut text, read) = (String::new(), &report.read);
    if read.rejected() > 0 {
        append!(
            text,
            "rejected: {} of {}: {}",
            read.rejected(),
            counted(read.records, "record"),
            list(&read.rejects)
        );
        text += &listed(report);
    }
    let bad_fields: u64 = read.bad_fields.values().sum();
    if bad_fields > 0 {
        append!(
            text,
            "bad fields, which count as absent: {bad_fields}: {}",
            list(&read.bad_fields)
        );
        text += &listed(report);
    }
    if read.truncated > 0 {
        append_line!(
            text,
            "truncated: {}; the complete records were taken",
            counted(read.truncated, "input")
        );
    }
    text
}

/// Says where bad records and fields are listed, and ends the line.
fn listed(report: &IngestReport) -> String {
    let Some(file) = &report.rejects_file else {
        return "\n".to_owned();
    };
    let read = &report.read;
    let all = read.rejected() + read.bad_fields.values().sum::<u64>();
    let first = match report.rejects_listed {
        listed if listed == all => String::new(),
        first => format!("the first {first} are "),
    };
    format!(
        "; {first}listed in {}\n",
        escape_controls(&file.to_string_lossy())
    )
}

/// The number of pages in HTML from which on it is reported that most have no links.
const MIN_HTML_PAGES: u64 = 10;

/// Warns if most pages in HTML have no link.
fn without_links(html: &HtmlPages) -> Option<String> {
    let without = html.searched - html.with_links;
    if html.searched < MIN_HTML_PAGES || without <= html.searched / 2 {
        return None;
    }
    let count = match html.with_links {
        0 => "none has a link".to_owned(),
        _ => format!("{without} have no link"),
    };
    Some(format!(
        "{} HTML pages, {count} (scripts may make them); selection needs links",
        html.searched
    ))
}

/// Counts records that are older than the last fetch of their page; empty if there are none.
fn stale(report: &IngestReport) -> String {
    if report.stale == 0 {
        return String::new();
    }
    let file = report
        .rejects_file
        .as_ref()
        .map_or_else(String::new, |file| {
            format!("; listed in {}", escape_controls(&file.to_string_lossy()))
        });
    format!(
        "stale: {} of pages that were fetched later, skipped{file}\n",
        counted(report.stale, "record")
    )
}

/// Describes a time of the batch that does not fit those in the bank; empty if it does.
fn clock(report: &IngestReport) -> String {
    let Some(clock) = report.clock else {
        return String::new();
    };
    let (relation, consequence) = if clock.is_before() {
        (
            "before",
            "records without fetch times are stale if their pages were fetched later",
        )
    } else {
        (
            "years after",
            "later records of its pages are stale until then",
        )
    };
    format!(
        "warning: the time of the batch is {}, {relation} the last fetch in the bank ({}): {consequence}; if a clock was \
         wrong, undo that batch and give its time with --as-of\n",
        time(clock.batch),
        time(clock.last_fetch),
    )
}

/// Counts pages whose fetch failed; empty if there are none.
fn failed(report: &IngestReport) -> String {
    if report.failed == 0 {
        return String::new();
    }
    format!(
        "failed fetches: {}, which keep their states and links\n",
        counted(report.failed, "page")
    )
}

/// Describes what was learned from pages that were fetched again; empty if there are none.
fn learned(report: &IngestReport) -> String {
    let learned = &report.learned;
    if learned.fetched_again == 0 || report.same_as.is_some() {
        return String::new();
    }
    let bulk = if learned.is_bulk {
        "; not learned from, since that looks like a bulk import (--learn-from-bulk learns from it)"
    } else {
        ""
    };
    format!(
        "fetched again: {}, {:.1} days after the last time on average: {} new to the bank{bulk}\n",
        counted(learned.fetched_again, "page"),
        learned.days / learned.fetched_again as f64,
        counted(learned.new_links, "link")
    )
}

/// Counts records without information on a page, by reason; empty if there are none.
fn passed_over(by_reason: &BTreeMap<SkipReason, u64>) -> String {
    let passed: u64 = by_reason.values().sum();
    if passed == 0 {
        return String::new();
    }
    let are = if passed == 1 {
        "that is no page"
    } else {
        "that are not pages"
    };
    format!(
        "{} {are} ({})\n",
        counted(passed, "record"),
        list(by_reason)
    )
}

/// Counts pages whose links were not read, by reason; empty if there are none.
fn unread(by_reason: &BTreeMap<Unread, u64>) -> String {
    let pages: u64 = by_reason.values().sum();
    if pages == 0 {
        return String::new();
    }
    format!(
        "pages whose links were not read, or not completely: {pages}: {}\n",
        list(by_reason)
    )
}

/// Reports changes of sites and aliases; empty if there are none.
fn sites_and_aliases(report: &IngestReport) -> String {
    let mut text = String::new();
    if report.same_as.is_none() && report.sites.named > 0 {
        append_line!(
            text,
            "sites: {} given, {} with changed attributes",
            report.sites.named,
            report.sites.changed
        );
    }
    let aliases = &report.aliases;
    let aliases = [
        (aliases.became, "new"),
        (aliases.ended, "no redirects any more"),
        (
            aliases.cut,
            "to nowhere (a cycle, or more than twenty steps)",
        ),
    ];
    let changed = aliases.iter().filter(|(count, _)| *count > 0);
    let changed: Vec<String> = changed
        .map(|(count, what)| format!("{count} {what}"))
        .collect();
    if !changed.is_empty() {
        append_line!(text, "redirects: {}", changed.join(", "));
    }
    text
}

/// Formats names with their counts.
fn list<K: Display>(counts: &BTreeMap<K, u64>) -> String {
    let mut text = String::new();
    for (name, count) in counts {
        let comma = if text.is_empty() { "" } else { ", " };
        append!(text, "{comma}{name} {count}");
    }
    text
}

/// Counts outlinks that are not links of the bank; empty if there are none.
fn omitted_outlinks(read: &ReadSummary) -> String {
    let mut text = String::new();
    if !read.dropped_outlinks.is_empty() {
        let dropped: u64 = read.dropped_outlinks.values().sum();
        append_line!(
            text,
            "outlinks dropped: {dropped}: {}",
            list(&read.dropped_outlinks)
        );
    }
    if read.duplicate_outlinks + read.self_links > 0 {
        append_line!(
            text,
            "outlinks omitted: {} repeated, {} from a page to itself",
            read.duplicate_outlinks,
            read.self_links
        );
    }
    text
}
