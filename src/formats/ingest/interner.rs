//! Interning of URLs as numbers.
//!
//! Crawls repeat the same URLs many times. Each is stored once and identified by a number, so that later
//! steps move numbers and not texts. Every block of lines has its own interner, small enough for the
//! processor's cache. A large interner imports the URLs of as many blocks as fit into memory
//! ([`Interner::import`]), so that a URL is looked up there once per block and not once per link.

use std::collections::HashMap;
use std::hash::BuildHasher;

use foldhash::quality::RandomState;

use super::location::{Location, Naming, UrlError, parse_normal, parse_standard};

/// The number of a URL in an [`Interner`], from 0.
pub type UrlNumber = u32;

/// Marks a free slot of the hash table.
const FREE: u32 = u32::MAX;

/// The initial number of slots; a power of two.
const INITIAL_SLOTS: usize = 1 << 10;

/// The maximum number of slots after [`Interner::clear`]; a power of two.
const MAX_SLOTS_AFTER_CLEAR: usize = 1 << 14;

/// Location of a URL in `texts`, its site and its hash.
#[derive(Clone, Copy, Debug)]
struct UrlEntry {
    start: usize,
    length: u32,
    site: u32,
    hash: u64,
}

#[derive(Debug)]
struct Site {
    name: String,
    hash: u64,
}

/// Distinct URLs, numbered in insertion order.
#[derive(Debug)]
pub struct Interner {
    hasher: RandomState,
    sites: Vec<Site>,
    site_numbers: HashMap<String, u32>,
    last_site: u32,
    /// The concatenated `local` parts of all URLs.
    texts: String,
    entries: Vec<UrlEntry>,
    /// High half of the hash, and number; open addressing, at most half full.
    slots: Vec<(u32, u32)>,
    site_bytes: usize,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new(RandomState::default())
    }
}

impl Interner {
    /// Creates an empty interner. [`import`](Self::import) requires two interners with the same hasher.
    #[must_use]
    pub fn new(hasher: RandomState) -> Self {
        Self {
            hasher,
            sites: Vec::new(),
            site_numbers: HashMap::new(),
            last_site: 0,
            texts: String::new(),
            entries: Vec::new(),
            slots: vec![(0, FREE); INITIAL_SLOTS],
            site_bytes: 0,
        }
    }

    /// Creates an empty interner with the same hasher.
    #[must_use]
    pub fn empty_like(&self) -> Self {
        Self::new(self.hasher.clone())
    }

    /// Returns the memory used, in bytes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.texts.len()
            + self.entries.len() * size_of::<UrlEntry>()
            + self.slots.len() * size_of::<(u32, u32)>()
            + self.site_bytes
    }

    /// Returns the number of URLs.
    #[must_use]
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Returns whether there are no URLs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// Normalises and splits a URL as [`parse`](super::parse) does, and returns its number.
    ///
    /// The capacity is below 2^32 URLs, which would take at least 2^32 bytes of text, far more than a
    /// block has.
    pub fn parse(&mut self, text: &str, naming: Naming) -> Result<UrlNumber, UrlError> {
        if let Some(parts) = parse_normal(text, naming) {
            let site = self.site(parts.site);
            let start = self.texts.len();
            parts.push_local(&mut self.texts);
            return Ok(self.intern_tail(site, start));
        }
        Ok(self.number(&parse_standard(text, naming)?))
    }

    /// Returns the number of a location. The capacity is below 2^32 URLs.
    pub fn number(&mut self, url: &Location) -> UrlNumber {
        let site = self.site(&url.site);
        let start = self.texts.len();
        self.texts.push_str(&url.local);
        self.intern_tail(site, start)
    }

    /// Returns the number in this interner of a URL of another interner with the same hasher.
    pub fn import(&mut self, other: &Self, number: UrlNumber) -> UrlNumber {
        let entry = other.entries[number as usize];
        let site = self.site(&other.sites[entry.site as usize].name);
        let text = other.text(&entry);
        match self.find(site, text, entry.hash) {
            Ok(number) => number,
            Err(slot) => {
                let start = self.texts.len();
                self.texts.push_str(text);
                self.insert(slot, site, start, entry.hash)
            }
        }
    }

    /// Returns the number of the URL whose text was just appended at `start`; removes the text if the URL
    /// is not new.
    fn intern_tail(&mut self, site: u32, start: usize) -> UrlNumber {
        let text = &self.texts[start..];
        let hash = self
            .hasher
            .hash_one((self.sites[site as usize].hash, text.as_bytes()));
        match self.find(site, text, hash) {
            Ok(number) => {
                self.texts.truncate(start);
                number
            }
            Err(slot) => self.insert(slot, site, start, hash),
        }
    }

    /// Returns the number of a URL, or as the error its free slot.
    fn find(&self, site: u32, text: &str, hash: u64) -> Result<UrlNumber, usize> {
        let [high, low] = halves(hash);
        let mask = self.slots.len() - 1;
        let mut slot = low as usize & mask;
        loop {
            let (other, number) = self.slots[slot];
            if number == FREE {
                return Err(slot);
            }
            if other == high {
                let entry = &self.entries[number as usize];
                if entry.site == site && self.text(entry) == text {
                    return Ok(number);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Numbers the text that was just appended at `start`.
    fn insert(&mut self, slot: usize, site: u32, start: usize, hash: u64) -> UrlNumber {
        let number = narrow(self.entries.len());
        self.entries.push(UrlEntry {
            start,
            length: narrow(self.texts.len() - start),
            site,
            hash,
        });
        self.slots[slot] = (halves(hash)[0], number);
        if self.entries.len() * 2 > self.slots.len() {
            self.grow();
        }
        number
    }

    fn site(&mut self, name: &str) -> u32 {
        let last = self.sites.get(self.last_site as usize);
        if last.is_some_and(|last| last.name == name) {
            return self.last_site;
        }
        self.last_site = if let Some(number) = self.site_numbers.get(name) {
            *number
        } else {
            let number = narrow(self.sites.len());
            self.sites.push(Site {
                name: name.to_owned(),
                hash: self.hasher.hash_one(name),
            });
            self.site_numbers.insert(name.to_owned(), number);
            self.site_bytes += 2 * (name.len() + size_of::<Site>()) + 16;
            number
        };
        self.last_site
    }

    fn text(&self, entry: &UrlEntry) -> &str {
        &self.texts[entry.start..entry.start + entry.length as usize]
    }

    fn grow(&mut self) {
        let mut slots = vec![(0, FREE); self.slots.len() * 2];
        let mask = slots.len() - 1;
        for (number, entry) in (0_u32..).zip(&self.entries) {
            let [high, low] = halves(entry.hash);
            let mut slot = low as usize & mask;
            while slots[slot].1 != FREE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (high, number);
        }
        self.slots = slots;
    }

    /// Returns the site's name and the `local` part of a URL.
    #[must_use]
    pub fn parts(&self, number: UrlNumber) -> (&str, &str) {
        let site = self.site_of(number);
        (&self.sites[site as usize].name, self.local(number))
    }

    /// Returns the `local` part of a URL.
    #[must_use]
    pub fn local(&self, number: UrlNumber) -> &str {
        self.text(&self.entries[number as usize])
    }

    /// Returns the location of a URL.
    #[must_use]
    pub fn location(&self, number: UrlNumber) -> Location {
        let (site, local) = self.parts(number);
        Location {
            site: site.to_owned(),
            local: local.to_owned(),
        }
    }

    /// Returns the rank by name of each site, indexed by site number.
    #[must_use]
    pub fn site_ranks(&self) -> Vec<u32> {
        let mut sites: Vec<u32> = (0..).take(self.sites.len()).collect();
        sites.sort_unstable_by_key(|site| &self.sites[*site as usize].name);
        let mut ranks = vec![0_u32; sites.len()];
        for (rank, site) in (0..).zip(&sites) {
            ranks[*site as usize] = rank;
        }
        ranks
    }

    /// Returns the number of a URL's site, from 0.
    #[must_use]
    pub fn site_of(&self, number: UrlNumber) -> u32 {
        self.entries[number as usize].site
    }

    /// Removes all URLs; keeps most of the allocated memory.
    pub fn clear(&mut self) {
        self.sites.clear();
        self.site_numbers.clear();
        self.site_bytes = 0;
        self.last_site = 0;
        self.texts.clear();
        self.entries.clear();
        // A single large block must not leave a large table that every later call has to clear.
        self.slots.truncate(MAX_SLOTS_AFTER_CLEAR);
        self.slots.fill((0, FREE));
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "blocks and portions have fewer than 2^32 URLs, and a URL fewer bytes"
)]
fn narrow(number: usize) -> u32 {
    assert!(number < FREE as usize);
    number as u32
}

#[expect(clippy::cast_possible_truncation, reason = "both halves are taken")]
fn halves(hash: u64) -> [u32; 2] {
    [(hash >> 32) as u32, hash as u32]
}

#[cfg(test)]
#[path = "interner_tests.rs"]
mod tests;
