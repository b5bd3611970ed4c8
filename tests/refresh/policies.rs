//! Policies of plans, through a bank.
//!
//! - `random_histories`: with any policies, alone and together, by every kind of method, a refresh
//!   gives what one from scratch gives; and caps, lists, pins and limits are kept, as counted from the
//!   list alone. Catches seeds that are taken over although a cap is full now, pins that died, pages
//!   that came to be allowed, a list that changes by more than it may.
//! - the rest: what each policy is told as, and what becomes of lists that nothing names any more.

use std::collections::{BTreeMap, BTreeSet};

use crate::support::banks::TestBank;
use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use seedbank::cover::Share;
use seedbank::engine::{
    ByPolicy, CoverMethod, HeldBy, Limit, List, Method, PinFault, PlanOptions, PolicySays,
    RefreshRequest, Scope, Seed, Short, Which,
};
use seedbank::storage::Reader;
use seedbank::storage::tables;
use seedbank::watch::Unwatched;
use serde_json::json;

/// A page: its domain, its host there, its number.
type Page = (u8, u8, u8);

fn url((domain, host, number): Page) -> String {
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
    Spam(Page, bool),
}

fn event() -> impl Strategy<Value = Event> {
    prop_oneof![
        6 => (page(), prop::collection::vec(page(), 0..5)).prop_map(|(at, to)| Event::Links(at, to)),
        1 => page().prop_map(Event::Gone),
        1 => (page(), any::<bool>()).prop_map(|(at, spam)| Event::Spam(at, spam)),
    ]
}

fn line(event: &Event) -> String {
    let record = match event {
        Event::Links(at, to) => {
            let to: Vec<String> = to.iter().map(|page| url(*page)).collect();
            json!({"url": url(*at), "outlinks": to})
        }
        Event::Gone(at) => json!({"url": url(*at), "gone": true}),
        Event::Spam(at, spam) => json!({"url": url(*at), "spam": spam}),
    };
    format!("{record}\n")
}

fn options() -> impl Strategy<Value = PlanOptions> {
    let method = prop_oneof![
        4 => Just(PlanOptions::default()),
        1 => Just(PlanOptions { pick: Some(seedbank::cores::Pick::Stable), ..PlanOptions::default() }),
        4 => (0..CoverMethod::ALL.len(), 0..3_usize).prop_map(|(method, seats)| PlanOptions {
            method: Some(Method::Cover(CoverMethod::ALL[method])),
            per_site: (seats == 0).then_some(2),
            share: (seats > 0).then(|| [Share::Pages, Share::Value][seats - 1]),
            ..PlanOptions::default()
        }),
        3 => (0..4_usize).prop_map(|method| PlanOptions {
            method: Some(Method::Cover(
                [CoverMethod::Greedy, CoverMethod::MaxOut, CoverMethod::OutDegree, CoverMethod::Pagerank]
                    [method]
            )),
            scope: Some(Scope::Web),
            ..PlanOptions::default()
        }),
    ];
    let limit = |most: u32| prop::option::of((1..=most).prop_map(Limit::At));
    let lists = (
        prop::option::weighted(0.3, Just("*.pdf\n.d3.test\n")),
        prop::option::weighted(0.2, Just(".d0.test\n.d1.test\nh0.d3.test\n")),
        prop::option::weighted(0.2, Just("http://h1.d2.test/\n@media\n")),
        prop::option::weighted(0.3, prop::collection::vec(page(), 1..3)),
    );
    let sizes = (
        prop::option::weighted(0.3, 1_u32..4),
        prop::option::weighted(0.2, 1_u32..3),
    );
    let changes = prop::option::weighted(0.3, (0_u32..4).prop_map(Limit::At));
    let all = (method, limit(2), limit(3), lists, sizes, changes, 3_u32..9);
    all.prop_map(
        |(method, per_site, per_domain, lists, sizes, max_changes, seeds)| {
            let is_cores = method.method.is_none();
            let list = |name: &str, text: Option<&str>| text.map(|text| List::of_text(name, text));
            let pins = lists.3.map(|pins| {
                let urls: String = pins.iter().map(|page| url(*page) + "\n").collect();
                List::of_text("pins", &urls)
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
                seedbank::engine::Evidence::Core { core, .. } => format!("core {core}"),
                other => format!("{other:?}"),
            };
            (url, by, evidence)
        })
        .collect()
}

#[test]
fn random_histories() {
    let days = prop::collection::vec(prop::collection::vec(event(), 1..12), 2..6);
    let first = prop::collection::vec(event(), 40..90);
    let mut runner = TestRunner::new(Config {
        cases: 120,
        // A step takes as long as the history that it tries.
        max_shrink_iters: 100,
        ..Config::default()
    });
    runner
        .run(&(first, days, options()), |(first, days, options)| {
            let (warm, cold) = (TestBank::new(), TestBank::new());
            let mut last: Vec<Seed> = Vec::new();
            for events in std::iter::once(first).chain(days) {
                let text: String = events.iter().map(line).collect();
                let alive = |bank: &TestBank| bank.delta(&text);
                alive(&warm);
                alive(&cold);
                let request = |cold| RefreshRequest {
                    plan: Some("p".to_owned()),
                    options: options.clone(),
                    cold,
                    ..RefreshRequest::default()
                };
                let ours = warm.bank.refresh(&request(false), &Unwatched);
                let theirs = cold.bank.refresh(&request(true), &Unwatched);
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
                prop_assert_eq!(ours.short, theirs.short);
                let seeds = warm.seeds("p");
                prop_assert_eq!(ours.view.seeds as usize, seeds.len());
                keeps_to(&options, &seeds, &last);
                last = seeds;
            }
            warm.is_sound();
            cold.is_sound();
            Ok(())
        })
        .unwrap();
}

/// Hubs on one site, `hubs` of them for each of some groups, each with three authorities elsewhere;
/// later groups have fewer hubs.
fn communities(groups: u32) -> TestBank {
    let bank = TestBank::new();
    let mut text = String::new();
    for group in 0..groups {
        for hub in 0..groups + 1 - group {
            let to: Vec<String> = (0..3)
                .map(|to| format!("http://a{to}.g{group}.test/"))
                .collect();
            let url = format!("http://hub.test/{group}-{hub}");
            text += &(json!({"url": url, "outlinks": to}).to_string() + "\n");
        }
    }
    bank.delta(&text);
    bank
}

fn urls(seeds: &[Seed]) -> Vec<&str> {
    seeds.iter().map(|seed| seed.url.as_str()).collect()
}

fn says(bank: &TestBank, url: &str) -> Option<PolicySays> {
    let which = Which {
        plan: Some("p".to_owned()),
        refresh: None,
    };
    bank.bank.explain(url, &which).unwrap().policy
}

#[test]
fn what_is_held_back_is_told() {
    let bank = communities(4);
    let free = PlanOptions {
        seeds: Some(4),
        ..PlanOptions::default()
    };
    bank.refresh("p", &free, false);
    assert_eq!(
        urls(&bank.seeds("p")),
        [
            "http://hub.test/0-0",
            "http://hub.test/1-0",
            "http://hub.test/2-0",
            "http://hub.test/3-0"
        ]
    );
    // A cap: all hubs are on one site.
    let capped = PlanOptions {
        max_per_site: Some(Limit::At(2)),
        ..free.clone()
    };
    let report = bank.refresh("p", &capped, false);
    let policy = report.view.policy.unwrap();
    assert!(report.plan_changed);
    assert_eq!(policy.held_back, BTreeMap::from([(HeldBy::MaxPerSite, 2)]));
    assert_eq!((report.view.seeds, report.view.cores), (2, 4));
    assert_eq!(
        report.short.map(|short| short.reason),
        Some(Short::NoLinkLeft)
    );
    let held = |by| Some(PolicySays::HeldBack { by, line: None });
    assert!(matches!(
        says(&bank, "http://hub.test/2-0"),
        Some(PolicySays::HeldBack {
            by: HeldBy::MaxPerSite,
            ..
        })
    ));
    assert!(says(&bank, "http://hub.test/0-0").is_none());
    // Small cores give no seed, and the next one follows.
    let large = PlanOptions {
        max_per_site: Some(Limit::None),
        min_hubs: Some(4),
        ..free.clone()
    };
    let report = bank.refresh("p", &large, false);
    assert_eq!(
        report.view.policy.unwrap().held_back,
        BTreeMap::from([(HeldBy::MinHubs, 2)])
    );
    assert_eq!(
        urls(&bank.seeds("p")),
        ["http://hub.test/0-0", "http://hub.test/1-0"]
    );
    assert_eq!(
        format!("{:?}", says(&bank, "http://hub.test/3-0")),
        format!("{:?}", held(HeldBy::MinHubs))
    );
    // An excluded hub leaves its place to the next one of its core.
    let excluding = PlanOptions {
        min_hubs: Some(0),
        exclude: Some(List::of_text("no", "*/0-0\n")),
        ..free.clone()
    };
    let report = bank.refresh("p", &excluding, false);
    assert_eq!(
        report.view.policy.unwrap().held_back,
        BTreeMap::from([(HeldBy::Exclude, 1)])
    );
    assert_eq!(bank.seeds("p")[0].url, "http://hub.test/0-1");
    let Some(PolicySays::HeldBack { by, line }) = says(&bank, "http://hub.test/0-0") else {
        panic!("nothing is said");
    };
    assert_eq!((by, line.as_deref()), (HeldBy::Exclude, Some("*/0-0")));
    // A page that is left out of the graph is in no core.
    let left_out = PlanOptions {
        exclude: Some(List::none()),
        exclude_from_graph: Some(List::of_text("no", "re:/0-\n")),
        ..free
    };
    bank.refresh("p", &left_out, false);
    assert_eq!(bank.seeds("p")[0].url, "http://hub.test/1-0");
    bank.is_sound();
}

#[test]
fn pins_come_first_and_are_counted() {
    let bank = communities(3);
    let pins =
        "http://a1.g0.test/\nhttp://hub.test/1-2\nhttp://nowhere.test/\nhttp://hub.test/2-1\n";
    let options = PlanOptions {
        seeds: Some(4),
        pin: Some(List::of_text("pins", pins)),
        ..PlanOptions::default()
    };
    let report = bank.refresh("p", &options, false);
    let policy = report.view.policy.unwrap();
    assert_eq!(policy.pinned, 3);
    let left_out = &policy.pins_left_out;
    assert_eq!(
        (&*left_out[0].url, left_out[0].why),
        ("http://nowhere.test/", PinFault::Unknown)
    );
    let seeds = bank.seeds("p");
    // The cores of pinned hubs have their seeds; the fourth is that of the other core.
    assert_eq!(
        urls(&seeds),
        [
            "http://a1.g0.test/",
            "http://hub.test/1-2",
            "http://hub.test/2-1",
            "http://hub.test/0-0"
        ]
    );
    let by: Vec<_> = seeds.iter().map(|seed| seed.by_policy).collect();
    assert_eq!(
        by,
        [
            Some(ByPolicy::Pin),
            Some(ByPolicy::Pin),
            Some(ByPolicy::Pin),
            None
        ]
    );
    assert!(matches!(
        says(&bank, "http://a1.g0.test/"),
        Some(PolicySays::Pinned { rank: 1 })
    ));
    // A pin that dies is no seed, and is told.
    bank.delta("{\"url\": \"http://hub.test/1-2\", \"gone\": true}\n");
    let report = bank.refresh("p", &PlanOptions::default(), false);
    let left_out = report.view.policy.unwrap().pins_left_out;
    assert_eq!(left_out[0].why, PinFault::Gone);
    bank.is_sound();
    let few = PlanOptions {
        seeds: Some(1),
        ..PlanOptions::default()
    };
    let request = RefreshRequest {
        plan: Some("p".to_owned()),
        options: few,
        ..RefreshRequest::default()
    };
    let refused = bank.bank.refresh(&request, &Unwatched).unwrap_err();
    assert_eq!(
        std::error::Error::source(&refused).map_or(refused.to_string(), ToString::to_string),
        "2 pages are pinned, and the plan selects 1 seeds; raise `seeds`, or pin fewer"
    );
}

#[test]
fn a_list_changes_by_no_more_than_it_may() {
    let bank = communities(6);
    let options = PlanOptions {
        seeds: Some(6),
        max_changes: Some(Limit::At(1)),
        ..PlanOptions::default()
    };
    bank.refresh("p", &options, false);
    let before = bank.seeds("p");
    // Three groups become denser than all others.
    let mut text = String::new();
    for group in 7..10 {
        for hub in 0..12 {
            let to: Vec<String> = (0..4)
                .map(|to| format!("http://a{to}.g{group}.test/"))
                .collect();
            let url = format!("http://new.test/{group}-{hub}");
            text += &(json!({"url": url, "outlinks": to}).to_string() + "\n");
        }
    }
    // And a seed dies.
    text += "{\"url\": \"http://hub.test/5-0\", \"gone\": true}\n";
    bank.delta(&text);
    let report = bank.refresh("p", &options, false);
    let changes = report.view.policy.unwrap().changes.unwrap();
    assert_eq!(
        (changes.came, changes.left, changes.had_to_leave),
        (1, 1, 1)
    );
    assert_eq!((changes.stayed, changes.held_back), (2, 2));
    let seeds = bank.seeds("p");
    assert_eq!(
        urls(&seeds),
        [
            "http://new.test/7-0",
            "http://hub.test/0-0",
            "http://hub.test/1-0",
            "http://hub.test/2-0",
            "http://hub.test/3-0",
            "http://hub.test/4-0"
        ]
    );
    assert_eq!(before.len(), 6);
    let Some(PolicySays::Stays {
        rank: 6,
        last_chosen: 1,
    }) = says(&bank, "http://hub.test/4-0")
    else {
        panic!("{:?}", says(&bank, "http://hub.test/4-0"));
    };
    assert!(matches!(
        says(&bank, "http://new.test/8-0"),
        Some(PolicySays::HeldBack {
            by: HeldBy::MaxChanges,
            ..
        })
    ));
    bank.is_sound();
    // One more day, without a change: the next one comes in.
    let report = bank.refresh("p", &options, false);
    assert_eq!(report.view.policy.unwrap().changes.unwrap().came, 1);
    assert_eq!(bank.seeds("p")[1].url, "http://new.test/8-0");
    bank.is_sound();
}

#[test]
fn lists_are_kept_as_long_as_something_names_them() {
    let bank = communities(2);
    let lists = || {
        let reader = Reader::open(bank.bank.path()).unwrap();
        reader.scan(&tables::LISTS).unwrap().count()
    };
    let of = |text: &str| PlanOptions {
        exclude: Some(List::of_text("x", text)),
        ..PlanOptions::default()
    };
    bank.refresh("p", &of("a.test\n"), false);
    bank.refresh("q", &of("# the same\na.test"), false);
    assert_eq!(lists(), 1);
    let report = bank.refresh("p", &of("b.test\n"), false);
    assert!(report.plan_changed);
    assert_eq!(lists(), 2);
    // Without the flag the plan goes on with what it kept.
    let report = bank.refresh("p", &PlanOptions::default(), false);
    assert!(!report.plan_changed && report.view.policy.is_some());
    let request = RefreshRequest {
        plan: Some("p".to_owned()),
        keep: Some(1),
        ..RefreshRequest::default()
    };
    bank.bank.refresh(&request, &Unwatched).unwrap();
    assert_eq!(lists(), 2);
    bank.bank.delete_plan("q", false, &Unwatched).unwrap();
    assert_eq!(lists(), 1);
    bank.is_sound();
}
