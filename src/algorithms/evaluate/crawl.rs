//! Breadth-first crawls: totals by depth, or within a budget.

use super::forward_graph::{ForwardGraph, Search};
use crate::watch::{Interrupted, Watch};

/// The properties of a page that crawls are evaluated by.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct PageWorth {
    /// The PageRank of the page on the whole graph.
    pub pagerank: f64,
    /// The value of the page, in millionths; 0 for an uncrawled page, which counts in the value of the pages
    /// that link to it.
    pub value: i64,
    /// The number of clicks.
    pub clicks: u64,
    /// Whether the page has the spam mark.
    pub spam: bool,
    /// Whether the bank has crawled the page.
    pub crawled: bool,
}

/// Totals over some pages.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Tally {
    /// The number of pages.
    pub pages: u64,
    /// The number of crawled pages.
    pub crawled: u64,
    /// The number of spam pages.
    pub spam: u64,
    /// The number of pages with clicks.
    pub clicked_pages: u64,
    /// The sum of their clicks.
    pub clicks: u64,
    /// The sum of their PageRanks.
    pub pagerank: f64,
    /// The sum of their values, in millionths.
    pub value: i128,
}

impl Tally {
    /// Adds pages to the totals, in order.
    pub fn count(&mut self, pages: &[u32], worth: &[PageWorth]) {
        for &page in pages {
            let of_page = &worth[page as usize];
            self.pages += 1;
            self.crawled += u64::from(of_page.crawled);
            self.spam += u64::from(of_page.spam);
            self.clicked_pages += u64::from(of_page.clicks > 0);
            self.clicks = self.clicks.saturating_add(of_page.clicks);
            self.pagerank += of_page.pagerank;
            self.value += i128::from(of_page.value);
        }
    }

    /// The mean PageRank; `None` without pages.
    #[must_use]
    pub fn mean_pagerank(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.pagerank / self.pages as f64)
    }

    /// The fraction of spam, from 0 to 1; `None` without pages.
    #[must_use]
    pub fn spam_share(&self) -> Option<f64> {
        (self.pages > 0).then(|| self.spam as f64 / self.pages as f64)
    }

    /// The value, in units.
    #[must_use]
    pub fn units(&self) -> f64 {
        self.value as f64 / 1e6
    }
}

/// Crawls from `seeds` and returns the totals at each depth from 0 to `depth`, up to the last depth with pages.
pub fn crawl(
    search: &mut Search<'_>,
    worth: &[PageWorth],
    seeds: &[u32],
    depth: u32,
    watch: &dyn Watch,
) -> Result<Vec<Tally>, Interrupted> {
    let mut depths = Vec::new();
    search.start(seeds);
    let mut more = !search.level().is_empty();
    while more {
        let mut tally = Tally::default();
        tally.count(search.level(), worth);
        depths.push(tally);
        watch.proceed()?;
        more = depths.len() as u64 <= u64::from(depth) && search.deepen();
    }
    Ok(depths)
}

/// Returns the depth at which a crawl from `seeds` reaches each of `pages`; `None` for a page that it does
/// not reach within `depth`.
pub fn reached(
    web: &ForwardGraph,
    seeds: &[u32],
    pages: &[u32],
    depth: u32,
    watch: &dyn Watch,
) -> Result<Vec<Option<u32>>, Interrupted> {
    let mut wanted: Vec<(u32, usize)> = pages.iter().copied().zip(0..).collect();
    wanted.sort_unstable();
    let mut found = vec![None; pages.len()];
    let mut search = Search::new(web);
    search.start(seeds);
    for at in 0..=depth {
        watch.proceed()?;
        for page in search.level() {
            let from = wanted.partition_point(|(wanted, _)| wanted < page);
            for (_, place) in wanted[from..].iter().take_while(|entry| entry.0 == *page) {
                found[*place] = Some(at);
            }
        }
        if at == depth || !search.deepen() {
            break;
        }
    }
    Ok(found)
}

/// The result of a crawl within a budget.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct BudgetCrawl {
    /// The totals over the pages.
    pub tally: Tally,
    /// The greatest depth of a page; `None` without pages.
    pub depth: Option<u32>,
}

/// Crawls at most `budget` pages: the seeds in the order of their list, then depth by depth. If a depth
/// exceeds the budget, `first` chooses its pages.
///
/// `seeds` must be distinct.
pub fn crawl_within_budget<E: From<Interrupted>>(
    web: &ForwardGraph,
    worth: &[PageWorth],
    seeds: &[u32],
    budget: u64,
    watch: &dyn Watch,
    first: impl FnOnce(&[u32], usize) -> Result<Vec<u32>, E>,
) -> Result<BudgetCrawl, E> {
    let mut spent = BudgetCrawl::default();
    let room =
        |spent: &BudgetCrawl| usize::try_from(budget - spent.tally.pages).unwrap_or(usize::MAX);
    let fitting = &seeds[..seeds.len().min(room(&spent))];
    let mut search = Search::new(web);
    search.start(fitting);
    if fitting.is_empty() {
        return Ok(spent);
    }
    spent.tally.count(search.level(), worth);
    let mut depth = 0;
    spent.depth = Some(depth);
    while room(&spent) > 0 && fitting.len() == seeds.len() {
        watch.proceed()?;
        if !search.deepen() {
            break;
        }
        depth += 1;
        spent.depth = Some(depth);
        if search.level().len() > room(&spent) {
            let mut fitting = first(search.level(), room(&spent))?;
            fitting.sort_unstable();
            spent.tally.count(&fitting, worth);
            break;
        }
        spent.tally.count(search.level(), worth);
    }
    Ok(spent)
}

#[cfg(test)]
#[path = "crawl_tests.rs"]
#[expect(clippy::float_cmp, reason = "these results are exact")]
mod tests;
