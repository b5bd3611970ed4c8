//! The share of a host-pruned graph that one of several processes has.
//!
//! Classes are those of the whole graph: equal pages are one class, whatever processes their links come from. Each class
//! belongs to one of 64 *slices*, and each slice to a process, so that what is summed by slice does not depend on the
//! number of processes. A hub class belongs to the slice of the hash of its targets. An authority class belongs to the
//! slice of one of the hub classes that cite it: where it has no other, all of its links are in one process.
//!
//! A class of another process that is linked with one of this process is a *ghost* here, and a *mirror* there. Processes
//! that need values of ghosts pull them from their owners. Local numbers of classes are those of the own classes, by slice,
//! and then those of ghosts, by process. The local [graph](HubShare::graph) has the links with at least one end here.

mod build;
mod components;
mod part;
mod removal;
mod sparse;
#[cfg(test)]
pub(crate) mod tests;
mod whole;

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use super::codec::{Decoder, Encoder};
use super::csr::Csr;
use super::dense_index::number;
use super::exchange::{gather, malformed};
use super::hub_graph::HubGraph;
use super::role::Role;
use crate::communicator::Communicator;
use crate::watch::Interrupted;

pub(crate) use build::collector;
pub use components::ShareComponents;
pub(crate) use part::PlacesInPart;

/// The number of slices of classes.
pub(crate) const SLICES: usize = 64;

/// The share of a host-pruned graph that one of several processes has.
///
/// Memory: that of a [`HubGraph`] of the links with an end here, 4 bytes for each class and mirror, and 8 for each page.
pub struct HubShare {
    communicator: Arc<dyn Communicator>,
    graph: HubGraph,
    hubs: ShareSide,
    authorities: ShareSide,
    /// For each pair of an authority class and a hub class of different processes that have a page in common: the
    /// authority classes here, and the hub classes here, by the process of the other.
    twins: [Vec<Vec<u32>>; 2],
}

impl fmt::Debug for HubShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HubShare")
            .field("process", &self.communicator.process())
            .field("hubs", &self.hubs.own)
            .field("authorities", &self.authorities.own)
            .finish_non_exhaustive()
    }
}

/// The hub classes of a share, or its authority classes.
#[derive(Clone, Debug, Default)]
pub(crate) struct ShareSide {
    /// The smallest page of each local class.
    ids: Vec<u32>,
    /// The number of own classes.
    own: u32,
    /// The first own class of each slice of this process, and the number of own classes.
    slices: Vec<u32>,
    /// The first ghost of each process, and the number of local classes.
    first_ghosts: Vec<u32>,
    /// By process: the own classes that are ghosts there, in the order of its ghosts.
    mirrors: Vec<Vec<u32>>,
    /// The first mirror of each process, and the number of all mirrors, if `mirrors` were one list.
    first_mirrors: Vec<u32>,
    /// By own class: its mirrors, as places in that list.
    places: Csr,
    /// The number of pages of each ghost.
    ghost_pages: Vec<u32>,
}

impl ShareSide {
    /// Returns the smallest page of each local class, by which a class is known to all processes.
    pub(crate) fn ids(&self) -> &[u32] {
        &self.ids
    }

    /// Returns the own classes. They are the first ones.
    pub(crate) const fn own(&self) -> Range<u32> {
        0..self.own
    }

    /// Returns the number of local classes.
    pub(crate) const fn len(&self) -> usize {
        self.ids.len()
    }

    /// Returns the own classes of each slice of this process.
    pub(crate) fn slices(&self) -> impl Iterator<Item = Range<usize>> {
        let pairs = self.slices.windows(2);
        pairs.map(|pair| pair[0] as usize..pair[1] as usize)
    }

    /// Returns whether another process knows the class: it is a ghost, or has a mirror.
    pub(crate) fn is_known_elsewhere(&self, class: u32) -> bool {
        class >= self.own || !self.mirrors_of(class).is_empty()
    }

    /// Returns the mirrors of an own class, as places in the list of all mirrors.
    fn mirrors_of(&self, class: u32) -> &[u32] {
        // A process that has the whole graph has no such lists.
        if self.places.is_empty() {
            &[]
        } else {
            self.places.list(class)
        }
    }

    /// Returns the ghosts that belong to a process.
    fn ghosts_of(&self, process: usize) -> Range<usize> {
        let [first, end] = [process, process + 1].map(|at| self.first_ghosts.get(at));
        let position = |at: Option<&u32>| at.map_or(self.len(), |at| *at as usize);
        position(first)..position(end)
    }

    /// Returns the local number of a class, given its owner and its smallest page; `None` if it is not known here.
    fn ghost(&self, process: usize, id: u32) -> Option<u32> {
        let range = self.ghosts_of(process);
        let place = self.ids.get(range.clone())?.binary_search(&id).ok()?;
        Some(number(range.start + place))
    }
}

impl HubShare {
    /// Returns the graph of the local classes: the links with at least one end at an own class. Ghosts have no members.
    ///
    /// Lists are in the order of the smallest pages of classes, not in that of their local numbers.
    #[must_use]
    pub const fn graph(&self) -> &HubGraph {
        &self.graph
    }

    /// Returns whether this process has the whole graph, so that it sends no messages.
    fn is_whole(&self) -> bool {
        self.communicator.processes() == 1
    }

    /// Returns the processes.
    pub(crate) fn communicator(&self) -> &dyn Communicator {
        &*self.communicator
    }

    /// Returns the number of own authority classes. They are the first ones.
    #[must_use]
    pub const fn own_authorities(&self) -> u32 {
        self.authorities.own
    }

    pub(crate) const fn side(&self, role: Role) -> &ShareSide {
        match role {
            Role::Hub => &self.hubs,
            Role::Authority => &self.authorities,
        }
    }

    /// Returns the local number of a class, given its owner and its smallest page; `None` if it is not known here.
    pub(crate) fn local(&self, role: Role, owner: usize, id: u32) -> Option<u32> {
        if owner != self.communicator.process() {
            return self.side(role).ghost(owner, id);
        }
        match role {
            Role::Hub => self.graph.hub_class(id),
            Role::Authority => self.graph.authority_class(id),
        }
    }

    /// Returns the error of a message that is not as expected.
    pub(crate) fn malformed(&self) -> Interrupted {
        malformed(self.communicator())
    }

    /// Sets the values of ghosts to those of their owners. `values` are by local class. All processes call it at the same
    /// time.
    ///
    /// Cost: 8 bytes for each mirror.
    pub(crate) fn pull(&self, role: Role, values: &mut [f64]) -> Result<(), Interrupted> {
        self.pull_and_sum(role, values, &[]).map(|_| ())
    }

    /// Sets the values of ghosts to those of their owners, and returns the sum over all processes of a number for each
    /// slice, in the order of slices. `slices` has those of the slices of this process.
    pub(crate) fn pull_and_sum(
        &self,
        role: Role,
        values: &mut [f64],
        slices: &[f64],
    ) -> Result<f64, Interrupted> {
        if self.is_whole() {
            return Ok(slices.iter().fold(0.0, |sum, of_slice| sum + of_slice));
        }
        let side = self.side(role);
        let message = |mirrors: &Vec<u32>| {
            let mut message = Vec::with_capacity(8 * (slices.len() + mirrors.len()));
            message.extend(slices.iter().flat_map(|number| number.to_le_bytes()));
            let values = mirrors.iter().map(|&class| values[class as usize]);
            message.extend(values.flat_map(f64::to_le_bytes));
            message
        };
        let messages = side.mirrors.iter().map(message).collect();
        let received = self.communicator.all_to_all(messages)?;
        let mut sum = 0.0;
        for (process, message) in received.iter().enumerate() {
            let (numbers, rest) = message.as_chunks::<8>();
            let ghosts = values.get_mut(side.ghosts_of(process)).unwrap_or_default();
            let split = numbers.len().checked_sub(ghosts.len());
            let split = split.and_then(|at| numbers.split_at_checked(at));
            let (slices, numbers) = split
                .filter(|_| rest.is_empty())
                .ok_or_else(|| self.malformed())?;
            for bytes in slices {
                sum += f64::from_le_bytes(*bytes);
            }
            for (ghost, bytes) in ghosts.iter_mut().zip(numbers) {
                *ghost = f64::from_le_bytes(*bytes);
            }
        }
        Ok(sum)
    }

    /// Returns sums over all processes, slice by slice, so that they do not depend on the number of processes. `of_slice`
    /// returns the sums over the own classes of a slice. All processes call it at the same time.
    pub(crate) fn sum_slices<const N: usize>(
        &self,
        role: Role,
        of_slice: impl FnMut(Range<usize>) -> [f64; N],
    ) -> Result<[f64; N], Interrupted> {
        if self.is_whole() {
            let mut all = [0.0; N];
            for sums in self.side(role).slices().map(of_slice) {
                for (sum, of_slice) in all.iter_mut().zip(sums) {
                    *sum += of_slice;
                }
            }
            return Ok(all);
        }
        let mut message = Encoder::default();
        for sums in self.side(role).slices().map(of_slice) {
            message
                .0
                .extend(sums.into_iter().flat_map(f64::to_le_bytes));
        }
        let mut sums = [0.0; N];
        for message in gather(self.communicator(), message)? {
            let (numbers, rest) = message.as_chunks::<8>();
            let (slices, incomplete) = numbers.as_chunks::<N>();
            if !rest.is_empty() || !incomplete.is_empty() {
                return Err(self.malformed());
            }
            for of_slice in slices {
                for (sum, bytes) in sums.iter_mut().zip(of_slice) {
                    *sum += f64::from_le_bytes(*bytes);
                }
            }
        }
        Ok(sums)
    }

    /// Returns the sums of counts over all processes. A sum that does not fit is the largest number.
    pub(crate) fn sum<const N: usize>(&self, own: [u64; N]) -> Result<[u64; N], Interrupted> {
        self.fold(own, u64::saturating_add)
    }

    /// Returns the largest of the numbers of all processes.
    pub(crate) fn largest<const N: usize>(&self, own: [u64; N]) -> Result<[u64; N], Interrupted> {
        self.fold(own, u64::max)
    }

    fn fold<const N: usize>(
        &self,
        own: [u64; N],
        both: impl Fn(u64, u64) -> u64,
    ) -> Result<[u64; N], Interrupted> {
        if self.is_whole() {
            return Ok(own);
        }
        let mut message = Encoder::default();
        for number in own {
            message.number(number);
        }
        let mut folded = [0; N];
        for message in gather(self.communicator(), message)? {
            let mut message = Decoder(&message);
            for all in &mut folded {
                let number = message.number().ok_or_else(|| self.malformed())?;
                *all = both(*all, number);
            }
        }
        Ok(folded)
    }
}
