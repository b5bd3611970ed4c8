//! Searches from many pages of all processes, some hundreds at a time, hop by hop in all processes.

use std::ops::Range;
use std::sync::{Mutex, PoisonError};

use rayon::prelude::*;

use super::WebShare;
use super::batch::{Direction, ShareSearch};
use crate::graph::Csr;
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::multi_source_bfs::{BATCH_SIZE, SourceSet};
use crate::watch::{Interrupted, Watch};

/// The assumed need of a batch for each page or ghost, in bytes.
const BYTES_PER_PAGE: u64 = 96;
/// The memory of the batches at a time, in bytes. More batches take fewer rounds, and evict each other from the caches of the
/// processor.
const MEMORY: u64 = 1 << 28;
/// The fewest batches, which take about as much as the pages and links, unless they need more than [`LIMIT`].
const FEWEST_BATCHES: u64 = 3;
const LIMIT: u64 = 1 << 32;
/// The most batches at a time; few in tests, so that thousands of pages take several waves.
const MAX_BATCHES: u64 = if cfg!(test) { 2 } else { 64 };

/// Working memory of searches, to be reused.
#[derive(Debug, Default)]
pub(in super::super) struct SharePool(Mutex<Vec<ShareSearch>>);

/// What is done with the pages that searches meet.
pub(super) trait Task: Sync {
    /// What is kept for a batch of searches.
    type State: Send;

    fn begin(&self) -> Self::State;

    /// Tells the other processes about the search from a page of this one.
    fn announce(&self, _page: u32, _message: &mut Encoder) {}

    /// Takes what a process has announced about a search; `None` if it cannot be decoded.
    fn announced(
        &self,
        _state: &mut Self::State,
        _search: usize,
        _message: &mut Decoder<'_>,
    ) -> Option<()> {
        Some(())
    }

    /// Takes a page that searches meet first on a hop.
    fn meet(&self, state: &mut Self::State, page: u32, set: SourceSet);

    /// Ends a hop of a batch.
    fn end_hop(&self, _state: &mut Self::State) {}
}

/// A batch: its part of the searches, and what is kept for it.
pub(super) struct Batch<S> {
    search: ShareSearch,
    pub(super) state: S,
}

/// Some searches from pages of all processes.
pub(super) struct Waves<'a, T> {
    pub(super) share: &'a WebShare,
    pub(super) direction: Direction,
    pub(super) links: &'a Csr,
    /// At least one.
    pub(super) hops: u32,
    pub(super) pool: &'a SharePool,
    pub(super) task: &'a T,
    pub(super) watch: &'a dyn Watch,
}

/// The searches of a wave.
pub(super) struct Wave<S> {
    pub(super) batches: Vec<Option<Batch<S>>>,
    /// By process: the places of its searches, over all batches.
    pub(super) searches: Vec<Range<usize>>,
    /// Whether a process has more sources.
    pub(super) has_more: bool,
    /// The number of hops that have ended, with that of the sources.
    hops: usize,
}

impl SharePool {
    fn take(&self, share: &WebShare) -> ShareSearch {
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let search = idle.pop();
        drop(idle);
        search.unwrap_or_else(|| ShareSearch::new(share))
    }

    fn put(&self, mut search: ShareSearch) {
        search.clear();
        let mut idle = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(search);
    }
}

/// Returns the places of the searches of each process over all batches of a wave. It depends on the web alone.
fn places(share: &WebShare) -> Vec<Range<usize>> {
    let processes = share.communicator.processes();
    let bytes = BYTES_PER_PAGE * share.largest.max(1);
    let batches = (MEMORY / bytes).max(FEWEST_BATCHES.min(LIMIT / bytes));
    let all = BATCH_SIZE * usize::try_from(batches.clamp(1, MAX_BATCHES)).unwrap_or(1);
    let start = |process: usize| all * process / processes.max(1);
    (0..processes)
        .map(|process| start(process)..start(process + 1))
        .collect()
}

/// From this number of pages on at which searches are, batches are processed in parallel. Waking other threads takes longer
/// than to process fewer.
const PARALLEL: usize = 1 << 12;

impl<S: Send> Wave<S> {
    /// Calls `work` for each batch. Returns the results with the numbers of the batches.
    fn each<R: Send>(&mut self, work: impl Fn(&mut Batch<S>) -> R + Sync) -> Vec<(usize, R)> {
        let with = vec![(); self.batches.len()];
        self.each_with(with, |batch, ()| work(batch))
    }

    /// Calls `work` for each batch, with what belongs to it.
    fn each_with<W: Send, R: Send>(
        &mut self,
        with: Vec<W>,
        work: impl Fn(&mut Batch<S>, W) -> R + Sync,
    ) -> Vec<(usize, R)> {
        let batches = self.batches.iter().flatten();
        let pages: usize = batches.map(|batch| batch.search.pages()).sum();
        let work = |((number, batch), with): ((usize, &mut Option<Batch<S>>), W)| {
            batch.as_mut().map(|batch| (number, work(batch, with)))
        };
        if pages < PARALLEL {
            let batches = self.batches.iter_mut().enumerate().zip(with);
            return batches.filter_map(work).collect();
        }
        let batches = self.batches.par_iter_mut().enumerate().zip(with);
        batches.filter_map(work).collect()
    }
}

impl<T: Task> Waves<'_, T> {
    /// Searches from the first of `sources`, and removes these. All processes call this at the same time. Adds the visits
    /// of this process to those by hop.
    pub(super) fn next(
        &self,
        sources: &mut &[u32],
        visits: &mut [u64],
    ) -> Result<Wave<T::State>, Interrupted> {
        let share = self.share;
        let own = share.communicator.process();
        let places = places(share);
        let batches = places.last().map_or(0, |last| last.end / BATCH_SIZE);
        let mut wave = Wave {
            batches: (0..batches).map(|_| None).collect(),
            searches: places.iter().map(|of| of.start..of.start).collect(),
            has_more: false,
            hops: 0,
        };
        let count = places[own].len().min(sources.len());
        let (now, rest) = sources.split_at(count);
        *sources = rest;
        let mut announcement = Encoder::default();
        announcement.number(u64::from(!rest.is_empty()));
        announcement.number(count as u64);
        for (place, &page) in places[own].clone().zip(now) {
            let search = place % BATCH_SIZE;
            let batch = self.batch(&mut wave, place / BATCH_SIZE);
            batch.search.add_source(search, page);
            // The source is met before the first message.
            let of_page = announcement.0.len();
            self.task.announce(page, &mut announcement);
            let mut announced = Decoder(&announcement.0[of_page..]);
            let state = &mut batch.state;
            let is_read = self.task.announced(state, search, &mut announced);
            is_read.ok_or_else(|| share.malformed())?;
        }
        self.settle(&mut wave, Direction::Forward, visits);
        let mut announced = Some(&places);
        for _ in 0..self.hops {
            self.watch.proceed()?;
            let messages = self.messages(&mut wave, &announcement);
            let received = share.communicator.all_to_all(messages)?;
            let is_active = self.receive(&mut wave, &received, announced.take());
            if !is_active.ok_or_else(|| share.malformed())? {
                break;
            }
            self.settle(&mut wave, self.direction, visits);
            announcement.0.clear();
        }
        Ok(wave)
    }

    fn batch<'w>(&self, wave: &'w mut Wave<T::State>, batch: usize) -> &'w mut Batch<T::State> {
        let hops = wave.hops;
        wave.batches[batch].get_or_insert_with(|| {
            let mut state = self.task.begin();
            (0..hops).for_each(|_| self.task.end_hop(&mut state));
            Batch {
                search: self.pool.take(self.share),
                state,
            }
        })
    }

    /// Returns the messages of a hop: whether a search goes on, what is announced, and for each batch its number, the
    /// length and what it sends.
    fn messages(&self, wave: &mut Wave<T::State>, announcement: &Encoder) -> Vec<Vec<u8>> {
        let processes = self.share.communicator.processes();
        let all = wave.batches.iter().flatten();
        let is_active = all.map(|of| &of.search).any(|search| !search.is_done());
        let parts = wave.each(|batch| {
            let mut messages = vec![Encoder::default(); processes];
            let search = &mut batch.search;
            search.send(self.direction, self.share, self.links, &mut messages);
            messages
        });
        let message = |process: usize| {
            let mut message = Encoder::default();
            message.number(is_active.into());
            message.0.extend(&announcement.0);
            for (batch, part) in &parts {
                let part = &part[process].0;
                // A part that only has the number of its entries, 0, is left out.
                if part.len() > 1 {
                    message.number(*batch as u64);
                    message.number(part.len() as u64);
                    message.0.extend(part);
                }
            }
            message.0
        };
        (0..processes).map(message).collect()
    }

    /// Takes the messages of a hop; those of the first one have announcements, given the places of all searches. Returns
    /// whether a search of any process goes on; `None` if a message cannot be decoded.
    fn receive(
        &self,
        wave: &mut Wave<T::State>,
        messages: &[Vec<u8>],
        announced: Option<&Vec<Range<usize>>>,
    ) -> Option<bool> {
        let mut is_active = false;
        let mut parts: Vec<Vec<(usize, &[u8])>> = vec![Vec::new(); wave.batches.len()];
        for (process, message) in messages.iter().enumerate() {
            let mut message = Decoder(message);
            is_active |= message.number()? > 0;
            if let Some(places) = announced {
                wave.has_more |= message.number()? > 0;
                let count = usize::try_from(message.number()?).ok()?;
                let places = places.get(process)?.clone();
                let searches = places.start..places.start.checked_add(count)?;
                if searches.end > places.end {
                    return None;
                }
                for place in searches.clone() {
                    let batch = self.batch(wave, place / BATCH_SIZE);
                    let search = place % BATCH_SIZE;
                    self.task
                        .announced(&mut batch.state, search, &mut message)?;
                }
                wave.searches[process] = searches;
            }
            while !message.0.is_empty() {
                let batch = usize::try_from(message.number()?).ok()?;
                let length = usize::try_from(message.number()?).ok()?;
                let (part, rest) = message.0.split_at_checked(length)?;
                message.0 = rest;
                parts.get_mut(batch)?.push((process, part));
            }
        }
        for (batch, parts) in parts.iter().enumerate() {
            if !parts.is_empty() {
                self.batch(wave, batch);
            }
        }
        let taken = wave.each_with(parts, |batch, parts| {
            for (process, part) in parts {
                let message = &mut Decoder(part);
                let search = &mut batch.search;
                search.receive(self.direction, self.share, process, message)?;
            }
            Some(())
        });
        taken
            .into_iter()
            .map(|(_, taken)| taken)
            .collect::<Option<()>>()?;
        Some(is_active)
    }

    /// Ends a hop in all batches. The sources are settled as pages that are found forward.
    fn settle(&self, wave: &mut Wave<T::State>, direction: Direction, visits: &mut [u64]) {
        let of_batches = wave.each(|Batch { search, state }| {
            search.settle(direction, self.links, |page, set| {
                self.task.meet(state, page, set);
            });
            self.task.end_hop(state);
            search.take_visits()
        });
        let of_hop: u64 = of_batches.into_iter().map(|(_, visits)| visits).sum();
        visits[wave.hops] += of_hop;
        wave.hops += 1;
    }

    /// Ends a wave.
    pub(super) fn end(&self, wave: Wave<T::State>) {
        for batch in wave.batches.into_iter().flatten() {
            self.pool.put(batch.search);
        }
    }
}
