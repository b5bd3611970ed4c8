//! `schema/record.schema.json` accepts the records of which the reader of JSON Lines can read every field, and
//! `schema/site.schema.json` the same as the reader of site lists.

use std::collections::BTreeSet;

use seedbank::ingest::{
    DropReason, Interner, JsonLines, LineFormat, MAX_CLICKS, MAX_UNCRAWLED_OUTLINKS, MAX_URL,
    PieceParser, Position, RECORD_FIELDS, SITE_FIELDS, SiteList, SiteMode, UrlRules,
};
use serde_json::{Value, json};

#[expect(clippy::unwrap_used, reason = "a broken schema fails the test")]
fn schema() -> Value {
    serde_json::from_str(include_str!("../../schema/record.schema.json")).unwrap()
}

fn read(record: &Value) -> bool {
    read_as(&JsonLines, record)
}

fn read_as(format: &dyn LineFormat, record: &Value) -> bool {
    let mut parser = PieceParser::new(SiteMode::Host.with(UrlRules::Whatwg), Interner::default());
    let line = record.to_string();
    let event = format.read(&line, &mut parser);
    parser.add(Position::Line(1), event, line.as_bytes());
    let summary = &parser.summary;
    let bad_links = summary.dropped_outlinks.get(&DropReason::WrongType);
    summary.rejected() == 0 && summary.bad_fields.is_empty() && bad_links.is_none()
}

#[test]
fn the_schema_and_the_reader_have_the_same_fields_and_limits() {
    let schema = schema();
    let described: BTreeSet<_> = schema["properties"]
        .as_object()
        .unwrap()
        .keys()
        .map(String::as_str)
        .collect();
    assert_eq!(described, BTreeSet::from(RECORD_FIELDS));
    for (name, field) in schema["properties"].as_object().unwrap() {
        assert!(field["description"].is_string(), "{name}");
    }
    let limits = &schema["properties"];
    assert_eq!(limits["url"]["maxLength"], MAX_URL);
    assert_eq!(limits["clicks"]["maximum"], MAX_CLICKS);
    assert_eq!(
        limits["uncrawled_outlinks"]["maximum"],
        MAX_UNCRAWLED_OUTLINKS
    );
}

/// Fields and values of valid records.
const GOOD: &str = r#"
{"unknown": {"a": []}}
{"outlinks": ["http://b.example/", "mailto:x@y.example"], "spam": true, "clicks": 3, "digest": "d", "gone": false}
{"outlinks": ["/x", {"url": "/x", "href": 7}, {"href": "", "url": null, "text": []}]}
{"clicks": 3.0}
{"clicks": 9007199254740992}
{"uncrawled_outlinks": 1000000}
{"quality": 0}
{"quality": 0.973149}
{"quality": 1.0}
{"fetched": "2026-11-19T04:00:00.5+01:00"}
{"fetched": "2026-11-19 04:00:00"}
{"fetched": "2026-11-19T04:00+0100"}
{"fetched": "2026-11-19"}
{"fetched": "20261119T040000,5Z"}
{"fetched": "20261119040000"}
{"fetched": 20261119040000}
{"fetched": "1795060800"}
{"fetched": 1795060800.25}
{"status": 200}
{"status": 999.0}
{"status": "404"}
{"status": "too-large"}
{"failures": 0}
{"seed": "HTTPS://b.example/"}
{"seed": true}
{"seed": false}
{"via": "http://b.example/"}
{"depth": 0}
{"depth": 4294967295}
{"url": " HTTP://a.example/", "gone": true}
{"status": 503, "failures": 4294967295, "failing_since": "2026-11-19", "failed": 1795060800}
{"status": 503, "failures": 3, "failed": 1795060800, "failed_before": ["2026-11-17", 1794974400]}
{"changed": "2026-11-19"}
"#;

/// Fields and values that make a record invalid.
const BAD: &str = r#"
{"url": null}
{"url": 1}
{"url": ""}
{"url": "/a"}
{"url": "javascript:x()"}
{"outlinks": "http://b.example/"}
{"outlinks": [7]}
{"outlinks": ["http://b.example/", null]}
{"outlinks": [["http://b.example/"]]}
{"outlinks": [{}]}
{"outlinks": [{"text": "b"}]}
{"outlinks": [{"url": null, "href": null}]}
{"outlinks": [{"url": 7, "href": "http://b.example/"}]}
{"spam": 1}
{"clicks": -1}
{"clicks": 1.5}
{"clicks": 1e20}
{"clicks": "3"}
{"uncrawled_outlinks": 1000001}
{"quality": 1.000001}
{"quality": -0.1}
{"quality": "0.5"}
{"digest": 7}
{"fetched": "yesterday"}
{"fetched": "20261119"}
{"fetched": "1795060800000"}
{"fetched": -1}
{"fetched": true}
{"gone": "yes"}
{"status": "ok"}
{"status": "099"}
{"status": 99}
{"status": 1000}
{"status": true}
{"failures": -1}
{"failures": "3"}
{"seed": ""}
{"seed": "b.example"}
{"seed": 1}
{"via": "/b"}
{"via": true}
{"depth": -1}
{"depth": 4294967296}
{"depth": "2"}
"#;

/// Records of `http://a.example/` with these fields.
fn records(fields: &str) -> Vec<Value> {
    let records = fields.trim().lines().map(|line| {
        let mut record = json!({"url": "http://a.example/"});
        let Value::Object(fields) = serde_json::from_str(line).unwrap() else {
            panic!("{line}");
        };
        record.as_object_mut().unwrap().extend(fields);
        record
    });
    records.collect()
}

#[test]
fn the_schema_and_the_reader_agree() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let mut good = records(GOOD);
    for name in RECORD_FIELDS.iter().filter(|name| **name != "url") {
        good.extend(records(&json!({*name: null}).to_string()));
    }
    let mut bad = records(BAD);
    let long = format!("http://a.example/{}", "a".repeat(MAX_URL));
    bad.extend([json!([]), json!({}), json!({"url": long})]);
    for (records, is_good) in [(good, true), (bad, false)] {
        for record in &records {
            assert_eq!(validator.is_valid(record), is_good, "schema: {record}");
            assert_eq!(read(record), is_good, "reader: {record}");
        }
    }
}

#[test]
fn the_schema_of_sites_and_their_reader_agree() {
    let schema: Value =
        serde_json::from_str(include_str!("../../schema/site.schema.json")).unwrap();
    let described = schema["properties"].as_object().unwrap().keys();
    let described: BTreeSet<_> = described.map(String::as_str).collect();
    assert_eq!(described, BTreeSet::from(SITE_FIELDS));
    assert_eq!(schema["properties"]["quota"]["maximum"], u32::MAX);
    let validator = jsonschema::validator_for(&schema).unwrap();
    let good = r#"
{"site": "a.example"}
{"site": "A.example", "quality": 0.8, "spam": false, "quota": 5000, "more": []}
{"site": "[::1]", "quality": null, "spam": null, "quota": null}
{"site": "a.example", "quality": 1, "spam": true, "quota": 4294967295}
"#;
    let bad = r#"
{}
{"site": null}
{"site": 7}
{"site": ""}
{"site": "http://a.example/"}
{"site": "a.example/x"}
{"site": "a.example", "quality": 2}
{"site": "a.example", "quality": -1}
{"site": "a.example", "spam": 1}
{"site": "a.example", "quota": 1.5}
{"site": "a.example", "quota": 4294967296}
"#;
    for (records, is_good) in [(good, true), (bad, false)] {
        for record in records.trim().lines() {
            let record = &serde_json::from_str(record).unwrap();
            assert_eq!(validator.is_valid(record), is_good, "schema: {record}");
            assert_eq!(read_as(&SiteList, record), is_good, "reader: {record}");
        }
    }
}
