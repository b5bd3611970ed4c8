//! Small texts: times, numbers, lists of URLs.

use std::fmt::{Debug, Display};
use std::str::FromStr;

use seedbank::clock::time;
use seedbank::engine::query::UrlList;
use seedbank::ingest::parse_timestamp;
use seedbank_algorithms::cores::Density;
use seedbank_algorithms::cover;

use super::{kind, texts};

/// The last second of the year 9999.
const LAST: i64 = 253_402_300_799;

pub(super) fn run(data: &[u8]) {
    let (kind, rest) = kind(data);
    let text = String::from_utf8_lossy(rest);
    match kind % 4 {
        0 => timestamp(&text),
        1 => number::<cover::Value>(&text),
        2 => number::<Density>(&text),
        _ => list(&text),
    }
}

fn timestamp(text: &str) {
    let Ok(read) = parse_timestamp(text) else {
        return;
    };
    let seconds = read.micros.div_euclid(1_000_000);
    if (0..=LAST).contains(&seconds) {
        let written = time(seconds.unsigned_abs());
        assert_eq!(
            parse_timestamp(&written).map(|time| time.micros),
            Ok(seconds * 1_000_000),
            "{written}"
        );
    }
}

fn number<T: FromStr + Display + PartialEq + Debug>(text: &str) {
    if let Ok(number) = text.parse::<T>() {
        assert_eq!(number.to_string().parse().ok(), Some(number));
    }
}

fn list(text: &str) {
    let read = urls(text);
    assert!(read.urls.is_sorted_by(|a, b| a.0 < b.0));
    for (line, url) in &read.urls {
        assert!(*line >= 1 && *line <= text.lines().count() as u64);
        assert!(!url.is_empty() && !url.contains(char::is_whitespace) && !url.starts_with('#'));
    }
    // A byte order mark is one at the very beginning only.
    let found: Vec<&str> = read.urls.iter().map(|(_, url)| url.as_str()).collect();
    let again = urls(&format!("#\n{}", found.join("\n")));
    let again: Vec<&str> = again.urls.iter().map(|(_, url)| url.as_str()).collect();
    assert_eq!(again, found);
}

fn urls(text: &str) -> UrlList {
    let mut list = UrlList::default();
    for (number, line) in (1..).zip(text.lines()) {
        list.push_line(number, line);
    }
    list
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let mut seeds = texts(
        &[0],
        &[
            "2026-11-19T04:00:00Z",
            "1999-12-31t23:59:60.123456789+00:00",
            "0000-02-29T00:00:00-23:59",
            "9999-12-31T23:59:59Z",
        ],
    );
    seeds.extend(texts(
        &[1, 2],
        &["100", "-2.5", "+0.000001", "99.999", "1e3"],
    ));
    seeds.extend(texts(
        &[3],
        &["\u{feff}http://a.example/\r\n\n# comment\n http://b.example/ # rank 2\nhttp://c.example/\tseed.rank=3\n"],
    ));
    seeds
}
