//! WAT that is damaged, truncated or otherwise invalid.
//!
//! Families of cases, and the bugs that they catch:
//! * wrong frames, invalid JSON, wrong types: a rejected record that is not reported by its number, or
//!   that costs more than itself;
//! * optional parts that are missing;
//! * hundreds of damages and truncations of a good file: a panic, or the loss of undamaged pages.

use std::collections::BTreeSet;

use crate::support::wat::{Capture, Events, members, metadata, read, record, records};
use seedbank::engine::ingest::Format;
use seedbank::ingest::{
    DetectedFormat, DropReason, Event, InputError, MAX_LINE, Naming, Nofollow, Position, ReadError,
    RejectReason,
};
use serde_json::{Value, json};

const AUTO: Format = Format::Auto {
    nofollow: Nofollow::Keep,
};
const WAT: Format = Format::Wat {
    nofollow: Nofollow::Keep,
};

/// Of a response, with one thing in it otherwise.
fn with(change: impl FnOnce(&mut Value)) -> Vec<u8> {
    let mut capture = Capture::of("http://bad.example/", &["/b"]);
    let html = capture.html.as_mut().unwrap();
    html.base = Some("/".to_owned());
    html.canonical = Some("/".to_owned());
    html.robots = Some("none".to_owned());
    let mut response = capture.response();
    change(&mut response["Envelope"]);
    metadata(&response)
}

/// Records that are bad, each with the reason.
#[expect(clippy::too_many_lines, reason = "it is a table")]
fn wrong() -> Vec<(Vec<u8>, RejectReason)> {
    let html = "/Payload-Metadata/HTTP-Response-Metadata/HTML-Metadata";
    let put = |place: &str, value: Value| {
        with(|envelope| *envelope.pointer_mut(place).expect(place) = value)
    };
    let of_html = |place: &str, value: Value| put(&format!("{html}{place}"), value);
    let head = "/WARC-Header-Metadata";
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let length = |from: &str, to: &str| {
        let good = text(with(|_| {}));
        let line = good
            .lines()
            .find(|line| line.starts_with("Content-Length"))
            .unwrap()
            .to_owned();
        let number = &line["Content-Length: ".len()..];
        let said = to
            .replace("LENGTH", number)
            .replace("LESS", &(number.parse::<u64>().unwrap() - 9).to_string());
        good.replacen(&line, &format!("{from}{said}"), 1)
            .into_bytes()
    };
    vec![
        (
            record("metadata", "application/json", "{\"Envelope\": {"),
            RejectReason::InvalidJson,
        ),
        (
            record("metadata", "application/json", ""),
            RejectReason::InvalidJson,
        ),
        (
            record("metadata", "application/json", "{} {}"),
            RejectReason::InvalidJson,
        ),
        (
            record("metadata", "application/json", "[]"),
            RejectReason::WrongType,
        ),
        (
            record("metadata", "application/json", "{\"Envelope\": 1}"),
            RejectReason::WrongType,
        ),
        (
            record(
                "metadata",
                "application/json",
                "{\"Envelope\": {}, \"Envelope\": {}}",
            ),
            RejectReason::DuplicateField,
        ),
        (
            record("metadata", "application/json", "{}"),
            RejectReason::MissingType,
        ),
        (
            put(&format!("{head}/WARC-Type"), json!(null)),
            RejectReason::MissingType,
        ),
        (
            put(&format!("{head}/WARC-Type"), json!(1)),
            RejectReason::WrongType,
        ),
        (put(head, json!([])), RejectReason::WrongType),
        (
            put(&format!("{head}/WARC-Target-URI"), json!(null)),
            RejectReason::MissingUrl,
        ),
        (
            put(&format!("{head}/WARC-Target-URI"), json!(["x"])),
            RejectReason::WrongType,
        ),
        (
            put(
                &format!("{head}/WARC-Target-URI"),
                json!("ftp://a.example/"),
            ),
            RejectReason::UrlScheme,
        ),
        (
            put(&format!("{head}/WARC-Target-URI"), json!("")),
            RejectReason::EmptyUrl,
        ),
        (
            put(&format!("{head}/WARC-Date"), json!("yesterday")),
            RejectReason::InvalidTimestamp,
        ),
        (
            put(
                "/Payload-Metadata/HTTP-Response-Metadata/Headers",
                json!("x"),
            ),
            RejectReason::WrongType,
        ),
        (
            put(
                "/Payload-Metadata/HTTP-Response-Metadata/Response-Message/Status",
                json!({}),
            ),
            RejectReason::WrongType,
        ),
        (
            of_html("/Links", json!({"url": "/b"})),
            RejectReason::WrongType,
        ),
        (of_html("/Links", json!("/b")), RejectReason::WrongType),
        (of_html("/Links/0", json!("/b")), RejectReason::WrongType),
        (of_html("/Links/0/path", json!(7)), RejectReason::WrongType),
        (
            of_html("/Links/0/url", json!(["/b"])),
            RejectReason::WrongType,
        ),
        (of_html("/Head", json!([])), RejectReason::WrongType),
        (of_html("/Head/Base", json!(true)), RejectReason::WrongType),
        (of_html("/Head/Link", json!({})), RejectReason::WrongType),
        (
            of_html("/Head/Link/1/rel", json!(1)),
            RejectReason::WrongType,
        ),
        (length("Content-Length: ", "x"), RejectReason::Framing),
        (length("Content-Size: ", "LENGTH"), RejectReason::Framing),
        (length("Content-Length: ", "LESS"), RejectReason::Framing),
        (length("Content-Length: ", "LENGTH0"), RejectReason::Framing),
        (length("Content-Length: ", "0"), RejectReason::Framing),
        (
            length("Content-Length: ", "999999999999"),
            RejectReason::LineTooLong,
        ),
        (
            b"WARC/1.0\r\nWARC-Type: metadata\r\n".to_vec(),
            RejectReason::Framing,
        ),
        (
            [
                b"WARC/1.0\r\n".to_vec(),
                b"A: b\r\n".repeat(20_000),
                b"\r\n".to_vec(),
            ]
            .concat(),
            RejectReason::Framing,
        ),
        (
            record("metadata", "application/json", &" ".repeat(MAX_LINE + 1)),
            RejectReason::LineTooLong,
        ),
    ]
}

#[test]
fn a_bad_record_costs_itself() {
    let good = records(&[Capture::of("http://a.example/", &["/b"])]);
    let after = metadata(&Capture::of("http://c.example/", &["/b"]).response());
    for (bad, reason) in wrong() {
        let shown = String::from_utf8_lossy(&bad[..bad.len().min(2_000)]).into_owned();
        for compressed in [false, true] {
            let all = [good.clone(), vec![bad.clone(), after.clone()]].concat();
            let file = if compressed {
                members(&all)
            } else {
                all.concat()
            };
            let (summary, events) = read(&file, &WAT);
            let summary = summary.unwrap_or_else(|error| panic!("{error}: {shown}"));
            assert_eq!(summary.rejects, [(reason, 1)].into(), "{shown}");
            let [first, second, third] = &events[..] else {
                panic!("{events:?}: {shown}");
            };
            assert!(
                matches!(first, (Position::Record(3), Event::Record(_))),
                "{shown}"
            );
            assert!(
                matches!(third, (Position::Record(6), Event::Record(_))),
                "{shown}"
            );
            let (Position::Record(5), Event::Rejected(reject)) = second else {
                panic!("{second:?}: {shown}");
            };
            assert!(!reject.detail.is_empty());
        }
    }
    // What stands between records costs the one before it.
    let noisy = [good.concat(), b"noise\r\n".to_vec(), after.clone()].concat();
    let (summary, events) = read(&noisy, &WAT);
    assert_eq!(
        summary.unwrap().rejects,
        [(RejectReason::Framing, 1)].into()
    );
    let numbers: Vec<Position> = events.iter().map(|(at, _)| *at).collect();
    assert_eq!(numbers, [3, 4, 5].map(Position::Record));
    // No UTF-8.
    let mut bad = with(|_| {});
    let at = bad.windows(3).position(|at| at == b"bad").unwrap();
    bad[at] = 0xff;
    let (summary, _) = read(&[good.concat(), bad, after].concat(), &WAT);
    assert_eq!(
        summary.unwrap().rejects,
        [(RejectReason::InvalidUtf8, 1)].into()
    );
}

#[test]
fn what_may_be_missing_makes_no_record_bad() {
    let html = "/Payload-Metadata/HTTP-Response-Metadata/HTML-Metadata";
    let cases: [(&str, Value); 12] = [
        ("/WARC-Header-Metadata/WARC-Date", json!(null)),
        (
            "/Payload-Metadata/HTTP-Response-Metadata/Headers",
            json!(null),
        ),
        (
            "/Payload-Metadata/HTTP-Response-Metadata/Entity-Digest",
            json!(null),
        ),
        (
            "/Payload-Metadata/HTTP-Response-Metadata/Response-Message/Status",
            json!(200),
        ),
        (
            "/Payload-Metadata/HTTP-Response-Metadata/HTML-Metadata",
            json!(null),
        ),
        ("/Head", json!(null)),
        ("/Head/Metas", json!([{}, null, {"name": null}])),
        ("/Head/Scripts", json!(7)),
        ("/Links", json!(null)),
        ("/Links/0", json!({})),
        ("/Links/0", json!({"path": "A@/href"})),
        ("/Links/0/url", json!(null)),
    ];
    for (place, value) in cases {
        let record = with(|envelope| {
            let at = [html, place].concat();
            let place = if envelope.pointer(place).is_some() {
                place
            } else {
                &at
            };
            *envelope.pointer_mut(place).expect(place) = value.clone();
        });
        let file = [records(&[]).concat(), record].concat();
        let (summary, events) = read(&file, &WAT);
        assert_eq!(summary.unwrap().rejects, [].into(), "{place} {value}");
        let [(_, Event::Record(record))] = &events[..] else {
            panic!("{place} {value}: {events:?}");
        };
        assert!(record.is_crawl());
    }
    // A link with half a surrogate pair is dropped.
    let file = String::from_utf8(with(|_| {})).unwrap();
    let odd = "\"\\ud83d\"";
    let file = file.replace("\"/b\"", odd).replace("\"a text\"", odd);
    let block = file.rsplit("\r\n\r\n").nth(1).unwrap();
    let file = [
        records(&[]).concat(),
        record("metadata", "application/json", block),
    ]
    .concat();
    let (summary, events) = read(&file, &WAT);
    assert_eq!(events.len(), 1);
    assert_eq!(
        summary.unwrap().dropped_outlinks,
        [(DropReason::Invalid, 1)].into()
    );
}

/// The URLs of all pages of a file that is read to its end.
fn pages(events: &Events) -> BTreeSet<String> {
    let pages = events.iter().filter_map(|(_, event)| match event {
        Event::Record(record) => Some(record.url.url(Naming::default().sites)),
        _ => None,
    });
    pages.collect()
}

#[test]
fn damages_are_refused_or_cost_what_they_touch() {
    let captures: Vec<Capture> = (0..5)
        .map(|n| {
            Capture::of(
                &format!("http://s{n}.example/"),
                &["/b", "x", "//c.example/"],
            )
        })
        .collect();
    let plain = records(&captures).concat();
    let zipped = members(&records(&captures));
    let (mut refused, mut taken) = (0, 0);
    let mut check = |bytes: &[u8], what: &str| {
        for format in [&WAT, &AUTO] {
            let (summary, events) = read(bytes, format);
            match summary {
                Ok(summary) => {
                    taken += 1;
                    assert_eq!(summary.records, events.len() as u64, "{what}");
                    // One damage touches at most two captures, but for the first bytes, without
                    // which a file is read as lines.
                    let has_lines = events.iter().any(|(at, _)| matches!(at, Position::Line(_)));
                    let is_less = bytes.len() < plain.len() || has_lines;
                    assert!(pages(&events).len() >= 3 || is_less, "{what}");
                }
                Err(ReadError::Input(error)) => {
                    refused += 1;
                    let said = error.to_string();
                    let is_told = [
                        "is damaged gzip",
                        "is truncated in record",
                        "does not contain ",
                        "is not a web archive",
                    ];
                    assert!(
                        is_told.iter().any(|told| said.contains(told)),
                        "{what}: {said}"
                    );
                }
                Err(error) => panic!("{what}: {error}"),
            }
        }
    };
    for n in 0..60 {
        let cut = plain.len() * n / 60;
        check(&plain[..cut], &format!("text of {cut} bytes"));
        let cut = zipped.len() * n / 60;
        check(&zipped[..cut], &format!("gzip of {cut} bytes"));
        let at = plain.len() * n / 60 + n;
        let mut bytes = plain.clone();
        bytes[at] ^= 1 << (n % 8);
        check(&bytes, &format!("bit {n} of byte {at}"));
        bytes.remove(at);
        check(&bytes, &format!("without byte {at}"));
        bytes.splice(at..at, plain[..n].iter().copied());
        check(&bytes, &format!("{n} bytes more at {at}"));
        let at = zipped.len() * n / 60;
        let mut bytes = zipped.clone();
        bytes[at] ^= 0x10;
        check(&bytes, &format!("gzip with another byte {at}"));
    }
    assert!(
        refused > 100 && taken > 100,
        "{refused} refused, {taken} taken"
    );
}

#[test]
fn what_is_no_wat_is_refused_at_once() {
    for (bytes, is) in [
        (
            record("response", "application/http", "HTTP/1.1 200 OK"),
            Some(DetectedFormat::Warc),
        ),
        (
            record("conversion", "text/plain", "words"),
            Some(DetectedFormat::Wet),
        ),
        (
            b"{\"url\": \"http://a.example/\"}\n".to_vec(),
            Some(DetectedFormat::JsonLines),
        ),
        (b"noise".to_vec(), None),
    ] {
        let (error, events) = read(&bytes, &WAT);
        assert!(events.is_empty());
        match error.unwrap_err() {
            ReadError::Input(InputError::NotRecords(seen)) => assert_eq!(Some(seen.format), is),
            error => {
                assert_eq!(is, None);
                assert!(
                    error.to_string().contains("is not a web archive"),
                    "{error}"
                );
            }
        }
    }
    let (empty, events) = read(b"\r\n", &WAT);
    assert_eq!((empty.unwrap().records, events.len()), (0, 0));
}
