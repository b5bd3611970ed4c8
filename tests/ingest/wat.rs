//! WAT, as Common Crawl publishes it, in a bank.
//!
//! Families of cases, and what they catch:
//! * random captures, compressed and not: a bank that differs from that of the same pages as JSON
//!   Lines; a second capture that counts although it is earlier;
//! * what a page says of its links (base, canonical, nofollow), and what becomes of each status.

use std::fs;

use crate::support;
use crate::support::histories::{AS_OF, exported};
use crate::support::model::assert_clean;
use crate::support::wat::{Capture, a_capture, lines, members, read, records};
use proptest::prelude::*;
use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, IngestReport, IngestRequest};
use seedbank::ingest::{DropReason, Event, Input, Naming, Nofollow, Position, SkipReason};

const AUTO: Format = Format::Auto {
    nofollow: Nofollow::Keep,
};
const WAT: Format = Format::Wat {
    nofollow: Nofollow::Keep,
};

/// A bank of one file.
fn bank_of(bytes: &[u8], format: Format) -> (tempfile::TempDir, Bank, IngestReport) {
    let folder = support::scratch();
    let path = folder.path().join("input");
    fs::write(&path, bytes).unwrap();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    let request = IngestRequest {
        inputs: vec![Input::File(path)],
        format,
        as_of: AS_OF,
        ..IngestRequest::default()
    };
    let report = bank.ingest(&request).unwrap();
    assert_clean(&bank);
    (folder, bank, report)
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(10), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bank_is_that_of_the_same_captures_as_json_lines(
        captures in prop::collection::vec(a_capture(), 1..30),
        compressed in any::<bool>(),
    ) {
        let records = records(&captures);
        let file = if compressed { members(&records) } else { records.concat() };
        let (folder, ours, report) = bank_of(&file, AUTO);
        let lines = lines(&captures);
        prop_assert_eq!(report.read.records, lines.lines().count() as u64);
        let (_other, theirs, other) = bank_of(lines.as_bytes(), Format::JsonLines);
        prop_assert_eq!(exported(&ours), exported(&theirs));
        prop_assert_eq!(report.counts.superseded, other.counts.superseded);
        prop_assert_eq!(report.aliases, other.aliases);
        if report.read.records > 0 {
            // The records are the same, so that the lines are no new batch.
            let path = folder.path().join("input");
            fs::write(&path, lines).unwrap();
            let request = IngestRequest { inputs: vec![Input::File(path)], as_of: AS_OF, ..IngestRequest::default() };
            let again = ours.ingest(&request).unwrap();
            prop_assert_eq!(again.same_as, report.batch);
        }
    }
}

#[test]
fn each_status_has_its_meaning() {
    let a = "http://a.example/";
    let captures = [
        Capture::of(a, &["/b"]),
        Capture::answered("http://a.example/moved", 301, Some("/b")),
        Capture::answered("http://a.example/odd", 399, Some("//b.example/")),
        Capture::answered("http://a.example/itself", 302, Some("#top")),
        Capture::answered("http://a.example/mail", 302, Some("mailto:x@a.example")),
        Capture::answered("http://a.example/same", 304, None),
        Capture::answered("http://a.example/gone", 410, None),
        Capture::answered("http://a.example/none", 404, Some("/b")),
        Capture::answered("http://a.example/no", 403, None),
        Capture::answered("http://a.example/down", 503, None),
        Capture::answered("http://a.example/pdf", 203, None),
    ];
    let (summary, events) = read(&records(&captures).concat(), &WAT);
    let summary = summary.unwrap();
    let numbers: Vec<Position> = events.iter().map(|(at, _)| *at).collect();
    let of = |capture: u64| Position::Record(3 + 3 * capture);
    let expected = [0, 1, 2, 6, 7, 8, 9, 10].map(of);
    assert_eq!(numbers, expected);
    let records = events.iter().map(|(_, event)| match event {
        Event::Record(record) => record,
        _ => panic!("{event:?}"),
    });
    let told: Vec<_> = records
        .map(|record| {
            let leads = record.alias.as_ref().map(|(to, _)| to.site.clone());
            let links = record.outlinks.as_ref().map(Vec::len);
            (leads, links, record.gone, record.digest.is_some())
        })
        .collect();
    assert_eq!(
        told,
        [
            (None, Some(1), false, true),
            (Some("a.example".to_owned()), None, false, false),
            (Some("b.example".to_owned()), None, false, false),
            (None, None, true, false),
            (None, None, true, false),
            // Failed fetches.
            (None, None, false, false),
            (None, None, false, false),
            // No HTML: nothing is said of links.
            (None, None, false, true),
        ]
    );
    assert_eq!(
        summary.passed_over.clone().into_iter().collect::<Vec<_>>(),
        [
            (SkipReason::NoResponse, 1 + 2 * 11),
            (SkipReason::OtherStatus, 1),
            (SkipReason::LeadsNowhere, 2),
        ]
    );
    assert_eq!(
        (summary.records, summary.lines, summary.rejected()),
        (8, 8, 0)
    );
    assert_eq!(summary.dropped_outlinks, [(DropReason::Scheme, 1)].into());
}

#[test]
fn links_that_are_not_to_be_followed_go_only_where_that_is_asked() {
    let mut captures = vec![Capture::of("http://a.example/", &["/b", "/c"])];
    let html = captures[0].html.as_mut().unwrap();
    html.links[0].rel = Some("external NOFOLLOW");
    for robots in ["noindex", "noindex,nofollow", "NONE"] {
        let mut capture = Capture::of("http://a.example/d", &["/b", "/c"]);
        capture.html.as_mut().unwrap().robots = Some(robots.to_owned());
        captures.push(capture);
    }
    let file = members(&records(&captures));
    let links = |format: &Format| {
        let (summary, events) = read(&file, format);
        let links: Vec<usize> = events
            .iter()
            .map(|(_, event)| match event {
                Event::Record(record) => record.outlinks.as_ref().unwrap().len(),
                _ => panic!("{event:?}"),
            })
            .collect();
        (links, summary.unwrap().dropped_outlinks)
    };
    assert_eq!(links(&AUTO), (vec![2, 2, 2, 2], [].into()));
    for format in [
        Format::Wat {
            nofollow: Nofollow::Drop,
        },
        Format::Auto {
            nofollow: Nofollow::Drop,
        },
    ] {
        let dropped = [(DropReason::Nofollow, 5)].into();
        assert_eq!(links(&format), (vec![1, 2, 0, 0], dropped));
    }
}

#[test]
fn the_latest_capture_counts() {
    let mut captures = vec![
        Capture::of("http://a.example/", &["/new"]),
        Capture::of("http://a.example/", &["/old"]),
        Capture::answered("http://b.example/", 404, None),
        Capture::of("http://b.example/", &["/old"]),
    ];
    captures[0].date = "2024-05-18T01:58:11Z".to_owned();
    captures[2].date = "2024-05-18T01:58:11.5Z".to_owned();
    let (_folder, bank, report) = bank_of(&members(&records(&captures)), WAT);
    assert_eq!((report.counts.superseded, report.read.records), (2, 4));
    let text = String::from_utf8(exported(&bank)).unwrap();
    assert!(text.contains("/new") && !text.contains("/old"), "{text}");
    assert!(text.contains("\"gone\":true"), "{text}");
}
