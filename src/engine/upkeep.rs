//! The upkeep of a bank: backups and what is restored of them, compaction, the bank's format.

use std::path::Path;

use super::bank::Bank;
use super::clock::now;
use super::error::EngineError;
use super::ingest::{ForgetReport, ForgetRequest};
use seedbank_algorithms::watch::Watch;
use seedbank_store::{
    self, BackupReport, BackupRequest, Backups, CompactReport, MigrateReport, RestoreReport, Writer,
};

impl Bank {
    /// Backs up the published state into a folder of backups, which is made where it is missing.
    /// Others may write to the bank meanwhile.
    ///
    /// Table files that the folder has from an earlier backup are not written again. What is written
    /// is read back and compared; a state that is damaged is not backed up. A backup that fails or is
    /// killed leaves the earlier ones as they were.
    ///
    /// Cost: the tables of which files are new are read, and the new files written.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// use seedbank::engine::{BackupRequest, RestoreRequest, restore};
    ///
    /// let backups = bank.path().with_file_name("backups");
    /// let first = bank.backup(&backups, &BackupRequest::default(), &Unwatched)?;
    /// let again = bank.backup(&backups, &BackupRequest::default(), &Unwatched)?;
    /// assert_eq!((first.made.backup, again.made.backup), (1, 2));
    /// assert_eq!((first.written_files, again.written_files), (first.made.files, 0));
    ///
    /// let other = bank.path().with_file_name("restored");
    /// restore(&backups, &other, &RestoreRequest::default(), &Unwatched)?;
    /// let other = Bank::at(&other);
    /// assert_eq!(other.status()?.counters, bank.status()?.counters);
    /// assert_eq!(other.seeds(&Which::default())?, bank.seeds(&Which::default())?);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn backup(
        &self,
        folder: &Path,
        request: &BackupRequest,
        watch: &dyn Watch,
    ) -> Result<BackupReport, EngineError> {
        Ok(seedbank_store::backup(
            self.path(),
            folder,
            request,
            now(),
            watch,
        )?)
    }

    /// Merges the files of the bank, so that overwritten entries no longer take room. Most of that
    /// happens by itself as batches come in; this does the rest of it now. Readers of earlier states
    /// keep the former files as long as they read.
    ///
    /// With `wait` it waits for another writer to finish. Stopped or killed at any moment, it leaves
    /// the state as it was, and doing it again finishes it.
    ///
    /// Cost: reads and writes the whole bank once; meanwhile it takes its room a second time, and
    /// where there is not as much, nothing is begun.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let status = bank.status()?;
    /// let report = bank.compact(false, &Unwatched)?;
    /// // What small batches wrote was in the log, and is in files now.
    /// assert!(report.files > 0 && report.held_bytes == 0);
    /// assert!(bank.status()?.compacted);
    /// assert_eq!(bank.status()?.counters, status.counters);
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn compact(&self, wait: bool, watch: &dyn Watch) -> Result<CompactReport, EngineError> {
        let report = Writer::open(self.path(), wait, watch)?.compact(watch)?;
        // The database begins another MANIFEST, without the bounds of the files that are gone.
        Writer::open(self.path(), true, watch)?.publish_anew()?;
        Ok(report)
    }

    /// Brings the bank to this build's format, as the next writer would; where it has it, nothing is
    /// touched. Killed at any moment, it leaves a bank that the next writer finishes.
    ///
    /// With `wait` it waits for another writer to finish.
    ///
    /// ```
    #[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
    /// let report = bank.migrate(false, &Unwatched)?;
    /// assert_eq!((report.from, report.to), (FORMAT, FORMAT));
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn migrate(&self, wait: bool, watch: &dyn Watch) -> Result<MigrateReport, EngineError> {
        Ok(seedbank_store::migrate(self.path(), wait, watch)?)
    }

    /// Makes a bank of this build's format of the published state, in a folder that does not exist or
    /// is empty: whole or not at all. This bank stays as it is, and others may write to it meanwhile.
    ///
    /// Cost: on the same file system links to the table files, which never change; on another one
    /// they are copied, and compared as a backup's are.
    pub fn migrate_to(&self, new: &Path, watch: &dyn Watch) -> Result<MigrateReport, EngineError> {
        Ok(seedbank_store::migrate_to(self.path(), new, watch)?)
    }
}

/// What a folder of backups holds; nothing is changed. With `verify` every byte is read and compared
/// with what was backed up, otherwise only names and sizes of files are.
///
/// ```
#[doc = include_str!(concat!(env!("CARGO_MANIFEST_DIR"), "/src/guide/example.txt"))]
/// use seedbank::engine::{BackupRequest, backups};
///
/// let folder = bank.path().with_file_name("backups");
/// bank.backup(&folder, &BackupRequest::default(), &Unwatched)?;
/// let found = backups(&folder, true, &Unwatched)?;
/// assert!(found.is_clean() && found.verified);
/// assert_eq!((found.backups[0].made.batch, found.backups[0].made.refresh), (1, 1));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub fn backups(folder: &Path, verify: bool, watch: &dyn Watch) -> Result<Backups, EngineError> {
    Ok(seedbank_store::backups(folder, verify, watch)?)
}

/// What is to be restored.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct RestoreRequest {
    /// The number of the backup; `None` is the latest.
    pub backup: Option<u32>,
}

/// Makes a bank of a backup, as [`restore`] does, without what another bank bars, which the new one then
/// bars too: whole and without it, or not at all. Of what was forgotten nothing is told where the other
/// bank bars nothing.
///
/// # Errors
///
/// [`EngineError::OtherSecret`] where the backup bars something by another secret.
///
/// Cost: that of [`restore`], and a look at the URL of each page.
pub fn restore_without(
    folder: &Path,
    bank: &Path,
    request: &RestoreRequest,
    barring: &Bank,
    watch: &dyn Watch,
) -> Result<(RestoreReport, Option<ForgetReport>), EngineError> {
    seedbank_store::create_staged(bank, |place| {
        let report = seedbank_store::restore(folder, place, request.backup, watch)?;
        let forget = ForgetRequest::default();
        let forgotten = Bank::at(place).forget_as(barring, &forget, watch)?;
        Ok((report, forgotten))
    })
}

/// Makes a bank of a backup in a folder that does not exist or is empty: whole or not at all.
///
/// Every file is compared with what was backed up while it is copied. Where one is not that, the
/// error names the latest other backup that is whole. The bank has the format that it was backed up
/// in; the next writer brings it to this build's.
///
/// An example is at [`Bank::backup`].
///
/// Cost: the files of the backup are read and written once; where one is damaged, those of other
/// backups are read as well.
pub fn restore(
    folder: &Path,
    bank: &Path,
    request: &RestoreRequest,
    watch: &dyn Watch,
) -> Result<RestoreReport, EngineError> {
    Ok(seedbank_store::restore(
        folder,
        bank,
        request.backup,
        watch,
    )?)
}
