//! What a selection hands back for a site.

use roaring::RoaringBitmap;
use serde::{Deserialize, Serialize};

use crate::page::SiteId;

/// What a page was picked by.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Score {
    /// Drawn from the site's stream: there is no score.
    Drawn,
    /// PageRank on the site's own graph.
    Pagerank(f64),
    /// Out-degree; for max-out, in what remained at the time.
    OutDegree(u32),
    /// Depth-d weight, in millionths.
    Weight(i64),
}

/// A page and its score.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, Deserialize)]
pub struct Scored {
    /// The page's dense number.
    pub page: u32,
    /// What the page was, or would have been, picked by.
    pub score: Score,
}

/// What a pick adds to the earlier picks at one distance from it.
#[derive(Clone, PartialEq, Debug, Default)]
pub struct HopGain {
    /// The pages at that distance that no earlier pick of the site covers.
    pub pages: RoaringBitmap,
    /// The value of those pages, in millionths.
    pub value: i64,
}

/// One seed of a site.
#[derive(Clone, PartialEq, Debug)]
pub struct Pick {
    /// The page and what it was picked by.
    pub seed: Scored,
    /// The second best page at that moment; `None` where it was not known without further search.
    pub runner_up: Option<Scored>,
    /// What it adds, by hop 0..=h on the whole site graph. The list ends with the last hop at which
    /// it adds a page; hop 0 is always there.
    pub hops: Vec<HopGain>,
}

impl Pick {
    /// The pages within h hops that no earlier pick of the site covers, by dense number.
    #[must_use]
    pub fn covered(&self) -> RoaringBitmap {
        let mut all = RoaringBitmap::new();
        for hop in &self.hops {
            all |= &hop.pages;
        }
        all
    }

    /// How many pages those are.
    #[must_use]
    pub fn covered_pages(&self) -> u64 {
        self.hops.iter().map(|hop| hop.pages.len()).sum()
    }

    /// The value of those pages, in millionths.
    #[must_use]
    pub fn covered_value(&self) -> i64 {
        self.hops.iter().map(|hop| hop.value).sum()
    }
}

/// Why a site got no further seed: the first reason that holds, in this order.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Stop {
    /// No page has any value left.
    NoValueLeft,
    /// No page that could be picked is left.
    NoPageLeft,
    /// The site has all the seeds it was to have.
    Complete,
    /// The next pick's score would not be positive.
    NotPositive,
}

/// The seeds of one site, in order.
#[derive(Clone, PartialEq, Debug)]
pub struct SiteCover {
    /// The site.
    pub site: SiteId,
    /// The site's seeds, in the order in which they were picked.
    pub picks: Vec<Pick>,
    /// What ended the selection.
    pub stop: Stop,
    /// Pages settled plus adjacency entries scanned, including those for bounds.
    pub page_visits: u64,
}
