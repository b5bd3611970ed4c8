//! `explain` on the command line: every kind of answer on a small bank where each is known, as text
//! and as JSON; refreshes that `--keep` deleted, pages that came later, and queries while another
//! process writes.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::command::{Place, record};
use crate::support::plans::refresh;
use crate::support::schemas::fits;
use serde_json::{Value, json};

/// One core of three hubs; `near` lacks a link; `far` links past it; `lone` leads to spam only.
fn crawl() -> String {
    let all = [
        "http://a1.example/",
        "http://a2.example/",
        "http://a3.example/",
    ];
    let mut lines: String = ["h1", "h2", "h3"]
        .map(|host| record(&format!("http://{host}.example/"), &all))
        .concat();
    lines += &record("http://near.example/", &all[..2]);
    lines += &record("http://far.example/", &["http://other.example/"]);
    lines += &record("http://lone.example/", &["http://spam.example/"]);
    lines += &record(
        "http://inside.example/",
        &["http://inside.example/b", "http://inside.example/c"],
    );
    lines += &record("http://inside.example/b", &[]);
    lines += "{\"url\": \"http://spam.example/\", \"spam\": true, \"outlinks\": []}\n";
    lines
}

fn with_crawl() -> Place {
    let place = Place::with_bank();
    place.write("day0.jsonl", crawl());
    place.run(&["ingest", "bank", "day0.jsonl"]).done();
    place.run(&refresh(&["--seeds", "1"])).done();
    let cover = [
        "--plan",
        "sites",
        "--method",
        "max-weight",
        "--per-site",
        "1",
        "--hops",
        "0",
    ];
    place.run(&refresh(&cover[..])).done();
    place
}

fn answer(place: &Place, url: &str, flags: &[&str]) -> Value {
    let args = [&["explain", "bank", url, "--format", "json"], flags].concat();
    let answer = place.run(&args).json();
    fits("explain", &answer);
    answer
}

fn kind(place: &Place, url: &str, flags: &[&str]) -> String {
    answer(place, url, flags)["kind"]
        .as_str()
        .unwrap()
        .to_owned()
}

#[test]
fn every_kind_by_cores() {
    let place = with_crawl();
    let seed = answer(&place, "HTTP://H1.example:80/#top", &[]);
    assert_eq!(seed["kind"], "core-seed");
    assert_eq!(seed["url"], "http://h1.example/");
    assert_eq!(
        (&seed["linked_authorities"], &seed["linked_sites"]),
        (&json!(3), &json!(3))
    );
    assert_eq!(seed["runner_up"]["url"], "http://h2.example/");
    let hub = answer(&place, "http://h3.example/", &[]);
    assert_eq!(
        (&hub["kind"], &hub["hub"]["rank"]),
        (&json!("core-member"), &json!(3))
    );
    assert_eq!(hub["authority"], Value::Null);
    let near = answer(&place, "http://near.example/", &[]);
    assert_eq!(
        (&near["kind"], &near["reason"]),
        (&json!("near-core"), &json!("too-few-links"))
    );
    assert_eq!(
        (&near["links"], &near["links_needed"]),
        (&json!(2), &json!(3))
    );
    // Two authorities with four citers each.
    assert_eq!(near["row_sums"]["as_hub"], 8);
    let far = answer(&place, "http://far.example/", &[]);
    assert_eq!(
        (&far["kind"], &far["as_hub"]),
        (&json!("no-core"), &json!(1))
    );
    assert_eq!(far["reaches_last_core"], false);
    let lone = answer(&place, "http://lone.example/", &[]);
    assert_eq!(
        (&lone["kind"], &lone["neighbours_ineligible"]),
        (&json!("no-inter-site-links"), &json!(true))
    );
    let inside = answer(&place, "http://inside.example/b", &[]);
    assert_eq!(
        (&inside["kind"], &inside["neighbours_ineligible"]),
        (&json!("no-inter-site-links"), &json!(false))
    );
    let spam = answer(&place, "http://spam.example/", &[]);
    assert_eq!(
        (&spam["kind"], &spam["reason"]),
        (&json!("ineligible"), &json!("spam"))
    );
    let site = ["explain", "bank", "--site", "h1.example"];
    let site = place
        .run(&[&site[..], &["--format", "json"]].concat())
        .json();
    assert_eq!(site["site_seeds"][0]["url"], "http://h1.example/");
    assert_eq!(
        site["in_cores"],
        json!([{"core": 1, "hubs": 1, "authorities": 0}])
    );
}

#[test]
fn every_kind_by_cover() {
    let place = with_crawl();
    let flags = ["--plan", "sites"];
    let seed = answer(&place, "http://inside.example/", &flags);
    assert_eq!(
        (&seed["kind"], &seed["covers"]["pages"]),
        (&json!("cover-seed"), &json!(1))
    );
    let left = answer(&place, "http://inside.example/b", &flags);
    assert_eq!(
        (&left["kind"], &left["score"]),
        (&json!("uncovered"), &json!(1.0))
    );
    assert_eq!(left["last_pick"]["url"], "http://inside.example/");
    assert_eq!(left["stop"], "complete");
    let known = answer(&place, "http://inside.example/c", &flags);
    assert_eq!(
        (&known["kind"], &known["reason"]),
        (&json!("ineligible"), &json!("not-crawled"))
    );
    let hops = [
        "refresh",
        "bank",
        "--plan",
        "hops",
        "--method",
        "max-weight",
        "--per-site",
        "1",
    ];
    place.run(&hops).done();
    let covered = answer(&place, "http://inside.example/b", &["--plan", "hops"]);
    assert_eq!(
        (&covered["kind"], &covered["hop"]),
        (&json!("covered"), &json!(1))
    );
    let shared = [
        "--plan", "shared", "--method", "greedy", "--seeds", "1", "--share", "pages",
    ];
    place.run(&refresh(&shared[..])).done();
    assert_eq!(
        kind(&place, "http://h1.example/", &["--plan", "shared"]),
        "no-seats"
    );
    let site = [
        "explain",
        "bank",
        "--site",
        "http://inside.example/x",
        "--plan",
        "sites",
    ];
    let site = place
        .run(&[&site[..], &["--format", "json"]].concat())
        .json();
    assert_eq!(
        (&site["uncovered"], &site["best_uncovered"][0]["url"]),
        (&json!(1), &json!("http://inside.example/b"))
    );
    let none = [
        "explain",
        "bank",
        "--site",
        "a1.example",
        "--plan",
        "sites",
        "--format",
        "json",
    ];
    assert_eq!(place.run(&none).json()["kind"], "no-crawled-pages");
}

#[test]
fn texts_can_be_pasted_into_a_ticket() {
    let place = with_crawl();
    let text = place
        .run(&["explain", "bank", "http://near.example/"])
        .done();
    let wanted = "\
http://near.example/
  Not a seed of plan default: it links to 2 of the 3 pages that a group of 3 pages links to together, too few to belong to that group.
  refresh 1 (cores, state after batch 1)
  today: crawled; first seen in batch 1, last record in batch 1
  near core 1 (sigma 3.228688, 3 hubs on 3 sites, 3 authorities on 3 sites, 9 links), as a hub
";
    assert!(text.starts_with(wanted), "{text}");
    assert!(
        text.ends_with(
            "  why not: one more hub needed links with 3 of the core's 3 authorities, and it has 2\n"
        ),
        "{text}"
    );
    for url in ["h1", "h2", "a1", "far", "lone", "inside", "spam", "other"] {
        for plan in ["default", "sites"] {
            let url = format!("http://{url}.example/");
            let text = place.run(&["explain", "bank", &url, "--plan", plan]).done();
            assert!(
                text.starts_with(&format!("{url}\n  ")) && text.contains("\n  today: "),
                "{text}"
            );
        }
    }
    let ended = place.run(&["explain", "bank", "http://h1.example/", "-v"]);
    assert!(ended.err.contains(" point reads, "), "{}", ended.err);
    for plan in ["default", "sites"] {
        let text = place
            .run(&["explain", "bank", "--site", "h1.example", "--plan", plan])
            .done();
        assert!(text.starts_with("site h1.example\n  plan "), "{text}");
    }
}

#[test]
fn what_is_not_there_is_named_with_what_is() {
    let place = with_crawl();
    let says = |args: &[&str], parts: &[&str]| {
        let ended = place.run(&[&["explain", "bank"], args].concat());
        // What makes no sense is wrong usage; that a page or site is not there is an answer.
        let unknown = ["does not contain", "contains no page of site"];
        let unknown = unknown.iter().any(|words| ended.err.contains(words));
        let status = if unknown { 5 } else { 2 };
        let text = ended.fails(status);
        for part in parts {
            assert!(text.contains(part), "{part:?} is not in {text}");
        }
    };
    says(
        &["https://www.inside.example/bb"],
        &[
            "the bank does not contain https://www.inside.example/bb\n",
            "hint: the nearest pages in the bank: ",
            "http://inside.example/b",
        ],
    );
    says(
        &["http://nowhere.example/"],
        &["contains no page of that site"],
    );
    says(&["ftp://h1.example/"], &["not the URL of a page", "ftp"]);
    says(&["h9.example"], &["the bank does not contain h9.example\n"]);
    says(
        &["--site", "nowhere.example"],
        &["no page of site \"nowhere.example\"", "host name"],
    );
    says(
        &["http://h1.example/", "--plan", "none"],
        &["no plan \"none\""],
    );
    says(&["http://h1.example/", "--refresh", "9"], &["no refresh 9"]);
    says(
        &["http://h1.example/", "--refresh", "1", "--plan", "sites"],
        &["plan \"default\""],
    );
    says(
        &["http://h1.example/", "--site", "h1.example"],
        &["cannot be used with"],
    );
    says(&[], &["required"]);
}

/// What came after a refresh is marked as such; what a later one deleted is said to be deleted, and
/// nothing of it is left over.
#[test]
fn refreshes_are_asked_as_they_were_and_forgotten_whole() {
    let place = with_crawl();
    let changes = record("http://new.example/", &["http://a1.example/"])
        + "{\"url\": \"http://h1.example/\", \"gone\": true}\n"
        + &record("http://near.example/", &[]);
    place.write("day1.jsonl", changes);
    place.run(&["ingest", "bank", "day1.jsonl"]).done();
    let old = ["--refresh", "1"];
    assert_eq!(kind(&place, "http://new.example/", &old), "not-yet-known");
    let gone = answer(&place, "http://h1.example/", &old);
    assert_eq!(
        (&gone["kind"], &gone["page"]["state"]),
        (&json!("core-seed"), &json!("gone"))
    );
    assert_eq!(gone["page"]["recorded_since_refresh"], true);
    place.run(&refresh(&[])).done();
    place.run(&["refresh", "bank", "--plan", "sites"]).done();
    let new = answer(&place, "http://h1.example/", &[]);
    assert_eq!(
        (&new["kind"], &new["reason"]),
        (&json!("ineligible"), &json!("gone"))
    );
    assert_eq!(
        kind(&place, "http://near.example/", &[]),
        "no-inter-site-links"
    );
    assert_eq!(kind(&place, "http://near.example/", &old), "near-core");
    assert_eq!(kind(&place, "http://new.example/", &[]), "near-core");
    let seed = answer(&place, "http://h2.example/", &[]);
    assert_eq!(
        (&seed["kind"], &seed["since"]),
        (&json!("core-seed"), &json!(3))
    );
    // A site that did not change keeps its seeds, and what is kept of its pages.
    let kept = answer(&place, "http://inside.example/", &["--plan", "sites"]);
    assert_eq!((&kept["refresh"], &kept["since"]), (&json!(4), &json!(2)));

    place.run(&refresh(&["--keep", "2"])).done();
    place
        .run(&["refresh", "bank", "--plan", "sites", "--keep", "1"])
        .done();
    let seed = answer(&place, "http://h2.example/", &[]);
    assert_eq!((&seed["refresh"], &seed["since"]), (&json!(5), &json!(3)));
    for forgotten in ["1", "2", "4"] {
        let args = [
            "explain",
            "bank",
            "http://near.example/",
            "--refresh",
            forgotten,
        ];
        let text = place.run(&args).fails(2);
        assert!(
            text.contains(&format!("refresh {forgotten} was deleted")),
            "{text}"
        );
    }
    assert_eq!(
        kind(&place, "http://near.example/", &["--refresh", "3"]),
        "no-inter-site-links"
    );
    assert_eq!(kind(&place, "http://far.example/", &[]), "no-core");
    let kept = answer(&place, "http://inside.example/b", &["--plan", "sites"]);
    assert_eq!(
        (&kept["kind"], &kept["refresh"]),
        (&json!("uncovered"), &json!(6))
    );
    place.state();
    place.run(&refresh(&["--keep", "1"])).done();
    assert_eq!(kind(&place, "http://far.example/", &[]), "no-core");
    assert_eq!(
        kind(&place, "http://near.example/", &[]),
        "no-inter-site-links"
    );
    // Once it is of the other family, the plan leaves no standings behind.
    place
        .run(&[
            "refresh",
            "bank",
            "--method",
            "greedy",
            "--replace",
            "--keep",
            "1",
        ])
        .done();
    assert_eq!(kind(&place, "http://far.example/", &[]), "cover-seed");
    // Asserts that `check` is clean.
    let state = place.state();
    assert_eq!(
        state["check"]["live"]["entries"]["page_evidence"], 0,
        "{state}"
    );
    assert_eq!(
        state["check"]["live"]["entries"]["core_members"], 0,
        "{state}"
    );
}

/// Of a page about which a refresh kept nothing, it is told over ten batches what it was, in few
/// reads.
#[test]
fn what_a_page_was_is_told_over_ten_batches() {
    let place = with_crawl();
    let spam = |spam: bool| {
        format!("{{\"url\": \"http://quiet.example/\", \"spam\": {spam}, \"outlinks\": []}}\n")
    };
    place.write("quiet.jsonl", spam(true));
    place.run(&["ingest", "bank", "quiet.jsonl"]).done();
    place.run(&refresh(&[])).done();
    let was = || answer(&place, "http://quiet.example/", &["--refresh", "3"]);
    assert_eq!(was()["reason"], "spam");
    for batch in 1..=11 {
        let record = match batch {
            10 => spam(false),
            _ => record(
                "http://busy.example/",
                &[&format!("http://busy.example/{batch}")],
            ),
        };
        place.write("next.jsonl", record);
        place.run(&["ingest", "bank", "next.jsonl"]).done();
        let now = was();
        assert_eq!(now["page"]["spam"], batch < 10);
        if batch <= 10 {
            assert_eq!(now["reason"], "spam", "after {batch} batches");
        } else {
            assert_eq!(now["kind"], "no-inter-site-links");
        }
        let args = [
            "explain",
            "bank",
            "http://quiet.example/",
            "--refresh",
            "3",
            "-v",
        ];
        let told = place.run(&args).err;
        let reads: u32 = told.split(" point reads").next().unwrap().parse().unwrap();
        assert!(reads <= 20, "{told}");
    }
}

/// Tells the readers to finish, even if the writer fails.
struct Finish<'a>(&'a AtomicBool);

impl Drop for Finish<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// While other processes ingest and refresh days, each answer is that of one refresh.
#[test]
fn answers_are_those_of_one_state_while_others_write() {
    let place = with_crawl();
    let finished = AtomicBool::new(false);
    let seen: BTreeSet<u64> = std::thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let mut seen = BTreeSet::new();
            loop {
                let done = finished.load(Ordering::SeqCst);
                let found = answer(&place, "http://h1.example/", &[]);
                let refresh = found["refresh"].as_u64().unwrap();
                seen.insert(refresh);
                // Each refresh has one more hub in the core; the second one belongs to the other
                // plan.
                let hubs = if refresh == 1 { 3 } else { refresh + 1 };
                assert_eq!(found["core"]["hubs"], hubs, "{found}");
                let site = answer(&place, "http://far.example/", &["--plan", "sites"]);
                assert_eq!(
                    (&site["kind"], &site["since"]),
                    (&json!("cover-seed"), &json!(2))
                );
                if done {
                    return seen;
                }
            }
        });
        let finish = Finish(&finished);
        for day in 1..=6 {
            let all = [
                "http://a1.example/",
                "http://a2.example/",
                "http://a3.example/",
            ];
            let name = format!("day{day}.jsonl");
            place.write(&name, record(&format!("http://z{day}.example/"), &all));
            place.run(&["ingest", "bank", &name]).done();
            place.run(&refresh(&["--keep", "3"])).done();
        }
        drop(finish);
        asking.join().unwrap()
    });
    assert!(seen.len() > 2, "{seen:?}");
    place.state();
}
