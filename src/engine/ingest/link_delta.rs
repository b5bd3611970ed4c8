//! Blocks of links in which some lists are replaced: changes of each target, and the new blocks.

use rayon::iter::{IntoParallelIterator, ParallelIterator};

use super::exchange::shuffle::Shuffle;
use super::passes::Passes;
use super::target_events::Places;
use crate::engine::Result;
use seedbank_store::links::{Link, LinkBlock, LinkKey};
use seedbank_store::{StoreError, Table, Value, encode};

/// Maximum number and size of blocks that are processed in parallel.
const MAX_BLOCKS: usize = 64;
const MAX_BYTES: usize = 16 << 20;

/// Changed blocks, to be processed in parallel.
pub(super) struct PendingBlocks<T> {
    blocks: Vec<LinkDelta<T>>,
    bytes: usize,
}

impl<T> Default for PendingBlocks<T> {
    fn default() -> Self {
        Self {
            blocks: Vec::new(),
            bytes: 0,
        }
    }
}

impl<T: Link> PendingBlocks<T> {
    pub(super) fn push(&mut self, block: LinkDelta<T>) {
        self.bytes += block.bytes();
        self.blocks.push(block);
    }

    pub(super) fn is_full(&self) -> bool {
        self.blocks.len() >= MAX_BLOCKS || self.bytes >= MAX_BYTES
    }
}

/// Writes blocks of a table, and calls `emit` with the changes of their targets.
pub(super) fn write_blocks<T: Link + Send + Sync>(
    table: &'static Table<LinkKey, LinkBlock<T>>,
    pending: PendingBlocks<T>,
    passes: &mut Passes<'_>,
    emit: impl Fn(&mut Shuffle, T, LinkKey, Places) -> Result<()>,
) -> Result<()>
where
    LinkBlock<T>: Value,
{
    let outcomes = pending
        .blocks
        .into_par_iter()
        .map(|block| block.outcome(table));
    for outcome in outcomes.collect::<Result<Vec<_>, _>>()? {
        for (target, places) in outcome.targets {
            emit(&mut passes.targets, target, outcome.key, places)?;
        }
        match outcome.encoded {
            Some(encoded) => passes.changes.put_encoded(table, &outcome.key, &encoded)?,
            None => passes.changes.delete(table, &outcome.key)?,
        }
    }
    Ok(())
}

struct Outcome<T> {
    key: LinkKey,
    /// The new block; `None` if it is empty.
    encoded: Option<Vec<u8>>,
    /// Changes of each target, ascending.
    targets: Vec<(T, Places)>,
}

/// A block in which some lists are replaced.
pub(super) struct LinkDelta<T> {
    pub(super) key: LinkKey,
    old: LinkBlock<T>,
    new: LinkBlock<T>,
    /// Target, place, and whether it was gained, encoded by [`event`].
    events: Vec<u128>,
}

impl<T: Link> LinkDelta<T> {
    pub(super) fn new(key: LinkKey, old: LinkBlock<T>) -> Self {
        Self {
            key,
            new: old.clone(),
            old,
            events: Vec::new(),
        }
    }

    /// Replaces a list. Returns the numbers of targets gained and lost.
    pub(super) fn replace(&mut self, place: u32, targets: Vec<T>) -> [usize; 2] {
        let before = self.events.len();
        let old = self.old.at(place);
        let gained = difference(&targets, old);
        self.events
            .extend(gained.map(|target| event(target, place, true)));
        let lost_from = self.events.len();
        let lost = difference(old, &targets);
        self.events
            .extend(lost.map(|target| event(target, place, false)));
        let counts = [lost_from - before, self.events.len() - lost_from];
        if counts != [0, 0] {
            self.new.set(place, targets);
        }
        counts
    }

    /// Returns the targets that the last replaced list gained and lost, given their numbers.
    pub(super) fn last_changes(
        &self,
        gained: usize,
        lost: usize,
    ) -> [impl Iterator<Item = T> + use<'_, T>; 2] {
        let end = self.events.len();
        let targets = |range: std::ops::Range<usize>| {
            let events = self.events.get(range).unwrap_or_default();
            events.iter().filter_map(|event| target_of(*event))
        };
        [
            targets(end - gained - lost..end - lost),
            targets(end - lost..end),
        ]
    }

    /// Whether no list has changed.
    pub(super) fn is_unchanged(&self) -> bool {
        self.events.is_empty()
    }

    fn bytes(&self) -> usize {
        let links = |block: &LinkBlock<T>| block.lists().map(|list| list.1.len()).sum::<usize>();
        (links(&self.old) + links(&self.new)) * size_of::<T>()
            + self.events.len() * size_of::<u128>()
    }

    fn outcome(mut self, table: &Table<LinkKey, LinkBlock<T>>) -> Result<Outcome<T>, StoreError>
    where
        LinkBlock<T>: Value,
    {
        self.events.sort_unstable();
        let mut targets = Vec::new();
        // A new block needs no search; one that only gains needs none in its old version.
        let old = self.old.distinct();
        let mut new: Option<Vec<T>> = None;
        // Events are sorted, so those of one target are adjacent.
        for of_target in self
            .events
            .chunk_by(|a, b| a >> PLACE_BITS == b >> PLACE_BITS)
        {
            let mut places = Places::default();
            for event in of_target {
                let (place, gained) = place_of(*event);
                if gained {
                    places.gained |= 1 << place;
                } else {
                    places.lost |= 1 << place;
                }
            }
            let Some(target) = target_of(of_target[0]) else {
                continue;
            };
            let was = places.lost != 0 || !old.is_empty() && old.binary_search(&target).is_ok();
            let is = places.gained != 0
                || new
                    .get_or_insert_with(|| self.new.distinct())
                    .binary_search(&target)
                    .is_ok();
            places.block = (was != is).then_some(is);
            targets.push((target, places));
        }
        let mut encoded = (!self.new.is_empty()).then(Vec::new);
        if let Some(encoded) = &mut encoded {
            encode(table, &self.key, &self.new, encoded)?;
        }
        Ok(Outcome {
            key: self.key,
            encoded,
            targets,
        })
    }
}

/// Number of bits of an event below its target: the place, and one bit for whether it was gained.
const PLACE_BITS: u32 = 8;

fn event<T: Link>(target: T, place: u32, gained: bool) -> u128 {
    let (high, low) = target.halves();
    let target = u128::from(high) << 32 | u128::from(low);
    target << PLACE_BITS | u128::from(place) << 1 | u128::from(gained)
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "event() encoded both halves in 32 bits"
)]
fn target_of<T: Link>(event: u128) -> Option<T> {
    let target = event >> PLACE_BITS;
    T::join((target >> 32) as u32, target as u32)
}

fn place_of(event: u128) -> (u32, bool) {
    let low = event.to_le_bytes()[0];
    (u32::from(low >> 1), low & 1 == 1)
}

/// Returns the entries of one ascending list that the other does not contain.
pub(super) fn difference<T: Ord + Copy>(list: &[T], other: &[T]) -> impl Iterator<Item = T> {
    let missing = |one: &&T| other.is_empty() || other.binary_search(one).is_err();
    list.iter().filter(missing).copied()
}

#[expect(
    clippy::cast_possible_wrap,
    reason = "lengths of lists in memory are far below 2^63"
)]
pub(super) fn delta(old: usize, new: usize) -> i64 {
    new as i64 - old as i64
}
