//! Backups of a bank's published state, in a folder of their own.
//!
//! ```text
//! DIR/SEEDBANK-BACKUPS   marker with the number of this layout
//! DIR/lock               held by the one backup; shared by those who read
//! DIR/files/HASH         the bytes of a file, under their blake3 hash; many backups may need one
//! DIR/backups/N          the list of backup N: what it is of, its files, a checksum of itself
//! ```
//!
//! A backup holds the published state's lock as any reader does, so it never waits for a writer and
//! no writer waits for it. Table files never change: one that the last list has under the same
//! name, with the same size and time, is not read again. Any other file is copied, hashed meanwhile,
//! read back from the disk and compared, and only then gets its name; the list comes last. So what
//! has a name in `files` is whole, and a backup that was killed leaves nothing but files that no
//! list names, which the next one uses or removes.

mod create;
mod inventory;
mod repository;
mod restore;
mod separate_folders;
mod sources;
mod verify;

pub use create::{BackupReport, BackupRequest, backup};
pub use inventory::BackupSummary;
pub(crate) use repository::set_mode;
pub use restore::{RestoreReport, restore};
pub(crate) use separate_folders::are_apart;
pub(crate) use sources::{mode, sources};
pub use verify::{BackupView, Backups, DamagedBackup, backups};
