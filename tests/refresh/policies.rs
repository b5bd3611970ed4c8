//! Policies of plans, through a bank.
//!
//! - `random_histories`: with any policies, alone and together, by every kind of method, a refresh
//!   gives what one from scratch gives; and caps, lists, pins and limits are kept, as counted from the
//!   list alone. Catches seeds that are taken over although a cap is full now, pins that died, pages
//!   that came to be allowed, or whose fetches fail, a list that changes by more than it may. A few by default; `make
//!   test-long` runs more.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::banks::TestBank;
use crate::support::plans::exact_cores;
use crate::support::properties::repeatable;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestCaseError, TestRunner};
use seedbank::engine::plan::{CoverMethod, Due, Method, Revisit, Scope, Value};
use seedbank::engine::policy::{Limit, List};
use seedbank::engine::query::{ByPolicy, Seed};
use seedbank::engine::{PlanOptions, RefreshRequest};
use seedbank_algorithms::cover::Share;
use serde_json::json;

/// A page: its domain, its host there, its number.
type Page = (u8, u8, u8);

fn url(page: Page) -> String {
    let (domain, host, number) = page;
    let ending = if number % 4 == 3 { ".pdf" } else { "" };
    format!("http://h{host}.d{domain}.test/{number}{ending}")
}

fn page() -> impl Strategy<Value = Page> {
    (0_u8..4, 0_u8..3, 0_u8..5)
}

#[derive(Clone, Debug)]
enum Event {
    Links(Page, Vec<Page>),
    Gone(Page),
    Failed(Page),
    Spam(Page, bool),
    /// In tenths; `None` takes it away.
    Quality(Page, Option<u8>),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (page(), prop::collection::vec(page(), 0..5)).prop_map(|(at, to)| Event::Links(at, to)),
        1 => page().prop_map(Event::Gone),
        2 => page().prop_map(Event::Failed),
        1 => (page(), any::<bool>()).prop_map(|(at, spam)| Event::Spam(at, spam)),
        2 => (page(), prop::option::weighted(0.9, 0_u8..=10))
            .prop_map(|(at, quality)| Event::Quality(at, quality)),
    ]
}

/// The record of an event at a time.
fn line(event: &Event, time: usize) -> String {
    let time = 1_795_060_800 + time;
    let record = match event {
        Event::Links(at, to) => {
            let to: Vec<String> = to.iter().map(|page| url(*page)).collect();
            json!({"url": url(*at), "outlinks": to, "fetched": time})
        }
        Event::Gone(at) => json!({"url": url(*at), "gone": true, "fetched": time}),
        Event::Failed(at) => json!({"url": url(*at), "status": "timeout", "fetched": time}),
        Event::Spam(at, spam) => json!({"url": url(*at), "spam": spam}),
        Event::Quality(at, quality) => {
            json!({"url": url(*at), "quality": quality.map(|tenths| f64::from(tenths) / 10.0)})
        }
    };
    format!("{record}\n")
}

fn options() -> impl Strategy<Value = PlanOptions> {
    let on_sites: Vec<CoverMethod> = CoverMethod::ALL
        .into_iter()
        .filter(|of| *of != CoverMethod::Oldest)
        .collect();
    let method = prop_oneof![
        4 => Just(PlanOptions::default()),
        1 => Just(PlanOptions { pick: Some(seedbank_algorithms::cores::Pick::Stable), ..PlanOptions::default() }),
        4 => (prop::sample::select(on_sites), 0..3_usize).prop_map(|(method, seats)| PlanOptions {
            method: Some(Method::Cover(method)),
            per_site: (seats == 0).then_some(2),
            share: (seats > 0).then(|| [Share::Pages, Share::Value][seats - 1]),
            ..PlanOptions::default()
        }),
        4 => (0..5_usize).prop_map(|method| PlanOptions {
            method: Some(Method::Cover(
                [CoverMethod::Greedy, CoverMethod::MaxOut, CoverMethod::OutDegree, CoverMethod::Pagerank, CoverMethod::Oldest]
                    [method]
            )),
            scope: Some(Scope::Web),
            ..PlanOptions::default()
        }),
    ];
    let method = prop_oneof![
        9 => method,
        2 => Just(PlanOptions { learned: Some(true), ..PlanOptions::default() }),
    ];
    let limit = |most: u32| prop::option::of((1..=most).prop_map(Limit::AtMost));
    let lists = (
        prop::option::weighted(0.3, Just("*.pdf\n.d3.test\n")),
        prop::option::weighted(0.2, Just(".d0.test\n.d1.test\nh0.d3.test\n")),
        prop::option::weighted(0.2, Just("http://h1.d2.test/\n@media\n")),
        prop::option::weighted(0.3, prop::collection::vec(page(), 1..3)),
    );
    let sizes = (
        prop::option::weighted(0.3, 1_u32..4),
        prop::option::weighted(0.2, 1_u32..3),
        prop::option::weighted(0.2, Just(Value(300_000))),
        prop::option::weighted(0.5, 1_u32..3),
        prop::option::weighted(0.4, 1_u32..4),
    );
    let changes = prop::option::weighted(0.3, (0_u32..4).prop_map(Limit::AtMost));
    let all = (method, limit(2), limit(3), lists, sizes, changes, 3_u32..9);
    all.prop_map(
        |(method, per_site, per_domain, lists, sizes, max_changes, seeds)| {
            let is_by_value = method.scope == Some(Scope::Web);
            let is_cores = method.method.is_none() && method.learned.is_none();
            let list = |name: &str, text: Option<&str>| text.map(|text| List::parse(name, text));
            let pins = lists.3.map(|pins| {
                let urls: String = pins.iter().map(|page| url(*page) + "\n").collect();
                List::parse("pins", &urls)
            });
            PlanOptions {
                seeds: method.per_site.is_none().then_some(seeds),
                max_per_site: per_site,
                max_per_domain: per_domain,
                exclude: list("exclude", lists.0),
                only: list("only", lists.1),
                exclude_from_graph: list("left out", lists.2),
                pin: pins,
                min_hubs: sizes.0.filter(|_| is_cores),
                min_authorities: sizes.1.filter(|_| is_cores),
                min_quality: sizes.2,
                max_failures: sizes.3,
                revisit: sizes.4.filter(|_| is_by_value).map(Revisit::Days),
                max_changes,
                ..method
            }
        },
    )
}

fn domain(url: &str) -> String {
    let host = url.split('/').nth(2).unwrap();
    host.split_once('.').unwrap().1.to_owned()
}

/// Checks a list against the policies of its plan, by nothing but its URLs.
fn keeps_to(options: &PlanOptions, seeds: &[Seed], last: &[Seed]) {
    let pinned: BTreeSet<&str> = seeds
        .iter()
        .filter(|seed| seed.by_policy == Some(ByPolicy::Pin))
        .map(|seed| seed.url.as_str())
        .collect();
    for (limit, by) in [
        (
            options.max_per_site,
            (|seed: &Seed| seed.site.clone()) as fn(&Seed) -> String,
        ),
        (options.max_per_domain, |seed: &Seed| domain(&seed.url)),
    ] {
        let Some(most) = limit.and_then(Limit::number) else {
            continue;
        };
        let mut counts: BTreeMap<String, (u32, u32)> = BTreeMap::new();
        for seed in seeds {
            let (pins, all) = counts.entry(by(seed)).or_default();
            *pins += u32::from(pinned.contains(seed.url.as_str()));
            *all += 1;
        }
        for (of, (pins, all)) in counts {
            assert!(
                all <= most.max(pins),
                "{of}: {all} seeds, {pins} of them pinned"
            );
        }
    }
    for seed in seeds {
        let is_pinned = pinned.contains(seed.url.as_str());
        let is_document = seed.url.contains(".pdf");
        let of = domain(&seed.url);
        assert!(seed.alive, "{}", seed.url);
        if options.exclude.is_some() {
            assert!(!is_document && of != "d3.test", "{}", seed.url);
        }
        if options.exclude_from_graph.is_some() {
            assert!(!is_document && !seed.url.starts_with("http://h1.d2.test/"));
        }
        if let Some(most) = options.max_failures.filter(|_| !is_pinned) {
            let failures = seed.failures.map_or(0, |failures| failures.count);
            assert!(failures < most, "{}: {failures} failures", seed.url);
        }
        if options.only.is_some() && !is_pinned {
            assert!(["d0.test", "d1.test"].contains(&&*of) || seed.site == "h0.d3.test");
        }
    }
    // Pins come first.
    let first = seeds.iter().take(pinned.len());
    assert!(first.clone().all(|seed| pinned.contains(seed.url.as_str())));
    if let Some(most) = options.seeds {
        assert!(seeds.len() <= most as usize);
    }
    if let Some(most) = options
        .max_changes
        .and_then(Limit::number)
        .filter(|_| !last.is_empty())
    {
        let before: BTreeSet<&str> = last.iter().map(|seed| seed.url.as_str()).collect();
        let came = seeds.iter().filter(|seed| !before.contains(&*seed.url));
        let came = came.filter(|seed| !pinned.contains(&*seed.url)).count();
        assert!(came <= most as usize, "{came} seeds came");
    }
}

/// A seed without what depends on how it was come by.
fn bare(bank: &TestBank) -> Vec<(String, Option<ByPolicy>, String)> {
    let seeds = bank.bare_seeds("p").into_iter();
    let by = bank.seeds("p").into_iter().map(|seed| seed.by_policy);
    seeds
        .zip(by)
        .map(|((_, url, evidence), by)| {
            let evidence = match evidence {
                seedbank::engine::query::Evidence::Core { core, .. } => format!("core {core}"),
                other => format!("{other:?}"),
            };
            (url, by, evidence)
        })
        .collect()
}

/// A refresh after each day beside one from scratch, and its list against the policies.
fn as_from_scratch(
    days: impl IntoIterator<Item = Vec<Event>>,
    options: &PlanOptions,
) -> Result<(), TestCaseError> {
    let (warm, cold) = (TestBank::new(), TestBank::new());
    let mut last: Vec<Seed> = Vec::new();
    for (day, events) in days.into_iter().enumerate() {
        let times = day * 86_400..;
        let text: String = events
            .iter()
            .zip(times)
            .map(|(e, at)| line(e, at))
            .collect();
        warm.delta(&text);
        cold.delta(&text);
        let request = |cold| RefreshRequest {
            plan: Some("p".to_owned()),
            options: exact_cores(options.clone()),
            cold,
            ..RefreshRequest::default()
        };
        let ours = warm.bank.refresh(&request(false));
        let theirs = cold.bank.refresh(&request(true));
        let (ours, theirs) = match (ours, theirs) {
            (Ok(ours), Ok(theirs)) => (ours, theirs),
            (ours, theirs) => {
                // More pins than seeds.
                prop_assert_eq!(
                    ours.unwrap_err().to_string(),
                    theirs.unwrap_err().to_string()
                );
                return Ok(());
            }
        };
        prop_assert_eq!(bare(&warm), bare(&cold));
        prop_assert_eq!(&ours.view.policy, &theirs.view.policy);
        prop_assert_eq!(ours.shortage, theirs.shortage);
        let seeds = warm.seeds("p");
        prop_assert_eq!(ours.view.seeds as usize, seeds.len());
        keeps_to(options, &seeds, &last);
        last = seeds;
    }
    warm.is_sound();
    cold.is_sound();
    Ok(())
}

#[test]
fn random_histories() {
    let days = prop::collection::vec(prop::collection::vec(event(), 1..12), 2..6);
    let first = prop::collection::vec(event(), 40..90);
    let mut runner = TestRunner::new(Config {
        // A step takes as long as the history that it tries.
        max_shrink_iters: 100,
        ..repeatable(6)
    });
    runner
        .run(&(first, days, options()), |(first, days, options)| {
            as_from_scratch(std::iter::once(first).chain(days), &options)
        })
        .unwrap();
}

/// Days pass: a page is worth nothing, then half, then all of its value again, at once if it is known to have changed.
#[test]
fn a_page_is_worth_more_as_days_pass() {
    let bank = TestBank::new();
    let options = PlanOptions {
        method: Some(Method::Cover(CoverMethod::Greedy)),
        scope: Some(Scope::Web),
        revisit: Some(Revisit::Days(4)),
        hops: Some(0),
        seeds: Some(4),
        ..PlanOptions::default()
    };
    let pages = [(0, 0, 0), (0, 0, 1), (1, 1, 0), (2, 1, 0)];
    let links = |page| Event::Links(page, vec![(3, 0, 0)]);
    let mut lists = Vec::new();
    for day in 0..6 {
        // One page is fetched every day, another one on the third; the third changes on the fourth.
        let mut text = match day {
            0 => pages.map(|page| line(&links(page), 0)).concat(),
            _ => line(&links(pages[0]), day * 86_400),
        };
        if day == 2 {
            text += &line(&links(pages[2]), day * 86_400);
        }
        if day == 3 {
            let time = 1_795_060_800 + day * 86_400;
            let changed = json!({"url": url(pages[2]), "changed": time});
            text = format!("{text}{changed}\n");
        }
        bank.delta(&text);
        bank.refresh("p", &options, false);
        bank.refresh("cold", &options, true);
        assert_eq!(bank.bare_seeds("p"), bank.bare_seeds("cold"));
        let seeds = bank.seeds("p").into_iter().map(|seed| match seed.evidence {
            seedbank::engine::query::Evidence::Cover { gain, .. } => gain.unwrap_or_default(),
            other => panic!("{other:?}"),
        });
        lists.push(seeds.collect::<Vec<f64>>());
    }
    let expected = [
        [0.0, 0.0, 0.0, 0.0],
        [0.0, 0.0, 0.0, 0.0],
        [0.5, 0.5, 0.0, 0.0],
        [1.0, 0.5, 0.5, 0.0],
        [1.0, 1.0, 1.0, 0.0],
        [1.0, 1.0, 1.0, 0.0],
    ];
    assert_eq!(lists, expected);
    let why = bank.bank.explain(&url(pages[0]), "p").unwrap().revisit;
    let why = why.unwrap();
    assert_eq!(
        (why.days, why.whole_after, why.counts),
        (Some(0.0), 4.0, Due::Not)
    );
}

/// A pin on a site without any crawled page counts for its domain's cap.
#[test]
fn a_pin_that_was_only_linked_to_counts_for_its_domain() {
    let first = vec![
        Event::Links((0, 0, 0), vec![(0, 1, 1), (0, 2, 2)]),
        Event::Links((1, 0, 0), vec![]),
    ];
    for (per_site, share) in [(Some(2), None), (None, Some(Share::Pages))] {
        let options = PlanOptions {
            method: Some(Method::Cover(CoverMethod::Greedy)),
            per_site,
            share,
            seeds: share.map(|_| 5),
            max_per_domain: Some(Limit::AtMost(2)),
            pin: Some(List::parse(
                "pins",
                "http://h1.d0.test/1\nhttp://h2.d0.test/2\n",
            )),
            ..PlanOptions::default()
        };
        as_from_scratch(vec![first.clone(), vec![]], &options).unwrap();
    }
}
