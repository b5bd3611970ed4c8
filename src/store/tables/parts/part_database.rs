//! A database of a bank: open in this process, or that of a part of a cluster bank in another one.

use std::sync::Arc;

use super::key_range::KeyRange;
use super::remote_database::{RemoteDatabase, RemoteScan};
use crate::error::StoreError;
use crate::rocks::cursor::Cursor;
use crate::rocks::database::{Database, TableSize};
use crate::rocks::scan::Scan;

/// A database of a bank.
#[derive(Clone)]
pub(crate) enum PartDatabase {
    /// It is open in this process.
    Local(Arc<Database>),
    /// Another process has it open.
    Remote(Arc<RemoteDatabase>),
    /// It is not open. Reads fail.
    NotOpen,
}

/// Returns the error of a read of a part that is not open.
fn not_open() -> StoreError {
    StoreError::Protocol("a read of a part of another process")
}

impl PartDatabase {
    /// Returns the database if it is open in this process.
    pub(crate) const fn local(&self) -> Option<&Arc<Database>> {
        match self {
            Self::Local(database) => Some(database),
            Self::Remote(_) | Self::NotOpen => None,
        }
    }

    /// Calls `read` with the value at a key; `None` if there is no value.
    pub(crate) fn get<T>(
        &self,
        table: &'static str,
        key: &[u8],
        read: impl FnOnce(&[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        match self {
            Self::Local(database) => database.get(table, key, read),
            Self::Remote(database) => Ok(database.get(table, key)?.map(|value| read(&value))),
            Self::NotOpen => Err(not_open()),
        }
    }

    /// Opens a scan.
    pub(crate) fn scan(
        &self,
        table: &'static str,
        range: &KeyRange,
    ) -> Result<PartScan<'_>, StoreError> {
        match self {
            Self::Local(database) => Ok(PartScan::Local(range.scan(database, table)?)),
            Self::Remote(database) => Ok(PartScan::Remote(RemoteScan::new(
                Arc::clone(database),
                table,
                range.clone(),
            ))),
            Self::NotOpen => Err(not_open()),
        }
    }

    /// Opens a cursor over a table.
    pub(crate) fn cursor(&self, table: &'static str) -> Result<PartCursor<'_>, StoreError> {
        match self {
            Self::Local(database) => Ok(PartCursor::Local(database.cursor(table)?)),
            Self::Remote(database) => Ok(PartCursor::Remote(RemoteCursor {
                database: Arc::clone(database),
                table,
                at: None,
            })),
            Self::NotOpen => Err(not_open()),
        }
    }

    /// Returns the size of a table on disk.
    pub(crate) fn size(&self, table: &'static str) -> Result<TableSize, StoreError> {
        match self {
            Self::Local(database) => database.size(table),
            Self::Remote(database) => database.size(table),
            Self::NotOpen => Err(not_open()),
        }
    }

    /// Returns the size of the log in bytes. Best effort.
    pub(crate) fn log_bytes(&self) -> u64 {
        match self {
            Self::Local(database) => database.log_bytes(),
            Self::Remote(database) => database.log_bytes(),
            Self::NotOpen => 0,
        }
    }

    /// Returns the number of gets and of entries returned by scans so far.
    pub(crate) fn reads(&self) -> u64 {
        match self {
            Self::Local(database) => database.reads(),
            Self::Remote(database) => database.reads(),
            Self::NotOpen => 0,
        }
    }

    /// Returns the number of bytes of keys and values read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        match self {
            Self::Local(database) => database.bytes_read(),
            Self::Remote(database) => database.bytes_read(),
            Self::NotOpen => 0,
        }
    }
}

/// A scan of a range of a table in one database.
pub(crate) enum PartScan<'a> {
    Local(Scan<'a>),
    Remote(RemoteScan),
}

impl PartScan<'_> {
    /// Returns the key of the next entry; `None` at the end, and before an error, which the next read returns.
    pub(crate) fn next_key(&mut self) -> Option<&[u8]> {
        match self {
            Self::Local(scan) => scan.next_key(),
            Self::Remote(scan) => scan.next_key(),
        }
    }

    /// Calls `read` with the next key and value; `None` at the end. An error also ends the scan.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        match self {
            Self::Local(scan) => scan.next_with(read),
            Self::Remote(scan) => scan.next_with(read),
        }
    }
}

/// A cursor over a table in one database.
pub(crate) enum PartCursor<'a> {
    Local(Cursor<'a>),
    Remote(RemoteCursor),
}

impl PartCursor<'_> {
    /// Moves to the first key with a prefix.
    pub(crate) fn move_under(&mut self, prefix: &[u8]) {
        match self {
            Self::Local(cursor) => cursor.move_under(prefix),
            Self::Remote(cursor) => cursor.move_under(prefix),
        }
    }

    /// Calls `read` with the next key and value; `None` after the last key with the prefix.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        match self {
            Self::Local(cursor) => cursor.next_with(read),
            Self::Remote(cursor) => cursor.next_with(read),
        }
    }
}

/// A cursor over a table of another process: one scan after the other, each until a prefix is not in what it read
/// ahead.
pub(crate) struct RemoteCursor {
    database: Arc<RemoteDatabase>,
    table: &'static str,
    /// The scan, and the prefix whose keys are read.
    at: Option<(RemoteScan, Vec<u8>)>,
}

impl RemoteCursor {
    fn move_under(&mut self, prefix: &[u8]) {
        if let Some((scan, last)) = &mut self.at
            && last.as_slice() < prefix
            && !prefix.starts_with(last)
            && scan.skip_to(prefix)
        {
            *last = prefix.to_vec();
            return;
        }
        let range = KeyRange::ascending(prefix, None);
        let scan = RemoteScan::new(Arc::clone(&self.database), self.table, range);
        self.at = Some((scan, prefix.to_vec()));
    }

    fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        let Some((scan, prefix)) = &mut self.at else {
            return Ok(None);
        };
        if scan.next_key().is_some_and(|key| !key.starts_with(prefix)) {
            return Ok(None);
        }
        // At the end of the table, and before an error, there is no key.
        let entry = scan.next_with(read);
        if entry.is_err() {
            // The next prefix is read anew.
            self.at = None;
        }
        entry
    }
}
