#![expect(
    clippy::unnecessary_wraps,
    clippy::needless_pass_by_value,
    reason = "what a record says is compared in the shape in which it is read"
)]

use super::*;
use crate::ingest::entries::LineFormat;
use crate::ingest::formats::json_lines::JsonLines;
use crate::ingest::interner::Interner;
use crate::ingest::location::Naming;

fn line(status: &str, url: &str, path: &str, via: &str) -> String {
    format!(
        "2026-11-19T04:00:01.123Z {status:>5}       1299 {url} {path} {via} text/html #014 20261119040000574+225 sha1:YIUOKDGOLGI5JYHDTXRFFQ5FF4N2EJRV - -"
    )
}

/// What a line says, as events and what it is passed over for.
fn read(format: impl EntryFormat<Context = ()>, line: &str) -> Result<Vec<Event>, String> {
    let mut parser = PieceParser::new(Naming::default(), Interner::default());
    let said = format.read(line, &(), &mut parser);
    let at = |event: Event<UrlNumber>| event.located(&parser.urls);
    match said {
        Ok(Entry::One(event)) => Ok(vec![at(event)]),
        Ok(Entry::Two(first, second)) => Ok(vec![at(first), at(second)]),
        Ok(Entry::Skipped(reason)) => Err(reason.to_string()),
        Err(fault) => Err(fault.reason.to_string()),
    }
}

fn records(lines: &[&str]) -> Result<Vec<Event>, String> {
    let read = |line: &&str| {
        let mut parser = PieceParser::new(Naming::default(), Interner::default());
        let event = JsonLines.read(line, &mut parser).unwrap();
        event.located(&parser.urls)
    };
    Ok(lines.iter().map(read).collect())
}

#[test]
fn a_line_says_what_became_of_its_page() {
    let page = r#"{"url": "http://b.example/", "fetched": "2026-11-19T04:00:00.574Z", "digest": "sha1:YIUOKDGOLGI5JYHDTXRFFQ5FF4N2EJRV"}"#;
    let gone =
        r#"{"url": "http://b.example/", "gone": true, "fetched": "2026-11-19T04:00:00.574Z"}"#;
    let alias = r#"{"url": "http://a.example/", "redirect": "http://b.example/", "fetched": "2026-11-19T04:00:00.574Z"}"#;
    let of = |status, path, via| read(CrawlLog, &line(status, "http://b.example/", path, via));
    let passed = |reason: &str| Err(reason.to_owned());
    assert_eq!(of("200", "LL", "http://a.example/"), records(&[page]));
    assert_eq!(of("200", "-", "-"), records(&[page]));
    assert_eq!(of("404", "L", "http://a.example/"), records(&[gone]));
    assert_eq!(
        of("200", "LR", "http://a.example/"),
        records(&[alias, page])
    );
    // What it led to was not fetched, or leads on.
    assert_eq!(of("-5000", "R", "http://a.example/"), records(&[alias]));
    assert_eq!(of("302", "RR", "http://a.example/"), records(&[alias]));
    assert_eq!(of("200", "LR", "http://b.example/#x"), records(&[page]));
    assert_eq!(of("200", "LR", "-"), records(&[page]));
    for (status, path, reason) in [
        ("302", "L", "other_status"),
        ("304", "L", "other_status"),
        ("-50", "L", "other_status"),
        ("-5003", "L", "other_status"),
        ("0", "L", "other_status"),
        ("200", "LP", "prerequisite"),
        ("200", "LREP", "prerequisite"),
        ("200", "LPR", "prerequisite"),
    ] {
        assert_eq!(
            of(status, path, "http://a.example/"),
            passed(reason),
            "{status} {path}"
        );
    }
    for (code, status) in [
        ("503", "503"),
        ("-1", "\"dns\""),
        ("-2", "\"connect\""),
        ("-3", "\"connect\""),
        ("-4", "\"timeout\""),
        ("-5", "\"other\""),
        ("-6", "\"dns\""),
        ("-8", "\"other\""),
        ("-61", "\"robots\""),
        ("-9998", "\"robots\""),
    ] {
        let failed = format!(
            r#"{{"url": "http://b.example/", "status": {status}, "fetched": "2026-11-19T04:00:00.574Z"}}"#
        );
        assert_eq!(
            of(code, "L", "http://a.example/"),
            records(&[&failed]),
            "{code}"
        );
    }
    assert_eq!(of("-404", "L", "http://a.example/"), records(&[gone]));
    let dns = line("1", "dns:a.example", "P", "http://a.example/");
    assert_eq!(read(CrawlLog, &dns), passed("prerequisite"));
    let other = line("200", "ftp://a.example/x", "L", "http://a.example/");
    assert_eq!(read(CrawlLog, &other), passed("no_page"));
    let bad = line("200", "http://", "L", "http://a.example/");
    assert_eq!(read(CrawlLog, &bad), passed("url_without_host"));
    for bad in [
        "x",
        "",
        "2026-11-19T04:00:01.123Z 200 - http://a.example/ - -",
        "a b c d e f g h i j k l",
    ] {
        assert_eq!(read(CrawlLog, bad), passed("columns"), "{bad}");
    }
    // Without the time of the fetch it is that of the line; and as older versions write it.
    let old = "20261119040000574   200       1299 http://b.example/ L http://a.example/ text/html #014 - sha1:YIUOKDGOLGI5JYHDTXRFFQ5FF4N2EJRV - 2t";
    assert_eq!(read(CrawlLog, old), records(&[page]));
    let late = r#"{"url": "http://b.example/", "fetched": "2026-11-19T04:00:01.123Z"}"#;
    let plain = line("200", "http://b.example/", "L", "-").replace(
        "20261119040000574+225 sha1:YIUOKDGOLGI5JYHDTXRFFQ5FF4N2EJRV",
        "- -",
    );
    assert_eq!(read(CrawlLog, &plain), records(&[late]));
    let extra = line("200", "http://b.example/", "L", "-") + r#" {"warcFilename":"x.warc.gz"}"#;
    assert_eq!(read(CrawlLog, &extra), records(&[page]));
}

#[test]
fn links_are_those_that_were_followed() {
    let of = |status, url, path, via| read(ViaLinks, &line(status, url, path, via));
    let mut parser = PieceParser::new(Naming::default(), Interner::default());
    let mut at = |url| {
        let number = parser.page(url).unwrap();
        parser.urls.location(number)
    };
    let (a, b) = (at("http://a.example/"), at("http://b.example/"));
    let link = Event::Outlink {
        from: a.clone(),
        to: b,
    };
    for (status, path) in [("200", "L"), ("404", "RL"), ("-2", "12+LLL")] {
        let said = of(status, "http://b.example/", path, "http://a.example/");
        assert_eq!(said, Ok(vec![link.clone()]), "{status} {path}");
    }
    for path in ["R", "E", "LE", "LP", "-", "X"] {
        let said = of("200", "http://b.example/", path, "http://a.example/");
        assert_eq!(said, Err("no_link".to_owned()), "{path}");
    }
    let itself = of("200", "http://a.example/#x", "L", "http://a.example/");
    assert_eq!(itself, Ok(vec![Event::Page(PageAttributes::named(a))]));
    let dns = of("1", "dns:b.example", "L", "http://a.example/");
    assert_eq!(dns, Err("no_link".to_owned()));
}

#[test]
fn a_source_tag_is_the_seed() {
    let tagged = |status: &str, source: &str| {
        let line = line(status, "http://b.example/", "LRL", "http://a.example/x");
        read(CrawlLog, &line.replace(" - -", &format!(" {source} 3t")))
    };
    let page = r#"{"url": "http://b.example/", "fetched": "2026-11-19T04:00:00.574Z", "digest": "sha1:YIUOKDGOLGI5JYHDTXRFFQ5FF4N2EJRV""#;
    let failed =
        r#"{"url": "http://b.example/", "fetched": "2026-11-19T04:00:00.574Z", "status": 503"#;
    let origin = r#", "seed": "http://a.example/", "via": "http://a.example/x", "depth": 3}"#;
    for (status, record) in [("200", page), ("503", failed)] {
        let with = format!("{record}{origin}");
        let without = format!("{record}}}");
        assert_eq!(tagged(status, "http://a.example/"), records(&[&with]));
        // A tag of another kind, and none.
        assert_eq!(tagged(status, "tuesday"), records(&[&without]));
        assert_eq!(tagged(status, "-"), records(&[&without]));
    }
}
