#![expect(
    clippy::unnecessary_wraps,
    reason = "what a line says is compared in the shape in which it is read"
)]

use super::*;
use crate::ingest::entries::LineFormat;
use crate::ingest::formats::json_lines::JsonLines;
use crate::ingest::interner::Interner;
use crate::ingest::location::Naming;
use crate::ingest::record::Event;

/// What a line says, or why it says nothing.
fn read(line: &str) -> Result<Event, String> {
    read_as(PageList::default(), line)
}

fn read_as(list: PageList, line: &str) -> Result<Event, String> {
    let mut parser = PieceParser::new(Naming::default(), Interner::default());
    match list.read(line, &(), &mut parser) {
        Ok(Entry::One(event)) => Ok(event.located(&parser.urls)),
        Ok(Entry::Two(..)) => Err("two records".to_owned()),
        Ok(Entry::Skipped(reason)) => Err(reason.to_string()),
        Err(fault) => Err(fault.reason.to_string()),
    }
}

fn record(line: &str) -> Result<Event, String> {
    let mut parser = PieceParser::new(Naming::default(), Interner::default());
    let event = JsonLines.read(line, &mut parser).unwrap();
    Ok(event.located(&parser.urls))
}

#[test]
fn a_skipped_page_failed_only_if_it_was_asked_for() {
    let skipped = |reason: &str| {
        read(&format!(
            r#"{{"url":"http://a.example/x","seedUrl":"http://a.example/","depth":1,"seed":false,"reason":"{reason}","ts":"2026-11-19T04:00:01.500Z"}}"#
        ))
    };
    let failed = |status: &str| {
        record(&format!(
            r#"{{"url":"http://a.example/x","status":"{status}","fetched":"2026-11-19T04:00:01.500Z","seed":"http://a.example/","depth":1}}"#
        ))
    };
    assert_eq!(skipped("robotsTxt"), failed("robots"));
    assert_eq!(skipped("rateLimited"), failed("other"));
    assert_eq!(skipped("failed"), failed("other"));
    for decision in [
        "outOfScope",
        "outOfScopeMidCrawl",
        "outOfScopeUserExclusion",
        "pageLimit",
        "redirectToExcluded",
        "duplicate",
        "a later version's",
    ] {
        assert_eq!(
            skipped(decision),
            Err("other_status".to_owned()),
            "{decision}"
        );
    }
}

#[test]
fn a_page_that_was_loaded_has_its_status() {
    let loaded = |more: &str| {
        read(&format!(
            r#"{{"id":"4b","url":"http://a.example/","title":"A","ts":"2026-11-19T04:00:00.000Z","seed":true,"depth":0{more}}}"#
        ))
    };
    let fetched = |more: &str| {
        record(&format!(
            r#"{{"url":"http://a.example/","fetched":"2026-11-19T04:00:00.000Z","seed":true,"depth":0{more}}}"#
        ))
    };
    for more in [
        r#","loadState":4,"status":200"#,
        r#","loadState":1,"status":206"#,
        // Versions that wrote no status, or only the text.
        r#","loadState":2"#,
        r#","text":"A","size":1256"#,
        r#","status":null"#,
    ] {
        assert_eq!(loaded(more), fetched(r#","status":200"#), "{more}");
    }
    let gone = r#","gone":true"#;
    assert_eq!(loaded(r#","loadState":0,"status":404"#), fetched(gone));
    assert_eq!(loaded(r#","loadState":2,"status":410"#), fetched(gone));
    let status = r#","status":503"#;
    assert_eq!(loaded(r#","loadState":2,"status":503"#), fetched(status));
    let other = r#","status":"other""#;
    assert_eq!(loaded(r#","loadState":0"#), fetched(other));
    // Where a redirect leads is not written.
    for status in ["0", "301", "304"] {
        let said = loaded(&format!(r#","status":{status}"#));
        assert_eq!(said, Err("other_status".to_owned()), "{status}");
    }
}

#[test]
fn what_is_no_page_is_skipped_and_what_is_wrong_is_rejected() {
    let header =
        r#"{"format":"json-pages-1.0","id":"pages","title":"Skipped Pages","hasText":"false"}"#;
    for (line, said) in [
        (header, "no_page"),
        (r#"{"url":"about:blank","reason":"failed"}"#, "no_page"),
        (r#"{"url":"urn:pageinfo:x"}"#, "no_page"),
        (r#"{"id":"pages"}"#, "missing_url"),
        (r#"{"url":"http://"}"#, "url_without_host"),
        (r#"{"url":7}"#, "wrong_type"),
        (
            r#"{"url":"http://a.example/","url":"http://b.example/"}"#,
            "duplicate_field",
        ),
        (r#"["http://a.example/"]"#, "not_an_object"),
        ("http://a.example/", "invalid_json"),
    ] {
        assert_eq!(read(line), Err(said.to_owned()), "{line}");
    }
    // A field that cannot be read is dropped; the record stays.
    for field in [
        r#""ts":"soon""#,
        r#""ts":1"#,
        r#""reason":7"#,
        r#""status":"200""#,
        r#""loadState":-1"#,
    ] {
        let line = format!(r#"{{"url":"http://a.example/",{field}}}"#);
        assert!(read(&line).is_ok(), "{line}");
    }
}

#[test]
fn beside_responses_only_pages_without_one_are_read() {
    for (more, is_read) in [
        (r#""reason":"robotsTxt""#, true),
        (r#""loadState":0"#, true),
        (r#""reason":"rateLimited""#, false),
        (r#""loadState":0,"status":503"#, false),
        (r#""loadState":4"#, false),
        (r#""status":200"#, false),
        (r#""status":404"#, false),
    ] {
        let line = format!(r#"{{"url":"http://a.example/x",{more}}}"#);
        let expected = if is_read {
            read(&line)
        } else {
            Err("beside_response".to_owned())
        };
        assert!(read(&line).is_ok(), "{line}");
        assert_eq!(
            read_as(PageList::beside_responses(), &line),
            expected,
            "{line}"
        );
    }
}
