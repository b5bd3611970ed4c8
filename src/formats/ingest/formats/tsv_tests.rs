use super::*;
use crate::ingest::interner::Interner;
use crate::ingest::location::{Location, SiteMode, UrlRules, parse};
use crate::ingest::summary::{DropReason, Position, ReadSummary};

fn at(url: &str) -> Location {
    parse(url, SiteMode::Host.with(UrlRules::Whatwg)).unwrap()
}

fn read(reader: &dyn LineFormat, line: &str) -> (Result<Event, RejectReason>, ReadSummary) {
    let mut parser = PieceParser::new(SiteMode::Host.with(UrlRules::Whatwg), Interner::default());
    let event = reader.read(line, &mut parser);
    let event = event.map(|event| event.located(&parser.urls));
    (event.map_err(|fault| fault.reason), parser.summary)
}

fn link(line: &str) -> (Result<Event, RejectReason>, ReadSummary) {
    read(&LinksTsv, line)
}

fn attributes(line: &str) -> Result<PageAttributes, RejectReason> {
    match read(&PagesTsv, line).0 {
        Ok(Event::Page(page)) => Ok(page),
        Ok(other) => panic!("{other:?}"),
        Err(reason) => Err(reason),
    }
}

#[test]
fn links_come_in_pieces() {
    let from = at("http://a.example/");
    let named = Ok(Event::Page(PageAttributes::named(from.clone())));
    let to = at("https://b.example/x");
    let (event, summary) = link("http://A.example#top\t https://b.example/x");
    assert_eq!(event, Ok(Event::Link { from, to }));
    assert_eq!(summary, ReadSummary::default());

    let (event, summary) = link("http://a.example/\thttp://a.example/#x");
    assert_eq!((event, summary.self_links), (named.clone(), 1));

    let (event, summary) = link("http://a.example/\tmailto:x@y.example");
    assert_eq!(event, named);
    assert_eq!(summary.dropped_outlinks[&DropReason::Scheme], 1);

    let (event, summary) = link("http://a.example/\t");
    assert_eq!(event, named);
    assert_eq!(summary.dropped_outlinks[&DropReason::Empty], 1);
}

#[test]
fn bad_lines_of_links() {
    for (line, reason) in [
        ("http://a.example/", RejectReason::Columns),
        ("http://a.example/ http://b.example/", RejectReason::Columns),
        ("http://a.example/\tb\tc", RejectReason::Columns),
        ("/x\thttp://a.example/", RejectReason::RelativeUrl),
        ("from_url\tto_url", RejectReason::RelativeUrl),
        ("\thttp://a.example/", RejectReason::EmptyUrl),
        ("javascript:x()\thttp://a.example/", RejectReason::UrlScheme),
        (
            "http://a.example/\0\thttp://b.example/",
            RejectReason::NulByte,
        ),
    ] {
        let (event, summary) = link(line);
        assert_eq!(event, Err(reason), "{line:?}");
        assert_eq!(summary, ReadSummary::default());
    }
}

#[test]
fn an_empty_attribute_is_absent_and_a_zero_is_given() {
    let mut page = PageAttributes::named(at("http://a.example/"));
    assert_eq!(attributes("http://a.example/\t\t\t"), Ok(page.clone()));
    page.spam = Some(false);
    page.clicks = Some(0);
    page.uncrawled_outlinks = UncrawledOutlinks::Given(0);
    assert_eq!(attributes("http://a.example/\t0\t0\t0"), Ok(page.clone()));
    page.spam = Some(true);
    page.clicks = Some(7);
    page.uncrawled_outlinks = UncrawledOutlinks::Given(1_000_000);
    assert_eq!(attributes("http://a.example/\t1\t7\t1000000"), Ok(page));
}

#[test]
fn bad_lines_of_pages() {
    for (rest, reason) in [
        ("", RejectReason::Columns),
        ("\t0\t0", RejectReason::Columns),
        ("\t0\t0\t0\t0", RejectReason::Columns),
    ] {
        let line = format!("http://a.example/{rest}");
        assert_eq!(attributes(&line), Err(reason), "{line:?}");
    }
    assert_eq!(attributes("x\t0\t0\t0"), Err(RejectReason::RelativeUrl));
}

#[test]
fn bad_attributes_of_pages_count_as_absent() {
    for (rest, reason) in [
        ("\t2\t0\t0", RejectReason::WrongType),
        ("\ttrue\t0\t0", RejectReason::WrongType),
        ("\t0\tx\t0", RejectReason::WrongType),
        ("\t0\t 1\t0", RejectReason::WrongType),
        ("\t0\t-1\t0", RejectReason::NegativeNumber),
        ("\t0\t1.5\t0", RejectReason::FractionalNumber),
        ("\t0\t1e400\t0", RejectReason::NumberTooLarge),
        ("\t0\t0\t1000001", RejectReason::NumberTooLarge),
    ] {
        let mut parser =
            PieceParser::new(SiteMode::Host.with(UrlRules::Whatwg), Interner::default());
        let line = format!("http://a.example/{rest}");
        let event = PagesTsv.read(&line, &mut parser);
        parser.add(Position::Line(1), event, line.as_bytes());
        assert_eq!(parser.summary.bad_fields, [(reason, 1)].into(), "{line:?}");
        assert!(matches!(
            &parser.events[..],
            [(_, Event::BadField(_)), (_, Event::Page(_))]
        ));
    }
}
