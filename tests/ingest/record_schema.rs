//! `schema/record.schema.json` accepts the same records as the reader of JSON Lines, and
//! `schema/site.schema.json` the same as the reader of site lists.

use std::collections::BTreeSet;

use seedbank::ingest::{
    Interner, JsonLines, LineFormat, MAX_CLICKS, MAX_UNCRAWLED_OUTLINKS, MAX_URL, PieceParser,
    RECORD_FIELDS, SITE_FIELDS, SiteList, SiteMode, UrlRules,
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
    format.read(&record.to_string(), &mut parser).is_ok()
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

/// Returns a record with a field.
fn with(name: &str, value: Value) -> Value {
    let mut record = json!({"url": "http://a.example/"});
    record[name] = value;
    record
}

/// Returns records that are rejected.
fn bad_records() -> Vec<Value> {
    vec![
        json!([]),
        json!({}),
        json!({"url": null}),
        json!({"url": 1}),
        json!({"url": ""}),
        json!({"url": "/a"}),
        json!({"url": "javascript:x()"}),
        json!({"url": format!("http://a.example/{}", "a".repeat(MAX_URL))}),
        with("outlinks", json!("http://b.example/")),
        with("outlinks", json!([7])),
        with("outlinks", json!(["http://b.example/", null])),
        with("outlinks", json!([["http://b.example/"]])),
        with("outlinks", json!([{}])),
        with("outlinks", json!([{"text": "b"}])),
        with("outlinks", json!([{"url": null, "href": null}])),
        with("outlinks", json!([{"url": 7, "href": "http://b.example/"}])),
        with("spam", json!(1)),
        with("clicks", json!(-1)),
        with("clicks", json!(1.5)),
        with("clicks", json!(1e20)),
        with("clicks", json!("3")),
        with("uncrawled_outlinks", json!(1_000_001)),
        with("quality", json!(1.000_001)),
        with("quality", json!(-0.1)),
        with("quality", json!("0.5")),
        with("digest", json!(7)),
        with("fetched", json!("yesterday")),
        with("fetched", json!("20261119")),
        with("fetched", json!("1795060800000")),
        with("fetched", json!(-1)),
        with("fetched", json!(true)),
        with("gone", json!("yes")),
        with("status", json!("ok")),
        with("status", json!("099")),
        with("status", json!(99)),
        with("status", json!(1000)),
        with("status", json!(true)),
        with("failures", json!(-1)),
        with("failures", json!("3")),
        with("seed", json!("")),
        with("seed", json!("b.example")),
        with("seed", json!(1)),
        with("via", json!("/b")),
        with("via", json!(true)),
        with("depth", json!(-1)),
        with("depth", json!(u64::from(u32::MAX) + 1)),
        with("depth", json!("2")),
    ]
}

#[test]
fn the_schema_and_the_reader_agree() {
    let validator = jsonschema::validator_for(&schema()).unwrap();
    let mut good = vec![
        json!({"url": "https://a.example/"}),
        json!({"url": "http://a.example/", "outlinks": ["http://b.example/", "mailto:x@y.example"],
            "spam": true, "clicks": 3, "uncrawled_outlinks": 12, "digest": "d",
            "fetched": "2026-11-19T04:00:00.5+01:00", "gone": false}),
        json!({"url": " HTTP://a.example/", "gone": true}),
        with("unknown", json!({"a": []})),
        with(
            "outlinks",
            json!(["/x", {"url": "/x", "href": 7}, {"href": "", "url": null, "text": []}]),
        ),
        with("clicks", json!(3.0)),
        with("clicks", json!(MAX_CLICKS)),
        with("uncrawled_outlinks", json!(MAX_UNCRAWLED_OUTLINKS)),
        with("quality", json!(0)),
        with("quality", json!(0.973_149)),
        with("quality", json!(1.0)),
        with("fetched", json!("2026-11-19 04:00:00")),
        with("fetched", json!("2026-11-19T04:00+0100")),
        with("fetched", json!("2026-11-19")),
        with("fetched", json!("20261119T040000,5Z")),
        with("fetched", json!("20261119040000")),
        with("fetched", json!(20_261_119_040_000_u64)),
        with("fetched", json!("1795060800")),
        with("fetched", json!(1_795_060_800.25)),
        with("status", json!(200)),
        with("status", json!(999.0)),
        with("status", json!("404")),
        with("status", json!("too-large")),
        with("failures", json!(0)),
        with("seed", json!("HTTPS://b.example/")),
        with("seed", json!(true)),
        with("seed", json!(false)),
        with("via", json!("http://b.example/")),
        with("depth", json!(0)),
        with("depth", json!(u32::MAX)),
        json!({"url": "http://a.example/", "status": 503, "failures": u32::MAX,
            "failing_since": "2026-11-19", "failed": 1_795_060_800}),
    ];
    for name in RECORD_FIELDS.iter().filter(|name| **name != "url") {
        good.push(with(name, Value::Null));
    }
    for record in &good {
        assert!(validator.is_valid(record), "schema: {record}");
        assert!(read(record), "reader: {record}");
    }
    for record in &bad_records() {
        assert!(!validator.is_valid(record), "schema: {record}");
        assert!(!read(record), "reader: {record}");
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
    let good = [
        json!({"site": "a.example"}),
        json!({"site": "A.example", "quality": 0.8, "spam": false, "quota": 5000, "more": []}),
        json!({"site": "[::1]", "quality": null, "spam": null, "quota": null}),
        json!({"site": "a.example", "quality": 1, "spam": true, "quota": u32::MAX}),
    ];
    let bad = [
        json!({}),
        json!({"site": null}),
        json!({"site": 7}),
        json!({"site": ""}),
        json!({"site": "http://a.example/"}),
        json!({"site": "a.example/x"}),
        json!({"site": "a.example", "quality": 2}),
        json!({"site": "a.example", "quality": -1}),
        json!({"site": "a.example", "spam": 1}),
        json!({"site": "a.example", "quota": 1.5}),
        json!({"site": "a.example", "quota": 4_294_967_296_u64}),
    ];
    for (records, is_good) in [(&good[..], true), (&bad[..], false)] {
        for record in records {
            assert_eq!(validator.is_valid(record), is_good, "schema: {record}");
            assert_eq!(read_as(&SiteList, record), is_good, "reader: {record}");
        }
    }
}
