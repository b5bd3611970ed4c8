//! What a caller can do about an error of the store.

/// What a caller can do about an error of the store. How to word it is up to the caller.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoreHint {
    /// Make the bank in a folder that does not exist yet or is empty.
    OtherFolder,
    /// Check that the path is right, or create a bank there.
    CheckPathOrCreate,
    /// Open the bank with a newer build; it was not touched.
    NewerBuild,
    /// Create a new bank and ingest a snapshot into it: a build before the first release wrote this
    /// one, which was not touched.
    NewBank,
    /// Migrate the bank to the format of this build.
    Migrate,
    /// Try again when the other writer has finished, or ask to wait for it.
    Wait,
    /// Repair the bank, which loses nothing where anything can be mended; a check tells which of
    /// its states is good.
    Repair,
    /// Check the bank, and repair it if its other state is good; otherwise restore it from a copy,
    /// or ingest a snapshot into a new bank.
    CheckAndRepair,
    /// Make room if the disk is full. A repair publishes what is stored, and so does the next
    /// command that writes.
    Publish,
    /// Split the crawl into several banks.
    SeveralBanks,
    /// Make room on the disk and try again; the bank is unchanged.
    FreeSpace,
    /// Make room on the disk and try again; readers see nothing that is half done.
    FreeSpaceForStore,
    /// Check that the path is that of a folder that backups were made in.
    CheckPathOfBackups,
    /// Name a folder for the backups of this bank alone, outside the bank, that does not exist yet
    /// or is empty.
    OtherFolderForBackups,
    /// Look at the list of backups, and name one that is there.
    ListBackups,
    /// Restore the backup that is whole.
    OtherBackup,
    /// If the bank is still there, back it up anew, verifying what the folder has: that writes again
    /// what the bank still has of it.
    BackUpAgain,
}
