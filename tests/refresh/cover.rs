//! Refresh by cover, through a bank.
//!
//! - `thirty_days`, `random_deltas`: a refresh gives what the same plan gives from scratch. Catches
//!   a change that ingest does not mark on its site, and records that are taken over wrongly.
//! - `a_small_delta`: only the sites that it touches are read and selected on, at the cost that a
//!   cold run spends on them.
//! - the rest: plans that are kept and changed, refreshes that are deleted, seats that move, order,
//!   threads, nothing to select.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write;

use crate::support::banks::TestBank;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use seedbank::cover::{Share, Value};
use seedbank::engine::{EngineError, Failure, Method, PlanOptions, RefreshReport, RefreshRequest};
use seedbank::storage::Reader;
use seedbank::storage::records::{CoverRecord, RefreshId};
use seedbank::storage::tables;
use seedbank::synth::{SynthOptions, day_text};
use seedbank::watch::Unwatched;
use serde_json::json;

fn by(method: Method) -> PlanOptions {
    PlanOptions {
        method: Some(method),
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
        sites: Some(300),
        rng_seed: 3,
        ..SynthOptions::new(3_000)
    };
    let methods = [
        Method::MaxWeight,
        Method::Greedy,
        Method::MaxOut,
        Method::RootScc,
        Method::Pagerank,
    ];
    let bank = TestBank::new();
    let (mut reused, mut recomputed) = (0, 0);
    for day in 0..=30 {
        bank.delta(&day_text(&crawl, day).unwrap());
        // Max-weight follows day by day; each of the methods takes in five days at once.
        for (method, turn) in methods.into_iter().zip(0..) {
            let judged = day % 5 == turn || day == 30;
            if !judged && method != Method::MaxWeight {
                continue;
            }
            let report = bank.refresh(method.name(), &by(method), false);
            reused += report.steps_reused;
            recomputed += report.steps_recomputed;
            if judged && day >= 5 {
                let cold = format!("{}-cold", method.name());
                let from_scratch = bank.refresh(&cold, &by(method), true);
                assert!(from_scratch.cold && !report.cold);
                assert!(report.page_visits <= from_scratch.page_visits);
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
    gone: bool,
}

fn url((site, page): (u8, u8)) -> String {
    format!("http://s{site}.example/{page}")
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
        proptest::bool::weighted(0.12),
    )
        .prop_map(
            |(page, links, spam, clicks, digest, uncrawled, gone)| Change {
                page,
                links,
                spam,
                clicks,
                digest,
                uncrawled,
                gone,
            },
        )
}

#[test]
fn random_deltas() {
    let delta = |size| proptest::collection::vec(change(), size);
    let further = proptest::collection::vec(delta(1..4), 3);
    let deltas = (0..2_usize, delta(20..40), further);
    let plans = [
        ("weight", by(Method::MaxWeight)),
        ("random", by(Method::Random)),
        (
            "value",
            PlanOptions {
                seeds: Some(7),
                share: Some(Share::Value),
                ..by(Method::Greedy)
            },
        ),
        (
            "rank",
            PlanOptions {
                seeds: Some(5),
                share: Some(Share::Pagerank),
                positive_only: Some(false),
                ..by(Method::MaxScc)
            },
        ),
    ];
    let mut runner = TestRunner::new(Config {
        cases: 5,
        failure_persistence: None,
        max_shrink_iters: 0,
        ..Config::default()
    });
    let reused = std::cell::Cell::new(0);
    let run = runner.run(&deltas, |(pair, first, further)| {
        let bank = TestBank::new();
        for delta in std::iter::once(&first).chain(&further) {
            bank.delta(&delta.iter().map(Change::line).collect::<String>());
            for (plan, options) in &plans[2 * pair..2 * pair + 2] {
                let request = RefreshRequest {
                    plan: Some((*plan).to_owned()),
                    options: options.clone(),
                    keep: Some(2),
                    ..RefreshRequest::default()
                };
                let report = bank.bank.refresh(&request, &Unwatched).unwrap();
                let cold = format!("{plan}-cold");
                bank.refresh(&cold, options, true);
                prop_assert_eq!(bank.bare_seeds(plan), bank.bare_seeds(&cold));
                reused.set(reused.get() + report.steps_reused);
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
fn two_hundred_sites() -> String {
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
    // Every seed is stored again, with what is told of it.
    let computing = |report: &RefreshReport| report.bytes_read - report.bytes_read_storing;
    for method in [Method::MaxWeight, Method::Greedy, Method::Pagerank] {
        let plan = method.name();
        let cold = bank.refresh(plan, &by(method), false);
        assert_eq!((cold.steps_reused, cold.steps_recomputed), (0, 200));
        let again = bank.refresh(plan, &by(method), false);
        assert_eq!((again.steps_reused, again.steps_recomputed), (200, 0));
        assert_eq!(again.page_visits, 0);
        // Sites and what is kept of them are read, pages and links are not.
        assert!(
            computing(&again) * 5 < computing(&cold),
            "{again:?} {cold:?}"
        );
    }
    // Two of 200 sites: another link, a click, a new page; and links to pages that nobody knew on a
    // third site, which makes them known there and changes nothing for it.
    bank.delta(concat!(
        r#"{"url": "http://s007.example/03", "outlinks": ["http://s007.example/19", "http://s100.example/unknown"]}"#,
        "\n",
        r#"{"url": "http://s150.example/04", "clicks": 3}"#,
        "\n",
        r#"{"url": "http://s150.example/extra", "outlinks": ["http://s150.example/00", "http://s100.example/other"]}"#,
        "\n",
    ));
    for method in [Method::MaxWeight, Method::Greedy, Method::Pagerank] {
        let report = bank.refresh(method.name(), &by(method), false);
        assert_eq!((report.steps_reused, report.steps_recomputed), (198, 2));
        let cold = bank.refresh("cold", &by(method), true);
        assert_eq!(bank.bare_seeds(method.name()), bank.bare_seeds("cold"));
        let records = covers(&bank, report.refresh);
        let touched: Vec<u32> = records
            .iter()
            .filter(|(_, record)| record.since == report.refresh)
            .map(|(site, _)| *site)
            .collect();
        let of_cold = covers(&bank, cold.refresh);
        let alone: u64 = touched.iter().map(|site| of_cold[site].page_visits).sum();
        assert!(
            alone > 0 && report.page_visits * 10 <= alone * 11,
            "{} page visits, {alone} from scratch on those sites",
            report.page_visits
        );
        assert!(computing(&report) * 5 < computing(&cold));
    }
    bank.is_sound();
}

#[test]
fn more_clicks_on_a_clicked_page_change_nothing() {
    let bank = TestBank::new();
    bank.delta(&two_hundred_sites());
    bank.delta(r#"{"url": "http://s001.example/04", "clicks": 3, "digest": "a"}"#);
    bank.refresh("p", &by(Method::MaxWeight), false);
    bank.delta(r#"{"url": "http://s001.example/04", "clicks": 4, "digest": "b"}"#);
    let report = bank.refresh("p", &by(Method::MaxWeight), false);
    assert_eq!(report.steps_recomputed, 0);
    bank.delta(r#"{"url": "http://s001.example/05", "digest": "b"}"#);
    let report = bank.refresh("p", &by(Method::MaxWeight), false);
    assert_eq!(report.steps_recomputed, 1, "P_uniq is another");
}

#[test]
fn plans_are_kept_and_changed() {
    let bank = TestBank::new();
    bank.delta(&two_hundred_sites());
    let first = PlanOptions {
        per_site: Some(3),
        depth: Some(1),
        value_spam: Some(Value::units(-7)),
        ..by(Method::MaxWeight)
    };
    bank.refresh("p", &first, false);
    let none = PlanOptions::default();
    let report = bank.refresh("p", &none, false);
    assert_eq!(report.parameters, first);
    assert!(!report.plan_changed && !report.cold);
    // Said again, or a default said: the same plan.
    let same = PlanOptions {
        hops: Some(5),
        per_site: Some(3),
        ..PlanOptions::default()
    };
    let report = bank.refresh("p", &same, false);
    assert!(!report.plan_changed && report.steps_reused == 200);
    let other = PlanOptions {
        hops: Some(4),
        ..PlanOptions::default()
    };
    let report = bank.refresh("p", &other, false);
    assert!(report.plan_changed && report.cold && report.steps_recomputed == 200);
    assert_eq!(report.parameters.depth, Some(1));
    // Another method keeps what all methods of its kind take.
    let report = bank.refresh("p", &by(Method::Greedy), false);
    assert!(report.plan_changed && report.cold);
    assert_eq!(
        (report.parameters.depth, report.parameters.per_site),
        (None, Some(3))
    );
    let shared = PlanOptions {
        seeds: Some(50),
        ..PlanOptions::default()
    };
    let report = bank.refresh("p", &shared, false);
    assert_eq!((report.parameters.per_site, report.seeds), (None, 50));
    let report = bank.refresh("p", &by(Method::Cores), false);
    assert_eq!(report.parameters, by(Method::Cores));
    assert!(report.plan_changed && report.cores > 0);
    let report = bank.refresh("p", &by(Method::MaxOut), false);
    assert!(report.plan_changed && report.cold && report.steps_reused == 0);
    bank.is_sound();
}

#[test]
fn parameters_of_the_other_family_are_refused() {
    let bank = TestBank::new();
    let refused = |options: &str| {
        let request = RefreshRequest {
            options: PlanOptions::from_toml(options).unwrap(),
            ..RefreshRequest::default()
        };
        let error = bank.bank.refresh(&request, &Unwatched).unwrap_err();
        assert_eq!(error.failure(), Failure::Usage, "{error}");
        assert!(matches!(error, EngineError::Plan(_)));
        error.to_string()
    };
    let text = refused("hops = 3\ndepth = 1");
    assert_eq!(
        text,
        "the plan's method is cores, and hops, depth belong to a cover method (max-weight, say); leave out what does not fit, or name the method"
    );
    let text = refused("method = 'greedy'\ndensity = 60");
    assert!(text.contains("greedy, and density belongs to the method cores"));
    assert!(refused("method = 'greedy'\ndepth = 2").contains("greedy always looks 5 hops deep"));
    assert!(refused("method = 'random'\ncovered = 'remove'").contains("makes no sense"));
    assert!(refused("method = 'random'\nshare = 'value'").contains("give `seeds`"));
    assert!(refused("method = 'random'\np-uniq = 1.5").contains("no probability"));
    assert!(PlanOptions::from_toml("method = 'best'").is_err());
    let all = "method = 'max-scc'\nseeds = 9\nshare = 'pagerank'\nhops = 3\ndepth = 1\ncovered = 'remove'\n\
        value-base = 0.5\nvalue-spam = -2\nvalue-clicked = 3.25\np-uniq = 0.125\npositive-only = false\nrng-seed = 4";
    let options = PlanOptions::from_toml(all).unwrap();
    options.decide().unwrap();
    assert_eq!(options.value_clicked, Some(Value(3_250_000)));
    // Kept as JSON, and read again.
    bank.refresh("all", &options, false);
    let report = bank.refresh("all", &PlanOptions::default(), false);
    assert_eq!(report.parameters, options);
    assert!(!report.plan_changed);
}

#[test]
fn deleted_refreshes_leave_what_later_ones_took_over() {
    let bank = TestBank::new();
    bank.delta(&two_hundred_sites());
    let request = |keep| RefreshRequest {
        plan: Some("p".to_owned()),
        options: by(Method::MaxWeight),
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
        let report = bank.bank.refresh(&request(keep), &Unwatched).unwrap();
        let since: BTreeSet<RefreshId> = covers(&bank, report.refresh)
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
    // A cold one takes nothing over, and the last references go with the others.
    let mut cold = request(Some(1));
    cold.cold = true;
    bank.bank.refresh(&cold, &Unwatched).unwrap();
    bank.is_sound();
    let reader = Reader::open(bank.bank.path()).unwrap();
    let older = reader.scan(&tables::BITMAPS).unwrap().filter(
        |entry| matches!(entry, Ok((tables::BitmapKey::Covered(key), _)) if key.refresh != 6),
    );
    assert_eq!(older.count(), 0);
}

#[test]
fn any_head_of_the_list_is_a_good_list() {
    let bank = TestBank::new();
    bank.delta(&two_hundred_sites());
    bank.delta(r#"{"url": "http://s123.example/04", "clicks": 3}"#);
    bank.refresh("p", &by(Method::MaxWeight), false);
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
            [Method::Greedy, Method::Pagerank].map(|method| {
                let shared = PlanOptions {
                    seeds: Some(100),
                    share: Some(Share::Pagerank),
                    ..by(method)
                };
                let report = bank.refresh("p", &shared, false);
                (report.page_visits, bank.bare_seeds("p"))
            })
        })
    };
    let one = run(1);
    assert!(one == run(5));
}

#[test]
fn nothing_to_select_is_a_refresh_without_seeds() {
    let bank = TestBank::new();
    for method in [Method::MaxWeight, Method::Random] {
        let report = bank.refresh(method.name(), &by(method), false);
        assert_eq!((report.seeds, report.steps_recomputed), (0, 0));
    }
    // Known pages only; then a site that is nothing but spam.
    bank.delta(r#"{"url": "http://a.example/", "spam": true}"#);
    assert_eq!(bank.refresh("p", &by(Method::MaxWeight), false).seeds, 0);
    bank.delta(r#"{"url": "http://a.example/", "digest": "d"}"#);
    let report = bank.refresh("p", &by(Method::MaxWeight), false);
    assert_eq!((report.seeds, report.steps_recomputed), (0, 1));
    let report = bank.refresh("p", &by(Method::MaxWeight), false);
    assert_eq!((report.seeds, report.steps_reused), (0, 1));
    bank.is_sound();
}
