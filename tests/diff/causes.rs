//! Causes of a diff, each in a small crawl: the cause is reported with its batch; without the records
//! that caused it the seed remains; and in the other direction the opposite cause is reported.

use std::collections::BTreeSet;

use crate::support::banks::TestBank;
use seedbank::engine::PlanOptions;
use seedbank::engine::plan::{CoverMethod, Method};
use seedbank::engine::query::{Cause, Change, DiffRequest, SeedChange, SeedDiff, UrlList};

/// A page of a site of its own.
fn url(name: &str) -> String {
    format!("https://{name}.example/")
}

/// A crawled page.
fn page(at: &str, targets: &[String]) -> String {
    serde_json::json!({"url": at, "outlinks": targets}).to_string() + "\n"
}

fn gone(name: &str) -> String {
    serde_json::json!({"url": url(name), "gone": true}).to_string() + "\n"
}

fn spam(at: &str) -> String {
    serde_json::json!({"url": at, "spam": true}).to_string() + "\n"
}

fn names(stem: &str, count: usize) -> Vec<String> {
    (1..=count).map(|at| url(&format!("{stem}{at}"))).collect()
}

/// Every hub links to every authority, so sigma is the root of the product of their numbers, and
/// the first hub is the seed.
fn core(stem: &str, hubs: usize, authorities: usize) -> String {
    let authorities = names(&format!("{stem}a"), authorities);
    let hubs = names(&format!("{stem}h"), hubs);
    hubs.iter().map(|hub| page(hub, &authorities)).collect()
}

fn cores(seeds: u32) -> PlanOptions {
    PlanOptions {
        seeds: Some(seeds),
        ..PlanOptions::default()
    }
}

fn cover(per_site: u32) -> PlanOptions {
    PlanOptions {
        method: Some(Method::Cover(CoverMethod::MaxWeight)),
        per_site: Some(per_site),
        ..PlanOptions::default()
    }
}

/// A day on which something happens to a seed.
struct Story {
    plan: PlanOptions,
    first: String,
    /// Records of the second day that have nothing to do with the cause.
    noise: String,
    /// The records that brought it.
    bring: String,
    lost: String,
    cause: Cause,
    reverse: Cause,
}

fn diff(bank: &TestBank, refreshes: &[u32]) -> SeedDiff {
    let request = DiffRequest {
        plan: Some("p".to_owned()),
        refreshes: refreshes.to_vec(),
        ..DiffRequest::default()
    };
    let diff = bank.bank.diff(&request).unwrap();
    let summary = &diff.summary;
    let change = i64::from(summary.to.seeds) - i64::from(summary.from.seeds);
    assert_eq!(i64::from(summary.gained) - i64::from(summary.lost), change);
    assert_eq!(summary.gained + summary.kept, summary.to.seeds);
    diff
}

#[track_caller]
fn find(diff: &SeedDiff, url: &str) -> SeedChange {
    let found = diff.seeds.iter().find(|seed| seed.url == url);
    found.unwrap_or_else(|| panic!("{url}: {diff:?}")).clone()
}

fn seeds(bank: &TestBank) -> BTreeSet<String> {
    bank.seeds("p").into_iter().map(|seed| seed.url).collect()
}

#[track_caller]
fn tell(story: &Story) -> SeedDiff {
    let bank = TestBank::new();
    bank.delta(&story.first);
    bank.refresh("p", &story.plan, true);
    assert!(seeds(&bank).contains(&story.lost), "{:?}", seeds(&bank));
    if !story.noise.is_empty() {
        bank.delta(&story.noise);
    }
    bank.delta(&story.bring);
    bank.refresh("p", &PlanOptions::default(), true);
    let told = diff(&bank, &[]);
    let lost = find(&told, &story.lost);
    assert_eq!(
        (lost.change, lost.cause),
        (Change::Lost, Some(story.cause)),
        "{told:?}"
    );
    let batch = if story.noise.is_empty() { 2 } else { 3 };
    assert_eq!(lost.batch, Some(batch), "{lost:?}");
    let reverse = find(&diff(&bank, &[2, 1]), &story.lost);
    assert_eq!(
        (reverse.change, reverse.cause),
        (Change::Gained, Some(story.reverse))
    );
    assert_eq!(reverse.batch, Some(batch));
    // Later batches do not change what happened before.
    bank.delta(&gone("elsewhere"));
    bank.delta(&(spam(&story.lost) + &page(&story.lost, &[url("elsewhere2")])));
    let mut later = find(&diff(&bank, &[1, 2]), &story.lost);
    later.successor.clone_from(&lost.successor);
    assert_eq!(later, lost);
    bank.is_sound();
    // The same without the records that brought it.
    let without = TestBank::new();
    without.delta(&story.first);
    if !story.noise.is_empty() {
        without.delta(&story.noise);
    }
    without.refresh("p", &story.plan, true);
    assert!(seeds(&without).contains(&story.lost));
    told
}

/// Something happens to core x, while core y stays as it was.
fn to_x(bring: String, cause: Cause, reverse: Cause) -> Story {
    Story {
        plan: cores(2),
        first: core("x", 4, 4) + &core("y", 3, 3),
        noise: core("n", 2, 2),
        bring,
        lost: url("xh1"),
        cause,
        reverse,
    }
}

#[test]
fn a_seed_that_is_gone_has_a_successor() {
    let told = tell(&to_x(gone("xh1"), Cause::Gone, Cause::Revived));
    let successor = find(&told, &url("xh1")).successor.unwrap();
    assert_eq!(successor.url, url("xh2"));
    assert!(successor.same_core && (successor.similarity - 1.0).abs() < 1e-12);
    let gained = find(&told, &url("xh2"));
    assert_eq!(gained.cause, Some(Cause::ReplacesHub));
    assert_eq!((gained.core, gained.by), (Some(1), Some(url("xh1"))));
    assert_eq!(told.summary.successors, 1);
}

#[test]
fn a_seed_that_is_spam_has_a_successor() {
    let told = tell(&to_x(spam(&url("xh1")), Cause::Spam, Cause::SpamCleared));
    assert_eq!(find(&told, &url("xh1")).successor.unwrap().url, url("xh2"));
}

#[test]
fn a_seed_without_links_is_no_hub() {
    let told = tell(&to_x(
        page(&url("xh1"), &[]),
        Cause::NoLinks,
        Cause::BecameHub,
    ));
    assert_eq!(find(&told, &url("xh1")).successor.unwrap().url, url("xh2"));
}

#[test]
fn a_better_hub_takes_over() {
    let better = page(&url("xh0"), &names("xa", 4));
    let told = tell(&to_x(better, Cause::ReplacedByHub, Cause::ReplacesHub));
    let lost = find(&told, &url("xh1"));
    assert_eq!((lost.core, lost.by), (Some(1), Some(url("xh0"))));
    assert_eq!(lost.successor, None);
    let gained = find(&told, &url("xh0"));
    assert_eq!(
        (gained.cause, gained.batch),
        (Some(Cause::NewPage), Some(3))
    );
}

#[test]
fn a_seed_can_become_an_authority() {
    let targets = [names("ma", 9), vec![url("xh1")]].concat();
    let hubs = names("mh", 10);
    let bring = hubs.iter().map(|hub| page(hub, &targets)).collect();
    tell(&to_x(bring, Cause::BecameAuthority, Cause::WasAuthority));
}

#[test]
fn a_core_can_lose_its_links() {
    let others = names("xh", 4).split_off(1);
    let bring: String = others.iter().map(|hub| page(hub, &[])).collect();
    let bring = bring + &page(&url("xh1"), &names("xa", 3));
    let told = tell(&Story {
        first: core("x", 4, 4) + &core("y", 3, 3) + &core("z", 2, 2),
        ..to_x(bring, Cause::LinksLost, Cause::LinksGained)
    });
    let lost = find(&told, &url("xh1"));
    assert_eq!((lost.changed_links, lost.core_links), (Some(13), Some(16)));
}

#[test]
fn a_core_can_be_displaced() {
    let told = tell(&Story {
        lost: url("yh1"),
        ..to_x(core("w", 6, 6), Cause::Outranked, Cause::Outranks)
    });
    let gained = find(&told, &url("wh1"));
    assert_eq!(gained.cause, Some(Cause::NewPage));
    let moved = find(&told, &url("xh1"));
    assert_eq!(
        (moved.change, moved.cause),
        (Change::Moved, Some(Cause::Shifted))
    );
    assert_eq!((moved.rank_before, moved.rank_after), (Some(1), Some(2)));
}

#[test]
fn a_core_can_be_taken_apart() {
    let targets = [names("ya", 3), names("na", 3)].concat();
    let hubs = names("nh", 6);
    let bring = hubs.iter().map(|hub| page(hub, &targets)).collect();
    let told = tell(&Story {
        plan: cores(10),
        noise: String::new(),
        lost: url("yh1"),
        ..to_x(bring, Cause::PagesTaken, Cause::PagesReleased)
    });
    let lost = find(&told, &url("yh1"));
    assert_eq!((lost.core, lost.by), (Some(1), Some(url("nh1"))));
}

#[test]
fn a_region_can_weaken_around_a_core() {
    let around = names("p", 20);
    let around: String = around
        .iter()
        .map(|hub| page(hub, &names("xa", 1)))
        .collect();
    let bring = names("p", 20);
    // The batch also touches a page of the core, though none of the core's links.
    let bring: String = bring.iter().map(|hub| page(hub, &[])).collect();
    let bring = bring + &page(&url("xh1"), &[names("xa", 3), vec![url("odd")]].concat());
    tell(&Story {
        plan: cores(1),
        first: core("x", 3, 3) + &around + &core("y", 4, 4),
        noise: String::new(),
        ..to_x(bring, Cause::RegionWeakened, Cause::RegionStrengthened)
    });
}

#[test]
fn other_parameters_are_settings() {
    let bank = TestBank::new();
    bank.delta(&(core("x", 4, 4) + &core("y", 3, 3)));
    bank.refresh("p", &cores(2), true);
    bank.refresh("p", &cores(1), true);
    let told = diff(&bank, &[]);
    assert!(told.summary.parameters_differ);
    let lost = find(&told, &url("yh1"));
    assert_eq!((lost.cause, lost.batch), (Some(Cause::Parameters), None));
    let reverse = diff(&bank, &[2, 1]);
    assert_eq!(find(&reverse, &url("yh1")).cause, Some(Cause::Parameters));
}

/// A page of a site that has several.
fn on(path: &str) -> String {
    format!("https://s.example/{path}")
}

fn site_page(path: &str, targets: &[&str]) -> String {
    let targets: Vec<String> = targets.iter().map(|path| on(path)).collect();
    page(&on(path), &targets)
}

fn on_site(bring: String, per_site: u32, cause: Cause, reverse: Cause, lost: &str) -> Story {
    let leaves = ["b", "c", "f", "g"].map(|path| site_page(path, &[]));
    Story {
        plan: cover(per_site),
        first: site_page("a", &["b", "c"]) + &site_page("e", &["f"]) + &leaves.concat(),
        noise: core("n", 2, 2),
        bring,
        lost: on(lost),
        cause,
        reverse,
    }
}

#[test]
fn another_seed_can_cover_a_page() {
    let bring = site_page("root", &["a", "g"]);
    let told = tell(&on_site(bring, 1, Cause::Covered, Cause::Uncovered, "a"));
    let lost = find(&told, &on("a"));
    assert_eq!((lost.by, lost.hop), (Some(on("root")), Some(1)));
    assert_eq!(find(&told, &on("root")).cause, Some(Cause::NewPage));
}

#[test]
fn another_page_can_weigh_more() {
    let bring = site_page("e", &["b", "c", "f", "g"]);
    let told = tell(&on_site(bring, 1, Cause::Outweighed, Cause::Outweighs, "a"));
    assert_eq!(find(&told, &on("e")).cause, Some(Cause::Outweighs));
}

#[test]
fn a_page_can_lose_its_value() {
    let bring = spam(&on("f")) + &spam(&on("g"));
    tell(&on_site(bring, 2, Cause::NoValue, Cause::GainedValue, "e"));
}

#[test]
fn a_page_of_a_site_can_go() {
    let bring = serde_json::json!({"url": on("a"), "gone": true}).to_string();
    tell(&on_site(bring, 1, Cause::Gone, Cause::Revived, "a"));
    tell(&on_site(
        spam(&on("a")),
        1,
        Cause::Spam,
        Cause::SpamCleared,
        "a",
    ));
}

#[test]
fn a_site_can_have_fewer_seats() {
    let more = (0..30).map(|at| page(&format!("https://t.example/{at}"), &[]));
    let more: String = more.collect();
    let mut story = on_site(more, 1, Cause::FewerSeats, Cause::MoreSeats, "e");
    story.plan = PlanOptions {
        method: Some(Method::Cover(CoverMethod::MaxWeight)),
        seeds: Some(4),
        ..PlanOptions::default()
    };
    // Where it loses seats without changing itself, no batch has touched the site.
    story.bring += &serde_json::json!({"url": on("g"), "clicks": 1}).to_string();
    story.noise = String::new();
    story.first += &page("https://t.example/a", &[]);
    tell(&story);
}

#[test]
fn a_list_from_outside_is_compared() {
    let bank = TestBank::new();
    bank.delta(&(core("x", 5, 5) + &core("y", 3, 3) + &page(&url("solo"), &[])));
    bank.delta(&(gone("xh4") + &spam(&url("xh3"))));
    bank.refresh("p", &cores(1), true);
    let lines = [
        "# what the crawler uses",
        "HTTPS://XH2.example:443/#top\tnutch.score=1",
        "",
        "https://xh4.example/",
        "https://nowhere.example/",
        "https://xh2.example/",
        "https://yh1.example/",
        "https://solo.example/",
        "https://xh3.example/",
        "https://xa1.example/",
        "https://ya1.example/",
    ];
    let request = DiffRequest {
        plan: Some("p".to_owned()),
        list: Some(UrlList {
            name: "today".to_owned(),
            urls: (1..).zip(lines.map(str::to_owned)).collect(),
        }),
        ..DiffRequest::default()
    };
    let told = bank.bank.diff(&request).unwrap();
    assert_eq!((told.summary.from.seeds, told.summary.to.seeds), (8, 1));
    assert_eq!((told.summary.gained, told.summary.lost), (1, 8));
    let causes: Vec<(String, Option<u32>, Cause, Option<u32>)> = told
        .seeds
        .iter()
        .map(|s| (s.url.clone(), s.rank_before, s.cause.unwrap(), s.batch))
        .collect();
    let expected = [
        ("xh1", None, Cause::NotListed, None),
        ("xh2", Some(1), Cause::ReplacedByHub, None),
        ("xh4", Some(2), Cause::Gone, Some(2)),
        ("nowhere", Some(3), Cause::NotInBank, None),
        ("yh1", Some(4), Cause::NoCore, None),
        ("solo", Some(5), Cause::NoLinks, None),
        ("xh3", Some(6), Cause::Spam, Some(2)),
        ("xa1", Some(7), Cause::NoLinks, None),
        ("ya1", Some(8), Cause::NoLinks, None),
    ];
    let expected = expected.map(|(name, rank, cause, batch)| (url(name), rank, cause, batch));
    assert_eq!(causes, expected);
    // No core is known for it, so the page with the most similar row succeeds it.
    let successor = find(&told, &url("xh4")).successor.unwrap();
    assert_eq!((successor.url, successor.same_core), (url("xh1"), false));
}
