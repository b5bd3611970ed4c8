#![expect(
    clippy::unnecessary_wraps,
    reason = "what a record says is compared in the shape in which it is read"
)]

use super::*;
use crate::ingest::entries::LineFormat;
use crate::ingest::fetch::mark_crawled;
use crate::ingest::formats::json_lines::JsonLines;
use crate::ingest::interner::Interner;
use crate::ingest::location::Naming;
use crate::ingest::record::Event;
use crate::ingest::summary::RejectReason;

const SHA1: &str = "3I42H3S6NNFQ2MSVX7XZKYAYSCX5QBYJ";

fn parser() -> PieceParser {
    PieceParser::new(Naming::default(), Interner::default())
}

/// What a line says after those before it.
fn read(lines: &str) -> Result<Result<Event, SkipReason>, RejectReason> {
    let mut parser = parser();
    let mut header = Header::default();
    let mut said = Ok(Err(SkipReason::NoPage));
    for line in lines.split('\n') {
        said = match Cdx.read(line, &header, &mut parser) {
            Ok(Entry::One(event)) => Ok(Ok(event.located(&parser.urls))),
            Ok(Entry::Skipped(reason)) => Ok(Err(reason)),
            Ok(Entry::Two(..)) => panic!("an entry says one thing"),
            Err(fault) => Err(fault.reason),
        };
        Cdx.update(line.as_bytes(), &mut header);
    }
    said
}

/// What a record of JSON Lines says.
fn record(json: &str) -> Result<Result<Event, SkipReason>, RejectReason> {
    let mut parser = parser();
    let mut event = JsonLines.read(json, &mut parser).unwrap();
    if let Event::Record(record) = &mut event
        && json.contains("fetched")
        && record.redirect.is_none()
        && !record.gone
        && record.failures.is_none()
    {
        mark_crawled(record);
    }
    Ok(Ok(event.located(&parser.urls)))
}

#[test]
fn columns_are_what_the_header_says() {
    let page = format!(
        r#"{{"url": "http://a.example/", "fetched": "20261119040000", "digest": "sha1:{SHA1}"}}"#
    );
    let eleven = format!(
        "example,a)/ 20261119040000 http://a.example/ text/html 200 {SHA1} - - 1043 333 a.warc.gz"
    );
    let nine = format!(
        "example,a)/ 20261119040000 http://a.example/ text/html 200 {SHA1} - 333 a.warc.gz"
    );
    let ten = format!(
        "example,a)/ 20261119040000 http://a.example/ text/html 200 {SHA1} - - 333 a.warc.gz"
    );
    for lines in [
        eleven.clone(),
        ten,
        nine.clone(),
        format!(" CDX N b a m s k r M S V g\n{eleven}"),
        format!("CDX N b a m s k r V g\n{nine}"),
        format!(" CDX a b k s\nhttp://a.example/ 20261119040000 {SHA1} 200"),
        format!("\tCDX\ta\tb\tk\ts\nhttp://a.example/\t20261119040000\t{SHA1}\t200"),
        format!(" CDX N b a m s k r V g\n CDX N b a m s k r M S V g\n{eleven}"),
    ] {
        assert_eq!(read(&lines), record(&page), "{lines}");
    }
    assert_eq!(
        read(" CDX N b a m s k r M S V g"),
        Ok(Err(SkipReason::NoPage))
    );
    assert_eq!(
        read(&format!(" CDX N b a\n{eleven}")),
        Err(RejectReason::Columns)
    );
    assert_eq!(
        read(" CDX N b\na 20261119040000"),
        Err(RejectReason::MissingUrl)
    );
    assert_eq!(
        read("example,a)/ 20261119040000 http://a.example/"),
        Err(RejectReason::Columns)
    );
    // An invalid time is dropped; the record stays.
    assert!(matches!(read(&eleven.replace("2026", "20x6")), Ok(Ok(_))));
    assert_eq!(
        read(&eleven.replace(" 200 ", " ok ")),
        Ok(Err(SkipReason::NoStatus))
    );
    assert_eq!(
        read(&eleven.replace(" 200 ", " - ")),
        Ok(Err(SkipReason::NoStatus))
    );
    let failed = r#"{"url": "http://a.example/", "status": 503, "fetched": "20261119040000"}"#;
    assert_eq!(read(&eleven.replace(" 200 ", " 503 ")), record(failed));
    assert_eq!(
        read(&eleven.replace(" 200 ", " 304 ")),
        Ok(Err(SkipReason::OtherStatus))
    );
    assert_eq!(
        read(&eleven.replace("http://a", "dns:a")),
        Ok(Err(SkipReason::NoPage))
    );
    let gone = r#"{"url": "http://a.example/", "gone": true, "fetched": "20261119040000"}"#;
    assert_eq!(read(&eleven.replace(" 200 ", " 404 ")), record(gone));
    let revisit = eleven.replace("text/html 200", "warc/revisit -");
    let same_kind = page.replace('}', r#", "kind": null}"#);
    assert_eq!(read(&revisit), record(&same_kind));
    let Ok(Ok(Event::Record(script))) = read(&eleven.replace("text/html", "text/javascript"))
    else {
        panic!("a script has a record")
    };
    assert!(script.is_resource() && script.digest.is_none());
    let moved = eleven.replace(" 200 ", " 301 ");
    assert_eq!(read(&moved), Ok(Err(SkipReason::OtherStatus)));
    let moved = moved.replacen(" - ", " /x ", 1);
    let alias = r#"{"url": "http://a.example/", "redirect": "http://a.example/x", "fetched": "20261119040000"}"#;
    assert_eq!(read(&moved), record(alias));
    let itself = moved.replace(" /x ", " / ");
    assert_eq!(read(&itself), Ok(Err(SkipReason::LeadsNowhere)));
}

#[test]
fn json_says_it_by_names() {
    let line = |json: &str| read(&format!("example,a)/ 20261119040000 {json}"));
    let page = record(
        r#"{"url": "http://a.example/", "fetched": "20261119040000", "digest": "sha256:9f"}"#,
    );
    for json in [
        r#"{"url": "http://a.example/", "status": "200", "digest": "sha256:9f", "languages": "eng"}"#,
        r#"{"url": "http://a.example/", "status": 200, "digest": "sha256:9f", "method": "GET"}"#,
    ] {
        assert_eq!(line(json), page, "{json}");
    }
    let revisit = r#"{"url": "http://a.example/", "mime": "warc/revisit", "digest": "sha256:9f", "status": "-"}"#;
    let same_kind = record(
        r#"{"url": "http://a.example/", "fetched": "20261119040000", "digest": "sha256:9f", "kind": null}"#,
    );
    assert_eq!(line(revisit), same_kind);
    let bare = record(r#"{"url": "http://a.example/", "fetched": "20261119040000"}"#);
    for json in [
        r#"{"url": "http://a.example/", "status": "206"}"#,
        r#"{"url": "http://a.example/", "status": "200", "digest": "-"}"#,
    ] {
        assert_eq!(line(json), bare, "{json}");
    }
    let alias = record(
        r#"{"url": "http://a.example/", "fetched": "20261119040000", "redirect": "https://a.example/"}"#,
    );
    let json = r#"{"url": "http://a.example/", "status": "302", "redirect": "https://a.example/"}"#;
    assert_eq!(line(json), alias);
    for (json, reason) in [
        (r#"{"url": "http://a.example/"}"#, SkipReason::NoStatus),
        (
            r#"{"url": "http://a.example/", "status": "302"}"#,
            SkipReason::OtherStatus,
        ),
        (
            r#"{"url": "http://a.example/", "status": "200", "method": "POST"}"#,
            SkipReason::NoPage,
        ),
        (
            r#"{"url": "http://a.example/", "status": "x"}"#,
            SkipReason::NoStatus,
        ),
        (
            r#"{"url": "http://a.example/", "status": 2e2}"#,
            SkipReason::NoStatus,
        ),
        (
            r#"{"url": "urn:pageinfo:http://a.example/", "status": "200"}"#,
            SkipReason::NoPage,
        ),
    ] {
        assert_eq!(line(json), Ok(Err(reason)), "{json}");
    }
    for (json, reason) in [
        ("{", RejectReason::InvalidJson),
        ("{}", RejectReason::MissingUrl),
        (
            r#"{"url": "http://a.example/", "url": "x"}"#,
            RejectReason::DuplicateField,
        ),
        (
            r#"{"url": "/", "status": "200"}"#,
            RejectReason::RelativeUrl,
        ),
    ] {
        assert_eq!(line(json), Err(reason), "{json}");
    }
    assert_eq!(read("!OpenWayback-CDXJ 1.0"), Ok(Err(SkipReason::NoPage)));
    let bad = r#"example,a)/ yesterday {"url": "http://a.example/", "status": "200"}"#;
    assert!(matches!(read(bad), Ok(Ok(_))));
}
