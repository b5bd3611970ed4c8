//! The golden results `*.cover` through a bank: ingest, refresh, seeds.
//!
//! Catches what the tests in memory cannot: pages of a site in an order other than that of their
//! URLs, links or values that ingest changes, wrong seats, and seeds that are mixed up on their way
//! through the store.

use std::collections::BTreeMap;

use crate::cover::kept;
use crate::support::banks::TestBank;
use crate::support::{golden, shared};
use seedbank::engine::PlanOptions;
use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::query::{Evidence, Seed};
use seedbank_algorithms::cover::{Covered, Share};
use serde_json::Value;

/// The plan that a key of the golden file stands for.
fn options(key: &str) -> PlanOptions {
    let removed = key.strip_suffix("-remove");
    let name = removed.unwrap_or(key);
    let (name, depth) = match name.rsplit_once('-') {
        Some((name, depth)) if depth.parse::<u32>().is_ok() => (name, depth.parse().ok()),
        _ => (name, None),
    };
    let method = Method::named(name);
    assert!(method.is_some(), "no method for {key}");
    PlanOptions {
        method,
        depth,
        covered: removed.map(|_| Covered::Remove),
        positive_only: Some(false),
        ..PlanOptions::default()
    }
}

fn by_site(seeds: Vec<Seed>) -> BTreeMap<String, Vec<Seed>> {
    let mut sites: BTreeMap<String, Vec<Seed>> = BTreeMap::new();
    for seed in seeds {
        sites.entry(seed.site.clone()).or_default().push(seed);
    }
    sites
}

/// The number of pages that a seed is the first to cover, and their value in millionths.
fn covered(seed: &Seed) -> (u64, i64) {
    let Evidence::Cover {
        covered_pages,
        covered_value,
        ..
    } = seed.evidence
    else {
        panic!("{seed:?}");
    };
    let millionths = (covered_value * 1e6).round();
    assert!(millionths.abs() < 9e15);
    #[allow(clippy::cast_possible_truncation, reason = "checked above")]
    let millionths = millionths as i64;
    (covered_pages, millionths)
}

fn method_agrees(bank: &TestBank, key: &str, wanted: &[Value]) {
    let report = bank.refresh(key, &options(key), false);
    assert!(report.view.cold && report.view.steps_reused == 0 && report.view.page_visits > 0);
    let found = by_site(bank.seeds(key));
    let positive_only = PlanOptions {
        positive_only: Some(true),
        ..PlanOptions::default()
    };
    let report = bank.refresh(key, &positive_only, false);
    // Baselines ignore this parameter, so their plans are the same.
    let baseline = ["out-degree", "pagerank"].contains(&key);
    assert_eq!(
        (report.view.cold, report.plan_changed),
        (!baseline, !baseline)
    );
    let positive = by_site(bank.seeds(key));
    for entry in wanted {
        let site = entry["site"].as_str().unwrap();
        let seeds = found.get(site).map_or(&[][..], Vec::as_slice);
        let urls: Value = seeds.iter().map(|seed| seed.url.clone()).collect();
        assert_eq!(entry["seeds"], urls, "{key} {site}");
        let gains: Vec<(u64, i64)> = seeds.iter().map(covered).collect();
        let pages: Value = gains.iter().map(|gain| gain.0).collect();
        assert_eq!(entry["covered_pages"], pages, "{key} {site}");
        let values: Value = gains.iter().map(|gain| gain.1).collect();
        assert_eq!(entry["covered_value_millionths"], values, "{key} {site}");
        let found = positive.get(site).map_or(0, Vec::len);
        assert_eq!(found, kept(key, entry), "{key} {site}");
    }
}

/// `random` fills every site's seats, as far as it has pages.
fn shares_agree(bank: &TestBank, wanted: &serde_json::Map<String, Value>) {
    let options = PlanOptions {
        method: Some(Method::Cover(CoverMethod::Random)),
        seeds: Some(500),
        share: Some(Share::Pages),
        ..PlanOptions::default()
    };
    bank.refresh("shared", &options, false);
    let found = by_site(bank.seeds("shared"));
    for (site, seats) in wanted {
        let of_site = found.get(site).map_or(&[][..], Vec::as_slice);
        assert_eq!(of_site.is_empty(), *seats == 0, "{site}");
        for seed in of_site {
            let Evidence::Cover { seats: found, .. } = seed.evidence else {
                panic!("{seed:?}");
            };
            assert_eq!(*seats, found.unwrap(), "{site}");
        }
    }
    assert!(found.keys().all(|site| wanted.contains_key(site)));
}

fn agrees(name: &str) {
    let Some(shared) = shared(name) else {
        return;
    };
    let wanted = golden(&shared, &format!("{name}.cover"));
    let bank = TestBank::real(&shared, name);
    for (key, wanted) in wanted.as_object().unwrap() {
        match (key.as_str(), wanted) {
            ("values_millionths", _) => {}
            ("share_500_by_pages", Value::Object(seats)) => shares_agree(&bank, seats),
            (key, Value::Array(wanted)) => method_agrees(&bank, key, wanted),
            _ => panic!("unexpected {key}"),
        }
    }
    bank.is_sound();
}

real_graphs! {
    agrees:
    a_student_crawl_of_a_university => "ku-2017-webir",
    a_generated_crawl_with_spam_and_clicks => "generated",
    a_small_university => "hollins",
    one_encyclopedia_with_clicks => "wikispeedia",
}
