//! Sends lists of items among processes, a portion at a time, so that no message is large.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::group::{Group, malformed};
use crate::engine::Result;

/// The bytes that a process sends in a round; few in unit tests, so that lists need several rounds.
const PORTION: usize = if cfg!(test) { 32 } else { 256 << 10 };

/// Some items that a process sends to another.
#[derive(Serialize, Deserialize)]
struct Portion<T> {
    items: Vec<T>,
    /// Whether the sender has more items for any process.
    has_more: bool,
}

impl Group<'_> {
    /// Sends items to processes, and calls `receive` with what other processes and this one have sent to this one, and with
    /// their numbers. Items of a process are received in the order in which it sends them. `bytes` returns about how many
    /// bytes an item takes. All processes call it at the same time.
    ///
    /// Memory: the items of a portion of each process.
    pub(in crate::engine) fn send<T: Serialize + DeserializeOwned>(
        self,
        items: impl Iterator<Item = (usize, T)>,
        bytes: impl Fn(&T) -> usize,
        mut receive: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        let mut items = items.peekable();
        loop {
            let mut of_processes: Vec<Vec<T>> = Vec::new();
            of_processes.resize_with(self.processes(), Vec::new);
            let mut used = 0;
            while let Some((to, item)) = items.next_if(|_| used < PORTION) {
                used += bytes(&item);
                let of_process = of_processes.get_mut(to).ok_or_else(malformed)?;
                of_process.push(item);
            }
            let has_more = items.peek().is_some();
            let portions = of_processes.into_iter();
            let portions = portions.map(|items| Portion { items, has_more });
            let received = self.exchange(&portions.collect::<Vec<_>>())?;
            let is_last = !received.iter().any(|portion| portion.has_more);
            for (from, portion) in received.into_iter().enumerate() {
                for item in portion.items {
                    receive(from, item)?;
                }
            }
            if is_last {
                return Ok(());
            }
        }
    }

    /// Sends items to all processes; otherwise as [`send`](Self::send).
    pub(in crate::engine) fn send_to_all<T: Serialize + DeserializeOwned + Clone>(
        self,
        items: impl Iterator<Item = T>,
        bytes: impl Fn(&T) -> usize,
        receive: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        let processes = self.processes();
        let items = items.flat_map(|item| (0..processes).map(move |to| (to, item.clone())));
        self.send(items, bytes, receive)
    }

    /// Sends the items of process 0 to all processes. Those of other processes are ignored.
    pub(in crate::engine) fn send_from_first<T: Serialize + DeserializeOwned + Clone>(
        self,
        items: impl Iterator<Item = T>,
        bytes: impl Fn(&T) -> usize,
        mut receive: impl FnMut(T) -> Result<()>,
    ) -> Result<()> {
        let items = items.take_while(|_| self.is_first());
        self.send_to_all(items, bytes, |from, item| {
            if from > 0 {
                return Err(malformed().into());
            }
            receive(item)
        })
    }

    /// Sends items to process 0; otherwise as [`send`](Self::send).
    pub(in crate::engine) fn send_to_first<T: Serialize + DeserializeOwned>(
        self,
        items: impl Iterator<Item = T>,
        bytes: impl Fn(&T) -> usize,
        receive: impl FnMut(usize, T) -> Result<()>,
    ) -> Result<()> {
        self.send(items.map(|item| (0, item)), bytes, receive)
    }

    /// Returns in all processes what process 0 has.
    pub(in crate::engine) fn of_first<T: Serialize + DeserializeOwned>(
        self,
        own: Option<&T>,
    ) -> Result<T> {
        let messages = vec![seedbank_store::pack(&own)?; self.processes()];
        let received: Vec<Option<T>> = self.exchange_bytes(messages)?;
        let of_first = received.into_iter().next().flatten();
        Ok(of_first.ok_or_else(malformed)?)
    }

    /// Returns the sum of the numbers of all processes.
    pub(in crate::engine) fn sum(self, own: u64) -> Result<u64> {
        let all = self.gather(&own)?.into_iter();
        Ok(all.fold(0, u64::saturating_add))
    }

    /// Whether this is process 0.
    pub(in crate::engine) fn is_first(self) -> bool {
        self.communicator.process() == 0
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::super::group::tests::{Scripted, in_threads};
    use super::*;
    use seedbank_algorithms::watch::Unwatched;

    #[test]
    fn items_arrive_in_order_whatever_the_portions() {
        for processes in 1..=3 {
            let found = in_threads(processes, |group, process| {
                // The last process has the longest list, and the first one none.
                let own = (0..process * 40).map(|item| (item % processes, (process, item)));
                let mut received = Vec::new();
                let receive = |from, item: (usize, usize)| {
                    assert_eq!(from, item.0);
                    received.push(item);
                    Ok(())
                };
                group.send(own, |_| 3, receive).unwrap();
                received
            });
            for (to, mut received) in found.into_iter().enumerate() {
                // Items of different processes may be mixed.
                received.sort_by_key(|item| item.0);
                let expected = (0..processes).flat_map(|from| {
                    let of_process = (0..from * 40).filter(|item| item % processes == to);
                    of_process.map(move |item| (from, item))
                });
                assert_eq!(received, expected.collect::<Vec<_>>());
            }
        }
    }

    #[test]
    fn all_processes_receive_what_the_first_has() {
        let found = in_threads(3, |group, process| {
            let mut received = Vec::new();
            let own = (0..50).map(|item| item * (process + 1));
            let receive = |item: usize| {
                received.push(item);
                Ok(())
            };
            group.send_from_first(own, |_| 1, receive).unwrap();
            let of_first = group.of_first((process == 0).then_some(&7)).unwrap();
            (received, of_first, group.sum(process as u64).unwrap())
        });
        for of_process in found {
            assert_eq!(of_process, ((0..50).collect(), 7, 3));
        }
    }

    proptest! {
        #[test]
        fn any_messages_are_items_or_refused(
            messages in prop::collection::vec(prop::collection::vec(any::<u8>(), 0..9), 0..6),
        ) {
            let communicator = Scripted(Mutex::new(messages));
            let group = Group { communicator: &communicator, watch: &Unwatched };
            let mut own = Vec::new();
            let received = group.send([(0, 5_u32), (1, 6)].into_iter(), |_| 4, |from, item| {
                own.extend((from == 0).then_some(item));
                Ok(())
            });
            if received.is_ok() {
                prop_assert_eq!(own, [5]);
            }
        }
    }
}
