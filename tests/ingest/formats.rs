//! Inputs of every format, in a bank: a bank equals that of the same facts as JSON Lines.
//!
//! Families of cases, and what they catch:
//! * random captures as WAT and WARC, in every coding of a body; random records as Parquet, Arrow, CSV and TSV; an
//!   example of each text of crawlers: a bank that differs, links or attributes that are lost because an input does not
//!   mention them, a second capture that counts although it is earlier;
//! * inputs of several megabytes: what a piece depends on before or after it, lost at a cut;
//! * several files of a batch: links of a list beside records of their pages, sitemaps beside an index of them.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use proptest::prelude::*;
use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, IngestReport, IngestRequest};
use seedbank::ingest::{DropReason, Event, Input, Naming, Nofollow, SkipReason, Unread};

use crate::support;
use crate::support::crawler_texts::{
    BEFORE, CRAWL_LOG, NUTCH_JSON, NUTCH_LINKS, NUTCH_TEXT, SITEMAP, examples,
};
use crate::support::histories::{AS_OF, exported};
use crate::support::model::assert_clean;
use crate::support::properties::repeatable;
use crate::support::warc::{self, DATE, answer, nasty, notes, page, record, warcinfo};
use crate::support::wat::{self, Capture, a_capture, lines, members, read};

pub const AUTO: Format = Format::Auto {
    nofollow: Nofollow::Keep,
};
pub const WARC: Format = Format::Warc {
    nofollow: Nofollow::Keep,
};
pub const WAT: Format = Format::Wat {
    nofollow: Nofollow::Keep,
};
const PLENTY: usize = 64 << 20;

/// A bank of one batch of these files, after [`BEFORE`] if there is one.
fn bank_after(
    before: Option<&str>,
    files: &[&[u8]],
    format: Format,
    memory: usize,
) -> (tempfile::TempDir, Bank, IngestReport) {
    let folder = support::scratch();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    let file = |name: String, bytes: &[u8]| {
        let path = folder.path().join(name);
        fs::write(&path, bytes).unwrap();
        Input::File(path)
    };
    if let Some(before) = before {
        let request = IngestRequest {
            inputs: vec![file("before".to_owned(), before.as_bytes())],
            as_of: Some(0),
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
    }
    let files = files.iter().enumerate();
    let request = IngestRequest {
        inputs: files
            .map(|(at, bytes)| file(format!("input-{at}"), bytes))
            .collect(),
        format,
        max_loss: 100.0,
        max_rejects: 100.0,
        memory,
        as_of: AS_OF,
        ..IngestRequest::default()
    };
    let report = bank.ingest(&request).unwrap();
    assert_clean(&bank);
    (folder, bank, report)
}

/// A bank of one file.
pub fn bank_of(bytes: &[u8], format: Format) -> (tempfile::TempDir, Bank, IngestReport) {
    bank_after(None, &[bytes], format, PLENTY)
}

/// The export of a bank of [`BEFORE`] and then these files.
fn export_of(files: &[&str], format: Format, memory: usize) -> String {
    let files: Vec<&[u8]> = files.iter().map(|text| text.as_bytes()).collect();
    let (_folder, bank, _) = bank_after(Some(BEFORE), &files, format, memory);
    String::from_utf8(exported(&bank)).unwrap()
}

proptest! {
    #![proptest_config(repeatable(10))]

    #[test]
    fn captures_as_wat_and_warc_are_those_as_json_lines(
        captures in prop::collection::vec(a_capture(), 1..30),
        compression in 0..4_u8,
        way in 0..420_usize,
    ) {
        let lines = lines(&captures);
        let (folder, theirs, other) = bank_of(lines.as_bytes(), Format::JsonLines);
        let wanted = exported(&theirs);
        let mut dropped = Vec::new();
        for records in [wat::records(&captures), warc::records(&captures, way)] {
            let file = match compression {
                0 => records.concat(),
                1 => members(&records),
                2 => members(&[records.concat()]),
                _ => zstd::encode_all(&records.concat()[..], 1).unwrap(),
            };
            let (_folder, ours, report) = bank_of(&file, AUTO);
            prop_assert_eq!(report.read.records, lines.lines().count() as u64);
            prop_assert_eq!(exported(&ours), &wanted[..]);
            prop_assert_eq!(report.counts.superseded, other.counts.superseded);
            prop_assert_eq!(report.aliases, other.aliases);
            if report.read.records > 0 {
                // The same records in another format are the same batch.
                let request = IngestRequest {
                    inputs: vec![Input::File(folder.path().join("input-0"))],
                    as_of: AS_OF,
                    ..IngestRequest::default()
                };
                prop_assert_eq!(ours.ingest(&request).unwrap().same_as, report.batch);
            }
            dropped.push(report.read.dropped_outlinks);
        }
        prop_assert_eq!(&dropped[0], &dropped[1]);
    }
}

#[test]
fn links_marked_nofollow_are_dropped_only_if_asked_for() {
    let mut captures = vec![Capture::of("http://a.example/", &["/b", "/c"])];
    captures[0].html.as_mut().unwrap().links[0].rel = Some("external NOFOLLOW");
    for robots in ["noindex", "noindex,nofollow", "NONE"] {
        let mut capture = Capture::of("http://a.example/d", &["/b", "/c"]);
        capture.html.as_mut().unwrap().robots = Some(robots.to_owned());
        captures.push(capture);
    }
    let drop = Nofollow::Drop;
    for (records, dropping) in [
        (wat::records(&captures), Format::Wat { nofollow: drop }),
        (warc::records(&captures, 0), Format::Warc { nofollow: drop }),
    ] {
        let file = members(&records);
        let links = |format: &Format| {
            let (summary, events) = read(&file, format);
            let links = events.iter().map(|(_, event)| match event {
                Event::Record(record) => record.outlinks.as_ref().unwrap().len(),
                _ => panic!("{event:?}"),
            });
            (links.collect::<Vec<_>>(), summary.unwrap().dropped_outlinks)
        };
        assert_eq!(links(&AUTO), (vec![2, 2, 2, 2], [].into()));
        for format in [dropping, Format::Auto { nofollow: drop }] {
            let dropped = [(DropReason::Nofollow, 5)].into();
            assert_eq!(links(&format), (vec![1, 2, 0, 0], dropped));
        }
    }
}

#[test]
fn long_pages_are_read_to_sixteen_mebibytes_and_films_not_at_all() {
    let long = format!("<a href=/b>{}<a href=/c>", " ".repeat(16 << 20));
    let film = [nasty(true), vec![b'\n'; 17 << 20]].concat();
    let head = "HTTP/1.1 200 OK\nContent-Type: video/mp4\n";
    let records = [
        warcinfo(),
        page("http://a.example/long", &long),
        answer("http://a.example/film", head, &film),
        page("http://a.example/z", "<a href=/c>"),
    ];
    let (summary, events) = read(&records.concat(), &WARC);
    let summary = summary.unwrap();
    assert_eq!((summary.records, summary.rejected()), (3, 0));
    assert_eq!(summary.unread, [(Unread::CutOff, 1)].into());
    let links = events.iter().map(|(_, event)| match event {
        Event::Record(record) => record.outlinks.as_ref().map(Vec::len),
        _ => panic!("{event:?}"),
    });
    assert_eq!(links.collect::<Vec<_>>(), [Some(1), None, Some(1)]);
}

#[test]
fn notes_find_their_answer_across_pieces() {
    let filler = format!("<a href=/b>{}", "x".repeat(3_000));
    let (mut file, mut reversed) = (Vec::new(), Vec::new());
    for n in 0..600 {
        let url = format!("http://a{n}.example/");
        // Sizes differ so that pieces end at any place in a record.
        let padding = "x".repeat(n * 7 % 997);
        let head = format!("HTTP/1.1 200 OK\nContent-Type: application/pdf\nX: {padding}\n");
        let pdf = answer(&url, &head, filler.as_bytes());
        let request = record("request", &warc::of(&url, DATE), b"GET / HTTP/1.1\r\n\r\n");
        let noted = notes(&url, &format!("outlink: http://b{n}.example/ L a/@href\n"));
        file.extend([&pdf[..], &request, &noted].concat());
        reversed.extend([noted, request, pdf].concat());
    }
    let (_one, ours, report) = bank_of(&file, WARC);
    assert_eq!(report.read.records, 600);
    let text = String::from_utf8(exported(&ours)).unwrap();
    assert_eq!(text.as_bytes(), exported(&bank_of(&reversed, WARC).1));
    assert!((0..600).all(|n| text.contains(&format!("[\"http://b{n}.example/\"]"))));
}

/// The numbers of skipped records, by reason.
type Skipped = &'static [(SkipReason, u64)];

/// What is counted of the examples: the lines that say nothing of a page.
const PASSED_OVER: [(&str, u64, Skipped); 9] = [
    ("urls", 4, &[(SkipReason::NoPage, 2)]),
    ("sitemap", 4, &[]),
    (
        "cdx",
        5,
        &[(SkipReason::OtherStatus, 1), (SkipReason::NoPage, 2)],
    ),
    (
        "cdxj",
        4,
        &[(SkipReason::OtherStatus, 1), (SkipReason::NoPage, 2)],
    ),
    ("nutch links", 4, &[(SkipReason::NoPage, 2)]),
    (
        "heritrix",
        6,
        &[(SkipReason::OtherStatus, 1), (SkipReason::Prerequisite, 2)],
    ),
    ("heritrix links", 4, &[(SkipReason::NoLink, 4)]),
    ("browsertrix", 5, &[(SkipReason::NoPage, 2)]),
    (
        "browsertrix skipped",
        2,
        &[(SkipReason::OtherStatus, 4), (SkipReason::NoPage, 1)],
    ),
];

#[test]
fn texts_of_crawlers_are_the_same_facts_as_json_lines() {
    let before = export_of(&[], AUTO, PLENTY);
    for example in examples() {
        let name = example.name;
        let theirs = export_of(&[&example.lines], Format::JsonLines, PLENTY);
        assert_ne!(theirs, before, "{name} has no facts");
        let text = example.text.as_bytes();
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(text).unwrap();
        let gzip = gzip.finish().unwrap();
        let marked = [b"\xef\xbb\xbf", text].concat();
        for (bytes, format) in [
            (text, example.format.clone()),
            (&gzip, example.format.clone()),
            (&marked, example.format.clone()),
            (&gzip, AUTO),
        ] {
            if format == AUTO && example.format == Format::HeritrixLinks {
                continue;
            }
            let (_folder, bank, report) =
                bank_after(Some(BEFORE), &[bytes], format.clone(), PLENTY);
            let ours = String::from_utf8(exported(&bank)).unwrap();
            assert_eq!(ours, theirs, "{name} as {format:?}");
            assert_eq!(report.read.rejected(), 0, "{name}");
            let counted = PASSED_OVER.iter().find(|counted| counted.0 == name);
            if let Some((_, records, passed)) = counted {
                assert_eq!(report.read.records, *records, "{name}");
                let passed = passed.iter().copied().collect();
                assert_eq!(report.read.passed_over, passed, "{name}");
            }
        }
    }
}

/// Texts of several pieces, whose lines depend on those before them.
#[test]
fn long_texts_are_cut_where_nothing_is_lost() {
    let mut links = "http://hub.example/\tInlinks:\n".to_owned();
    let (mut pages, mut sitemap, mut array) =
        (String::new(), "<urlset>".to_owned(), "[".to_owned());
    let (mut of_links, mut of_pages, mut known) = (String::new(), String::new(), String::new());
    let datum = NUTCH_TEXT.split("\n\n").next().unwrap();
    for n in 0..12_000 {
        let url = format!("http://p{}.example/{n}", n % 7);
        let comma = if n == 0 { "" } else { "," };
        let line = format!("{{\"url\": \"{url}\"}}\n");
        writeln!(links, " fromUrl: {url} anchor: {n}").unwrap();
        writeln!(
            of_links,
            "{{\"url\": \"{url}\", \"outlinks\": [\"http://hub.example/\"]}}"
        )
        .unwrap();
        writeln!(pages, "{}\n", datum.replace("http://a.example/", &url)).unwrap();
        writeln!(
            of_pages,
            "{{\"url\": \"{url}\", \"digest\": \"9f86d081884c7d659a2feaa0c55ad015\", \
             \"fetched\": \"2026-11-19T04:00:00Z\"}}"
        )
        .unwrap();
        write!(sitemap, "<url><loc>{url}</loc></url>").unwrap();
        write!(array, "{comma}{line}").unwrap();
        known.push_str(&line);
    }
    sitemap.push_str("</urlset>");
    array.push(']');
    for (name, text, lines) in [
        ("links", links, of_links),
        ("pages", pages, of_pages),
        ("sitemap", sitemap, known.clone()),
        ("array", array, known),
    ] {
        let theirs = export_of(&[&lines], Format::JsonLines, PLENTY);
        assert!(export_of(&[&text], AUTO, PLENTY) == theirs, "{name}");
    }
}

#[test]
fn links_of_a_list_are_those_of_a_record_that_has_none() {
    let again = NUTCH_JSON.replace("Dec 19", "Dec 18");
    let records = NUTCH_JSON.to_owned() + &again.replace("9f86", "0000");
    let lines = r#"{"url": "http://a.example/", "outlinks": ["http://b.example/", "http://x.example/"], "fetched": "2026-11-19T04:00:00Z", "digest": "9f86d081884c7d659a2feaa0c55ad015"}
{"url": "http://c.example/x", "outlinks": ["http://b.example/"]}
{"url": "http://x.example/", "outlinks": []}
{"url": "http://gone.example/", "gone": true, "fetched": "2026-11-19T04:00:00Z"}
{"url": "http://moved.example/", "redirect": "https://moved.example/", "fetched": "2026-11-19T04:00:00Z"}
{"url": "http://new.example/"}
{"url": "http://busy.example/", "status": 503, "fetched": "2026-11-19T04:00:00Z"}
{"url": "http://private.example/", "status": "robots", "fetched": "2026-11-18T04:00:00Z"}
{"url": "http://private.example/", "status": "robots", "fetched": "2026-11-19T04:00:00Z"}
"#;
    let theirs = export_of(&[lines], Format::JsonLines, PLENTY);
    // The list says nothing of a page that is gone or redirected.
    let inlinks = NUTCH_LINKS.trim_end().to_owned()
        + "\n fromUrl: http://gone.example/ anchor: x\n fromUrl: http://moved.example/ anchor: x\n";
    for (texts, memory) in [([&*records, &inlinks], PLENTY), ([&inlinks, &records], 0)] {
        assert_eq!(export_of(&texts, Format::Nutch, memory), theirs, "{memory}");
    }
}

#[test]
fn a_log_gives_links_and_then_pages() {
    let log = [CRAWL_LOG.as_bytes()];
    let (folder, bank, _) = bank_after(Some(BEFORE), &log, Format::HeritrixLinks, PLENTY);
    let request = |format: Format, as_of| IngestRequest {
        inputs: vec![Input::File(folder.path().join("input-0"))],
        format,
        as_of,
        ..IngestRequest::default()
    };
    // The day of the links, before the times of the pages.
    bank.undo(false, PLENTY).unwrap();
    let day = Some(1_795_046_400);
    bank.ingest(&request(Format::HeritrixLinks, day)).unwrap();
    let counts = bank
        .ingest(&request(Format::Heritrix, AS_OF))
        .unwrap()
        .counts;
    // The link to a page that moved becomes one to its target; pages that were there lose their links.
    let counts = (counts.links_added, counts.links_removed, counts.became_gone);
    assert_eq!(counts, (1, 3, 1));
    assert_clean(&bank);
}

#[test]
fn an_index_of_sitemaps_is_not_followed() {
    let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><sitemap><loc>http://a.example/1.xml</loc><lastmod>2026-11-19</lastmod></sitemap>\
        <sitemap><loc>http://a.example/2.xml</loc></sitemap></sitemapindex>";
    for format in [Format::Sitemap, AUTO] {
        let files = [index.as_bytes(), SITEMAP.as_bytes()];
        let (folder, bank, report) = bank_after(None, &files, format.clone(), PLENTY);
        assert_eq!(report.read.records, 4);
        assert_eq!(report.read.passed_over, [(SkipReason::Sitemap, 2)].into());
        let path = folder.path().join("input-0");
        let request = IngestRequest {
            inputs: vec![Input::File(path.clone()), Input::File(path)],
            format,
            ..IngestRequest::default()
        };
        let error = format!("{:?}", bank.ingest(&request).unwrap_err());
        assert!(error.contains("input-0\", sitemaps: 4"), "{error}");
    }
}
