//! Hints for errors of the store.

/// What a caller can do about an error of the store. The caller words the hint.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoreHint {
    /// Create the bank in a folder that does not exist or is empty.
    OtherFolder,
    /// Check that the path is right, or create a bank there.
    CheckPathOrCreate,
    /// Open the bank with a newer build; it is unchanged.
    NewerBuild,
    /// Use the folder of the cluster bank that contains this part.
    WholeBank,
    /// Use the folders of all parts of the cluster bank as the last command left them, or restore a backup.
    PartsOfOneState,
    /// Restore a backup of the cluster bank.
    RestoreBackup,
    /// Make the folders of all parts of the cluster bank available in its folder: move, link or mount them.
    BringParts,
    /// Create a new bank and ingest a snapshot: a build before the first release wrote this one, which
    /// is unchanged.
    NewBank,
    /// Migrate the bank to the format of this build.
    Migrate,
    /// Try again when the other writer has finished, or wait for it.
    Wait,
    /// Repair the bank, which loses nothing that can be recovered; a check reports which of its states
    /// is good.
    Repair,
    /// Check the bank and repair it if its other state is good; otherwise restore it from a copy, or
    /// ingest a snapshot into a new bank.
    CheckAndRepair,
    /// Free disk space if the disk is full. A repair publishes the stored state, and so does the next
    /// command that writes.
    Publish,
    /// Split the crawl into several banks.
    SeveralBanks,
    /// Free disk space and try again; the bank is unchanged.
    FreeSpace,
    /// Free disk space and try again; readers see no incomplete change.
    FreeSpaceForStore,
    /// Run as a user who has access to the files of the bank, or change their permissions.
    Permissions,
    /// Check that the path is that of a folder with backups.
    CheckPathOfBackups,
    /// Use a folder for the backups of this bank alone, outside the bank, that does not exist or is
    /// empty.
    OtherFolderForBackups,
    /// List the backups and choose an existing one.
    ListBackups,
    /// Restore the intact backup.
    OtherBackup,
    /// If the bank still exists, back it up again and verify the folder: that rewrites damaged files
    /// that the bank still has.
    BackUpAgain,
}
