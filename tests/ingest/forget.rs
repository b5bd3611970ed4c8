//! Pages and sites that are forgotten: what is left is what an export says without them, nothing has
//! their names, and what is blocked does not come back.
//!
//! Families of cases, and what they catch:
//! * random histories, pages of every state and whole sites: links to them that stay or take others
//!   along, aliases that lead to nothing, counts that do not follow, a page that comes back with its
//!   old id;
//! * refreshes before and after: lists that send a crawler there, a next refresh that is not what one
//!   from scratch is;
//! * blocked pages and sites: records and links that slip through, in every kind of batch.

use std::collections::BTreeSet;

use crate::formats::WARC;
use crate::support::banks::TestBank;
use crate::support::histories::{PLENTY, exported, for_each_history};
use crate::support::model::{assert_clean, ingest, pages_of, request};
use crate::support::plans::plan;
use crate::support::warc::{of, record};
use seedbank::engine::error::UndoError;
use seedbank::engine::ingest::ForgetRequest;
use seedbank::engine::policy::List;
use seedbank::engine::{Bank, EngineError, IngestRequest, PlanOptions};
use seedbank_store::raw_tables;
use serde_json::Value;

fn forget(bank: &Bank, what: &[String], block: bool) -> Result<u64, EngineError> {
    let request = ForgetRequest {
        what: what.to_vec(),
        block,
        memory: PLENTY,
        ..ForgetRequest::default()
    };
    Ok(bank.forget(&request)?.pages)
}

/// The fields of an alias that an export still has once the page it led to is forgotten.
const FIELDS_OF_A_FORMER_ALIAS: [&str; 4] = ["url", "fetched", "observed_days", "new_links"];

/// The lines of an export without pages: theirs go, links to them go, aliases of them are gone.
fn without(export: &[u8], gone: &BTreeSet<String>) -> Vec<Value> {
    let lines = std::str::from_utf8(export).unwrap().lines();
    let lines = lines.map(|line| serde_json::from_str::<Value>(line).unwrap());
    let is_gone = |url: &Value| gone.contains(url.as_str().unwrap_or_default());
    let lines: Vec<Value> = lines.collect();
    let led_there = |line: &&Value| line.get("redirect").is_some_and(is_gone);
    let former: Vec<Value> = lines
        .iter()
        .filter(led_there)
        .map(|line| line["url"].clone())
        .collect();
    let mut left = Vec::new();
    for mut line in lines {
        if line.get("url").is_some_and(is_gone) {
            continue;
        }
        // A page that is gone has no fields of earlier times.
        if former.contains(&line["url"]) && line.get("redirect").is_none() {
            continue;
        }
        if let Some(Value::Array(outlinks)) = line.get_mut("outlinks") {
            outlinks.retain(|url| !is_gone(url));
        }
        let fields = line.as_object_mut().unwrap();
        if fields.get("canonical").is_some_and(is_gone) {
            // Links say that there is none.
            if fields.contains_key("outlinks") {
                fields.remove("canonical");
            } else {
                fields.insert("canonical".to_owned(), Value::Null);
            }
        }
        if fields.get("redirect").is_some_and(is_gone) {
            // What its fetches brought stays.
            fields.retain(|name, _| FIELDS_OF_A_FORMER_ALIAS.contains(&name.as_str()));
            fields.insert("gone".to_owned(), Value::Bool(true));
        }
        left.push(line);
    }
    left
}

/// Whether a text is anywhere in the tables of the live database.
fn is_somewhere(bank: &Bank, text: &str) -> bool {
    let text = text.as_bytes();
    let has = |bytes: &[u8]| bytes.windows(text.len()).any(|window| window == text);
    let tables = raw_tables(bank.path()).unwrap();
    let mut entries = tables.values().flatten();
    entries.any(|(key, value)| has(key) || has(value))
}

#[test]
fn what_is_left_is_what_the_export_has_without() {
    for_each_history(6, 1, |bank, more| {
        let pages: Vec<String> = pages_of(bank).into_keys().collect();
        if pages.is_empty() {
            return;
        }
        // Two pages, or the site of one, by what the history came to.
        let first = &pages[pages.len() / 3];
        let gone: BTreeSet<String> = [first, pages.last().unwrap()]
            .into_iter()
            .cloned()
            .collect();
        let before = exported(bank);
        let named: Vec<String> = gone.iter().cloned().collect();
        assert_eq!(forget(bank, &named, false).unwrap(), gone.len() as u64);
        assert_clean(bank);
        assert_eq!(
            without(&exported(bank), &BTreeSet::new()),
            without(&before, &gone)
        );
        let after = pages_of(bank);
        assert!(gone.iter().all(|url| !after.contains_key(url)));
        let undo = bank.undo(false, PLENTY);
        assert!(
            matches!(undo, Err(EngineError::CannotUndo(UndoError::IsForget(_)))),
            "{undo:?}"
        );
        let again = forget(bank, &named, false);
        assert!(
            matches!(again, Err(EngineError::UnknownPage { .. })),
            "{again:?}"
        );
        // What comes later comes as if it had never been there.
        ingest(bank, &more[0], PLENTY);
        assert_clean(bank);
    });
}

/// A hub and its authorities on sites of their own, and a page that links to the hub.
fn web() -> TestBank {
    let bank = TestBank::new();
    bank.delta(
        r#"{"url": "http://hub.test/secret-1", "outlinks": ["http://a.test/x", "http://second.test/y"], "digest": "d"}
{"url": "http://other.test/2", "outlinks": ["http://a.test/x", "http://second.test/y", "http://hub.test/secret-1"]}
{"url": "http://moved.test/", "redirect": "http://hub.test/secret-1"}
{"url": "http://far.test/", "outlinks": ["http://moved.test/", "http://a.test/x"]}"#,
    );
    bank
}

#[test]
fn no_list_and_no_table_has_a_forgotten_name() {
    let bank = web();
    let options = plan("seeds=2");
    let pinned = |pins: &str| PlanOptions {
        pin: Some(List::parse("pins", pins)),
        ..options.clone()
    };
    let of_both = pinned("http://hub.test/secret-1\nhttp://far.test/\n");
    bank.refresh("plain", &options, false);
    bank.refresh("pinned", &of_both, false);
    let sent = |plan: &str| -> Vec<String> {
        let seeds = bank.seeds(plan).into_iter();
        seeds.map(|seed| seed.url).collect()
    };
    assert!(sent("pinned").contains(&"http://hub.test/secret-1".to_owned()));
    let name = "secret-1";
    assert!(is_somewhere(&bank.bank, name));
    assert_eq!(
        forget(&bank.bank, &["http://hub.test/secret-1".to_owned()], false).unwrap(),
        1
    );
    assert!(!is_somewhere(&bank.bank, name));
    for plan in ["plain", "pinned"] {
        assert!(
            sent(plan)
                .iter()
                .all(|url| !url.contains(name) && !url.contains("forgotten"))
        );
    }
    bank.is_sound();
    // The next refresh is what one from scratch is, and the pin is none any more.
    for (plan, cold, options) in [
        ("plain", "plain-cold", options.clone()),
        ("pinned", "pinned-cold", pinned("http://far.test/\n")),
    ] {
        bank.refresh(plan, &PlanOptions::default(), false);
        bank.refresh(cold, &options, true);
        assert_eq!(bank.bare_seeds(plan), bank.bare_seeds(cold));
    }
    bank.is_sound();
}

#[test]
fn what_is_blocked_does_not_come_back() {
    let bank = web();
    let what = [
        "http://hub.test/secret-1",
        "second.test",
        "http://never.test/seen",
    ];
    let unknown = forget(&bank.bank, &what.map(str::to_owned), false);
    assert!(matches!(unknown, Err(EngineError::UnknownPage { .. })));
    // The page, and that of the site.
    assert_eq!(
        forget(&bank.bank, &what.map(str::to_owned), true).unwrap(),
        2
    );
    let again = r#"{"url": "http://hub.test/secret-1", "outlinks": ["http://a.test/x"]}
{"url": "http://second.test/z"}
{"url": "http://never.test/seen", "clicks": 3}
{"url": "http://new.test/", "outlinks": ["http://second.test/y", "http://hub.test/secret-1", "http://a.test/x"]}
{"url": "http://turned.test/", "redirect": "http://never.test/seen"}
{"url": "http://never.test/other", "outlinks": []}"#;
    let file = bank.bank.path().with_extension("again");
    std::fs::write(&file, again).unwrap();
    let report = bank.bank.ingest(&request(&file)).unwrap();
    assert_eq!((report.blocked.records, report.blocked.links), (3, 3));
    // Nor do pages that others only name.
    let canonical = r#"{"url": "http://named.test/", "canonical": "http://hub.test/secret-1"}"#;
    std::fs::write(&file, canonical).unwrap();
    bank.bank.ingest(&request(&file)).unwrap();
    let refers = of("http://named.test/", "2030-01-01T00:00:00Z")
        + "WARC-Refers-To-Target-URI: http://hub.test/secret-1\r\n";
    std::fs::write(&file, record("revisit", &refers, b"")).unwrap();
    let revisit = IngestRequest {
        format: WARC,
        ..request(&file)
    };
    assert_eq!(bank.bank.ingest(&revisit).unwrap().read.records, 1);
    bank.is_sound();
    let pages = pages_of(&bank.bank);
    assert!(pages.contains_key("http://never.test/other"));
    for name in ["secret-1", "second.test", "never.test/seen"] {
        assert!(pages.keys().all(|url| !url.contains(name)), "{pages:?}");
        assert!(!is_somewhere(&bank.bank, name), "{name}");
    }
    // Another bank that has them takes it over.
    let other = web();
    let as_there = other
        .bank
        .forget_blocked(&bank.bank, &ForgetRequest::default());
    let as_there = as_there.unwrap().unwrap();
    assert_eq!(
        (as_there.pages, as_there.sites, as_there.blocked),
        (2, 1, 3)
    );
    other.delta(again);
    let pages = pages_of(&other.bank);
    assert!(
        pages
            .keys()
            .all(|url| !url.contains("secret-1") && !url.contains("second.test"))
    );
    other.is_sound();
    // One that blocks nothing leaves it as it is.
    let none = web();
    let nothing = bank
        .bank
        .forget_blocked(&none.bank, &ForgetRequest::default());
    assert_eq!(nothing.unwrap(), None);
}

#[test]
fn lines_of_bad_records_go_and_others_stay() {
    let bank = web();
    let file = bank.bank.path().with_extension("bad");
    let bad = "{\"url\": \"http://hub.test/secret-1\", \"clicks\": -1}\n{\"url\": \"http://kept.test/\", \"clicks\": -1}\n";
    std::fs::write(&file, bad).unwrap();
    let report = bank.bank.ingest(&request(&file)).unwrap();
    let listed = report.rejects_file.unwrap();
    let text = || std::fs::read_to_string(&listed).unwrap();
    assert!(text().contains("secret-1"));
    forget(&bank.bank, &["http://hub.test/secret-1".to_owned()], false).unwrap();
    assert!(
        !text().contains("secret-1") && text().contains("kept.test"),
        "{}",
        text()
    );
}
