//! The processes that load shares of the web: typed messages among them, and which of them has a site.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::Result;
use seedbank_algorithms::communicator::Communicator;
use seedbank_algorithms::page::SiteId;
use seedbank_algorithms::watch::Watch;
use seedbank_store::{SiteParts, Store, StoreError};

/// The processes that load shares of the web. All of them call the same methods in the same order.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Group<'a> {
    pub(in crate::engine) communicator: &'a dyn Communicator,
    pub(in crate::engine) watch: &'a dyn Watch,
}

impl Group<'_> {
    /// Returns the number of processes.
    pub(super) fn processes(self) -> usize {
        self.communicator.processes()
    }

    /// Sends a message to each process, by number, and returns what each has sent to this one.
    pub(super) fn exchange<T: Serialize + DeserializeOwned>(
        self,
        messages: &[T],
    ) -> Result<Vec<T>> {
        let messages = messages.iter().map(seedbank_store::pack);
        self.exchange_bytes(messages.collect::<Result<_, _>>()?)
    }

    /// Sends the same message to all processes, and returns what each has sent to this one.
    pub(super) fn gather<T: Serialize + DeserializeOwned>(self, message: &T) -> Result<Vec<T>> {
        self.exchange_bytes(vec![seedbank_store::pack(message)?; self.processes()])
    }

    fn exchange_bytes<T: DeserializeOwned>(self, messages: Vec<Vec<u8>>) -> Result<Vec<T>> {
        self.watch.proceed()?;
        let received = self.communicator.all_to_all(messages)?;
        if received.len() != self.processes() {
            return Err(malformed().into());
        }
        let received = received.iter();
        let decoded = received.map(|bytes| seedbank_store::unpack(bytes).map_err(|_| malformed()));
        Ok(decoded.collect::<Result<_, _>>()?)
    }
}

/// Returns the error of a message that is not as expected.
pub(super) const fn malformed() -> StoreError {
    StoreError::Protocol("a message about shares of the web cannot be decoded")
}

/// The process of each site.
#[derive(Clone, Copy)]
pub(in crate::engine) struct SiteOwners<'a> {
    parts: SiteParts,
    /// The process of each part.
    owners: &'a [usize],
}

impl<'a> SiteOwners<'a> {
    /// Returns the processes of the sites of a cluster bank, given the process of each part.
    ///
    /// # Errors
    ///
    /// If the bank is not a cluster bank, or if a part has no owner below `processes`.
    pub(in crate::engine) fn new(
        store: &Store,
        owners: &'a [usize],
        processes: usize,
    ) -> Result<Self, StoreError> {
        let (Some(parts), Some(count)) = (store.site_parts(), store.part_count()) else {
            return Err(StoreError::Protocol("the bank is not a cluster bank"));
        };
        let is_valid = owners.len() == count as usize && owners.iter().all(|of| *of < processes);
        let unknown = StoreError::Protocol("a part belongs to no process");
        is_valid.then_some(Self { parts, owners }).ok_or(unknown)
    }

    /// Returns the process that has a site.
    pub(in crate::engine) fn of_site(self, site: SiteId) -> usize {
        self.of_part(self.parts.of_site(site))
    }

    /// Returns the process that has, or would have, the site with this name.
    pub(in crate::engine) fn of_name(self, name: &str) -> usize {
        self.of_part(self.parts.of_name(name.as_bytes()))
    }

    fn of_part(self, part: usize) -> usize {
        // There is an owner for each part.
        self.owners.get(part).copied().unwrap_or(0)
    }
}

#[cfg(test)]
pub(super) mod tests {
    use std::sync::Mutex;

    use super::*;
    use seedbank_algorithms::communicator::of_threads;
    use seedbank_algorithms::watch::{Interrupted, Unwatched};

    /// Calls `run` in each of several threads, with the number of the thread. Returns the results by thread.
    pub(in crate::engine::web_graph) fn in_threads<T: Send>(
        threads: usize,
        run: impl Fn(Group<'_>, usize) -> T + Sync,
    ) -> Vec<T> {
        let run = &run;
        std::thread::scope(|scope| {
            let start = |(thread, communicator)| {
                scope.spawn(move || {
                    let communicator: std::sync::Arc<dyn Communicator> = communicator;
                    let group = Group {
                        communicator: &*communicator,
                        watch: &Unwatched,
                    };
                    run(group, thread)
                })
            };
            let threads: Vec<_> = of_threads(threads)
                .into_iter()
                .enumerate()
                .map(start)
                .collect();
            threads
                .into_iter()
                .map(|thread| thread.join().unwrap())
                .collect()
        })
    }

    /// The first of two processes. The other one sends these messages, and is gone then.
    pub(in crate::engine::web_graph) struct Scripted(
        pub(in crate::engine::web_graph) Mutex<Vec<Vec<u8>>>,
    );

    impl Communicator for Scripted {
        fn process(&self) -> usize {
            0
        }

        fn processes(&self) -> usize {
            2
        }

        fn all_to_all(&self, mut messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Interrupted> {
            messages[1] = self.0.lock().unwrap().pop().ok_or(Interrupted)?;
            Ok(messages)
        }

        fn fail(&self, _cause: &'static str) -> Interrupted {
            Interrupted
        }
    }
}
