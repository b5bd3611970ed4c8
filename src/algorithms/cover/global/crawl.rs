//! Breadth-first crawls from seeds within a budget of fetches.
//!
//! A crawl fetches the seeds in the order of their list, then depth by depth; if a depth exceeds the
//! budget, its first pages in URL order. That is the order of `evaluate budget`.
//!
//! Crawls from many subsets of the same seeds need not follow each link again: at each depth, a crawl from
//! several seeds meets the pages that the crawls from each of them meet there, except pages nearer to
//! another seed. It is enough to store the first pages of each crawl, as many as the budget: at least as
//! many pages precede any other page in a crawl from more seeds too, so no crawl of that budget fetches it.

use super::graph::WebGraph;

/// The pages that a crawl from some seeds fetches, depth by depth.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Crawl {
    /// By depth, and in URL order within each depth.
    pages: Vec<u32>,
    /// The end of each depth in `pages`.
    ends: Vec<usize>,
}

impl Crawl {
    /// Returns the number of pages.
    pub(super) fn fetched(&self) -> usize {
        self.pages.len()
    }

    /// The pages, depth by depth and in URL order within each depth.
    pub(super) fn pages(&self) -> &[u32] {
        &self.pages
    }

    /// The sum of the values of the pages, in millionths.
    pub(super) fn worth(&self, graph: &WebGraph) -> i64 {
        let values = self.pages.iter().map(|&page| graph.values()[page as usize]);
        values.sum()
    }

    /// Appends the pages of the next depth, within the budget.
    fn push(&mut self, pages: &[u32], budget: usize) {
        let left = budget.saturating_sub(self.pages.len());
        let mut pages = pages.to_vec();
        if pages.len() > left && left > 0 {
            pages.select_nth_unstable(left - 1);
        }
        pages.truncate(left);
        pages.sort_unstable();
        self.pages.extend(pages);
        self.ends.push(self.pages.len());
    }

    fn depth(&self, depth: usize) -> &[u32] {
        let end = |depth: usize| self.ends.get(depth).copied().unwrap_or(self.pages.len());
        let from = depth.checked_sub(1).map_or(0, end);
        &self.pages[from..end(depth)]
    }
}

/// Simulates crawls, one at a time, with marks that are reused without clearing. Memory: 4 bytes per page.
pub(super) struct Crawler<'a> {
    graph: &'a WebGraph,
    met_in: Vec<u32>,
    run: u32,
    level: Vec<u32>,
    next: Vec<u32>,
    /// Pages met plus links followed, in all crawls.
    pub(super) visits: u64,
}

impl<'a> Crawler<'a> {
    pub(super) fn new(graph: &'a WebGraph) -> Self {
        Self {
            graph,
            met_in: vec![0; graph.pages() as usize],
            run: 0,
            level: Vec::new(),
            next: Vec::new(),
            visits: 0,
        }
    }

    fn begin(&mut self) {
        self.run = self.run.wrapping_add(1);
        if self.run == 0 {
            self.met_in.fill(0);
            self.run = 1;
        }
        self.level.clear();
    }

    /// Marks a page; returns whether it is met for the first time.
    fn is_new(met_in: &mut [u32], run: u32, page: u32) -> bool {
        std::mem::replace(&mut met_in[page as usize], run) != run
    }

    /// Crawls at most `budget` pages from distinct seeds.
    pub(super) fn crawl(&mut self, seeds: &[u32], budget: usize) -> Crawl {
        self.begin();
        let mut crawl = Crawl::default();
        let run = self.run;
        for &seed in seeds.iter().take(budget) {
            if Self::is_new(&mut self.met_in, run, seed) {
                self.level.push(seed);
            }
        }
        while !self.level.is_empty() {
            self.visits += self.level.len() as u64;
            crawl.push(&self.level, budget);
            if crawl.pages.len() >= budget {
                break;
            }
            self.next.clear();
            for &page in &self.level {
                let targets = self.graph.successors().list(page);
                self.visits += targets.len() as u64;
                for &target in targets {
                    if Self::is_new(&mut self.met_in, run, target) {
                        self.next.push(target);
                    }
                }
            }
            std::mem::swap(&mut self.level, &mut self.next);
        }
        crawl
    }

    /// Crawls at most `budget` pages from the seeds of two crawls, each with at least that budget.
    pub(super) fn join(&mut self, one: &Crawl, other: &Crawl, budget: usize) -> Crawl {
        self.begin();
        let mut crawl = Crawl::default();
        for depth in 0.. {
            self.level.clear();
            for &page in one.depth(depth).iter().chain(other.depth(depth)) {
                self.visits += 1;
                if Self::is_new(&mut self.met_in, self.run, page) {
                    self.level.push(page);
                }
            }
            // After an empty depth, all further depths are empty.
            if self.level.is_empty() || crawl.pages.len() >= budget {
                break;
            }
            crawl.push(&self.level, budget);
        }
        crawl
    }
}
