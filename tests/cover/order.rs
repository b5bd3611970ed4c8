//! The papers' order of methods on real data: what share of a site's positive value the first k
//! seeds cover, and how much more that is than random seeds cover.
//!
//! `cargo test --test cover -- order:: --nocapture` prints the tables: means over the sites of at
//! least 10 crawled pages, in per cent of the positive value of the site, with standard errors of
//! the paired differences. Random seeds are the mean of 20 streams. Catches a method that selects
//! other pages than it promises in a way that no single pick shows.

use crate::support::shared;
use crate::support::sites::{LoadedSite, load};
use seedbank::watch::Unwatched;
use seedbank_algorithms::cover::{CoverParams, Method, Pick, Site, SiteCover, select_all};
use seedbank_algorithms::page::SiteId;

const STREAMS: u64 = 20;

const METHODS: [(&str, Method, Option<u32>); 9] = [
    ("greedy", Method::Greedy, None),
    ("max-weight 3", Method::MaxWeight, Some(3)),
    ("max-weight 2", Method::MaxWeight, Some(2)),
    ("max-weight 1", Method::MaxWeight, Some(1)),
    ("max-scc 2", Method::MaxScc, Some(2)),
    ("root-scc 2", Method::RootScc, Some(2)),
    ("max-out", Method::MaxOut, None),
    ("out-degree", Method::OutDegree, None),
    ("pagerank", Method::Pagerank, None),
];

/// The value that the first `k` seeds of each site cover, in per cent of its positive value.
fn shares(sites: &[&LoadedSite], covers: &[SiteCover], k: usize) -> Vec<f64> {
    let share = |(site, cover): (&&LoadedSite, &SiteCover)| {
        let covered: i64 = cover.picks.iter().take(k).map(Pick::covered_value).sum();
        let positive: i64 = site.graph.values().iter().map(|v| v.max(&0)).sum();
        100.0 * covered as f64 / positive as f64
    };
    sites.iter().zip(covers).map(share).collect()
}

fn covers(sites: &[&LoadedSite], params: &CoverParams) -> Vec<SiteCover> {
    let seats: Vec<(Site<'_>, u32)> = sites
        .iter()
        .zip(0..)
        .map(|(site, id)| {
            let (id, name, graph) = (SiteId(id), site.name.as_str(), &site.graph);
            (Site { id, name, graph }, 10)
        })
        .collect();
    select_all(&seats, params, &Unwatched).unwrap()
}

/// Mean, and standard error of the mean.
fn mean(of: &[f64]) -> (f64, f64) {
    let count = of.len() as f64;
    let mean = of.iter().sum::<f64>() / count;
    let square: f64 = of.iter().map(|x| (x - mean).powi(2)).sum();
    (mean, (square / (count - 1.0) / count).sqrt())
}

/// Prints one table; returns the gain over random by method, for each of `ks`.
fn table(sites: &[&LoadedSite], hops: u32, ks: &[usize]) -> Vec<Vec<(f64, f64)>> {
    let drawn: Vec<Vec<SiteCover>> = (0..STREAMS)
        .map(|rng_seed| {
            let params = CoverParams {
                method: Method::Random,
                hops,
                rng_seed,
                ..CoverParams::default()
            };
            covers(sites, &params)
        })
        .collect();
    let random: Vec<Vec<f64>> = ks
        .iter()
        .map(|&k| {
            let mut sums = vec![0.0; sites.len()];
            for covers in &drawn {
                for (sum, share) in sums.iter_mut().zip(shares(sites, covers, k)) {
                    *sum += share / STREAMS as f64;
                }
            }
            sums
        })
        .collect();
    let cells: Vec<String> = random.iter().map(|r| format!("{:.1}", mean(r).0)).collect();
    println!("| h = {hops}, k = {ks:?} | {} |", cells.join(" | "));
    let mut gains = Vec::new();
    for (name, method, depth) in METHODS {
        let params = CoverParams {
            method,
            hops,
            depth: depth.map(|depth| depth.min(hops)),
            // As published, a method ends only when no page or no value is left.
            positive_only: false,
            ..CoverParams::default()
        };
        let covers = covers(sites, &params);
        let over: Vec<(f64, f64)> = ks
            .iter()
            .zip(&random)
            .map(|(&k, random)| {
                let found = shares(sites, &covers, k);
                let differences: Vec<f64> = found.iter().zip(random).map(|(a, b)| a - b).collect();
                mean(&differences)
            })
            .collect();
        let cells: Vec<String> = over
            .iter()
            .map(|(m, e)| format!("{m:+.1} ±{e:.1}"))
            .collect();
        println!("| {name} | {} |", cells.join(" | "));
        gains.push(over);
    }
    gains
}

#[test]
fn greedy_and_max_weight_cover_more_than_random() {
    let Some(shared) = shared("greedy_and_max_weight_cover_more_than_random") else {
        return;
    };
    let loaded = load(&shared, "ku-2017-webir");
    let large = loaded.sites.values().filter(|site| site.urls.len() >= 10);
    let sites: Vec<&LoadedSite> = large.collect();
    println!("{} sites", sites.len());
    let ks: Vec<usize> = (1..=10).collect();
    let by_k = table(&sites, 5, &ks);
    for hops in 1..=5 {
        let by_hops = table(&sites, hops, &[5]);
        assert!(by_hops[0][0].0 > 0.0, "greedy at h = {hops}");
    }
    for (at, k) in ks.iter().enumerate() {
        let (greedy, error) = by_k[0][at];
        assert!(greedy > 3.0 * error, "greedy at k = {k}");
        for (gains, (name, ..)) in by_k.iter().zip(METHODS) {
            assert!(
                gains[at].0 <= greedy + 1.0,
                "{name} covers more than greedy at k = {k}"
            );
        }
    }
}
