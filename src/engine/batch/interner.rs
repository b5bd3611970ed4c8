//! URLs as numbers, for as many as memory holds.
//!
//! A crawl names the same URLs over and over. Each text is kept once and stands for a number until
//! the interner is emptied; sorting then moves numbers, not texts.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use rayon::slice::ParallelSliceMut;

use crate::engine::EngineError;
use crate::ingest::Location;
use crate::storage::StoreError;

/// Slots of the table that finds a URL's number: free.
const FREE: u32 = u32::MAX;

/// Slots to begin with; a power of two.
const FIRST_SLOTS: usize = 1 << 8;

/// One URL of the interner.
#[derive(Clone, Copy)]
struct Place {
    site: u32,
    at: u32,
    length: u32,
    /// What else is known of the URL.
    flags: u8,
}

/// Distinct URLs by number, in the order in which they came.
pub(super) struct Interner {
    hasher: RandomState,
    sites: Vec<String>,
    site_numbers: HashMap<String, u32>,
    last_site: u32,
    texts: Vec<u8>,
    places: Vec<Place>,
    /// Numbers by hash, with the hash's high half; open addressing, at most half full.
    slots: Vec<(u32, u32)>,
    site_bytes: usize,
}

impl Interner {
    pub(super) fn new() -> Self {
        Self {
            hasher: RandomState::new(),
            sites: Vec::new(),
            site_numbers: HashMap::new(),
            last_site: 0,
            texts: Vec::new(),
            places: Vec::new(),
            slots: vec![(0, FREE); FIRST_SLOTS],
            site_bytes: 0,
        }
    }

    /// Bytes of memory, with what sorting the URLs takes.
    pub(super) fn bytes(&self) -> usize {
        let of_url = size_of::<Place>() + size_of::<(u128, u32)>() + size_of::<u32>();
        self.texts.len()
            + self.places.len() * of_url
            + self.slots.len() * size_of::<(u32, u32)>()
            + self.site_bytes
    }

    pub(super) fn len(&self) -> usize {
        self.places.len()
    }

    /// The number of a URL, and `flags` added to what is known of it.
    pub(super) fn number(&mut self, url: &Location, flags: u8) -> Result<u32, EngineError> {
        let site = self.site(&url.site)?;
        let text = url.local.as_bytes();
        let hash = self.hasher.hash_one((site, text));
        let [high, low] = halves(hash);
        let mask = self.slots.len() - 1;
        let mut slot = low as usize & mask;
        while self.slots[slot].1 != FREE {
            let (other, number) = self.slots[slot];
            if other == high {
                let place = self.places[number as usize];
                if place.site == site && self.text(&place) == text {
                    self.places[number as usize].flags |= flags;
                    return Ok(number);
                }
            }
            slot = (slot + 1) & mask;
        }
        let number = narrow(self.places.len())?;
        self.places.push(Place {
            site,
            at: narrow(self.texts.len())?,
            length: narrow(text.len())?,
            flags,
        });
        self.texts.extend_from_slice(text);
        self.slots[slot] = (high, number);
        if self.places.len() * 2 > self.slots.len() {
            self.grow();
        }
        Ok(number)
    }

    fn site(&mut self, name: &str) -> Result<u32, EngineError> {
        if self
            .sites
            .get(self.last_site as usize)
            .is_some_and(|last| last == name)
        {
            return Ok(self.last_site);
        }
        let number = if let Some(number) = self.site_numbers.get(name) {
            *number
        } else {
            let number = narrow(self.sites.len())?;
            self.sites.push(name.to_owned());
            self.site_numbers.insert(name.to_owned(), number);
            self.site_bytes += 2 * (name.len() + size_of::<String>()) + 16;
            number
        };
        self.last_site = number;
        Ok(number)
    }

    fn text(&self, place: &Place) -> &[u8] {
        let at = place.at as usize;
        &self.texts[at..at + place.length as usize]
    }

    fn grow(&mut self) {
        let mut slots = vec![(0, FREE); self.slots.len() * 2];
        let mask = slots.len() - 1;
        for (number, place) in (0_u32..).zip(&self.places) {
            let hash = self.hasher.hash_one((place.site, self.text(place)));
            let [high, low] = halves(hash);
            let mut slot = low as usize & mask;
            while slots[slot].1 != FREE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (high, number);
        }
        self.slots = slots;
    }

    /// The numbers of those that are used or have one of the flags, in the order of the URLs' keys
    /// (site, NUL byte, the rest).
    pub(super) fn order(&self, used: &[bool], flags: u8) -> Vec<u32> {
        let mut sites: Vec<u32> = (0..).take(self.sites.len()).collect();
        // Names contain no NUL byte, so that they order as keys do that have one after them.
        sites.sort_unstable_by_key(|site| &self.sites[*site as usize]);
        let mut ranks = vec![0_u32; sites.len()];
        for (rank, site) in (0..).zip(&sites) {
            ranks[*site as usize] = rank;
        }
        let mut order: Vec<(u128, u32)> = (0..)
            .zip(&self.places)
            .zip(used)
            .filter(|((_, place), used)| **used || place.flags & flags != 0)
            .map(|((number, place), _)| {
                // The site and the first twelve bytes decide most comparisons.
                let mut head = [0; 16];
                head[..4].copy_from_slice(&ranks[place.site as usize].to_be_bytes());
                let text = self.text(place);
                let length = text.len().min(12);
                head[4..4 + length].copy_from_slice(&text[..length]);
                (u128::from_be_bytes(head), number)
            })
            .collect();
        order.par_sort_unstable_by(|a, b| {
            let text = |number: u32| self.text(&self.places[number as usize]);
            a.0.cmp(&b.0).then_with(|| text(a.1).cmp(text(b.1)))
        });
        order.into_iter().map(|(_, number)| number).collect()
    }

    /// What is known of a URL; its key is written to `key`.
    pub(super) fn url(&self, number: u32, key: &mut Vec<u8>) -> u8 {
        let place = self.places[number as usize];
        key.clear();
        key.extend_from_slice(self.sites[place.site as usize].as_bytes());
        key.push(0);
        key.extend_from_slice(self.text(&place));
        place.flags
    }

    /// Forgets everything; the memory is kept.
    pub(super) fn clear(&mut self) {
        self.sites.clear();
        self.site_numbers.clear();
        self.site_bytes = 0;
        self.last_site = 0;
        self.texts.clear();
        self.places.clear();
        self.slots.fill((0, FREE));
    }
}

fn narrow(number: usize) -> Result<u32, EngineError> {
    // The last one is no number: it marks free slots.
    match u32::try_from(number) {
        Ok(number) if number != FREE => Ok(number),
        _ => Err(StoreError::Full("URL in memory").into()),
    }
}

#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
fn halves(hash: u64) -> [u32; 2] {
    [(hash >> 32) as u32, hash as u32]
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::prelude::*;

    use super::*;

    proptest! {
        /// A map is the judge, also after the interner was emptied.
        #[test]
        fn urls_have_one_number_each_and_come_in_key_order(
            rounds in proptest::collection::vec(
                proptest::collection::vec(("[a-c.]{1,3}", "[a-b/]{0,14}", 0_u8..4), 0..400), 1..3,
            ),
        ) {
            let mut interner = Interner::new();
            for urls in rounds {
                interner.clear();
                let mut expected: BTreeMap<Vec<u8>, (u32, u8)> = BTreeMap::new();
                for (site, local, flags) in urls {
                    let url = Location { site, local };
                    let number = interner.number(&url, flags).unwrap();
                    let next = u32::try_from(expected.len()).unwrap();
                    let known = expected.entry([url.site.as_bytes(), &[0], url.local.as_bytes()].concat()).or_insert((next, 0));
                    known.1 |= flags;
                    prop_assert_eq!(number, known.0);
                }
                let mut found = Vec::new();
                for number in interner.order(&vec![false; interner.len()], 2) {
                    let mut key = Vec::new();
                    let flags = interner.url(number, &mut key);
                    found.push((key, (number, flags)));
                }
                let expected: Vec<_> = expected.into_iter().filter(|(_, (_, flags))| flags & 2 != 0).collect();
                prop_assert_eq!(found, expected);
            }
        }
    }
}
