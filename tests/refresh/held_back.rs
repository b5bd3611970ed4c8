//! Pages rejected by policies are reported, page by page and in total; pins come first, lists change
//! by at most the limit, and the lists that plans name are stored as long as something refers to them.

use std::collections::BTreeMap;

use crate::support::banks::TestBank;
use crate::support::plans::exact_cores;
use seedbank::engine::policy::{Limit, List, PinRejection, RejectionReason};
use seedbank::engine::query::{ByPolicy, PolicyVerdict, Seed};
use seedbank::engine::refresh::ShortageReason;
use seedbank::engine::{PlanOptions, RefreshRequest, Which};
use seedbank_store::Reader;
use seedbank_store::tables;
use serde_json::json;

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

fn says(bank: &TestBank, url: &str) -> Option<PolicyVerdict> {
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
        max_per_site: Some(Limit::AtMost(2)),
        ..free.clone()
    };
    let report = bank.refresh("p", &capped, false);
    let policy = report.view.policy.unwrap();
    assert!(report.plan_changed);
    assert_eq!(
        policy.rejected,
        BTreeMap::from([(RejectionReason::MaxPerSite, 2)])
    );
    assert_eq!((report.view.seeds, report.view.cores), (2, 4));
    assert_eq!(
        report.shortage.map(|short| short.reason),
        Some(ShortageReason::NoLinkLeft)
    );
    let held = |by| Some(PolicyVerdict::Rejected { by, line: None });
    assert!(matches!(
        says(&bank, "http://hub.test/2-0"),
        Some(PolicyVerdict::Rejected {
            by: RejectionReason::MaxPerSite,
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
        report.view.policy.unwrap().rejected,
        BTreeMap::from([(RejectionReason::MinHubs, 2)])
    );
    assert_eq!(
        urls(&bank.seeds("p")),
        ["http://hub.test/0-0", "http://hub.test/1-0"]
    );
    assert_eq!(
        format!("{:?}", says(&bank, "http://hub.test/3-0")),
        format!("{:?}", held(RejectionReason::MinHubs))
    );
    // An excluded hub leaves its place to the next one of its core.
    let excluding = PlanOptions {
        min_hubs: Some(0),
        exclude: Some(List::parse("no", "*/0-0\n")),
        ..free.clone()
    };
    let report = bank.refresh("p", &excluding, false);
    assert_eq!(
        report.view.policy.unwrap().rejected,
        BTreeMap::from([(RejectionReason::Exclude, 1)])
    );
    assert_eq!(bank.seeds("p")[0].url, "http://hub.test/0-1");
    let Some(PolicyVerdict::Rejected { by, line }) = says(&bank, "http://hub.test/0-0") else {
        panic!("nothing is said");
    };
    assert_eq!(
        (by, line.as_deref()),
        (RejectionReason::Exclude, Some("*/0-0"))
    );
    // A page that is left out of the graph is in no core.
    let left_out = PlanOptions {
        exclude: Some(List::none()),
        exclude_from_graph: Some(List::parse("no", "re:/0-\n")),
        ..free
    };
    bank.refresh("p", &left_out, false);
    assert_eq!(bank.seeds("p")[0].url, "http://hub.test/1-0");
    bank.is_sound();
}

#[test]
fn a_seed_that_other_policies_chose_is_not_kept() {
    let bank = communities(2);
    let free = PlanOptions {
        seeds: Some(2),
        ..PlanOptions::default()
    };
    let excluding = PlanOptions {
        exclude: Some(List::parse("no", "*/0-0\n")),
        ..free.clone()
    };
    bank.refresh("p", &excluding, false);
    assert_eq!(bank.seeds("p")[0].url, "http://hub.test/0-1");
    // The steps are reused, within a bound too, but the list no longer applies.
    let all = PlanOptions {
        exclude: Some(List::none()),
        ..free
    };
    let report = bank.refresh("p", &all, false);
    assert_eq!(report.view.steps_recomputed, 0);
    assert_eq!(bank.seeds("p")[0].url, "http://hub.test/0-0");
}

#[test]
fn pins_come_first_and_are_counted() {
    let bank = communities(3);
    let pins =
        "http://a1.g0.test/\nhttp://hub.test/1-2\nhttp://nowhere.test/\nhttp://hub.test/2-1\n";
    let options = PlanOptions {
        seeds: Some(4),
        pin: Some(List::parse("pins", pins)),
        ..PlanOptions::default()
    };
    let report = bank.refresh("p", &options, false);
    let policy = report.view.policy.unwrap();
    assert_eq!(policy.pinned, 3);
    let left_out = &policy.rejected_pins;
    assert_eq!(
        (&*left_out[0].url, left_out[0].why),
        ("http://nowhere.test/", PinRejection::Unknown)
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
        Some(PolicyVerdict::Pinned { rank: 1 })
    ));
    // A pin that dies is no seed, and is reported.
    bank.delta("{\"url\": \"http://hub.test/1-2\", \"gone\": true}\n");
    let report = bank.refresh("p", &PlanOptions::default(), false);
    let left_out = report.view.policy.unwrap().rejected_pins;
    assert_eq!(left_out[0].why, PinRejection::Gone);
    bank.is_sound();
    let few = PlanOptions {
        seeds: Some(1),
        ..PlanOptions::default()
    };
    let request = RefreshRequest {
        plan: Some("p".to_owned()),
        options: exact_cores(few),
        ..RefreshRequest::default()
    };
    let refused = bank.bank.refresh(&request).unwrap_err();
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
        max_changes: Some(Limit::AtMost(1)),
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
        (changes.gained, changes.lost, changes.lost_ineligible),
        (1, 1, 1)
    );
    assert_eq!((changes.retained, changes.deferred), (2, 2));
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
    let Some(PolicyVerdict::Retained {
        rank: 6,
        last_chosen: 1,
    }) = says(&bank, "http://hub.test/4-0")
    else {
        panic!("{:?}", says(&bank, "http://hub.test/4-0"));
    };
    assert!(matches!(
        says(&bank, "http://new.test/8-0"),
        Some(PolicyVerdict::Rejected {
            by: RejectionReason::MaxChanges,
            ..
        })
    ));
    bank.is_sound();
    // One more day, without a change: the next one comes in.
    let report = bank.refresh("p", &options, false);
    assert_eq!(report.view.policy.unwrap().changes.unwrap().gained, 1);
    assert_eq!(bank.seeds("p")[1].url, "http://new.test/8-0");
    bank.is_sound();
}

#[test]
fn lists_are_kept_as_long_as_something_names_them() {
    let bank = communities(2);
    let lists = || {
        let reader = Reader::open(bank.bank.path()).unwrap();
        reader.scan(&tables::PLAN_LISTS).unwrap().count()
    };
    let of = |text: &str| PlanOptions {
        exclude: Some(List::parse("x", text)),
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
    bank.bank.refresh(&request).unwrap();
    assert_eq!(lists(), 2);
    bank.bank.delete_plan("q", false).unwrap();
    assert_eq!(lists(), 1);
    bank.is_sound();
}
