//! `backup` and `restore`: copies the published state of a bank to a backup folder, and back as a new bank.

use std::num::NonZeroU32;
use std::path::{Path, PathBuf};

use clap::Args;

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{FormatArgs, backup_contents, human_bytes, integer, time};

use seedbank::answers::{Cell, Table};
use seedbank::display::{counted, escape_controls};
use seedbank::engine::Bank;
use seedbank::engine::maintenance::{
    BackupReport, BackupRequest, Backups, RestoreRequest, backups,
};

const BACKUP_EXAMPLES: &str = "\
Examples:
  seedbank backup bank /backups/bank             copies only files that the folder does not have
  seedbank backup bank /backups/bank --keep 7    also deletes all but the last seven backups
  seedbank backup bank s3://backups/bank         backs up to a bucket, with the same promises
  seedbank restore /backups/bank --list          lists the backups
  seedbank restore /backups/bank newbank         restores the latest backup as a new bank

A backup can run while another process writes to the bank: it copies the published state. A copy made
with other tools (cp, rsync) is consistent only if nothing writes to the bank meanwhile; otherwise it
mixes files from before and after a change.

A backup of a cluster bank has all its parts, whose folders must be on this machine.";

/// Back up a bank, even while another process writes to it
///
/// Creates the folder if it does not exist. It can hold any number of backups of one bank; files
/// that several backups share are stored once, and files that it already has are not copied again.
/// Everything written is read back from disk and compared. A damaged state is not backed up.
#[derive(Debug, Args)]
#[command(after_help = BACKUP_EXAMPLES)]
pub(super) struct BackupArgs {
    /// The bank
    bank: PathBuf,
    /// The backup folder, outside the bank, or an address: s3://, gs:// or az://
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Delete older backups, keeping the latest N that can be restored
    #[arg(long, value_name = "N", value_parser = integer(1..=u32::MAX))]
    keep: Option<u32>,
    /// Read every file of the folder and repair damaged ones from the bank
    ///
    /// Rewrites files that differ from what was backed up, if the bank still has them. Without this flag,
    /// only file sizes are checked.
    #[arg(long)]
    verify: bool,
    /// Wait while another backup or restore uses the folder
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn backup(args: &BackupArgs, session: &Session) -> Result<Outcome, CliError> {
    let request = BackupRequest {
        keep: args.keep.and_then(NonZeroU32::new),
        verify: args.verify,
        wait: args.wait,
    };
    let report = session.with_bank(&args.bank, |bank| bank.backup(&args.folder, &request))?;
    args.format.format.print(&report, backup_text)?;
    for damaged in &report.damaged {
        session.warn(format_args!(
            "backup {} cannot be restored: {}",
            damaged.backup, damaged.what
        ));
    }
    Ok(Outcome::Done)
}

/// Formats the report as text.
fn backup_text(report: &BackupReport) -> String {
    let made = &report.made;
    let mut text = format!(
        "backup {}: {}, in {:.2} s\n",
        made.backup,
        backup_contents(made),
        report.seconds
    );
    append_line!(
        text,
        "written: {}, {}; the folder already had the others",
        counted(report.written_files, "file"),
        human_bytes(report.written_bytes)
    );
    if !report.deleted.is_empty() {
        let deleted: Vec<String> = report.deleted.iter().map(u32::to_string).collect();
        append_line!(
            text,
            "deleted: {} {}; {} freed",
            if deleted.len() == 1 {
                "backup"
            } else {
                "backups"
            },
            deleted.join(", "),
            human_bytes(report.freed_bytes)
        );
    }
    text
}

const RESTORE_EXAMPLES: &str = "\
Examples:
  seedbank restore /backups/bank newbank           the latest backup
  seedbank restore /backups/bank newbank --at 3    backup 3
  seedbank restore /backups/bank newbank --blocks-of bank
                                                   without the pages that `forget --block` blocked
  seedbank restore /backups/bank --list            lists the backups; exit status 4: one is damaged
  seedbank restore /backups/bank --list --verify   the same, but reads and compares every byte

To replace a bank by a backup, first move the bank away; `restore` replaces nothing. A backup of a bank
of another format is refused; the build that made it restores it. A cluster bank gets as many parts as it had, all in one folder; move them to other disks afterwards.";

/// Restore a backup as a new bank, or list the backups in a folder
///
/// Creates the bank completely or not at all, in a folder that is empty or does not exist. Every file is
/// compared with what was backed up. If one differs, no bank is created, and the error names another
/// backup that is intact.
#[derive(Debug, Args)]
#[command(after_help = RESTORE_EXAMPLES)]
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

pub(super) fn restore(args: &RestoreArgs, session: &Session) -> Result<Outcome, CliError> {
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
    args.format.format.print(&found, list_text)?;
    if found.is_clean() {
        return Ok(Outcome::Done);
    }
    session.note("hint: `seedbank backup --verify` rewrites damaged files that the bank still has");
    Ok(Outcome::Findings)
}

/// Formats the list as text.
fn list_text(found: &Backups) -> String {
    let has_parts = found
        .backups
        .iter()
        .any(|backup| backup.made.parts.is_some());
    let rows = found.backups.iter().map(|backup| (&backup.made, backup));
    let table = Table::of("backups", "", rows)
        .number("backup", "backup", |(made, _)| made.backup)
        .word("made", "made", |(made, _)| Cell::Time(made.at))
        .number("batch", "batch", |(made, _)| made.batch)
        .number("refresh", "refresh", |(made, _)| made.refresh)
        .word("format", "format", |(made, _)| made.format.to_string())
        .number("parts", "parts", |(made, _)| made.parts.unwrap_or(1))
        .number("files", "files", |(made, _)| made.files)
        .word("size", "size", |(made, _)| human_bytes(made.bytes))
        .word("state", "state", |(_, backup)| match backup.fault {
            None => "intact",
            Some(_) => "damaged",
        })
        .done();
    let table = if has_parts {
        table
    } else {
        table.without(&["parts"])
    };
    let mut text = if table.rows.is_empty() {
        String::new()
    } else {
        table.aligned()
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
