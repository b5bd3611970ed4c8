//! `graph`: writes the links of a bank as a graph that other tools read.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::display::{counted, is_or_are};
use seedbank::engine::graph_export::{GraphFormat, GraphOf, GraphReport, GraphRequest};
use seedbank::engine::{Bank, EngineError};
use seedbank::ingest::address;
use tempfile::{Builder, TempDir};

use super::atomic_file::{AtomicFile, Destination, PREFIX, persist_all};
use super::failure::{CliError, for_shell};
use super::output::write_remote;
use super::session::{Outcome, Session};
use super::values::named;

const EXAMPLES: &str = "\
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
#[command(after_help = EXAMPLES)]
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

pub(super) fn run(args: &GraphArgs, session: &Session) -> Result<Outcome, CliError> {
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
    print_notes(&written, request, args, session);
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
    print_notes(&written, request, args, session);
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
fn print_notes(report: &GraphReport, request: GraphRequest, args: &GraphArgs, session: &Session) {
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
