//! The store: the only user of RocksDB.
//!
//! Three layers: `rocks` knows RocksDB and bytes; [`Store`] knows tables, keys and records;
//! [`Reader`] and [`Writer`] know the folder of a bank, its locks and its published states. The
//! layout is declared once, in [`tables`], and written down in `schema/tables.md`.
//!
//! One writer at a time. A writer collects [`Changes`] and commits them together; small sets are
//! one synced write, large ones a bulk load behind an intent. After each commit a checkpoint of
//! hard links is published, and other processes read that: RocksDB calls a read-only open beside
//! a live writer undefined behaviour.
//!
//! Of the algorithms it uses the shared words alone: `seedbank_algorithms::page` and
//! `seedbank_algorithms::watch`. A test looks that it stays so.

#![forbid(unsafe_code)]

mod acknowledged;
mod alias_reads;
pub mod aliases;
mod backup;
mod backup_error;
mod bank;
mod beside;
mod bits;
pub mod blocks;
mod bulk_load;
mod changes;
mod check;
mod checksums;
mod codec;
mod commit;
mod compact;
mod content;
mod create;
mod error;
pub mod evidence;
mod examine;
mod files;
mod folder;
mod format;
mod former;
mod free_room;
mod from_state;
mod gains;
mod given;
mod hint;
mod intent;
mod keep;
pub mod kept_steps;
mod last_block;
pub mod ledger;
mod lineage;
mod link_reads;
pub mod links;
mod listed;
pub mod lists;
mod live;
mod load;
mod lock;
mod logs;
mod manifest;
mod migrate;
mod open_files;
mod options;
mod page_reads;
mod page_set;
mod published;
mod raw;
mod reader;
pub mod records;
mod repair;
mod rocks;
mod room;
mod seeds;
pub mod sides;
mod sorted_file;
mod sorter;
mod steps;
mod store;
mod table;
pub mod tables;
pub mod undo;

pub use backup::{
    BackupReport, BackupRequest, BackupSummary, BackupView, Backups, DamagedBackup, RestoreReport,
    backup, backups, restore,
};
pub use backup_error::BackupError;
pub use bank::Writer;
pub use beside::make_beside;
pub use changes::Changes;
pub use changes::encode;
pub use check::{CheckReport, Finding};
pub use codec::Malformed;
pub use compact::CompactReport;
pub use create::create;
pub use error::StoreError;
pub use examine::{BankCheck, FileFinding, StateCheck, Verdict, check as check_bank};
pub use hint::StoreHint;
pub use last_block::LastBlock;
pub use migrate::{MigrateReport, migrate, migrate_to};
pub use page_set::PageSetBytes;
#[doc(hidden)]
pub use raw::{RawEntry, RawState, raw_entries, raw_state, raw_write};
pub use reader::Reader;
pub use records::Hash128;
pub use repair::{Lost, Mended, RepairReport, repair};
pub use rocks::TableSize;
pub use room::room;
pub use sorter::{Entry, Sorted, Sorter};
pub use store::{Entries, Store};
pub use table::{Access, Holds, Key, Table, TableInfo, Value};

use seedbank_algorithms::page::PageId;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// The bytes of a record that is on its way through a [`Sorter`].
pub fn pack<T: Serialize>(record: &T) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    codec::put_record(record, &mut bytes).map_err(|e| StoreError::passing(&e))?;
    Ok(bytes)
}

/// Reads what [`pack`] wrote.
pub fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StoreError> {
    codec::take_record(bytes).map_err(|e| StoreError::passing(&e))
}

/// The hash by which a row is found on its site: of its targets' ids, which never change.
#[must_use]
pub fn row_hash(targets: &[PageId]) -> Hash128 {
    let mut hasher = blake3::Hasher::new();
    for target in targets {
        hasher.update(&target.0.to_be_bytes());
    }
    let mut hash = Hash128::default();
    hash.copy_from_slice(&hasher.finalize().as_bytes()[..16]);
    hash
}
