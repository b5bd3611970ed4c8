use std::collections::BTreeMap;

use super::*;
use crate::ingest::interner::Interner;
use crate::ingest::location::{Location, SiteMode, UrlRules, parse};
use crate::ingest::summary::{DropReason, ReadSummary};

fn read(line: &str) -> (Result<PageRecord, Fault>, ReadSummary) {
    let mut parser = PieceParser::new(SiteMode::Host.with(UrlRules::Whatwg), Interner::default());
    let record = JsonLines
        .read(line, &mut parser)
        .map(|event| match event.located(&parser.urls) {
            Event::Record(record) => record,
            other => panic!("{other:?}"),
        });
    (record, parser.summary)
}

fn good(line: &str) -> PageRecord {
    read(line)
        .0
        .unwrap_or_else(|fault| panic!("{line}: {fault:?}"))
}

fn at(url: &str) -> Location {
    parse(url, SiteMode::Host.with(UrlRules::Whatwg)).unwrap()
}

fn extra_fields(count: usize) -> String {
    let fields: Vec<_> = (0..count).map(|n| format!(r#","f{n}":0"#)).collect();
    fields.concat()
}

#[test]
fn a_full_record() {
    let (record, summary) = read(
        r#"{"url": "HTTP://A.example:80/p#q", "outlinks": ["http://c.example/", "http://b.example"],
            "spam": false, "clicks": 3, "uncrawled_outlinks": 12, "digest": "abc",
            "fetched": "2026-11-19T04:00:00Z", "gone": false}"#,
    );
    let mut expected = PageRecord::new(at("http://a.example/p"));
    expected.outlinks = Some(vec![at("http://b.example/"), at("http://c.example/")]);
    expected.spam = Some(false);
    expected.clicks = Some(3);
    expected.uncrawled_outlinks = UncrawledOutlinks::Given(12);
    expected.digest = blake3::hash(b"abc").as_bytes()[..16].try_into().ok();
    expected.fetched = Some(1_795_060_800_000_000);
    assert_eq!(record, Ok(expected));
    assert_eq!(summary, ReadSummary::default());
}

#[test]
fn null_is_absent_except_for_uncrawled_outlinks() {
    let record = good(
        r#"{"url":"http://a.example/","outlinks":null,"spam":null,"clicks":null,
            "uncrawled_outlinks":null,"digest":null,"fetched":null,"gone":null}"#,
    );
    let mut expected = PageRecord::new(at("http://a.example/"));
    expected.uncrawled_outlinks = UncrawledOutlinks::Counted;
    assert_eq!(record, expected);
    assert!(!record.is_crawl());
    assert_eq!(
        read(r#"{"url":null}"#).0.unwrap_err().reason,
        RejectReason::MissingUrl
    );
}

#[test]
fn limits_themselves_are_within() {
    let record = good(
        r#"{"url":"http://a.example/","clicks":9007199254740992,"uncrawled_outlinks":1000000}"#,
    );
    assert_eq!(record.clicks, Some(MAX_CLICKS));
    assert_eq!(
        record.uncrawled_outlinks,
        UncrawledOutlinks::Given(MAX_UNCRAWLED_OUTLINKS)
    );
}

#[test]
fn a_gone_page_ignores_all_other_fields() {
    let record = good(
        r#"{"spam":7,"clicks":1e400,"outlinks":"x","fetched":"\ud800","gone":true,"url":"http://a.example/"}"#,
    );
    let links = good(r#"{"gone":true,"outlinks":[7,{"url":7}],"url":"http://a.example/"}"#);
    assert_eq!(links, record);
    let mut expected = PageRecord::new(at("http://a.example/"));
    expected.gone = true;
    assert_eq!(record, expected);
}

#[test]
fn bad_outlinks_are_dropped_and_counted() {
    let long = format!("http://a.example/{}", "a".repeat(70_000));
    let (record, summary) = read(&format!(
        r#"{{"url":"http://a.example/p","outlinks":["mailto:a@b.example","javascript:x()","","  ",
           "/relative","http://","http://a b/","http://b.example/\ud800",
           "http://u:p@a.example/p#x","http://a.example/p","{long}",
           "http://b.example/","http://B.example:80/#z","\u0068ttp://b.example/","http://c.example/"]}}"#
    ));
    assert_eq!(
        record.unwrap().outlinks,
        Some(vec![at("http://b.example/"), at("http://c.example/")])
    );
    assert_eq!(
        summary.dropped_outlinks,
        BTreeMap::from([
            (DropReason::Empty, 2),
            (DropReason::Relative, 1),
            (DropReason::Scheme, 2),
            (DropReason::NoHost, 1),
            (DropReason::TooLong, 1),
            (DropReason::Invalid, 2),
        ])
    );
    assert_eq!((summary.self_links, summary.duplicate_outlinks), (2, 2));
}

#[test]
fn unknown_fields_are_counted_by_name() {
    let deep = "[".repeat(100_000) + &"]".repeat(100_000);
    let (record, summary) = read(&format!(
        r#"{{"url":"http://a.example/","ulr":1,"\u006futlink":1e400,"deep":{deep}}}"#
    ));
    assert!(record.is_ok());
    let names = BTreeMap::from(["ulr", "outlink", "deep"].map(|name| (name.to_owned(), 1)));
    assert_eq!(summary.unknown_fields.names, names);

    let many = extra_fields(20);
    let (record, summary) = read(&format!(r#"{{"url":"http://a.example/"{many}}}"#));
    assert!(record.is_ok());
    assert_eq!(summary.unknown_fields.names.len(), 16);
    assert_eq!(summary.unknown_fields.others, 4);
}

#[test]
fn every_kind_of_bad_record_has_its_reason() {
    use RejectReason as R;
    let with = |fields: &str| format!(r#"{{"url":"http://a.example/",{fields}}}"#);
    let url = |url: &str| format!(r#"{{"url":"{url}"}}"#);
    let fields = extra_fields(MAX_FIELDS);
    let long = format!("http://a.example/{}", "a".repeat(70_000));
    let cases = [
        ("{".to_owned(), R::InvalidJson),
        (r#"{"url":"http://a.example/""#.to_owned(), R::InvalidJson),
        (
            r#"{"url":"http://a.example/"} x"#.to_owned(),
            R::InvalidJson,
        ),
        (
            r#"{"url":"http://a.example/"}{}"#.to_owned(),
            R::InvalidJson,
        ),
        ("{'url':'http://a.example/'}".to_owned(), R::InvalidJson),
        ("http://a.example/".to_owned(), R::InvalidJson),
        (
            "{\"url\":\"http://a.example/\0\"}".to_owned(),
            R::InvalidJson,
        ),
        (
            "\0{\"url\":\"http://a.example/\"}".to_owned(),
            R::InvalidJson,
        ),
        (with(r#""clicks":NaN"#), R::InvalidJson),
        (with(r#""clicks":01"#), R::InvalidJson),
        (with(r#""digest":"\ud800""#), R::InvalidJson),
        (with(r#""digest":"\x""#), R::InvalidJson),
        ("[".repeat(100_000), R::InvalidJson),
        ("[]".to_owned(), R::NotAnObject),
        ("3".to_owned(), R::NotAnObject),
        (" null ".to_owned(), R::NotAnObject),
        (r#""http://a.example/""#.to_owned(), R::NotAnObject),
        ("[".repeat(100_000) + &"]".repeat(100_000), R::NotAnObject),
        ("{}".to_owned(), R::MissingUrl),
        (r#"{"URL":"http://a.example/"}"#.to_owned(), R::MissingUrl),
        (r#"{"url":7}"#.to_owned(), R::WrongType),
        (with(r#""spam":1"#), R::WrongType),
        (with(r#""spam":"true""#), R::WrongType),
        (with(r#""gone":0"#), R::WrongType),
        (with(r#""clicks":"3""#), R::WrongType),
        (with(r#""clicks":true"#), R::WrongType),
        (with(r#""uncrawled_outlinks":[1]"#), R::WrongType),
        (with(r#""outlinks":"http://b.example/""#), R::WrongType),
        (with(r#""outlinks":{}"#), R::WrongType),
        (with(r#""digest":12"#), R::WrongType),
        (with(r#""fetched":true"#), R::WrongType),
        (with(r#""fetched":"yesterday""#), R::InvalidTimestamp),
        (with(r#""fetched":"""#), R::InvalidTimestamp),
        (with(r#""clicks":-1"#), R::NegativeNumber),
        (with(r#""uncrawled_outlinks":-0.5"#), R::NegativeNumber),
        (with(r#""clicks":1.5"#), R::FractionalNumber),
        (with(r#""clicks":1e400"#), R::NumberTooLarge),
        (with(r#""clicks":9007199254740993"#), R::NumberTooLarge),
        (with(r#""clicks":184467440737095516160"#), R::NumberTooLarge),
        (with(r#""uncrawled_outlinks":1000001"#), R::NumberTooLarge),
        (with(r#""spam":true,"spam":true"#), R::DuplicateField),
        (with(r#""url":"http://a.example/""#), R::DuplicateField),
        (with(r#""spam":null,"spam":true"#), R::DuplicateField),
        (with(r#""x":1,"\u0078":1"#), R::DuplicateField),
        (
            format!(r#"{{"url":"http://a.example/"{fields}}}"#),
            R::TooManyFields,
        ),
        (url(""), R::EmptyUrl),
        (url("  "), R::EmptyUrl),
        (url("a/b"), R::RelativeUrl),
        (url("javascript:void(0)"), R::UrlScheme),
        (url("http://"), R::UrlWithoutHost),
        (url("http://a.example:99999/"), R::InvalidUrl),
        (url("http://\\ud800.example/"), R::InvalidJson),
        (url(&long), R::UrlTooLong),
        (r#"{"gone":true}"#.to_owned(), R::MissingUrl),
        (r#"{"gone":true,"url":"a"}"#.to_owned(), R::RelativeUrl),
        (
            r#"{"gone":true,"url":"http://a.example/","clicks":}"#.to_owned(),
            R::InvalidJson,
        ),
    ];
    for (line, reason) in cases {
        let (record, summary) = read(&line);
        let fault = record.expect_err(&line);
        assert_eq!(fault.reason, reason, "{line:.80}: {}", fault.detail);
        assert!(!fault.detail.is_empty());
        assert!(summary.dropped_outlinks.is_empty());
    }
}

#[test]
fn a_rejected_record_drops_no_outlinks() {
    let (record, summary) =
        read(r#"{"url":"http://a.example/","outlinks":["x","http://a.example/"],"clicks":-1}"#);
    assert!(record.is_err());
    assert_eq!(summary, ReadSummary::default());
}
