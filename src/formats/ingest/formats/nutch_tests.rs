#![expect(
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    clippy::too_many_lines,
    reason = "what a record says is compared in the shape in which it is read"
)]

use super::*;
use crate::ingest::entries::{Entry, EntryFormat, LineFormat};
use crate::ingest::formats::json_lines::JsonLines;
use crate::ingest::interner::Interner;

use crate::ingest::location::Naming;
use crate::ingest::piece_parser::PieceParser;
use crate::ingest::record::Event;
use crate::ingest::summary::{RejectReason, SkipReason};

type Said = Result<Result<Event, SkipReason>, RejectReason>;

/// A page of the database, as `readdb -dump -format csv` and `json` write it.
struct Page<'a> {
    url: &'a str,
    status: (u8, &'a str),
    due: &'a str,
    interval: u32,
    signature: &'a str,
    protocol: &'a str,
}

const PAGE: Page<'static> = Page {
    url: "http://a.example/",
    status: (2, "db_fetched"),
    due: "Sat Dec 19 04:00:00 UTC 2026",
    interval: 2_592_000,
    signature: "9f86d081884c7d659a2feaa0c55ad015",
    protocol: "success(1), lastModified=0",
};

impl Page<'_> {
    fn csv(&self) -> String {
        let Self {
            url,
            status: (code, name),
            due,
            interval,
            signature,
            protocol,
        } = self;
        let days = interval / 86_400;
        format!(
            "\"{url}\",{code},\"{name}\",{due},Thu Jan 01 00:00:00 UTC 1970,0,{interval}.0,{days}.0,1.0,\"{signature}\",\"_pst_:{protocol}|||Content-Type:text/html|||\""
        )
    }

    fn json(&self) -> String {
        let Self {
            url,
            status: (code, name),
            due,
            interval,
            signature,
            protocol,
        } = self;
        let days = interval / 86_400;
        format!(
            r#"{{"url": "{url}", "statusCode": {code}, "statusName": "{name}", "fetchTime": "{due}", "modifiedTime": "Thu Jan 01 00:00:00 UTC 1970", "retriesSinceFetch": 0, "retryIntervalSeconds": {interval}, "retryIntervalDays": {days}, "score": 1.0, "signature": "{signature}", "metadata": {{"_pst_": "{protocol}", "Content-Type": "text/html"}}}}"#
        )
    }
}

fn read<F: EntryFormat<Context = ()>>(format: F, line: &str) -> Said {
    let mut parser = PieceParser::new(Naming::default(), Interner::default());
    match format.read(line, &(), &mut parser) {
        Ok(Entry::One(event)) => Ok(Ok(event.located(&parser.urls))),
        Ok(Entry::Skipped(reason)) => Ok(Err(reason)),
        Ok(Entry::Two(..)) => panic!("a page says one thing"),
        Err(fault) => Err(fault.reason),
    }
}

/// What both forms say of a page.
fn said(page: &Page<'_>) -> Said {
    let json = read(Json, &page.json());
    assert_eq!(read(Csv, &page.csv()), json, "{}", page.json());
    json
}

fn record(json: &str) -> Said {
    let mut parser = PieceParser::new(Naming::default(), Interner::default());
    let event = JsonLines.read(json, &mut parser).unwrap();
    Ok(Ok(event.located(&parser.urls)))
}

#[test]
fn a_status_says_what_the_page_is() {
    let fetched = record(
        r#"{"url": "http://a.example/", "fetched": "2026-11-19T04:00:00Z", "digest": "9f86d081884c7d659a2feaa0c55ad015"}"#,
    );
    for name in ["db_fetched", "db_notmodified", "db_duplicate"] {
        assert_eq!(
            said(&Page {
                status: (2, name),
                ..PAGE
            }),
            fetched,
            "{name}"
        );
    }
    let bare = record(r#"{"url": "http://a.example/", "fetched": "2026-11-19T04:00:00Z"}"#);
    assert_eq!(
        said(&Page {
            status: (9, "db_parse_failed"),
            ..PAGE
        }),
        bare
    );
    assert_eq!(
        said(&Page {
            signature: "null",
            ..PAGE
        }),
        bare
    );
    let known = record(r#"{"url": "http://a.example/"}"#);
    for name in ["db_unfetched", "db_orphan"] {
        assert_eq!(
            said(&Page {
                status: (1, name),
                ..PAGE
            }),
            known,
            "{name}"
        );
    }
    let gone =
        record(r#"{"url": "http://a.example/", "gone": true, "fetched": "2026-11-19T04:00:00Z"}"#);
    let failed = |status: &str| {
        let line = format!(
            r#"{{"url": "http://a.example/", "status": {status}, "fetched": "2026-11-19T04:00:00Z"}}"#
        );
        record(&line)
    };
    for (protocol, is) in [
        (
            "notfound(14), lastModified=0: http://a.example/",
            gone.clone(),
        ),
        ("gone(11), lastModified=0: http://a.example/", gone),
        ("robots_denied(18), lastModified=0", failed("\"robots\"")),
        (
            "exception(16), lastModified=0: java.net.UnknownHostException: a",
            failed("\"dns\""),
        ),
        (
            "exception(16), lastModified=0: Http code=503, url=http://a.example/",
            failed("503"),
        ),
        (
            "exception(16), lastModified=0: java.net.SocketTimeoutException: Read timed out",
            failed("\"timeout\""),
        ),
        (
            "exception(16), lastModified=0: java.lang.Exception",
            failed("\"other\""),
        ),
        ("access_denied(17), lastModified=0", failed("\"other\"")),
        (
            "blocked(23), lastModified=0",
            Ok(Err(SkipReason::OtherStatus)),
        ),
    ] {
        let page = Page {
            status: (3, "db_gone"),
            protocol,
            ..PAGE
        };
        assert_eq!(said(&page), is, "{protocol}");
    }
    let alias = record(
        r#"{"url": "http://a.example/", "redirect": "https://a.example/?x=1", "fetched": "2026-11-19T04:00:00Z"}"#,
    );
    for (protocol, is) in [
        (
            "moved(12), lastModified=0: https://a.example/?x=1",
            alias.clone(),
        ),
        (
            "temp_moved(13), lastModified=1795060800000: https://a.example/?x=1",
            alias,
        ),
        (
            "moved(12), lastModified=0: http://a.example/",
            Ok(Err(SkipReason::LeadsNowhere)),
        ),
        (
            "moved(12), lastModified=0",
            Ok(Err(SkipReason::OtherStatus)),
        ),
        (
            "success(1), lastModified=0",
            Ok(Err(SkipReason::OtherStatus)),
        ),
    ] {
        for name in ["db_redir_perm", "db_redir_temp"] {
            let page = Page {
                status: (5, name),
                protocol,
                ..PAGE
            };
            assert_eq!(said(&page), is, "{protocol}");
        }
    }
    assert_eq!(
        said(&Page {
            status: (66, "injected"),
            ..PAGE
        }),
        Err(RejectReason::WrongType)
    );
    assert_eq!(
        said(&Page {
            url: "ftp://a.example/",
            ..PAGE
        }),
        Err(RejectReason::UrlScheme)
    );
    let page = Page {
        due: "yesterday",
        ..PAGE
    };
    assert!(matches!(said(&page), Ok(Ok(_))));
    // Due at the beginning of time, so that nothing is said of a fetch.
    let page = Page {
        due: "Thu Jan 01 00:00:00 UTC 1970",
        signature: "null",
        ..PAGE
    };
    let mut crawled = record(r#"{"url": "http://a.example/"}"#);
    if let Ok(Ok(Event::Record(record))) = &mut crawled {
        record.crawled = true;
    }
    assert_eq!(said(&page), crawled);
}

#[test]
fn lines_that_are_none_are_bad() {
    let header = "Url,Status code,Status name,Fetch Time,Modified Time,Retries since fetch,Retry interval seconds,Retry interval days,Score,Signature,Metadata";
    assert_eq!(read(Csv, header), Ok(Err(SkipReason::NoPage)));
    for line in [
        "",
        "http://a.example/,2",
        "\"http://a.example/\",2,\"db_fetched\"",
    ] {
        assert_eq!(read(Csv, line), Err(RejectReason::Columns), "{line}");
    }
    // Java has seconds from ten million on with an exponent.
    let long = PAGE
        .csv()
        .replace("2592000.0", "1.5552E7")
        .replace("Sat Dec 19", "Tue May 18")
        .replace("2026", "2027");
    let fetched = record(
        r#"{"url": "http://a.example/", "fetched": "2026-11-19T04:00:00Z", "digest": "9f86d081884c7d659a2feaa0c55ad015"}"#,
    );
    assert_eq!(read(Csv, &long), fetched);
    for (line, reason) in [
        ("{", RejectReason::InvalidJson),
        ("{}", RejectReason::MissingUrl),
        (r#"{"url": "http://a.example/"}"#, RejectReason::MissingType),
    ] {
        assert_eq!(read(Json, line), Err(reason), "{line}");
    }
    let without = PAGE.json();
    let at = without.find("\"metadata\"").unwrap();
    let without = format!("{}\"metadata\": \"\"}}", &without[..at]);
    assert_eq!(read(Json, &without), fetched);
}
