//! Serves the parts of a cluster bank that a process has to the process that runs a command.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};

use super::part_files::{
    PartStatus, discard_prepared, ensure_part, in_part, part_folder, part_kind,
};
use super::part_states::{
    OtherProcesses, PublishedParts, PublishedState, open_remote_state, open_state,
};
use super::writer::{PrepareRecord, Writer, open_part, writer_lock};
use crate::disk::Lock;
use crate::error::StoreError;
use crate::rocks::database::{Database, KeyRange, TableSize};
use crate::rocks::table_files::compact_small_files;
use crate::tables::ALL;
use crate::tables::changes::Changes;
use crate::tables::parts::{
    AFTER_FIRST, DESCENDING, Fields, MAX_BYTES, Message, Operation, PartDatabase, READ_ONCE,
    RemoteDatabase, malformed,
};
use crate::tables::shards::Parts;
use crate::tables::store::Store;
use seedbank_algorithms::watch::Watch;

/// The memory in bytes for the changes of a part, if the command does not limit it.
const CHANGES_MEMORY: usize = 64 << 20;

/// The most entries in the answer to a scan.
const MAX_ENTRIES: usize = 1 << 16;

/// The parts of a cluster bank that a process serves.
pub struct PartServer {
    bank: PathBuf,
    parts: Parts,
    own: BTreeSet<u32>,
    open: Mutex<OpenParts>,
    databases: RwLock<HashMap<u64, OpenDatabase>>,
    /// The live databases of the writer of this process, which other processes may read.
    served: Mutex<BTreeMap<u32, Arc<Database>>>,
}

/// The parts that are locked or open for writing.
#[derive(Default)]
struct OpenParts {
    next_handle: u64,
    locks: BTreeMap<u32, Lock>,
    writers: BTreeMap<u32, OpenWriter>,
}

/// A part that is open for writing.
struct OpenWriter {
    writer: Arc<Writer>,
    /// The changes of the next commit; `None` if there are none yet.
    changes: Option<Changes>,
    /// The memory in bytes for them.
    memory: usize,
}

impl OpenWriter {
    /// Returns the changes of the next commit.
    fn changes(&mut self) -> &mut Changes {
        let Self {
            writer,
            changes,
            memory,
        } = self;
        changes.get_or_insert_with(|| Changes::new(&writer.spill_folder(), *memory))
    }
}

/// A database that can be read.
struct OpenDatabase {
    database: Arc<Database>,
    /// Prevents the removal of a published state.
    _lock: Option<Lock>,
}

fn lock(open: &Mutex<OpenParts>) -> MutexGuard<'_, OpenParts> {
    // Every operation leaves the maps complete.
    open.lock().unwrap_or_else(PoisonError::into_inner)
}

impl PartServer {
    /// Serves these parts of the cluster bank in a folder.
    ///
    /// Fails if a part is missing or belongs to a bank of another number of parts.
    pub fn new(bank: &Path, own: &BTreeSet<u32>) -> Result<Self, StoreError> {
        let mut parts = None;
        for &part in own {
            let found = part_kind(bank, part)?;
            let of_bank = *parts.get_or_insert(found);
            ensure_part(bank, part, of_bank)?;
        }
        Ok(Self {
            bank: bank.to_path_buf(),
            parts: parts.ok_or(StoreError::Protocol("the process has no part to serve"))?,
            own: own.clone(),
            open: Mutex::default(),
            databases: RwLock::default(),
            served: Mutex::default(),
        })
    }

    /// Returns the number of parts of the bank.
    #[must_use]
    pub fn parts(&self) -> u32 {
        self.parts.count()
    }

    /// Answers a request. Many threads may call at once.
    pub fn answer(&self, request: &[u8], watch: &dyn Watch) -> Result<Vec<u8>, StoreError> {
        let mut fields = Fields(request);
        let answer = match fields.operation()? {
            Operation::OpenState => self.open_state(&mut fields)?,
            Operation::Close => {
                let handle = fields.number()?;
                self.write_databases().remove(&handle);
                Message::default()
            }
            Operation::Get => self.get(&mut fields)?,
            Operation::Scan => self.scan(&mut fields)?,
            Operation::Sizes => {
                let sizes = self.database(&mut fields)?.sizes()?;
                let add = |answer: Message, size: TableSize| {
                    let answer = answer.number(size.bytes).number(size.keys);
                    answer.number(size.is_compacted.into())
                };
                sizes.into_iter().fold(Message::default(), add)
            }
            Operation::LogBytes => {
                Message::default().number(self.database(&mut fields)?.log_bytes())
            }
            Operation::Lock => {
                let part = self.part(&mut fields)?;
                ensure_part(&self.bank, part, self.parts)?;
                let folder = part_folder(&self.bank, part);
                let taken = writer_lock(&folder, fields.number()? == 1, watch)?;
                lock(&self.open).locks.insert(part, taken);
                let status = PartStatus::read(&folder).map_err(in_part(part))?;
                return crate::pack(&status);
            }
            Operation::Discard => {
                let part = self.part(&mut fields)?;
                // Keeps the lock of the part until everything is removed.
                let mut open = lock(&self.open);
                if let Some(writer) = open.writers.get_mut(&part) {
                    writer.changes = None;
                } else if !open.locks.contains_key(&part) {
                    return Err(StoreError::Protocol("the part is not locked"));
                }
                discard_prepared(&part_folder(&self.bank, part))?;
                Message::default()
            }
            Operation::OpenWriter => self.open_writer(&mut fields, watch)?,
            Operation::LimitMemory => {
                let part = self.part(&mut fields)?;
                let memory = usize::try_from(fields.number()?).unwrap_or(usize::MAX);
                if let Some(open) = lock(&self.open).writers.get_mut(&part) {
                    open.memory = memory;
                    open.writer.limit_memory(memory);
                }
                Message::default()
            }
            Operation::Compact => {
                let writer = self.writer(self.part(&mut fields)?)?;
                compact_small_files(&writer.store.rocks)?;
                Message::default()
            }
            Operation::Change => self.change(&mut fields)?,
            Operation::Prepare => self.prepare(&mut fields)?,
            Operation::Finish => {
                let writer = self.writer(self.part(&mut fields)?)?;
                writer.finish_prepared(fields.number()?)?;
                Message::default()
            }
            Operation::Unlock => {
                let part = self.part(&mut fields)?;
                let mut open = lock(&self.open);
                open.locks.remove(&part);
                open.writers.remove(&part);
                Message::default()
            }
            Operation::OpenLive => {
                let part = self.part(&mut fields)?;
                Message::default().number(self.add(self.live(part)?, None))
            }
        };
        Ok(answer.into_bytes())
    }

    fn served(&self) -> MutexGuard<'_, BTreeMap<u32, Arc<Database>>> {
        self.served.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Returns the live database of a part that is open for writing.
    fn live(&self, part: u32) -> Result<Arc<Database>, StoreError> {
        let open = lock(&self.open);
        let of_writer = open.writers.get(&part).map(|open| &open.writer.store.rocks);
        let found = of_writer.or(self.served().get(&part)).map(Arc::clone);
        found.ok_or_else(not_open)
    }

    /// Lets other processes read the parts that `writer` has open in this process, until
    /// [`close_all`](Self::close_all).
    pub fn serve_writer(&self, writer: &Writer) {
        let databases = writer.store.local_databases();
        self.served()
            .extend(databases.map(|(part, database)| (part, Arc::clone(database))));
    }

    /// Closes all databases that other processes read.
    pub fn close_all(&self) {
        self.served().clear();
        self.write_databases().clear();
    }

    /// Opens the live databases of all parts: those of this process, which must be open for writing, and through
    /// `others` those of other processes.
    pub fn open_live(&self, others: &OtherProcesses) -> Result<Store, StoreError> {
        let mut databases = Vec::new();
        for part in 0..self.parts.count() {
            databases.push(if self.own.contains(&part) {
                PartDatabase::Local(self.live(part)?)
            } else {
                let process = others.of_part(part).ok_or_else(not_open)?;
                let request = Message::request(Operation::OpenLive).number(part.into());
                let answer = process.call(&request.into_bytes())?;
                let handle = Fields(&answer).number()?;
                PartDatabase::Remote(Arc::new(RemoteDatabase::new(Arc::clone(process), handle)))
            });
        }
        Store::of_parts(self.parts, databases).ok_or_else(not_open)
    }

    /// Opens a published state of all parts: those of this process, and through `others` those of other processes.
    pub fn open_published(
        &self,
        state: PublishedState,
        others: &OtherProcesses,
    ) -> Result<PublishedParts, StoreError> {
        let PublishedState { epoch, id } = state;
        self.open_parts(state, |part| {
            let process = others.of_part(part).ok_or_else(gone)?;
            let opened = open_remote_state(process, part, epoch, id)?;
            opened.map(|(database, _)| database).ok_or_else(gone)
        })
    }

    /// Opens a published state of the parts of this process. Reads of others fail.
    pub fn open_own(&self, state: PublishedState) -> Result<PublishedParts, StoreError> {
        self.open_parts(state, |_| Ok(PartDatabase::NotOpen))
    }

    /// Opens a published state of the parts of this process, and the others by `open`.
    fn open_parts(
        &self,
        state: PublishedState,
        open: impl Fn(u32) -> Result<PartDatabase, StoreError>,
    ) -> Result<PublishedParts, StoreError> {
        let PublishedState { epoch, id } = state;
        let (mut databases, mut locks) = (Vec::new(), Vec::new());
        for part in 0..self.parts.count() {
            databases.push(if self.own.contains(&part) {
                let opened = open_state(&self.bank, part, self.parts, epoch, id)?;
                let opened = opened.ok_or_else(gone)?;
                locks.push(opened.lock);
                PartDatabase::Local(opened.store.rocks)
            } else {
                open(part)?
            });
        }
        let store = Store::of_parts(self.parts, databases).ok_or_else(gone)?;
        store.share_cache();
        Ok(PublishedParts::new(store, locks))
    }

    /// Returns the folder for temporary files of the first part of this process that is open for writing.
    pub fn spill_folder(&self) -> Result<PathBuf, StoreError> {
        let open = lock(&self.open);
        let first = open.writers.values().next();
        let first = first.ok_or_else(not_open)?;
        Ok(first.writer.spill_folder())
    }

    /// Keeps changes for the next commit of the parts of this process. Calls `send` with the others, as
    /// [`Changes::put_entry`] takes them.
    pub fn keep_changes(
        &self,
        changes: Changes,
        mut send: impl FnMut(&[u8], &[u8]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        changes.each_entry(|table, key, entry| {
            let part = self.parts.of_key(table, key).unwrap_or(0);
            let part = u32::try_from(part).map_err(|_| malformed())?;
            let (number_and_key, value) = entry;
            if !self.own.contains(&part) {
                return send(number_and_key, value);
            }
            let mut open = lock(&self.open);
            let found = open.writers.get_mut(&part);
            let found = found.ok_or_else(not_open)?;
            found.changes().put_entry(number_and_key, value)
        })
    }

    fn write_databases(&self) -> std::sync::RwLockWriteGuard<'_, HashMap<u64, OpenDatabase>> {
        let databases = self.databases.write();
        databases.unwrap_or_else(PoisonError::into_inner)
    }

    /// Reads the number of a part, which must be one of this process.
    fn part(&self, fields: &mut Fields<'_>) -> Result<u32, StoreError> {
        let part = u32::try_from(fields.number()?).map_err(|_| malformed())?;
        if self.own.contains(&part) {
            Ok(part)
        } else {
            Err(StoreError::Protocol("the process does not serve this part"))
        }
    }

    fn database(&self, fields: &mut Fields<'_>) -> Result<Arc<Database>, StoreError> {
        let handle = fields.number()?;
        let databases = self.databases.read();
        let databases = databases.unwrap_or_else(PoisonError::into_inner);
        let found = databases.get(&handle);
        let found = found.ok_or(StoreError::Protocol("the database is not open"))?;
        Ok(Arc::clone(&found.database))
    }

    fn writer(&self, part: u32) -> Result<Arc<Writer>, StoreError> {
        let open = lock(&self.open);
        let found = open.writers.get(&part);
        let found = found.ok_or_else(not_open)?;
        Ok(Arc::clone(&found.writer))
    }

    /// Adds a database and returns its handle.
    fn add(&self, database: Arc<Database>, state_lock: Option<Lock>) -> u64 {
        let mut open = lock(&self.open);
        open.next_handle += 1;
        let handle = open.next_handle;
        drop(open);
        let opened = OpenDatabase {
            database,
            _lock: state_lock,
        };
        self.write_databases().insert(handle, opened);
        handle
    }

    fn open_state(&self, fields: &mut Fields<'_>) -> Result<Message, StoreError> {
        let part = self.part(fields)?;
        let epoch = fields.number()?;
        let expected = crate::unpack(fields.bytes()?)?;
        let opened = open_state(&self.bank, part, self.parts, epoch, expected)?;
        Ok(match opened {
            None => Message::default(),
            Some(open) => {
                let handle = self.add(open.store.rocks, Some(open.lock));
                Message::default().number(handle).number(open.last_epoch)
            }
        })
    }

    fn get(&self, fields: &mut Fields<'_>) -> Result<Message, StoreError> {
        let database = self.database(fields)?;
        let table = table(fields)?;
        let found = database.get(table, fields.bytes()?, |value| {
            Message::default().bytes(value)
        })?;
        Ok(found.unwrap_or_default())
    }

    fn scan(&self, fields: &mut Fields<'_>) -> Result<Message, StoreError> {
        let database = self.database(fields)?;
        let table = table(fields)?;
        let flags = fields.number()?;
        let bytes = usize::try_from(fields.number()?.min(MAX_BYTES)).unwrap_or(usize::MAX);
        let from = fields.bytes()?;
        let range = KeyRange {
            from: from.to_vec(),
            until: fields.next()?.map(<[u8]>::to_vec),
            is_descending: flags & DESCENDING > 0,
            is_read_once: flags & READ_ONCE > 0,
        };
        let mut scan = database.scan_range(table, &range)?;
        if flags & AFTER_FIRST > 0 && scan.next_key() == Some(from) {
            scan.next_with(|_, _| ())?;
        }
        let mut entries = Message::default();
        let mut count = 0;
        let mut is_complete = false;
        while entries.len() < bytes && count < MAX_ENTRIES {
            let pushed = scan.next_with(|key, value| {
                entries.push(key);
                entries.push(value);
            })?;
            if pushed.is_none() {
                is_complete = true;
                break;
            }
            count += 1;
        }
        Ok(Message::default()
            .number(is_complete.into())
            .followed_by(&entries))
    }

    fn open_writer(
        &self,
        fields: &mut Fields<'_>,
        watch: &dyn Watch,
    ) -> Result<Message, StoreError> {
        let part = self.part(fields)?;
        let decided = Some(fields.number()?).filter(|epoch| *epoch > 0);
        let locked = lock(&self.open).locks.remove(&part);
        let locked = locked.ok_or(StoreError::Protocol("the part is not locked"))?;
        let writer = open_part(&self.bank, part, locked, decided, watch).map_err(in_part(part))?;
        let state = crate::pack(&writer.state_id()?)?;
        let handle = self.add(Arc::clone(&writer.store.rocks), None);
        let opened = OpenWriter {
            writer: Arc::new(writer),
            changes: None,
            memory: CHANGES_MEMORY,
        };
        lock(&self.open).writers.insert(part, opened);
        Ok(Message::default().number(handle).bytes(&state))
    }

    fn change(&self, fields: &mut Fields<'_>) -> Result<Message, StoreError> {
        let part = self.part(fields)?;
        let mut open = lock(&self.open);
        let found = open.writers.get_mut(&part);
        let found = found.ok_or_else(not_open)?;
        let changes = found.changes();
        while !fields.is_empty() {
            let table = table(fields)?;
            let key = fields.bytes()?;
            let value = match fields.bytes()?.split_first() {
                Some((1, value)) => Some(value),
                Some((0, [])) => None,
                _ => return Err(malformed()),
            };
            changes.put_raw(table, key, value)?;
        }
        Ok(Message::default())
    }

    fn prepare(&self, fields: &mut Fields<'_>) -> Result<Message, StoreError> {
        let part = self.part(fields)?;
        let record: PrepareRecord = crate::unpack(fields.bytes()?)?;
        let writer = self.writer(part)?;
        let changes = lock(&self.open)
            .writers
            .get_mut(&part)
            .and_then(|open| open.changes.take());
        let changes = changes.unwrap_or_else(|| Changes::new(&writer.spill_folder(), 0));
        record.prepare(&writer, changes)?;
        Ok(Message::default())
    }
}

fn not_open() -> StoreError {
    StoreError::Protocol("the part is not open for writing")
}

fn gone() -> StoreError {
    StoreError::Protocol("the published state is gone")
}

/// Reads the number of a table.
fn table(fields: &mut Fields<'_>) -> Result<&'static str, StoreError> {
    let number = usize::try_from(fields.number()?).ok();
    let info = number.and_then(|number| ALL.get(number));
    info.map(|info| info.name).ok_or_else(malformed)
}
