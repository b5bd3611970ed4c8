//! Upper bounds of the weights of a site's pages, from pick to pick.
//!
//! Two bounds are kept for each page. The *positive value* left within its reach only falls as picks
//! cover pages. The *weight* can rise, since a pick may cover negative value that the page had to pay
//! for; it rises by no more than the negative value that picks cover meanwhile, wherever that is.

/// A bound that says nothing.
const NOTHING: i64 = i64::MAX / 4;

/// Upper bounds of the weights of pages, as picks are made.
#[derive(Debug)]
pub(super) struct WeightBounds {
    /// On the positive value within reach, by page.
    pub(super) positive: Vec<i64>,
    /// On the weight, less `spared` at the time.
    weight: Vec<i64>,
    /// The negative value, as a positive number, that picks have covered so far.
    spared: i64,
}

impl WeightBounds {
    /// Nothing but that no page reaches more than `total`.
    pub(super) fn new(pages: u32, total: i64) -> Self {
        let pages = pages as usize;
        Self {
            positive: vec![total; pages],
            weight: vec![NOTHING; pages],
            spared: 0,
        }
    }

    /// The bound of a page's weight.
    pub(super) fn of(&self, page: u32) -> i64 {
        let page = page as usize;
        self.positive[page].min(self.weight[page].saturating_add(self.spared))
    }

    /// Takes in the result of a search.
    pub(super) fn searched(&mut self, page: u32, (weight, positive): (i64, i64)) {
        self.positive[page as usize] = positive;
        self.weight[page as usize] = weight - self.spared;
    }

    /// Takes in bounds of a page.
    pub(super) fn lower(&mut self, page: u32, weight: i64, positive: i64) {
        let page = page as usize;
        self.positive[page] = self.positive[page].min(positive);
        self.weight[page] = self.weight[page].min(weight.saturating_sub(self.spared));
    }

    /// Takes in the negative value, as a positive number, that each page reaches for certain.
    pub(super) fn pays(&mut self, paid: &[i64]) {
        for ((weight, positive), paid) in self.weight.iter_mut().zip(&self.positive).zip(paid) {
            *weight = (*weight).min(positive - paid - self.spared);
        }
    }

    /// Notes that pages with this negative value, as a positive number, were covered.
    pub(super) const fn spare(&mut self, value: i64) {
        self.spared += value;
    }

    /// Forgets the bounds on weights: where pages are removed, those behind them cannot be reached
    /// any more, however much negative value they have.
    pub(super) fn forget_weights(&mut self) {
        self.weight.fill(NOTHING);
    }
}
