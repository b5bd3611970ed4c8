//! Lines of TSV: a line is refused, or says the same again when it is written out.

use seedbank::ingest::{Event, LinksTsv, PagesTsv, UncrawledOutlinks};

use super::json_lines::{is_normal, naming, read};
use super::{kind, texts};

pub(super) fn run(data: &[u8]) {
    let (kind, rest) = kind(data);
    let naming = naming(kind);
    let Ok(line) = std::str::from_utf8(rest) else {
        return;
    };
    let line = line.lines().next().unwrap_or_default();
    if kind & 2 == 0 {
        match read(&LinksTsv, line, naming) {
            Ok(Event::Link { from, to }) => {
                is_normal(&from, naming);
                is_normal(&to, naming);
                assert_ne!(from, to);
                let line = format!("{}\t{}", from.url(naming.sites), to.url(naming.sites));
                assert_eq!(read(&LinksTsv, &line, naming), Ok(Event::Link { from, to }));
            }
            Ok(Event::Page(page)) => is_normal(&page.url, naming),
            Ok(event) => panic!("a line of links is none: {event:?}"),
            Err(_) => {}
        }
        return;
    }
    match read(&PagesTsv, line, naming) {
        Ok(Event::Page(page)) => {
            is_normal(&page.url, naming);
            let some = |number: Option<u64>| number.map_or(String::new(), |n| n.to_string());
            let uncrawled = match page.uncrawled_outlinks {
                UncrawledOutlinks::Absent => None,
                UncrawledOutlinks::Given(count) => Some(u64::from(count)),
                UncrawledOutlinks::Counted => panic!("TSV cannot say that"),
            };
            let line = [
                page.url.url(naming.sites),
                some(page.spam.map(u64::from)),
                some(page.clicks),
                some(uncrawled),
            ]
            .join("\t");
            assert_eq!(read(&PagesTsv, &line, naming), Ok(Event::Page(page)));
        }
        Ok(event) => panic!("a line of pages is one: {event:?}"),
        Err(_) => {}
    }
}

pub(super) fn seeds() -> Vec<Vec<u8>> {
    let links = [
        "http://a.example/\thttps://b.example/x",
        "http://A.example#top\t https://a.example/ ",
        "http://a.example/\tmailto:x@y.example",
        "/x\t",
    ];
    let pages = [
        "http://a.example/\t1\t7\t1000000",
        "http://a.example/\t\t\t",
        "http://a.example/\t0\t1e400\t0.0",
    ];
    let mut seeds = texts(&[0, 1], &links);
    seeds.extend(texts(&[2, 3], &pages));
    seeds
}
