//! What a selection over the web hands back.

use roaring::RoaringBitmap;

use super::super::pick::{HopGain, Score, Scored, Stop};

/// One seed.
#[derive(Clone, PartialEq, Debug)]
pub struct WebPick {
    /// The page and what it was picked by.
    pub seed: Scored,
    /// The second best candidate at that moment; `None` for a pin, where there was none, and where
    /// seeds are drawn.
    pub runner_up: Option<Scored>,
    /// What it is the first to reach, by hop from 0.
    pub hops: Vec<HopGain>,
}

impl WebPick {
    /// A seed that was there before any pick.
    pub(super) const fn pinned(page: u32, hops: Vec<HopGain>) -> Self {
        Self {
            seed: Scored {
                page,
                score: Score::Drawn,
            },
            runner_up: None,
            hops,
        }
    }

    /// The pages that it is the first to reach.
    #[must_use]
    pub fn reached(&self) -> RoaringBitmap {
        self.hops
            .iter()
            .fold(RoaringBitmap::new(), |all, hop| all | &hop.pages)
    }
}

/// The seeds of a plan over the web.
#[derive(Clone, PartialEq, Debug)]
pub struct WebCover {
    /// The seeds, in the order in which they were picked.
    pub picks: Vec<WebPick>,
    /// What ended the selection.
    pub stop: Stop,
    /// The candidates that no pick reaches, ascending, with what they would be picked by next.
    pub rest: Vec<Scored>,
    /// Pages settled plus adjacency entries scanned, the pass included.
    pub page_visits: u64,
}
