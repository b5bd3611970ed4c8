//! Evidence for a pick on a site, with page ids instead of numbers and the parts of its gain.

use roaring::RoaringBitmap;

use super::sites::LoadedSite;
use seedbank_algorithms::cover::{HopGain, Pick, Score, Scored, Weights};
use seedbank_algorithms::page::PageId;
use seedbank_store::records::{CoverEvidence, HopEvidence};

/// A pick, with the pages that it covers first.
pub(crate) struct Picked {
    pub(crate) page: PageId,
    /// The refresh number is set when it is stored.
    pub(crate) evidence: CoverEvidence,
    /// Page indexes by hop.
    pub(crate) covered: Vec<RoaringBitmap>,
}

impl Picked {
    pub(crate) fn new(
        site: &LoadedSite<'_>,
        pick: &Pick,
        place: u32,
        seats: Option<u32>,
        weights: &Weights,
    ) -> Self {
        let parts = pick.hops.iter().map(|hop| parts(site, hop, weights));
        let runner_up = pick.runner_up.and_then(|second| {
            let page = site.page(second.page);
            gain(second).map(|gain| (page, gain))
        });
        let indexes = |hop: &HopGain| -> RoaringBitmap {
            let numbers = hop.pages.iter();
            numbers.map(|number| site.pages[number as usize]).collect()
        };
        Self {
            page: site.page(pick.seed.page),
            evidence: CoverEvidence {
                since: 0,
                pick: place,
                gain: gain(pick.seed),
                hops: parts.collect(),
                runner_up,
                seats,
            },
            covered: pick.hops.iter().map(indexes).collect(),
        }
    }
}

/// Returns a score as a number, in units if it is a value.
pub(crate) fn gain(of: Scored) -> Option<f64> {
    match of.score {
        Score::Drawn => None,
        Score::Pagerank(score) | Score::Days(score) => Some(score),
        Score::OutDegree(degree) => Some(f64::from(degree)),
        Score::Weight(millionths) => Some(millionths as f64 / 1e6),
    }
}

fn parts(site: &LoadedSite<'_>, hop: &HopGain, weights: &Weights) -> HopEvidence {
    let mut parts = HopEvidence {
        value: hop.value,
        ..HopEvidence::default()
    };
    for page in &hop.pages {
        let facts = site.facts[page as usize];
        let weight = if facts.spam {
            parts.spam += 1;
            weights.spam
        } else if facts.clicks > 0 {
            parts.clicked += 1;
            weights.clicked
        } else {
            weights.base
        };
        parts.pages += 1;
        parts.uncrawled_outlinks += u64::from(facts.uncrawled_outlinks);
        let weight = weight.0 + weights.quality_value(facts.quality);
        parts.uncrawled_value += site.graph.values()[page as usize] - weight;
    }
    parts
}
