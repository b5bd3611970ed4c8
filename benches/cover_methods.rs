//! Cost of all cover methods on 1,000 synthetic sites (10 seeds, 5 hops): lazy evaluation compared with full
//! recomputation. Then, with `--large PAGES`, max-weight and greedy on one site of that size.
//!
//! `cargo bench --bench cover_methods [-- --sites N] [-- --large PAGES]`. The sizes follow a power
//! law, from 20 to 20,000 pages. The visits of full recomputation are run or counted as in
//! `cover_visits`, and only for methods by weight: the others do not search.
#![allow(
    clippy::unwrap_used,
    reason = "a bench may stop where something is wrong"
)]

mod sites;

use std::time::Instant;

use seedbank::watch::Unwatched;
use seedbank_algorithms::cover::{CoverParams, Covered, Method, Site, SiteGraph, select_all};
use seedbank_algorithms::page::SiteId;
use sites::{Kind, reference_visits, synthetic};

const SEATS: u32 = 10;

/// Returns the size in pages of the site with this rank by size.
fn size(rank: u32, sites: u32) -> u32 {
    let size = 20_000.0 / (f64::from(rank) + 1.0).powf(1000_f64.ln() / f64::from(sites).ln());
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "from 20 to 20,000"
    )]
    let size = size.max(20.0) as u32;
    size
}

fn argument(name: &str) -> Option<u32> {
    let mut arguments = std::env::args().skip_while(|argument| argument != name);
    arguments.nth(1)?.parse().ok()
}

fn main() {
    let count = argument("--sites").unwrap_or(1_000);
    let graphs: Vec<SiteGraph> = (0..count)
        .map(|rank| {
            let kind = if rank % 2 == 0 {
                Kind::Menu
            } else {
                Kind::Sections
            };
            synthetic(size(rank, count), kind, u64::from(rank))
        })
        .collect();
    let pages: u64 = graphs.iter().map(|graph| u64::from(graph.pages())).sum();
    let links: usize = graphs.iter().map(SiteGraph::links).sum();
    println!("{count} sites, {pages} pages, {links} links");
    println!("method                 lazy visits     plain visits   fewer  seconds  picks");
    let names: Vec<String> = (0..count).map(|rank| format!("s{rank}.example")).collect();
    let sites: Vec<(Site<'_>, u32)> = graphs
        .iter()
        .zip(&names)
        .zip(0..)
        .map(|((graph, name), id)| {
            let id = SiteId(id);
            (Site { id, name, graph }, SEATS)
        })
        .collect();
    for (label, method, covered) in [
        ("random", Method::Random, None),
        ("pagerank", Method::Pagerank, None),
        ("out-degree", Method::OutDegree, None),
        ("max-out", Method::MaxOut, None),
        ("max-weight", Method::MaxWeight, None),
        (
            "max-weight-remove",
            Method::MaxWeight,
            Some(Covered::Remove),
        ),
        ("max-scc", Method::MaxScc, None),
        ("max-scc-remove", Method::MaxScc, Some(Covered::Remove)),
        ("root-scc", Method::RootScc, None),
        ("greedy", Method::Greedy, None),
    ] {
        let params = CoverParams {
            method,
            covered,
            ..CoverParams::default()
        };
        // The candidates of component methods are fewer than all pages, so what they would visit
        // is not counted.
        let anywhere = matches!(method, Method::MaxWeight | Method::Greedy);
        run(label, &sites, &params, anywhere);
    }
    if let Some(pages) = argument("--large") {
        let graph = synthetic(pages, Kind::Menu, 1);
        println!("one site, {} pages, {} links", graph.pages(), graph.links());
        let site = Site {
            id: SiteId(0),
            name: "large.example",
            graph: &graph,
        };
        for method in [Method::MaxWeight, Method::Greedy] {
            let params = CoverParams {
                method,
                ..CoverParams::default()
            };
            run(method.name(), &[(site, SEATS)], &params, true);
        }
    }
}

fn run(label: &str, sites: &[(Site<'_>, u32)], params: &CoverParams, count_plain: bool) {
    let began = Instant::now();
    let covers = select_all(sites, params, &Unwatched).unwrap();
    let seconds = began.elapsed().as_secs_f64();
    let picks: usize = covers.iter().map(|cover| cover.picks.len()).sum();
    let lazy: u64 = covers.iter().map(|cover| cover.page_visits).sum();
    let (plain, fewer) = if count_plain {
        let of = |&(site, seats): &(Site<'_>, u32)| reference_visits(site, seats, params);
        let plain: u64 = sites.iter().map(of).sum();
        (
            plain.to_string(),
            format!("{:.1}", plain as f64 / lazy as f64),
        )
    } else {
        ("-".to_owned(), "-".to_owned())
    };
    println!("{label:19} {lazy:14} {plain:>16} {fewer:>7} {seconds:8.2} {picks:6}");
}
