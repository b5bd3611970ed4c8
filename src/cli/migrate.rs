//! `migrate`: converts a bank of an older format to the current one.

use std::path::PathBuf;

use clap::Args;
use seedbank::engine::maintenance::MigrateReport;

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::FormatArgs;

const EXAMPLES: &str = "\
Examples:
  seedbank migrate bank                in place; succeeds also if there is nothing to do
  seedbank migrate bank --to newbank   keeps the old bank for an older version of seedbank

Any command that writes to a bank first migrates it in place. A bank of a newer format, or of a
development version before 0.1, is rejected by every command.

With --to, all parts of a cluster bank must be on this machine, and the new bank has as many.";

/// Convert a bank that an earlier version wrote to the current format
///
/// Works in place, or makes a new bank and leaves the old one unchanged. If it is killed, run the same
/// command again to finish.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct MigrateArgs {
    /// The bank
    bank: PathBuf,
    /// Make a new bank of the published state, in a folder that is empty or does not exist
    ///
    /// The checksums of all tables are compared first, and all files are copied.
    #[arg(long, value_name = "NEWBANK")]
    to: Option<PathBuf>,
    /// Wait while another process writes to the bank
    #[arg(long, conflicts_with = "to")]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &MigrateArgs, session: &Session) -> Result<Outcome, CliError> {
    let bank = session.bank(&args.bank);
    let report = session.run(|watch| match &args.to {
        Some(new) => bank.watched(watch.clone()).migrate_to(new),
        None => bank.watched(watch.clone()).migrate(args.wait),
    })?;
    args.format
        .format
        .print(&report, |report| text(report, args.to.is_some()))?;
    Ok(Outcome::Done)
}

/// Formats the report as text.
fn text(report: &MigrateReport, is_new: bool) -> String {
    let MigrateReport {
        from, to, seconds, ..
    } = report;
    match (is_new, from == to) {
        (false, true) => format!("nothing to do: the bank already has format {to}\n"),
        (false, false) => format!("converted from format {from} to {to} in {seconds:.2} s\n"),
        (true, true) => {
            format!("new bank of format {to}, the same as the old one, in {seconds:.2} s\n")
        }
        (true, false) => {
            format!("new bank of format {to}; the old one keeps format {from}; in {seconds:.2} s\n")
        }
    }
}
