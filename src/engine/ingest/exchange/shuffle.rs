//! Sorts whose entries go to the processes that own their keys.

use std::path::Path;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::request;
use super::stream::{Route, Stream};
use crate::engine::Result;
use crate::engine::ingest::memory::share_of;
use crate::engine::processes::{Processes, ReceiveEntries};
use seedbank_algorithms::page::SiteId;
use seedbank_store::{RemoteProcess, SiteParts, Sorted, Sorter, Store, StoreError};

/// The least and the largest size in bytes at which entries are sent.
const MIN_MESSAGE: usize = 4 << 10;
const MAX_MESSAGE: usize = 256 << 10;

/// The entries that a process has received and not read yet, by stream.
struct Inboxes(Vec<Mutex<Option<Sorter>>>);

impl Inboxes {
    /// Creates empty sorts that spill to files in `folder`. A `share` of memory has this many bytes.
    fn new(folder: &Path, share: usize) -> Self {
        let sorter = |stream: Stream| Sorter::new(folder, stream.shares() * share);
        let all = Stream::ALL.iter();
        Self(
            all.map(|stream| Mutex::new(Some(sorter(*stream))))
                .collect(),
        )
    }

    fn lock(&self, stream: Stream) -> Result<MutexGuard<'_, Option<Sorter>>, StoreError> {
        let inbox = self.0.get(stream as usize).ok_or_else(request::malformed)?;
        // A sorter is complete between two calls.
        Ok(inbox.lock().unwrap_or_else(PoisonError::into_inner))
    }

    fn push(&self, stream: Stream, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let mut inbox = self.lock(stream)?;
        inbox.as_mut().ok_or_else(closed)?.push(key, value)
    }

    fn take(&self, stream: Stream) -> Result<Sorted, StoreError> {
        let inbox = self.lock(stream)?.take();
        inbox.ok_or_else(closed)?.finish()
    }
}

impl ReceiveEntries for Inboxes {
    /// The stream comes first.
    fn receive(&self, entries: &[u8]) -> Result<(), StoreError> {
        let (stream, mut entries) = entries.split_first().ok_or_else(request::malformed)?;
        let stream = Stream::ALL.get(usize::from(*stream));
        let mut inbox = self.lock(*stream.ok_or_else(request::malformed)?)?;
        let inbox = inbox.as_mut().ok_or_else(closed)?;
        while let Some((key, value)) = request::next_entry(&mut entries)? {
            inbox.push(key, value)?;
        }
        Ok(())
    }
}

fn closed() -> StoreError {
    StoreError::Protocol("entries were sent after they were read")
}

/// The processes of a cluster bank, and where their sites are.
pub(in crate::engine) struct Exchange {
    /// The number of this process.
    process: usize,
    parts: SiteParts,
    /// The process of each part.
    owners: Vec<usize>,
    /// The other processes, by number; `None` for this one.
    others: Vec<Option<Arc<dyn RemoteProcess>>>,
    inboxes: Arc<Inboxes>,
    /// The size in bytes at which entries are sent.
    message_bytes: usize,
}

impl Exchange {
    /// Begins to receive entries; `store` has all parts, and temporary files are in `folder`. Ends with
    /// [`Processes::set_receiver`].
    pub(in crate::engine) fn begin(
        processes: &Processes,
        store: &Store,
        folder: &Path,
        memory: usize,
    ) -> Result<Arc<Self>> {
        let single = StoreError::Protocol("the bank is no cluster bank");
        let inboxes = Arc::new(Inboxes::new(folder, share_of(memory)));
        let others = processes.by_number()?.to_vec();
        let exchange = Arc::new(Self {
            process: processes.number,
            parts: store.site_parts().ok_or(single)?,
            owners: processes.owners()?.to_vec(),
            // The messages that are being filled for all processes take a share together.
            message_bytes: (share_of(memory) / others.len().max(1)).clamp(MIN_MESSAGE, MAX_MESSAGE),
            others,
            inboxes: Arc::clone(&inboxes),
        });
        processes.set_receiver(Some(inboxes));
        Ok(exchange)
    }

    /// Returns the number of this process.
    pub(in crate::engine) const fn process(&self) -> usize {
        self.process
    }

    /// Returns the number of processes.
    pub(in crate::engine) const fn processes(&self) -> usize {
        self.others.len()
    }

    /// Whether this is process 0, which decides what concerns the whole batch.
    pub(in crate::engine) const fn is_coordinator(&self) -> bool {
        self.process == 0
    }

    /// Whether this process has a site.
    pub(in crate::engine) fn has_site(&self, site: SiteId) -> bool {
        self.owners.get(self.parts.of_site(site)) == Some(&self.process)
    }

    /// Returns the process that owns a key; `None` for all but this one.
    fn owner(&self, stream: Stream, key: &[u8]) -> Result<Option<usize>, StoreError> {
        let number = || {
            let first = key.first_chunk::<4>().ok_or_else(request::malformed)?;
            Ok::<_, StoreError>(u32::from_be_bytes(*first))
        };
        let of_part = |part: usize| {
            self.owners
                .get(part)
                .copied()
                .ok_or_else(request::malformed)
        };
        Ok(Some(match stream.route() {
            Route::SiteName => {
                let end = key.iter().position(|byte| *byte == 0);
                let name = &key[..end.ok_or_else(request::malformed)?];
                of_part(self.parts.of_name(name))?
            }
            Route::Site => of_part(self.parts.of_site(SiteId(number()?)))?,
            Route::Portion => number()? as usize % self.processes(),
            Route::Coordinator => 0,
            Route::Others => return Ok(None),
        }))
    }

    /// Returns the entries of a stream that this process has received. The step in which they were sent must have
    /// ended in all processes.
    pub(in crate::engine) fn received(&self, stream: Stream) -> Result<Sorted, StoreError> {
        self.inboxes.take(stream)
    }
}

/// A sort whose entries go to the processes that own their keys; all to this one if it is the only one.
pub(in crate::engine) enum Shuffle {
    Local(Sorter),
    Sent(Sending),
}

impl Shuffle {
    /// Creates the sort of a stream.
    pub(in crate::engine) fn of_stream(exchange: &Arc<Exchange>, stream: Stream) -> Self {
        Self::Sent(Sending {
            exchange: Arc::clone(exchange),
            stream,
            outboxes: exchange.others.iter().map(|_| Vec::new()).collect(),
        })
    }

    /// Adds an entry.
    pub(in crate::engine) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        match self {
            Self::Local(sorter) => sorter.push(key, value),
            Self::Sent(sending) => sending.push(key, value),
        }
    }

    /// Sends what was added so far. Called at the end of each step.
    pub(in crate::engine) fn flush(&mut self) -> Result<(), StoreError> {
        match self {
            Self::Local(_) => Ok(()),
            Self::Sent(sending) => {
                (0..sending.outboxes.len()).try_for_each(|process| sending.flush(process))?;
                sending.outboxes.iter_mut().for_each(Vec::shrink_to_fit);
                Ok(())
            }
        }
    }

    /// Ends the sort and returns the entries of this process. The step in which they were added must have ended in
    /// all processes.
    pub(in crate::engine) fn take(&mut self) -> Result<Sorted, StoreError> {
        match self {
            Self::Local(sorter) => {
                std::mem::replace(sorter, Sorter::new(Path::new(""), 0)).finish()
            }
            Self::Sent(sending) => sending.exchange.received(sending.stream),
        }
    }
}

/// Entries on their way to other processes.
pub(in crate::engine) struct Sending {
    exchange: Arc<Exchange>,
    stream: Stream,
    /// A request for each process, empty or with entries.
    outboxes: Vec<Vec<u8>>,
}

impl Sending {
    fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        match self.exchange.owner(self.stream, key)? {
            Some(owner) if owner == self.exchange.process => {
                self.exchange.inboxes.push(self.stream, key, value)
            }
            Some(owner) => self.add(owner, key, value),
            None => {
                let own = self.exchange.process;
                let mut others = (0..self.outboxes.len()).filter(|process| *process != own);
                others.try_for_each(|process| self.add(process, key, value))
            }
        }
    }

    fn add(&mut self, process: usize, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let outbox = self.outboxes.get_mut(process);
        let outbox = outbox.ok_or_else(request::malformed)?;
        if outbox.is_empty() {
            request::start_entries(outbox, self.stream as u8);
        }
        request::put_entry(outbox, key, value)?;
        if outbox.len() >= self.exchange.message_bytes {
            self.flush(process)?;
        }
        Ok(())
    }

    /// Sends what was added for a process, and waits until the process has it. So no process receives faster than it
    /// sorts.
    fn flush(&mut self, process: usize) -> Result<(), StoreError> {
        let Some(outbox) = self.outboxes.get_mut(process).filter(|of| !of.is_empty()) else {
            return Ok(());
        };
        let other = self.exchange.others.get(process).and_then(Option::as_ref);
        other.ok_or_else(request::malformed)?.call(outbox)?;
        outbox.clear();
        Ok(())
    }
}
