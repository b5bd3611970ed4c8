//! URLs as numbers.
//!
//! A crawl names the same URLs over and over. Each text is kept once and stands for a number until
//! the interner is emptied; later steps move numbers, not texts. Every block of lines has its own
//! interner, small enough to stay in a processor's cache. A large one takes over the URLs of as
//! many blocks as memory holds ([`Interner::number_of`]), so a URL is looked up there once per
//! block and not once per link.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};

use super::location::{Location, Naming, UrlError, normal, parse_any};

/// The number of a URL in an [`Interner`], from 0.
pub type UrlNumber = u32;

/// Marks a free slot in the table that finds a URL's number.
const FREE: u32 = u32::MAX;

/// How many slots an interner begins with; a power of two.
const FIRST_SLOTS: usize = 1 << 10;

/// How many slots stay when the interner is emptied; a power of two.
const MOST_CLEARED: usize = 1 << 14;

/// One URL.
#[derive(Clone, Copy, Debug)]
struct UrlPlace {
    at: usize,
    length: u32,
    site: u32,
    hash: u64,
}

#[derive(Debug)]
struct Site {
    name: String,
    hash: u64,
}

/// Distinct URLs by number, in the order in which they came.
#[derive(Debug)]
pub struct Interner {
    hasher: RandomState,
    sites: Vec<Site>,
    site_numbers: HashMap<String, u32>,
    last_site: u32,
    /// The parts of URLs after the names of their sites, one after another.
    texts: String,
    places: Vec<UrlPlace>,
    /// Numbers by hash, with the hash's high half; open addressing, at most half full.
    slots: Vec<(u32, u32)>,
    site_bytes: usize,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new(RandomState::new())
    }
}

impl Interner {
    /// An empty interner. Only interners with the same hasher take URLs over from each other.
    #[must_use]
    pub fn new(hasher: RandomState) -> Self {
        Self {
            hasher,
            sites: Vec::new(),
            site_numbers: HashMap::new(),
            last_site: 0,
            texts: String::new(),
            places: Vec::new(),
            slots: vec![(0, FREE); FIRST_SLOTS],
            site_bytes: 0,
        }
    }

    /// An empty interner with the same hasher.
    #[must_use]
    pub fn empty_like(&self) -> Self {
        Self::new(self.hasher.clone())
    }

    /// How many bytes of memory it takes.
    #[must_use]
    pub fn bytes(&self) -> usize {
        self.texts.len()
            + self.places.len() * size_of::<UrlPlace>()
            + self.slots.len() * size_of::<(u32, u32)>()
            + self.site_bytes
    }

    /// How many URLs there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are no URLs.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// The number of a URL, which is normalised and cut as [`parse`](super::parse) does.
    ///
    /// There is room for fewer than 2^32 URLs. That many take at least 2^32 bytes of text, far more
    /// than a block has.
    pub fn parse(&mut self, text: &str, naming: Naming) -> Result<UrlNumber, UrlError> {
        if let Some(cut) = normal(text, naming) {
            let site = self.site(cut.site);
            let at = self.texts.len();
            cut.put_local(&mut self.texts);
            return Ok(self.last_text(site, at));
        }
        Ok(self.number(&parse_any(text, naming)?))
    }

    /// The number of a URL, of which there is room for fewer than 2^32.
    pub fn number(&mut self, url: &Location) -> UrlNumber {
        let site = self.site(&url.site);
        let at = self.texts.len();
        self.texts.push_str(&url.local);
        self.last_text(site, at)
    }

    /// The number here of a URL in another interner with the same hasher.
    pub fn number_of(&mut self, other: &Self, number: UrlNumber) -> UrlNumber {
        let place = other.places[number as usize];
        let site = self.site(&other.sites[place.site as usize].name);
        let text = other.text(&place);
        match self.find(site, text, place.hash) {
            Ok(number) => number,
            Err(slot) => {
                let at = self.texts.len();
                self.texts.push_str(text);
                self.insert(slot, site, at, place.hash)
            }
        }
    }

    /// The number of the text appended last, which is removed again if it is known already.
    fn last_text(&mut self, site: u32, at: usize) -> UrlNumber {
        let text = &self.texts[at..];
        let hash = self
            .hasher
            .hash_one((self.sites[site as usize].hash, text.as_bytes()));
        match self.find(site, text, hash) {
            Ok(number) => {
                self.texts.truncate(at);
                number
            }
            Err(slot) => self.insert(slot, site, at, hash),
        }
    }

    /// The number of a URL, or as the error the slot where it belongs.
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
                let place = &self.places[number as usize];
                if place.site == site && self.text(place) == text {
                    return Ok(number);
                }
            }
            slot = (slot + 1) & mask;
        }
    }

    /// Gives a number to the text that was appended last.
    fn insert(&mut self, slot: usize, site: u32, at: usize, hash: u64) -> UrlNumber {
        let number = narrow(self.places.len());
        self.places.push(UrlPlace {
            at,
            length: narrow(self.texts.len() - at),
            site,
            hash,
        });
        self.slots[slot] = (halves(hash)[0], number);
        if self.places.len() * 2 > self.slots.len() {
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

    fn text(&self, place: &UrlPlace) -> &str {
        &self.texts[place.at..place.at + place.length as usize]
    }

    fn grow(&mut self) {
        let mut slots = vec![(0, FREE); self.slots.len() * 2];
        let mask = slots.len() - 1;
        for (number, place) in (0_u32..).zip(&self.places) {
            let [high, low] = halves(place.hash);
            let mut slot = low as usize & mask;
            while slots[slot].1 != FREE {
                slot = (slot + 1) & mask;
            }
            slots[slot] = (high, number);
        }
        self.slots = slots;
    }

    /// The site's name and the rest of a URL.
    #[must_use]
    pub fn parts(&self, number: UrlNumber) -> (&str, &str) {
        let site = self.site_of(number);
        (&self.sites[site as usize].name, self.local(number))
    }

    /// The part of a URL after its site.
    #[must_use]
    pub fn local(&self, number: UrlNumber) -> &str {
        self.text(&self.places[number as usize])
    }

    /// A URL.
    #[must_use]
    pub fn location(&self, number: UrlNumber) -> Location {
        let (site, local) = self.parts(number);
        Location {
            site: site.to_owned(),
            local: local.to_owned(),
        }
    }

    /// The rank of each site by name; sites are indexed by number.
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

    /// The number of a URL's site, from 0.
    #[must_use]
    pub fn site_of(&self, number: UrlNumber) -> u32 {
        self.places[number as usize].site
    }

    /// Forgets everything; most of the memory is kept.
    pub fn clear(&mut self) {
        self.sites.clear();
        self.site_numbers.clear();
        self.site_bytes = 0;
        self.last_site = 0;
        self.texts.clear();
        self.places.clear();
        // One block with very many URLs must not leave a large table that is emptied from then on.
        self.slots.truncate(MOST_CLEARED);
        self.slots.fill((0, FREE));
    }
}

#[expect(
    clippy::cast_possible_truncation,
    reason = "URLs are counted in 32 bits, and the bytes of one: a block has fewer, and a portion is kept smaller"
)]
fn narrow(number: usize) -> u32 {
    debug_assert!(number < FREE as usize);
    number as u32
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
    use crate::ingest::{SiteMode, UrlRules};

    fn urls() -> impl Strategy<Value = Vec<(String, String)>> {
        proptest::collection::vec(("[a-c.]{1,3}", "[01][a-b/]{0,14}"), 0..2000)
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(32))]

        /// Compares with a map, also after the interner was emptied, and for URLs taken over.
        #[test]
        fn urls_have_one_number_each(rounds in proptest::collection::vec(urls(), 1..3)) {
            let mut interner = Interner::default();
            for urls in rounds {
                interner.clear();
                let mut other = interner.empty_like();
                let mut expected: BTreeMap<(String, String), u32> = BTreeMap::new();
                for (place, (site, local)) in urls.into_iter().enumerate() {
                    let url = Location { site, local };
                    let number = if place % 2 == 0 {
                        interner.number(&url)
                    } else {
                        let number = other.number(&url);
                        prop_assert_eq!(&other.location(number), &url);
                        interner.number_of(&other, number)
                    };
                    let next = u32::try_from(expected.len()).unwrap();
                    let known = *expected.entry((url.site, url.local)).or_insert(next);
                    prop_assert_eq!(number, known);
                }
                prop_assert_eq!(interner.len(), expected.len());
                for ((site, local), number) in &expected {
                    prop_assert_eq!(interner.parts(*number), (site.as_str(), local.as_str()));
                }
                let ranks = interner.site_ranks();
                let by_rank: BTreeMap<u32, &str> = expected
                    .iter()
                    .map(|((site, _), number)| (ranks[interner.site_of(*number) as usize], site.as_str()))
                    .collect();
                prop_assert!(by_rank.values().is_sorted() && by_rank.len() == ranks.len());
            }
        }
    }

    #[test]
    fn a_url_is_cut_as_it_is_alone() {
        let mut interner = Interner::default();
        for text in [
            "http://a.example/",
            "HTTPS://A.example:443/x#y",
            "https://b.c.example/?q",
        ] {
            for sites in [SiteMode::Host, SiteMode::Domain] {
                let naming = sites.with(UrlRules::Whatwg);
                let number = interner.parse(text, naming).unwrap();
                assert_eq!(
                    Ok(interner.location(number)),
                    super::super::parse(text, naming)
                );
            }
        }
        assert!(matches!(
            interner.parse("mailto:x", Naming::default()),
            Err(UrlError::Scheme(_))
        ));
        assert_eq!(interner.len(), 6);
    }
}
