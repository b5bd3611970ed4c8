//! Where classes are, and lists in messages.

use super::super::SLICES;
use crate::communicator::Communicator;
use crate::graph::codec::{Decoder, Encoder};
use crate::graph::csr::Csr;
use crate::graph::dense_index::number;

/// The most entries of a list in a message that memory is reserved for before they are read.
const RESERVED: u32 = 1 << 12;

/// The cause of a failure if rows contradict each other.
pub(super) const TWO_ROWS: &str = "a page has two rows";

/// A class of any process: its smallest page, and its slice.
pub(super) type ClassKey = (u32, u8);

/// Mixes the bits of a number (Steele, Lea and Flood 2014, *Fast Splittable Pseudorandom Number Generators*).
pub(crate) const fn mix(number: u64) -> u64 {
    let mixed = (number ^ (number >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
    mixed ^ (mixed >> 31)
}

/// Returns one of `count` numbers, evenly by hash.
pub(super) fn scaled(hash: u64, count: usize) -> usize {
    let product = u128::from(hash) * count as u128;
    usize::try_from(product >> 64).unwrap_or(0)
}

/// Returns the sum of the hashes of pages, from which the slice of a hub class follows.
pub(crate) fn sum_of_keys(pages: &[u32]) -> u64 {
    let keys = pages.iter().map(|page| mix((*page).into()));
    keys.fold(0, u64::wrapping_add)
}

/// Returns the slice of a hub class, given the [sum of the keys](sum_of_keys) of its targets.
pub(crate) fn slice_of_targets(keys: u64) -> u8 {
    let slice = scaled(mix(keys), SLICES);
    u8::try_from(slice).unwrap_or(0)
}

/// Returns the process that collects what is known of a page.
pub(crate) fn collector(page: u32, processes: usize) -> usize {
    scaled(mix(page.into()), processes)
}

/// Where things are.
#[derive(Clone, Copy)]
pub(super) struct Places<'a> {
    pub(super) communicator: &'a dyn Communicator,
    pub(super) processes: usize,
}

impl Places<'_> {
    /// Returns the process of a slice.
    pub(super) fn of_slice(self, slice: u8) -> usize {
        usize::from(slice) * self.processes / SLICES
    }

    /// Returns the process that collects what is known of a page.
    pub(crate) fn collector(self, page: u32) -> usize {
        collector(page, self.processes)
    }

    /// Divides numbers by process, in order.
    pub(super) fn divide(self, numbers: &[u32], process: impl Fn(u32) -> usize) -> Vec<Vec<u32>> {
        let mut divided = vec![Vec::new(); self.processes];
        for &number in numbers {
            divided[process(number)].push(number);
        }
        divided
    }
}

/// Appends an ascending list.
pub(super) fn write_list(message: &mut Encoder, list: &[u32]) {
    message.number(list.len() as u64);
    let mut next = 0;
    for &entry in list {
        message.number(u64::from(entry) - next);
        next = u64::from(entry) + 1;
    }
}

/// Reads a strictly ascending list of numbers below the largest one.
pub(super) fn read_list(message: &mut Decoder<'_>, list: &mut Vec<u32>) -> Option<()> {
    let count = message.index()?;
    list.clear();
    list.reserve(count.min(RESERVED) as usize);
    let mut next: u32 = 0;
    for _ in 0..count {
        let entry = next.checked_add(message.index()?)?;
        next = entry.checked_add(1)?;
        list.push(entry);
    }
    Some(())
}

pub(super) fn read_slice(message: &mut Decoder<'_>) -> Option<u8> {
    let slice = u8::try_from(message.number()?).ok()?;
    (usize::from(slice) < SLICES).then_some(slice)
}

/// Returns the smallest member of each class.
pub(crate) fn ids_of(members: &Csr) -> Vec<u32> {
    let classes = 0..number(members.len());
    classes.map(|class| members.list(class)[0]).collect()
}
