//! What the processes of an ingest exchange. Each has the sites of its own parts of a cluster bank.
//!
//! ```text
//! process 0        process 1        process 2
//! pass             pass             pass            each over its own sites
//!   | \___________ / | \ __________ / |
//!   | entries by the process of their key  |          `Shuffle`: sorted there for the next pass
//! pass             pass             pass
//!   \______ counts ___|________ ______/               `gather`: the same sums in all processes
//! ```
//!
//! All processes run the same passes ([`run_passes`](super::run::run_passes)) and exchange messages through a
//! [`Communicator`]. Passes are connected by sorts whose keys begin with a site, so a [`Shuffle`] sends each entry to
//! the process that has the site of its key. It does so when the entries are taken: a process that takes them waits for
//! all others. What concerns the whole batch, such as its loss of pages, process 0 decides ([`Exchange::decide`]).
//!
//! In a bank in one database, threads of one process do the same as processes of a cluster bank do: *process* means a thread
//! then. A process or thread without others exchanges nothing: all entries and decisions are its own.
//!
//! Ids follow the order of URLs within a site, and entries are sorted before they are used. So results depend neither
//! on the number of processes nor on the order in which entries arrive.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use roaring::RoaringTreemap;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::Result;
use crate::engine::site_owners::SiteOwners;
use seedbank_algorithms::communicator::{Communicator, alone, of_threads};
use seedbank_algorithms::page::SiteId;
use seedbank_store::{Entry, SiteParts, Sorted, Sorter, Store, StoreError};

/// The least and the largest size in bytes of a message with entries.
const MIN_MESSAGE: usize = 4 << 10;
const MAX_MESSAGE: usize = 256 << 10;

/// Which process owns a key.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Route {
    /// The key begins with the name of a site and a NUL byte: the process that has the site.
    SiteName,
    /// The key begins with the id of a site: the process that has the site.
    Site,
    /// The key begins with the number of a portion of the input: the process that read it.
    Portion,
    /// Process 0.
    Coordinator,
}

/// A kind of entries.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Stream {
    /// Rejected records, by source and position.
    Rejects,
    /// Distinct URLs of portions.
    Urls,
    /// Whole records by URL, to find those that supersede others.
    Sources,
    /// Attributes of sites by name.
    Sites,
    /// The ids of the URLs of portions.
    Numbers,
    /// Records by page.
    Records,
    /// Pages whose content fetches of other pages found.
    SameContent,
    /// Stale records.
    Stale,
    /// Changes of pages as targets.
    Targets,
    /// Changes of the targets of rows, by block of rows.
    Citers,
    /// Sets of pages, by site.
    PageSet,
    /// Changes of entries that are not stored by site, or in another process.
    Changes,
}

impl Stream {
    const fn route(self) -> Route {
        match self {
            Self::Urls | Self::Sources | Self::Sites => Route::SiteName,
            Self::Records | Self::SameContent | Self::Targets | Self::Citers => Route::Site,
            Self::Numbers => Route::Portion,
            Self::Rejects | Self::Stale | Self::PageSet | Self::Changes => Route::Coordinator,
        }
    }

    /// Returns the number of shares of the memory budget for sorting.
    const fn shares(self) -> usize {
        match self {
            Self::Urls | Self::Sources | Self::Numbers | Self::Records | Self::Targets => LARGE,
            _ => SMALL,
        }
    }
}

/// The processes or threads of an ingest, and the sites that each has.
///
/// All of them call the methods that exchange something in the same order. These fail if the ingest has failed in any
/// process.
pub(in crate::engine) struct Exchange {
    communicator: Arc<dyn Communicator>,
    /// The process of each part of the bank; `None` if there is one process.
    owners: Option<(SiteParts, Vec<usize>)>,
    /// Whether the processes are threads of this one, which share its memory and what it reads.
    are_threads: bool,
    /// The size in bytes from which a message takes no further entries.
    message_bytes: usize,
}

impl Exchange {
    /// Creates the exchange of a process without others.
    pub(super) fn alone() -> Arc<Self> {
        Arc::new(Self {
            communicator: alone(),
            owners: None,
            are_threads: false,
            message_bytes: MIN_MESSAGE,
        })
    }

    /// Creates the exchanges among threads of this process, one for each, of which there are at least two and at most
    /// [`SiteParts::RANGES`].
    pub(super) fn of_threads(threads: usize) -> Vec<Arc<Self>> {
        let parts = SiteParts::in_ranges();
        let ranges = SiteParts::RANGES as usize;
        let owners: Vec<usize> = (0..ranges).map(|range| range * threads / ranges).collect();
        let exchange = |communicator| {
            Arc::new(Self {
                communicator,
                owners: Some((parts, owners.clone())),
                are_threads: true,
                message_bytes: MAX_MESSAGE,
            })
        };
        of_threads(threads).into_iter().map(exchange).collect()
    }

    /// Creates the exchange among the processes of a cluster bank, given the process of each part. Each process has
    /// `memory` bytes.
    pub(super) fn new(
        communicator: Arc<dyn Communicator>,
        store: &Store,
        owners: &[usize],
        memory: usize,
    ) -> Result<Arc<Self>> {
        let processes = communicator.processes();
        SiteOwners::new(store, owners, processes)?;
        let parts = store.site_parts().filter(|_| processes > 1);
        Ok(Arc::new(Self {
            communicator,
            owners: parts.map(|parts| (parts, owners.to_vec())),
            are_threads: false,
            // The messages to all processes take a share together.
            message_bytes: (share_of(memory) / processes).clamp(MIN_MESSAGE, MAX_MESSAGE),
        }))
    }

    /// Returns the number of this process.
    pub(super) fn process(&self) -> usize {
        self.communicator.process()
    }

    /// Returns the number of processes.
    pub(super) fn processes(&self) -> usize {
        self.communicator.processes()
    }

    /// Whether there is no other process.
    pub(super) const fn is_alone(&self) -> bool {
        self.owners.is_none()
    }

    /// Whether the processes are threads of this one.
    pub(super) const fn are_threads(&self) -> bool {
        self.are_threads
    }

    /// Whether other processes can read inputs.
    pub(super) const fn has_readers(&self) -> bool {
        !self.is_alone() && !self.are_threads
    }

    /// Returns the memory of this process, given that of an ingest in it.
    pub(super) fn memory_of(&self, memory: usize) -> usize {
        if self.are_threads {
            memory / self.processes()
        } else {
            memory
        }
    }

    /// Whether this is process 0, which decides what concerns the whole batch.
    pub(super) fn is_coordinator(&self) -> bool {
        self.process() == 0
    }

    /// Returns the process that has a site.
    pub(super) fn owner_of_site(&self, site: SiteId) -> usize {
        let owners = self.owners.as_ref();
        let owner = owners.and_then(|(parts, owners)| owners.get(parts.of_site(site)));
        owner.copied().unwrap_or(0)
    }

    /// Returns the process that owns a key.
    fn owner(&self, stream: Stream, key: &[u8]) -> Result<usize, StoreError> {
        let number = || {
            let first = key.first_chunk::<4>().ok_or_else(malformed)?;
            Ok::<_, StoreError>(u32::from_be_bytes(*first))
        };
        Ok(match (stream.route(), &self.owners) {
            (Route::SiteName, Some((parts, owners))) => {
                let end = key.iter().position(|byte| *byte == 0);
                let name = &key[..end.ok_or_else(malformed)?];
                let owner = owners.get(parts.of_name(name));
                *owner.ok_or_else(malformed)?
            }
            (Route::Site, _) => self.owner_of_site(SiteId(number()?)),
            (Route::Portion, _) => number()? as usize % self.processes(),
            (Route::Coordinator | Route::SiteName, _) => 0,
        })
    }

    /// Sends messages, and returns what each process has sent to this one.
    fn all_to_all(&self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>> {
        Ok(self.communicator.all_to_all(messages)?)
    }

    /// Returns the values of all processes, by number.
    pub(super) fn gather<T: Serialize + DeserializeOwned>(&self, own: T) -> Result<Vec<T>> {
        if self.is_alone() {
            return Ok(vec![own]);
        }
        let message = seedbank_store::pack(&own)?;
        let received = self.all_to_all(vec![message; self.processes()])?;
        received.iter().map(|message| decoded(message)).collect()
    }

    /// Returns the entries of the maps of all processes, which have different keys.
    pub(super) fn gather_maps<K, V>(&self, own: BTreeMap<K, V>) -> Result<BTreeMap<K, V>>
    where
        K: Ord + Serialize + DeserializeOwned,
        V: Serialize + DeserializeOwned,
    {
        if self.is_alone() {
            return Ok(own);
        }
        Ok(self.gather(own)?.into_iter().flatten().collect())
    }

    /// Returns the values of all processes to process 0. Others get nothing.
    pub(super) fn collect<T: Serialize + DeserializeOwned>(&self, own: T) -> Result<Vec<T>> {
        if self.is_alone() {
            return Ok(vec![own]);
        }
        let mut messages = vec![Vec::new(); self.processes()];
        if let Some(first) = messages.first_mut() {
            *first = seedbank_store::pack(&own)?;
        }
        let received = self.all_to_all(messages)?;
        let received = received.iter().filter(|message| !message.is_empty());
        received.map(|message| decoded(message)).collect()
    }

    /// Returns what process 0 decides, in all processes. The others do not call `decide`. If it fails, the ingest ends
    /// in all of them.
    pub(super) fn decide<T: Serialize + DeserializeOwned>(
        &self,
        decide: impl FnOnce() -> Result<T>,
    ) -> Result<T> {
        if self.is_alone() {
            return decide();
        }
        let message = if self.is_coordinator() {
            seedbank_store::pack(&decide()?)?
        } else {
            Vec::new()
        };
        let received = self.all_to_all(vec![message; self.processes()])?;
        decoded(received.first().ok_or_else(malformed)?)
    }

    /// Sends a set of numbers to each process, given by [`by_owner`](Self::by_owner). Returns the union of those that
    /// this one gets.
    pub(super) fn send_sets(&self, sets: Vec<RoaringTreemap>) -> Result<RoaringTreemap> {
        if self.is_alone() {
            return Ok(sets.into_iter().next().unwrap_or_default());
        }
        union(self.all_to_all(sets.iter().map(encoded_set).collect::<Result<_>>()?)?)
    }

    /// Returns the union of the sets of all processes, in all of them.
    pub(super) fn gather_sets(&self, own: RoaringTreemap) -> Result<RoaringTreemap> {
        if self.is_alone() {
            return Ok(own);
        }
        union(self.all_to_all(vec![encoded_set(&own)?; self.processes()])?)
    }

    /// Divides a set of numbers by the processes to which `owner` leads.
    pub(super) fn by_owner(
        &self,
        set: RoaringTreemap,
        owner: impl Fn(u64) -> usize,
    ) -> Vec<RoaringTreemap> {
        if self.is_alone() {
            return vec![set];
        }
        let mut sets = vec![RoaringTreemap::new(); self.processes()];
        for number in set {
            if let Some(set) = sets.get_mut(owner(number)) {
                set.insert(number);
            }
        }
        sets
    }

    /// Sends entries to the processes that own their keys, some at a time. Adds what this process gets to `own`, and
    /// sorts it.
    fn shuffle(&self, stream: Stream, mut away: Sorted, mut own: Sorter) -> Result<Sorted> {
        let mut has_more = true;
        loop {
            // The first byte says whether more entries follow.
            let mut messages = vec![vec![0]; self.processes()];
            let mut is_full = false;
            while has_more && !is_full {
                let Some((key, value)) = away.next_entry()? else {
                    has_more = false;
                    break;
                };
                let message = messages.get_mut(self.owner(stream, key)?);
                let message = message.ok_or_else(malformed)?;
                put_entry(message, key, value)?;
                is_full = message.len() >= self.message_bytes;
            }
            for message in &mut messages {
                message[0] = has_more.into();
            }
            let mut is_last = true;
            for message in self.all_to_all(messages)? {
                let (more, mut entries) = message.split_first().ok_or_else(malformed)?;
                is_last &= *more == 0;
                while let Some((key, value)) = next_entry(&mut entries)? {
                    own.push(key, value)?;
                }
            }
            if is_last {
                return Ok(own.finish()?);
            }
        }
    }
}

/// A sort whose entries go to the processes that own their keys.
pub(super) struct Shuffle {
    exchange: Arc<Exchange>,
    stream: Stream,
    own: Sorter,
    /// Entries for other processes; `None` if there are no other processes.
    away: Option<Sorter>,
}

impl Shuffle {
    /// Creates the sort of a stream, which spills to files in `folder`. A `share` of memory has this many bytes.
    pub(super) fn new(
        exchange: &Arc<Exchange>,
        stream: Stream,
        folder: &Path,
        share: usize,
    ) -> Self {
        let away = || Sorter::new(folder, SMALL * share);
        Self {
            exchange: Arc::clone(exchange),
            stream,
            own: Sorter::new(folder, stream.shares() * share),
            away: (!exchange.is_alone()).then(away),
        }
    }

    /// Adds an entry.
    pub(super) fn push(&mut self, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
        let exchange = &*self.exchange;
        match &mut self.away {
            Some(away) if exchange.owner(self.stream, key)? != exchange.process() => {
                away.push(key, value)
            }
            _ => self.own.push(key, value),
        }
    }

    /// Ends the sort and returns the entries of this process, from all processes.
    pub(super) fn take(&mut self) -> Result<Sorted> {
        // Nothing is added from now on.
        let own = std::mem::replace(&mut self.own, Sorter::new(Path::new(""), 0));
        match self.away.take() {
            Some(away) => self.exchange.shuffle(self.stream, away.finish()?, own),
            None => Ok(own.finish()?),
        }
    }
}

/// Returns the error of a message that cannot be decoded.
fn malformed() -> StoreError {
    StoreError::Protocol("a message of an ingest cannot be decoded")
}

fn decoded<T: DeserializeOwned>(message: &[u8]) -> Result<T> {
    Ok(seedbank_store::unpack(message).map_err(|_| malformed())?)
}

fn encoded_set(set: &RoaringTreemap) -> Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(set.serialized_size());
    // Writing to memory does not fail.
    set.serialize_into(&mut bytes).map_err(|_| malformed())?;
    Ok(bytes)
}

fn union(sets: Vec<Vec<u8>>) -> Result<RoaringTreemap> {
    let mut all = RoaringTreemap::new();
    for set in sets {
        all |= RoaringTreemap::deserialize_from(&*set).map_err(|_| malformed())?;
    }
    Ok(all)
}

/// Appends an entry to a message: the lengths of key and value, and both.
fn put_entry(message: &mut Vec<u8>, key: &[u8], value: &[u8]) -> Result<(), StoreError> {
    for field in [key, value] {
        let length = u32::try_from(field.len());
        let length = length.map_err(|_| StoreError::Full("byte of a record"))?;
        message.extend_from_slice(&length.to_le_bytes());
    }
    message.extend_from_slice(key);
    message.extend_from_slice(value);
    Ok(())
}

/// Takes the next entry off a message; `None` at its end.
fn next_entry<'a>(entries: &mut &'a [u8]) -> Result<Option<Entry<'a>>, StoreError> {
    if entries.is_empty() {
        return Ok(None);
    }
    let mut length = || {
        let (length, rest) = entries.split_first_chunk::<4>().ok_or_else(malformed)?;
        *entries = rest;
        Ok::<_, StoreError>(u32::from_le_bytes(*length) as usize)
    };
    let (of_key, of_value) = (length()?, length()?);
    let (key, rest) = entries.split_at_checked(of_key).ok_or_else(malformed)?;
    let (value, rest) = rest.split_at_checked(of_value).ok_or_else(malformed)?;
    *entries = rest;
    Ok(Some((key, value)))
}

// The memory budget of a batch, in shares.

/// Number of shares of the memory budget. Two thirds of them can be in use at the same time; the
/// rest covers allocator overhead and read-ahead.
const SHARES: usize = 48;

/// Number of shares of a sorter: for one that sorts every link, for one that sorts every row, and
/// for most others.
pub(super) const LARGE: usize = 5;
pub(super) const MEDIUM: usize = 2;
pub(super) const SMALL: usize = 1;

/// Number of shares of a portion of the input, while nothing else is in memory.
pub(super) const GATHER_SHARES: usize = 14;

/// Returns the size of a share of a memory budget, in bytes.
pub(super) const fn share_of(memory: usize) -> usize {
    memory / SHARES
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::engine::Bank;
    use crate::engine::scratch::scratch;
    use proptest::prelude::*;
    use seedbank_algorithms::communicator::of_threads;
    use seedbank_formats::ingest::Naming;

    proptest! {
        #[test]
        fn entries_are_read_back(entries in prop::collection::vec((prop::collection::vec(any::<u8>(), 0..40), prop::collection::vec(any::<u8>(), 0..40)), 0..20)) {
            let mut bytes = Vec::new();
            for (key, value) in &entries {
                put_entry(&mut bytes, key, value).unwrap();
            }
            let mut left = bytes.as_slice();
            for (key, value) in &entries {
                let read = next_entry(&mut left).unwrap().unwrap();
                prop_assert_eq!(read, (key.as_slice(), value.as_slice()));
            }
            prop_assert_eq!(next_entry(&mut left).unwrap(), None);
        }

        #[test]
        fn any_bytes_are_entries_or_an_error(bytes in prop::collection::vec(any::<u8>(), 0..60)) {
            let mut left = bytes.as_slice();
            while let Ok(Some((key, value))) = next_entry(&mut left) {
                prop_assert!(key.len() + value.len() <= bytes.len());
            }
        }
    }

    /// Calls `run` in each of several processes that have the parts of a bank in turn. Returns the results by process.
    fn in_processes<T: Send>(processes: usize, run: impl Fn(&Arc<Exchange>) -> T + Sync) -> Vec<T> {
        const PARTS: u32 = 6;
        let folder = scratch();
        let path = folder.path().join("bank");
        let bank = Bank::create_cluster(path, Naming::default(), PARTS).unwrap();
        let store = bank.reader().unwrap();
        let owners: Vec<usize> = (0..PARTS as usize).map(|part| part % processes).collect();
        let (store, owners, run) = (&*store, &owners, &run);
        std::thread::scope(|scope| {
            let start = |communicator: Arc<dyn Communicator>| {
                scope.spawn(move || run(&Exchange::new(communicator, store, owners, 1).unwrap()))
            };
            let threads: Vec<_> = of_threads(processes).into_iter().map(start).collect();
            let ended = threads.into_iter().map(|thread| thread.join().unwrap());
            ended.collect()
        })
    }

    #[test]
    fn entries_reach_the_processes_of_their_keys_in_order() {
        let folder = tempfile::tempdir().unwrap();
        for stream in [Stream::Records, Stream::Numbers, Stream::Changes] {
            for processes in [1, 2, 3] {
                let received = in_processes(processes, |exchange| {
                    let mut sent = Shuffle::new(exchange, stream, folder.path(), 1 << 10);
                    // Several messages to each process.
                    for number in (0_u32..500).rev() {
                        let from = u32::try_from(exchange.process()).unwrap();
                        let number = number * 8_000_000;
                        let key = [number.to_be_bytes(), from.to_be_bytes()].concat();
                        sent.push(&key, &[key[1]; 300]).unwrap();
                    }
                    let mut sorted = sent.take().unwrap();
                    let mut keys = Vec::new();
                    while let Some((key, value)) = sorted.next_entry().unwrap() {
                        assert_eq!(value, [key[1]; 300]);
                        assert_eq!(exchange.owner(stream, key).unwrap(), exchange.process());
                        keys.push(key.to_vec());
                    }
                    assert!(keys.is_sorted());
                    keys
                });
                let mut all = received.concat();
                all.sort();
                all.dedup();
                assert_eq!(all.len(), 500 * processes);
            }
        }
    }

    #[test]
    fn values_sets_and_decisions_are_the_same_in_all_processes() {
        for processes in [1, 2, 3] {
            let numbers: Vec<u64> = (0..processes as u64).collect();
            in_processes(processes, |exchange| {
                let own = exchange.process() as u64;
                assert_eq!(exchange.gather(own).unwrap(), numbers);
                let collected = exchange.collect(own).unwrap();
                assert_eq!(collected.is_empty(), own > 0);
                assert!(own > 0 || collected == numbers);
                assert_eq!(exchange.decide(|| Ok(own + 7)).unwrap(), 7);
                let set = RoaringTreemap::from_iter([own]);
                let all = exchange.gather_sets(set).unwrap();
                assert!(all.iter().eq(numbers.iter().copied()));
                let to = |number: u64| usize::try_from(number).unwrap() % processes;
                let sets = exchange.by_owner((0..20).collect(), to);
                let found = exchange.send_sets(sets).unwrap();
                assert!(
                    found
                        .iter()
                        .eq((0..20).filter(|number| to(*number) as u64 == own))
                );
            });
        }
    }
}
