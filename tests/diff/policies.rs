//! Causes of a diff under policies: if a policy keeps a page off a list or on it, it is the cause; a
//! replacement is the page that the method selected, on the list or not.

use crate::support::banks::TestBank;
use seedbank::engine::PlanOptions;
use seedbank::engine::plan::{CoverMethod, Method, Value};
use seedbank::engine::policy::{Limit, List};
use seedbank::engine::query::{Cause, Change, DiffRequest, SeedChange, UrlList};
use serde_json::json;

fn page(at: &str, targets: &[&str]) -> String {
    json!({"url": at, "outlinks": targets}).to_string() + "\n"
}

fn diff(bank: &TestBank, refreshes: &[u32], list: Option<UrlList>) -> Vec<SeedChange> {
    let request = DiffRequest {
        plan: Some("p".to_owned()),
        refreshes: refreshes.to_vec(),
        list,
        ..DiffRequest::default()
    };
    bank.bank.diff(&request).unwrap().seeds
}

#[track_caller]
fn told(changes: &[SeedChange], url: &str) -> (Change, Option<Cause>, Option<String>) {
    let found = changes.iter().find(|seed| seed.url == url);
    let found = found.unwrap_or_else(|| panic!("{url}: {changes:?}"));
    (found.change, found.cause, found.by.clone())
}

/// Three hubs on sites of their own, all with the same authorities.
const AUTHORITIES: [&str; 3] = ["http://a.test/", "http://b.test/", "http://c.test/"];

fn hubs() -> String {
    let hubs = ["http://h1.test/", "http://h2.test/", "http://h3.test/"];
    hubs.map(|hub| page(hub, &AUTHORITIES)).concat()
}

#[test]
fn a_core_can_become_too_small_to_give_a_seed() {
    let bank = TestBank::new();
    bank.delta(&hubs());
    let plan = PlanOptions {
        seeds: Some(2),
        min_hubs: Some(3),
        ..PlanOptions::default()
    };
    bank.refresh("p", &plan, false);
    bank.delta("{\"url\": \"http://h3.test/\", \"gone\": true}\n");
    bank.refresh("p", &plan, false);
    let policy = |change| (change, Some(Cause::Policy), None);
    let lost = diff(&bank, &[1, 2], None);
    assert_eq!(told(&lost, "http://h1.test/"), policy(Change::Lost));
    let gained = diff(&bank, &[2, 1], None);
    assert_eq!(told(&gained, "http://h1.test/"), policy(Change::Gained));
}

#[test]
fn a_page_can_come_to_be_of_too_little_quality() {
    let bank = TestBank::new();
    let quality = |hub: u32, quality: f64| {
        json!({"url": format!("http://h{hub}.test/"), "quality": quality}).to_string() + "\n"
    };
    bank.delta(&hubs());
    bank.delta(&(quality(1, 0.9) + &quality(2, 0.6)));
    let plan = PlanOptions {
        seeds: Some(1),
        min_quality: Some(Value(500_000)),
        ..PlanOptions::default()
    };
    bank.refresh("p", &plan, false);
    bank.delta(&quality(1, 0.2));
    bank.refresh("p", &plan, false);
    let changes = diff(&bank, &[1, 2], None);
    let lost = (Change::Lost, Some(Cause::Policy), None);
    assert_eq!(told(&changes, "http://h1.test/"), lost);
    // What it is later says nothing of what it was.
    bank.delta(&(quality(1, 0.9) + &quality(2, 0.1)));
    let changes = diff(&bank, &[1, 2], None);
    let another = Some("http://h2.test/".to_owned());
    let lost = (Change::Lost, Some(Cause::ReplacedByHub), another);
    assert_eq!(told(&changes, "http://h1.test/"), lost);
}

#[test]
fn the_fetches_of_a_page_can_fail_too_often() {
    let bank = TestBank::new();
    bank.delta(&hubs());
    let plan = PlanOptions {
        seeds: Some(1),
        max_failures: Some(2),
        ..PlanOptions::default()
    };
    bank.refresh("p", &plan, false);
    let failed = |hub: u32, time: u32| {
        let url = format!("http://h{hub}.test/");
        json!({"url": url, "status": 503, "fetched": 2_000_000_000 + time}).to_string() + "\n"
    };
    // One failure costs nothing.
    bank.delta(&failed(1, 1));
    bank.refresh("p", &plan, false);
    let kept = diff(&bank, &[1, 2], None);
    assert_eq!(told(&kept, "http://h1.test/").0, Change::Kept);
    bank.delta(&(failed(1, 2) + &failed(2, 2)));
    bank.refresh("p", &plan, false);
    let changes = diff(&bank, &[2, 3], None);
    let lost = (Change::Lost, Some(Cause::Policy), None);
    assert_eq!(told(&changes, "http://h1.test/"), lost);
    let gained = told(&changes, "http://h2.test/");
    assert_eq!(gained.0, Change::Gained);
}

#[test]
fn a_page_of_a_list_from_outside_can_be_excluded() {
    let bank = TestBank::new();
    bank.delta(&hubs());
    let plan = PlanOptions {
        seeds: Some(1),
        exclude: Some(List::parse("no", "h1.test\n")),
        ..PlanOptions::default()
    };
    bank.refresh("p", &plan, false);
    let mut today = UrlList {
        name: "today".to_owned(),
        ..UrlList::default()
    };
    today.push_line(1, "http://h1.test/");
    today.push_line(2, "http://h3.test/");
    let changes = diff(&bank, &[], Some(today));
    let policy = (Change::Lost, Some(Cause::Policy), None);
    assert_eq!(told(&changes, "http://h1.test/"), policy);
    let another = Some("http://h2.test/".to_owned());
    let lost = (Change::Lost, Some(Cause::ReplacedByHub), another);
    assert_eq!(told(&changes, "http://h3.test/"), lost);
}

/// Two sites; on the second day another page of each covers the seed of the day before.
#[test]
fn what_covers_a_lost_seed_may_be_held_back() {
    for scope in [None, Some(seedbank::engine::plan::Scope::Web)] {
        let bank = TestBank::new();
        let site = |site: &str, from: &str, to: &[&str]| {
            let at = |path: &&str| format!("http://{site}.test/{path}");
            let to: Vec<String> = to.iter().map(at).collect();
            let all: String = to.iter().map(|to| page(to, &[])).collect();
            let to: Vec<&str> = to.iter().map(String::as_str).collect();
            all + &page(&at(&from), &to)
        };
        bank.delta(&(site("s", "a", &["b", "c"]) + &site("t", "p", &["q"])));
        let plan = PlanOptions {
            method: Some(Method::Cover(CoverMethod::Greedy)),
            per_site: scope.is_none().then_some(1),
            seeds: scope.map(|_| 2),
            scope,
            hops: Some(1),
            max_changes: Some(Limit::AtMost(1)),
            ..PlanOptions::default()
        };
        bank.refresh("p", &plan, false);
        let link = |at: &str, to: &[&str]| page(at, to);
        let s = ["http://s.test/a", "http://s.test/b", "http://s.test/c"];
        let t = ["http://t.test/p", "http://t.test/q"];
        bank.delta(&(link("http://s.test/r", &s) + &link("http://t.test/z", &t)));
        bank.refresh("p", &plan, false);
        let urls: Vec<String> = bank.seeds("p").into_iter().map(|seed| seed.url).collect();
        assert_eq!(urls, ["http://s.test/r", "http://s.test/a"]);
        let changes = diff(&bank, &[1, 2], None);
        let by = Some("http://t.test/z".to_owned());
        let lost = (Change::Lost, Some(Cause::Covered), by);
        assert_eq!(told(&changes, "http://t.test/p"), lost);
    }
}
