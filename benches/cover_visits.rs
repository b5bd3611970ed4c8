//! Page visits of lazy evaluation against full recomputation, k = 10, h = 5, on synthetic sites.
//!
//! `cargo bench --bench cover_visits [PAGES...]` prints a table; small sites are many. Full recomputation is run up to
//! 2,000 pages; above that what one pick by it costs is counted, on 1,024 pages spread over the
//! site, and multiplied by the candidates of each pick. The targets, at least 5 times fewer for
//! max-weight of depth 2 and at least 20 times fewer for greedy, are checked on every line.
#![allow(
    clippy::unwrap_used,
    reason = "a bench may stop where something is wrong"
)]

use std::process::ExitCode;
use std::time::Instant;

use rand_pcg::Pcg64;
use rand_pcg::rand_core::{Rng, SeedableRng};
use seedbank::cover::{
    CoverParams, Covered, Method, PUniq, PageFacts, Site, SiteGraph, Weights, page_value, plain,
    select_all,
};
use seedbank::page::SiteId;
use seedbank::watch::Unwatched;

const SEATS: u32 = 10;
/// Full recomputation is run up to this size.
const RUN_UP_TO: u32 = 2_000;
/// Above it, counted on so many pages.
const SAMPLE: u32 = 1_024;

/// What kind of site is made.
#[derive(Clone, Copy)]
enum Kind {
    /// Every page carries the menu: the home page and the main sections.
    Menu,
    /// Pages know only their own section: many small neighbourhoods.
    Sections,
}

struct Draw(Pcg64);

impl Draw {
    fn below(&mut self, bound: u32) -> u32 {
        u32::try_from((u64::from(self.0.next_u32()) * u64::from(bound)) >> 32).unwrap()
    }

    /// Small numbers far more often than large ones, as popularity is spread on sites.
    fn popular(&mut self, bound: u32) -> u32 {
        let bound = self.below(bound) + 1;
        let bound = self.below(bound) + 1;
        self.below(bound)
    }
}

/// A site grown page by page, each under a parent that is more often a popular one, linked from it,
/// linking back and to some siblings and popular pages. As measured on a real crawl of many sites,
/// one page in five is a dead end, and on sites below a thousand pages one in ten, on larger ones
/// one in fifty, is linked from no crawled page of its site.
fn synthetic(pages: u32, kind: Kind, rng_seed: u64) -> SiteGraph {
    let mut draw = Draw(Pcg64::seed_from_u64(rng_seed));
    let menu = (pages / 50).clamp(3, 12);
    let mut links = Vec::new();
    let mut last_child = vec![None; pages as usize];
    let mut values = Vec::new();
    let p_uniq = PUniq::of_digests(u64::from(pages) * 8 / 10, u64::from(pages));
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
            // A dead end: a document, an image.
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

/// Page visits of full recomputation, run or counted.
fn plain_visits(site: Site<'_>, params: &CoverParams) -> u64 {
    let graph = site.graph;
    if graph.pages() <= RUN_UP_TO {
        return plain::select(site, SEATS, params, &Unwatched)
            .unwrap()
            .page_visits;
    }
    let depth = params.choose().unwrap().depth;
    let step = usize::try_from(graph.pages() / SAMPLE).unwrap();
    let sample: Vec<u32> = (0..graph.pages()).step_by(step).collect();
    let visits = plain::visits_of_searches(graph, &sample, depth);
    let candidates: u64 = (0..u64::from(SEATS))
        .map(|picks| u64::from(graph.pages()) - picks)
        .sum();
    visits * candidates / sample.len() as u64
}

fn main() -> ExitCode {
    let page_counts: Vec<u32> = std::env::args()
        .skip(1)
        .filter_map(|arg| arg.parse().ok())
        .collect();
    let page_counts = if page_counts.is_empty() {
        vec![100, 1_000, 10_000, 100_000]
    } else {
        page_counts
    };
    let methods = [
        ("max-weight-2", Method::MaxWeight, None, 5),
        (
            "max-weight-2-remove",
            Method::MaxWeight,
            Some(Covered::Remove),
            5,
        ),
        ("greedy", Method::Greedy, None, 20),
    ];
    println!(
        "kind      sites   pages     links  method                 lazy visits     plain visits   fewer  seconds  picks"
    );
    let mut missed = false;
    for (name, kind) in [("menu", Kind::Menu), ("sections", Kind::Sections)] {
        for &pages in &page_counts {
            let count = (10_000 / pages).max(1);
            let graphs: Vec<SiteGraph> = (0..count)
                .map(|rng_seed| synthetic(pages, kind, u64::from(rng_seed)))
                .collect();
            let links: usize = graphs.iter().map(SiteGraph::links).sum();
            let sites = graphs.iter().map(|graph| Site {
                id: SiteId(0),
                name: "site.example",
                graph,
            });
            let sites: Vec<(Site<'_>, u32)> = sites.map(|site| (site, SEATS)).collect();
            for (label, method, covered, target) in methods {
                let params = CoverParams {
                    method,
                    covered,
                    ..CoverParams::default()
                };
                let began = Instant::now();
                let covers = select_all(&sites, &params, &Unwatched).unwrap();
                let seconds = began.elapsed().as_secs_f64();
                let picks: usize = covers.iter().map(|cover| cover.picks.len()).sum();
                let lazy: u64 = covers.iter().map(|cover| cover.page_visits).sum();
                let wanted: u64 = sites
                    .iter()
                    .map(|&(site, _)| plain_visits(site, &params))
                    .sum();
                let fewer = wanted as f64 / lazy as f64;
                // The targets are for zeroing: removing makes full recomputation cheap as it goes.
                let short = covered.is_none() && fewer < f64::from(target);
                missed |= short;
                println!(
                    "{name:8} {count:6} {pages:7} {links:9}  {label:19} {lazy:14} {wanted:16} {fewer:7.1} {seconds:8.2} {picks:6}{}",
                    if short { "  MISSED" } else { "" },
                );
            }
        }
    }
    if missed {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}
