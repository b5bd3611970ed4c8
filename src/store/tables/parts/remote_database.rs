//! A database that another process of a cluster bank has open, and scans of it.

use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::key_range::KeyRange;
use super::message::{Fields, Message, Operation, malformed};
use super::read_ahead::{KnownRange, KnownValue};
use crate::error::StoreError;
use crate::rocks::database::TableSize;
use crate::tables::ALL;

/// A key and its value.
type Entry = (Vec<u8>, Vec<u8>);

/// Calls another process of a cluster bank.
pub trait RemoteProcess: Send + Sync {
    /// Sends a request to the [`PartServer`](crate::PartServer) of the process, and returns the answer.
    fn call(&self, request: &[u8]) -> Result<Vec<u8>, StoreError>;

    /// Sends a request whose answer is not needed. The process handles such requests in the order in which they are sent.
    ///
    /// It may return before the request has arrived, or return an error of its handler.
    fn notify(&self, request: &[u8]) -> Result<(), StoreError> {
        self.call(request).map(drop)
    }

    /// The error with which all later requests fail. `None` means that the process is not lost, as far as is known.
    fn loss(&self) -> Option<StoreError> {
        None
    }
}

/// Bytes of keys and values that a scan reads at first; each further request reads four times as much.
const FIRST_BYTES: u64 = 16 << 10;

/// The most bytes of keys and values that a scan reads at once.
pub(crate) const MAX_BYTES: u64 = 256 << 10;

/// A flag of a scan: from the last key to the first.
pub(crate) const DESCENDING: u64 = 1;
/// A flag of a scan: the range is not read again soon.
pub(crate) const READ_ONCE: u64 = 2;
/// A flag of a scan: the first key is not part of the range.
pub(crate) const AFTER_FIRST: u64 = 4;

/// Returns the number of a table in the list of all tables.
pub(crate) fn table_number(table: &'static str) -> Result<u64, StoreError> {
    let number = ALL.iter().position(|info| info.name == table);
    number
        .map(|number| number as u64)
        .ok_or(StoreError::Full("table"))
}

/// A database that another process has open. Dropping it closes it there.
pub(crate) struct RemoteDatabase {
    process: Arc<dyn RemoteProcess>,
    /// The number under which the other process has it.
    handle: u64,
    /// What was read ahead of gets, by table.
    known: Mutex<HashMap<&'static str, KnownRange>>,
    reads: AtomicU64,
    bytes_read: AtomicU64,
}

impl RemoteDatabase {
    /// Creates the database with a handle that the process returned.
    pub(crate) fn new(process: Arc<dyn RemoteProcess>, handle: u64) -> Self {
        Self {
            process,
            handle,
            known: Mutex::default(),
            reads: AtomicU64::new(0),
            bytes_read: AtomicU64::new(0),
        }
    }

    fn request(&self, operation: Operation) -> Message {
        Message::request(operation).number(self.handle)
    }

    /// Returns the value at a key; `None` if there is no value.
    pub(crate) fn get(
        &self,
        table: &'static str,
        key: &[u8],
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let value = self.value_at(table, key)?;
        self.count(value.as_ref().map_or(0, |value| key.len() + value.len()));
        Ok(value)
    }

    fn value_at(&self, table: &'static str, key: &[u8]) -> Result<Option<Vec<u8>>, StoreError> {
        let bytes = {
            let mut known = self.known();
            let range = known.entry(table).or_default();
            if let Some(KnownValue(value)) = range.get(key) {
                return Ok(value.map(<[u8]>::to_vec));
            }
            range.miss()
        };
        let Some(bytes) = bytes else {
            let request = self.request(Operation::Get).number(table_number(table)?);
            let answer = self.process.call(&request.bytes(key).into_bytes())?;
            return Ok(Fields(&answer).next()?.map(<[u8]>::to_vec));
        };
        let range = KeyRange::ascending(key, None);
        let (entries, is_complete) = self.read(table, &range, 0, bytes)?;
        let first = entries.first().filter(|(first, _)| first == key);
        let value = first.map(|(_, value)| value.clone());
        let mut known = self.known();
        known
            .entry(table)
            .or_default()
            .replace(key, entries, is_complete);
        Ok(value)
    }

    fn known(&self) -> MutexGuard<'_, HashMap<&'static str, KnownRange>> {
        // Every change leaves the ranges complete.
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Forgets what was read ahead, as the database has changed.
    pub(crate) fn forget_read_ahead(&self) {
        self.known().clear();
    }

    /// Reads the first entries of a range, and whether there are no others.
    fn read(
        &self,
        table: &'static str,
        range: &KeyRange,
        flags: u64,
        bytes: u64,
    ) -> Result<(Vec<Entry>, bool), StoreError> {
        let request = self.request(Operation::Scan);
        let mut request = request
            .number(table_number(table)?)
            .number(flags)
            .number(bytes)
            .bytes(&range.from);
        if let Some(until) = &range.until {
            request.push(until);
        }
        let answer = self.process.call(&request.into_bytes())?;
        let mut fields = Fields(&answer);
        let is_complete = fields.number()? == 1;
        let mut entries = Vec::new();
        while let Some(key) = fields.next()? {
            entries.push((key.to_vec(), fields.bytes()?.to_vec()));
        }
        if entries.is_empty() && !is_complete {
            return Err(malformed());
        }
        Ok((entries, is_complete))
    }

    fn count(&self, bytes: usize) {
        self.reads.fetch_add(1, Ordering::Relaxed);
        self.bytes_read.fetch_add(bytes as u64, Ordering::Relaxed);
    }

    /// Returns the number of gets and of entries returned by scans so far.
    pub(crate) fn reads(&self) -> u64 {
        self.reads.load(Ordering::Relaxed)
    }

    /// Returns the number of bytes of keys and values read so far.
    pub(crate) fn bytes_read(&self) -> u64 {
        self.bytes_read.load(Ordering::Relaxed)
    }

    /// Returns the size of a table on disk.
    pub(crate) fn size(&self, table: &'static str) -> Result<TableSize, StoreError> {
        let request = self.request(Operation::Size).number(table_number(table)?);
        let answer = self.process.call(&request.into_bytes())?;
        let mut fields = Fields(&answer);
        Ok(TableSize {
            bytes: fields.number()?,
            keys: fields.number()?,
            is_compacted: fields.number()? == 1,
        })
    }

    /// Returns the size of the log in bytes; 0 if the process does not answer.
    pub(crate) fn log_bytes(&self) -> u64 {
        let request = self.request(Operation::LogBytes).into_bytes();
        let answer = self.process.call(&request);
        answer.map_or(0, |answer| Fields(&answer).number().unwrap_or(0))
    }
}

impl Drop for RemoteDatabase {
    fn drop(&mut self) {
        // If the process is gone, so is the database.
        let _ = self
            .process
            .call(&self.request(Operation::Close).into_bytes());
    }
}

/// A scan of a range of a table in another process, which reads ahead.
pub(crate) struct RemoteScan {
    database: Arc<RemoteDatabase>,
    table: &'static str,
    range: KeyRange,
    /// The entries that were read ahead.
    entries: VecDeque<Entry>,
    /// Whether the first key of the range was read.
    is_started: bool,
    /// Whether the range has no entries after those that were read.
    is_complete: bool,
    /// The bytes that the next request reads.
    bytes: u64,
    failure: Option<StoreError>,
}

impl RemoteScan {
    pub(crate) fn new(database: Arc<RemoteDatabase>, table: &'static str, range: KeyRange) -> Self {
        Self {
            database,
            table,
            bytes: if range.is_read_once {
                MAX_BYTES
            } else {
                FIRST_BYTES
            },
            range,
            entries: VecDeque::new(),
            is_started: false,
            is_complete: false,
            failure: None,
        }
    }

    /// Skips the entries before a key. Returns `false` if the key may be after all entries that were read ahead.
    pub(crate) fn skip_to(&mut self, key: &[u8]) -> bool {
        let before = self.entries.iter();
        let before = before.take_while(|entry| entry.0.as_slice() < key).count();
        self.entries.drain(..before);
        !self.entries.is_empty() || self.is_complete
    }

    /// Returns the key of the next entry; `None` at the end, and before an error, which the next read returns.
    pub(crate) fn next_key(&mut self) -> Option<&[u8]> {
        if self.entries.is_empty()
            && !self.is_complete
            && let Err(e) = self.read_ahead()
        {
            self.failure = Some(e);
            self.is_complete = true;
        }
        self.entries.front().map(|entry| entry.0.as_slice())
    }

    /// Calls `read` with the next key and value; `None` at the end. An error also ends the scan.
    pub(crate) fn next_with<T>(
        &mut self,
        read: impl FnOnce(&[u8], &[u8]) -> T,
    ) -> Result<Option<T>, StoreError> {
        self.next_key();
        if let Some((key, value)) = self.entries.pop_front() {
            self.database.count(key.len() + value.len());
            return Ok(Some(read(&key, &value)));
        }
        match self.failure.take() {
            Some(e) => Err(e),
            None => Ok(None),
        }
    }

    fn read_ahead(&mut self) -> Result<(), StoreError> {
        let mut flags = 0;
        for (is_set, flag) in [
            (self.range.is_descending, DESCENDING),
            (self.range.is_read_once, READ_ONCE),
            (self.is_started, AFTER_FIRST),
        ] {
            flags |= if is_set { flag } else { 0 };
        }
        let database = &self.database;
        let (entries, is_complete) = database.read(self.table, &self.range, flags, self.bytes)?;
        if let Some((key, _)) = entries.last() {
            self.range.from.clone_from(key);
        }
        self.is_complete = is_complete;
        self.entries = entries.into();
        self.is_started = true;
        self.bytes = (self.bytes * 4).min(MAX_BYTES);
        Ok(())
    }
}
