//! Breadth-first crawls: totals by depth.

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

#[cfg(test)]
#[path = "crawl_tests.rs"]
#[expect(clippy::float_cmp, reason = "these results are exact")]
mod tests;
