//! `report`: writes a refresh as an HTML page.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::BoolishValueParser;
use seedbank::display::{counted, escape_controls};
use seedbank::ingest::address;
use seedbank::report::{Commands, Report, ReportRequest, page};

use super::failure::CliError;
use super::output::{AtomicFile, Destination, persist_all, write_remote};
use super::session::{Outcome, Session};
use super::values::{FormatArgs, WhichArgs, integer};

const EXAMPLES: &str = "\
Examples:
  seedbank report bank --out report.html                           also writes report.json
  seedbank report bank --out report.html --plan sites
  seedbank report bank --out report.html --evaluate                with experiments, takes longer
  seedbank report bank --out report.html --evaluate --draws 100    smaller errors";

/// Write a refresh as an HTML page: its seeds, the reasons, and whether they are worth it
///
/// The verdict is the one that the plan keeps since it was judged (see `refresh --judge`), unless the
/// experiments run. The page is a single HTML file that needs neither a network nor scripts. A JSON file next to it
/// contains what the page omits from long lists.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReportArgs {
    /// The bank
    bank: PathBuf,
    /// The HTML file; the JSON file gets the same name with the extension .json
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    which: WhichArgs,
    /// Run the experiments on the present state, which takes minutes
    #[arg(long, value_parser = BoolishValueParser::new())]
    evaluate: bool,
    /// With `--evaluate`: number of random seed sets to compare the seeds with
    #[arg(long, value_name = "N", requires = "evaluate", default_value_t = ReportRequest::default().draws,
        value_parser = integer::<u32>(2..=10_000))]
    draws: u32,
    /// With `--evaluate`: number of runs with a random tenth of the crawled pages held out
    #[arg(long, value_name = "N", requires = "evaluate", default_value_t = ReportRequest::default().holdouts,
        value_parser = integer::<u32>(2..=1000))]
    holdouts: u32,
    /// With `--evaluate`: maximum number of sites on which cover methods are compared
    #[arg(long, value_name = "N", requires = "evaluate", default_value_t = ReportRequest::default().max_sites,
        value_parser = integer::<u32>(1..=u32::MAX))]
    max_sites: u32,
    /// With `--evaluate`: seed of the random number generator
    #[arg(long, value_name = "N", requires = "evaluate", default_value_t = 0, value_parser = integer::<u64>(0..=u64::MAX))]
    rng_seed: u64,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: ReportArgs, session: &Session) -> Result<Outcome, CliError> {
    let json = json_path(&args.bank, &args.out)?;
    let request = ReportRequest {
        which: args.which.into(),
        evaluate: args.evaluate,
        draws: args.draws,
        holdouts: args.holdouts,
        max_sites: args.max_sites,
        rng_seed: args.rng_seed,
    };
    let report = session.with_bank(&args.bank, |bank| bank.report(&request))?;
    write(&report, &args.bank, &args.out, &json)?;
    args.format.format.print(&report, |report| {
        format!(
            "report on refresh {} of plan {} ({}), {}: {}\nall of its data as JSON: {}\n",
            report.refresh.refresh,
            report.refresh.plan,
            report.method,
            counted(report.seeds.len(), "seed"),
            escape_controls(&args.out.to_string_lossy()),
            escape_controls(&json.to_string_lossy())
        )
    })?;
    Ok(Outcome::Done)
}

/// Returns the path of the JSON file. Reports paths that cannot be written before the long work begins.
fn json_path(bank: &Path, out: &Path) -> Result<PathBuf, CliError> {
    let usage = |text: String| Err(CliError::Usage(text));
    let shown = out.display();
    let json = out.with_extension("json");
    if address(out).is_some() && json != out {
        return Ok(json);
    }
    if out.file_name().is_none() || out == Path::new("-") {
        return usage(format!(
            "a report is two files, and {shown} has no file name; use --out with a name such as report.html"
        ));
    }
    if json == out {
        return usage(format!(
            "{shown} would be both the page and the JSON file; use --out with a name such as report.html"
        ));
    }
    for place in [out, json.as_path()] {
        let Ok(there) = place.symlink_metadata() else {
            continue;
        };
        if place.is_dir() {
            return usage(format!(
                "{} is a folder; use --out with the name of a file",
                place.display()
            ));
        }
        if !there.is_file() {
            return usage(format!(
                "{} is not a regular file, and the report would replace it; use another name with --out",
                place.display()
            ));
        }
    }
    // Creating a destination also checks that the folder is writable.
    AtomicFile::new(Destination::new("--out", out, bank)?)?;
    if json.exists() && !is_report(&json) {
        return usage(format!(
            "{} exists and is not a report, and the report's data would replace it; use another name with --out",
            json.display()
        ));
    }
    Ok(json)
}

/// Returns whether a file contains the data of an earlier report.
fn is_report(file: &Path) -> bool {
    // A pipe is no report, and reading it would wait.
    if !std::fs::metadata(file).is_ok_and(|metadata| metadata.is_file()) {
        return false;
    }
    let Ok(bytes) = std::fs::read(file) else {
        return false;
    };
    let parts = ["bank", "refresh", "seeds", "cores", "skipped", "changes"];
    serde_json::from_slice(&bytes)
        .is_ok_and(|json: serde_json::Value| parts.iter().all(|part| json.get(part).is_some()))
}

/// Returns the commands that the page mentions, as a user would type them.
fn commands(report: &Report) -> Commands {
    let bank = &report.bank;
    let (refresh, plan) = (report.refresh.refresh, &report.refresh.plan);
    Commands {
        seeds: Some(format!("seedbank seeds {bank} --refresh {refresh}")),
        cores: Some(format!(
            "seedbank cores {bank} --refresh {refresh} --format jsonl"
        )),
        refresh: Some(format!("seedbank refresh {bank} --plan {plan}")),
        diff: Some("seedbank diff".to_owned()),
        evaluate: Some("--evaluate".to_owned()),
        parameter: "--".to_owned(),
    }
}

/// Writes both files and puts them in place together, so that no reader sees a partial file or files of
/// two reports. The page is put in place last, since it refers to the JSON file.
fn write(report: &Report, bank: &Path, out: &Path, json: &Path) -> Result<(), CliError> {
    let mut data = serde_json::to_vec(report).map_err(CliError::Json)?;
    data.push(b'\n');
    let name = json.file_name().unwrap_or_default().to_string_lossy();
    let page = page(report, &name, &commands(report));
    if let (Some(out), Some(json)) = (address(out), address(json)) {
        let files = [(json, &*data), (out, page.as_bytes())];
        return write_remote(files.map(|(address, bytes)| (address.to_owned(), bytes)));
    }
    persist_all([
        written(json, &data, bank)?,
        written(out, page.as_bytes(), bank)?,
    ])
}

fn written(place: &Path, bytes: &[u8], bank: &Path) -> Result<AtomicFile, CliError> {
    let mut file = AtomicFile::new(Destination::new("--out", place, bank)?)?;
    file.write_all(bytes).map_err(file.failed())?;
    Ok(file)
}
