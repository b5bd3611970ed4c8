//! Maintenance of a bank: backup and restore, and compaction.

// Types of requests and answers that other crates declare.
pub use seedbank_store::{
    BackupReport, BackupRequest, BackupSummary, BackupView, Backups, BankCheck, CompactReport,
    DamagedBackup, Format, ImageCheck, Lost, PartRepair, RepairReport, RepairedPart, RestoreReport,
    StateCheck, TableGroup, Verdict,
};

use std::path::Path;
use std::sync::Arc;

use super::bank::Bank;
use super::clock::now;
use super::error::Result;
use super::ingest::{ForgetReport, ForgetRequest};
use super::remote::with_backup_place;
use seedbank_algorithms::watch::{Unwatched, Watch};

impl Bank {
    /// Backs up the published state into a folder of backups, which is created if it does not
    /// exist, or below an address such as `s3://bucket/backups`. Other processes may write to the bank meanwhile.
    ///
    /// Table files that the folder contains from an earlier backup are not written again.
    /// Everything that is written is read back and compared. A damaged state is not backed up. If a
    /// backup fails or is killed, earlier ones are unaffected. A cluster bank is backed up with all parts, which must be
    /// on this machine.
    ///
    /// Cost: reads the tables of new files, and writes these files.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::maintenance::{BackupRequest, RestoreRequest};
    ///
    /// let backups = bank.path().with_file_name("backups");
    /// let first = bank.backup(&backups, &BackupRequest::default())?;
    /// let again = bank.backup(&backups, &BackupRequest::default())?;
    /// assert_eq!((first.made.backup, again.made.backup), (1, 2));
    /// assert_eq!((first.written_files, again.written_files), (first.made.files, 0));
    ///
    /// let other = Bank::at(bank.path().with_file_name("restored"));
    /// other.restore(&backups, &RestoreRequest::default())?;
    /// assert_eq!(other.status()?.counters, bank.status()?.counters);
    /// assert!(other.seeds("default")?.map(Result::unwrap).eq(bank.seeds("default")?.map(Result::unwrap)));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn backup(
        &self,
        folder: impl AsRef<Path>,
        request: &BackupRequest,
    ) -> Result<BackupReport> {
        with_backup_place(folder.as_ref(), self.shared_watch(), |place| {
            let (bank, watch) = (self.path(), self.watch());
            Ok(seedbank_store::backup(bank, place, request, now(), watch)?)
        })
    }

    /// Restores this bank from a backup, atomically. Its folder must not exist or be empty. A cluster bank gets as many
    /// parts as it had.
    ///
    /// Every file is compared with its recorded checksum while it is copied. If one is damaged, the
    /// error names the latest undamaged backup. A backup of a bank of another format is refused.
    ///
    /// [`Bank::backup`] has an example.
    ///
    /// Cost: reads and writes the files of the backup once. If one is damaged, also reads those of
    /// other backups.
    pub fn restore(
        &self,
        folder: impl AsRef<Path>,
        request: &RestoreRequest,
    ) -> Result<RestoreReport> {
        with_backup_place(folder.as_ref(), self.shared_watch(), |place| {
            let (bank, watch) = (self.path(), self.watch());
            Ok(seedbank_store::restore(place, bank, request.backup, watch)?)
        })
    }

    /// Restores this bank from a backup, as [`restore`](Self::restore) does, without the pages and
    /// sites on another bank's blocklist, which this bank takes over. The restore is atomic. Returns
    /// `None` for the forget report if the other bank blocks nothing.
    ///
    /// # Errors
    ///
    /// [`EngineError::ConflictingSecrets`](crate::engine::EngineError::ConflictingSecrets) if the
    /// backup has a blocklist with another secret.
    ///
    /// Cost: that of [`restore`](Self::restore), and hashing the URL of each page.
    pub fn restore_with_blocklist(
        &self,
        folder: impl AsRef<Path>,
        request: &RestoreRequest,
        other: &Self,
    ) -> Result<(RestoreReport, Option<ForgetReport>)> {
        seedbank_store::create_staged(self.path(), |place| {
            let staged = self.elsewhere(place);
            let report = staged.restore(folder.as_ref(), request)?;
            let forgotten = staged.forget_blocked(other, &ForgetRequest::default())?;
            Ok((report, forgotten))
        })
    }

    /// Merges the files of the bank, so that overwritten entries no longer take disk space. Most of
    /// this happens automatically as batches are ingested. Readers of earlier states keep the old
    /// files while they read. All parts of a cluster bank must be on this machine.
    ///
    /// If `wait` is set, waits for another writer to finish. If interrupted or killed, the state is
    /// unchanged, and another call completes the work.
    ///
    /// Cost: reads and writes the whole bank once. Temporarily takes its disk space a second time;
    /// fails at the start if there is not enough.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let status = bank.status()?;
    /// let report = bank.compact(false)?;
    /// // Small batches were in the log, and are in files now.
    /// assert!(report.files > 0 && report.held_bytes == 0);
    /// assert!(bank.status()?.compacted);
    /// assert_eq!(bank.status()?.counters, status.counters);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compact(&self, wait: bool) -> Result<CompactReport> {
        let watch = self.watch();
        seedbank_store::ensure_local_parts(self.path(), "compaction")?;
        let report = self.open_writer(wait, watch)?.compact(watch)?;
        // Reopening starts a new MANIFEST, without the key bounds of deleted files.
        self.open_writer(true, watch)?.replace_states()?;
        Ok(report)
    }
}

/// Lists the backups in a folder without changing anything. If `verify` is set, every byte is read
/// and compared with the recorded checksums, otherwise only names and sizes of files.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::maintenance::{BackupRequest, backups};
///
/// let folder = bank.path().with_file_name("backups");
/// bank.backup(&folder, &BackupRequest::default())?;
/// let found = backups(&folder, true, &Unwatched)?;
/// assert!(found.is_clean() && found.verified);
/// assert_eq!((found.backups[0].made.batch, found.backups[0].made.refresh), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn backups(folder: impl AsRef<Path>, verify: bool, watch: &dyn Watch) -> Result<Backups> {
    // Reads over the network have time limits of their own.
    with_backup_place(folder.as_ref(), Arc::new(Unwatched), |place| {
        Ok(seedbank_store::backups(place, verify, watch)?)
    })
}

/// Options of a restore.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RestoreRequest {
    /// The number of the backup; `None` for the latest.
    pub backup: Option<u32>,
}
