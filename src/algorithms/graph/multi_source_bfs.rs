//! Breadth-first search from up to 256 pages at once, with one bit for each.
//!
//! After MS-BFS (Then et al., PVLDB 8(4), 2014): a scanned link serves all searches that are at its
//! source at that hop. On the web, where much leads through the same few pages, that is most of
//! them. Deviation: the next frontier is kept as a list, so that a search of a small neighbourhood
//! costs what it touches, not the size of the site.

use std::sync::{Mutex, PoisonError};

use super::csr::Csr;
use super::dense_index::number;

/// How many words are in a set of searches. Four words need about a quarter of the scans that one
/// needs, and take hardly longer, since they are worked on together.
const WORDS: usize = 4;
/// How many searches run at once.
pub(crate) const MAX_SOURCES: usize = 64 * WORDS;
/// What the working memory of all searches that run at a time on one site may take, in bytes.
const MEMORY: usize = 1 << 30;

/// Links as searches follow them.
pub(crate) trait Neighbours {
    /// The pages one hop further.
    fn successors(&self, page: u32) -> &[u32];
    /// The pages from which this one is a hop further.
    fn predecessors(&self, page: u32) -> &[u32];
}

/// Links that are given in both directions: first as they are followed.
pub(crate) struct BidirectionalLinks<'a>(pub(crate) &'a Csr, pub(crate) &'a Csr);

impl Neighbours for BidirectionalLinks<'_> {
    fn successors(&self, page: u32) -> &[u32] {
        self.0.list(page)
    }

    fn predecessors(&self, page: u32) -> &[u32] {
        self.1.list(page)
    }
}

/// A set of searches, with one bit for each. Aligned, so that none lies in two lines of the cache.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(32))]
pub(crate) struct SourceSet([u64; WORDS]);

impl SourceSet {
    /// No search.
    pub(crate) const NONE: Self = Self([0; WORDS]);

    fn one(lane: usize) -> Self {
        let mut words = [0; WORDS];
        words[lane / 64] = 1 << (lane % 64);
        Self(words)
    }

    /// The set of the first `lanes` searches.
    pub(crate) fn first(lanes: usize) -> Self {
        Self(std::array::from_fn(|word| {
            match lanes.saturating_sub(64 * word) {
                0 => 0,
                lanes if lanes >= 64 => u64::MAX,
                lanes => (1 << lanes) - 1,
            }
        }))
    }

    fn is_empty(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// The searches that are not in another set.
    pub(crate) fn without(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    fn within(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Takes in the searches of another set.
    pub(crate) fn add(&mut self, other: Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    /// How many searches it has.
    pub(crate) fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Calls `meet` with each search of the set.
    pub(crate) fn each(self, mut meet: impl FnMut(usize)) {
        for (word, mut bits) in self.0.into_iter().enumerate() {
            while bits != 0 {
                meet(64 * word + bits.trailing_zeros() as usize);
                bits &= bits - 1;
            }
        }
    }
}

/// The working memory of up to [`MAX_SOURCES`] searches, clean between runs: 36 bytes per page, 4 for each
/// page met, and 36 for each page of the two frontiers.
#[derive(Debug)]
pub(crate) struct MultiSourceBfs {
    /// By page.
    seen: Vec<SourceSet>,
    /// By page: its place in `coming`, or in `frontier` while pages look back to it, plus one; 0 where
    /// it has none.
    places: Vec<u32>,
    frontier: Vec<u32>,
    /// The searches that are at each page of `frontier`.
    here: Vec<SourceSet>,
    coming: Vec<u32>,
    /// The searches that find each page of `coming`.
    next: Vec<SourceSet>,
    touched: Vec<u32>,
}

impl MultiSourceBfs {
    fn new(pages: usize) -> Self {
        Self {
            seen: vec![SourceSet::NONE; pages],
            places: vec![0; pages],
            frontier: Vec::new(),
            here: Vec::new(),
            coming: Vec::new(),
            next: Vec::new(),
            touched: Vec::new(),
        }
    }

    /// Searches from at most [`MAX_SOURCES`] distinct `alive` pages to `depth`. At each hop `meet` gets the
    /// hop and every page once, with the bits of the searches that reach it first at that hop.
    /// Returns the page visits: a page that several searches settle at one hop counts once, and so
    /// does a link scanned for them.
    pub(crate) fn run(
        &mut self,
        links: &impl Neighbours,
        alive: &[bool],
        sources: &[u32],
        depth: u32,
        mut meet: impl FnMut(u32, u32, SourceSet),
    ) -> u64 {
        for (lane, &page) in sources.iter().take(MAX_SOURCES).enumerate() {
            let bit = SourceSet::one(lane);
            self.seen[page as usize] = bit;
            self.here.push(bit);
            self.frontier.push(page);
            meet(0, page, bit);
        }
        self.touched.extend(&self.frontier);
        let mut visits = self.frontier.len();
        // Searches that found something at the last hop: the others are done.
        let mut active = SourceSet::first(sources.len());
        for hop in 1..=depth {
            visits += self.scan(links, alive, active);
            visits += self.coming.len();
            active = SourceSet::NONE;
            for (&page, &fresh) in self.coming.iter().zip(&self.next) {
                let seen = &mut self.seen[page as usize];
                if seen.is_empty() {
                    self.touched.push(page);
                }
                seen.add(fresh);
                active.add(fresh);
                meet(hop, page, fresh);
            }
            std::mem::swap(&mut self.here, &mut self.next);
            std::mem::swap(&mut self.frontier, &mut self.coming);
            self.next.clear();
            self.coming.clear();
            if self.frontier.is_empty() {
                break;
            }
        }
        self.here.clear();
        self.frontier.clear();
        for page in self.touched.drain(..) {
            self.seen[page as usize] = SourceSet::NONE;
        }
        visits as u64
    }

    /// Finds what is one hop further, and returns the number of links scanned. It works either from
    /// the frontier onwards or, where that scans fewer links, from the pages that a search still
    /// has to find back to the frontier (Beamer et al., SC 2012).
    fn scan(&mut self, links: &impl Neighbours, alive: &[bool], active: SourceSet) -> usize {
        let pages = self.frontier.iter();
        let onward: usize = pages.map(|&page| links.successors(page).len()).sum();
        // Finding open pages means looking at every page, so it is done only where it can pay.
        if onward > alive.len() {
            let (seen, pages) = (&self.seen, 0..number(alive.len()));
            let open = pages.filter(|&page| {
                alive[page as usize] && !active.without(seen[page as usize]).is_empty()
            });
            let back: usize = open
                .clone()
                .map(|page| links.predecessors(page).len())
                .sum();
            if back < onward {
                self.coming.extend(open);
                return self.scan_back(links, active);
            }
        }
        for (&page, bits) in self.frontier.iter().zip(&self.here) {
            for &target in links.successors(page) {
                let at = target as usize;
                let fresh = bits.without(self.seen[at]);
                if fresh.is_empty() || !alive[at] {
                    continue;
                }
                let place = &mut self.places[at];
                if let Some(found) = place.checked_sub(1) {
                    self.next[found as usize].add(fresh);
                } else {
                    self.coming.push(target);
                    self.next.push(fresh);
                    *place = number(self.coming.len());
                }
            }
        }
        for &page in &self.coming {
            self.places[page as usize] = 0;
        }
        onward
    }

    /// `coming` holds the pages to be found; those that are not found are dropped from it.
    fn scan_back(&mut self, links: &impl Neighbours, active: SourceSet) -> usize {
        for (place, &page) in (1..).zip(&self.frontier) {
            self.places[page as usize] = place;
        }
        let (here, places, seen) = (&self.here, &self.places, &self.seen);
        let next = &mut self.next;
        let mut scanned = 0;
        self.coming.retain(|&page| {
            let missing = active.without(seen[page as usize]);
            let mut found = SourceSet::NONE;
            for &source in links.predecessors(page) {
                scanned += 1;
                if let Some(place) = places[source as usize].checked_sub(1) {
                    found.add(here[place as usize].within(missing));
                    if found == missing {
                        break;
                    }
                }
            }
            if found.is_empty() {
                return false;
            }
            next.push(found);
            true
        });
        for &page in &self.frontier {
            self.places[page as usize] = 0;
        }
        scanned
    }
}

/// Working memories for the searches that run at a time: at most one for each thread.
#[derive(Debug)]
pub(crate) struct BfsPool {
    pages: usize,
    idle: Mutex<Vec<MultiSourceBfs>>,
}

impl BfsPool {
    pub(crate) fn new(pages: u32) -> Self {
        Self {
            pages: pages as usize,
            idle: Mutex::new(Vec::new()),
        }
    }

    /// How many working memories may be in use at a time. A frontier rarely has most pages, so each
    /// is taken to need 96 bytes per page.
    pub(crate) fn concurrency(&self) -> usize {
        (MEMORY / (size_of::<[SourceSet; 3]>() * self.pages.max(1))).clamp(1, 64)
    }

    /// Runs `work` with a working memory that nobody else uses.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut MultiSourceBfs) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock must be released before the work begins.
        let kept = idle().pop();
        let mut lanes = kept.unwrap_or_else(|| MultiSourceBfs::new(self.pages));
        let result = work(&mut lanes);
        idle().push(lanes);
        result
    }
}

/// A sum for each lane. What all lanes but a few share is added once.
#[derive(Clone, Debug)]
pub(crate) struct SourceSums {
    all: SourceSet,
    common: i64,
    own: [i64; MAX_SOURCES],
}

impl SourceSums {
    pub(crate) fn new(lanes: usize) -> Self {
        Self {
            all: SourceSet::first(lanes),
            common: 0,
            own: [0; MAX_SOURCES],
        }
    }

    /// Adds `value` to the lanes in `bits`.
    pub(crate) fn add(&mut self, bits: SourceSet, value: i64) {
        if 2 * bits.len() > self.all.len() {
            self.common += value;
            let others = self.all.without(bits);
            others.each(|lane| self.own[lane] -= value);
        } else {
            bits.each(|lane| self.own[lane] += value);
        }
    }

    pub(crate) fn get(&self, lane: usize) -> i64 {
        self.common + self.own[lane]
    }
}

/// What each lane is worth, to be summed over sets of lanes.
#[derive(Clone, Debug)]
pub(crate) struct SourceValues {
    all: SourceSet,
    total: i64,
    own: Vec<i64>,
}

impl SourceValues {
    pub(crate) fn new(own: Vec<i64>) -> Self {
        Self {
            all: SourceSet::first(own.len()),
            total: own.iter().sum(),
            own,
        }
    }

    /// The sum of the values of the lanes in `bits`.
    pub(crate) fn sum(&self, bits: SourceSet) -> i64 {
        let mut sum = 0;
        if 2 * bits.len() > self.all.len() {
            self.all.without(bits).each(|lane| sum += self.own[lane]);
            self.total - sum
        } else {
            bits.each(|lane| sum += self.own[lane]);
            sum
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sets_of_lanes_count_and_sum_on_both_sides_of_the_half() {
        for count in [1_i64, 63, 64, 65, 200, 256] {
            let lanes = usize::try_from(count).unwrap();
            let all = SourceSet::first(lanes);
            assert_eq!(all.len() as usize, lanes);
            let values = SourceValues::new((1..=count).collect());
            let few = SourceSet::first(lanes / 3);
            let many = all.without(few);
            let total = values.sum(all);
            assert_eq!(total, (1..=count).sum::<i64>());
            assert_eq!(values.sum(few) + values.sum(many), total);
            let mut sums = SourceSums::new(lanes);
            sums.add(few, 5);
            sums.add(many, -7);
            for lane in 0..lanes {
                assert_eq!(sums.get(lane), if lane < lanes / 3 { 5 } else { -7 });
            }
        }
    }
}
