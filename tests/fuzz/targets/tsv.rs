//! Lines of TSV, and of lists of sites, which may be JSON: a line is refused, or says the same again
//! when it is written out.

use seedbank::ingest::{
    Attribute, Event, LinksTsv, Naming, PagesTsv, SiteAttributes, SiteList, UncrawledOutlinks,
};
use serde_json::{Map, Value, json};

use super::json_lines::{is_normal, naming, read};
use super::{kind, texts};

pub(super) fn run(data: &[u8]) {
    let (kind, rest) = kind(data);
    let naming = naming(kind);
    let Ok(line) = std::str::from_utf8(rest) else {
        return;
    };
    let line = line.lines().next().unwrap_or_default();
    if kind & 4 != 0 {
        return of_sites(line, naming);
    }
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

fn of_sites(line: &str, naming: Naming) {
    match read(&SiteList, line, naming) {
        Ok(Event::Site(site)) => {
            let again = read(&SiteList, &json(&site), naming);
            assert_eq!(again, Ok(Event::Site(site)));
        }
        Ok(event) => panic!("a line of sites is none: {event:?}"),
        Err(_) => {}
    }
}

fn json(site: &SiteAttributes) -> String {
    fn field<T: Copy>(of: Attribute<T>, write: impl Fn(T) -> Value) -> Option<Value> {
        match of {
            Attribute::Absent => None,
            Attribute::Removed => Some(Value::Null),
            Attribute::Given(value) => Some(write(value)),
        }
    }
    let quality = |steps: u16| json!(f64::from(steps) / 1e4);
    let fields = [
        ("site", Some(json!(site.site))),
        ("quality", field(site.quality, quality)),
        ("spam", field(site.spam, |spam| json!(spam))),
        ("quota", field(site.quota, |quota| json!(quota))),
    ];
    let fields = fields.into_iter();
    let given = fields.filter_map(|(name, value)| Some((name.to_owned(), value?)));
    Value::Object(given.collect::<Map<_, _>>()).to_string()
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
    let sites = [
        "www.a.example\t0.8\t1\t4294967295",
        "a.co.uk\t\t\t",
        "http://a.example/\t1e-5\t0\t0",
        r#"{"site":"[2001:DB8::1]","quality":1,"spam":null,"quota":null}"#,
    ];
    seeds.extend(texts(&[2, 3], &pages));
    seeds.extend(texts(&[4, 5], &sites));
    seeds
}
