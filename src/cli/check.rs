//! `check`: looks for damage.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use seedbank::engine::Bank;
use seedbank::storage::CheckReport;
use serde::Serialize;

use super::Outcome;
use super::failure::CliError;
use super::output::{print, print_json};
use super::session::Session;
use super::values::{Format, FormatArgs};

const EXAMPLES: &str = "\
Examples:
  seedbank check bank                  exit status 0: nothing is wrong; 4: something is
  seedbank check bank --format json

While another process writes to the bank, its last published state is checked.";

/// Walk every table of a bank against its mirrors, and print what is wrong
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CheckArgs {
    /// The bank
    bank: PathBuf,
    #[command(flatten)]
    format: FormatArgs,
}

/// What was looked at.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Checked {
    /// The live database.
    Live,
    /// The last published state, since another process writes.
    Published,
}

/// The result of `check --format json`.
#[derive(Debug, Serialize)]
struct CheckResult {
    clean: bool,
    checked: Checked,
    #[serde(flatten)]
    report: CheckReport,
}

pub(super) fn run(args: &CheckArgs, session: &Session) -> Result<Outcome, CliError> {
    let watch = session.watch()?;
    let checked = Bank::at(&args.bank).check(&watch);
    drop(watch);
    let (report, live) = checked?;
    let result = CheckResult {
        clean: report.is_clean(),
        checked: if live {
            Checked::Live
        } else {
            Checked::Published
        },
        report,
    };
    match args.format.format {
        Format::Json => print_json(&result)?,
        Format::Text => print(&text(&result))?,
    }
    if result.clean {
        return Ok(Outcome::Done);
    }
    session.note(
        "hint: restore the bank from a copy, or make a new one and ingest a snapshot into it",
    );
    Ok(Outcome::Findings)
}

/// The findings for people.
fn text(result: &CheckResult) -> String {
    let mut text = String::new();
    let report = &result.report;
    // Writing to a String cannot fail.
    for finding in &report.findings {
        let _ = writeln!(
            text,
            "table {}, key {}: {}",
            finding.table, finding.key, finding.what
        );
    }
    let entries: u64 = report.entries.values().sum();
    let what = match result.checked {
        Checked::Live => "",
        Checked::Published => " of the published state (another process writes)",
    };
    let found = match report.count {
        0 => "nothing is wrong".to_owned(),
        count if count > report.findings.len() as u64 => {
            format!(
                "{count} things are wrong; the first {} are above",
                report.findings.len()
            )
        }
        1 => "1 thing is wrong".to_owned(),
        count => format!("{count} things are wrong"),
    };
    let _ = writeln!(
        text,
        "{entries} entries in {} tables{what}: {found}",
        report.entries.len()
    );
    text
}
