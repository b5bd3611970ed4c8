//! Writers of the parts of a cluster bank, in this process and in others.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::part_files::{PartStatus, discard_prepared, ensure_part, part_folder, read_prepared};
use crate::disk::folder::BankKind;
use crate::disk::lock::Lock;
use crate::error::StoreError;
use crate::publish::other_part::{OtherPart, PrepareRecord};
use crate::publish::published::Pointer;
use crate::publish::writer::{Opening, Writer, writer_lock};
use crate::rocks::compact_small_files::compact_small_files;
use crate::rocks::options::AutoCompaction;
use crate::tables::changes::Changes;
use crate::tables::parts::message::{Fields, Message, Operation};
use crate::tables::parts::part_database::PartDatabase;
use crate::tables::parts::remote_database::{RemoteDatabase, RemoteProcess, table_number};
use crate::tables::records::lineage::StateId;
use crate::tables::shards::Parts;
use seedbank_algorithms::watch::Watch;

/// The size in bytes at which added changes are sent.
const MESSAGE_BYTES: usize = 1 << 20;

/// Opens a part of this process for writing, and finishes what it prepared for the `decided` epoch. The caller holds
/// the lock of its writer, which comes with the format of the part.
pub(super) fn open_part(
    bank: &Path,
    part: u32,
    parts: Parts,
    (lock, format): (Lock, u32),
    decided: Option<u64>,
    watch: &dyn Watch,
) -> Result<Writer, StoreError> {
    let folder = part_folder(bank, part);
    let prepared = match decided {
        Some(epoch) if Pointer::read(&folder)?.epoch < epoch => {
            Some(read_prepared(&folder, epoch)?)
        }
        _ => None,
    };
    let opening = Opening {
        format,
        compaction: AutoCompaction::Enabled,
        kind: match part {
            0 => BankKind::Cluster(parts.count()),
            _ => BankKind::Part(part, parts.count()),
        },
        prepared,
    };
    Writer::open_locked(&folder, lock, opening, watch)
}

/// A part that is locked for writing.
pub(super) enum LockedPart {
    Local {
        bank: PathBuf,
        part: u32,
        lock: (Lock, u32),
    },
    Remote(RemotePart),
}

impl LockedPart {
    /// Takes the lock of a part.
    pub(super) fn take(
        bank: &Path,
        part: u32,
        parts: Parts,
        process: Option<&Arc<dyn RemoteProcess>>,
        wait: bool,
        watch: &dyn Watch,
    ) -> Result<(Self, PartStatus), StoreError> {
        if let Some(process) = process {
            let locked = RemotePart {
                process: Arc::clone(process),
                part,
            };
            let request = locked.request(Operation::Lock).number(wait.into());
            let status = crate::unpack(&locked.process.call(&request.into_bytes())?)?;
            return Ok((Self::Remote(locked), status));
        }
        let format = ensure_part(bank, part, parts)?;
        let folder = part_folder(bank, part);
        let lock = (writer_lock(&folder, wait, watch)?, format);
        let status = PartStatus::read(&folder)?;
        let bank = bank.to_path_buf();
        Ok((Self::Local { bank, part, lock }, status))
    }

    /// Removes what is prepared.
    pub(super) fn discard(&self) -> Result<(), StoreError> {
        match self {
            Self::Local { bank, part, .. } => discard_prepared(&part_folder(bank, *part)),
            Self::Remote(part) => part.call(Operation::Discard).map(drop),
        }
    }

    /// Opens the part, and finishes what it prepared for the `decided` epoch.
    pub(super) fn open(
        self,
        parts: Parts,
        decided: Option<u64>,
        watch: &dyn Watch,
    ) -> Result<PartWriter, StoreError> {
        match self {
            Self::Local { bank, part, lock } => {
                let writer = open_part(&bank, part, parts, lock, decided, watch)?;
                Ok(PartWriter::Local(Box::new(writer)))
            }
            Self::Remote(part) => {
                let request = part.request(Operation::OpenWriter);
                let request = request.number(decided.unwrap_or(0)).into_bytes();
                let answer = part.process.call(&request)?;
                let mut fields = Fields(&answer);
                let process = Arc::clone(&part.process);
                let database = Arc::new(RemoteDatabase::new(process, fields.number()?));
                let state = crate::unpack(fields.bytes()?)?;
                Ok(PartWriter::Remote {
                    database,
                    state,
                    part,
                })
            }
        }
    }
}

/// A part that another process has locked. Dropping it releases the lock.
pub(crate) struct RemotePart {
    process: Arc<dyn RemoteProcess>,
    part: u32,
}

impl RemotePart {
    /// Starts a request about the part.
    fn request(&self, operation: Operation) -> Message {
        Message::request(operation).number(self.part.into())
    }

    /// Sends a request that has only the part, and returns the answer.
    fn call(&self, operation: Operation) -> Result<Vec<u8>, StoreError> {
        self.process.call(&self.request(operation).into_bytes())
    }

    /// Sends the changes.
    fn send(&self, changes: Changes) -> Result<(), StoreError> {
        let mut changes = changes.finish()?;
        let mut message = self.request(Operation::Change);
        let empty = message.len();
        let mut bytes = Vec::new();
        while let Some((table, key, value)) = changes.next_change()? {
            message.push(&table_number(table)?.to_le_bytes());
            message.push(key);
            bytes.clear();
            bytes.push(u8::from(value.is_some()));
            bytes.extend_from_slice(value.unwrap_or_default());
            message.push(&bytes);
            if message.len() >= MESSAGE_BYTES {
                let full = std::mem::replace(&mut message, self.request(Operation::Change));
                self.process.call(&full.into_bytes())?;
            }
        }
        if message.len() > empty {
            self.process.call(&message.into_bytes())?;
        }
        Ok(())
    }
}

impl Drop for RemotePart {
    fn drop(&mut self) {
        // If the process is gone, so is its lock.
        let _ = self.call(Operation::Unlock);
    }
}

/// The writer of a part after the first.
pub(crate) enum PartWriter {
    Local(Box<Writer>),
    Remote {
        /// Closed before the lock is released.
        database: Arc<RemoteDatabase>,
        state: StateId,
        part: RemotePart,
    },
}

impl OtherPart for PartWriter {
    fn state_id(&self) -> Result<StateId, StoreError> {
        match self {
            Self::Local(writer) => writer.state_id(),
            Self::Remote { state, .. } => Ok(*state),
        }
    }

    fn database(&self) -> PartDatabase {
        match self {
            Self::Local(writer) => PartDatabase::Local(Arc::clone(&writer.store.rocks)),
            Self::Remote { database, .. } => PartDatabase::Remote(Arc::clone(database)),
        }
    }

    fn spill_folder(&self) -> Option<PathBuf> {
        match self {
            Self::Local(writer) => Some(writer.spill_folder()),
            Self::Remote { .. } => None,
        }
    }

    fn limit_memory(&self, memory: usize) {
        match self {
            Self::Local(writer) => writer.limit_memory(memory),
            Self::Remote { part, .. } => {
                let request = part.request(Operation::LimitMemory);
                let _ = part
                    .process
                    .call(&request.number(memory as u64).into_bytes());
            }
        }
    }

    fn compact_small_files(&self) -> Result<(), StoreError> {
        match self {
            Self::Local(writer) => compact_small_files(&writer.store.rocks),
            Self::Remote { part, .. } => part.call(Operation::Compact).map(drop),
        }
    }

    fn prepare(&self, changes: Changes, record: PrepareRecord) -> Result<(), StoreError> {
        match self {
            Self::Local(writer) => record.prepare(writer, changes),
            Self::Remote { part, .. } => {
                part.send(changes)?;
                let request = part.request(Operation::Prepare);
                let request = request.bytes(&crate::pack(&record)?).into_bytes();
                part.process.call(&request).map(drop)
            }
        }
    }

    fn discard(&self) -> Result<(), StoreError> {
        match self {
            Self::Local(writer) => discard_prepared(&writer.bank),
            Self::Remote { part, .. } => part.call(Operation::Discard).map(drop),
        }
    }

    fn finish(&self, epoch: u64) -> Result<(), StoreError> {
        match self {
            Self::Local(writer) => writer.finish_prepared(epoch),
            Self::Remote { database, part, .. } => {
                database.forget_read_ahead();
                let request = part.request(Operation::Finish).number(epoch);
                part.process.call(&request.into_bytes()).map(drop)
            }
        }
    }
}
