//! `undo`: takes back the last batch.

use std::path::PathBuf;

use clap::Args;
use clap::builder::BoolishValueParser;
use seedbank::display::{counted, escape_controls};
use seedbank::engine::ingest::UndoReport;

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{self, FormatArgs};

const EXAMPLES: &str = "\
Examples:
  seedbank undo bank                   restores the state before the last batch
  seedbank ingest bank day-7.jsonl     ingests another batch, or the same one again

The data needed for an undo is stored for the last batch only (`status --sizes` shows its size), so two
undos in a row are not possible. A batch that an earlier version stored cannot be taken back.";

/// Take back the last batch
///
/// Restores the pages, links and attributes from before the batch. The history keeps the batch and records
/// the undo as a batch of its own, so batch numbers are never reused. Refreshes made after the batch stay;
/// the next refresh gives the same result as one from scratch.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct UndoArgs {
    /// The bank
    bank: PathBuf,
    /// Memory for sorting; larger data is sorted in files in the bank's folder
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
    let report = session.run(|watch| {
        session
            .bank(&args.bank)
            .watched(watch.clone())
            .undo(args.wait, args.memory)
    })?;
    args.format.format.print(&report, text)?;
    Ok(Outcome::Done)
}

/// Formats the report as text.
fn text(report: &UndoReport) -> String {
    let counts = &report.counts;
    format!(
        "batch {} ({}) is taken back, as batch {}, {:.2} s\n\
         pages: {} changed, {} crawled again, {} gone again\n\
         links: {} added, {} removed\n",
        report.undone,
        escape_controls(&report.name),
        report.batch,
        report.seconds,
        counted(counts.changed, "page"),
        counts.became_crawled,
        counts.became_gone,
        counts.links_added,
        counts.links_removed,
    )
}
