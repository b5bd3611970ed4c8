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
//! Of the algorithms it uses only the shared types: `seedbank_algorithms::page` and
//! `seedbank_algorithms::watch`. A test checks this.

#![forbid(unsafe_code)]

mod backup;
mod check;
mod disk;
mod error;
mod format;
mod graph_image;
mod maintenance;
mod publish;
mod rocks;
mod sorter;
mod table_info;
pub mod tables;

pub use backup::{
    BackupLock, BackupPlace, BackupReport, BackupRequest, BackupStorage, BackupSummary, BackupView,
    BackupWriter, Backups, DamagedBackup, RestoreReport, backup, backups, restore,
};
pub use check::{CheckReport, Finding, ImageCheck};
pub use disk::{create_staged, disk_usage, sync_folder};
pub use error::{BackupError, ReportedError, ReportedKind, StoreError, StoreHint, SystemErrorKind};
pub use format::Format;
pub use graph_image::{
    GraphImage, HostPrefix, ImageLinks, ImageLock, ImageSource, PageAttributes, Run,
};
pub use maintenance::{
    BankCheck, CompactReport, FileFinding, Lost, PartRepair, RepairReport, RepairedPart,
    StateCheck, Verdict, check as check_bank, repair,
};
pub use publish::{
    OtherProcesses, PartServer, PublishedParts, PublishedState, Reader, Writer, cluster_parts,
    create, create_cluster, ensure_local_parts, read_refusal,
};
#[doc(hidden)]
pub use publish::{RawEntry, RawState, raw_entries, raw_flush, raw_state, raw_tables, raw_write};
pub use rocks::database::TableSize;
pub use sorter::{Entry, Sorted, Sorter};
pub use table_info::{Family, Placement, TableGroup, TableInfo};
pub use tables::changes::{Changes, encode};
pub use tables::codec::Malformed;
pub use tables::parts::RemoteProcess;
pub use tables::records::{
    self, Hash128, aliases, component_cache, evidence, gain_cache, links, page_blocks, plan_lists,
    seed_fetches, step_cache, undo,
};
pub use tables::shards::SiteParts;
pub use tables::store::{Entries, Store};
pub use tables::table::{FixedKey, Key, Table, Value};
pub use tables::{
    LinkCursor, LinkScan, PageSetReader, PageSetWriter, SiteIds, SiteScan, member_order,
};

use seedbank_algorithms::page::PageId;
use serde::Serialize;
use serde::de::DeserializeOwned;

/// Returns the bytes of a record for a [`Sorter`].
pub fn pack<T: Serialize>(record: &T) -> Result<Vec<u8>, StoreError> {
    let mut bytes = Vec::new();
    tables::codec::put_record(record, &mut bytes).map_err(|e| StoreError::spilled(&e))?;
    Ok(bytes)
}

/// Reads what [`pack`] wrote.
pub fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, StoreError> {
    tables::codec::take_record(bytes).map_err(|e| StoreError::spilled(&e))
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
