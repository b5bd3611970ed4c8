//! `repair`: mends a bank from what is still good in it.

use std::fmt::Write;
use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{Bank, Lost, Mended, RepairReport};

use super::check;
use super::failure::CliError;
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs};

const EXAMPLES: &str = "\
Examples:
  seedbank repair bank                 after `seedbank check bank` said what is wrong

Exit status 0: the bank is whole and nothing was lost; 4: something was lost or could not be
mended, which is told. What is replaced is moved into the bank's folder `damaged`; remove it there
when the bank is as it should be.";

/// Mend what can be mended of a damaged bank without loss, and say what is lost if something is
///
/// Of the two states of a bank, live and published, the one that is good takes the place of the
/// other. What is replaced is moved aside, and nothing is deleted. A bank that is sound is left as it
/// is; one of which both states are damaged is not touched.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RepairArgs {
    /// The bank
    bank: PathBuf,
    /// Wait while another process writes to the bank
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &RepairArgs, session: &Session) -> Result<Outcome, CliError> {
    let watch = session.watch()?;
    let repaired = Bank::at(&args.bank).repair(args.wait, &watch);
    drop(watch);
    let report = repaired?;
    match args.format.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    if report.usable && report.certain && report.lost.is_none() {
        return Ok(Outcome::Done);
    }
    if !report.usable {
        session.note(
            "hint: `seedbank restore` makes a bank of a backup; without one, make a new bank and ingest a snapshot into it",
        );
    }
    Ok(Outcome::Findings)
}

/// The report for people.
fn text(report: &RepairReport) -> String {
    let mut text = check::text(&report.found);
    // Writing to a String cannot fail.
    if !report.usable {
        text.push_str("both states are damaged: neither can be mended from the other\n");
    } else if report.mended.is_empty() {
        text.push_str("nothing had to be mended\n");
    }
    for mended in &report.mended {
        text.push_str(match mended {
            Mended::Marker => "the marker file SEEDBANK was written anew\n",
            Mended::Acknowledgement => "ACKNOWLEDGED was written anew\n",
            Mended::Locks => "lock files that were not regular files were moved away\n",
            Mended::LivePointer => "live/CURRENT was written anew\n",
            Mended::Live => "the live state was made anew from the published one\n",
            Mended::Published => "the live state was published anew\n",
        });
    }
    if let Some(folder) = &report.moved_to {
        let _ = writeln!(text, "what was replaced is in the bank's folder {folder}");
    }
    if report.abandoned_load {
        text.push_str(
            "a bulk load was interrupted and could not be finished: its batch was never acknowledged, run the command again\n",
        );
    }
    match report.lost {
        Some(Lost { batches, refreshes }) => {
            for (what, lost) in [("batch", batches), ("refresh", refreshes)] {
                match lost {
                    Some((first, last)) if first == last => {
                        let _ = writeln!(text, "lost: {what} {first}");
                    }
                    Some((first, last)) => {
                        let _ = writeln!(text, "lost: {what} {first} to {last}");
                    }
                    None => {}
                }
            }
        }
        None if !report.usable => {}
        None if report.certain => text.push_str("nothing is lost\n"),
        None => text.push_str(
            "what was acknowledged cannot be read: whether anything later is lost cannot be told\n",
        ),
    }
    text
}
