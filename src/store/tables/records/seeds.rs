//! Seeds of a refresh with their evidence, and entries of final lists.

use serde::{Deserialize, Serialize};

use super::RefreshId;
use super::page::Succession;
use crate::tables::table::record_values;
use seedbank_algorithms::page::PageId;

/// A seed of a refresh.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SeedRecord {
    /// The page.
    pub page: PageId,
    /// The reason for its selection.
    pub evidence: SeedEvidence,
    /// The previous seed that this one replaced, if the plan keeps the list stable; else `None`.
    pub succeeds: Option<Succession>,
}

/// The reason for the selection of a seed.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub enum SeedEvidence {
    /// It is the selected hub of a core.
    Core {
        /// The rank of the core.
        core: u32,
        /// The sigma of the core.
        sigma: f64,
        /// The hub score, L2-normalised over pages.
        hub_score: f64,
    },
    /// It covers pages of its site.
    Cover(CoverEvidence),
    /// It reaches pages of the whole web.
    Web(WebEvidence),
    /// A policy put it on the list, not the method: it is pinned, or stays because of the limit on changes.
    ByPolicy,
}

/// An entry of a final list that differs from the selected seeds.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct FinalListEntry {
    /// The page.
    pub page: PageId,
    /// Its rank among the seeds that the method selected; `None` if it was not selected.
    pub chosen: Option<u32>,
    /// The last refresh of the plan in which the method selected it.
    pub last_chosen: RefreshId,
}

record_values!(SeedRecord, FinalListEntry);

/// Why a cover method selected a page on its site.
///
/// The covered pages are in `page_sets`, by hop, under the refresh that selected the page.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct CoverEvidence {
    /// The refresh that selected it. Later ones may have reused the result of the unchanged site.
    pub since: u32,
    /// The position among the seeds of the site, from 1.
    pub pick: u32,
    /// The score at its selection, in units if the score is a value; `None` if the page was drawn at
    /// random.
    pub gain: Option<f64>,
    /// The pages that no earlier seed of the site covers, by hop from 0.
    pub hops: Vec<HopEvidence>,
    /// The second best page at that moment, with its score; `None` if unknown.
    pub runner_up: Option<(PageId, f64)>,
    /// The seed quota of the site; `None` if seeds are not distributed among sites.
    pub seats: Option<u32>,
}

impl CoverEvidence {
    /// Returns the number of pages that no earlier seed of the site covers.
    #[must_use]
    pub fn covered_pages(&self) -> u64 {
        self.hops.iter().map(|hop| u64::from(hop.pages)).sum()
    }

    /// Returns the value of these pages in millionths.
    #[must_use]
    pub fn covered_value(&self) -> i64 {
        self.hops.iter().map(|hop| hop.value).sum()
    }
}

/// The pages at one distance from a seed that it is the first to cover, and the parts of their value.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct HopEvidence {
    /// The number of pages.
    pub pages: u32,
    /// The number of pages with clicks that are not spam.
    pub clicked: u32,
    /// The number of spam pages.
    pub spam: u32,
    /// The sum of the uncrawled outlinks of the pages.
    pub uncrawled_outlinks: u64,
    /// The value of the pages in millionths.
    pub value: i64,
    /// The part of the value from uncrawled outlinks, in millionths.
    pub uncrawled_value: i64,
}

/// Why a cover method over the whole web selected a page.
///
/// The pages that it is the first to reach are in `page_sets`, by hop, under the refresh that selected it
/// and its rank there.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct WebEvidence {
    /// The refresh that selected it. Later ones may have reused the result of the unchanged graph.
    pub since: u32,
    /// The score at its selection, in units if the score is a value; `None` if the page was drawn at
    /// random.
    pub gain: Option<f64>,
    /// The pages that no earlier seed reaches, by hop from 0.
    pub hops: Vec<WebHop>,
    /// The second best page at that moment, with its score; `None` if there was none, and for a pinned
    /// seed.
    pub runner_up: Option<(PageId, f64)>,
}

impl WebEvidence {
    /// Returns the number of pages that no earlier seed reaches.
    #[must_use]
    pub fn reached_pages(&self) -> u64 {
        self.hops.iter().map(|hop| u64::from(hop.all.pages)).sum()
    }

    /// Returns the value of these pages in millionths, without subtracting their cost.
    #[must_use]
    pub fn reached_value(&self) -> i64 {
        self.hops.iter().map(|hop| hop.all.value).sum()
    }
}

/// The pages at one distance from a seed that it is the first to reach, with their value and cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct WebHop {
    /// All the pages.
    pub all: HopEvidence,
    /// The number of known, not crawled pages.
    pub known: u32,
    /// The cost of the pages in millionths: their number times the price of a page.
    pub cost: i64,
}
