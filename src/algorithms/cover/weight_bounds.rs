//! Upper bounds of the weights of a site's pages, from pick to pick.
//!
//! Each page has two bounds. The *positive value* within its reach only falls as picks cover pages. The
//! *weight* can rise, since a pick may cover negative value within the page's reach; it rises by at most
//! the negative value that picks have covered anywhere since the bound was set.

/// A bound that excludes nothing; its sum with any slack does not overflow.
const UNBOUNDED: i64 = i64::MAX / 4;

/// Upper bounds of the weights of pages.
#[derive(Debug)]
pub(super) struct WeightBounds {
    /// On the positive value within reach, by page.
    pub(super) positive: Vec<i64>,
    /// On the weight, minus `slack` at the time when the bound was set.
    weight: Vec<i64>,
    /// The sum of the negative values that picks have covered so far, without its sign.
    slack: i64,
}

impl WeightBounds {
    /// Bounds that only state that no page reaches more than `total`.
    pub(super) fn new(pages: u32, total: i64) -> Self {
        let pages = pages as usize;
        Self {
            positive: vec![total; pages],
            weight: vec![UNBOUNDED; pages],
            slack: 0,
        }
    }

    /// The bound of a page's weight.
    pub(super) fn bound_of(&self, page: u32) -> i64 {
        let page = page as usize;
        self.positive[page].min(self.weight[page].saturating_add(self.slack))
    }

    /// Replaces the bounds of a page by its exact weight and positive value.
    pub(super) fn set_exact(&mut self, page: u32, weight: i64, positive: i64) {
        self.positive[page as usize] = positive;
        self.weight[page as usize] = weight - self.slack;
    }

    /// Lowers the bounds of a page.
    pub(super) fn lower(&mut self, page: u32, weight: i64, positive: i64) {
        let page = page as usize;
        self.positive[page] = self.positive[page].min(positive);
        self.weight[page] = self.weight[page].min(weight.saturating_sub(self.slack));
    }

    /// Lowers the bounds on weights by the absolute negative value that each page is certain to reach.
    pub(super) fn subtract_losses(&mut self, losses: &[i64]) {
        for ((weight, positive), loss) in self.weight.iter_mut().zip(&self.positive).zip(losses) {
            *weight = (*weight).min(positive - loss - self.slack);
        }
    }

    /// Accounts for a pick that covers this absolute negative value.
    pub(super) const fn add_slack(&mut self, value: i64) {
        self.slack += value;
    }

    /// Drops the bounds on weights. Required where pages are removed: the negative value behind them can
    /// no longer be reached, however large it is.
    pub(super) fn forget_weights(&mut self) {
        self.weight.fill(UNBOUNDED);
    }
}
