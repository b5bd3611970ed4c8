//! `restore`: makes a bank of a backup, or lists what can be restored.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use clap::Args;
use seedbank::engine::{Backups, Bank, RestoreRequest, backups, restore, restore_without};
use seedbank::shown::{counted, plain};

use super::failure::CliError;
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::table::aligned;
use super::values::{Format, FormatArgs, human_bytes, time, whole};

const EXAMPLES: &str = "\
Examples:
  seedbank restore /backups/bank newbank           the latest backup
  seedbank restore /backups/bank newbank --at 3    backup 3
  seedbank restore /backups/bank newbank --blocks-of bank   without what `forget --block` keeps out
  seedbank restore /backups/bank --list            what is there; exit status 4: one is damaged
  seedbank restore /backups/bank --list --verify   the same, with every byte read

To put a backup in the place of a bank, move the bank away first; nothing is replaced. The restored
bank has the format of the backup, and the next command that writes brings it to this version's.";

/// Make a bank of a backup, or list the backups of a folder
///
/// The bank is made whole or not at all, in a folder that does not exist or is empty. Every file is
/// compared with what was backed up; where one is not that, nothing is made, and the error names
/// another backup that is whole.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct RestoreArgs {
    /// The folder of backups
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// The folder to make
    #[arg(required_unless_present = "list", conflicts_with = "list")]
    bank: Option<PathBuf>,
    /// The number of the backup; the latest unless said otherwise
    #[arg(long, value_name = "N", value_parser = whole(1..=u32::MAX), conflicts_with = "list")]
    at: Option<u32>,
    /// Leave out what this bank blocks (`forget --block`), and block it in the new one too
    #[arg(long, value_name = "BANK", conflicts_with = "list")]
    blocks_of: Option<PathBuf>,
    /// List the backups, and whether their files are there in full size
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
        Some(bank) => one(args, bank, session),
        None => list(args, session),
    }
}

fn one(args: &RestoreArgs, bank: &Path, session: &Session) -> Result<Outcome, CliError> {
    let request = RestoreRequest { backup: args.at };
    let blocking = args.blocks_of.as_deref().map(Bank::at);
    // What cannot be read is told before anything is made.
    if let Some(blocking) = &blocking {
        blocking.status()?;
    }
    let watch = session.watch()?;
    let restored = match &blocking {
        None => restore(&args.folder, bank, &request, &watch).map(|report| (report, None)),
        Some(blocking) => restore_without(&args.folder, bank, &request, blocking, &watch),
    };
    drop(watch);
    let (report, forgotten) = restored?;
    if let Some(forgotten) = forgotten {
        session.note(format_args!(
            "{} and {} that {} blocks were forgotten; `seedbank compact` takes them out of the files",
            counted(forgotten.pages, "page"),
            counted(forgotten.sites, "whole site"),
            plain(&blocking_name(args))
        ));
    }
    match args.format.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&format!(
            "restored backup {} of {}: the state after batch {} and refresh {}, {}, {}, in {:.2} s\n",
            report.made.backup,
            time(report.made.at),
            report.made.batch,
            report.made.refresh,
            counted(report.made.files, "file"),
            human_bytes(report.made.bytes),
            report.seconds
        ))?,
    }
    Ok(Outcome::Done)
}

fn blocking_name(args: &RestoreArgs) -> String {
    let name = args.blocks_of.as_ref();
    name.map_or_else(String::new, |bank| bank.display().to_string())
}

fn list(args: &RestoreArgs, session: &Session) -> Result<Outcome, CliError> {
    let watch = session.watch()?;
    let found = backups(&args.folder, args.verify, &watch);
    drop(watch);
    let found = found?;
    match args.format.format {
        Format::Json => print_json(&found)?,
        Format::Text => print(&text(&found))?,
    }
    if found.is_clean() {
        return Ok(Outcome::Done);
    }
    session.note("hint: `seedbank backup --verify` writes again what the bank still has of it");
    Ok(Outcome::Findings)
}

/// The list for people.
fn text(found: &Backups) -> String {
    let rows: Vec<Vec<String>> = found
        .backups
        .iter()
        .map(|backup| {
            let made = &backup.made;
            vec![
                made.backup.to_string(),
                time(made.at),
                made.batch.to_string(),
                made.refresh.to_string(),
                made.format.to_string(),
                made.files.to_string(),
                human_bytes(made.bytes),
                if backup.fault.is_none() {
                    "whole"
                } else {
                    "damaged"
                }
                .to_owned(),
            ]
        })
        .collect();
    let header = [
        "backup", "made", "batch", "refresh", "format", "files", "size", "state",
    ];
    let mut text = if rows.is_empty() {
        String::new()
    } else {
        aligned(&header, &rows)
    };
    let faults = found.backups.iter().filter_map(|backup| {
        let fault = backup.fault.as_deref()?;
        Some((backup.made.backup, fault))
    });
    let unreadable = found.unreadable.iter();
    let unreadable = unreadable.map(|damaged| (damaged.backup, damaged.what.as_str()));
    // Writing to a String cannot fail.
    for (backup, what) in faults.chain(unreadable) {
        let _ = writeln!(text, "backup {backup}: {}", plain(what));
    }
    let count = (found.backups.len() + found.unreadable.len()) as u64;
    let compared = if found.verified {
        "every byte was compared"
    } else {
        "sizes were compared"
    };
    let _ = writeln!(
        text,
        "{}, {} together; {compared}",
        counted(count, "backup"),
        human_bytes(found.bytes)
    );
    text
}
