//! Random batches over a small universe of URLs, as JSON Lines.

use proptest::prelude::*;
use proptest::sample::{Index, select};
use seedbank::engine::query::PageKind;
use serde_json::{Map, Value, json};

/// Hosts, with the registrable domain that each belongs to.
const HOSTS: [(&str, &str); 5] = [
    ("a.example", "a.example"),
    ("www.a.example", "a.example"),
    ("b.example", "b.example"),
    ("news.c.co.uk", "c.co.uk"),
    ("xn--bcher-kva.example", "xn--bcher-kva.example"),
];

/// What follows `SCHEME://HOST`: schemes, ports and paths mixed, so that the order of URLs is not
/// that of paths.
const PLACES: [(&str, &str); 6] = [
    ("http", "/"),
    ("https", "/"),
    ("http", ":8080/"),
    ("http", "/x?q=1"),
    ("https", ":8443/x"),
    ("http", "/x"),
];

/// The number of pages of the universe.
pub const PAGES: usize = HOSTS.len() * PLACES.len();

/// The normalised URL of a page.
pub fn url(page: usize) -> String {
    let (host, _) = HOSTS[page / PLACES.len()];
    let (scheme, rest) = PLACES[page % PLACES.len()];
    format!("{scheme}://{host}{rest}")
}

/// The name of a page's site: its host, or its registrable domain.
pub fn site(page: usize, by_domain: bool) -> &'static str {
    let (host, domain) = HOSTS[page / PLACES.len()];
    if by_domain { domain } else { host }
}

/// Another way to write the same URL.
fn spelled(page: usize, spelling: u8) -> String {
    let plain = url(page);
    let (host, _) = HOSTS[page / PLACES.len()];
    match spelling {
        1 => format!("{plain}#part"),
        2 => plain.replace(host, &host.to_uppercase()),
        3 => plain.replacen("://", "://user:secret@", 1),
        4 => plain.replace(
            &format!("{host}/"),
            &format!("{host}:{}/", default_port(page)),
        ),
        5 => format!(" {plain}\t"),
        _ => plain,
    }
}

fn default_port(page: usize) -> u16 {
    if PLACES[page % PLACES.len()].0 == "https" {
        443
    } else {
        80
    }
}

/// Outlinks that are dropped because they are not URLs of pages.
const NO_LINKS: [&str; 4] = ["mailto:a@b.example", "javascript:void(0)", "http://", ""];

/// What a record says of `uncrawled_outlinks`, or of another number that null takes away.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Uncrawled {
    Absent,
    Null,
    Given(u32),
}

impl Uncrawled {
    /// What there is after the record.
    pub fn apply_to(self, before: Option<u32>) -> Option<u32> {
        match self {
            Self::Absent => before,
            Self::Null => None,
            Self::Given(number) => Some(number),
        }
    }

    /// The field of a record; `None` where it has none.
    fn field(self, write: impl Fn(u32) -> Value) -> Option<Value> {
        match self {
            Self::Absent => None,
            Self::Null => Some(Value::Null),
            Self::Given(number) => Some(write(number)),
        }
    }
}

/// Names of sites, by host and by domain; the last has no pages.
const SITES: [&str; 5] = [
    "a.example",
    "b.example",
    "c.co.uk",
    "xn--bcher-kva.example",
    "d.example",
];

/// A record of a site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteLine {
    pub site: &'static str,
    pub quality: Uncrawled,
    /// 0 or 1.
    pub spam: Uncrawled,
    pub quota: Uncrawled,
}

impl SiteLine {
    fn line(&self) -> String {
        let mut record = Map::new();
        record.insert("site".to_owned(), json!(self.site));
        let fields = [
            ("quality", self.quality.field(quality)),
            ("spam", self.spam.field(|spam| json!(spam == 1))),
            ("quota", self.quota.field(|quota| json!(quota))),
        ];
        for (name, value) in fields {
            record.extend(value.map(|value| (name.to_owned(), value)));
        }
        Value::Object(record).to_string()
    }
}

fn quality(steps: u32) -> Value {
    json!(f64::from(steps) / 1e4)
}

/// A number of one of a few kinds, often none.
fn number(most: u32) -> impl Strategy<Value = Uncrawled> {
    prop_oneof![
        4 => Just(Uncrawled::Absent),
        1 => Just(Uncrawled::Null),
        2 => (0..=most).prop_map(Uncrawled::Given),
    ]
}

/// A random record of a site.
pub fn site_line() -> impl Strategy<Value = SiteLine> {
    (select(&SITES[..]), number(10_000), number(1), number(9)).prop_map(
        |(site, quality, spam, quota)| SiteLine {
            site,
            quality,
            spam,
            quota,
        },
    )
}

/// One record.
#[derive(Clone, PartialEq, Eq, Debug)]
#[expect(clippy::option_option, reason = "absent, null or a value, as in JSON")]
pub struct Record {
    pub page: usize,
    pub spelling: u8,
    /// Targets, in any order, repeated, the page itself among them.
    pub outlinks: Option<Vec<usize>>,
    /// The index in `NO_LINKS` of an outlink that stands among them and is not a link; `None`
    /// without one.
    pub junk: Option<usize>,
    pub spam: Option<bool>,
    pub clicks: Option<u64>,
    pub uncrawled: Uncrawled,
    /// In ten-thousandths.
    pub quality: Uncrawled,
    pub digest: Option<u8>,
    pub fetched: Option<u8>,
    /// Where fetching it led, and the canonical page that it names; perhaps the page itself.
    pub redirect: Option<usize>,
    /// `Some(None)` is null: it names none.
    pub canonical: Option<Option<usize>>,
    /// What the answer is; `Some(None)` is null: an earlier record says it.
    pub kind: Option<Option<PageKind>>,
    pub gone: Option<bool>,
}

impl Record {
    /// The page that it is an alias of; `None` where it is none.
    pub fn alias(&self) -> Option<usize> {
        self.redirect
            .filter(|to| *to != self.page && self.gone != Some(true))
    }

    /// What it says of its canonical page by itself.
    #[expect(clippy::option_option, reason = "absent, null or a value, as in JSON")]
    pub fn canonical(&self) -> Option<Option<usize>> {
        self.canonical.filter(|to| *to != Some(self.page))
    }

    /// The record as a line of JSON.
    pub fn line(&self) -> String {
        let mut record = Map::new();
        record.insert("url".to_owned(), json!(spelled(self.page, self.spelling)));
        if let Some(outlinks) = &self.outlinks {
            let mut links: Vec<String> = (0_u8..)
                .zip(outlinks)
                .map(|(at, page)| spelled(*page, (self.spelling + at) % 6))
                .collect();
            if let Some(junk) = self.junk {
                links.insert(links.len() / 2, NO_LINKS[junk].to_owned());
            }
            record.insert("outlinks".to_owned(), json!(links));
        }
        let mut put = |name: &str, value: Option<Value>| {
            if let Some(value) = value {
                record.insert(name.to_owned(), value);
            }
        };
        put("spam", self.spam.map(Value::from));
        put("clicks", self.clicks.map(Value::from));
        let uncrawled = self.uncrawled.field(|count| json!(count));
        put("uncrawled_outlinks", uncrawled);
        put("quality", self.quality.field(quality));
        put("digest", self.digest.map(|d| json!(format!("digest-{d}"))));
        put(
            "fetched",
            self.fetched
                .map(|hour| json!(format!("2026-11-19T{hour:02}:00:00Z"))),
        );
        put(
            "redirect",
            self.redirect.map(|to| json!(spelled(to, self.spelling))),
        );
        let canonical = self.canonical.map(|to| json!(to.map(|to| spelled(to, 0))));
        put("canonical", canonical);
        put(
            "kind",
            self.kind.map(|kind| json!(kind.map(PageKind::name))),
        );
        put("gone", self.gone.map(Value::from));
        Value::Object(record).to_string()
    }
}

/// An hour after those of all records.
const AFTER_ALL: u8 = 6;

/// The seconds since 1970 of an hour of the day of all records.
pub fn seconds(hour: u8) -> u64 {
    1_795_046_400 + u64::from(hour) * 3_600
}

/// One batch.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Batch {
    pub snapshot: bool,
    /// The hour at which pages were fetched whose records have no time.
    pub as_of: u8,
    pub records: Vec<Record>,
    /// Records of sites, in a file of their own.
    pub sites: Vec<SiteLine>,
    /// Whether there is a line among them that is not a record.
    pub bad_line: bool,
}

impl Batch {
    pub fn delta(records: Vec<Record>) -> Self {
        Self {
            snapshot: false,
            as_of: AFTER_ALL,
            records,
            sites: Vec::new(),
            bad_line: false,
        }
    }

    /// The list of its sites.
    pub fn site_list(&self) -> String {
        let lines: Vec<String> = self.sites.iter().map(SiteLine::line).collect();
        lines.join("\n")
    }

    /// The records of pages as JSON Lines.
    pub fn text(&self) -> String {
        let mut lines: Vec<String> = self.records.iter().map(Record::line).collect();
        if self.bad_line {
            lines.insert(lines.len() / 2, "{\"url\": \"nowhere\"}".to_owned());
        }
        lines.join("\n") + "\n"
    }
}

/// A random record. Pages are skewed, so that several records of one page, and links between pages
/// that have records, are common; half of the link lists come from a few templates, so that pages
/// share rows.
pub fn record() -> impl Strategy<Value = Record> {
    let page = || prop_oneof![2 => 0..PAGES, 1 => select(vec![0, 6, 7, 12, 13, 18])];
    let links = prop_oneof![
        3 => proptest::collection::vec(page(), 0..7),
        2 => select(vec![
            vec![0, 12, 18, 24],
            vec![12, 18, 24],
            vec![0, 6, 13],
            vec![1, 2, 3],
            vec![],
        ]),
    ];
    let attributes = (
        proptest::option::weighted(0.2, any::<bool>()),
        proptest::option::weighted(0.2, 0_u64..5),
        prop_oneof![
            6 => Just(Uncrawled::Absent),
            1 => Just(Uncrawled::Null),
            1 => (0_u32..9).prop_map(Uncrawled::Given),
        ],
        proptest::option::weighted(0.2, 0_u8..3),
        proptest::option::weighted(0.3, 0_u8..4),
        prop_oneof![8 => Just(None), 1 => Just(Some(false)), 2 => Just(Some(true))],
        // Few pages, so that aliases lead to aliases, in circles and over more than five.
        proptest::option::weighted(0.2, select(vec![0, 1, 6, 7, 12, 13, 18, 29])),
        proptest::option::weighted(0.15, proptest::option::weighted(0.8, page())),
        (number(10_000), kind()),
    );
    (
        page(),
        prop_oneof![2 => Just(0_u8), 1 => 1_u8..6],
        proptest::option::weighted(0.7, links),
        proptest::option::weighted(0.1, 0..NO_LINKS.len()),
        attributes,
    )
        .prop_map(|(page, spelling, outlinks, junk, attributes)| {
            let (spam, clicks, uncrawled, digest, fetched, gone, redirect, canonical, last) =
                attributes;
            let (quality, kind) = last;
            Record {
                page,
                spelling,
                outlinks,
                junk,
                spam,
                clicks,
                uncrawled,
                quality,
                digest,
                fetched,
                redirect,
                canonical,
                kind,
                gone,
            }
        })
}

/// What a record says that the answer is.
fn kind() -> impl Strategy<Value = Option<Option<PageKind>>> {
    use PageKind::{Document, Page, Resource};
    prop_oneof![
        8 => Just(None),
        4 => select(vec![None, Some(Document), Some(Resource), Some(Page)]).prop_map(Some),
    ]
}

/// A random batch of at least one record.
pub fn batch(most: usize) -> impl Strategy<Value = Batch> {
    (
        proptest::bool::weighted(0.15),
        prop_oneof![3 => Just(AFTER_ALL), 1 => 0..AFTER_ALL],
        proptest::collection::vec(record(), 1..most),
        proptest::collection::vec(site_line(), 0..4),
        proptest::bool::weighted(0.1),
    )
        .prop_map(|(snapshot, as_of, records, sites, bad_line)| Batch {
            snapshot,
            as_of,
            records,
            sites,
            bad_line,
        })
}

/// A random batch of one record for each of its pages.
pub fn distinct(most: usize) -> impl Strategy<Value = Vec<Record>> {
    proptest::collection::vec(record(), 1..most).prop_map(|mut records| {
        let mut seen = [false; PAGES];
        records.retain(|record| !std::mem::replace(&mut seen[record.page], true));
        records
    })
}

/// Where to cut a list into pieces, none of them empty.
pub fn cuts() -> impl Strategy<Value = Vec<Index>> {
    proptest::collection::vec(any::<Index>(), 0..5)
}
