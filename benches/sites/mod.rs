//! Synthetic sites, and the page visits of full recomputation on them.
#![allow(unreachable_pub, reason = "a module of several benches")]

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use seedbank::watch::Unwatched;
use seedbank_algorithms::cover::{
    CoverParams, PUniq, PageFacts, Site, SiteGraph, Weights, page_value, reference,
};

/// Maximum size in pages of a site on which full recomputation is run.
const RUN_UP_TO: u32 = 2_000;
/// Number of sampled pages on larger sites.
const SAMPLE: u32 = 1_024;

/// The kind of a site.
#[derive(Clone, Copy)]
pub enum Kind {
    /// Every page links to the home page and the main sections.
    Menu,
    /// Pages link only within their section.
    Sections,
}

struct Draw(Pcg64);

impl Draw {
    fn below(&mut self, bound: u32) -> u32 {
        u32::try_from((u64::from(self.0.next_u32()) * u64::from(bound)) >> 32).unwrap()
    }

    /// Draws a number below `bound`; small ones are far more frequent, like popular pages of a site.
    fn popular(&mut self, bound: u32) -> u32 {
        let bound = self.below(bound) + 1;
        let bound = self.below(bound) + 1;
        self.below(bound)
    }
}

/// Generates a site page by page. Each new page is linked from a parent, preferably a popular one, and links
/// back and to some siblings and popular pages. As measured on a real crawl of many
/// sites, one page in five is a dead end, and one in ten on sites below a thousand pages, one in
/// fifty on larger ones, is linked from no crawled page of its site.
pub fn synthetic(pages: u32, kind: Kind, rng_seed: u64) -> SiteGraph {
    let mut draw = Draw(Pcg64::seed_from_u64(rng_seed));
    let menu = (pages / 50).clamp(3, 12);
    let mut links = Vec::new();
    let mut last_child = vec![None; pages as usize];
    let mut values = Vec::new();
    let p_uniq = PUniq::from_digests(u64::from(pages) * 8 / 10, u64::from(pages));
    for page in 0..pages {
        let spam = draw.below(33) == 0;
        let clicked = draw.below(page / 8 + 4) == 0 || draw.below(12) == 0;
        let facts = PageFacts {
            spam,
            clicks: u64::from(clicked),
            uncrawled_outlinks: if draw.below(3) == 0 {
                draw.popular(40)
            } else {
                0
            },
            quality: 0,
        };
        values.push(page_value(facts, p_uniq, &Weights::default()));
        if page == 0 {
            continue;
        }
        let parent = if page < menu { 0 } else { draw.popular(page) };
        if draw.below(if pages < 1_000 { 10 } else { 50 }) > 0 {
            links.push((parent, page));
        }
        if draw.below(5) == 0 && page >= menu {
            // A dead end, such as a document or an image.
            continue;
        }
        links.push((page, parent));
        if let Some(sibling) = last_child[parent as usize].replace(page) {
            links.extend([(page, sibling), (sibling, page)]);
        }
        match kind {
            Kind::Menu => {
                links.extend((0..menu).map(|item| (page, item)));
                links.extend((0..3).map(|_| (page, draw.popular(pages))));
            }
            Kind::Sections => {
                let near = page.saturating_sub(draw.below(40));
                links.push((page, near));
            }
        }
    }
    SiteGraph::new(values, links).unwrap()
}

/// Returns the page visits of full recomputation, measured or extrapolated.
pub fn reference_visits(site: Site<'_>, seats: u32, params: &CoverParams) -> u64 {
    let graph = site.graph;
    if graph.pages() <= RUN_UP_TO {
        return reference::select(site, seats, params, &Unwatched)
            .unwrap()
            .page_visits;
    }
    let depth = params.choose().unwrap().depth;
    let step = usize::try_from(graph.pages() / SAMPLE).unwrap();
    let sample: Vec<u32> = (0..graph.pages()).step_by(step).collect();
    let visits = reference::visits_of_searches(graph, &sample, depth);
    let candidates: u64 = (0..u64::from(seats))
        .map(|picks| u64::from(graph.pages()) - picks)
        .sum();
    visits * candidates / sample.len() as u64
}
