//! The pages and values of a site that picks have not covered yet.

use super::bfs_ball::BallSearch;
use super::graph::SiteGraph;

/// The pages that remain, and their values.
#[derive(Clone, Debug)]
pub(super) struct Residual {
    /// Whether each page remains; all do if covered pages are only zeroed.
    pub(super) alive: Vec<bool>,
    /// The value of each page, in millionths; 0 once it is covered or removed.
    pub(super) values: Vec<i64>,
    /// The number of pages that remain.
    pub(super) pages_left: usize,
    /// The number of pages with a value other than zero.
    pub(super) nonzero: usize,
    /// The sum of the positive values, in millionths.
    pub(super) positive: i64,
}

impl Residual {
    pub(super) fn new(graph: &SiteGraph) -> Self {
        let values = graph.values().to_vec();
        Self {
            alive: vec![true; values.len()],
            pages_left: values.len(),
            nonzero: values.iter().filter(|&&v| v != 0).count(),
            positive: values.iter().map(|v| v.max(&0)).sum(),
            values,
        }
    }

    /// Sets a page's value to zero, and returns the previous value.
    pub(super) fn zero(&mut self, page: u32) -> i64 {
        let value = std::mem::take(&mut self.values[page as usize]);
        if value != 0 {
            self.nonzero -= 1;
            self.positive -= value.max(0);
        }
        value
    }

    /// Removes a page together with its value.
    pub(super) fn remove(&mut self, page: u32) {
        self.zero(page);
        if std::mem::replace(&mut self.alive[page as usize], false) {
            self.pages_left -= 1;
        }
    }

    /// Removes the remaining pages within `hops` of a pick, over remaining pages, and returns the page
    /// visits. Does nothing if an earlier pick has removed the pick itself, which happens to pins.
    pub(super) fn remove_ball(
        &mut self,
        graph: &SiteGraph,
        search: &mut BallSearch,
        pick: u32,
        hops: u32,
    ) -> u64 {
        let alive = &self.alive;
        if !alive[pick as usize] {
            return 0;
        }
        let mut removed = Vec::new();
        let visits = search.levels_among(
            graph.successor_lists(),
            &[pick],
            hops,
            |page| alive[page as usize],
            |level| removed.extend_from_slice(level.pages),
        );
        for page in removed {
            self.remove(page);
        }
        visits
    }

    /// The pages whose value is not zero, ascending, with their values.
    pub(super) fn nonzero_values(&self) -> Vec<(u32, i64)> {
        let values = (0..).zip(self.values.iter().copied());
        values.filter(|&(_, value)| value != 0).collect()
    }
}
