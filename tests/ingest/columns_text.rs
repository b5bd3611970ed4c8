//! Tables as text: what a cell says, where a record of several lines stands, and what a stray quote
//! costs.

use std::fmt::Write as _;

use crate::support::tables::{auto, read};
use seedbank::engine::ingest::Format;
use seedbank::ingest::{Event, Position, RejectReason, UncrawledOutlinks};

#[test]
fn cells_of_a_text_say_what_they_can() {
    let csv = "\u{feff}URL, Spam ,gone,clicks,quality,uncrawled_outlinks,fetched,outlinks\r\n\
        http://a.example/0,TRUE,,007,.5,,,\r\n\
        http://a.example/1, 1 ,False, 3 ,0.50,0,1795060800,http://b.example/  http://c.example/\r\n\
        http://a.example/2,0,0,3e2,1,-0,2026-11-19 04:00,\"[\"\"http://b.example/,\"\", \"\"http://c.example/\"\"]\"\r\n\
        http://a.example/3,,,,,,, \r\n\
        http://a.example/4,,,,,,,[]\r\n\
        http://a.example/5,yes,,,,,,\r\n\
        http://a.example/6,,,many,,,,\r\n\
        http://a.example/7,,,,,,,['http://b.example/']\r\n\
        http://a.example/8,,,,,,,\"[], \"\"gone\"\": true\"\r\n\
        http://a.example/9,,\r\n\
        ,,,,,,,\r\n\
        http://a.example/11,,,,,,,,\r\n";
    let (summary, events) = read(csv.as_bytes(), &Format::named("csv").unwrap());
    let wanted = [
        (RejectReason::InvalidJson, 2),
        (RejectReason::MissingUrl, 1),
        (RejectReason::WrongType, 3),
        (RejectReason::Columns, 2),
    ];
    assert_eq!(summary.unwrap().rejects, wanted.into());
    let pages: Vec<_> = events
        .iter()
        .filter_map(|(at, event)| match event {
            Event::Record(page) => Some((*at, page)),
            _ => None,
        })
        .collect();
    let [
        (Position::Line(3), one),
        (Position::Line(4), two),
        (Position::Line(5), three),
        (Position::Line(6), four),
    ] = &pages[..]
    else {
        panic!("{pages:?}");
    };
    assert_eq!(
        (one.spam, one.clicks, one.uncrawled_outlinks),
        (Some(true), Some(3), UncrawledOutlinks::Given(0))
    );
    assert_eq!((two.spam, two.clicks), (Some(false), Some(300)));
    assert!(one.fetched.is_some() && one.fetched == two.fetched);
    let links = [one, two, three, four].map(|page| page.outlinks.as_ref().map(Vec::len));
    assert_eq!(links, [Some(2), Some(2), None, Some(0)]);
}

#[test]
fn records_over_several_lines_stand_where_they_begin() {
    let csv = "url,digest\n\nhttp://a.example/,\"one\ntwo\n\"\nrelative,\"\n\"\nhttp://b.example/,\"\"\"\"\n \nhttp://c.example/,x";
    let (summary, events) = read(csv.as_bytes(), &auto());
    let summary = summary.unwrap();
    let places: Vec<Position> = events.iter().map(|(at, _)| *at).collect();
    assert_eq!(places, [3, 6, 8, 10].map(Position::Line));
    assert_eq!(
        (summary.records, summary.blank_lines, summary.rejected()),
        (4, 2, 1)
    );
}

#[test]
fn a_stray_quote_costs_its_line() {
    let row = |n: usize| format!("http://a.example/{n},d{n}\n");
    let rows = |range: std::ops::Range<usize>| range.map(row).collect::<String>();
    for (stray, lost) in [
        ("http://x.example/,\"never closed\n", 1),
        ("\"http://x.example/,never closed\n", 1),
        ("http://x.example/,\"closed\" too early\n", 1),
        ("http://x.example/,in \"bare\" cells\n", 0),
    ] {
        let csv = format!(
            "url,digest\n{}{stray}{}",
            rows(0..20_000),
            rows(20_000..60_000)
        );
        let (summary, events) = read(csv.as_bytes(), &auto());
        let summary = summary.unwrap();
        assert_eq!(
            (summary.records, summary.rejected()),
            (60_001, lost),
            "{stray}"
        );
        let refused = events
            .iter()
            .find(|(_, event)| matches!(event, Event::Rejected(_)));
        if let Some((at, Event::Rejected(reject))) = refused {
            assert_eq!(
                (*at, reject.reason),
                (Position::Line(20_002), RejectReason::Quotes)
            );
            assert_eq!(reject.record, stray.trim_end());
        }
        assert_eq!(refused.is_some(), lost > 0);
    }
}

#[test]
fn records_of_json_are_no_table_whatever_they_say() {
    let lines = "{\"url\": \"http://a.example/\", \"title\": \"html, url, css\"}\n\
        {\"url\": \"http://b.example/\", \"title\": \"x, y, z\"}\n";
    let (summary, events) = read(lines.as_bytes(), &auto());
    let summary = summary.unwrap();
    assert_eq!((summary.records, summary.rejected()), (2, 0));
    let records = events.iter();
    assert!(
        records
            .clone()
            .all(|(_, event)| matches!(event, Event::Record(_)))
    );
}

#[test]
fn byte_order_marks_within_a_text_are_no_matter_of_where_it_is_cut() {
    // More rows than a piece has, each of which begins with a mark: none is a URL.
    let mut csv = "url,clicks\n".to_owned();
    for row in 0..20_000 {
        writeln!(csv, "\u{feff}http://a.example/{row},1").unwrap();
    }
    let (summary, _) = read(csv.as_bytes(), &Format::named("csv").unwrap());
    // Reading ends where most records are bad.
    if let Ok(summary) = summary {
        assert_eq!(summary.rejected(), summary.records);
    }
}

#[test]
fn quotes_that_never_close_cost_no_more_than_some_looks() {
    // Each line ends in a quote that the next one closes with text behind it.
    let mut csv = "url,digest\n".to_owned();
    for row in 0..60_000 {
        writeln!(csv, "http://a.example/{row},\"x").unwrap();
    }
    csv.push_str("http://b.example/,y\n");
    let (summary, events) = read(csv.as_bytes(), &Format::named("csv").unwrap());
    assert!(summary.is_err() || matches!(events.last(), Some((_, Event::Record(_)))));
}
