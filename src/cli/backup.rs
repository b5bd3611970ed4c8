//! `backup`: copies the published state of a bank to a backup folder.

use std::num::NonZeroU32;
use std::path::PathBuf;

use clap::Args;
use seedbank::display::counted;
use seedbank::engine::maintenance::{BackupReport, BackupRequest};

use super::failure::CliError;
use super::session::{Outcome, Session};
use super::values::{FormatArgs, backup_contents, human_bytes, integer};

const EXAMPLES: &str = "\
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
#[command(after_help = EXAMPLES)]
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

pub(super) fn run(args: &BackupArgs, session: &Session) -> Result<Outcome, CliError> {
    let request = BackupRequest {
        keep: args.keep.and_then(NonZeroU32::new),
        verify: args.verify,
        wait: args.wait,
    };
    let report = session.run(|watch| {
        session
            .bank(&args.bank)
            .watched(watch.clone())
            .backup(&args.folder, &request)
    })?;
    args.format.format.print(&report, text)?;
    for damaged in &report.damaged {
        session.warn(format_args!(
            "backup {} cannot be restored: {}",
            damaged.backup, damaged.what
        ));
    }
    Ok(Outcome::Done)
}

/// Formats the report as text.
fn text(report: &BackupReport) -> String {
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
            "deleted: backup {}; {} freed",
            deleted.join(", "),
            human_bytes(report.freed_bytes)
        );
    }
    text
}
