//! `graph`: the links of a bank as graphs that others read.

use std::fs;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::engine::{Bank, EngineError, GraphFormat, GraphOf, GraphReport, GraphRequest};
use seedbank::shown::{are, counted};
use tempfile::{Builder, TempDir};

use super::failure::{CliError, for_shell};
use super::out_file::{OutFile, PREFIX, Spot, complete};
use super::session::{Outcome, Session};
use super::values::named;

const EXAMPLES: &str = "\
Examples:
  seedbank graph bank --out graph --format tsv         links.tsv and pages.tsv
  seedbank graph bank --out graph --format bvgraph     for the tools of WebGraph
  seedbank graph bank --out graph --format parquet     for DuckDB, pandas, Spark
  seedbank graph bank --out graph --format ccgraph     of sites, as Common Crawl publishes graphs of hosts
  seedbank graph bank --out graph --format parquet --of sites
  duckdb -c \"SELECT url FROM 'graph/pages.parquet' ORDER BY in_links DESC LIMIT 10\"";

/// Write the links of a bank as a graph that other tools read
///
/// Of pages the nodes are all crawled and known pages, and the links those that count: a link to an
/// alias is one to where that leads, and links to pages that are gone are left out and counted. Of
/// sites the links between the pages of two sites are added up.
///
/// Nodes are in the order of site names and of the URLs of each site. The same state gives the same
/// bytes, however the bank came to it.
///
/// Files of the same names are replaced, together and once all are written; whatever else the folder
/// holds stays. Reads the last published state, and is in nobody's way.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct GraphArgs {
    /// The bank
    bank: PathBuf,
    /// Write to this folder, which is made where there is none
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// How the graph is written
    #[arg(long, value_parser = named(GraphFormat::NAMED))]
    format: GraphFormat,
    /// What the nodes are; pages, unless the format has only sites
    #[arg(long, value_parser = named(GraphOf::NAMED))]
    of: Option<GraphOf>,
}

impl GraphArgs {
    fn request(&self) -> Result<GraphRequest, CliError> {
        let format = self.format;
        let of = match (self.of, format) {
            (Some(GraphOf::Pages), GraphFormat::CcGraph) => {
                let text = "--format ccgraph has hosts alone; give --of sites, or bvgraph, parquet or tsv for pages";
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
    let bank = Bank::at(&args.bank);
    // Whether there is a bank is known before a folder is made.
    let pinned = bank.pinned()?;
    let folder = Folder::at(&args.out, &args.bank)?;
    let spots: Result<Vec<Spot>, CliError> = request
        .files()
        .iter()
        .map(|name| Spot::new("--out", &args.out.join(name), &args.bank))
        .collect();
    let spots = spots?;
    let watch = session.watch()?;
    let written = pinned.graph(request, folder.apart.path(), &watch);
    drop(watch);
    let written = written.map_err(|e| match e {
        EngineError::Write { source, .. } => CliError::File {
            path: args.out.clone(),
            source,
        },
        e => e.into(),
    })?;
    let mut files = Vec::new();
    for (name, spot) in request.files().iter().zip(spots) {
        files.push(OutFile::of_written(folder.apart.path().join(name), spot)?);
    }
    complete(files)?;
    folder.keep();
    tell(&written, request, args, session);
    Ok(Outcome::Done)
}

/// The folder that the user gave, with one in it where files are on their way.
struct Folder {
    apart: TempDir,
    /// The folder, where it was made and nothing is in it yet.
    made: Option<Made>,
}

/// A folder that was made, and is removed again unless it is kept.
struct Made(PathBuf);

impl Drop for Made {
    fn drop(&mut self) {
        // It is removed only where nothing is in it.
        let _ = fs::remove_dir(&self.0);
    }
}

impl Folder {
    fn at(path: &Path, bank: &Path) -> Result<Self, CliError> {
        let failed = |source| CliError::File {
            path: path.to_path_buf(),
            source,
        };
        let made = if path.is_dir() {
            None
        } else if path.exists() {
            let text = format!("{} is no folder; give --out a folder", path.display());
            return Err(CliError::Usage(text));
        } else {
            Spot::new("--out", path, bank)?;
            fs::create_dir(path).map_err(failed)?;
            Some(Made(path.to_path_buf()))
        };
        // What is in the bank's own folder is refused before anything is made there.
        Spot::new("--out", &path.join("graph"), bank)?;
        let apart = Builder::new()
            .prefix(PREFIX)
            .tempdir_in(path)
            .map_err(failed)?;
        Ok(Self { apart, made })
    }

    /// Removes the folder of files on their way; the one that the user gave stays.
    fn keep(self) {
        if let Some(made) = self.made {
            std::mem::forget(made);
        }
    }
}

/// Says what was written, what was not, and how to read it back.
fn tell(of: &GraphReport, request: GraphRequest, args: &GraphArgs, session: &Session) {
    let node = match request.of {
        GraphOf::Pages => "page",
        GraphOf::Sites => "site",
    };
    let stand_for = match request.of {
        GraphOf::Pages => String::new(),
        GraphOf::Sites => format!(" (of {} between pages)", of.page_links),
    };
    session.note(format_args!(
        "state after batch {}: {} with {}{stand_for} in {}: {}",
        of.batch,
        counted(of.nodes, node),
        counted(of.links, "link"),
        args.out.display(),
        request.files().join(", ")
    ));
    if of.to_gone > 0 {
        session.note(format_args!(
            "{} to gone pages {} left out",
            counted(of.to_gone, "link"),
            are(&of.to_gone)
        ));
    }
    if of.unnamed > 0 && request.format == GraphFormat::CcGraph {
        session.warn(format_args!(
            "{} {} a name that `ingest` takes for no host (an IPv6 address, an empty label)",
            counted(of.unnamed, "site"),
            if of.unnamed == 1 { "has" } else { "have" }
        ));
    }
    if let Some(command) = way_back(request, &args.out) {
        session.note(format_args!("to read it back: {command}"));
        if of.nodes > of.crawled {
            let known = counted(of.nodes - of.crawled, node);
            session.note(format_args!(
                "not in it: that {known} {} not crawled; all nodes come back as crawled",
                are(&(of.nodes - of.crawled))
            ));
        }
    }
}

/// The command that makes a bank of the graph; `None` where none does.
fn way_back(request: GraphRequest, out: &Path) -> Option<String> {
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
