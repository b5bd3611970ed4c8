//! What a breadth-first crawl from seeds gathers within a budget of fetches.
//!
//! A crawl fetches the seeds in the order of their list, then depth by depth; where a depth does not
//! fit as a whole, its pages in URL order. That is the order of `evaluate budget`.
//!
//! Crawls from many lists of the same seeds need not follow each link again: a crawl from several
//! seeds meets at each depth what the crawls from each of them meet there, less what is nearer to
//! another one. So it is enough to keep of each the first pages, as many as the budget: what comes
//! after them is in no crawl of that budget from these seeds and more, since at least so many pages
//! come before it there too.

use super::graph::WebGraph;

/// The pages that a crawl from some seeds fetches, depth by depth.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(super) struct Crawl {
    /// At each depth in URL order.
    pages: Vec<u32>,
    /// Where the pages of each depth end.
    ends: Vec<usize>,
}

impl Crawl {
    /// How many pages it fetches.
    pub(super) fn fetched(&self) -> usize {
        self.pages.len()
    }

    /// What they are worth together, in millionths.
    pub(super) fn worth(&self, graph: &WebGraph) -> i64 {
        let values = self.pages.iter().map(|&page| graph.values()[page as usize]);
        values.sum()
    }

    /// Appends the pages of the next depth, as far as the budget goes.
    fn push(&mut self, pages: &[u32], budget: usize) {
        let room = budget.saturating_sub(self.pages.len());
        let mut pages = pages.to_vec();
        if pages.len() > room && room > 0 {
            pages.select_nth_unstable(room - 1);
        }
        pages.truncate(room);
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

/// Crawls, one at a time; marks can be used again without clearing. Memory: 4 bytes per page.
pub(super) struct Crawler<'a> {
    graph: &'a WebGraph,
    met_in: Vec<u32>,
    run: u32,
    level: Vec<u32>,
    next: Vec<u32>,
    /// Pages met plus links followed, over all crawls.
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

    /// Whether a page is met for the first time.
    fn is_new(met_in: &mut [u32], run: u32, page: u32) -> bool {
        std::mem::replace(&mut met_in[page as usize], run) != run
    }

    /// A crawl of at most `budget` pages from distinct seeds.
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

    /// A crawl of at most `budget` pages from the seeds of two crawls of at least that budget.
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
            // Where one depth brings nothing, neither does the next.
            if self.level.is_empty() || crawl.pages.len() >= budget {
                break;
            }
            crawl.push(&self.level, budget);
        }
        crawl
    }
}
