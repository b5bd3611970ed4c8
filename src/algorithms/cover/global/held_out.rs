//! The web without some crawled pages, so that settings are judged by pages that no selection has seen.
//!
//! A draw holds out a random tenth of the crawled pages. A held-out page is known only from links: it has no
//! links of its own, cannot be a seed, and has the value of a known page. Pages that only held-out pages
//! link to cannot be reached. Seeds are selected on the remaining web, and a crawl from them over the whole
//! web is scored. If contents count once, a held-out page whose content a remaining crawled page has is nothing new.

use roaring::RoaringBitmap;

use super::contents::{Key, smallest_keys};
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
    /// By page: whether it is held out, and no remaining crawled page has its content.
    is_new: Vec<bool>,
    /// By page: whether the remaining web has it.
    is_seen: Vec<bool>,
    /// The number of contents that only held-out pages have; of pages held out if each page counts.
    new: u64,
    /// The number of contents of all crawled pages; of these pages if each counts.
    contents: u64,
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
        let (mut is_new, mut represents) = (is_held_out.clone(), Vec::new());
        let (mut new, mut contents) = (drawn.len() as u64, of_all);
        if let Some(shared) = web.contents() {
            let key = |page: u32, rank: u32| [is_held_out[page as usize].into(), rank, 0];
            let keys = shared.pages.iter().map(|of| of.shared);
            let keys = keys.map(|of| (of.content, key(of.page, of.rank)));
            let keys: Vec<(u32, Key)> = keys.collect();
            let smallest = smallest_keys(web.group(), &keys)?;
            new = is_held_out.iter().filter(|held_out| **held_out).count() as u64;
            for ((of, (_, key)), first) in shared.pages.iter().zip(keys).zip(smallest) {
                represents.push(key == first && key[0] == 0);
                is_new[of.shared.page as usize] = first[0] == 1;
                // A new content counts once.
                new -= u64::from(key[0] == 1 && key != first);
            }
            [new] = web.group().total([new])?;
            contents -= shared.copies;
        }
        let graph = without(web, choice, &is_held_out, &represents, watch)?;
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
            is_new,
            is_seen,
            new,
            contents,
        };
        Ok(Some((graph, held_out)))
    }

    /// Scores a crawl over the whole `web`, in millionths.
    ///
    /// By value, held-out pages and the other crawled pages each give an estimate for all crawled pages: the
    /// value found among them, divided by their share of the crawled pages; or of the contents, if these count
    /// once, where a content is held out if all its pages are. The first is unbiased and has a
    /// large error; the second has a small error and is too high, since the seeds were selected for these
    /// pages. The score is the mean of both, plus the value of the known pages. By PageRank, it is the sum of
    /// the values of all pages.
    ///
    /// By discovery, contents do not matter: it is the number of distinct pages that the crawl fetches or finds links to and that the
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
            return Ok(group.sum([crawl.worth(web)?])?[0]);
        }
        let (mut known, mut stayed, mut held_out) = (0, 0, 0);
        for (page, value) in crawl.counted(web)? {
            if web.is_known(page) {
                known += value;
            } else if self.is_new[page as usize] {
                held_out += value;
            } else {
                stayed += value;
            }
        }
        let [known, stayed, held_out] = group.sum([known, stayed, held_out])?;
        let of_all =
            |sum: i64, of: u64| i128::from(sum) * i128::from(self.contents) / i128::from(of.max(1));
        let both = of_all(stayed, self.contents - self.new) + of_all(held_out, self.new);
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
    represents: &[bool],
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
        let mut values = web.values().to_vec();
        // Another page can represent a content now.
        for of in web.contents().iter().flat_map(|of| &of.pages) {
            values[of.shared.page as usize] = of.value;
        }
        for (page, value) in (0..).zip(&mut values) {
            if is_held_out[page as usize] {
                *value = as_known(page);
            }
        }
        values
    };
    web.without(is_held_out, represents, values, predecessors)
}

#[cfg(test)]
#[path = "held_out_tests.rs"]
mod tests;
