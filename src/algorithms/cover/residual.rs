//! What still counts on a site while its seeds are picked.

use super::graph::SiteGraph;

/// The pages that remain and the values that are left.
#[derive(Clone, Debug)]
pub(super) struct Residual {
    /// Whether each page remains; all do where covered pages are only zeroed.
    pub(super) alive: Vec<bool>,
    /// The value that each page has left, in millionths; 0 once covered or removed.
    pub(super) values: Vec<i64>,
    /// How many pages remain.
    pub(super) pages_left: usize,
    /// How many pages have a value other than zero.
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

    /// Sets a page's value to zero, and returns what it was.
    pub(super) fn zero(&mut self, page: u32) -> i64 {
        let value = std::mem::take(&mut self.values[page as usize]);
        if value != 0 {
            self.nonzero -= 1;
            self.positive -= value.max(0);
        }
        value
    }

    /// Removes a page that remained, together with its value.
    pub(super) fn remove(&mut self, page: u32) {
        self.zero(page);
        if std::mem::replace(&mut self.alive[page as usize], false) {
            self.pages_left -= 1;
        }
    }

    /// The pages whose value is not zero, ascending.
    pub(super) fn nonzero_pages(&self) -> Vec<u32> {
        let values = (0..).zip(&self.values);
        values
            .filter_map(|(page, &value)| (value != 0).then_some(page))
            .collect()
    }
}
