//! Databases of a bank: its only one, or those of the parts of a cluster bank, in this process or in others.

use std::collections::{HashMap, VecDeque};
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::ALL;
use super::codec::{put_varint, take_varint};
use crate::error::StoreError;
use crate::rocks::database::{Cursor, Database, KeyRange, Scan, TableSize};

impl KeyRange {
    /// Returns the range of the keys of a range of sites. The keys start with the site.
    pub(crate) fn of_sites(sites: &Range<u32>) -> Self {
        let until = sites.end.to_be_bytes().to_vec();
        Self {
            // The last block of a single site also has the next sites, which are likely to be read next.
            is_read_once: sites.len() > 1,
            ..Self::ascending(&sites.start.to_be_bytes(), Some(until))
        }
    }
}

// The bytes of requests to other processes of a cluster bank, and of their answers.
//
// A message is a sequence of fields, each a length as a varint and that many bytes. The first field of a request
// is one byte, the operation. Numbers are little-endian.

/// An operation on a part of a cluster bank in another process. The discriminants are sent.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Operation {
    /// Opens a published state: part, epoch, identity. Answer: a handle, or nothing if the state is gone.
    OpenState = 1,
    /// Closes a handle.
    Close = 2,
    /// Reads a key: handle, table, key. Answer: the value, or nothing.
    Get = 3,
    /// Reads a range: handle, table, flags, bytes to read, first key, and the bound if there is one. Answer:
    /// whether the range ends here, then keys and values in turn.
    Scan = 4,
    /// Returns the sizes of all tables: handle. Answer: for each table bytes, keys, whether it is compacted.
    Sizes = 5,
    /// Returns the size of the log: handle.
    LogBytes = 6,
    /// Takes the lock of the writer: part, whether to wait for it. Answer: the record of its last commits.
    Lock = 7,
    /// Removes what is prepared: part.
    Discard = 8,
    /// Opens the part for writing: part, the decided epoch (0 for none). Answer: a handle, the identity.
    OpenWriter = 9,
    /// Limits the memory of the writer: part, bytes.
    LimitMemory = 10,
    /// Merges small files: part.
    Compact = 11,
    /// Adds changes: part, then tables, keys, and values after a byte that is 1 (0 deletes the key).
    Change = 12,
    /// Prepares the added changes: part, the record of the commit.
    Prepare = 13,
    /// Makes the prepared changes the state, and publishes it: part, epoch.
    Finish = 14,
    /// Closes the writer and releases its lock: part.
    Unlock = 15,
    /// Opens the live database of a part that is open for writing: part. Answer: a handle.
    OpenLive = 16,
}

impl Operation {
    const ALL: [Self; 16] = [
        Self::OpenState,
        Self::Close,
        Self::Get,
        Self::Scan,
        Self::Sizes,
        Self::LogBytes,
        Self::Lock,
        Self::Discard,
        Self::OpenWriter,
        Self::LimitMemory,
        Self::Compact,
        Self::Change,
        Self::Prepare,
        Self::Finish,
        Self::Unlock,
        Self::OpenLive,
    ];
}

/// Returns the error of a malformed message.
pub(crate) fn malformed() -> StoreError {
    StoreError::Protocol("a message cannot be decoded")
}

/// A message that is being written.
#[derive(Default)]
pub(crate) struct Message(Vec<u8>);

impl Message {
    /// Starts a request.
    pub(crate) fn request(operation: Operation) -> Self {
        Self::default().bytes(&[operation as u8])
    }

    /// Appends a field.
    pub(crate) fn bytes(mut self, bytes: &[u8]) -> Self {
        self.push(bytes);
        self
    }

    /// Appends a field that is a number.
    pub(crate) fn number(self, number: u64) -> Self {
        self.bytes(&number.to_le_bytes())
    }

    /// Appends a field.
    pub(crate) fn push(&mut self, bytes: &[u8]) {
        put_varint(bytes.len() as u64, &mut self.0);
        self.0.extend_from_slice(bytes);
    }

    /// Appends the fields of another message.
    pub(crate) fn followed_by(mut self, other: &Self) -> Self {
        self.0.extend_from_slice(&other.0);
        self
    }

    /// Returns the length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.0.len()
    }

    /// Returns the bytes.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.0
    }
}

/// The fields of a message that are not read yet.
#[derive(Clone, Copy)]
pub(crate) struct Fields<'a>(pub(crate) &'a [u8]);

impl<'a> Fields<'a> {
    /// Returns the next field; `None` after the last one.
    pub(crate) fn next(&mut self) -> Result<Option<&'a [u8]>, StoreError> {
        if self.0.is_empty() {
            return Ok(None);
        }
        let length = take_varint(&mut self.0).map_err(|_| malformed())?;
        let length = usize::try_from(length).map_err(|_| malformed())?;
        let (field, rest) = self.0.split_at_checked(length).ok_or_else(malformed)?;
        self.0 = rest;
        Ok(Some(field))
    }

    /// Returns whether no field is left.
    pub(crate) const fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Returns the next field, which must exist.
    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], StoreError> {
        self.next()?.ok_or_else(malformed)
    }

    /// Returns the next field as a number.
    pub(crate) fn number(&mut self) -> Result<u64, StoreError> {
        let bytes = self.bytes()?.try_into().map_err(|_| malformed())?;
        Ok(u64::from_le_bytes(bytes))
    }

    /// Returns the operation of a request.
    pub(crate) fn operation(&mut self) -> Result<Operation, StoreError> {
        let [number] = self.bytes()? else {
            return Err(malformed());
        };
        let known = Operation::ALL.iter().find(|of| **of as u8 == *number);
        known.copied().ok_or_else(malformed)
    }
}

// Keys of another process that were read ahead of gets.
//
// A command gets most keys of a table in order. So an answer to a get also contains the entries after the key, and
// later gets of keys in that range need no request, whether the keys exist or not. The range grows while gets hit it
// and shrinks while they miss it.

/// Bytes that are read ahead at least, at first, and at most. Below the least number, only the key is read.
const MIN_KNOWN_BYTES: u64 = 256;
const FIRST_KNOWN_BYTES: u64 = 4 << 10;
const MAX_KNOWN_BYTES: u64 = 64 << 10;

/// The number of gets of a single key after which reading ahead is tried again.
const RETRY_AFTER: u32 = 16;

/// A range of keys of a table whose entries are all known.
struct KnownRange {
    /// The first key of the range.
    from: Vec<u8>,
    /// All entries, ascending.
    entries: Vec<(Vec<u8>, Vec<u8>)>,
    /// Whether the range has no end; otherwise it ends with the last entry.
    is_endless: bool,
    hits: u32,
    /// The gets of a single key since reading ahead was tried.
    single: u32,
    /// The bytes to read ahead next.
    bytes: u64,
}

/// The value of a key in the range; `None` if there is no value.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct KnownValue<'a>(Option<&'a [u8]>);

impl Default for KnownRange {
    fn default() -> Self {
        Self {
            from: Vec::new(),
            entries: Vec::new(),
            is_endless: false,
            hits: 0,
            single: 0,
            bytes: FIRST_KNOWN_BYTES,
        }
    }
}

impl KnownRange {
    /// Returns what is known of a key; `None` if it is not in the range.
    fn get(&mut self, key: &[u8]) -> Option<KnownValue<'_>> {
        let last = self.entries.last();
        let is_before_end = self.is_endless || last.is_some_and(|(last, _)| key <= last.as_slice());
        if !is_before_end || key < self.from.as_slice() {
            return None;
        }
        self.hits = self.hits.saturating_add(1);
        let found = self
            .entries
            .binary_search_by(|(other, _)| other.as_slice().cmp(key));
        Some(KnownValue(
            found.ok().map(|at| self.entries[at].1.as_slice()),
        ))
    }

    /// Returns the bytes to read ahead of a key that is not in the range; `None` to read only the key.
    fn miss(&mut self) -> Option<u64> {
        if self.bytes < MIN_KNOWN_BYTES {
            self.single += 1;
            if self.single < RETRY_AFTER {
                return None;
            }
            self.single = 0;
            self.bytes = MIN_KNOWN_BYTES;
        } else if self.hits > 0 {
            self.bytes = (self.bytes * 4).min(MAX_KNOWN_BYTES);
        } else if !self.from.is_empty() {
            self.bytes /= 4;
            if self.bytes < MIN_KNOWN_BYTES {
                return None;
            }
        }
        Some(self.bytes)
    }

    /// Replaces the range by the entries at and after a key.
    fn replace(&mut self, from: &[u8], entries: Vec<(Vec<u8>, Vec<u8>)>, is_endless: bool) {
        self.from = from.to_vec();
        self.entries = entries;
        self.is_endless = is_endless;
        self.hits = 0;
    }
}

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

    /// Returns the size of each table on disk, in the order of their declaration.
    pub(crate) fn sizes(&self) -> Result<Vec<TableSize>, StoreError> {
        let request = self.request(Operation::Sizes).into_bytes();
        let answer = self.process.call(&request)?;
        let mut fields = Fields(&answer);
        let mut size = || {
            Ok(TableSize {
                bytes: fields.number()?,
                keys: fields.number()?,
                is_compacted: fields.number()? == 1,
            })
        };
        ALL.iter().map(|_| size()).collect()
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
            Self::Local(database) => Ok(PartScan::Local(database.scan_range(table, range)?)),
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

    /// Returns the size of each table on disk, in the order of their declaration.
    pub(crate) fn sizes(&self) -> Result<Vec<TableSize>, StoreError> {
        match self {
            Self::Local(database) => database.sizes(),
            Self::Remote(database) => database.sizes(),
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        #[test]
        fn fields_are_read_back(fields in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..300), 0..9)) {
            let mut message = Message::request(Operation::Change).number(7);
            for field in &fields {
                message.push(field);
            }
            let bytes = message.into_bytes();
            let mut read = Fields(&bytes);
            prop_assert_eq!(read.operation().unwrap(), Operation::Change);
            prop_assert_eq!(read.number().unwrap(), 7);
            for field in &fields {
                prop_assert_eq!(read.bytes().unwrap(), field.as_slice());
            }
            prop_assert!(read.next().unwrap().is_none());
        }

        #[test]
        fn any_bytes_are_fields_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut fields = Fields(&bytes);
            let _ = fields.operation();
            while let Ok(Some(field)) = fields.next() {
                prop_assert!(field.len() <= bytes.len());
            }
        }
    }

    proptest! {
        /// Compares with gets from a map, in any order.
        #[test]
        fn known_ranges_answer_as_the_table_does(
            table in prop::collection::btree_map(prop::collection::vec(0_u8..4, 1..4), any::<u8>(), 0..60),
            gets in prop::collection::vec((prop::collection::vec(0_u8..4, 1..4), any::<bool>()), 1..90),
        ) {
            let table: BTreeMap<Vec<u8>, u8> = table;
            let mut range = KnownRange::default();
            let mut last = Vec::new();
            for (mut key, follows) in gets {
                if follows {
                    // The key after the last one.
                    key = last.clone();
                    key.push(0);
                }
                last.clone_from(&key);
                let expected = table.get(&key).map(|value| vec![*value]);
                if let Some(KnownValue(found)) = range.get(&key) {
                    prop_assert_eq!(found.map(<[u8]>::to_vec), expected);
                    continue;
                }
                if let Some(bytes) = range.miss() {
                    let most = usize::try_from(bytes / 64).unwrap().max(1);
                    let entries: Vec<_> = table
                        .range(key.clone()..)
                        .take(most)
                        .map(|(key, value)| (key.clone(), vec![*value]))
                        .collect();
                    let is_endless = entries.len() < most;
                    range.replace(&key, entries, is_endless);
                    prop_assert_eq!(range.get(&key), Some(KnownValue(expected.as_deref())));
                }
            }
        }
    }
}
