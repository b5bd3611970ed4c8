//! The result of a selection: picks with their scores and gains.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use super::params::Method;
use crate::page::SiteId;

/// The score that a page was picked by.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// Drawn at random, or pinned: there is no score.
    Drawn,
    /// PageRank, on the graph of the site or of the whole web.
    Pagerank(f64),
    /// Out-degree; for max-out, among the pages that remained at that pick.
    OutDegree(u32),
    /// The days since the last fetch; of a page without a known fetch, those since 1970.
    Days(f64),
    /// Weight within depth d, in millionths; over the whole web, minus the fetch costs.
    Weight(i64),
}

/// A page and its score.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Scored {
    /// The page's dense number.
    pub page: u32,
    /// The page's score.
    pub score: Score,
}

impl Scored {
    pub(super) const fn drawn(page: u32) -> Self {
        let score = Score::Drawn;
        Self { page, score }
    }

    pub(super) const fn by_weight(page: u32, weight: i64) -> Self {
        let score = Score::Weight(weight);
        Self { page, score }
    }
}

/// The pages that a pick is the first to cover, at one distance from it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HopGain {
    /// The pages, by dense number.
    pub pages: RoaringBitmap,
    /// Their value, in millionths.
    pub value: i64,
}

impl HopGain {
    pub(super) fn new(values: &[i64], mut pages: Vec<u32>) -> Self {
        // Bitmaps are built fastest from sorted numbers.
        pages.sort_unstable();
        Self {
            value: pages.iter().map(|&page| values[page as usize]).sum(),
            pages: pages.into_iter().collect(),
        }
    }
}

/// One seed.
#[derive(Clone, PartialEq, Debug)]
pub struct Pick {
    /// The page and its score.
    pub seed: Scored,
    /// The second best page at that pick; `None` for pins and drawn seeds, and if it is not known without
    /// further search.
    pub runner_up: Option<Scored>,
    /// The gain by hop, from 0. On a site, the list ends with the last hop that adds a page, or with
    /// hop 0.
    pub hops: Vec<HopGain>,
}

impl Pick {
    /// A seed that precedes all picks.
    pub(super) const fn pinned(page: u32, hops: Vec<HopGain>) -> Self {
        Self {
            seed: Scored::drawn(page),
            runner_up: None,
            hops,
        }
    }

    /// The pages that no earlier pick covers, by dense number.
    #[must_use]
    pub fn covered(&self) -> RoaringBitmap {
        let mut all = RoaringBitmap::new();
        for hop in &self.hops {
            all |= &hop.pages;
        }
        all
    }

    /// Returns the number of pages that no earlier pick covers.
    #[must_use]
    pub fn covered_pages(&self) -> u64 {
        self.hops.iter().map(|hop| hop.pages.len()).sum()
    }

    /// The value of the pages that no earlier pick covers, in millionths.
    #[must_use]
    pub fn covered_value(&self) -> i64 {
        self.hops.iter().map(|hop| hop.value).sum()
    }

    /// Whether the pick adds nothing to the picks before it: no page for max-out, which does not look at values,
    /// else no positive value.
    pub(super) fn adds_nothing(&self, method: Method) -> bool {
        match method {
            Method::MaxOut => self.covered_pages() == 0,
            _ => self.covered_value() <= 0,
        }
    }
}

/// The reason for the end of a selection: the first that holds, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// No uncovered page has a value.
    NoValueLeft,
    /// No page is left that can be picked.
    NoPageLeft,
    /// The requested number of seeds is reached.
    Complete,
    /// The next pick would add nothing: no page with max-out, else no positive value.
    NotPositive,
}

/// The seeds of one site.
#[derive(Clone, PartialEq, Debug)]
pub struct SiteCover {
    /// The site.
    pub site: SiteId,
    /// The seeds, in the order in which they were picked.
    pub picks: Vec<Pick>,
    /// The reason for the end of the selection.
    pub stop: Stop,
    /// Pages settled plus adjacency entries scanned, including those of bounds.
    pub page_visits: u64,
}
