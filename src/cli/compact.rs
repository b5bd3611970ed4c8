//! `compact`: merges the files of a bank.

use std::path::PathBuf;

use clap::Args;
use seedbank::display::counted;
use seedbank::engine::maintenance::CompactReport;

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{FormatArgs, human_bytes};

const EXAMPLES: &str = "\
Examples:
  seedbank compact bank
  seedbank compact bank --wait     first wait until another process has finished writing

`seedbank status bank --sizes` shows which tables are not compacted. RocksDB merges files by itself as
batches arrive, so compaction pays only where a bank must be as small as possible: before it is
copied, or after much was deleted. All parts of a cluster bank must be on this machine.";

/// Merge the files of a bank to free the space of overwritten and deleted data
///
/// Reads and writes the whole bank once. Readers are not blocked, but old files stay on disk while they
/// are being read, so compaction needs as much free space as the bank occupies; with less, it does not
/// start. If it is stopped or killed, the bank is unchanged and the same command can be run again.
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
    let report = session.run(|watch| {
        session
            .bank(&args.bank)
            .watched(watch.clone())
            .compact(args.wait)
    })?;
    args.format.format.print(&report, text)?;
    Ok(Outcome::Done)
}

/// Formats the report as text.
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
        append_line!(
            text,
            "{} of old files are still being read; the next command that writes after that removes them",
            human_bytes(report.held_bytes)
        );
    }
    text
}
