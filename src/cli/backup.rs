//! `backup`: copies the published state of a bank to a folder of backups.

use std::fmt::Write;
use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use seedbank::engine::{BackupReport, BackupRequest, Bank};
use seedbank::shown::counted;

use super::failure::CliError;
use super::output::{print, print_json};
use super::session::{Outcome, Session};
use super::values::{Format, FormatArgs, human_bytes, whole};

const EXAMPLES: &str = "\
Examples:
  seedbank backup bank /backups/bank             what the folder has already is not written again
  seedbank backup bank /backups/bank --keep 7    and older backups than the last seven are deleted
  seedbank restore /backups/bank --list          what is there
  seedbank restore /backups/bank newbank         the latest one as a bank

Others may write to the bank meanwhile: the backup is of the state that readers see. A copy of a
bank that is made otherwise (cp, rsync) is safe only while nobody writes to it: it has some files
from before a change and some from after it.";

/// Back up a bank, beside any writer, into a folder of backups
///
/// The folder is made where it is missing, and holds any number of backups of one bank; of files that
/// several have, one. Table files that it has are not read or written again. What is written is read
/// back from the disk and compared. A damaged state is not backed up.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub(super) struct BackupArgs {
    /// The bank
    bank: PathBuf,
    /// The folder of backups, outside the bank
    #[arg(value_name = "DIR")]
    folder: PathBuf,
    /// Delete older backups, so that N stay that can be restored, this one included
    #[arg(long, value_name = "N", value_parser = whole(1..=u32::MAX))]
    keep: Option<u32>,
    /// Read every file of the folder, and write those again that are not what was backed up and that
    /// the bank still has; otherwise only their sizes are looked at
    #[arg(long)]
    verify: bool,
    /// Wait while the folder is used by another backup or restore
    #[arg(long)]
    wait: bool,
    #[command(flatten)]
    format: FormatArgs,
}

pub(super) fn run(args: &BackupArgs, session: &Session) -> Result<Outcome, CliError> {
    let request = BackupRequest {
        keep: args.keep.and_then(NonZeroU32::new),
        verify: args.verify,
        wait: args.wait,
    };
    let watch = session.watch()?;
    let made = Bank::at(&args.bank).backup(&args.folder, &request, &watch);
    drop(watch);
    let report = made?;
    match args.format.format {
        Format::Json => print_json(&report)?,
        Format::Text => print(&text(&report))?,
    }
    for damaged in &report.damaged {
        session.warn(format_args!(
            "backup {} cannot be restored: {}",
            damaged.backup, damaged.what
        ));
    }
    Ok(Outcome::Done)
}

/// The report for people.
fn text(report: &BackupReport) -> String {
    let made = &report.made;
    let mut text = format!(
        "backup {}: the state after batch {} and refresh {}, {}, {}, in {:.2} s\n",
        made.backup,
        made.batch,
        made.refresh,
        counted(made.files, "file"),
        human_bytes(made.bytes),
        report.seconds
    );
    // Writing to a String cannot fail.
    let _ = writeln!(
        text,
        "written: {}, {}; the folder had the others",
        counted(report.written_files, "file"),
        human_bytes(report.written_bytes)
    );
    if !report.deleted.is_empty() {
        let deleted: Vec<String> = report.deleted.iter().map(u32::to_string).collect();
        let _ = writeln!(
            text,
            "deleted: backup {}; {} freed",
            deleted.join(", "),
            human_bytes(report.freed_bytes)
        );
    }
    text
}
