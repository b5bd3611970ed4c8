//! `restore`: restores a backup as a new bank, or lists the backups.

use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::display::{counted, escape_controls};
use seedbank::engine::Bank;
use seedbank::engine::maintenance::{Backups, RestoreRequest, backups};

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::table::aligned;
use super::values::{FormatArgs, backup_contents, human_bytes, integer, time};

const EXAMPLES: &str = "\
Examples:
  seedbank restore /backups/bank newbank           the latest backup
  seedbank restore /backups/bank newbank --at 3    backup 3
  seedbank restore /backups/bank newbank --blocks-of bank
                                                   without the pages that `forget --block` blocked
  seedbank restore /backups/bank --list            lists the backups; exit status 4: one is damaged
  seedbank restore /backups/bank --list --verify   the same, but reads and compares every byte

To replace a bank by a backup, first move the bank away; `restore` replaces nothing. The restored bank
has the format of the backup, and the next command that writes to it converts it to the current one.
A cluster bank gets as many parts as it had, all in one folder; move them to other disks afterwards.";

/// Restore a backup as a new bank, or list the backups in a folder
///
/// Creates the bank completely or not at all, in a folder that is empty or does not exist. Every file is
/// compared with what was backed up. If one differs, no bank is created, and the error names another
/// backup that is intact.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RestoreArgs {
    /// The folder that contains the backups, or an address: s3://, gs:// or az://
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The folder of the new bank
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    bank: Option<PathBuf>,
    /// The number of the backup [default: the latest]
    #[arg(long, value_name = "N", value_parser = integer(1..=u32::MAX), conflicts_with = "list")]
    at: Option<u32>,
    /// Omit what this bank blocks (`forget --block`), and block it in the new bank too
    #[arg(long, value_name = "BANK", conflicts_with = "list")]
    blocks_of: Option<PathBuf>,
    /// List the backups and check that their files exist with the right sizes
    #[arg(long)]
    list: bool,
    /// With --list: read every file and compare it with what was backed up
    #[arg(long, requires = "list")]
    verify: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &RestoreArgs, session: &Session) -> Result<Outcome, CliError> {
    match &args.bank {
        Some(bank) => restore_one(args, bank, session),
        None => list(args, session),
    }
}

fn restore_one(args: &RestoreArgs, bank: &Path, session: &Session) -> Result<Outcome, CliError> {
    let request = RestoreRequest { backup: args.at };
    let blocking = args.blocks_of.as_deref().map(Bank::at);
    // Read the blocks first, so that nothing is created if they cannot be read.
    if let Some(blocking) = &blocking {
        blocking.status()?;
    }
    let (report, forgotten) = session.run(|watch| {
        let bank = Bank::at(bank).watched(watch.clone());
        match &blocking {
            None => Ok((bank.restore(&args.folder, &request)?, None)),
            Some(blocking) => bank.restore_with_blocklist(&args.folder, &request, blocking),
        }
    })?;
    if let Some(forgotten) = forgotten {
        session.note(format_args!(
            "{} and {} that {} blocks were removed; `seedbank compact` also removes them from the files",
            counted(forgotten.pages, "page"),
            counted(forgotten.sites, "whole site"),
            escape_controls(&blocking_name(args))
        ));
    }
    args.format.format.print(&report, |report| {
        format!(
            "restored backup {} of {}: {}, in {:.2} s\n",
            report.made.backup,
            time(report.made.at),
            backup_contents(&report.made),
            report.seconds
        )
    })?;
    Ok(Outcome::Done)
}

fn blocking_name(args: &RestoreArgs) -> String {
    let name = args.blocks_of.as_ref();
    name.map_or_else(String::new, |bank| bank.display().to_string())
}

fn list(args: &RestoreArgs, session: &Session) -> Result<Outcome, CliError> {
    let found = session.run(|watch| backups(&args.folder, args.verify, watch))?;
    args.format.format.print(&found, text)?;
    if found.is_clean() {
        return Ok(Outcome::Done);
    }
    session.note("hint: `seedbank backup --verify` rewrites damaged files that the bank still has");
    Ok(Outcome::Findings)
}

/// Formats the list as text.
fn text(found: &Backups) -> String {
    let has_parts = found
        .backups
        .iter()
        .any(|backup| backup.made.parts.is_some());
    let rows: Vec<Vec<String>> = found
        .backups
        .iter()
        .map(|backup| {
            let made = &backup.made;
            let mut row = vec![
                made.backup.to_string(),
                time(made.at),
                made.batch.to_string(),
                made.refresh.to_string(),
                made.format.to_string(),
            ];
            if has_parts {
                row.push(made.parts.unwrap_or(1).to_string());
            }
            let state = match backup.fault {
                None => "intact",
                Some(_) => "damaged",
            };
            row.extend([
                made.files.to_string(),
                human_bytes(made.bytes),
                state.to_owned(),
            ]);
            row
        })
        .collect();
    let mut header = vec![
        "backup", "made", "batch", "refresh", "format", "parts", "files", "size", "state",
    ];
    header.retain(|column| has_parts || *column != "parts");
    let mut text = if rows.is_empty() {
        String::new()
    } else {
        aligned(&header, &rows)
    };
    // Damage comes after the table, since its descriptions are too long for a column.
    let faults = found.backups.iter().filter_map(|backup| {
        let fault = backup.fault.as_deref()?;
        Some((backup.made.backup, fault))
    });
    let unreadable = found.unreadable.iter();
    let unreadable = unreadable.map(|damaged| (damaged.backup, damaged.what.as_str()));
    for (backup, what) in faults.chain(unreadable) {
        append_line!(text, "backup {backup}: {}", escape_controls(what));
    }
    let count = (found.backups.len() + found.unreadable.len()) as u64;
    // Say how much was checked: equal sizes do not prove that a backup is intact.
    let compared = if found.verified {
        "every byte was compared"
    } else {
        "sizes were compared"
    };
    append_line!(
        text,
        "{}, {} together; {compared}",
        counted(count, "backup"),
        human_bytes(found.bytes)
    );
    text
}
