//! Several records of one page: the resulting page does not depend on their order.

use std::fs;

use crate::support::histories::AS_OF;
use crate::support::scratch;
use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, IngestRequest};
use seedbank::ingest::{Input, SiteMode, UrlRules};

const A: &str = "http://a.example/";

/// The export of a bank of one batch: a file, in this format, and perhaps a list of pages.
fn export_of(text: &str, pages: Option<&str>, memory: usize) -> String {
    let folder = scratch();
    let naming = SiteMode::Host.with(UrlRules::Rfc3986);
    let bank = Bank::create(folder.path().join("bank"), naming).unwrap();
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        fs::write(&path, text).unwrap();
        Input::named(path)
    };
    let format = pages.map(|text| Format::Links {
        pages: Some(file("pages", text)),
    });
    let request = IngestRequest {
        inputs: vec![file("input", text)],
        format: format.unwrap_or_default(),
        memory,
        as_of: AS_OF,
        ..IngestRequest::default()
    };
    let report = bank.ingest(&request).unwrap();
    assert_eq!(report.counts.superseded, u64::from(pages.is_none()));
    let mut records = Vec::new();
    bank.export(&mut records, None).unwrap();
    String::from_utf8(records).unwrap()
}

#[test]
fn two_spellings_of_a_url_give_the_same_in_any_order() {
    let page = |path: &str, fields: &str| {
        format!("{{\"url\": \"http://people.example/{path}/\", {fields}}}\n")
    };
    for (one, other, clicks) in [
        // Neither has a time, and both are of the same size.
        (r#""digest": "one""#, r#""digest": "two""#, ""),
        (r#""clicks": 1"#, r#""clicks": 2"#, ""),
        // Of each field the larger one counts ...
        (
            r#""digest": "one", "clicks": 3"#,
            r#""digest": "two""#,
            r#""clicks":3"#,
        ),
        (
            r#""outlinks": ["http://b.example/", "http://c.example/"], "clicks": 1"#,
            r#""outlinks": ["http://b.example/"], "clicks": 2"#,
            r#"["http://b.example/","http://c.example/"],"clicks":2"#,
        ),
        // ... unless the other one is later.
        (
            r#""fetched": "2026-11-19T04:00:00Z", "digest": "one", "clicks": 3"#,
            r#""fetched": "2026-11-19T04:00:01Z", "clicks": 4"#,
            r#""clicks":4"#,
        ),
        (
            r#""digest": "one", "clicks": 3, "spam": true, "quality": 0.5"#,
            r#""fetched": "1970-01-01T00:00:00Z", "clicks": 4"#,
            r#""spam":true,"clicks":4,"quality":0.5"#,
        ),
    ] {
        let [one, other] = [page("~pe", one), page("%7epe", other)];
        let export = export_of(&(one.clone() + &other), None, 512 << 20);
        assert_eq!(export, export_of(&(other.clone() + &one), None, 512 << 20));
        assert_eq!(export, export_of(&(one + &other), None, 0));
        assert!(export.contains(clicks), "{export}");
    }
}

#[test]
fn attributes_of_a_page_that_is_listed_twice_are_the_same_in_any_order() {
    for (one, other) in [
        ("0\t7\t", "1\t7\t"),
        ("1\t7\t3", "0\t9\t"),
        ("\t\t", "0\t9\t"),
    ] {
        let [one, other] = [one, other].map(|fields| format!("{A}\t{fields}\n"));
        let links = format!("{A}\thttp://b.example/\n");
        let exports = [one.clone() + &other, other + &one]
            .map(|pages| export_of(&links, Some(&pages), 512 << 20));
        assert_eq!(exports[0], exports[1]);
        let clicks = ["\"clicks\":7", "\"clicks\":9"];
        assert!(clicks.iter().any(|clicks| exports[0].contains(clicks)));
    }
}
