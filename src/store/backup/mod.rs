//! Backups of a bank's published state, in a folder of their own or in other storage.
//!
//! ```text
//! DIR/SEEDBANK-BACKUPS   the marker with the layout version
//! DIR/lock               exclusive for a backup, shared for a reader
//! DIR/files/HASH         the contents of a file, under their blake3 hash; backups share them
//! DIR/backups/N          the inventory of backup N: summary, files, checksum
//! ```
//!
//! A backup holds the lock of the published state like any reader, so it never waits for a writer, nor a
//! writer for it. Table files never change: one that the last inventory has with the same name, size and
//! modification time is not read again. Any other file is copied, hashed, read back from the disk and
//! compared before it is renamed; the inventory comes last. So every file in `files` is intact, and a killed
//! backup leaves only files that no inventory names, which the next backup uses or removes.
//!
//! A backup of a cluster bank holds the locks of one epoch in all parts, which all have the same state, and its
//! inventory has the files of all of them. A restored bank gets one new identity for all parts, and its marker last.
//!
//! Other storage ([`BackupStorage`]) has the same files, and no unfinished ones. A backup has its lock; readers have
//! none, since a file that is read is either there or missing.

mod create;
mod inventory;
mod repository;
mod restore;

pub use create::{BackupReport, BackupRequest, backup};
pub use inventory::BackupSummary;
pub use repository::{
    BackupLock, BackupPlace, BackupStorage, BackupView, BackupWriter, Backups, DamagedBackup,
    backups,
};
pub use restore::{RestoreReport, restore};
