//! What is known of the weights of a site's pages, from pick to pick, and from refresh to refresh.
//!
//! Two bounds are kept of a page. The *positive value* left within its reach only falls as picks
//! cover pages. The *weight* can rise, since a pick may cover negative value that it had to pay for;
//! it rises by no more than the negative value that picks cover meanwhile, wherever that is.
//!
//! A [`Trail`] notes how these bounds fell, round by round, so that the next selection on the site
//! can begin with them (`followed`).

/// A bound that says nothing.
const NOTHING: i64 = i64::MAX / 4;
/// A bound is noted again once it fell by one part in so many, if not found by a search.
const FALL: i64 = 32;

/// Upper bounds at a round.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Mark {
    /// How many picks had been made.
    pub round: u32,
    /// No smaller than the weight.
    pub weight: i64,
    /// No smaller than the positive value within reach.
    pub positive: i64,
}

/// The bounds of each page as they fell, with ascending rounds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Trail {
    /// By page.
    pub marks: Vec<Vec<Mark>>,
}

/// Upper bounds of the weights of pages, as picks are made.
#[derive(Debug)]
pub(super) struct Known {
    /// On the positive value within reach, by page.
    pub(super) positive: Vec<i64>,
    /// On the weight, less `spared` at the time.
    weight: Vec<i64>,
    /// The negative value, as a positive number, that picks have covered so far.
    spared: i64,
    /// What `spared` was at each round.
    spared_by: Vec<i64>,
    /// The pages searched from in this round.
    searched: Vec<u32>,
    trail: Trail,
}

impl Known {
    /// Nothing but that no page reaches more than `total`.
    pub(super) fn new(pages: u32, total: i64) -> Self {
        let pages = pages as usize;
        Self {
            positive: vec![total; pages],
            weight: vec![NOTHING; pages],
            spared: 0,
            spared_by: Vec::new(),
            searched: Vec::new(),
            trail: Trail {
                marks: vec![Vec::new(); pages],
            },
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
        self.searched.push(page);
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

    /// Notes in the trail what was found out in a round.
    pub(super) fn note(&mut self, round: u32) {
        let searched = std::mem::take(&mut self.searched);
        self.spared_by.resize(round as usize + 1, self.spared);
        let spared = |since: u32| self.spared - self.spared_by[since as usize];
        let mut is_searched = vec![false; self.positive.len()];
        for page in searched {
            is_searched[page as usize] = true;
        }
        for (page, marks) in self.trail.marks.iter_mut().enumerate() {
            let positive = self.positive[page];
            let weight = positive.min(self.weight[page].saturating_add(self.spared));
            let is_lower = marks.last().is_none_or(|last| {
                let known = last
                    .positive
                    .min(last.weight.saturating_add(spared(last.round)));
                let fall = if is_searched[page] {
                    0
                } else {
                    known.abs() / FALL
                };
                weight < known - fall
            });
            if is_lower {
                marks.push(Mark {
                    round,
                    weight,
                    positive,
                });
            }
        }
    }

    pub(super) fn into_trail(self) -> Trail {
        self.trail
    }
}
