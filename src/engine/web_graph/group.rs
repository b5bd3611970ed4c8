//! The processes that load shares of the web: typed messages among them.

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::engine::Result;
use seedbank_algorithms::communicator::Communicator;
use seedbank_algorithms::watch::Watch;
use seedbank_store::StoreError;

/// The processes that load shares of the web. All of them call the same methods in the same order.
#[derive(Clone, Copy)]
pub(in crate::engine) struct Group<'a> {
    pub(in crate::engine) communicator: &'a dyn Communicator,
    pub(in crate::engine) watch: &'a dyn Watch,
}

impl Group<'_> {
    /// Returns the number of processes.
    pub(in crate::engine) fn processes(self) -> usize {
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

    /// Sends encoded messages, and returns what each process has sent to this one.
    pub(super) fn exchange_bytes<T: DeserializeOwned>(
        self,
        messages: Vec<Vec<u8>>,
    ) -> Result<Vec<T>> {
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
pub(in crate::engine) const fn malformed() -> StoreError {
    StoreError::Protocol("a message about shares of the web cannot be decoded")
}

#[cfg(test)]
pub(in crate::engine) mod tests {
    use std::sync::Mutex;

    use super::*;
    use seedbank_algorithms::communicator::of_threads;
    use seedbank_algorithms::watch::{Interrupted, Unwatched};

    /// Calls `run` in each of several threads, with the number of the thread. Returns the results by thread.
    pub(in crate::engine) fn in_threads<T: Send>(
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
