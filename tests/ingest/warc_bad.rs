//! WARC that is damaged, truncated or otherwise invalid.
//!
//! Families of cases, and the bugs that they catch:
//! * records with bodies that look like records, with correct lengths: a page that does not exist;
//! * wrong lengths of short and long records: an error that costs more than its record;
//! * hundreds of damages and truncations of a good file: a panic, or the loss of undamaged pages.

use std::collections::BTreeSet;

use crate::support::warc::{DATE, answer, nasty, of, page, record, warcinfo};
use crate::support::wat::{Events, members, read};
use proptest::prelude::*;
use proptest::sample::select;
use seedbank::engine::ingest::Format;
use seedbank::ingest::{
    DetectedFormat, Event, InputError, Naming, Nofollow, ReadError, RejectReason,
};

const AUTO: Format = Format::Auto {
    nofollow: Nofollow::Keep,
};
const WARC: Format = Format::Warc {
    nofollow: Nofollow::Keep,
};

/// The URLs of all pages that were read.
fn pages(events: &Events) -> BTreeSet<String> {
    let pages = events.iter().filter_map(|(_, event)| match event {
        Event::Record(record) => Some(record.url.url(Naming::default().sites)),
        _ => None,
    });
    pages.collect()
}

fn url(number: usize) -> String {
    format!("http://s{number}.example/")
}

/// Bodies of all kinds; some with a whole record in them.
fn body() -> impl Strategy<Value = Vec<u8>> {
    let part = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..40),
        Just(nasty(false)),
        Just(nasty(true)),
        select(vec![
            "\r\n\r\n",
            "\n",
            "WARC/1.0\r\n",
            "\r\nWARC/1.0",
            "\nWARC/1.0\n\n",
            "<a href=/x>"
        ])
        .prop_map(|text| text.as_bytes().to_vec()),
    ];
    prop::collection::vec(part, 0..5).prop_map(|parts| parts.concat())
}

fn a_record(number: usize, kind: u8, body: &[u8]) -> Vec<u8> {
    let html = "HTTP/1.1 200 OK\nContent-Type: text/html\n";
    match kind {
        0 => answer(&url(number), html, body),
        1 => answer(
            &url(number),
            "HTTP/1.1 200 OK\nContent-Type: image/png\n",
            body,
        ),
        _ => record("resource", &of("http://none.example/", DATE), body),
    }
}

/// Whether the wrong length leads past the next record to what looks like one, or to the end: then
/// nothing tells that it is wrong.
fn seems_right(records: &[Vec<u8>], damaged: usize, length: &str) -> bool {
    let text = records[damaged..].concat();
    let head = text.windows(4).position(|at| at == b"\r\n\r\n").unwrap() + 4;
    let end = length
        .parse()
        .ok()
        .and_then(|length| head.checked_add(length));
    let Some(rest) = end.and_then(|end: usize| text.get(end..)) else {
        return false;
    };
    let blank = rest
        .iter()
        .take_while(|byte| b"\r\n".contains(byte))
        .count();
    let next = &rest[blank..];
    let is_next = text.len() - next.len() <= records[damaged].len();
    !is_next && (next.starts_with(b"WARC/") || b"WARC/".starts_with(next))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_page_is_made_up_and_a_wrong_length_costs_its_record(
        records in prop::collection::vec((0..3_u8, body()), 4..12),
        damaged in any::<prop::sample::Index>(),
        wrong in select(vec!["0", "1", "x", "-1", "5", "100", "2000", "20000000", "999999999999", "18446744073709551616", ""]),
    ) {
        let all: Vec<Vec<u8>> = records.iter().enumerate()
            .map(|(number, (kind, body))| a_record(number, *kind, body))
            .collect();
        let of = |skip: Option<usize>| -> BTreeSet<String> {
            let records = records.iter().enumerate();
            let pages = records.filter(|(number, (kind, _))| *kind < 2 && skip != Some(*number));
            pages.map(|(number, _)| url(number)).collect()
        };
        let file = [warcinfo(), all.concat()].concat();
        let (summary, events) = read(&file, &WARC);
        prop_assert_eq!(summary.unwrap().rejected(), 0);
        prop_assert_eq!(pages(&events), of(None));
        // With one length that is wrong.
        let damaged = damaged.index(all.len() - 3);
        let text = &all[damaged];
        let at = text.windows(16).position(|at| at == b"Content-Length: ").unwrap() + 16;
        let end = at + text[at..].iter().position(|byte| *byte == b'\r').unwrap();
        prop_assume!(&text[at..end] != wrong.as_bytes());
        let mut bad = all.clone();
        bad[damaged] = [&text[..at], wrong.as_bytes(), &text[end..]].concat();
        prop_assume!(!seems_right(&bad, damaged, wrong));
        let (summary, events) = read(&[warcinfo(), bad.concat()].concat(), &WARC);
        let found = pages(&events);
        let mut expected = of(Some(damaged));
        // A length that happens to end where a record or nothing follows may be right.
        let is_right = found.contains(&url(damaged));
        if is_right {
            expected.insert(url(damaged));
        }
        prop_assert_eq!(&found, &expected);
        let rejected = summary.unwrap().rejected();
        prop_assert!(rejected <= 2 && (is_right || records[damaged].0 == 2 || rejected > 0));
    }
}

#[test]
fn a_wrong_length_of_a_long_record_costs_it_alone() {
    let film = |length: &str| {
        let film = answer(
            "http://film.example/",
            "HTTP/1.1 200 OK\nContent-Type: video/mp4\n",
            &vec![b'x'; 17 << 20],
        );
        let text = film
            .windows(2)
            .position(|at| at == b"\r\n\r")
            .unwrap_or(400);
        let head = String::from_utf8(film[..text.min(400)].to_vec()).unwrap();
        let line = head
            .lines()
            .find(|line| line.starts_with("Content-Length"))
            .unwrap()
            .to_owned();
        let at = head.find(&line).unwrap();
        let mut bad = film.clone();
        bad.splice(
            at..at + line.len(),
            format!("Content-Length: {length}").into_bytes(),
        );
        bad
    };
    let others: Vec<Vec<u8>> = (0..9).map(|n| page(&url(n), "<a href=/b>")).collect();
    let whole: BTreeSet<String> = (0..9).map(url).collect();
    for (length, is_member) in [
        ("17000000", false),
        ("99999999", true),
        ("999999999999", false),
        ("7", true),
    ] {
        let plain = [
            warcinfo(),
            others[..3].concat(),
            film(length),
            others[3..].concat(),
        ]
        .concat();
        let input = if is_member { members(&[plain]) } else { plain };
        let (summary, events) = read(&input, &WARC);
        let summary = summary.unwrap_or_else(|error| panic!("{length}: {error}"));
        assert_eq!(
            summary.rejects,
            [(RejectReason::Framing, 1)].into(),
            "{length}"
        );
        assert_eq!(pages(&events), whole, "{length}");
    }
}

#[test]
fn damages_are_refused_or_cost_what_they_touch() {
    let records: Vec<Vec<u8>> = (0..6)
        .map(|n| match n {
            5 => a_record(n, 1, &nasty(true)),
            _ => page(&url(n), "<a href=/b><a href=//c.example/>"),
        })
        .collect();
    let all = [vec![warcinfo()], records].concat();
    let whole: BTreeSet<String> = (0..6).map(url).collect();
    let plain = all.concat();
    let zipped = members(&all);
    let (mut refused, mut taken) = (0, 0);
    let mut check = |bytes: &[u8], what: &str, may_be_less: bool| {
        for format in [&WARC, &AUTO] {
            let (summary, events) = read(bytes, format);
            assert!(!pages(&events).contains("http://wrong.example/"), "{what}");
            match summary {
                Ok(summary) => {
                    taken += 1;
                    assert_eq!(summary.records, events.len() as u64, "{what}");
                    let is_lines = !bytes.starts_with(b"WARC/") && !bytes.starts_with(b"\x1f\x8b");
                    let kept = whole.intersection(&pages(&events)).count();
                    assert!(kept >= 4 || may_be_less || is_lines, "{what}: {kept}");
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
        check(&plain[..cut], &format!("text of {cut} bytes"), true);
        let cut = zipped.len() * n / 60;
        check(&zipped[..cut], &format!("gzip of {cut} bytes"), true);
        let at = plain.len() * n / 60 + n % 7;
        let mut bytes = plain.clone();
        bytes[at] ^= 1 << (n % 8);
        check(&bytes, &format!("bit {n} of byte {at}"), false);
        bytes.remove(at);
        check(&bytes, &format!("without byte {at}"), false);
        bytes.splice(at..at, plain[..n].iter().copied());
        check(&bytes, &format!("{n} bytes more at {at}"), false);
        let at = zipped.len() * n / 60;
        let mut bytes = zipped.clone();
        bytes[at] ^= 0x10;
        check(&bytes, &format!("gzip with another byte {at}"), false);
    }
    assert!(
        refused > 100 && taken > 100,
        "{refused} refused, {taken} taken"
    );
}

#[test]
fn a_file_cut_anywhere_is_refused_or_ends_between_records() {
    let records: Vec<Vec<u8>> = (0..12).map(|n| a_record(n, 0, &nasty(true))).collect();
    let file = [warcinfo(), records.concat()].concat();
    for cut in (1..file.len()).step_by(97) {
        let (summary, events) = read(&file[..cut], &WARC);
        assert!(!pages(&events).contains("http://wrong.example/"), "{cut}");
        match summary {
            Ok(summary) => assert_eq!(summary.rejected(), 0, "{cut}"),
            Err(error) => assert!(
                error.to_string().contains("is truncated in record") || cut < 5,
                "{cut}: {error}"
            ),
        }
    }
}

#[test]
fn what_is_no_warc_is_refused_at_once() {
    let json = "{\"Container\":{},\"Envelope\":{}}";
    for (bytes, is) in [
        (
            record(
                "metadata",
                "Content-Type: application/json\r\n",
                json.as_bytes(),
            ),
            Some(DetectedFormat::Wat),
        ),
        (
            record("conversion", "Content-Type: text/plain\r\n", b"words"),
            Some(DetectedFormat::Wet),
        ),
        (
            b"{\"url\": \"http://a.example/\"}\n".to_vec(),
            Some(DetectedFormat::JsonLines),
        ),
        (b"noise".to_vec(), None),
    ] {
        let (error, events) = read(&bytes, &WARC);
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
    // What a server sent does not make a WARC anything else.
    for body in [json, "WARC-Type: conversion\r\n"] {
        let (summary, events) = read(&page("http://a.example/", body), &AUTO);
        assert_eq!((summary.unwrap().rejected(), events.len()), (0, 1));
    }
}
