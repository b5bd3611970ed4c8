//! Refresh by cover, through a bank.
//!
//! - `thirty_days`, `random_deltas`: a refresh gives what the same plan gives from scratch. Catches
//!   a change that ingest does not mark on its site, and records that are taken over wrongly.
//! - `a_small_delta`: only the sites that it touches are read and selected on, at the cost that a
//!   cold run spends on them.
//! - the rest: refreshes that are deleted, seats that move, order, threads, nothing to select.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::support::banks::TestBank;
use crate::support::plans::exact_cores;
use crate::support::properties::repeatable;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::{PlanOptions, RefreshReport, RefreshRequest};
use seedbank::synth::{SynthOptions, day_text};
use seedbank_algorithms::cover::Share;
use seedbank_store::Reader;
use seedbank_store::records::{CoverRecord, RefreshId};
use seedbank_store::tables;
use serde_json::json;

pub fn by(method: CoverMethod) -> PlanOptions {
    PlanOptions {
        method: Some(Method::Cover(method)),
        ..PlanOptions::default()
    }
}

/// What a refresh keeps of its sites, by site id.
fn covers(bank: &TestBank, refresh: RefreshId) -> BTreeMap<u32, CoverRecord> {
    let reader = Reader::open(bank.bank.path()).unwrap();
    let entries = reader.scan_under(&tables::COVERS, &refresh.to_be_bytes());
    let records = entries.unwrap().map(|entry| {
        let ((_, site), record) = entry.unwrap();
        (site.0, record)
    });
    records.collect()
}

#[test]
fn thirty_days() {
    let crawl = SynthOptions {
        days: 30,
        sites: Some(150),
        rng_seed: 3,
        ..SynthOptions::new(1_500)
    };
    let methods = [
        CoverMethod::MaxWeight,
        CoverMethod::Greedy,
        CoverMethod::MaxOut,
        CoverMethod::RootScc,
        CoverMethod::Pagerank,
    ];
    let bank = TestBank::new();
    let (mut reused, mut recomputed) = (0, 0);
    for day in 0..=30 {
        bank.delta(&day_text(&crawl, day).unwrap());
        // Max-weight is refreshed every day; each of the other methods every five days.
        for (method, turn) in methods.into_iter().zip(0..) {
            let judged = day % 5 == turn || day == 30;
            if !judged && method != CoverMethod::MaxWeight {
                continue;
            }
            let report = bank.refresh(method.name(), &by(method), false);
            reused += report.view.steps_reused;
            recomputed += report.view.steps_recomputed;
            if judged && day >= 5 {
                let cold = format!("{}-cold", method.name());
                let from_scratch = bank.refresh(&cold, &by(method), true);
                assert!(from_scratch.view.cold && !report.view.cold);
                assert!(report.view.page_visits <= from_scratch.view.page_visits);
                assert_eq!(bank.bare_seeds(method.name()), bank.bare_seeds(&cold));
            }
        }
    }
    bank.is_sound();
    eprintln!("thirty days: {reused} sites reused, {recomputed} recomputed");
    assert!(reused > 0 && recomputed > 0);
}

/// One record of a random delta.
#[derive(Clone, Debug)]
struct Change {
    page: (u8, u8),
    links: Option<Vec<(u8, u8)>>,
    spam: Option<bool>,
    clicks: Option<u8>,
    digest: Option<u8>,
    /// A number, or null.
    uncrawled: Option<serde_json::Value>,
    /// A number, or null.
    quality: Option<serde_json::Value>,
    gone: bool,
}

/// A record of a site.
fn of_site() -> impl Strategy<Value = String> {
    let quality = || {
        prop_oneof![
            Just(json!(null)),
            (0..=9).prop_map(|n| json!(f64::from(n) / 9.0))
        ]
    };
    (0..5_u8, quality(), any::<Option<bool>>()).prop_map(|(site, quality, spam)| {
        let record = json!({"site": format!("s{site}.example"), "quality": quality, "spam": spam});
        record.to_string() + "\n"
    })
}

fn url(page: (u8, u8)) -> String {
    let (site, number) = page;
    format!("http://s{site}.example/{number}")
}

impl Change {
    fn line(&self) -> String {
        let mut record = json!({"url": url(self.page)});
        if self.gone {
            record["gone"] = json!(true);
        }
        if let Some(links) = &self.links {
            record["outlinks"] = links.iter().map(|&page| url(page)).collect();
        }
        if let Some(spam) = self.spam {
            record["spam"] = json!(spam);
        }
        if let Some(clicks) = self.clicks {
            record["clicks"] = json!(clicks);
        }
        if let Some(digest) = self.digest {
            record["digest"] = json!(digest.to_string());
        }
        if let Some(uncrawled) = &self.uncrawled {
            record["uncrawled_outlinks"] = uncrawled.clone();
        }
        if let Some(quality) = &self.quality {
            record["quality"] = quality.clone();
        }
        record.to_string() + "\n"
    }
}

fn change() -> impl Strategy<Value = Change> {
    let page = || (0..5_u8, 0..7_u8);
    (
        page(),
        proptest::option::weighted(0.7, proptest::collection::vec(page(), 0..5)),
        proptest::option::weighted(0.2, any::<bool>()),
        proptest::option::weighted(0.2, 0..3_u8),
        proptest::option::weighted(0.3, 0..4_u8),
        proptest::option::weighted(
            0.2,
            prop_oneof![Just(json!(null)), (0..4).prop_map(|n| json!(n))],
        ),
        proptest::option::weighted(
            0.3,
            prop_oneof![
                Just(json!(null)),
                (0..=7).prop_map(|n| json!(f64::from(n) / 7.0))
            ],
        ),
        proptest::bool::weighted(0.12),
    )
        .prop_map(
            |(page, links, spam, clicks, digest, uncrawled, quality, gone)| Change {
                page,
                links,
                spam,
                clicks,
                digest,
                uncrawled,
                quality,
                gone,
            },
        )
}

#[test]
fn random_deltas() {
    let delta = |size| {
        let sites = proptest::collection::vec(of_site(), 0..2);
        (proptest::collection::vec(change(), size), sites)
    };
    let further = proptest::collection::vec(delta(1..4), 3);
    let deltas = (0..2_usize, delta(20..40), further);
    let plans = [
        (
            "weight",
            PlanOptions {
                value_quality: Some("2.5".parse().unwrap()),
                ..by(CoverMethod::MaxWeight)
            },
        ),
        (
            "random",
            PlanOptions {
                seeds: Some(6),
                share: Some(Share::Quality),
                ..by(CoverMethod::Random)
            },
        ),
        (
            "value",
            PlanOptions {
                seeds: Some(7),
                share: Some(Share::Value),
                ..by(CoverMethod::Greedy)
            },
        ),
        (
            "rank",
            PlanOptions {
                seeds: Some(5),
                share: Some(Share::Pagerank),
                positive_only: Some(false),
                ..by(CoverMethod::MaxScc)
            },
        ),
    ];
    let mut runner = TestRunner::new(Config {
        max_shrink_iters: 0,
        ..repeatable(5)
    });
    let reused = std::cell::Cell::new(0);
    let run = runner.run(&deltas, |(pair, first, further)| {
        let bank = TestBank::new();
        for delta in std::iter::once(&first).chain(&further) {
            let (pages, sites) = delta;
            let pages: String = pages.iter().map(Change::line).collect();
            bank.delta_with_sites(&pages, &sites.concat());
            for (plan, options) in &plans[2 * pair..2 * pair + 2] {
                let request = RefreshRequest {
                    plan: Some((*plan).to_owned()),
                    options: exact_cores(options.clone()),
                    keep: Some(2),
                    ..RefreshRequest::default()
                };
                let report = bank.bank.refresh(&request).unwrap();
                let cold = format!("{plan}-cold");
                bank.refresh(&cold, options, true);
                prop_assert_eq!(bank.bare_seeds(plan), bank.bare_seeds(&cold));
                reused.set(reused.get() + report.view.steps_reused);
            }
        }
        bank.is_sound();
        Ok(())
    });
    run.unwrap();
    assert!(reused.get() > 0);
}

/// 200 sites of 20 pages: a tree with links back, a link to a page that is not crawled, and a link
/// to the next site.
pub fn two_hundred_sites() -> String {
    let mut text = String::new();
    for site in 0..200 {
        for page in 0..20 {
            let on = |page: u32| format!("\"http://s{site:03}.example/{page:02}\"");
            let next = (site + 1) % 200;
            let _ = writeln!(
                text,
                r#"{{"url": {}, "outlinks": [{}, {}, {}, "http://s{site:03}.example/new{page}", "http://s{next:03}.example/00"]}}"#,
                on(page),
                on((page * 2 + 1) % 20),
                on((page * 2 + 2) % 20),
                on(page / 2),
            );
        }
    }
    text
}

#[test]
fn a_small_delta() {
    let bank = TestBank::new();
    bank.delta(&two_hundred_sites());
    // Every seed is stored again, with its evidence.
    let computing = |report: &RefreshReport| report.bytes_read - report.bytes_read_storing;
    for method in [
        CoverMethod::MaxWeight,
        CoverMethod::Greedy,
        CoverMethod::Pagerank,
    ] {
        let plan = method.name();
        let cold = bank.refresh(plan, &by(method), false);
        assert_eq!(
            (cold.view.steps_reused, cold.view.steps_recomputed),
            (0, 200)
        );
        let again = bank.refresh(plan, &by(method), false);
        assert_eq!(
            (again.view.steps_reused, again.view.steps_recomputed),
            (200, 0)
        );
        assert_eq!(again.view.page_visits, 0);
        // Sites and what is kept of them are read, pages and links are not.
        assert!(
            computing(&again) * 5 < computing(&cold),
            "{again:?} {cold:?}"
        );
    }
    // Two of 200 sites get another link, a click, a new page, and links to unknown pages on a third
    // site, which makes them known there and changes nothing for that site.
    bank.delta(concat!(
        r#"{"url": "http://s007.example/03", "outlinks": ["http://s007.example/19", "http://s100.example/unknown"]}"#,
        "\n",
        r#"{"url": "http://s150.example/04", "clicks": 3}"#,
        "\n",
        r#"{"url": "http://s150.example/extra", "outlinks": ["http://s150.example/00", "http://s100.example/other"]}"#,
        "\n",
    ));
    for method in [
        CoverMethod::MaxWeight,
        CoverMethod::Greedy,
        CoverMethod::Pagerank,
    ] {
        let report = bank.refresh(method.name(), &by(method), false);
        assert_eq!(
            (report.view.steps_reused, report.view.steps_recomputed),
            (198, 2)
        );
        let cold = bank.replace("cold", &by(method));
        assert_eq!(bank.bare_seeds(method.name()), bank.bare_seeds("cold"));
        let records = covers(&bank, report.view.refresh);
        let touched: Vec<u32> = records
            .iter()
            .filter(|(_, record)| record.since == report.view.refresh)
            .map(|(site, _)| *site)
            .collect();
        let of_cold = covers(&bank, cold.view.refresh);
        let alone: u64 = touched.iter().map(|site| of_cold[site].page_visits).sum();
        assert!(alone > 0);
        assert_eq!(report.view.page_visits, alone);
        assert!(computing(&report) * 5 < computing(&cold));
    }
    bank.is_sound();
}

#[test]
fn more_clicks_on_a_clicked_page_change_nothing() {
    let bank = TestBank::new();
    bank.delta(&two_hundred_sites());
    bank.delta(r#"{"url": "http://s001.example/04", "clicks": 3, "digest": "a"}"#);
    bank.refresh("p", &by(CoverMethod::MaxWeight), false);
    bank.delta(r#"{"url": "http://s001.example/04", "clicks": 4, "digest": "b"}"#);
    let report = bank.refresh("p", &by(CoverMethod::MaxWeight), false);
    assert_eq!(report.view.steps_recomputed, 0);
    bank.delta(r#"{"url": "http://s001.example/05", "digest": "b"}"#);
    let report = bank.refresh("p", &by(CoverMethod::MaxWeight), false);
    assert_eq!(report.view.steps_recomputed, 1, "P_uniq is another");
}

#[test]
fn deleted_refreshes_leave_what_later_ones_took_over() {
    let bank = TestBank::new();
    bank.delta(&two_hundred_sites());
    let request = |keep| RefreshRequest {
        plan: Some("p".to_owned()),
        options: exact_cores(by(CoverMethod::MaxWeight)),
        keep,
        ..RefreshRequest::default()
    };
    let touch = |site: u32, clicks: u32| {
        let page = clicks % 20;
        let url = format!("http://s{site:03}.example/{page:02}");
        bank.delta(&json!({"url": url, "clicks": 1}).to_string());
    };
    for (round, keep) in [
        (1, None),
        (2, None),
        (3, Some(3)),
        (4, Some(1)),
        (5, Some(2)),
    ] {
        touch(round % 2, round);
        let report = bank.bank.refresh(&request(keep)).unwrap();
        let since: BTreeSet<RefreshId> = covers(&bank, report.view.refresh)
            .values()
            .map(|record| record.since)
            .collect();
        let expected: &[RefreshId] = match round {
            1 => &[1],
            2 => &[1, 2],
            3 => &[1, 2, 3],
            4 => &[1, 3, 4],
            _ => &[1, 4, 5],
        };
        assert!(since.iter().eq(expected), "{since:?}");
        bank.is_sound();
    }
    let history = bank.bank.history().unwrap();
    let left: Vec<RefreshId> = history.refreshes.iter().map(|r| r.refresh).collect();
    assert_eq!(left, [4, 5]);
    // A cold refresh takes nothing over, and the last references go with the other refreshes.
    let mut cold = request(Some(1));
    cold.cold = true;
    bank.bank.refresh(&cold).unwrap();
    bank.is_sound();
    let reader = Reader::open(bank.bank.path()).unwrap();
    for entry in reader.scan(&tables::PAGE_SETS).unwrap() {
        if let tables::PageSetKey::Covered(key) = entry.unwrap().0.set {
            assert_eq!(key.refresh, 6);
        }
    }
}

#[test]
fn any_head_of_the_list_is_a_good_list() {
    let bank = TestBank::new();
    bank.delta(&two_hundred_sites());
    bank.delta(r#"{"url": "http://s123.example/04", "clicks": 3}"#);
    bank.refresh("p", &by(CoverMethod::MaxWeight), false);
    let seeds = bank.seeds("p");
    assert_eq!(seeds[0].site, "s123.example");
    assert!(seeds.iter().zip(1..).all(|(seed, rank)| seed.rank == rank));
    let first: BTreeSet<&str> = seeds[..200].iter().map(|seed| seed.site.as_str()).collect();
    assert_eq!(first.len(), 200, "first picks come first");
    assert_eq!(seeds[1].site, "s000.example", "ties go by site name");
}

#[test]
fn threads_make_no_difference() {
    let text = day_text(&SynthOptions::new(2_000), 0).unwrap();
    let run = |threads| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads);
        pool.build().unwrap().install(|| {
            let bank = TestBank::new();
            bank.delta(&text);
            [CoverMethod::Greedy, CoverMethod::Pagerank].map(|method| {
                let shared = PlanOptions {
                    seeds: Some(100),
                    share: Some(Share::Pagerank),
                    ..by(method)
                };
                let report = bank.replace("p", &shared);
                (report.view.page_visits, bank.bare_seeds("p"))
            })
        })
    };
    let one = run(1);
    assert!(one == run(5));
}

#[test]
fn nothing_to_select_is_a_refresh_without_seeds() {
    let bank = TestBank::new();
    for method in [CoverMethod::MaxWeight, CoverMethod::Random] {
        let report = bank.refresh(method.name(), &by(method), false);
        assert_eq!((report.view.seeds, report.view.steps_recomputed), (0, 0));
    }
    // First known pages only, then a site with nothing but spam.
    bank.delta(r#"{"url": "http://a.example/", "spam": true}"#);
    assert_eq!(
        bank.refresh("p", &by(CoverMethod::MaxWeight), false)
            .view
            .seeds,
        0
    );
    bank.delta(r#"{"url": "http://a.example/", "digest": "d"}"#);
    let report = bank.refresh("p", &by(CoverMethod::MaxWeight), false);
    assert_eq!((report.view.seeds, report.view.steps_recomputed), (0, 1));
    let report = bank.refresh("p", &by(CoverMethod::MaxWeight), false);
    assert_eq!((report.view.seeds, report.view.steps_reused), (0, 1));
    bank.is_sound();
}
