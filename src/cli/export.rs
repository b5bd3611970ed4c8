//! `export`: writes the whole state of a bank as records that can be ingested again.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::display::{counted, is_or_are};
use seedbank::engine::EngineError;
use seedbank::engine::error::ExportPart;
use seedbank::engine::export::ExportReport;
use seedbank::ingest::{MAX_LINE, SUFFIX_LIST, SiteMode, UrlRules};

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
#[command(after_help = EXAMPLES)]
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

pub(super) fn run(args: &ExportArgs, session: &Session) -> Result<Outcome, CliError> {
    let (out, sites_out) = (args.out.as_deref(), args.sites_out.as_deref());
    if let Some(sites_out) = sites_out {
        check_distinct(out, sites_out)?;
    }
    let mut records = Compressed::to(out, &args.bank)?;
    let sites = sites_out.map(|file| Compressed::to(Some(file), &args.bank));
    let mut sites = sites.transpose()?;
    let to_sites = sites.as_mut().map(|sites| -> &mut dyn Write { sites });
    let exported = session.run(|watch| {
        session
            .bank(&args.bank)
            .watched(watch.clone())
            .export(&mut records, to_sites)
    });
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
    print_notes(&exported, out, sites_out, session);
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
fn print_notes(
    report: &ExportReport,
    out: Option<&Path>,
    sites_out: Option<&Path>,
    session: &Session,
) {
    session.note(format_args!(
        "state after batch {}: {} ({} crawled, {} known, {} gone, {}) with {}; {} {} known only from links",
        report.batch,
        counted(report.records, "record"),
        report.crawled,
        report.known,
        report.gone,
        counted(report.aliases, "alias"),
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
            "also not exported: attributes (clicks, marks, digests, fetch times) of {} that {} gone, or known again after being gone",
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
