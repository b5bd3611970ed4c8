//! Breadth-first search from up to 256 sources at once, with one bit for each.
//!
//! After MS-BFS (Then et al., PVLDB 8(4), 2014): one scan of a link serves all searches that are at
//! its source at that hop. On the web, where most paths lead through few pages, that is most of
//! them. Deviation: the next frontier is a list, so that a search of a small neighbourhood costs
//! what it visits, not the size of the site.

use std::sync::{Mutex, PoisonError};

use super::csr::Csr;
use super::dense_index::number;

/// Words of a set of searches. Four words need about a quarter of the scans of one word and take
/// hardly longer, because they are processed together.
const WORDS: usize = 4;
/// Maximum number of sources of one run.
pub(crate) const BATCH_SIZE: usize = 64 * WORDS;
/// Bound on the memory of all concurrent runs on one site, in bytes.
const MEMORY: usize = 1 << 30;

/// Links in both directions, as seen by a search.
pub(crate) trait Neighbours {
    /// Returns the pages one hop from a page.
    fn successors(&self, page: u32) -> &[u32];
    /// Returns the pages that a page is one hop from.
    fn predecessors(&self, page: u32) -> &[u32];
}

/// Links by source and by target, in this order.
pub(crate) struct BidirectionalLinks<'a>(pub(crate) &'a Csr, pub(crate) &'a Csr);

impl Neighbours for BidirectionalLinks<'_> {
    fn successors(&self, page: u32) -> &[u32] {
        self.0.list(page)
    }

    fn predecessors(&self, page: u32) -> &[u32] {
        self.1.list(page)
    }
}

/// Set of searches of one run, one bit for each. Aligned so that it never spans two cache lines.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(align(32))]
pub(crate) struct SourceSet([u64; WORDS]);

impl SourceSet {
    pub(crate) const NONE: Self = Self([0; WORDS]);

    /// Returns the set of one search, below [`BATCH_SIZE`].
    pub(crate) fn one(index: usize) -> Self {
        let mut words = [0; WORDS];
        words[index / 64] = 1 << (index % 64);
        Self(words)
    }

    /// Returns the set of the first `count` searches.
    pub(crate) fn first(count: usize) -> Self {
        Self(std::array::from_fn(|word| {
            match count.saturating_sub(64 * word) {
                0 => 0,
                count if count >= 64 => u64::MAX,
                count => (1 << count) - 1,
            }
        }))
    }

    /// Returns the set with these bits, one for each search.
    pub(crate) const fn from_words(words: [u64; WORDS]) -> Self {
        Self(words)
    }

    /// Returns the bits of the set.
    pub(crate) const fn words(self) -> [u64; WORDS] {
        self.0
    }

    pub(crate) fn is_empty(self) -> bool {
        self.0.iter().fold(0, |all, word| all | word) == 0
    }

    /// Returns the searches that are not in another set.
    pub(crate) fn without(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & !other.0[word]))
    }

    fn within(self, other: Self) -> Self {
        Self(std::array::from_fn(|word| self.0[word] & other.0[word]))
    }

    /// Adds the searches of another set.
    pub(crate) fn add(&mut self, other: Self) {
        for (word, other) in self.0.iter_mut().zip(other.0) {
            *word |= other;
        }
    }

    pub(crate) fn len(self) -> u32 {
        self.0.iter().map(|word| word.count_ones()).sum()
    }

    /// Calls `visit` with each search of the set.
    pub(crate) fn each(self, mut visit: impl FnMut(usize)) {
        for (word, mut set) in self.0.into_iter().enumerate() {
            while set != 0 {
                visit(64 * word + set.trailing_zeros() as usize);
                set &= set - 1;
            }
        }
    }
}

/// Working memory of a run: 36 bytes per page, 4 for each page found, and 36 for each page of the
/// two frontiers. Clean between runs.
#[derive(Debug)]
pub(crate) struct MultiSourceBfs {
    /// By page: the searches that found it.
    seen: Vec<SourceSet>,
    /// By page: one plus its place in `next_frontier`, or in `frontier` during a backward scan; 0
    /// if it has none.
    places: Vec<u32>,
    frontier: Vec<u32>,
    /// The searches that are at each page of `frontier`.
    visit: Vec<SourceSet>,
    next_frontier: Vec<u32>,
    /// The searches that find each page of `next_frontier`.
    visit_next: Vec<SourceSet>,
    found_pages: Vec<u32>,
}

impl MultiSourceBfs {
    pub(crate) fn new(pages: usize) -> Self {
        Self {
            seen: vec![SourceSet::NONE; pages],
            places: vec![0; pages],
            frontier: Vec::new(),
            visit: Vec::new(),
            next_frontier: Vec::new(),
            visit_next: Vec::new(),
            found_pages: Vec::new(),
        }
    }

    /// Searches from at most [`BATCH_SIZE`] distinct `alive` pages to `depth`. Calls `visit` with
    /// each hop and each page once per hop, with the searches that reach the page first at that
    /// hop. Returns the page visits: a page that several searches reach at one hop counts once, and
    /// so does a link scanned for them.
    pub(crate) fn run(
        &mut self,
        links: &impl Neighbours,
        alive: &[bool],
        sources: &[u32],
        depth: u32,
        mut visit: impl FnMut(u32, u32, SourceSet),
    ) -> u64 {
        for (index, &page) in sources.iter().take(BATCH_SIZE).enumerate() {
            self.find(page, SourceSet::one(index));
        }
        let mut visits = self.next_frontier.len();
        self.settle(|page, set| visit(0, page, set));
        // Searches that found something at the last hop: the others are done.
        let mut active = SourceSet::first(sources.len());
        for hop in 1..=depth {
            visits += self.scan(links, alive, active);
            visits += self.next_frontier.len();
            active = SourceSet::NONE;
            self.settle(|page, fresh| {
                active.add(fresh);
                visit(hop, page, fresh);
            });
            if self.frontier.is_empty() {
                break;
            }
        }
        self.clear();
        visits as u64
    }

    /// Adds searches to those that find a page on this hop, except those that found it before.
    pub(crate) fn find(&mut self, page: u32, searches: SourceSet) {
        let at = page as usize;
        let fresh = searches.without(self.seen[at]);
        if fresh.is_empty() {
            return;
        }
        let place = &mut self.places[at];
        if let Some(found) = place.checked_sub(1) {
            self.visit_next[found as usize].add(fresh);
        } else {
            self.next_frontier.push(page);
            self.visit_next.push(fresh);
            *place = number(self.next_frontier.len());
        }
    }

    /// Follows the links of the frontier, which is empty then, to pages for which `is_open` holds. Returns the number of
    /// links scanned.
    pub(crate) fn expand<'l>(
        &mut self,
        successors: impl Fn(u32) -> &'l [u32],
        is_open: impl Fn(u32) -> bool,
    ) -> usize {
        let frontier = std::mem::take(&mut self.frontier);
        let visit = std::mem::take(&mut self.visit);
        let mut scanned = 0;
        for (&page, &searches) in frontier.iter().zip(&visit) {
            let targets = successors(page);
            scanned += targets.len();
            for &target in targets {
                if is_open(target) {
                    self.find(target, searches);
                }
            }
        }
        // Keeps the memory.
        (self.frontier, self.visit) = (frontier, visit);
        self.frontier.clear();
        self.visit.clear();
        scanned
    }

    /// Ends a hop: calls `visit` with each page that is found on it, and the searches that find it. These pages are the
    /// frontier then.
    pub(crate) fn settle(&mut self, mut visit: impl FnMut(u32, SourceSet)) {
        for (&page, &fresh) in self.next_frontier.iter().zip(&self.visit_next) {
            self.places[page as usize] = 0;
            let seen = &mut self.seen[page as usize];
            if seen.is_empty() {
                self.found_pages.push(page);
            }
            seen.add(fresh);
            visit(page, fresh);
        }
        std::mem::swap(&mut self.visit, &mut self.visit_next);
        std::mem::swap(&mut self.frontier, &mut self.next_frontier);
        self.visit_next.clear();
        self.next_frontier.clear();
    }

    /// Settles the pages from `first` on that are found on this hop, without adding them to the next frontier. Calls
    /// `take` with each, and the searches that find it.
    pub(crate) fn take_from(&mut self, first: u32, mut take: impl FnMut(u32, SourceSet)) {
        let mut kept = 0;
        for at in 0..self.next_frontier.len() {
            let (page, searches) = (self.next_frontier[at], self.visit_next[at]);
            if page < first {
                self.next_frontier[kept] = page;
                self.visit_next[kept] = searches;
                kept += 1;
                self.places[page as usize] = number(kept);
                continue;
            }
            self.places[page as usize] = 0;
            let seen = &mut self.seen[page as usize];
            if seen.is_empty() {
                self.found_pages.push(page);
            }
            seen.add(searches);
            take(page, searches);
        }
        self.next_frontier.truncate(kept);
        self.visit_next.truncate(kept);
    }

    /// Adds a page at which searches are to the frontier.
    pub(crate) fn add_to_frontier(&mut self, page: u32, searches: SourceSet) {
        self.frontier.push(page);
        self.visit.push(searches);
    }

    /// Returns the pages of the frontier, each with the searches that are at it.
    pub(crate) fn frontier(&self) -> impl Iterator<Item = (u32, SourceSet)> {
        let searches = self.visit.iter().copied();
        self.frontier.iter().copied().zip(searches)
    }

    /// Returns the number of pages of the frontier, and of those that are found on this hop.
    pub(crate) const fn pages(&self) -> usize {
        self.frontier.len() + self.next_frontier.len()
    }

    /// Ends a run.
    pub(crate) fn clear(&mut self) {
        self.visit.clear();
        self.frontier.clear();
        for page in self.found_pages.drain(..) {
            self.seen[page as usize] = SourceSet::NONE;
        }
    }

    /// Finds the pages one hop further, and returns the number of links scanned. Scans from the
    /// frontier or, if that scans fewer links, from the unfound pages back to the frontier (Beamer
    /// et al., SC 2012).
    fn scan(&mut self, links: &impl Neighbours, alive: &[bool], active: SourceSet) -> usize {
        let pages = self.frontier.iter();
        let forward: usize = pages.map(|&page| links.successors(page).len()).sum();
        // Finding open pages means looking at every page, so it is done only where it can pay.
        if forward > alive.len() {
            let (seen, pages) = (&self.seen, 0..number(alive.len()));
            let open = pages.filter(|&page| {
                alive[page as usize] && !active.without(seen[page as usize]).is_empty()
            });
            let back: usize = open
                .clone()
                .map(|page| links.predecessors(page).len())
                .sum();
            if back < forward {
                self.next_frontier.extend(open);
                return self.scan_back(links, active);
            }
        }
        self.expand(|page| links.successors(page), |page| alive[page as usize])
    }

    /// Scans the links of the candidates in `next_frontier` back to the frontier, and drops those
    /// that were not found.
    fn scan_back(&mut self, links: &impl Neighbours, active: SourceSet) -> usize {
        for (place, &page) in (1..).zip(&self.frontier) {
            self.places[page as usize] = place;
        }
        let (visit, places, seen) = (&self.visit, &self.places, &self.seen);
        let visit_next = &mut self.visit_next;
        let mut scanned = 0;
        self.next_frontier.retain(|&page| {
            let missing = active.without(seen[page as usize]);
            let mut found = SourceSet::NONE;
            for &source in links.predecessors(page) {
                scanned += 1;
                if let Some(place) = places[source as usize].checked_sub(1) {
                    found.add(visit[place as usize].within(missing));
                    if found == missing {
                        break;
                    }
                }
            }
            if found.is_empty() {
                return false;
            }
            visit_next.push(found);
            true
        });
        for &page in &self.frontier {
            self.places[page as usize] = 0;
        }
        scanned
    }
}

/// Reusable working memories of concurrent runs, at most one for each thread.
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

    /// Returns the maximum number of concurrent runs. A frontier rarely has most pages, so a run is
    /// assumed to need 96 bytes per page.
    pub(crate) fn concurrency(&self) -> usize {
        (MEMORY / (size_of::<[SourceSet; 3]>() * self.pages.max(1))).clamp(1, 64)
    }

    /// Runs `work` with exclusive use of a working memory.
    pub(crate) fn with<T>(&self, work: impl FnOnce(&mut MultiSourceBfs) -> T) -> T {
        let idle = || self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        // The lock must be released before the work begins.
        let reused = idle().pop();
        let mut memory = reused.unwrap_or_else(|| MultiSourceBfs::new(self.pages));
        let result = work(&mut memory);
        idle().push(memory);
        result
    }
}

/// Sums for each search, `N` of them. Values that most searches share are added once.
#[derive(Clone, Debug)]
pub(crate) struct SourceSums<const N: usize> {
    all: SourceSet,
    common: [i64; N],
    own: [[i64; N]; BATCH_SIZE],
}

impl<const N: usize> SourceSums<N> {
    pub(crate) fn new(count: usize) -> Self {
        Self {
            all: SourceSet::first(count),
            common: [0; N],
            own: [[0; N]; BATCH_SIZE],
        }
    }

    /// Adds a value to each sum of the searches in `set`.
    pub(crate) fn add(&mut self, set: SourceSet, values: [i64; N]) {
        let by = |sums: &mut [i64; N], sign: i64| {
            for (sum, value) in sums.iter_mut().zip(values) {
                *sum += sign * value;
            }
        };
        if 2 * set.len() > self.all.len() {
            by(&mut self.common, 1);
            let others = self.all.without(set);
            others.each(|index| by(&mut self.own[index], -1));
        } else {
            set.each(|index| by(&mut self.own[index], 1));
        }
    }

    pub(crate) fn get(&self, index: usize) -> [i64; N] {
        std::array::from_fn(|sum| self.common[sum] + self.own[index][sum])
    }
}

/// A value for each search, to be summed over sets of searches.
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

    /// Sets the value of a search.
    pub(crate) fn set(&mut self, index: usize, value: i64) {
        self.total += value - self.own[index];
        self.own[index] = value;
    }

    /// Returns the sum of the values of the searches in `set`.
    pub(crate) fn sum(&self, set: SourceSet) -> i64 {
        let mut sum = 0;
        if 2 * set.len() > self.all.len() {
            self.all.without(set).each(|index| sum += self.own[index]);
            self.total - sum
        } else {
            set.each(|index| sum += self.own[index]);
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
            sums.add(few, [5, 0]);
            sums.add(many, [-7, 1]);
            for lane in 0..lanes {
                let expected = if lane < lanes / 3 { [5, 0] } else { [-7, 1] };
                assert_eq!(sums.get(lane), expected);
            }
        }
    }
}
