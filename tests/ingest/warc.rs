//! WARC, as crawlers write it, in a bank.
//!
//! Families of cases, and what they catch:
//! * random captures in every way to code a body: a bank that differs from that of the same captures
//!   as JSON Lines, or as WAT;
//! * what each status says, what records of each type say, whose page they are;
//! * Heritrix's notes beside an answer and without one: a result that depends on their order.

use std::fs;

use crate::support;
use crate::support::histories::{AS_OF, exported};
use crate::support::model::assert_clean;
use crate::support::warc::{DATE, answer, nasty, notes, of, page, record, records, warcinfo};
use crate::support::wat::{self, Capture, Events, Link, a_capture, lines, members, read};
use proptest::prelude::*;
use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, IngestReport, IngestRequest};
use seedbank::ingest::{
    DropReason, Event, Input, Naming, Nofollow, Position, ReadSummary, RejectReason, SkipReason,
    Unread,
};

const AUTO: Format = Format::Auto {
    nofollow: Nofollow::Keep,
};
const WARC: Format = Format::Warc {
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

/// What is read of a good file.
fn good(records: &[Vec<u8>]) -> (ReadSummary, Events) {
    let (summary, events) = read(&records.concat(), &WARC);
    (summary.unwrap(), events)
}

/// The one page of a file, with its links.
fn one(records: &[Vec<u8>]) -> (String, Option<Vec<String>>) {
    let (_, events) = good(records);
    let [(_, Event::Record(record))] = &events[..] else {
        panic!("{events:?}");
    };
    let url = |at: &seedbank::ingest::Location| at.url(Naming::default().sites);
    let links = record.outlinks.as_ref();
    (
        url(&record.url),
        links.map(|links| links.iter().map(url).collect()),
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: crate::support::cases(8), failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_bank_is_that_of_the_same_captures_in_other_formats(
        captures in prop::collection::vec(a_capture(), 1..30),
        compression in 0..4_u8,
        way in 0..420_usize,
    ) {
        let records = records(&captures, way);
        let file = match compression {
            0 => records.concat(),
            1 => members(&records),
            2 => members(&[records.concat()]),
            _ => zstd::encode_all(&records.concat()[..], 1).unwrap(),
        };
        let (_folder, ours, report) = bank_of(&file, AUTO);
        let lines = lines(&captures);
        prop_assert_eq!(report.read.records, lines.lines().count() as u64);
        let (_other, theirs, other) = bank_of(lines.as_bytes(), Format::JsonLines);
        prop_assert_eq!(exported(&ours), exported(&theirs));
        prop_assert_eq!(report.counts.superseded, other.counts.superseded);
        prop_assert_eq!(report.aliases, other.aliases);
        let (_wat, theirs, described) = bank_of(&wat::records(&captures).concat(), AUTO);
        prop_assert_eq!(exported(&ours), exported(&theirs));
        prop_assert_eq!(&report.read.dropped_outlinks, &described.read.dropped_outlinks);
    }
}

#[test]
fn each_status_has_its_meaning() {
    let a = "http://a.example/";
    let of = |status, location| Capture::answered(a, status, location);
    for (capture, says) in [
        (of(301, Some("/b")), "redirect"),
        (of(399, Some("//b.example/")), "redirect"),
        (of(302, Some("#top")), "leads_nowhere"),
        (of(302, Some("mailto:x@a.example")), "leads_nowhere"),
        (of(302, None), "other_status"),
        (of(304, None), "other_status"),
        (of(410, None), "gone"),
        (of(404, Some("/b")), "gone"),
        (of(403, None), "failed"),
        (of(503, None), "failed"),
        (of(203, None), "crawled"),
    ] {
        let (summary, events) = good(&records(std::slice::from_ref(&capture), 0));
        let told = match &events[..] {
            [] => {
                let mut reasons = summary.passed_over.keys();
                let reason = reasons.find(|reason| **reason != SkipReason::NoResponse);
                reason.unwrap().to_string()
            }
            [(Position::Record(3), Event::Record(record))] if record.gone => "gone".to_owned(),
            [(_, Event::Record(record))] if record.alias.is_some() => "redirect".to_owned(),
            [(_, Event::Record(record))] if record.is_only_failures() => "failed".to_owned(),
            [(_, Event::Record(record))] => {
                // A PDF: nothing is said of its links.
                assert!(record.outlinks.is_none() && record.digest.is_some());
                "crawled".to_owned()
            }
            _ => panic!("{events:?}"),
        };
        assert_eq!(told, says, "{capture:?}");
    }
}

#[test]
fn links_that_are_not_to_be_followed_go_only_where_that_is_asked() {
    let mut captures = vec![Capture::of("http://a.example/", &["/b", "/c"])];
    captures[0].html.as_mut().unwrap().links[0] = Link {
        rel: Some("external NOFOLLOW"),
        ..Link::to("/b")
    };
    for robots in ["noindex", "noindex,nofollow", "NONE"] {
        let mut capture = Capture::of("http://a.example/d", &["/b", "/c"]);
        capture.html.as_mut().unwrap().robots = Some(robots.to_owned());
        captures.push(capture);
    }
    let file = members(&records(&captures, 0));
    let links = |format: &Format| {
        let (summary, events) = read(&file, format);
        let links = events.iter().map(|(_, event)| match event {
            Event::Record(record) => record.outlinks.as_ref().unwrap().len(),
            _ => panic!("{event:?}"),
        });
        (links.collect::<Vec<_>>(), summary.unwrap().dropped_outlinks)
    };
    assert_eq!(links(&AUTO), (vec![2, 2, 2, 2], [].into()));
    let nofollow = Nofollow::Drop;
    for format in [Format::Warc { nofollow }, Format::Auto { nofollow }] {
        let dropped = [(DropReason::Nofollow, 5)].into();
        assert_eq!(links(&format), (vec![1, 2, 0, 0], dropped));
    }
}

#[test]
fn records_that_say_nothing_are_passed_over() {
    let html = "Content-Type: application/http\r\n";
    let http = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/b>";
    let a = of("http://a.example/", DATE);
    let with = |kind: &str, fields: &str| record(kind, &(a.clone() + fields), http);
    let of_url = |url: &str| record("response", &(of(url, DATE) + html), http);
    for (record, reason) in [
        (with("request", html), SkipReason::NoResponse),
        (
            with("resource", "Content-Type: text/html\r\n"),
            SkipReason::NoResponse,
        ),
        (
            with("conversion", "Content-Type: text/plain\r\n"),
            SkipReason::NoResponse,
        ),
        (with("metadata", html), SkipReason::NoResponse),
        (
            with("response", "Content-Type: text/dns\r\n"),
            SkipReason::NoResponse,
        ),
        (
            with("continuation", "WARC-Segment-Number: 2\r\n"),
            SkipReason::Continuation,
        ),
        (
            with("response", "WARC-Segment-Number: 3\r\n"),
            SkipReason::Continuation,
        ),
        (of_url("dns:a.example"), SkipReason::OtherScheme),
        (of_url("ftp://a.example/"), SkipReason::OtherScheme),
        (
            answer("http://a.example/", "ICY 200 OK\n", b""),
            SkipReason::NoStatus,
        ),
        (
            notes("http://a.example/", "fetchTimeMs: 7\noutlink: \n"),
            SkipReason::NoResponse,
        ),
        (
            notes("dns:a.example", "outlink: http://b.example/ L a/@href\n"),
            SkipReason::NoResponse,
        ),
    ] {
        let shown = String::from_utf8_lossy(&record).into_owned();
        let request = with("request", html);
        let (summary, events) = good(&[warcinfo(), request, record]);
        assert!(events.is_empty(), "{shown}");
        let mut expected = std::collections::BTreeMap::from([(SkipReason::NoResponse, 2)]);
        *expected.entry(reason).or_default() += 1;
        assert_eq!(summary.passed_over, expected, "{shown}");
    }
}

#[test]
fn bad_records_are_refused_by_their_numbers() {
    let http = b"HTTP/1.1 200 OK\r\n\r\n";
    for (fields, reason) in [
        (
            "WARC-Date: 2024-05-18T01:58:10Z\r\n".to_owned(),
            RejectReason::MissingUrl,
        ),
        (of("", DATE), RejectReason::EmptyUrl),
        (of("/x", DATE), RejectReason::RelativeUrl),
        (of("http://", DATE), RejectReason::UrlWithoutHost),
        (
            of("http://a.example/", "yesterday"),
            RejectReason::InvalidTimestamp,
        ),
    ] {
        let file = [
            warcinfo(),
            record("response", &fields, http),
            page("http://b.example/", ""),
        ];
        let (summary, events) = good(&file);
        assert_eq!(summary.rejects, [(reason, 1)].into(), "{fields}");
        assert!(
            matches!(&events[..], [(Position::Record(2), Event::Rejected(reject)), (Position::Record(3), Event::Record(_))]
                if reject.record.starts_with("WARC/1.0\r\nWARC-Type: response")),
            "{events:?}"
        );
    }
    // As some old writers have it.
    let fields = of("<http://a.example/x>", DATE);
    assert_eq!(
        one(&[record("response", &fields, http)]).0,
        "http://a.example/x"
    );
}

#[test]
fn what_is_no_html_says_nothing_of_links() {
    let links = |http: &str, body: &[u8]| one(&[answer("http://a.example/", http, body)]).1;
    let b = Some(vec!["http://a.example/b".to_owned()]);
    for (kind, body, found) in [
        ("Content-Type: text/html\n", "<a href=/b>", &b),
        ("Content-Type: text/HTML;charset=x\n", "<a href=/b>", &b),
        (
            "Content-Type: application/xhtml+xml\n",
            "<a href='/b'/>",
            &b,
        ),
        ("Content-Type: text/plain\n", "<a href=/b>", &None),
        ("Content-Type: text/xml\n", "<a href=/b>", &None),
        ("", " <a href=/b>", &b),
        ("Content-Type: \n", "<html><a href=/b>", &b),
        ("", "text <a href=/b>", &None),
        ("Content-Type: text/html\n", "", &Some(vec![])),
        (
            "Content-Type: text/html\nContent-Encoding: compress\n",
            "\u{1}\u{2}",
            &None,
        ),
        (
            "Content-Type: text/html\nContent-Encoding: br\n",
            "\u{1}\u{2}",
            &None,
        ),
    ] {
        assert_eq!(
            &links(&format!("HTTP/1.1 200 OK\n{kind}"), body.as_bytes()),
            found,
            "{kind}{body}"
        );
    }
    for (coding, reason) in [("compress", Unread::Coding), ("br", Unread::Damaged)] {
        let http =
            format!("HTTP/1.1 200 OK\nContent-Encoding: {coding}\nContent-Type: text/html\n");
        let unread = answer("http://a.example/", &http, b"\x01\x02");
        assert_eq!(good(&[unread]).0.unread, [(reason, 1)].into());
    }
}

#[test]
fn long_pages_are_read_to_sixteen_mebibytes_and_films_not_at_all() {
    let long = format!("<a href=/b>{}<a href=/c>", " ".repeat(16 << 20));
    let film = [nasty(true), vec![b'\n'; 17 << 20]].concat();
    let film = answer(
        "http://a.example/film",
        "HTTP/1.1 200 OK\nContent-Type: video/mp4\n",
        &film,
    );
    let records = [
        warcinfo(),
        page("http://a.example/long", &long),
        film,
        page("http://a.example/z", "<a href=/c>"),
    ];
    let (summary, events) = good(&records);
    assert_eq!((summary.records, summary.rejected()), (3, 0));
    assert_eq!(summary.unread, [(Unread::CutOff, 1)].into());
    let links = events.iter().map(|(_, event)| match event {
        Event::Record(record) => record.outlinks.as_ref().map(Vec::len),
        _ => panic!("{event:?}"),
    });
    assert_eq!(links.collect::<Vec<_>>(), [Some(1), None, Some(1)]);
    // The first segment of a page, and one that its crawler cut off.
    for more in ["WARC-Segment-Number: 1\r\n", "WARC-Truncated: length\r\n"] {
        let fields = of("http://a.example/", DATE) + "Content-Type: application/http\r\n" + more;
        let first = record(
            "response",
            &fields,
            b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n<a href=/b>",
        );
        let (summary, events) = good(&[first]);
        assert_eq!(
            (events.len(), summary.unread),
            (1, [(Unread::CutOff, 1)].into())
        );
    }
}

#[test]
fn a_page_that_is_visited_again_keeps_its_links() {
    let visited = |http: &str, date: &str, digest: &str| {
        let fields = of("http://a.example/", date)
            + "Content-Type: application/http; msgtype=response\r\nWARC-Profile: http://netpreserve.org/warc/1.0/revisit/identical-payload-digest\r\n"
            + &format!("WARC-Payload-Digest: {digest}\r\n");
        record("revisit", &fields, http.as_bytes())
    };
    let folder = support::scratch();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    let ingest = |bytes: &[u8]| {
        let path = folder.path().join("input");
        fs::write(&path, bytes).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(path)],
            format: AUTO,
            as_of: AS_OF,
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
        String::from_utf8(exported(&bank)).unwrap()
    };
    ingest(&page("http://a.example/", "<a href=/b>"));
    let digest = |text: &str| {
        text.split("\"digest\":\"")
            .nth(1)
            .map(|rest| rest[..40].to_owned())
    };
    let mut last = None;
    for (http, given, date) in [
        (
            "HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n",
            "sha1:A",
            "2024-05-19",
        ),
        ("", "sha1:B", "2024-05-20"),
        ("HTTP/1.1 304 Not Modified\r\n\r\n", "sha1:C", "2024-05-21"),
    ] {
        let again = visited(http, &format!("{date}T00:00:00Z"), given);
        let (_, events) = good(std::slice::from_ref(&again));
        assert!(matches!(&events[..], [(_, Event::Record(record))] if record.fetched.is_some()));
        let told = ingest(&again);
        assert!(told.contains("http://a.example/b"), "{told}");
        assert!(digest(&told).is_some() && digest(&told) != last, "{told}");
        last = digest(&told);
    }
    let told = ingest(&visited(
        "HTTP/1.1 503 Busy\r\n\r\n",
        "2024-05-22T00:00:00Z",
        "sha1:D",
    ));
    assert_eq!(digest(&told), last, "{told}");
    let told = ingest(&visited(
        "HTTP/1.1 404 No\r\n\r\n",
        "2024-05-23T00:00:00Z",
        "sha1:D",
    ));
    assert!(told.contains("\"gone\":true"), "{told}");
}

#[test]
fn notes_and_their_answer_are_one_record_in_either_order() {
    let a = "http://a.example/";
    let noted = notes(
        a,
        "via: http://x.example/\noutlink: http://a.example/n L a/@href\nOutlink: http://c.example/ L area/@href\n\
         outlink: http://a.example/i.png E img/@src\noutlink: http://a.example/ L =\noutlink: http://r.example/ R Location:\n",
    );
    let links = |of: &[&str]| Some(of.iter().map(|url| (*url).to_owned()).collect::<Vec<_>>());
    let both = links(&["http://a.example/n", "http://c.example/"]);
    let html = page(a, "<a href=/b>");
    let pdf = answer(
        a,
        "HTTP/1.1 200 OK\nContent-Type: application/pdf\n",
        b"%PDF",
    );
    let revisit = record("revisit", &of(a, DATE), b"");
    let request = record("request", &of(a, DATE), b"GET / HTTP/1.1\r\n\r\n");
    for (answer, found) in [
        (&html, links(&["http://a.example/b"])),
        (&pdf, both.clone()),
        (&revisit, both.clone()),
    ] {
        for file in [
            [answer.clone(), request.clone(), noted.clone()],
            [noted.clone(), request.clone(), answer.clone()],
            [request.clone(), answer.clone(), noted.clone()],
        ] {
            assert_eq!(one(&file), (a.to_owned(), found.clone()));
            let (summary, _) = good(&file);
            let passed = [(SkipReason::NoResponse, 1), (SkipReason::BesideResponse, 1)];
            assert_eq!(summary.passed_over, passed.into());
        }
    }
    // An answer that says nothing of its page, that it failed, or that it is gone, is not spoken against.
    let same = answer(a, "HTTP/1.1 304 No\n", b"");
    assert!(good(&[same, noted.clone()]).1.is_empty());
    let down = answer(a, "HTTP/1.1 503 No\n", b"");
    let (_, events) = good(&[down, noted.clone()]);
    assert!(matches!(&events[..], [(_, Event::Record(record))] if record.failures.is_some()));
    let gone = answer(a, "HTTP/1.1 404 No\n", b"");
    let (_, events) = good(&[noted.clone(), gone]);
    assert!(matches!(&events[..], [(_, Event::Record(record))] if record.gone));
    // Alone they say what they know; one without links says nothing.
    assert_eq!(one(&[warcinfo(), noted.clone()]), (a.to_owned(), both));
    let other = page("http://b.example/", "");
    let far = |first: &Vec<u8>, last: &Vec<u8>| {
        let file = [first.clone(), other.clone(), last.clone()].concat();
        exported(&bank_of(&file, WARC).1)
    };
    assert_eq!(far(&html, &noted), far(&noted, &html));
    // Two captures of a page, each with its notes.
    let (summary, events) = good(&[pdf.clone(), noted.clone(), noted.clone(), html.clone()]);
    assert_eq!(
        (events.len(), summary.passed_over),
        (2, [(SkipReason::BesideResponse, 2)].into())
    );
}

#[test]
fn notes_find_their_answer_across_pieces() {
    let filler = format!("<a href=/b>{}", "x".repeat(3_000));
    let mut file = Vec::new();
    let mut turned = Vec::new();
    for n in 0..600 {
        let url = format!("http://a{n}.example/");
        // Of sizes that let pieces end anywhere.
        let pdf = answer(
            &url,
            &format!(
                "HTTP/1.1 200 OK\nContent-Type: application/pdf\nX: {}\n",
                "x".repeat(n * 7 % 997)
            ),
            filler.as_bytes(),
        );
        let request = record("request", &of(&url, DATE), b"GET / HTTP/1.1\r\n\r\n");
        let noted = notes(&url, &format!("outlink: http://b{n}.example/ L a/@href\n"));
        file.extend([pdf.clone(), request.clone(), noted.clone()].concat());
        turned.extend([noted, request, pdf].concat());
    }
    let (_one, ours, report) = bank_of(&file, WARC);
    assert_eq!(report.read.records, 600);
    let (_other, theirs, _) = bank_of(&turned, WARC);
    let text = exported(&ours);
    assert_eq!(text, exported(&theirs));
    let text = String::from_utf8(text).unwrap();
    assert!((0..600).all(|n| text.contains(&format!("[\"http://b{n}.example/\"]"))));
}
