//! What a caller can do about an error of the store.

/// What a caller can do about an error of the store. How it is said is the caller's own.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum StoreHint {
    /// Make the bank in a folder that does not exist yet or is empty.
    OtherFolder,
    /// Look whether the path is right, or create a bank there.
    CheckPathOrCreate,
    /// Open the bank with a newer build; it was not touched.
    NewerBuild,
    /// Create a new bank and ingest a snapshot into it; the old one was not touched.
    NewBank,
    /// Try again when the other writer has finished, or ask to wait for it.
    Wait,
    /// Repair the bank, which loses nothing where anything can be mended; a check tells which of its
    /// states are good.
    Repair,
    /// Check the bank, and repair it if another copy in it is good; else restore it from a copy, or
    /// ingest a snapshot into a new one.
    CheckAndRepair,
    /// Make room if the disk is full. A repair publishes what is stored, and so does whatever writes
    /// next.
    Publish,
    /// Cut the crawl into several banks.
    SeveralBanks,
    /// Make room on the disk and do the same again; the bank is as it was.
    MakeRoom,
    /// Make room on the disk and do the same again; readers see nothing that is half done.
    MakeRoomInStore,
}
