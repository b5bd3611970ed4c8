//! The share of the web that one of several processes has.
//!
//! A process has some pages and their out-links. A page of another process that these link to is a *ghost*; for its
//! owner, it is a *mirror* at that process. All processes run the same selection, each on its share, and exchange
//! messages in rounds: the searches that reach ghosts, and sums. Every decision depends on sums over all processes, so
//! all take the same ones, and results are those of one process.
//!
//! Pages of a share are numbered from 0 in URL order. A page also has a number in the web, by URL among the pages of all
//! processes. Links lead to pages of the share and, behind these, to ghosts.

mod batch;
pub(super) mod first_pages;
pub(super) mod levels;
pub(super) mod offer;
pub(super) mod reached_sums;
pub(super) mod standing;
pub(super) mod subtract;
pub(super) mod wave;

use std::fmt;
use std::sync::Arc;

use roaring::RoaringBitmap;

use super::super::graph::SiteGraphError;
use crate::communicator::Communicator;
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::{Csr, number};
use crate::watch::Interrupted;

/// What a process knows of the pages of others.
///
/// Memory: 12 bytes for each page and 8 for each mirror.
#[derive(Clone)]
pub struct WebShare {
    communicator: Arc<dyn Communicator>,
    /// The number of each page in the web, ascending.
    numbers: Vec<u32>,
    /// The first ghost of each process, and the number of all ghosts.
    first_ghosts: Vec<u32>,
    /// By process: the pages that are ghosts there, in the order of its ghosts.
    mirrors: Vec<Vec<u32>>,
    /// The first mirror of each process, and the number of all mirrors, if `mirrors` were one list.
    first_mirrors: Vec<u32>,
    /// By page: its mirrors, as places in that list.
    places: Csr,
    /// The largest number of pages and ghosts of a process.
    largest: u64,
}

impl WebShare {
    /// Returns the share of a process.
    ///
    /// `numbers` has the number in the web of each page, ascending; `ghosts` the number of ghosts of each process; and
    /// `mirrors` by process the pages that are ghosts there, ascending, which is the order of its ghosts. Where they have no
    /// entry for a process, it has neither.
    ///
    /// # Errors
    ///
    /// If a mirror is no page.
    pub fn new(
        communicator: Arc<dyn Communicator>,
        numbers: Vec<u32>,
        ghosts: &[u32],
        mut mirrors: Vec<Vec<u32>>,
    ) -> Result<Self, SiteGraphError> {
        let processes = communicator.processes();
        mirrors.resize(processes, Vec::new());
        let ghosts = ghosts.iter().copied().chain(std::iter::repeat(0));
        let mut pages = Csr::default();
        for &page in mirrors.iter().flatten() {
            if page as usize >= numbers.len() {
                let pages = numbers.len();
                return Err(SiteGraphError::NoSuchPage { page, pages });
            }
            pages.push([page]);
        }
        Ok(Self {
            communicator,
            places: pages.transpose(numbers.len()),
            numbers,
            first_ghosts: starts(ghosts.take(processes)),
            first_mirrors: starts(mirrors.iter().map(|pages| number(pages.len()))),
            mirrors,
            largest: 0,
        })
    }

    /// Finds out the largest number of pages and ghosts of a process.
    pub(super) fn set_largest(&mut self) -> Result<(), Interrupted> {
        let mut message = Encoder::default();
        message.number(self.numbers.len() as u64 + u64::from(self.ghosts()));
        for size in Group(Some(&*self)).gather(message.0)? {
            let size = Decoder(&size).number().ok_or_else(|| self.malformed())?;
            self.largest = self.largest.max(size);
        }
        Ok(())
    }

    /// Returns the process of a ghost, and its place among the ghosts of that process.
    fn ghost(&self, ghost: u32) -> (usize, u32) {
        placed(&self.first_ghosts, ghost)
    }

    /// Returns a ghost, given its process and its place among the ghosts of that process.
    fn ghost_of(&self, process: usize, place: u32) -> Option<u32> {
        let first = self.first_ghosts.get(process)?;
        let end = self.first_ghosts.get(process + 1)?;
        first.checked_add(place).filter(|ghost| ghost < end)
    }

    /// Returns the process of a mirror, and its place among the mirrors there.
    fn mirror(&self, mirror: u32) -> (usize, u32) {
        placed(&self.first_mirrors, mirror)
    }

    /// Tells the owners of ghosts, given in ascending order, that something holds for them. Returns the pages of this process
    /// for which others say so; a page occurs once for each of them.
    pub(super) fn tell_owners(
        &self,
        ghosts: impl Iterator<Item = u32>,
    ) -> Result<Vec<u32>, Interrupted> {
        let mut messages = vec![Encoder::default(); self.communicator.processes()];
        let mut last = (0, 0);
        for ghost in ghosts {
            let (process, place) = self.ghost(ghost);
            let before = if last.0 == process { last.1 } else { 0 };
            messages[process].number((place - before).into());
            last = (process, place);
        }
        let messages = messages.into_iter().map(|message| message.0).collect();
        let mut pages = Vec::new();
        for (process, message) in self.communicator.all_to_all(messages)?.iter().enumerate() {
            let mut message = Decoder(message);
            let mut place: u32 = 0;
            while !message.0.is_empty() {
                let next = message.index().and_then(|step| place.checked_add(step));
                place = next.ok_or_else(|| self.malformed())?;
                let mirrors = self.mirrors.get(process);
                let page = mirrors.and_then(|pages| pages.get(place as usize));
                pages.push(*page.ok_or_else(|| self.malformed())?);
            }
        }
        Ok(pages)
    }

    /// Tells other processes that something holds for pages of this one. Returns the ghosts for which their owners say so.
    pub(super) fn tell_mirrors(&self, pages: &[u32]) -> Result<Vec<u32>, Interrupted> {
        let mut messages = vec![Encoder::default(); self.communicator.processes()];
        for mirror in pages.iter().flat_map(|&page| self.places.list(page)) {
            let (process, place) = self.mirror(*mirror);
            messages[process].number(place.into());
        }
        let messages = messages.into_iter().map(|message| message.0).collect();
        let mut ghosts = Vec::new();
        for (process, message) in self.communicator.all_to_all(messages)?.iter().enumerate() {
            let mut message = Decoder(message);
            while !message.0.is_empty() {
                let place = message.index();
                let ghost = place.and_then(|place| self.ghost_of(process, place));
                ghosts.push(ghost.ok_or_else(|| self.malformed())?);
            }
        }
        Ok(ghosts)
    }

    /// Returns the ranks of some pages, in ascending order, among those that the other processes have given.
    ///
    /// Memory: a bit for each page of the web while it runs.
    pub(super) fn ranks(&self, pages: &[u32]) -> Result<Vec<u32>, Interrupted> {
        let numbers = pages.iter().map(|&page| self.number(page));
        let mut own = RoaringBitmap::from_sorted_iter(numbers).map_err(|_| self.malformed())?;
        own.optimize();
        let mut message = Vec::with_capacity(own.serialized_size());
        own.serialize_into(&mut message)
            .map_err(|_| self.malformed())?;
        let mut all = RoaringBitmap::new();
        for message in Group(Some(self)).gather(message)? {
            let of_process = RoaringBitmap::deserialize_from(&message[..]);
            all |= of_process.map_err(|_| self.malformed())?;
        }
        let (mut from, mut rank) = (0, 0);
        let rank = pages.iter().map(|&page| {
            let number = self.number(page);
            rank += all.range_cardinality(from..number);
            from = number;
            u32::try_from(rank).unwrap_or(u32::MAX)
        });
        Ok(rank.collect())
    }

    /// Returns the local number of a page, given its number in the web.
    pub(super) fn local(&self, number: u32) -> Option<u32> {
        let place = self.numbers.binary_search(&number).ok()?;
        u32::try_from(place).ok()
    }

    /// Returns the number in the web of a page.
    pub(super) fn number(&self, local: u32) -> u32 {
        self.numbers[local as usize]
    }

    /// Ends the work because the method or the values need the whole web.
    pub(super) fn refuse(&self) -> Interrupted {
        self.communicator
            .fail("the plan cannot be selected for in several processes")
    }

    /// Ends the work because a message cannot be decoded.
    pub(super) fn malformed(&self) -> Interrupted {
        self.communicator
            .fail("a message of a selection cannot be decoded")
    }

    /// Returns the number of pages.
    pub(super) fn pages(&self) -> usize {
        self.numbers.len()
    }

    /// Returns the number of ghosts.
    pub(super) fn ghosts(&self) -> u32 {
        self.first_ghosts.last().copied().unwrap_or(0)
    }
}

/// Returns the starts of consecutive ranges of these lengths, and the end of the last one.
fn starts(lengths: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut starts = vec![0];
    let mut next: u32 = 0;
    for length in lengths {
        next = next.saturating_add(length);
        starts.push(next);
    }
    starts
}

/// Returns the index of the range that contains `place`, and the offset within it.
fn placed(starts: &[u32], place: u32) -> (usize, u32) {
    let range = starts
        .partition_point(|start| *start <= place)
        .saturating_sub(1);
    (range, place - starts.get(range).copied().unwrap_or(0))
}

/// The processes that have shares of a web; `None` if there is one process, which has all of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Group<'a>(pub(super) Option<&'a WebShare>);

impl Group<'_> {
    /// Returns the number of processes.
    pub(super) fn processes(self) -> usize {
        self.0.map_or(1, |share| share.communicator.processes())
    }

    /// Sends a message to each process, by number, and returns what each has sent to this one.
    pub(super) fn all_to_all(self, messages: Vec<Vec<u8>>) -> Result<Vec<Vec<u8>>, Interrupted> {
        match self.0 {
            None => Ok(messages),
            Some(share) => share.communicator.all_to_all(messages),
        }
    }

    /// Ends the work because a message cannot be decoded.
    pub(super) fn malformed(self) -> Interrupted {
        self.0.map_or(Interrupted, WebShare::malformed)
    }

    /// Returns what all processes have sent, by process.
    pub(super) fn gather(self, own: Vec<u8>) -> Result<Vec<Vec<u8>>, Interrupted> {
        self.all_to_all(vec![own; self.processes()])
    }

    /// Returns the sums over all processes. A sum that does not fit is the largest or the smallest number.
    pub(super) fn sum<const N: usize>(self, own: [i64; N]) -> Result<[i64; N], Interrupted> {
        let mut sums = own;
        if self.0.is_some() {
            let all = self.sums(own.to_vec())?;
            sums.iter_mut().zip(all).for_each(|(sum, all)| *sum = all);
        }
        Ok(sums)
    }

    /// Returns the sums over all processes, number by number. All processes pass lists of the same length.
    pub(super) fn sums(self, own: Vec<i64>) -> Result<Vec<i64>, Interrupted> {
        let Some(share) = self.0 else {
            return Ok(own);
        };
        let mut message = Encoder::default();
        for value in &own {
            message.signed(*value);
        }
        let mut sums = vec![0_i64; own.len()];
        for message in self.gather(message.0)? {
            let mut message = Decoder(&message);
            for sum in &mut sums {
                let value = message.signed().ok_or_else(|| share.malformed())?;
                *sum = sum.saturating_add(value);
            }
        }
        Ok(sums)
    }

    /// Returns the sums of counts over all processes.
    pub(super) fn total<const N: usize>(self, own: [u64; N]) -> Result<[u64; N], Interrupted> {
        let signed = own.map(|count| i64::try_from(count).unwrap_or(i64::MAX));
        Ok(self.sum(signed)?.map(i64::unsigned_abs))
    }
}

impl fmt::Debug for WebShare {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("WebShare")
            .field("process", &self.communicator.process())
            .field("pages", &number(self.numbers.len()))
            .field("ghosts", &self.ghosts())
            .finish_non_exhaustive()
    }
}
