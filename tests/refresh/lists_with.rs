//! The lookup from a page to the lists that contain it: its cost, and that it covers every list that
//! is stored, changed by a limit, or deleted.
//!
//! Catches an index that is read partly or not at all, entries that outlive their refresh, and ranks
//! of the method instead of those of the list.

use std::collections::BTreeMap;

use crate::support::banks::TestBank;
use crate::support::banks::seeds_of;
use crate::support::plans::exact_cores;
use seedbank::engine::plan::{CoverMethod, Method, Scope};
use seedbank::engine::policy::Limit;
use seedbank::engine::{PlanOptions, RefreshRequest, Which};
use seedbank_store::{Reader, tables};
use serde_json::json;

/// A page of each of so many sites, with links to two others of it.
fn sites(count: u32, pages: u32) -> String {
    let mut text = String::new();
    for site in 0..count {
        let url = |path: u32| format!("http://s{site}.test/{path}");
        let to: Vec<String> = (1..=pages).map(url).collect();
        text += &(json!({"url": url(0), "outlinks": to}).to_string() + "\n");
        for path in 1..=pages {
            text += &(json!({"url": url(path), "outlinks": []}).to_string() + "\n");
        }
    }
    text
}

fn request(plan: &str, options: &PlanOptions, keep: Option<u32>) -> RefreshRequest {
    RefreshRequest {
        plan: Some(plan.to_owned()),
        options: exact_cores(exact_cores(options.clone())),
        keep,
        ..RefreshRequest::default()
    }
}

/// What every list says, from page to its refreshes and ranks.
fn lists(bank: &TestBank) -> BTreeMap<String, Vec<(u32, u32)>> {
    let mut found: BTreeMap<String, Vec<(u32, u32)>> = BTreeMap::new();
    for refresh in bank.bank.history().unwrap().refreshes {
        let which = Which {
            plan: None,
            refresh: Some(refresh.refresh),
        };
        for seed in seeds_of(&bank.bank, &which) {
            found
                .entry(seed.url)
                .or_default()
                .push((refresh.refresh, seed.rank));
        }
    }
    found
}

fn is_followed(bank: &TestBank) {
    let lists = lists(bank);
    let reader = Reader::open(bank.bank.path()).unwrap();
    let entries = reader.scan(&tables::SEED_PAGES).unwrap().count();
    assert_eq!(entries, lists.values().map(Vec::len).sum::<usize>());
    for (url, on) in lists {
        let past = bank.bank.page_history(&url, None).unwrap();
        let mut listed: Vec<(u32, u32)> = past
            .plans
            .iter()
            .flat_map(|plan| &plan.appearances)
            .filter_map(|at| Some((at.refresh, at.rank?)))
            .collect();
        listed.sort_unstable();
        assert_eq!(listed, on, "{url}");
    }
    bank.is_sound();
}

#[test]
fn it_follows_every_list() {
    let bank = TestBank::new();
    bank.delta(&sites(4, 2));
    let method = |method, scope: Option<Scope>| PlanOptions {
        method: Some(Method::Cover(method)),
        per_site: scope.is_none().then_some(2),
        seeds: scope.map(|_| 3),
        scope,
        max_changes: Some(Limit::AtMost(1)),
        ..PlanOptions::default()
    };
    let plans = [
        ("sites", method(CoverMethod::Greedy, None)),
        ("web", method(CoverMethod::Greedy, Some(Scope::Web))),
        (
            "cores",
            PlanOptions {
                max_changes: Some(Limit::AtMost(0)),
                ..PlanOptions::default()
            },
        ),
    ];
    let hubs = |count: u32| -> String {
        let to = ["http://s0.test/1", "http://s1.test/1"];
        let hub = |hub| json!({"url": format!("http://h{hub}.test/"), "outlinks": to});
        (0..count).map(|of| hub(of).to_string() + "\n").collect()
    };
    for day in 1..4 {
        // Each day another site is the largest, so that lists are others than what came out.
        bank.delta(&(sites(4 + day, 2 + day) + &hubs(day)));
        for (plan, options) in &plans {
            let request = request(plan, options, (day == 3).then_some(2));
            bank.bank.refresh(&request).unwrap();
            is_followed(&bank);
        }
    }
    bank.bank.delete_plan("sites", false).unwrap();
    is_followed(&bank);
}

#[test]
fn a_page_costs_its_own_entries() {
    const REFRESHES: u64 = 12;
    const SITES: u32 = 300;
    let bank = TestBank::new();
    bank.delta(&sites(SITES, 1));
    let plan = PlanOptions {
        method: Some(Method::Cover(CoverMethod::Greedy)),
        per_site: Some(1),
        ..PlanOptions::default()
    };
    for _ in 0..REFRESHES {
        bank.bank.refresh(&request("p", &plan, None)).unwrap();
    }
    let past = |url| bank.bank.page_history(url, None).unwrap();
    let seed = past("http://s7.test/0");
    assert_eq!(u64::from(seed.plans[0].seed_in), REFRESHES);
    // The records of refreshes, an entry for each list, and the page itself.
    assert!(seed.cost.reads <= 2 * REFRESHES + 20, "{:?}", seed.cost);
    let other = past("http://s7.test/1");
    assert_eq!(other.plans[0].seed_in, 0);
    assert!(other.cost.reads <= REFRESHES + 20, "{:?}", other.cost);
}
