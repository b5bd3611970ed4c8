//! `export` and `graph`: write the state of a bank as records that can be ingested again, and its links as a graph
//! that other tools read.

use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use tempfile::{Builder, TempDir};

use super::failure::{CliError, for_shell};
use super::output::{AtomicFile, Compressed, Destination, PREFIX, persist_all, write_remote};
use super::session::{Outcome, Session};
use super::values::{human_bytes, named};

use seedbank::display::{counted, is_or_are};
use seedbank::engine::error::ExportPart;
use seedbank::engine::export::ExportReport;
use seedbank::engine::graph_export::{GraphFormat, GraphOf, GraphReport, GraphRequest};
use seedbank::engine::{Bank, EngineError};
use seedbank::ingest::{MAX_LINE, SUFFIX_LIST, SiteMode, UrlRules, address};

const EXPORT_EXAMPLES: &str = "\
Examples:
  seedbank export bank --out crawl.jsonl.zst --sites-out sites.jsonl
  seedbank init new
  seedbank ingest new crawl.jsonl.zst --snapshot --sites sites.jsonl
  seedbank export bank | seedbank ingest new - --snapshot
  seedbank export bank | jq -r 'select(.gone) | .url'";

/// Write the whole state of a bank as records that `ingest --snapshot` can read
///
/// Writes one record per line: site by site, in URL order, with links as they were given. Equal states
/// give equal bytes, whatever batches they came from. A bank made from the records with the same
/// settings, which are printed at the end, has the same pages, links, attributes and counts, and a
/// refresh from scratch selects the same seeds.
///
/// Not exported: names and times of batches, history, plans, refreshes, and attributes of gone pages. The
/// bank stores only hashes of digests, which are written instead of the digests.
///
/// Reads the last published state and blocks no other process.
#[derive(Debug, Args)]
#[command(after_help = EXPORT_EXAMPLES)]
pub(super) struct ExportArgs {
    /// The bank
    bank: PathBuf,
    /// Write to this file or address, which is replaced only when the output is complete
    ///
    /// Compressed if the name ends in .gz or .zst.
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write the attributes given for sites (`ingest --sites`) to this file, as a list of sites
    #[arg(long, value_name = "FILE")]
    sites_out: Option<PathBuf>,
}

pub(super) fn export(args: &ExportArgs, session: &Session) -> Result<Outcome, CliError> {
    let (out, sites_out) = (args.out.as_deref(), args.sites_out.as_deref());
    if let Some(sites_out) = sites_out {
        check_distinct(out, sites_out)?;
    }
    let mut records = Compressed::to(out, &args.bank)?;
    let sites = sites_out.map(|file| Compressed::to(Some(file), &args.bank));
    let mut sites = sites.transpose()?;
    let to_sites = sites.as_mut().map(|sites| -> &mut dyn Write { sites });
    let exported = session.with_bank(&args.bank, |bank| bank.export(&mut records, to_sites));
    let exported = exported.map_err(|e| match (e, &sites) {
        (
            CliError::Engine(EngineError::Export {
                what: ExportPart::Sites,
                source,
            }),
            Some(sites),
        ) => sites.failed(source),
        (CliError::Engine(EngineError::Export { source, .. }), _) => records.failed(source),
        (e, _) => e,
    })?;
    if let Some(sites) = sites {
        sites.finish()?;
    }
    records.finish()?;
    export_notes(&exported, out, sites_out, session);
    Ok(Outcome::Done)
}

fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Rejects the same file for both outputs.
fn check_distinct(out: Option<&Path>, sites_out: &Path) -> Result<(), CliError> {
    let problem = match out.filter(|out| !is_stdout(out)) {
        None if is_stdout(sites_out) => {
            "the records and the list of sites cannot both go to standard output; write one of them to a file with --out or --sites-out"
        }
        Some(out) if canonical(out) == canonical(sites_out) => {
            "the records and the list of sites cannot go to the same file; give --out and --sites-out different names"
        }
        _ => return Ok(()),
    };
    Err(CliError::Usage(problem.to_owned()))
}

/// Returns the canonical path of a file that may not exist yet.
fn canonical(file: &Path) -> PathBuf {
    if let Ok(path) = file.canonicalize() {
        return path;
    }
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (folder, file.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => file.to_path_buf(),
    }
}

/// Reports what was exported, what was not, and the commands that make a bank from it.
fn export_notes(
    report: &ExportReport,
    out: Option<&Path>,
    sites_out: Option<&Path>,
    session: &Session,
) {
    session.note(format_args!(
        "state after batch {}: {} ({} crawled, {} known, {} gone, {}{}) with {}; {} {} known only from links",
        report.batch,
        counted(report.records, "record"),
        report.crawled,
        report.known,
        report.gone,
        counted(report.aliases, "alias"),
        match report.resources {
            0 => String::new(),
            resources => format!(", {}", counted(resources, "resource")),
        },
        counted(report.links, "link"),
        counted(report.without_record, "page"),
        is_or_are(&report.without_record)
    ));
    if report.digests > 0 {
        session.note(format_args!(
            "{} written as hashes, since the bank does not store digests themselves",
            counted(report.digests, "digest")
        ));
    }
    // The records do not contain the settings of the bank, so print commands that restore them.
    let commands = commands(report, out, sites_out);
    if !commands.is_empty() {
        session.note("to make a bank from this:");
        for command in commands {
            session.note(format_args!("  {command}"));
        }
    }
    session.note(
        "not exported: names and times of batches, history, plans, refreshes, original digests",
    );
    if report.dropped_attributes > 0 {
        session.note(format_args!(
            "also not exported: digests and fetch times of {} that {} known again after being gone",
            counted(report.dropped_attributes, "page"),
            is_or_are(&report.dropped_attributes)
        ));
    }
    // From here on, warn of what makes the exported copy differ from the bank.
    if report.sites > 0 && sites_out.is_none() {
        session.warn(format_args!(
            "attributes of {} (`ingest --sites`) are not exported, since they belong to no page record; --sites-out FILE writes them",
            counted(report.sites, "site")
        ));
    }
    if report.too_long > 0 {
        session.warn(format_args!(
            "{} {} longer than {}; `ingest` will reject that",
            counted(report.too_long, "record"),
            is_or_are(&report.too_long),
            human_bytes(MAX_LINE as u64)
        ));
    }
    if report.suffix_list != SUFFIX_LIST && report.site_mode != SiteMode::Host {
        session.warn(format_args!(
            "the bank groups pages into sites by public suffix list {}, and a new bank uses {SUFFIX_LIST}: some sites may differ",
            report.suffix_list
        ));
    }
}

/// Returns the commands that make a bank from what was written; none if nothing was.
fn commands(report: &ExportReport, out: Option<&Path>, sites_out: Option<&Path>) -> Vec<String> {
    let site = match report.site_mode {
        SiteMode::BareHost => "bare-host",
        SiteMode::Host => "host",
        SiteMode::Domain => "domain",
    };
    let rules = match report.url_rules {
        UrlRules::Rfc3986 => "rfc3986",
        UrlRules::Whatwg => "whatwg",
    };
    let name = |file: Option<&Path>| match file.filter(|file| !is_stdout(file)) {
        Some(file) => for_shell(&file.to_string_lossy()),
        None => "FILE".to_owned(),
    };
    let mut ingest = "seedbank ingest NEWBANK".to_owned();
    if report.records > 0 {
        ingest = format!("{ingest} {} --snapshot", name(out));
    }
    let sites_out = sites_out.filter(|_| report.sites > 0);
    if sites_out.is_some() {
        ingest = format!("{ingest} --sites {}", name(sites_out));
    }
    let mut commands = vec![format!(
        "seedbank init NEWBANK --site {site} --url-rules {rules}"
    )];
    if report.records > 0 || sites_out.is_some() {
        commands.push(ingest);
    }
    commands
}

const GRAPH_EXAMPLES: &str = "\
Examples:
  seedbank graph bank --out graph --format tsv         links.tsv and pages.tsv
  seedbank graph bank --out graph --format bvgraph     for the WebGraph tools
  seedbank graph bank --out graph --format parquet     for DuckDB, pandas, Spark
  seedbank graph bank --out graph --format ccgraph     sites, in the format of Common Crawl's host graphs
  seedbank graph bank --out graph --format parquet --of sites
  duckdb -c \"SELECT url FROM 'graph/pages.parquet' ORDER BY in_links DESC LIMIT 10\"";

/// Write the links of a bank as a graph that other tools read
///
/// In a graph of pages, the nodes are all crawled and known pages. A link to an alias counts as a link
/// to the page that the alias leads to; links to gone pages are omitted and counted. In a graph of
/// sites, the links between the pages of two sites are added up.
///
/// Nodes are ordered by site name, and by URL within a site. Equal states give equal bytes, whatever
/// batches they came from.
///
/// Existing files of the same names are replaced, all together, when all are complete; other files in
/// the folder are not changed. Reads the last published state and blocks no other process.
#[derive(Debug, Args)]
#[command(after_help = GRAPH_EXAMPLES)]
pub(super) struct GraphArgs {
    /// The bank
    bank: PathBuf,
    /// Write to this folder; created if it does not exist
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// Output format
    #[arg(long, value_parser = named(GraphFormat::VALUES))]
    format: GraphFormat,
    /// The nodes of the graph [default: pages; sites for ccgraph]
    #[arg(long, value_parser = named(GraphOf::VALUES))]
    of: Option<GraphOf>,
}

impl GraphArgs {
    fn request(&self) -> Result<GraphRequest, CliError> {
        let format = self.format;
        let of = match (self.of, format) {
            (Some(GraphOf::Pages), GraphFormat::CcGraph) => {
                let text = "--format ccgraph supports only hosts; use --of sites, or use --format bvgraph, parquet or tsv for pages";
                return Err(CliError::Usage(text.to_owned()));
            }
            (Some(GraphOf::Sites), _) | (None, GraphFormat::CcGraph) => GraphOf::Sites,
            (Some(GraphOf::Pages) | None, _) => GraphOf::Pages,
        };
        Ok(GraphRequest { of, format })
    }
}

pub(super) fn graph(args: &GraphArgs, session: &Session) -> Result<Outcome, CliError> {
    let request = args.request()?;
    let bank = session.bank(&args.bank);
    // Fail if there is no bank before creating any folder.
    let pinned = bank.pinned()?;
    if let Some(address) = address(&args.out) {
        return run_remote(address, args, request, &pinned, session);
    }
    let folder = Folder::at(&args.out, &args.bank)?;
    let destinations: Result<Vec<Destination>, CliError> = request
        .files()
        .iter()
        .map(|name| Destination::new("--out", &args.out.join(name), &args.bank))
        .collect();
    let destinations = destinations?;
    let written = session.run(|watch| {
        let written = pinned
            .watched(watch.clone())
            .graph(request, folder.temporary.path());
        written.map_err(|e| match e {
            EngineError::Write { source, .. } => CliError::File {
                path: args.out.clone(),
                source,
            },
            e => e.into(),
        })
    })?;
    let mut files = Vec::new();
    for (name, destination) in request.files().iter().zip(destinations) {
        files.push(AtomicFile::of_written(
            folder.temporary.path().join(name),
            destination,
        )?);
    }
    persist_all(files)?;
    folder.keep();
    graph_notes(&written, request, args, session);
    Ok(Outcome::Done)
}

/// Writes the files to a temporary folder, and from there below an address.
fn run_remote(
    address: &str,
    args: &GraphArgs,
    request: GraphRequest,
    pinned: &Bank,
    session: &Session,
) -> Result<Outcome, CliError> {
    let failed = |source| CliError::File {
        path: args.out.clone(),
        source,
    };
    let temporary = Builder::new().prefix(PREFIX).tempdir().map_err(failed)?;
    let written = session.run(|watch| {
        pinned
            .watched(watch.clone())
            .graph(request, temporary.path())
    })?;
    let mut files = Vec::new();
    for name in request.files() {
        let file = fs::File::open(temporary.path().join(name)).map_err(failed)?;
        files.push((format!("{}/{name}", address.trim_end_matches('/')), file));
    }
    write_remote(files)?;
    graph_notes(&written, request, args, session);
    Ok(Outcome::Done)
}

/// The user's output folder, with a temporary folder in it for incomplete files.
struct Folder {
    temporary: TempDir,
    /// The output folder, if this command created it and has not completed any file in it.
    created: Option<CreatedFolder>,
}

/// A folder that this command created; removed again on drop unless it is kept.
struct CreatedFolder(PathBuf);

impl Drop for CreatedFolder {
    fn drop(&mut self) {
        // `remove_dir` fails if the folder is not empty, which is intended.
        let _ = fs::remove_dir(&self.0);
    }
}

impl Folder {
    fn at(path: &Path, bank: &Path) -> Result<Self, CliError> {
        let failed = |source| CliError::File {
            path: path.to_path_buf(),
            source,
        };
        let created = if path.is_dir() {
            None
        } else if path.exists() {
            let text = format!(
                "{}: expected a folder, found a file; use another --out",
                path.display()
            );
            return Err(CliError::Usage(text));
        } else {
            Destination::new("--out", path, bank)?;
            fs::create_dir(path).map_err(failed)?;
            Some(CreatedFolder(path.to_path_buf()))
        };
        // Refuse a place in the bank's own folder before creating anything there.
        Destination::new("--out", &path.join("graph"), bank)?;
        let temporary = Builder::new()
            .prefix(PREFIX)
            .tempdir_in(path)
            .map_err(failed)?;
        Ok(Self { temporary, created })
    }

    /// Keeps the user's folder; the temporary folder in it is removed.
    fn keep(self) {
        if let Some(created) = self.created {
            std::mem::forget(created);
        }
    }
}

/// Reports what was written, what was not, and the command that reads it back.
fn graph_notes(report: &GraphReport, request: GraphRequest, args: &GraphArgs, session: &Session) {
    let node = match request.of {
        GraphOf::Pages => "page",
        GraphOf::Sites => "site",
    };
    let page_links = match request.of {
        GraphOf::Pages => String::new(),
        GraphOf::Sites => format!(" ({} between pages)", report.page_links),
    };
    session.note(format_args!(
        "state after batch {}: {} with {}{page_links} in {}: {}",
        report.batch,
        counted(report.nodes, node),
        counted(report.links, "link"),
        args.out.display(),
        request.files().join(", ")
    ));
    if report.links_to_gone > 0 {
        session.note(format_args!(
            "{} to gone pages {} omitted",
            counted(report.links_to_gone, "link"),
            is_or_are(&report.links_to_gone)
        ));
    }
    if report.invalid_hosts > 0 && request.format == GraphFormat::CcGraph {
        session.warn(format_args!(
            "{} {} a name that `ingest` does not accept as a host (an IPv6 address, an empty label)",
            counted(report.invalid_hosts, "site"),
            if report.invalid_hosts == 1 { "has" } else { "have" }
        ));
    }
    // Formats that `ingest` reads do not record which nodes are crawled.
    if let Some(command) = ingest_command(request, &args.out) {
        session.note(format_args!("to read it back: {command}"));
        if report.nodes > report.crawled {
            let known = counted(report.nodes - report.crawled, node);
            session.note(format_args!(
                "not written: that {known} {} not crawled; all nodes are read back as crawled",
                is_or_are(&(report.nodes - report.crawled))
            ));
        }
    }
}

/// Returns the command that makes a bank of the graph; `None` if the format cannot be read back.
fn ingest_command(request: GraphRequest, out: &Path) -> Option<String> {
    let file = |name: &str| for_shell(&out.join(name).to_string_lossy());
    let how = match (request.of, request.format) {
        (GraphOf::Pages, GraphFormat::Tsv) => format!(
            "{} --input links --pages {}",
            file("links.tsv"),
            file("pages.tsv")
        ),
        (of, GraphFormat::BvGraph) => format!(
            "{} --input bvgraph --urls {}",
            file(&of.to_string()),
            file(&format!("{of}.urls.gz"))
        ),
        (GraphOf::Sites, GraphFormat::CcGraph) => format!(
            "{} --input ccgraph --vertices {}",
            file("edges.txt.gz"),
            file("vertices.txt.gz")
        ),
        _ => return None,
    };
    Some(format!("seedbank ingest NEWBANK {how} --snapshot"))
}
