//! `export`: the whole state of a bank as records that make another one.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::engine::{Bank, EngineError, ExportReport, Exported};
use seedbank::ingest::{MAX_LINE, SUFFIX_LIST, SiteMode, UrlRules};
use seedbank::shown::{are, counted};

use super::compressed::Compressed;
use super::failure::{CliError, for_shell};
use super::session::{Outcome, Session};
use super::values::human_bytes;

const EXAMPLES: &str = "\
Examples:
  seedbank export bank --out crawl.jsonl.zst --sites-out sites.jsonl
  seedbank init new
  seedbank ingest new crawl.jsonl.zst --snapshot --sites sites.jsonl
  seedbank export bank | seedbank ingest new - --snapshot
  seedbank export bank | jq -r 'select(.gone) | .url'";

/// Write the whole state of a bank as records, of which `ingest --snapshot` makes another one
///
/// One record a line, as `ingest` reads them: site by site and in URL order, with the links as they
/// were given. The same state gives the same bytes, however the bank came to it. A bank that is made
/// of them with the same settings, which are told at the end, has the same pages, links, attributes
/// and counts, and a refresh from scratch gives the same seeds.
///
/// What does not come back: batches with their names and times, history, plans and refreshes, fetch
/// times, and attributes of gone pages. Of digests the bank keeps hashes, which are written in their
/// place.
///
/// Reads the last published state, and is in nobody's way.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ExportArgs {
    /// The bank
    bank: PathBuf,
    /// Write to a file, which is replaced only once all is written; compressed where its name ends
    /// in .gz or .zst
    #[arg(long, value_name = "FILE")]
    out: Option<PathBuf>,
    /// Write what was given of sites (`ingest --sites`) to a file, as a list of sites
    #[arg(long, value_name = "FILE")]
    sites_out: Option<PathBuf>,
}

pub(super) fn run(args: &ExportArgs, session: &Session) -> Result<Outcome, CliError> {
    let (out, sites_out) = (args.out.as_deref(), args.sites_out.as_deref());
    if let Some(sites_out) = sites_out {
        apart(out, sites_out)?;
    }
    let mut records = Compressed::to(out, &args.bank)?;
    let sites = sites_out.map(|file| Compressed::to(Some(file), &args.bank));
    let mut sites = sites.transpose()?;
    let watch = session.watch()?;
    let to_sites = sites.as_mut().map(|sites| -> &mut dyn Write { sites });
    let exported = Bank::at(&args.bank).export(&mut records, to_sites, &watch);
    drop(watch);
    let exported = match (exported, &sites) {
        (
            Err(EngineError::Export {
                what: Exported::Sites,
                source,
            }),
            Some(sites),
        ) => {
            return Err(sites.failed(source));
        }
        (Err(EngineError::Export { source, .. }), _) => return Err(records.failed(source)),
        (exported, _) => exported?,
    };
    if let Some(sites) = sites {
        sites.finish()?;
    }
    records.finish()?;
    tell(&exported, out, sites_out, session);
    Ok(Outcome::Done)
}

fn is_stdout(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Refuses one place for both outputs.
fn apart(out: Option<&Path>, sites_out: &Path) -> Result<(), CliError> {
    let problem = match out.filter(|out| !is_stdout(out)) {
        None if is_stdout(sites_out) => {
            "the records and the list of sites cannot both go to standard output; give --out or --sites-out a file"
        }
        Some(out) if place(out) == place(sites_out) => {
            "the records and the list of sites cannot be one file; give --out and --sites-out two names"
        }
        _ => return Ok(()),
    };
    Err(CliError::Usage(problem.to_owned()))
}

/// Where a file is, or would be.
fn place(file: &Path) -> PathBuf {
    if let Ok(there) = file.canonicalize() {
        return there;
    }
    let folder = file.parent().filter(|folder| *folder != Path::new(""));
    let folder = folder.unwrap_or(Path::new(".")).canonicalize();
    match (folder, file.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        _ => file.to_path_buf(),
    }
}

/// Says what was written, what was not, and how to make a bank of it.
fn tell(of: &ExportReport, out: Option<&Path>, sites_out: Option<&Path>, session: &Session) {
    session.note(format_args!(
        "state after batch {}: {} ({} crawled, {} known, {} gone, {}) with {}; {} {} only linked to",
        of.batch,
        counted(of.records, "record"),
        of.crawled,
        of.known,
        of.gone,
        counted(of.aliases, "alias"),
        counted(of.links, "link"),
        counted(of.only_linked, "page"),
        are(&of.only_linked)
    ));
    if of.digests > 0 {
        session.note(format_args!(
            "{} written as the hashes that are kept of them",
            counted(of.digests, "digest")
        ));
    }
    let commands = commands(of, out, sites_out);
    if !commands.is_empty() {
        session.note("to make a bank of this:");
        for command in commands {
            session.note(format_args!("  {command}"));
        }
    }
    session.note(
        "not in it: names and times of batches, history, plans and refreshes, fetch times, digests as they were given",
    );
    if of.beside_gone > 0 {
        session.note(format_args!(
            "not in it either: attributes of {} that {} gone, or known again after being gone (clicks, marks, digests)",
            counted(of.beside_gone, "page"),
            are(&of.beside_gone)
        ));
    }
    if of.sites > 0 && sites_out.is_none() {
        session.warn(format_args!(
            "attributes of {} (`ingest --sites`) are not in it, since they are no records of pages; --sites-out FILE writes them",
            counted(of.sites, "site")
        ));
    }
    if of.too_long > 0 {
        session.warn(format_args!(
            "{} {} longer than {}, and `ingest` will refuse that",
            counted(of.too_long, "record"),
            are(&of.too_long),
            human_bytes(MAX_LINE as u64)
        ));
    }
    if of.suffix_list != SUFFIX_LIST && of.site_mode != SiteMode::Host {
        session.warn(format_args!(
            "the bank tells sites apart by public suffix list {}, and a new one by {SUFFIX_LIST}: some may be others",
            of.suffix_list
        ));
    }
}

/// The commands that make a bank of what was written; none where nothing was.
fn commands(of: &ExportReport, out: Option<&Path>, sites_out: Option<&Path>) -> Vec<String> {
    let site = match of.site_mode {
        SiteMode::BareHost => "bare-host",
        SiteMode::Host => "host",
        SiteMode::Domain => "domain",
    };
    let rules = match of.url_rules {
        UrlRules::Rfc3986 => "rfc3986",
        UrlRules::Whatwg => "whatwg",
    };
    let name = |file: Option<&Path>| match file.filter(|file| !is_stdout(file)) {
        Some(file) => for_shell(&file.to_string_lossy()),
        None => "FILE".to_owned(),
    };
    let mut ingest = "seedbank ingest NEWBANK".to_owned();
    if of.records > 0 {
        ingest = format!("{ingest} {} --snapshot", name(out));
    }
    let sites_out = sites_out.filter(|_| of.sites > 0);
    if sites_out.is_some() {
        ingest = format!("{ingest} --sites {}", name(sites_out));
    }
    let mut commands = vec![format!(
        "seedbank init NEWBANK --site {site} --url-rules {rules}"
    )];
    if of.records > 0 || sites_out.is_some() {
        commands.push(ingest);
    }
    commands
}
