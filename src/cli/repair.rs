//! `repair`: repairs a bank from its intact parts.

use std::path::PathBuf;

use clap::Args;
use seedbank::engine::maintenance::{Lost, RepairReport, RepairedPart};

use super::check;
use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::FormatArgs;

const EXAMPLES: &str = "\
Examples:
  seedbank repair bank                 after `seedbank check bank` has found damage

Exit status 0: the bank is intact and nothing was lost; 4: something was lost or could not be repaired,
and the output says what. Replaced files are moved to the bank's folder `damaged`; delete them when you
no longer need them.";

/// Repair a damaged bank as far as possible without loss, and report any loss
///
/// A bank has two states, live and published. If one of them is damaged, it is replaced by the other.
/// Replaced files are moved to another folder, and nothing is deleted. An intact bank is not changed,
/// and neither is a bank with both states damaged.
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
    let report = session.run(|watch| {
        session
            .bank(&args.bank)
            .watched(watch.clone())
            .repair(args.wait)
    })?;
    args.format.format.print(&report, text)?;
    if report.usable && report.certain && report.lost.is_none() {
        return Ok(Outcome::Done);
    }
    // Without an intact state nothing was repaired, so the list of repairs is empty too.
    if !report.usable {
        session.note(
            "hint: `seedbank restore` restores a backup; without one, create a new bank and ingest a snapshot",
        );
    }
    Ok(Outcome::Findings)
}

/// Formats the report as text.
fn text(report: &RepairReport) -> String {
    let mut text = check::text(&report.found);
    if !report.usable {
        text.push_str("both states are damaged: neither can be repaired from the other\n");
    } else if report.repaired.is_empty() {
        text.push_str("nothing had to be repaired\n");
    }
    for repaired in &report.repaired {
        text.push_str(match repaired {
            RepairedPart::Marker => "the marker file SEEDBANK was rewritten\n",
            RepairedPart::Acknowledgement => "ACKNOWLEDGED was rewritten\n",
            RepairedPart::Locks => "lock files that were not regular files were moved aside\n",
            RepairedPart::LivePointer => "live/CURRENT was rewritten\n",
            RepairedPart::Live => "the live state was rebuilt from the published one\n",
            RepairedPart::Published => "the live state was published again\n",
            RepairedPart::Image => "the graph image was removed\n",
        });
    }
    if let Some(folder) = &report.moved_to {
        append_line!(text, "replaced files are in the bank's folder {folder}");
    }
    if report.abandoned_load {
        text.push_str(
            "a bulk load was interrupted and could not be finished; its batch was never acknowledged, so run the command again\n",
        );
    }
    // Say explicitly that nothing is lost, but only if the acknowledged state is known.
    match report.lost {
        Some(Lost { batches, refreshes }) => {
            for (what, lost) in [("batch", batches), ("refresh", refreshes)] {
                match lost {
                    Some((first, last)) if first == last => {
                        append_line!(text, "lost: {what} {first}");
                    }
                    Some((first, last)) => {
                        append_line!(text, "lost: {what} {first} to {last}");
                    }
                    None => {}
                }
            }
        }
        None if !report.usable => {}
        None if report.certain => text.push_str("nothing is lost\n"),
        None => text.push_str(
            "the record of acknowledged changes cannot be read, so later changes may be lost\n",
        ),
    }
    text
}
