//! Texts of crawlers and archives that are damaged, cut off or not what they should be.
//!
//! Families of cases, and what they catch:
//! * some thousand damages and cuts of a good text of each layout: a panic, pages that go with those
//!   damaged, a page that the text does not have;
//! * texts without an end, or with more brackets, tags and lines than memory has: unbounded reading;
//! * what one format is and another is not: a refusal that does not say what the input is.

use std::collections::BTreeSet;

use crate::support::crawler_texts::{JSON, NUTCH_TEXT, SITEMAP, examples};
use crate::support::wat::{Events, read};
use seedbank::engine::ingest::Format;
use seedbank::ingest::{
    DetectedFormat, Event, InputError, MAX_LINE, Naming, Nofollow, NutchDump, Position, ReadError,
    RejectReason,
};

const AUTO: Format = Format::Auto {
    nofollow: Nofollow::Keep,
};

/// The pages that events name.
fn pages(events: &Events) -> BTreeSet<String> {
    let url = |at: &seedbank::ingest::Location| at.url(Naming::default().sites);
    let pages = events.iter().filter_map(|(_, event)| match event {
        Event::Record(record) => Some(url(&record.url)),
        Event::Outlink { from, to } => Some(format!("{} {}", url(from), url(to))),
        _ => None,
    });
    pages.collect()
}

/// How many pages a damage costs at most: that at its place, and the next, with which it becomes one; all of them if it is in
/// the header that names the columns.
const COST: usize = 6;

#[test]
fn damages_are_refused_or_cost_what_they_touch() {
    let (mut refused, mut taken) = (0, 0);
    for example in examples() {
        let name = example.name;
        let text = example.text.as_bytes();
        let good = pages(&read(text, &example.format).1);
        assert!(good.len() >= 2, "{name}: {good:?}");
        let mut check = |bytes: &[u8], is_cut: bool, what: &str| {
            for format in [&example.format, &AUTO] {
                let (summary, events) = read(bytes, format);
                match summary {
                    Ok(summary) => {
                        taken += 1;
                        assert_eq!(summary.records, events.len() as u64, "{name}: {what}");
                        // Where the first bytes no longer say what it is, it is read as records.
                        let kept = pages(&events).intersection(&good).count();
                        if format != &AUTO && !is_cut {
                            assert!(kept + COST >= good.len(), "{name}: {what}: {kept}");
                        }
                    }
                    Err(ReadError::Input(error)) => {
                        refused += 1;
                        let said = error.to_string();
                        assert!(
                            [" is ", " has ", " does not contain "]
                                .iter()
                                .any(|words| said.contains(words)),
                            "{name}: {said}"
                        );
                    }
                    Err(error) => panic!("{name}: {what}: {error}"),
                }
            }
        };
        for n in 0..40 {
            let at = text.len() * n / 40 + n % 3;
            check(&text[..at], true, &format!("{at} bytes"));
            let mut bytes = text.to_vec();
            bytes[at] ^= 1 << (n % 8);
            check(&bytes, false, &format!("bit {n} of byte {at}"));
            bytes.remove(at);
            check(&bytes, false, &format!("without byte {at}"));
            bytes.splice(at..at, text[..n].iter().copied());
            check(&bytes, false, &format!("{n} bytes more at {at}"));
            let mut bytes = text.to_vec();
            bytes[at] = b"\"<>{}[]\n\t ,\0\xff"[n % 13];
            check(&bytes, false, &format!("another byte {at}"));
        }
    }
    assert!(
        refused > 200 && taken > 2_000,
        "{refused} refused, {taken} taken"
    );
}

/// Cut at every thousandth byte, a text of many pieces.
#[test]
fn what_is_cut_off_is_refused_or_read_to_there() {
    let element = &JSON[1..JSON.rfind(']').unwrap()];
    let array = format!("[{}{element}]", format!("{element},").repeat(60));
    let url = "<url><loc>http://a.example/</loc></url>";
    let sitemap = format!("<urlset>{}</urlset>", url.repeat(300));
    let pages = NUTCH_TEXT.repeat(10);
    for (text, format, is_refused) in [
        (array, Format::Json, true),
        (sitemap, Format::Sitemap, true),
        (pages, Format::Nutch, false),
    ] {
        let whole = read(text.as_bytes(), &format);
        let records = whole.0.unwrap().records;
        for cut in (1_000..text.len() - 20).step_by(1_000) {
            let (summary, events) = read(&text.as_bytes()[..cut], &format);
            assert!((events.len() as u64) < records);
            assert_eq!(summary.is_err(), is_refused, "{cut}: {events:?}");
            if let Err(error) = summary {
                let said = error.to_string();
                assert!(
                    said.contains("is truncated") || said.contains("is damaged XML"),
                    "{said}"
                );
            }
        }
    }
}

#[test]
fn what_has_no_end_is_bounded() {
    let deep = "<a>".repeat(100_000);
    let long = "x".repeat(3 << 20);
    for (text, words) in [
        (format!("<urlset>{deep}"), "elements that are nested"),
        (format!("<urlset><url><loc>{long}"), "a tag or a text"),
        (format!("<urlset a=\"{long}"), "a tag or a text"),
        (format!("<urlset><!--{long}"), "a tag or a text"),
        (
            format!("<urlset><url></loc></url>{long}"),
            "is damaged XML at byte",
        ),
        ("<urlset><url>".to_owned(), "it ends within an element"),
        ("<rss><url/></rss>".to_owned(), "is not a sitemap"),
        (
            "<urlset><url><loc>\u{1}\0".to_owned(),
            "does not contain text records",
        ),
    ] {
        let (summary, _) = read(text.as_bytes(), &Format::Sitemap);
        let said = summary.unwrap_err().to_string();
        assert!(said.contains(words), "{said}");
    }
    // A record that is too long costs itself.
    let long = "x".repeat(MAX_LINE + 10);
    let array = format!(
        "[{{\"url\": \"http://a.example/\"}}, {{\"x\": \"{long}\"}}, 3, {{\"url\": \"http://b.example/\"}}]"
    );
    let (summary, events) = read(array.as_bytes(), &Format::Json);
    let rejects = [
        (RejectReason::LineTooLong, 1),
        (RejectReason::NotAnObject, 1),
    ];
    assert_eq!(summary.unwrap().rejects, rejects.into());
    let places: Vec<Position> = events.iter().map(|(at, _)| *at).collect();
    assert_eq!(places, [1, 2, 3, 4].map(Position::Record));
    let brackets = "[".repeat(3 << 20);
    let (summary, _) = read(brackets.as_bytes(), &Format::Json);
    assert!(
        summary
            .unwrap_err()
            .to_string()
            .contains("is truncated after record 0")
    );
    let page = NUTCH_TEXT.split("\n\n").next().unwrap();
    let metadata = "\tkey=value\n".repeat(2 << 20);
    let text = format!("{page}\n{metadata}\n{NUTCH_TEXT}");
    match read(text.as_bytes(), &Format::Nutch).0.unwrap_err() {
        ReadError::MostAreBad(summary) => assert!(summary.bytes < 24 << 20),
        error => panic!("{error}"),
    }
}

#[test]
fn a_bad_element_is_told_by_its_place() {
    let bad = r#"[{"url": "http://a.example/"}, {"url": nonsense}, {"url": "http://b.example/"}]"#;
    let (summary, events) = read(bad.as_bytes(), &Format::Json);
    assert_eq!(
        summary.unwrap().rejects,
        [(RejectReason::InvalidJson, 1)].into()
    );
    assert!(matches!(
        &events[1],
        (Position::Record(2), Event::Rejected(_))
    ));
    for (text, words) in [
        (
            "[{} {}]",
            "is not valid JSON after record 1, at byte 5: expected a comma",
        ),
        (
            "[{},]",
            "is not valid JSON after record 1, at byte 5: expected a record",
        ),
        (
            "[{}]]",
            "is not valid JSON after record 1, at byte 5: expected a record",
        ),
        ("[{}", "is truncated after record 1"),
        (
            "[{\"url\": \"http://a.example/}]",
            "is truncated after record 0",
        ),
        ("x", "expected an array or an object"),
    ] {
        let (summary, _) = read(text.as_bytes(), &Format::Json);
        let said = summary.unwrap_err().to_string();
        assert!(said.contains(words), "{text}: {said}");
    }
    for text in ["[]", "", " \n", "[] []"] {
        assert_eq!(
            read(text.as_bytes(), &Format::Json).0.unwrap().records,
            0,
            "{text}"
        );
    }
    let bad = SITEMAP
        .replace("http://b.example/?c", "ftp://b.example/?c")
        .replace("&#50;", "&file;");
    let (summary, events) = read(bad.as_bytes(), &Format::Sitemap);
    let rejects = [(RejectReason::InvalidUrl, 1), (RejectReason::UrlScheme, 1)];
    assert_eq!(summary.unwrap().rejects, rejects.into());
    let places: Vec<Position> = events.iter().map(|(at, _)| *at).collect();
    assert_eq!(places, [1, 1, 2, 3].map(Position::Record));
}

#[test]
fn what_is_another_format_is_told() {
    for (text, format, is) in [
        (
            "http://a.example/\nhttp://b.example/\n",
            Format::Sitemap,
            DetectedFormat::Urls,
        ),
        (SITEMAP, Format::Json, DetectedFormat::Sitemap),
        (
            "{\"url\": \"http://a.example/\"}\n",
            Format::Nutch,
            DetectedFormat::JsonLines,
        ),
        ("PAR1\x15\x04", Format::Urls, DetectedFormat::Parquet),
        ("PAR1\x15\x04", Format::Cdxj, DetectedFormat::Parquet),
        ("PAR1\x15\x04", Format::Heritrix, DetectedFormat::Parquet),
        (
            NUTCH_TEXT,
            Format::Json,
            DetectedFormat::Nutch(NutchDump::Text),
        ),
    ] {
        match read(text.as_bytes(), &format).0.unwrap_err() {
            ReadError::Input(InputError::NotRecords(seen)) => assert_eq!(seen.format, is, "{text}"),
            error => panic!("{text}: {error}"),
        }
    }
}
