//! The pages that a simulated crawl has found and not fetched, and the order in which it fetches them.
//!
//! A crawl fetches its seeds in the order of their list, then depth by depth, each in URL order. Without rounds, it fetches
//! all pages of a depth at a time. With rounds, it fetches in each round the first pages in this order, of each site at most as
//! many as a round may have.

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap};

use crate::crawl_limits::{CrawlLimits, Enter};

/// A page that a crawl has found, in the order of fetching.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub struct Found<P = u32> {
    /// The number of links from a seed.
    pub depth: u32,
    /// The place of a seed in its list; of other pages, the place in URL order.
    pub place: P,
    /// The page.
    pub page: u32,
}

/// The site of a page that a crawl has found.
#[derive(Clone, Copy, Debug)]
pub struct FoundSite {
    /// The number of the site, from 0.
    pub number: u32,
    /// Whether the site has crawled pages.
    pub has_crawled: bool,
}

/// The sites of numbered pages.
#[derive(Clone, Debug, Default)]
pub struct FoundSites<'a> {
    of_page: &'a [u32],
    /// By site.
    has_crawled: Vec<bool>,
}

impl<'a> FoundSites<'a> {
    /// Creates the sites, given the site of each page and whether each page is crawled.
    #[must_use]
    pub fn new(of_page: &'a [u32], is_crawled: impl Fn(usize) -> bool) -> Self {
        let count = of_page.iter().max().map_or(0, |&last| last as usize + 1);
        let mut has_crawled = vec![false; count];
        for (page, site) in of_page.iter().enumerate() {
            has_crawled[*site as usize] |= is_crawled(page);
        }
        Self {
            of_page,
            has_crawled,
        }
    }

    /// Returns the number of the site of a page.
    #[must_use]
    pub fn number(&self, page: u32) -> u32 {
        self.of_page[page as usize]
    }

    /// Returns the site of a page.
    #[must_use]
    pub fn site(&self, page: u32) -> FoundSite {
        let number = self.number(page);
        FoundSite {
            number,
            has_crawled: self.has_crawled[number as usize],
        }
    }
}

/// The pages that a crawl has found and not fetched. It can be used for one crawl after another.
///
/// Memory: 8 bytes and a place for each page; if the crawl depends on sites, up to 60 for each site up to the last one found.
#[derive(Clone, Debug, Default)]
pub struct CrawlFrontier<P = u32> {
    limits: CrawlLimits,
    /// The largest number of pages of a site.
    per_site: Option<u64>,
    /// The largest number of pages of a site and of all sites in a round; `None` if a round fetches all pages of a depth.
    round: Option<(u64, u64)>,
    /// The number of rounds that are left.
    rounds: u64,
    /// The number of fetched pages, by site.
    counts: Vec<u64>,
    /// The pages of the next depth, without rounds.
    next: Vec<Found<P>>,
    /// The pages of each site.
    queues: Vec<BinaryHeap<Reverse<Found<P>>>>,
    /// The first page of each site that has any, with the site.
    heads: BTreeSet<(Found<P>, u32)>,
    /// By site: the last round with a page, and the number of its pages.
    in_round: Vec<(u64, u64)>,
    /// Whether the crawl enters a site, by site; empty if it enters all.
    entered: Vec<bool>,
}

impl<P: Clone + Ord> CrawlFrontier<P> {
    /// Begins a crawl of `fetches` pages.
    pub fn begin(&mut self, limits: &CrawlLimits, fetches: u64) {
        self.limits = *limits;
        self.per_site = limits.per_site.map(|limit| limit.of(fetches));
        self.round = limits.has_rounds().then(|| {
            let of_site = limits.per_site_round.map_or(1, |limit| limit.of(fetches));
            (
                of_site,
                limits.round.map_or(u64::MAX, |limit| limit.of(fetches)),
            )
        });
        self.rounds = limits.rounds.map_or(u64::MAX, |limit| limit.of(fetches));
        // No round has the number that sites without pages have.
        self.rounds = self.rounds.min(u64::MAX - 1);
        self.counts.clear();
        self.next.clear();
        self.heads.clear();
        self.queues.clear();
        self.in_round.clear();
        self.entered.clear();
    }

    /// Makes room for the counts of a site.
    fn reserve(&mut self, site: u32) {
        let sites = site as usize + 1;
        if sites <= self.counts.len() {
            return;
        }
        self.counts.resize(sites, 0);
        if self.round.is_some() {
            self.queues.resize_with(sites, BinaryHeap::new);
            self.in_round.resize(sites, (u64::MAX, 0));
        }
        if self.limits.enter != Enter::All {
            self.entered.resize(sites, false);
        }
    }

    /// Returns whether the crawl has rounds.
    #[must_use]
    pub const fn has_rounds(&self) -> bool {
        self.round.is_some()
    }

    /// Returns the largest number of pages of a round, if `most` pages are left.
    pub(crate) fn pages_of_round(&self, most: u64) -> u64 {
        self.round.map_or(most, |(_, of_round)| most.min(of_round))
    }

    /// Adds a page that was not found before; seeds first. `site` is called if the crawl depends on sites.
    pub fn add(&mut self, found: Found<P>, site: impl FnOnce() -> FoundSite) {
        if !self.limits.reach(found.depth) {
            return;
        }
        if !self.limits.needs_sites() {
            self.next.push(found);
            return;
        }
        let site = site();
        self.reserve(site.number);
        if let Some(is_entered) = self.entered.get_mut(site.number as usize) {
            let enters_crawled = self.limits.enter == Enter::Crawled;
            *is_entered |= found.depth == 0 || (enters_crawled && site.has_crawled);
            if !*is_entered {
                return;
            }
        }
        if self.round.is_none() {
            self.next.push(found);
            return;
        }
        let site = site.number;
        let queue = &mut self.queues[site as usize];
        let head = queue.peek().map(|head| head.0.clone());
        queue.push(Reverse(found.clone()));
        if head.as_ref().is_none_or(|head| found < *head) {
            if let Some(head) = head {
                self.heads.remove(&(head, site));
            }
            self.heads.insert((found, site));
        }
    }

    /// Removes and returns the pages of the next round, at most `most`, in the order of fetching; none at the end of the
    /// crawl.
    ///
    /// Cost: logarithmic for each page.
    pub fn next_round(&mut self, most: u64, site: impl Fn(u32) -> u32) -> Vec<Found<P>> {
        let Some((of_site, of_round)) = self.round else {
            return self.next_depth(most, site);
        };
        let mut taken: Vec<Found<P>> = Vec::new();
        if self.rounds == 0 {
            return taken;
        }
        self.rounds -= 1;
        let most = most.min(of_round);
        // The sites that wait for the next round.
        let mut waiting: Vec<(Found<P>, u32)> = Vec::new();
        while (taken.len() as u64) < most {
            let Some((found, site)) = self.heads.pop_first() else {
                break;
            };
            let place = site as usize;
            let queue = &mut self.queues[place];
            if self
                .per_site
                .is_some_and(|limit| self.counts[place] >= limit)
            {
                queue.clear();
                continue;
            }
            queue.pop();
            self.counts[place] += 1;
            taken.push(found);
            let (round, count) = &mut self.in_round[place];
            *count = if *round == self.rounds { *count + 1 } else { 1 };
            *round = self.rounds;
            match queue.peek() {
                Some(head) if *count < of_site => {
                    self.heads.insert((head.0.clone(), site));
                }
                Some(head) => waiting.push((head.0.clone(), site)),
                None => {}
            }
        }
        self.heads.extend(waiting);
        taken
    }

    /// Puts back the last pages of a round, which other pages of the round exclude.
    pub(crate) fn put_back(&mut self, found: &[Found<P>], site: impl Fn(u32) -> u32) {
        for found in found {
            let number = site(found.page);
            self.counts[number as usize] -= 1;
            // The crawl has entered the site.
            let has_crawled = true;
            self.add(found.clone(), || FoundSite {
                number,
                has_crawled,
            });
        }
    }

    /// Removes and returns the pages of the next depth.
    fn next_depth(&mut self, most: u64, site: impl Fn(u32) -> u32) -> Vec<Found<P>> {
        let mut pages = std::mem::take(&mut self.next);
        let most = usize::try_from(most).unwrap_or(usize::MAX);
        if let Some(limit) = self.per_site {
            pages.sort_unstable();
            pages.retain(|found| {
                let count = &mut self.counts[site(found.page) as usize];
                *count += 1;
                *count <= limit
            });
        } else if (1..pages.len()).contains(&most) {
            pages.select_nth_unstable(most - 1);
        }
        pages.truncate(most);
        pages.sort_unstable();
        pages
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The pages of each round of a crawl of 6 fetches, of pages with these depths and sites.
    fn rounds(limits: &str, pages: &[(u32, u32)]) -> Vec<Vec<u32>> {
        let mut frontier = CrawlFrontier::default();
        let limits: CrawlLimits = limits.parse().unwrap();
        let site = |page: u32| pages[page as usize].1;
        // A frontier is used again.
        for _ in 0..2 {
            frontier.begin(&limits, 6);
            // Seeds come first, others in any order.
            let mut order: Vec<u32> = (0..8).rev().collect();
            order.sort_by_key(|&page| pages[page as usize].0 > 0);
            for page in order {
                let found = Found {
                    depth: pages[page as usize].0,
                    place: page,
                    page,
                };
                frontier.add(found, || FoundSite {
                    number: site(page),
                    has_crawled: site(page) == 1,
                });
            }
        }
        let mut all = Vec::new();
        loop {
            let left = 6 - all.iter().map(Vec::len).sum::<usize>();
            let round = frontier.next_round(left as u64, site);
            if round.is_empty() {
                return all;
            }
            all.push(round.iter().map(|found| found.page).collect());
        }
    }

    #[test]
    fn a_round_has_the_first_pages_of_each_site() {
        let pages = [
            (1, 0),
            (1, 0),
            (1, 1),
            (0, 0),
            (2, 2),
            (1, 0),
            (3, 0),
            (1, 1),
        ];
        assert_eq!(rounds("none", &pages), [[3, 0, 1, 2, 5, 7]]);
        assert_eq!(rounds("depth=0", &pages), [[3]]);
        assert_eq!(rounds("per-site=2", &pages), [vec![3, 0, 2, 7, 4]]);
        assert_eq!(
            rounds("sites-at-once=9", &pages),
            [vec![3, 2, 4], vec![0, 7], vec![1]]
        );
        assert_eq!(
            rounds("sites-at-once=2,depth=1", &pages),
            [vec![3, 2], vec![0, 7], vec![1], vec![5]]
        );
        assert_eq!(rounds("rounds=1", &pages), [[3, 2, 4]]);
        assert_eq!(rounds("rounds=34%", &pages), [vec![3, 2, 4], vec![0, 7]]);
        assert_eq!(
            rounds("round=50%,per-site-round=2", &pages),
            [[3, 0, 2], [1, 5, 7]]
        );
        assert_eq!(
            rounds("sites-at-once=9,per-site=2", &pages),
            [vec![3, 2, 4], vec![0, 7]]
        );
        assert_eq!(rounds("enter=seeds", &pages), [vec![3, 0, 1, 5, 6]]);
        // Site 1 has crawled pages.
        assert_eq!(rounds("enter=crawled", &pages), [vec![3, 0, 1, 2, 5, 7]]);
    }

    #[test]
    fn pages_that_are_put_back_come_first_in_the_next_round() {
        let mut frontier = CrawlFrontier::default();
        let limits: CrawlLimits = "sites-at-once=3,per-site=1".parse().unwrap();
        frontier.begin(&limits, 9);
        for page in 0..3 {
            let found = Found {
                depth: 0,
                place: page,
                page,
            };
            frontier.add(found, || FoundSite {
                number: page,
                has_crawled: false,
            });
        }
        let round = frontier.next_round(9, |page| page);
        frontier.put_back(&round[1..], |page| page);
        let pages = frontier.next_round(9, |page| page);
        assert_eq!(pages, &round[1..]);
        assert_eq!(frontier.next_round(9, |page| page), []);
    }
}
