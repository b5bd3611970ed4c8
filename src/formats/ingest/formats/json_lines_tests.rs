use std::collections::BTreeMap;

use super::*;
use crate::ingest::interner::Interner;
use crate::ingest::location::{Location, SiteMode, UrlRules, parse};
use crate::ingest::read_options::ReadOptions;
use crate::ingest::summary::{DropReason, Position, ReadSummary};

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
           "http://","http://a b/","http://b.example/\ud800",
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
        (with(r#""url":"http://a.example/""#), R::DuplicateField),
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
fn a_field_that_cannot_be_read_counts_as_absent() {
    use RejectReason as R;
    for (field, reason) in [
        (r#""digest":"\ud800""#, R::InvalidJson),
        (r#""spam":1"#, R::WrongType),
        (r#""spam":"true""#, R::WrongType),
        (r#""gone":0"#, R::WrongType),
        (r#""clicks":"3""#, R::WrongType),
        (r#""clicks":true"#, R::WrongType),
        (r#""uncrawled_outlinks":[1]"#, R::WrongType),
        (r#""outlinks":"http://b.example/""#, R::WrongType),
        (r#""outlinks":{}"#, R::WrongType),
        (r#""digest":12"#, R::WrongType),
        (r#""fetched":true"#, R::WrongType),
        (r#""fetched":"yesterday""#, R::InvalidTimestamp),
        (r#""fetched":"""#, R::InvalidTimestamp),
        (r#""clicks":-1"#, R::NegativeNumber),
        (r#""uncrawled_outlinks":-0.5"#, R::NegativeNumber),
        (r#""clicks":1.5"#, R::FractionalNumber),
        (r#""clicks":1e400"#, R::NumberTooLarge),
        (r#""clicks":9007199254740993"#, R::NumberTooLarge),
        (r#""clicks":184467440737095516160"#, R::NumberTooLarge),
        (r#""uncrawled_outlinks":1000001"#, R::NumberTooLarge),
        (r#""spam":true,"spam":true"#, R::DuplicateField),
        (r#""spam":null,"spam":true"#, R::DuplicateField),
        (r#""failures":2,"failed":"2026-11-19""#, R::WrongType),
        (r#""failures":-1"#, R::NegativeNumber),
        (r#""observed_days":-1"#, R::NegativeNumber),
        (r#""status":"none""#, R::WrongType),
        (r#""seed":7"#, R::WrongType),
        (r#""seed":"x""#, R::RelativeUrl),
        (r#""via":"ftp://a.example/""#, R::UrlScheme),
        (r#""depth":1.5"#, R::FractionalNumber),
        (r#""redirect":7"#, R::WrongType),
        (r#""canonical":[]"#, R::WrongType),
        (r#""quality":2"#, R::NumberTooLarge),
        (r#""fetched":"2026-11-21T00:00:00Z""#, R::FutureTimestamp),
    ] {
        let name = field.split('"').nth(1).unwrap();
        let rest = r#""url":"http://a.example/","digest":"d","outlinks":["http://b.example/"]"#;
        let rest = rest.replace(&format!(r#","{name}""#), ",\"x\"");
        let expected = good(&format!("{{{rest}}}"));
        let options = ReadOptions {
            latest: 1_795_190_400_000_000,
            ..SiteMode::Host.with(UrlRules::Whatwg).into()
        };
        let interner = Interner::default();
        let mut parser = PieceParser::for_piece("f".into(), 9, options, interner, usize::MAX);
        let line = format!("{{{rest},{field}}}");
        let event = JsonLines.read(&line, &mut parser);
        parser.add(Position::Line(1), event, line.as_bytes());
        let [(_, Event::BadField(listed)), (_, Event::Record(record))] = &parser.events[..] else {
            panic!("{line}: {:?}", parser.events);
        };
        assert_eq!(
            (listed.reason, listed.field.as_deref()),
            (reason, Some(name)),
            "{line}"
        );
        assert!(listed.detail.starts_with(name), "{}", listed.detail);
        assert_eq!(parser.summary.bad_fields, [(reason, 1)].into());
        let read = Event::Record(record.clone()).located(&parser.urls);
        let sums = matches!(&read, Event::Record(record) if record.sums.is_some());
        assert!(read == Event::Record(expected) || sums, "{line}");
    }
}

#[test]
fn the_page_of_a_rejected_record_is_seen() {
    for (line, is_seen) in [
        (r#"{"url":"http://a.example/","clicks":}"#, true),
        (r#"{"url":"http://a.example/","outlinks":["http"#, true),
        (r#"{"clicks":,"url":"http://a.example/"}"#, false),
        (r#"{"url":"x","clicks":}"#, false),
    ] {
        let mut parser =
            PieceParser::new(SiteMode::Host.with(UrlRules::Whatwg), Interner::default());
        let event = JsonLines.read(line, &mut parser);
        parser.add(Position::Line(1), event, line.as_bytes());
        let seen = parser
            .events
            .iter()
            .filter(|(_, event)| matches!(event, Event::Seen(_)));
        assert_eq!(
            (
                parser.events.len() - seen.clone().count(),
                seen.count() == 1
            ),
            (1, is_seen)
        );
    }
}

#[test]
fn a_byte_that_is_not_utf_8_costs_its_field() {
    let mut parser = PieceParser::new(SiteMode::Host.with(UrlRules::Whatwg), Interner::default());
    let line = b"{\"url\":\"http://a.example/\",\"title\":\"\xff\",\"digest\":\"\xff\",\
        \"outlinks\":[\"/\xff\",\"http://b.example/\xff\",\"/b\"],\"via\":\"http://\xff.example/\"}";
    let event = read_text(line, &mut parser, |line, parser| {
        JsonLines.read(line, parser)
    });
    parser.add(Position::Line(1), event, line);
    let expected = good(r#"{"url":"http://a.example/","outlinks":["http://a.example/b"]}"#);
    let (_, event) = parser.events.pop().unwrap();
    assert_eq!(event.located(&parser.urls), Event::Record(expected));
    assert_eq!(
        parser.summary.bad_fields,
        [(RejectReason::InvalidUtf8, 2)].into()
    );
    assert_eq!(
        parser.summary.dropped_outlinks,
        [(DropReason::Invalid, 2)].into()
    );
    let line = b"{\"url\":\"http://a.example/\xff\"}";
    let event = read_text(line, &mut parser, |line, parser| {
        JsonLines.read(line, parser)
    });
    assert_eq!(event.unwrap_err().reason, RejectReason::InvalidUtf8);
}

#[test]
fn relative_links_are_those_of_the_page() {
    let record = good(
        r##"{"url":"http://a.example/d/p","outlinks":["x","/y","//b.example/","../z?a:b","#top",""],"canonical":"./"}"##,
    );
    assert_eq!(
        record.canonical,
        Attribute::Given(at("http://a.example/d/"))
    );
    let record = good(r#"{"url":"http://a.example/d/p","outlinks":["x","/y","//b.example/"]}"#);
    let links = [
        "http://a.example/d/x",
        "http://a.example/y",
        "http://b.example/",
    ];
    assert_eq!(record.outlinks, Some(links.map(at).to_vec()));
}

#[test]
fn several_urls_in_one_text_are_dropped() {
    let (record, summary) = read(
        r#"{"url":"http://a.example/","outlinks":["http://b.example/,http://c.example/","http://b.example/|https://c.example/",
            "http://b.example/; http://c.example/","http://b.example/?a,b|http://c.example/",{"url":"http://b.example/,http://c.example/"}]}"#,
    );
    assert_eq!(record.unwrap().outlinks.unwrap().len(), 2);
    assert_eq!(
        summary.dropped_outlinks,
        [(DropReason::SeveralUrls, 3)].into()
    );
}
