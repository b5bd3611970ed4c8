//! `compact`: merges the files of a bank.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{Bank, CompactReport};
use seedbank::shown::counted;

use super::failure::CliError;
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs, human_bytes};

const EXAMPLES: &str = "\
Examples:
  seedbank compact bank
  seedbank compact bank --wait     after what another process writes just now

`seedbank status bank --sizes` tells which tables are not compacted. RocksDB merges files by itself as
batches come, so this is for banks that are to be as small as they can be: before they are copied, or
after much was deleted.";

/// Merge the files of a bank, so that what was overwritten or deleted takes no room
///
/// Reads and writes the whole bank once. Readers go on, and as long as they read, the former files
/// stay; so as much room is needed as the bank takes, and where there is less, nothing is begun.
/// Stopped or killed, it leaves the bank as it was, and the same command finishes.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct CompactArgs {
    /// The bank
    bank: PathBuf,
    /// Wait while another process writes to the bank
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &CompactArgs, session: &Session) -> Result<Outcome, CliError> {
    let watch = session.watch()?;
    let compacted = Bank::at(&args.bank).compact(args.wait, &watch);
    drop(watch);
    let report = compacted?;
    match args.format.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    Ok(Outcome::Done)
}

/// The report for people.
fn text(report: &CompactReport) -> String {
    let mut text = format!(
        "{}, {}; there were {}, {}; in {:.2} s\n",
        counted(report.files, "file"),
        human_bytes(report.bytes),
        counted(report.files_before, "file"),
        human_bytes(report.bytes_before),
        report.seconds
    );
    if report.held_bytes > 0 {
        // Writing to a String cannot fail.
        let _ = writeln!(
            text,
            "{} of former files are still read; the next command that writes after that removes them",
            human_bytes(report.held_bytes)
        );
    }
    text
}
