//! Why pages were picked by what they cover: on a site, and over the whole web.

use serde::{Deserialize, Serialize};

use seedbank_algorithms::page::PageId;

/// Why a page was picked on its site.
///
/// The pages that it covers are in `page_sets`, by hop, under the refresh that picked it.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CoverEvidence {
    /// The refresh that picked it. Later ones may have taken it over, the site being unchanged.
    pub since: u32,
    /// Its place among the picks of the site, from 1.
    pub pick: u32,
    /// The score that it was picked by, in units where the score is a value; `None` where the page
    /// was drawn at random.
    pub gain: Option<f64>,
    /// What it covers that no earlier pick of the site does, by hop from 0.
    pub hops: Vec<HopEvidence>,
    /// The second best page at that moment, with its score; `None` where it is not known.
    pub runner_up: Option<(PageId, f64)>,
    /// The number of seats the site was given; `None` where seeds are not shared out among sites.
    pub seats: Option<u32>,
}

impl CoverEvidence {
    /// The number of pages within its hops that no earlier pick of the site covers.
    #[must_use]
    pub fn covered_pages(&self) -> u64 {
        self.hops.iter().map(|hop| u64::from(hop.pages)).sum()
    }

    /// The value of those pages, in millionths.
    #[must_use]
    pub fn covered_value(&self) -> i64 {
        self.hops.iter().map(|hop| hop.value).sum()
    }
}

/// What a seed is the first to cover at one distance from it, and what makes up the value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct HopEvidence {
    /// The number of pages.
    pub pages: u32,
    /// How many of the pages are clicked and not spam.
    pub clicked: u32,
    /// How many of the pages are spam.
    pub spam: u32,
    /// The uncrawled outlinks of all the pages, summed.
    pub uncrawled_outlinks: u64,
    /// The value of the pages, in millionths.
    pub value: i64,
    /// The part of the value that comes from uncrawled outlinks, in millionths.
    pub uncrawled_value: i64,
}

/// Why a page was picked over the whole web.
///
/// The pages that it is the first to reach are in `page_sets`, by hop, under the refresh that picked
/// it and its rank there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WebEvidence {
    /// The refresh that picked it. Later ones may have taken it over, nothing having changed.
    pub since: u32,
    /// Its place in the order of picks, from 1; the order of the list may be another.
    pub pick: u32,
    /// The rank of the seed that was picked last.
    pub last_rank: u32,
    /// The score that it was picked by, in units where the score is a value; `None` where the page
    /// was drawn at random.
    pub gain: Option<f64>,
    /// What it reaches that no earlier pick does, by hop from 0.
    pub hops: Vec<WebHop>,
    /// The second best page at that moment, with its score; `None` where there was none, and for a
    /// pin.
    pub runner_up: Option<(PageId, f64)>,
}

impl WebEvidence {
    /// The number of pages within its hops that no earlier pick reaches.
    #[must_use]
    pub fn reached_pages(&self) -> u64 {
        self.hops.iter().map(|hop| u64::from(hop.all.pages)).sum()
    }

    /// The value of those pages, in millionths; nothing is taken off for their price.
    #[must_use]
    pub fn reached_value(&self) -> i64 {
        self.hops.iter().map(|hop| hop.all.value).sum()
    }
}

/// What a seed is the first to reach at one distance from it, what makes up the value, and what it
/// costs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WebHop {
    /// All the pages.
    pub all: HopEvidence,
    /// How many of them are known and not crawled.
    pub known: u32,
    /// What the pages cost, in millionths: their number times the price of a page.
    pub cost: i64,
}
