//! A generated crawl against a real one: degrees, inter-site share, merging, regions, sigmas.
//!
//! Catches a generator whose graph ranks or merges unlike the web. The table is printed with
//! `cargo test --test ingest -- synth_shape:: --nocapture`.

use std::io::BufReader;

use crate::shape::Shape;
use crate::support;
use seedbank::synth::{SynthOptions, Web};

#[test]
fn the_shape_is_that_of_a_real_crawl() {
    let Some(shared) = support::shared("synth_shape") else {
        return;
    };
    let text = support::gunzip(&shared.join("data/ku-2017-webir/crawl.jsonl.gz"));
    let real = Shape::measure(BufReader::new(text.as_bytes())).unwrap();
    // Known from the data's README and an independent implementation.
    assert_eq!(
        (real.pages, real.crawled, real.links, real.inter_site_links),
        (63_932, 9_919, 216_787, 36_308)
    );
    assert_eq!((real.rows, real.merged_links), (1311, 7944));
    assert!((real.sigmas[0] - 88.77).abs() < 0.01, "{:?}", real.sigmas);

    let web = Web::new(&SynthOptions::new(9_919)).unwrap();
    let synth = Shape::measure(web.day(0).unwrap()).unwrap();
    println!("| mean; 50 %, 90 %, 99 %, max | synth | ku-2017-webir |");
    println!("| --- | --- | --- |");
    for ((name, ours), (_, theirs)) in synth.lines().into_iter().zip(real.lines()) {
        println!("| {name} | {ours} | {theirs} |");
    }
    let count = |n: usize| n as f64;
    let within = |name: &str, ours: f64, theirs: f64, factor: f64| {
        assert!(
            ours <= theirs * factor && ours >= theirs / factor,
            "{name}: {ours} against {theirs}, allowed is a factor of {factor}"
        );
    };
    within("pages", count(synth.pages), count(real.pages), 1.3);
    within("sites", count(synth.sites), count(real.sites), 1.5);
    within("links", count(synth.links), count(real.links), 1.3);
    within(
        "inter-site share",
        synth.inter_site_share(),
        real.inter_site_share(),
        1.4,
    );
    within("outdegree", synth.out.mean, real.out.mean, 1.3);
    within(
        "p90 of outdegrees",
        synth.out.p90.into(),
        real.out.p90.into(),
        2.0,
    );
    within(
        "largest outdegree",
        synth.out.max.into(),
        real.out.max.into(),
        4.0,
    );
    within("hubs", count(synth.hubs), count(real.hubs), 1.5);
    within(
        "authorities",
        count(synth.authorities),
        count(real.authorities),
        1.6,
    );
    within(
        "outdegree of hubs",
        synth.hub_out.mean,
        real.hub_out.mean,
        1.5,
    );
    within(
        "indegree of authorities",
        synth.authority_in.mean,
        real.authority_in.mean,
        1.6,
    );
    within(
        "largest indegree",
        synth.authority_in.max.into(),
        real.authority_in.max.into(),
        2.0,
    );
    within("rows", count(synth.rows), count(real.rows), 1.5);
    within(
        "merged share",
        synth.merged_share(),
        real.merged_share(),
        1.5,
    );
    within(
        "largest region",
        synth.largest_region,
        real.largest_region,
        1.1,
    );
    within("first sigma", synth.sigmas[0], real.sigmas[0], 1.8);
    within("sigma ratio", synth.sigma_ratio(), real.sigma_ratio(), 1.15);
}

#[test]
fn the_proportions_of_uk_2002_are_kept() {
    let web = Web::new(&SynthOptions::uk_2002(50_000)).unwrap();
    let mut day = web.day(0).unwrap();
    std::io::copy(&mut day, &mut std::io::sink()).unwrap();
    let counts = day.counts();
    let links = counts.links as f64 / 50_000.0;
    let inter = counts.inter_site_links as f64 / 50_000.0;
    println!("links per page {links:.2} (16.11), inter-site {inter:.2} (1.23)");
    assert!((links / (298.0 / 18.5) - 1.0).abs() < 0.03, "{links}");
    assert!((inter / (22.7 / 18.5) - 1.0).abs() < 0.03, "{inter}");
}
