//! `migrate`: brings a bank of an older format to that of this version.

use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{Bank, MigrateReport};

use super::failure::CliError;
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs};

const EXAMPLES: &str = "\
Examples:
  seedbank migrate bank                in place; exit status 0 also where there is nothing to do
  seedbank migrate bank --to newbank   the old bank stays, for an older version of seedbank to read

Any command that writes does the first of them at its beginning. The first format is 1, so there is
nothing to migrate yet. A bank of a newer format, or of a development version before 0.1, is refused by
every command.";

/// Bring a bank that an earlier version wrote to the format of this one
///
/// In place, or as a new bank beside the old one, which stays as it is. Killed at any moment, the same
/// command finishes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MigrateArgs {
    /// The bank
    bank: PathBuf,
    /// Make a new bank of the published state, in a folder that does not exist or is empty. On the same
    /// file system tables are not copied: their files, which never change, get another name
    #[arg(long, value_name = "NEWBANK")]
    to: Option<PathBuf>,
    /// Wait while another process writes to the bank
    #[arg(long, conflicts_with = "to")]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &MigrateArgs, session: &Session) -> Result<Outcome, CliError> {
    let watch = session.watch()?;
    let bank = Bank::at(&args.bank);
    let migrated = match &args.to {
        Some(new) => bank.migrate_to(new, &watch),
        None => bank.migrate(args.wait, &watch),
    };
    drop(watch);
    let report = migrated?;
    match args.format.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report, args.to.is_some()))?,
    }
    Ok(Outcome::Done)
}

/// The report for people.
fn text(report: &MigrateReport, is_new: bool) -> String {
    let MigrateReport {
        from, to, seconds, ..
    } = report;
    match (is_new, from == to) {
        (false, true) => format!("nothing to do: the bank has format {to}\n"),
        (false, false) => format!("from format {from} to {to}, in {seconds:.2} s\n"),
        (true, true) => format!("a new bank, of format {to} as the old one, in {seconds:.2} s\n"),
        (true, false) => {
            format!(
                "a new bank of format {to}; the old one keeps format {from}; in {seconds:.2} s\n"
            )
        }
    }
}
