//! Simulated crawls from seed lists, with totals for several budgets of fetches.
//!
//! A crawl fetches pages in the order of a [`CrawlFrontier`]. Without limits that are parts of all fetches, the first N pages
//! are those of a crawl with a budget of N, so one crawl serves all budgets. Such limits are those of the greatest budget.
//!
//! Fetches are counted in two ways, since neither the links nor the value of an uncrawled page are known. If
//! uncrawled pages count, a list near the frontier looks worse than it is; if they do not, lists are compared
//! by known pages alone.

use crate::cover::Due;
use crate::crawl_frontier::{CrawlFrontier, Found, FoundSites};
use crate::crawl_limits::CrawlLimits;
use crate::graph::Csr;

/// The graph and the properties of its pages; pages are numbered in URL order.
#[derive(Clone, Copy, Debug)]
pub struct CrawlInput<'a> {
    /// The pages that each page links to, ascending.
    pub successors: &'a Csr,
    /// Whether the page is crawled, by page.
    pub crawled: &'a [bool],
    /// The values, in millionths, by page.
    pub values: &'a [i64],
    /// The PageRanks, by page.
    pub pagerank: &'a [f64],
    /// The part of a page that each one counts for, by page; empty if all count whole. Values are counted as they are.
    pub due: &'a [Due],
    /// The sites, by page, from 0; empty if the crawls do not depend on them.
    pub sites: &'a [u32],
    /// The limits of the crawls.
    pub limits: CrawlLimits,
    /// What the crawled pages contain.
    pub contents: PageContents<'a>,
}

/// The contents of pages. A page that is not crawled has its own.
#[derive(Clone, Copy, Debug, Default)]
pub struct PageContents<'a> {
    /// By page: a page with the same content, the same for all pages with it; empty if all contents differ.
    pub of_page: &'a [u32],
    /// Whether a content has a value once, that of the first of its pages that is fetched, instead of once for each.
    pub value_once: bool,
}

/// Totals over the pages that a crawl fetches within a budget. Crawled pages, contents and PageRanks count by
/// [`CrawlInput::due`]; sums of halves are exact.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Gathered {
    /// The number of fetches, also of those that fail.
    pub pages: u64,
    /// The number of these that are crawled.
    pub crawled: f64,
    /// The number of these that were not known as crawled when the list was made.
    pub new: f64,
    /// The number of distinct contents of the crawled pages.
    pub contents: f64,
    /// The number of these that no page had that was known as crawled when the list was made.
    pub new_contents: f64,
    /// The number of distinct pages that were fetched or that fetched pages link to, and that were not known
    /// at all when the list was made.
    pub discovered: u64,
    /// The sum of their values, in millionths.
    pub value: i64,
    /// The sum of their PageRanks.
    pub pagerank: f64,
}

/// The totals of one list within one budget, counted in both ways.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct FetchedWithin {
    /// Every page is fetched and counts for the budget.
    pub all: Gathered,
    /// Only crawled pages are fetched and count for the budget.
    pub of_crawled: Gathered,
}

/// Simulates crawls, one at a time, with marks that are reused without clearing. Memory: 4 bytes per page, and 4
/// if pages share contents.
#[derive(Clone, Debug)]
pub struct FetchSimulator<'a> {
    input: CrawlInput<'a>,
    met_in: Vec<u32>,
    discovered_in: Vec<u32>,
    content_in: Vec<u32>,
    sites: FoundSites<'a>,
    frontier: CrawlFrontier,
    run: u32,
}

/// What was known when a list was made.
#[derive(Clone, Copy, Debug, Default)]
pub struct KnownBefore<'a> {
    /// Whether the page was not known as crawled, by page; empty if all were.
    pub new: &'a [bool],
    /// Whether the page was not known at all, by page; empty if all were.
    pub unseen: &'a [bool],
    /// Whether the content is new: no page that was known as crawled had it. By the number of the content in
    /// [`PageContents::of_page`]; empty if all contents were known.
    pub new_contents: &'a [bool],
}

impl<'a> FetchSimulator<'a> {
    /// Creates a simulator.
    #[must_use]
    pub fn new(input: CrawlInput<'a>) -> Self {
        Self {
            input,
            met_in: vec![0; input.successors.len()],
            discovered_in: Vec::new(),
            content_in: vec![0; input.contents.of_page.len()],
            sites: FoundSites::new(input.sites, |page| input.crawled[page]),
            frontier: CrawlFrontier::default(),
            run: 0,
        }
    }

    /// Sets the limits of the next crawls.
    pub fn set_limits(&mut self, limits: CrawlLimits) {
        self.input.limits = limits;
    }

    /// Crawls from distinct `seeds` and returns the totals of all pages within each of `budgets`, which must be ascending.
    /// `before` has the pages that were not known when the seeds were chosen.
    ///
    /// Cost: the links of the pages within the greatest budget.
    pub fn crawl_all(
        &mut self,
        seeds: &[u32],
        budgets: &[u64],
        before: KnownBefore<'_>,
    ) -> Vec<Gathered> {
        self.crawl_counting(seeds, budgets, before, |_| true, |_| ())
    }

    /// Crawls within one budget as [`crawl_all`](Self::crawl_all) does, and calls `fetched` with each page whose fetch does not
    /// fail, in the order of fetching.
    pub fn crawl_each(
        &mut self,
        seeds: &[u32],
        budget: u64,
        fetched: impl FnMut(&Found),
    ) -> Gathered {
        let before = KnownBefore::default();
        let found = self.crawl_counting(seeds, &[budget], before, |_| true, fetched);
        found.into_iter().next().unwrap_or_default()
    }

    /// Crawls as [`crawl_all`](Self::crawl_all) does, and once more as if there were no other pages than crawled ones.
    ///
    /// Cost: twice the links of the pages within the greatest budget.
    pub fn crawl(
        &mut self,
        seeds: &[u32],
        budgets: &[u64],
        before: KnownBefore<'_>,
    ) -> Vec<FetchedWithin> {
        let all = self.crawl_all(seeds, budgets, before);
        let crawled = self.input.crawled;
        let is_crawled = |page: u32| crawled[page as usize];
        let of_crawled = self.crawl_counting(seeds, budgets, before, is_crawled, |_| ());
        all.into_iter()
            .zip(of_crawled)
            .map(|(all, of_crawled)| FetchedWithin { all, of_crawled })
            .collect()
    }

    /// Crawls the pages for which `counts` holds, as if there were no others.
    fn crawl_counting(
        &mut self,
        seeds: &[u32],
        budgets: &[u64],
        before: KnownBefore<'_>,
        counts: impl Fn(u32) -> bool,
        mut fetched: impl FnMut(&Found),
    ) -> Vec<Gathered> {
        let Self {
            input,
            met_in,
            discovered_in,
            content_in,
            sites,
            frontier,
            run,
        } = self;
        *run = run.wrapping_add(1);
        if *run == 0 {
            met_in.fill(0);
            discovered_in.fill(0);
            content_in.fill(0);
            *run = 1;
        }
        if !before.unseen.is_empty() {
            discovered_in.resize(met_in.len(), 0);
        }
        let most = budgets.last().copied().unwrap_or(0);
        frontier.begin(&input.limits, most);
        let holds = |marks: &[bool], page: u32| marks.get(page as usize).copied().unwrap_or(false);
        let mut discover = |page: u32| {
            let is_unseen = holds(before.unseen, page);
            is_unseen && std::mem::replace(&mut discovered_in[page as usize], *run) != *run
        };
        let mut is_first = |page: u32| std::mem::replace(&mut met_in[page as usize], *run) != *run;
        // Returns the content of a page, and whether it is fetched for the first time.
        let mut content_of = |page: u32| match input.contents.of_page.get(page as usize) {
            None => (page, true),
            Some(&of) => (
                of,
                std::mem::replace(&mut content_in[of as usize], *run) != *run,
            ),
        };
        let mut now = Gathered::default();
        let mut found = vec![None; budgets.len()];
        for (place, &page) in (0..).zip(seeds) {
            if is_first(page) && counts(page) {
                let depth = 0;
                frontier.add(Found { depth, place, page }, || sites.site(page));
            }
        }
        while now.pages < most {
            let mut round = frontier.next_round(most - now.pages, |page| sites.number(page));
            if round.is_empty() {
                break;
            }
            round.retain(|of| {
                let (page, at) = (of.page, of.page as usize);
                now.pages += 1;
                let has_failed = input.limits.fails(page);
                if !has_failed {
                    fetched(of);
                    let part = input.due.get(at).map_or(1.0, |due| due.fraction());
                    let count = |counts: bool| if counts { part } else { 0.0 };
                    now.crawled += count(input.crawled[at]);
                    now.new += count(holds(before.new, page));
                    now.discovered += u64::from(discover(page));
                    if !before.unseen.is_empty() {
                        let targets = input.successors.list(page).iter();
                        let targets = targets.map(|&target| u64::from(discover(target)));
                        now.discovered += targets.sum::<u64>();
                    }
                    let mut has_value = true;
                    if input.crawled[at] {
                        let (content, is_first) = content_of(page);
                        now.contents += count(is_first);
                        now.new_contents += count(is_first && holds(before.new_contents, content));
                        has_value = is_first || !input.contents.value_once;
                    }
                    if has_value {
                        now.value += input.values[at];
                    }
                    now.pagerank += part * input.pagerank[at];
                }
                record(&mut found, budgets, now);
                !has_failed
            });
            for of in &round {
                for &page in input.successors.list(of.page) {
                    if is_first(page) && counts(page) {
                        let (depth, place) = (of.depth + 1, page);
                        frontier.add(Found { depth, place, page }, || sites.site(page));
                    }
                }
            }
        }
        // A budget that exceeds the reachable pages has the totals of all of them.
        found
            .into_iter()
            .map(|found| found.unwrap_or(now))
            .collect()
    }
}

/// Records the totals for the budgets that are now used up.
fn record(found: &mut [Option<Gathered>], budgets: &[u64], now: Gathered) {
    for (found, &budget) in found.iter_mut().zip(budgets) {
        if budget == now.pages {
            *found = Some(now);
        }
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "these results are exact")]
mod tests {
    use super::*;
    use crate::evaluate::samples::csr;

    #[test]
    fn budgets_end_inside_a_depth_and_uncrawled_pages_count_separately() {
        // 0 leads to 1, 2 and 3; 1 to 4; 3 to 5. Pages 2 and 4 are only known.
        let links = csr(&[&[1, 2, 3], &[4], &[], &[5], &[], &[0]]);
        let crawled = [true, true, false, true, false, true];
        let values = [1, 10, 100, 1_000, 10_000, 100_000];
        let pagerank = [0.5, 0.25, 0.0, 0.0, 0.0, 0.25];
        let input = CrawlInput {
            successors: &links,
            crawled: &crawled,
            values: &values,
            pagerank: &pagerank,
            due: &[],
            sites: &[],
            limits: CrawlLimits::default(),
            contents: PageContents::default(),
        };
        let mut simulator = FetchSimulator::new(input);
        for _ in 0..2 {
            let before = KnownBefore {
                new: &[false, false, false, false, false, true],
                unseen: &[false, false, false, false, true, true],
                new_contents: &[],
            };
            let found = simulator.crawl(&[0], &[1, 3, 4, 99], before);
            // Page 1 links to 4, and 3 to 5.
            let discovered: Vec<u64> = found.iter().map(|w| w.all.discovered).collect();
            assert_eq!(discovered, [0, 1, 2, 2]);
            let of_crawled: Vec<u64> = found.iter().map(|w| w.of_crawled.discovered).collect();
            assert_eq!(of_crawled, [0, 2, 2, 2]);
            let all: Vec<(u64, f64, i64, f64)> = found
                .iter()
                .map(|w| (w.all.pages, w.all.crawled, w.all.value, w.all.new))
                .collect();
            assert_eq!(
                all,
                [
                    (1, 1.0, 1, 0.0),
                    (3, 2.0, 111, 0.0),
                    (4, 3.0, 1_111, 0.0),
                    (6, 4.0, 111_111, 1.0)
                ]
            );
            let of_crawled: Vec<(u64, i64)> = found
                .iter()
                .map(|w| (w.of_crawled.pages, w.of_crawled.value))
                .collect();
            assert_eq!(of_crawled, [(1, 1), (3, 1_011), (4, 101_011), (4, 101_011)]);
            assert_eq!(found[3].all.pagerank, 1.0);
        }
        // Seeds are fetched in list order, not URL order.
        let found = simulator.crawl(&[5, 1], &[1], KnownBefore::default());
        assert_eq!(found[0].all.value, 100_000);
        assert_eq!(
            simulator.crawl(&[], &[1], KnownBefore::default()),
            [FetchedWithin::default()]
        );
    }

    #[test]
    fn a_crawl_with_limits_leaves_out_pages() {
        // 0 leads to 1, 2 and 3; 1 to 4; 3 to 5. Pages 0 to 2 are on one site.
        let links = csr(&[&[1, 2, 3], &[4], &[], &[5], &[], &[]]);
        let fetched = |limits: &str, crawled: &[bool; 6]| {
            let input = CrawlInput {
                successors: &links,
                crawled,
                values: &[1, 10, 100, 1_000, 10_000, 100_000],
                pagerank: &[0.0; 6],
                due: &[],
                sites: &[0, 0, 0, 1, 1, 2],
                limits: limits.parse().unwrap(),
                contents: PageContents::default(),
            };
            let found = FetchSimulator::new(input).crawl(&[0], &[6], KnownBefore::default());
            (found[0].all.value, found[0].of_crawled.value)
        };
        let all = [true; 6];
        assert_eq!(fetched("none", &all), (111_111, 111_111));
        assert_eq!(fetched("depth=1", &all), (1_111, 1_111));
        assert_eq!(fetched("depth=0", &all), (1, 1));
        // Page 2 is the third of its site, and page 4 the second.
        assert_eq!(fetched("per-site=2", &all), (111_011, 111_011));
        // Page 1 is the second of its site, and so page 4 is not found.
        assert_eq!(fetched("per-site=1", &all), (101_001, 101_001));
        // A third of six pages is two. Without the known page 1, page 2 is the second of its site.
        let known = [true, false, true, true, true, true];
        assert_eq!(fetched("per-site=34%", &known), (111_011, 101_101));
    }
    #[test]
    fn a_content_counts_once() {
        // 0 leads to all others; 1, 2 and 4 have one content, and 3 is only known.
        let links = csr(&[&[1, 2, 3, 4], &[], &[], &[], &[]]);
        let found = |value_once: bool, seeds: &[u32], budget: u64| {
            let input = CrawlInput {
                successors: &links,
                crawled: &[true, true, true, false, true],
                values: &[1, 10, 100, 1_000, 10_000],
                pagerank: &[0.0; 5],
                due: &[],
                sites: &[],
                limits: CrawlLimits::default(),
                contents: PageContents {
                    of_page: &[0, 1, 1, 3, 1],
                    value_once,
                },
            };
            let before = KnownBefore {
                new: &[true, false, false, false, true],
                unseen: &[],
                new_contents: &[true, false, false, false, false],
            };
            let mut simulator = FetchSimulator::new(input);
            let first = simulator.crawl(seeds, &[budget], before);
            assert_eq!(first, simulator.crawl(seeds, &[budget], before));
            let all = first[0].all;
            ((all.contents, all.new_contents), all.value)
        };
        assert_eq!(found(false, &[0], 9), ((2.0, 1.0), 11_111));
        assert_eq!(found(true, &[0], 9), ((2.0, 1.0), 1_011));
        // The first page that is fetched counts, whichever it is.
        assert_eq!(found(true, &[4, 0], 9), ((2.0, 1.0), 11_001));
        assert_eq!(found(true, &[4, 2], 9), ((1.0, 0.0), 10_000));
        assert_eq!(found(true, &[0], 2), ((2.0, 1.0), 11));
    }
}
