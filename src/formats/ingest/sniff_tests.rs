use proptest::prelude::*;

use super::*;

fn detect_text(text: &str) -> Option<DetectedFormat> {
    DetectedFormat::detect(text.as_bytes())
}

#[test]
#[expect(clippy::too_many_lines, reason = "a table of texts")]
fn texts_are_told_apart() {
    let record = "{\"url\": \"http://a.example/\"}\n";
    for (text, foreign) in [
        ("", None),
        ("x\n", Some(DetectedFormat::Text)),
        ("url: http://a.example/\n", Some(DetectedFormat::Text)),
        (
            "warning: x\n{\"url\": \"http://a.example/\"}\n",
            Some(DetectedFormat::JsonLines),
        ),
        ("a.example\nwww.b.example\n", Some(DetectedFormat::Hosts)),
        (
            "User-agent: *\nDisallow:\n\nSitemap: http://a.example/s.xml\n",
            Some(DetectedFormat::Robots),
        ),
        ("070701000000", Some(DetectedFormat::Cpio)),
        (record, Some(DetectedFormat::JsonLines)),
        ("{\"url\": \"http://a.exam", Some(DetectedFormat::JsonLines)),
        (
            "{\n  \"url\": \"http://a.example/\"\n}\n",
            Some(DetectedFormat::JsonSpread),
        ),
        (
            "{\"url\": 1}{\"url\": 2}\n",
            Some(DetectedFormat::JsonSpread),
        ),
        (
            "{\"url\": nonsense}\n{\"url\": 1}\n",
            Some(DetectedFormat::JsonLines),
        ),
        (
            "[{\"url\": 1}, {\"url\": 2}]",
            Some(DetectedFormat::JsonArray),
        ),
        (
            "\n[\n  {\n    \"url\": \"http://a.ex",
            Some(DetectedFormat::JsonArray),
        ),
        (
            "[{\"url\": 1}]\n[{\"url\": 2}]\n",
            Some(DetectedFormat::Text),
        ),
        (
            "[{\"url\": 1}][{\"url\": 2}]\n",
            Some(DetectedFormat::JsonArray),
        ),
        (
            "[\n{\"url\": 1}\n][\n{\"url\": 2}\n]",
            Some(DetectedFormat::JsonArray),
        ),
        (
            "[\"http://a.example/\", 3]\n",
            Some(DetectedFormat::JsonValues),
        ),
        (
            "\"http://a.example/\"\n\"http://b.example/\"\n",
            Some(DetectedFormat::JsonStrings),
        ),
        (
            "http://a.example/\n\nHTTPS://b.example/x\n",
            Some(DetectedFormat::Urls),
        ),
        (
            "# seeds\nhttp://a.example/\thttp.x=1\n",
            Some(DetectedFormat::Urls),
        ),
        ("http://a.example/x,y\n", Some(DetectedFormat::Urls)),
        (
            "http://a.example/ and more words\n",
            Some(DetectedFormat::Text),
        ),
        (
            "http://a.example/\thttp://b.example/\n",
            Some(DetectedFormat::Links),
        ),
        (
            "http://a.example/ http://b.example/\n",
            Some(DetectedFormat::LinksBySpace),
        ),
        ("http://a.example/\t0\t1\t\n", Some(DetectedFormat::Pages)),
        ("http://a.example/\t0\t1\n", Some(DetectedFormat::Tabs)),
        (
            "url\tclicks\nhttp://a.example/\t1\n",
            Some(DetectedFormat::Tabs),
        ),
        (
            "url,clicks\nhttp://a.example/,1\n",
            Some(DetectedFormat::Commas),
        ),
        (
            "\"url\",\"clicks\"\n\"http://a.example/\",1\n",
            Some(DetectedFormat::Commas),
        ),
        (
            "http://a.example/,http://b.example/\n",
            Some(DetectedFormat::Commas),
        ),
        (
            "URL;Last seen\nhttp://a.example/;1\n",
            Some(DetectedFormat::Semicolons),
        ),
        (
            "some words, and no table\nbut a text\n",
            Some(DetectedFormat::Text),
        ),
        (" CDX N b a m s k r M S V g\n", Some(DetectedFormat::Cdx)),
        (
            "example,a)/ 20260101000000 http://a.example/ text/html 200\n",
            Some(DetectedFormat::Cdx),
        ),
        (
            "example,a)/ 20260101000000 {\"url\": \"http://a.example/\"}\n",
            Some(DetectedFormat::Cdxj),
        ),
        (
            "!OpenWayback-CDXJ 1.0\nexample,a)/ 20260101000000 {}\n",
            Some(DetectedFormat::Cdxj),
        ),
        (
            "<!DOCTYPE html>\n<title>x</title>",
            Some(DetectedFormat::Html),
        ),
        ("<HTML lang=en>", Some(DetectedFormat::Html)),
        (
            "<?xml version='1.0'?><urlset xmlns=''><url>",
            Some(DetectedFormat::Sitemap),
        ),
        ("<sitemapindex>", Some(DetectedFormat::SitemapIndex)),
        ("<?xml version='1.0'?>\n<rss>", Some(DetectedFormat::Feed)),
        (
            "<!-- x --><feed xmlns='http://www.w3.org/2005/Atom'><body>",
            Some(DetectedFormat::Feed),
        ),
        (
            "<rdf:RDF xmlns='http://purl.org/rss/1.0/'>",
            Some(DetectedFormat::Feed),
        ),
        (
            "<?xml version='1.0'?><opml><head/><body/>",
            Some(DetectedFormat::Opml),
        ),
        ("<3 this page", Some(DetectedFormat::Text)),
        (
            "WARC/1.0\r\nWARC-Type: warcinfo\r\n",
            Some(DetectedFormat::Warc),
        ),
        (
            "filedesc://a.arc 0.0.0.0 20080430204825 text/plain 76\n",
            Some(DetectedFormat::Arc),
        ),
        (
            "WARC/1.0\r\nWARC-Type: metadata\r\n\r\n{\"Container\":{",
            Some(DetectedFormat::Wat),
        ),
        (
            "WARC/1.0\r\n\r\nWARC/1.0\r\nWARC-Type: conversion\r\n",
            Some(DetectedFormat::Wet),
        ),
        (
            "#BVGraph properties\nnodes=3\n",
            Some(DetectedFormat::BvProperties),
        ),
    ] {
        assert_eq!(detect_text(text), foreign, "{text:?}");
    }
}

#[test]
fn numbers_of_formats_come_first() {
    for (head, foreign) in [
        (&b"PAR1\x15\x04"[..], DetectedFormat::Parquet),
        (b"Obj\x01\x04\x14avro.codec", DetectedFormat::Avro),
        (b"PK\x03\x04\x14\0", DetectedFormat::Zip),
        (b"BZh91AY&SY\x01", DetectedFormat::Bzip2),
        (b"\xff\xfe{\0", DetectedFormat::Utf16),
        (b"\xff\xfe\0\0{\0\0\0", DetectedFormat::Utf32),
        (b"{\0\"\0u\0", DetectedFormat::Utf16),
        (b"\0{\0\"\0u", DetectedFormat::Utf16),
        (b"\0\0\0\0", DetectedFormat::Binary),
        (b"\x01\0\x02\0", DetectedFormat::Binary),
        (b"text and \0", DetectedFormat::Binary),
    ] {
        assert_eq!(DetectedFormat::detect(head), Some(foreign), "{head:?}");
    }
    assert_eq!(
        DetectedFormat::detect(b"BZh, said the crawler\n"),
        Some(DetectedFormat::Text)
    );
}

/// What is cut off after so many bytes must not count against the lines before.
#[test]
fn a_line_that_is_cut_off_is_not_looked_at() {
    let line = "http://a.example/a-page-among-many\n";
    let text = line.repeat(HEAD_BYTES / line.len() + 2);
    assert_eq!(detect_text(&text), Some(DetectedFormat::Urls));
    let array = format!("[{}", "{\"url\": \"http://a.example/\"},\n".repeat(10_000));
    assert_eq!(detect_text(&array), Some(DetectedFormat::JsonArray));
}

proptest! {
    #[test]
    fn any_bytes_are_something_or_not(head: Vec<u8>) {
        let _ = DetectedFormat::detect(&head);
    }

    #[test]
    fn any_text_is_something_or_not(text in "[\\[{\"<#\t, ;a-z:/0-9\n\u{1f980}\\\\}]{0,80}") {
        let _ = detect_text(&text);
    }
}

#[test]
fn what_crawlers_write_is_told_by_its_first_lines() {
    let dump = |dump| Some(DetectedFormat::Nutch(dump));
    let page = r#"{"url": "http://a.example/", "statusCode": 2, "statusName": "db_fetched", "fetchTime": "Sat Dec 19 04:00:00 UTC 2026", "retriesSinceFetch": 0}"#;
    let list = r#"{"format": "json-pages-1.0", "id": "pages", "title": "All Pages"}"#;
    let log = "2026-11-19T04:00:01.123Z   200       1299 http://a.example/ - - text/html #014 20261119040000574+225 sha1:A - -\n";
    for (text, foreign) in [
        (format!("{page}\n"), dump(NutchDump::Json)),
        (
            page.replace("db_", "fetch_") + "\n",
            Some(DetectedFormat::JsonLines),
        ),
        (
            page.replace("2,", "\"2\",") + "\n",
            Some(DetectedFormat::JsonLines),
        ),
        (
            "http://a.example/\tVersion: 7\nStatus: 2 (db_fetched)\n".to_owned(),
            dump(NutchDump::Text),
        ),
        (
            "http://a.example/\tVersion: 7\nx\n".to_owned(),
            Some(DetectedFormat::Text),
        ),
        (
            "http://a.example/\tInlinks:\n fromUrl: http://b.example/ anchor: x\n".to_owned(),
            dump(NutchDump::Links),
        ),
        (
            "Url,Status code,Status name,Fetch Time,Modified Time\n".to_owned(),
            dump(NutchDump::Csv),
        ),
        (log.to_owned(), Some(DetectedFormat::CrawlLog)),
        (log.replace("#014", "014"), Some(DetectedFormat::Text)),
        (
            format!("{list}\n{page}\n"),
            Some(DetectedFormat::Browsertrix),
        ),
        (
            list.replace("json-pages", "json-other") + "\n",
            Some(DetectedFormat::JsonLines),
        ),
        (format!("{log}x\n"), Some(DetectedFormat::Text)),
        (
            "# x\n+http://(example,\nhttp://a.example/\n".to_owned(),
            Some(DetectedFormat::Urls),
        ),
    ] {
        assert_eq!(detect_text(&text), foreign, "{text:?}");
    }
}
