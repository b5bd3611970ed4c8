//! The web without some crawled pages, so that settings are judged by pages that no selection has seen.
//!
//! A draw holds out a random tenth of the crawled pages. A held-out page is known only from links: it has no
//! links of its own, cannot be a seed, and has the value of a known page. Pages that only held-out pages
//! link to cannot be reached. Seeds are selected on the remaining web, and a crawl from them over the whole
//! web is scored.

use roaring::RoaringBitmap;

use super::crawl::{Crawl, Crawler};
use super::graph::WebGraph;
use super::params::{HELD_OUT_ONE_IN, MIN_CRAWLED_TO_HOLD_OUT, Objective, ValueBy, WebChoice};
use crate::cover::value::{UNIT, pagerank_values};
use crate::graph::{Csr, PageGraph, number};
use crate::rank::pagerank;
use crate::statistics::draw;
use crate::watch::{Interrupted, Watch};

/// The pages of a web that a draw holds out.
pub(super) struct HeldOut {
    /// By page: whether it is held out.
    is_hidden: Vec<bool>,
    /// By page: whether the remaining web has it.
    is_seen: Vec<bool>,
    /// The number of pages held out.
    hidden: u64,
    /// The number of crawled pages, those held out included.
    crawled: u64,
}

impl HeldOut {
    /// Holds out a random tenth of the crawled pages. Returns the remaining web, with the page numbers of the
    /// whole web, and the pages held out; `None` if the web has fewer than 20 crawled pages. The same pages are
    /// drawn for the same `rng_seed` and number of the draw, on any machine.
    ///
    /// Cost: that of [`WebGraph::new`]; by PageRank that of [`pagerank`] too.
    pub(super) fn draw(
        web: &WebGraph,
        choice: &WebChoice,
        at: u32,
        watch: &dyn Watch,
    ) -> Result<Option<(WebGraph, Self)>, Interrupted> {
        let crawled: Vec<u32> = (0..web.pages())
            .filter(|&page| !web.is_known(page))
            .collect();
        let group = web.group();
        let [of_all] = group.total([crawled.len() as u64])?;
        if of_all < MIN_CRAWLED_TO_HOLD_OUT as u64 {
            return Ok(None);
        }
        let count = u32::try_from(of_all).unwrap_or(u32::MAX);
        // Other pages than those by which the list is judged afterwards.
        let drawn = draw(
            "tune",
            choice.rng_seed,
            at.into(),
            count,
            (count / HELD_OUT_ONE_IN) as usize,
        );
        let mut is_held_out = vec![false; web.pages() as usize];
        match web.share() {
            None => {
                for &place in &drawn {
                    is_held_out[crawled[place as usize] as usize] = true;
                }
            }
            Some(share) => {
                let drawn: RoaringBitmap = drawn.iter().copied().collect();
                let ranked = crawled.iter().zip(share.ranks(&crawled)?);
                for (&page, _) in ranked.filter(|(_, rank)| drawn.contains(*rank)) {
                    is_held_out[page as usize] = true;
                }
            }
        }
        watch.proceed()?;
        let graph = without(web, choice, &is_held_out, watch)?;
        let has_source = |page: u32| !graph.predecessors().list(page).is_empty();
        let mut is_seen: Vec<bool> = (0..web.pages())
            .map(|page| {
                let is_crawled = !web.is_known(page) && !is_held_out[page as usize];
                is_crawled || has_source(page)
            })
            .collect();
        if let Some(share) = web.share() {
            let ghosts = (0..share.ghosts()).filter(|ghost| has_source(web.pages() + ghost));
            for page in share.tell_owners(ghosts)? {
                is_seen[page as usize] = true;
            }
        }
        let held_out = Self {
            is_hidden: is_held_out,
            is_seen,
            hidden: drawn.len() as u64,
            crawled: of_all,
        };
        Ok(Some((graph, held_out)))
    }

    /// Scores a crawl over the whole `web`, in millionths.
    ///
    /// By value, held-out pages and the other crawled pages each give an estimate for all crawled pages: the
    /// value found among them, divided by their share of the crawled pages. The first is unbiased and has a
    /// large error; the second has a small error and is too high, since the seeds were selected for these
    /// pages. The score is the mean of both, plus the value of the known pages. By PageRank, it is the sum of
    /// the values of all pages.
    ///
    /// By discovery, it is the number of distinct pages that the crawl fetches or finds links to and that the
    /// remaining web does not have.
    pub(super) fn found(
        &self,
        crawler: &mut Crawler<'_>,
        web: &WebGraph,
        choice: &WebChoice,
        crawl: &Crawl,
    ) -> Result<i64, Interrupted> {
        let group = web.group();
        if choice.objective == Objective::Discovery {
            let pages = crawler.with_targets(crawl)?.into_iter();
            let new = pages.filter(|&page| !self.is_seen[page as usize]);
            let [discovered] = group.total([new.count() as u64])?;
            return Ok(i64::try_from(discovered)
                .unwrap_or(i64::MAX)
                .saturating_mul(UNIT));
        }
        if choice.value_by == ValueBy::Pagerank {
            return Ok(group.sum([crawl.worth(web)])?[0]);
        }
        let (mut known, mut stayed, mut held_out) = (0, 0, 0);
        for &page in crawl.pages() {
            let value = web.values()[page as usize];
            if web.is_known(page) {
                known += value;
            } else if self.is_hidden[page as usize] {
                held_out += value;
            } else {
                stayed += value;
            }
        }
        let [known, stayed, held_out] = group.sum([known, stayed, held_out])?;
        let of_all =
            |sum: i64, of: u64| i128::from(sum) * i128::from(self.crawled) / i128::from(of);
        let both = of_all(stayed, self.crawled - self.hidden) + of_all(held_out, self.hidden);
        // A sum of values fits into an i64, ten times it may not.
        Ok(
            known.saturating_add(i64::try_from(both / 2).unwrap_or(if both < 0 {
                i64::MIN
            } else {
                i64::MAX
            })),
        )
    }
}

/// Returns the remaining web.
fn without(
    web: &WebGraph,
    choice: &WebChoice,
    is_held_out: &[bool],
    watch: &dyn Watch,
) -> Result<WebGraph, Interrupted> {
    let mut predecessors = Csr::default();
    // Those of ghosts too.
    for page in 0..number(web.predecessors().len()) {
        let sources = web.predecessors().list(page).iter().copied();
        predecessors.push(sources.filter(|&source| !is_held_out[source as usize]));
    }
    let values = if choice.value_by == ValueBy::Pagerank {
        let intra = predecessors.clone();
        // The links of the whole web are valid, so some of them are too.
        match PageGraph::new(intra, Csr::default(), &Csr::default()) {
            Ok(whole) => pagerank_values(&pagerank(&whole, watch)?.0),
            Err(_) => web.values().to_vec(),
        }
    } else {
        let as_known = |page: u32| web.value_as_known(page) + choice.given_value_known().0;
        (0..web.pages())
            .zip(web.values())
            .map(|(page, &value)| {
                if is_held_out[page as usize] {
                    as_known(page)
                } else {
                    value
                }
            })
            .collect()
    };
    web.without(is_held_out, values, predecessors)
}

#[cfg(test)]
#[path = "held_out_tests.rs"]
mod tests;
