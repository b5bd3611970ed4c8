//! Numbers the pages of all processes in URL order, by merging their hosts.
//!
//! URLs of a host have a common prefix that no other URL has, so the order of the prefixes is that of the URLs. Every
//! process sends its prefixes to all, in order and a portion at a time. All processes merge them and assign the same
//! numbers. Each holds at most one portion of every process.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, VecDeque};

use serde::{Deserialize, Serialize};

use super::Numbering;
use super::group::{Group, malformed};
use crate::engine::Result;
use seedbank_algorithms::graph::{NONE, number};
use seedbank_store::{GraphImage, StoreError};

/// The bytes of hosts of a process that are sent and not yet merged.
const PORTION: usize = 256 << 10;

/// The bytes that a host takes besides its prefix.
const OF_HOST: usize = 8;

/// A host of a process.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Serialize, Deserialize)]
struct Host {
    prefix: String,
    /// The number of its pages.
    pages: u32,
}

impl Host {
    fn bytes(&self) -> usize {
        self.prefix.len() + OF_HOST
    }
}

/// Some hosts of a process, in order.
#[derive(Serialize, Deserialize)]
struct Portion {
    hosts: Vec<Host>,
    has_more: bool,
}

/// The hosts of a process that are not merged yet.
#[derive(Default)]
struct Pending {
    hosts: VecDeque<Host>,
    /// The bytes of `hosts`, and of the host in the heap.
    bytes: usize,
    /// Whether the process has more.
    has_more: bool,
    /// Whether the heap of the merge contains a host of the process.
    is_next: bool,
    /// The last prefix that was received.
    last: String,
}

/// Returns the number of each page among the pages of all processes, ascending, as both follow the URLs. All processes
/// call it at the same time.
///
/// Fails if there are too many pages in all.
///
/// Cost: every process gets and merges the hosts of all. Memory: 24 bytes for each own host, and 256 KiB for each
/// process.
pub(in crate::engine) fn numbers_in_web(
    group: Group<'_>,
    image: &GraphImage,
    numbers: &Numbering,
) -> Result<Vec<u32>> {
    let order = image.order();
    let hosts = image.runs_by_url().into_iter().map(|run| {
        let of_run = order[run.range()].iter();
        let pages = of_run.filter(|slot| numbers.number(**slot).is_some());
        let pages = number(pages.count());
        let prefix = run.prefix().to_owned();
        Host { prefix, pages }
    });
    let own = merge(group, hosts.filter(|host| host.pages > 0), PORTION)?;
    if own.len() != numbers.slots.len() {
        return Err(malformed().into());
    }
    Ok(own)
}

/// Merges the hosts of all processes, given those of this one in order. Returns the numbers of its pages.
fn merge(group: Group<'_>, own: impl Iterator<Item = Host>, portion: usize) -> Result<Vec<u32>> {
    let process = group.communicator.process();
    let mut own = own.peekable();
    let mut numbers = Vec::new();
    let mut pending: Vec<Pending> = Vec::new();
    pending.resize_with(group.processes(), Pending::default);
    let mut next_hosts: BinaryHeap<Reverse<(Host, usize)>> = BinaryHeap::new();
    let mut total: u32 = 0;
    loop {
        // All processes fill up what they have sent, so that all of it together is bounded.
        let mut bytes = pending.get(process).map_or(0, |of| of.bytes);
        let mut hosts = Vec::new();
        while let Some(host) = own.next_if(|_| bytes < portion) {
            bytes += host.bytes();
            hosts.push(host);
        }
        let has_more = own.peek().is_some();
        let portions = group.gather(&Portion { hosts, has_more })?;
        for ((of, portion), process) in pending.iter_mut().zip(portions).zip(0..) {
            of.receive(portion)?;
            if !of.is_next {
                of.offer(process, &mut next_hosts);
            }
        }
        // Until the hosts of a process that has more are used up.
        while let Some(Reverse((host, from))) = next_hosts.pop() {
            let first = total;
            let sum = total.checked_add(host.pages).filter(|sum| *sum < NONE);
            total = sum.ok_or(StoreError::Full("page to rank"))?;
            if from == process {
                numbers.extend(first..total);
            }
            let Some(of) = pending.get_mut(from) else {
                return Err(malformed().into());
            };
            of.bytes -= host.bytes();
            of.offer(from, &mut next_hosts);
            if !of.is_next && of.has_more {
                break;
            }
        }
        if !pending.iter().any(|of| of.has_more || of.is_next) {
            return Ok(numbers);
        }
    }
}

impl Pending {
    /// Adds hosts that follow all others of the process.
    fn receive(&mut self, portion: Portion) -> Result<(), StoreError> {
        for host in portion.hosts {
            let is_first = self.last.is_empty();
            if host.pages == 0 || (host.prefix <= self.last && !is_first) {
                return Err(malformed());
            }
            self.last.clone_from(&host.prefix);
            self.bytes += host.bytes();
            self.hosts.push_back(host);
        }
        self.has_more = portion.has_more;
        // Otherwise nothing would ever be merged.
        let is_stuck = self.has_more && self.hosts.is_empty() && !self.is_next;
        if is_stuck { Err(malformed()) } else { Ok(()) }
    }

    /// Moves the next host, if any, to the heap of the merge.
    fn offer(&mut self, process: usize, next_hosts: &mut BinaryHeap<Reverse<(Host, usize)>>) {
        let next = self.hosts.pop_front();
        self.is_next = next.is_some();
        next_hosts.extend(next.map(|host| Reverse((host, process))));
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Mutex;

    use proptest::prelude::*;

    use super::super::group::tests::{Scripted, in_threads};
    use super::*;
    use seedbank_algorithms::watch::Unwatched;

    fn host(prefix: &str, pages: u32) -> Host {
        Host {
            prefix: prefix.to_owned(),
            pages,
        }
    }

    proptest! {
        #[test]
        fn pages_are_numbered_as_by_one_process(
            hosts in prop::collection::btree_map("[ab]{1,9}", (0_usize..3, 1_u32..5), 0..60),
            processes in 1_usize..4,
            portion in 1_usize..200,
        ) {
            let mut own: Vec<(Vec<Host>, Vec<u32>)> = vec![Default::default(); processes];
            let mut next = 0;
            for (prefix, (process, pages)) in &hosts {
                let (hosts, numbers) = &mut own[process % processes];
                hosts.push(host(prefix, *pages));
                numbers.extend(next..next + pages);
                next += pages;
            }
            let found = in_threads(processes, |group, process| {
                merge(group, own[process].0.iter().cloned(), portion).unwrap()
            });
            let expected: Vec<Vec<u32>> = own.into_iter().map(|of| of.1).collect();
            prop_assert_eq!(found, expected);
        }

        #[test]
        fn any_messages_are_merged_or_refused(
            messages in prop::collection::vec(message(), 0..6),
            portion in 1_usize..100,
        ) {
            let communicator = Scripted(Mutex::new(messages));
            let group = Group { communicator: &communicator, watch: &Unwatched };
            let own = ["a", "b", "c"].map(|prefix| host(prefix, 2));
            if let Ok(numbers) = merge(group, own.into_iter(), portion) {
                prop_assert_eq!(numbers.len(), 6);
            }
        }
    }

    /// Any bytes, or any hosts.
    fn message() -> impl Strategy<Value = Vec<u8>> {
        let hosts = prop::collection::vec(("[a-d]{0,2}", any::<u32>()), 0..4);
        prop_oneof![
            prop::collection::vec(any::<u8>(), 0..9),
            (hosts, any::<bool>()).prop_map(|(hosts, has_more)| {
                let hosts = hosts.iter().map(|(prefix, pages)| host(prefix, *pages));
                let hosts = hosts.collect();
                seedbank_store::pack(&Portion { hosts, has_more }).unwrap()
            }),
        ]
    }

    #[test]
    fn too_many_pages_are_refused() {
        for (others, expected) in [(NONE - 3, Some([NONE - 3, NONE - 2])), (NONE - 2, None)] {
            let other = Portion {
                hosts: vec![host("a", others)],
                has_more: false,
            };
            let message = seedbank_store::pack(&other).unwrap();
            let communicator = Scripted(Mutex::new(vec![message]));
            let group = Group {
                communicator: &communicator,
                watch: &Unwatched,
            };
            let found = merge(group, [host("b", 2)].into_iter(), PORTION);
            match expected {
                Some(numbers) => assert_eq!(found.unwrap(), numbers),
                None => assert!(found.unwrap_err().to_string().contains("page to rank")),
            }
        }
    }
}
