//! `undo`: takes the last batch back.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use seedbank::engine::{Bank, UndoReport};
use seedbank::shown::{counted, plain};

use super::failure::CliError;
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::values::{self, Format, FormatArgs};

const EXAMPLES: &str = "\
Examples:
  seedbank undo bank                   the bank is what it was before the last batch
  seedbank ingest bank day-7.jsonl     and takes another, or the same, from here on

What it takes is kept for the last batch only (`status --sizes` tells how much that is), so there is
no second undo in a row. A batch that was stored by an earlier version cannot be taken back.";

/// Take the last batch back
///
/// Pages, links and attributes are what they were before it. The history keeps the batch and tells
/// that it was taken back, as a batch of its own: numbers are never given out twice. Refreshes that ran
/// on it stay; the next one gives what one from scratch would.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct UndoArgs {
    /// The bank
    bank: PathBuf,
    /// Memory for sorting; what does not fit goes to files in the bank's folder
    #[arg(long, value_name = "SIZE", default_value = "512M", value_parser = values::memory,
        env = "SEEDBANK_MEMORY")]
    memory: usize,
    /// Wait while another process writes to the bank
    #[arg(long, value_parser = BoolishValueParser::new(), env = "SEEDBANK_WAIT")]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &UndoArgs, session: &Session) -> Result<Outcome, CliError> {
    let watch = session.watch()?;
    let undone = Bank::at(&args.bank).undo(args.wait, args.memory, &watch);
    drop(watch);
    let report = undone?;
    match args.format.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    Ok(Outcome::Done)
}

/// The report for people.
fn text(report: &UndoReport) -> String {
    let counts = &report.counts;
    format!(
        "batch {} ({}) is taken back, as batch {}, {:.2} s\n\
         pages: {} changed, {} crawled again, {} gone again\n\
         links: {} added, {} removed\n",
        report.undone,
        plain(&report.name),
        report.batch,
        report.seconds,
        counted(counts.changed, "page"),
        counts.became_crawled,
        counts.became_gone,
        counts.links_added,
        counts.links_removed,
    )
}
