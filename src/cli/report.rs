//! `report`: a refresh as one page for people.

use std::io::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use clap::builder::BoolishValueParser;
use seedbank::engine::Bank;
use seedbank::report::{Commands, Report, ReportRequest, page};
use seedbank::shown::{counted, plain};

use super::failure::CliError;
use super::out_file::{OutFile, Spot, complete};
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs, WhichArgs, whole};

const EXAMPLES: &str = "\
Examples:
  seedbank report bank --out report.html                    and report.json beside it
  seedbank report bank --out report.html --plan sites
  seedbank report bank --out report.html --draws 100        smaller errors, more work
  seedbank report bank --out report.html --no-evaluate      at once, without the experiments";

/// Write a refresh as one page: which pages, why, and whether it is worth it
///
/// The page is one HTML file that needs no network and is complete without a script. What it leaves out of long lists
/// is in a JSON file beside it.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct ReportArgs {
    /// The bank
    bank: PathBuf,
    /// The page to write; the JSON file beside it has the same name with the ending .json
    #[arg(long, value_name = "FILE")]
    out: PathBuf,
    #[command(flatten)]
    which: WhichArgs,
    /// How many random seed sets the seeds are compared with
    #[arg(long, value_name = "N", default_value_t = ReportRequest::default().draws,
        value_parser = whole::<u32>(2..=10_000))]
    draws: u32,
    /// How often a tenth of the crawled pages is held out while plans choose anew
    #[arg(long, value_name = "N", default_value_t = ReportRequest::default().holdouts,
        value_parser = whole::<u32>(2..=1000))]
    holdouts: u32,
    /// On how many sites, at most, cover methods are compared
    #[arg(long, value_name = "N", default_value_t = ReportRequest::default().max_sites,
        value_parser = whole::<u32>(1..=u32::MAX))]
    max_sites: u32,
    /// The seed of the random draws
    #[arg(long, value_name = "N", default_value_t = 0)]
    rng_seed: u64,
    /// Leave the experiments out
    #[arg(long, value_parser = BoolishValueParser::new())]
    no_evaluate: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: ReportArgs, session: &Session) -> Result<Outcome, CliError> {
    let beside = places(&args.bank, &args.out)?;
    let watch = session.watch()?;
    let request = ReportRequest {
        which: args.which.into(),
        evaluate: !args.no_evaluate,
        draws: args.draws,
        holdouts: args.holdouts,
        max_sites: args.max_sites,
        rng_seed: args.rng_seed,
    };
    let report = Bank::at(&args.bank).report(&request, &watch)?;
    drop(watch);
    write(&report, &args.bank, [&args.out, &beside])?;
    match args.format.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&format!(
            "report on refresh {} of plan {} ({}), {}: {}\neverything in it as JSON: {}\n",
            report.refresh.refresh,
            report.refresh.plan,
            report.method,
            counted(report.seeds.len(), "seed"),
            plain(&args.out.to_string_lossy()),
            plain(&beside.to_string_lossy())
        ))?,
    }
    Ok(Outcome::Done)
}

/// The path of the JSON file. What cannot work is reported before the long work, not after it.
fn places(bank: &Path, out: &Path) -> Result<PathBuf, CliError> {
    let usage = |text: String| Err(CliError::Usage(text));
    let shown = out.display();
    let beside = out.with_extension("json");
    if out.file_name().is_none() || out == Path::new("-") {
        return usage(format!(
            "a report is two files, and {shown} names none; give --out a name such as report.html"
        ));
    }
    if beside == out {
        return usage(format!(
            "{shown} would be both the page and the JSON file beside it; give --out a name such as report.html"
        ));
    }
    for place in [out, beside.as_path()] {
        let Ok(there) = place.symlink_metadata() else {
            continue;
        };
        if place.is_dir() {
            return usage(format!(
                "{} is a folder; give --out the name of a file",
                place.display()
            ));
        }
        if !there.is_file() {
            return usage(format!(
                "{} is no ordinary file, and a report would take its place; give --out another name",
                place.display()
            ));
        }
    }
    // Whether files can be made in the folder at all.
    OutFile::new(Spot::new("--out", out, bank)?)?;
    if beside.exists() && !is_report(&beside) {
        return usage(format!(
            "{} is there and is no report, and a report's data would take its place; give --out another name",
            beside.display()
        ));
    }
    Ok(beside)
}

/// Whether a file is the data of an earlier report.
fn is_report(file: &Path) -> bool {
    let Ok(bytes) = std::fs::read(file) else {
        return false;
    };
    let parts = ["bank", "refresh", "seeds", "cores", "left_out", "changes"];
    serde_json::from_slice(&bytes)
        .is_ok_and(|json: serde_json::Value| parts.iter().all(|part| json.get(part).is_some()))
}

/// What the page speaks of, as it is typed.
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
        unmeasured: Some("--no-evaluate".to_owned()),
        parameter: "--".to_owned(),
    }
}

/// Writes both files, which get their places together: nobody ever sees half a file, or one of two
/// reports. The page goes last, since it refers to the other.
fn write(report: &Report, bank: &Path, [out, beside]: [&Path; 2]) -> Result<(), CliError> {
    let mut json = serde_json::to_vec(report).map_err(CliError::Json)?;
    json.push(b'\n');
    let name = beside.file_name().unwrap_or_default().to_string_lossy();
    let page = page(report, &name, &commands(report));
    complete([
        written(beside, &json, bank)?,
        written(out, page.as_bytes(), bank)?,
    ])
}

fn written(place: &Path, bytes: &[u8], bank: &Path) -> Result<OutFile, CliError> {
    let mut file = OutFile::new(Spot::new("--out", place, bank)?)?;
    file.write_all(bytes).map_err(file.failed())?;
    Ok(file)
}
