//! A generated crawl against a real one: degrees, inter-site share, merging, sigmas.
//!
//! Catches a generator whose graph ranks or merges unlike the web. The table is printed with
//! `cargo test --test ingest -- synth_shape:: --nocapture`.

use std::collections::BTreeMap;

use crate::support;
use crate::support::banks::{TestBank, cores_of};
use crate::support::model::{pages_of, totals_of};
use crate::support::plans::plan;
use seedbank::synth::{SynthOptions, Web, day_text};

/// The measures of a crawl, each with the factor by which a generated crawl may differ from a real one.
fn shape(bank: &TestBank) -> Vec<(&'static str, f64, f64)> {
    let totals = totals_of(&bank.bank);
    let pages = pages_of(&bank.bank);
    let mut out = Vec::new();
    let (mut hubs, mut indegrees) = (0.0, BTreeMap::<&str, f64>::new());
    for page in pages.values().filter(|page| page.fetched.is_some()) {
        out.push(page.outlinks.len() as f64);
        let others = page
            .outlinks
            .iter()
            .filter(|to| pages[*to].site != page.site);
        hubs += f64::from(others.clone().next().is_some());
        for to in others {
            *indegrees.entry(to).or_default() += 1.0;
        }
    }
    out.sort_by(f64::total_cmp);
    bank.refresh("default", &plan("seeds=10"), false);
    let sigmas: Vec<f64> = cores_of(&bank.bank, "default")
        .iter()
        .map(|core| core.sigma)
        .collect();
    let inter = totals.inter_links as f64;
    let links = inter + totals.intra_links as f64;
    let authorities = indegrees.len() as f64;
    vec![
        ("pages", pages.len() as f64, 1.3),
        ("sites", totals.sites as f64, 1.5),
        ("links", links, 1.3),
        ("inter-site share", inter / links, 1.4),
        ("outdegree", links / out.len() as f64, 1.3),
        ("p90 of outdegrees", out[out.len() * 9 / 10], 2.0),
        ("largest outdegree", out[out.len() - 1], 4.0),
        ("hubs", hubs, 1.5),
        ("authorities", authorities, 1.6),
        ("outdegree of hubs", inter / hubs, 1.5),
        ("indegree of authorities", inter / authorities, 1.6),
        (
            "largest indegree",
            indegrees.into_values().fold(0.0, f64::max),
            2.0,
        ),
        ("rows", totals.rows as f64, 1.5),
        ("links of rows", totals.row_links as f64 / inter, 1.5),
        ("first sigma", sigmas[0], 1.8),
        ("tenth sigma", sigmas[9] / sigmas[0], 2.0),
    ]
}

#[test]
fn the_shape_is_that_of_a_real_crawl() {
    let Some(shared) = support::shared("synth_shape") else {
        return;
    };
    let real = shape(&TestBank::real(&shared, "ku-2017-webir"));
    // Known from the data's README and an independent implementation.
    for (at, known) in [(0, 63_932.0), (2, 216_787.0), (12, 1311.0)] {
        assert!((real[at].1 - known).abs() < 0.5, "{}", real[at].1);
    }
    let bank = TestBank::new();
    bank.delta(&day_text(&SynthOptions::new(9_919), 0).unwrap());
    for ((name, ours, factor), (_, theirs, _)) in shape(&bank).into_iter().zip(real) {
        println!("| {name} | {ours:.3} | {theirs:.3} |");
        let is_near = ours <= theirs * factor && ours >= theirs / factor;
        assert!(
            is_near,
            "{name}: {ours}, expected {theirs} within a factor of {factor}"
        );
    }
}

#[test]
fn the_proportions_of_uk_2002_hold() {
    let web = Web::new(&SynthOptions::uk_2002(50_000)).unwrap();
    let mut day = web.day(0).unwrap();
    std::io::copy(&mut day, &mut std::io::sink()).unwrap();
    let counts = day.counts();
    let links = counts.links as f64 / 50_000.0;
    let inter_site = counts.inter_site_links as f64 / 50_000.0;
    assert!((links / (298.0 / 18.5) - 1.0).abs() < 0.03, "{links}");
    assert!(
        (inter_site / (22.7 / 18.5) - 1.0).abs() < 0.03,
        "{inter_site}"
    );
}
