//! Lists, indexes, logs and dumps of crawlers and archives, in a bank.
//!
//! Families of cases, and what they catch:
//! * each layout beside the same facts as JSON Lines, compressed, and taken without its name: a bank
//!   that differs; links or attributes of a page that go although the text says nothing of them;
//! * long texts, cut into many pieces: what a line says of those after it, lost at a cut;
//! * several files of a batch: links of a list beside records of their pages, an index of sitemaps.

use std::fmt::Write as _;
use std::fs;
use std::io::Write as _;

use crate::support;
use crate::support::crawler_texts::{
    BEFORE, CRAWL_LOG, NUTCH_JSON, NUTCH_LINKS, NUTCH_TEXT, SITEMAP, examples,
};
use crate::support::histories::{AS_OF, exported};
use crate::support::model::assert_clean;
use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, IngestReport, IngestRequest};
use seedbank::ingest::{Input, Naming, Nofollow, SkipReason};

const AUTO: Format = Format::Auto {
    nofollow: Nofollow::Keep,
};

/// A bank that had [`BEFORE`], and then these files as one batch.
fn bank_of(
    texts: &[&[u8]],
    format: Format,
    memory: usize,
) -> (tempfile::TempDir, Bank, IngestReport) {
    bank_as_of(AS_OF, texts, format, memory)
}

/// The same with a time for all pages of the files that have none.
fn bank_as_of(
    as_of: Option<u64>,
    texts: &[&[u8]],
    format: Format,
    memory: usize,
) -> (tempfile::TempDir, Bank, IngestReport) {
    let folder = support::scratch();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    let before = folder.path().join("before");
    fs::write(&before, BEFORE).unwrap();
    let request = IngestRequest {
        inputs: vec![Input::File(before)],
        as_of: Some(0),
        ..IngestRequest::default()
    };
    bank.ingest(&request).unwrap();
    let inputs = texts.iter().enumerate().map(|(number, text)| {
        let path = folder.path().join(format!("input-{number}"));
        fs::write(&path, text).unwrap();
        Input::File(path)
    });
    let request = IngestRequest {
        inputs: inputs.collect(),
        format,
        max_loss: 100.0,
        memory,
        as_of,
        ..IngestRequest::default()
    };
    let report = bank.ingest(&request).unwrap();
    assert_clean(&bank);
    (folder, bank, report)
}

const PLENTY: usize = 64 << 20;

/// What a bank has after these files.
fn of(texts: &[&str], format: Format) -> Vec<u8> {
    let texts: Vec<&[u8]> = texts.iter().map(|text| text.as_bytes()).collect();
    let (_folder, bank, _) = bank_of(&texts, format, PLENTY);
    exported(&bank)
}

#[test]
fn a_bank_is_that_of_the_same_facts_as_json_lines() {
    for example in examples() {
        let name = example.name;
        let theirs = of(&[&example.lines], Format::JsonLines);
        assert_ne!(theirs, of(&[], AUTO), "{name} says nothing");
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        gzip.write_all(example.text.as_bytes()).unwrap();
        let gzip = gzip.finish().unwrap();
        let text = example.text.as_bytes();
        let marked = [b"\xef\xbb\xbf", text].concat();
        for (bytes, format) in [
            (text, example.format.clone()),
            (&gzip, example.format.clone()),
            (&marked, example.format.clone()),
            (text, AUTO),
            (&gzip, AUTO),
        ] {
            if format == AUTO && example.format == Format::HeritrixLinks {
                continue;
            }
            let (_folder, bank, report) = bank_of(&[bytes], format.clone(), PLENTY);
            let ours: Vec<u8> = exported(&bank);
            let shown = String::from_utf8_lossy(&ours);
            assert_eq!(ours, theirs, "{name} as {format:?}: {shown}");
            assert_eq!(report.read.rejected(), 0, "{name}");
        }
    }
}

/// How many lines are passed over, by reason.
type Passed = &'static [(SkipReason, u64)];

/// The texts as they are counted: what is passed over, and why.
#[test]
fn what_says_nothing_of_a_page_is_counted() {
    let counted: [(&str, u64, Passed); 9] = [
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
    let examples = examples();
    for (name, records, passed) in counted {
        let example = examples
            .iter()
            .find(|example| example.name == name)
            .unwrap();
        let text = example.text.as_bytes();
        let (_folder, _, report) = bank_of(&[text], example.format.clone(), PLENTY);
        assert_eq!(report.read.records, records, "{name}");
        let passed: Vec<_> = passed.to_vec();
        let counted = report.read.passed_over.clone();
        assert_eq!(counted, passed.into_iter().collect(), "{name}");
    }
}

/// Texts of several megabytes, whose lines depend on those before them.
#[test]
fn long_texts_are_cut_where_nothing_is_lost() {
    let many = 0..12_000;
    let mut links = String::new();
    let mut pages = String::new();
    let mut sitemap = "<urlset>".to_owned();
    let mut array = "[".to_owned();
    let (mut of_links, mut of_pages, mut known) = (String::new(), String::new(), String::new());
    links.push_str("http://hub.example/\tInlinks:\n");
    for n in many {
        let url = format!("http://p{}.example/{n}", n % 7);
        let comma = if n == 0 { "" } else { "," };
        let line = format!("{{\"url\": \"{url}\"}}\n");
        writeln!(links, " fromUrl: {url} anchor: {n}").unwrap();
        writeln!(
            of_links,
            "{{\"url\": \"{url}\", \"outlinks\": [\"http://hub.example/\"]}}"
        )
        .unwrap();
        let page = NUTCH_TEXT.split("\n\n").next().unwrap();
        writeln!(pages, "{}\n", page.replace("http://a.example/", &url)).unwrap();
        writeln!(of_pages, "{{\"url\": \"{url}\", \"digest\": \"9f86d081884c7d659a2feaa0c55ad015\", \"fetched\": \"2026-11-19T04:00:00Z\"}}").unwrap();
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
        let ours = of(&[&text], AUTO);
        assert!(ours == of(&[&lines], Format::JsonLines), "{name}");
    }
}

#[test]
fn links_of_a_list_are_those_of_a_record_that_has_none() {
    let records = NUTCH_JSON.to_owned()
        + &NUTCH_JSON
            .replace("Dec 19", "Dec 18")
            .replace("9f86", "0000");
    let lines = [
        r#"{"url": "http://a.example/", "outlinks": ["http://b.example/", "http://x.example/"], "fetched": "2026-11-19T04:00:00Z", "digest": "9f86d081884c7d659a2feaa0c55ad015"}"#,
        r#"{"url": "http://c.example/x", "outlinks": ["http://b.example/"]}"#,
        r#"{"url": "http://x.example/", "outlinks": []}"#,
        r#"{"url": "http://gone.example/", "gone": true, "fetched": "2026-11-19T04:00:00Z"}"#,
        r#"{"url": "http://moved.example/", "redirect": "https://moved.example/", "fetched": "2026-11-19T04:00:00Z"}"#,
        r#"{"url": "http://new.example/"}"#,
        r#"{"url": "http://busy.example/", "status": 503, "fetched": "2026-11-19T04:00:00Z"}"#,
        r#"{"url": "http://private.example/", "status": "robots", "fetched": "2026-11-18T04:00:00Z"}"#,
        r#"{"url": "http://private.example/", "status": "robots", "fetched": "2026-11-19T04:00:00Z"}"#,
    ];
    let lines: String = lines.into_iter().flat_map(|line| [line, "\n"]).collect();
    let theirs = of(&[&lines], Format::JsonLines);
    // Of a page that is gone or leads elsewhere the list says nothing.
    let more =
        " fromUrl: http://gone.example/ anchor: x\n fromUrl: http://moved.example/ anchor: x\n";
    let inlinks = NUTCH_LINKS.trim_end().to_owned() + "\n" + more;
    for texts in [[&records, &inlinks], [&inlinks, &records]] {
        for memory in [PLENTY, 0] {
            let texts = texts.map(String::as_bytes);
            let (_folder, bank, _) = bank_of(&texts, Format::Nutch, memory);
            let ours: Vec<u8> = exported(&bank);
            assert_eq!(ours, theirs, "{memory}: {}", String::from_utf8_lossy(&ours));
        }
    }
}

#[test]
fn a_log_gives_links_and_then_pages() {
    // The day of the links, before the times of the pages.
    let day = Some(1_795_046_400);
    let log = [CRAWL_LOG.as_bytes()];
    let (folder, bank, _) = bank_as_of(day, &log, Format::HeritrixLinks, PLENTY);
    let request = IngestRequest {
        inputs: vec![Input::File(folder.path().join("input-0"))],
        format: Format::Heritrix,
        as_of: AS_OF,
        ..IngestRequest::default()
    };
    let report = bank.ingest(&request).unwrap();
    // The link to what moved is one to where it leads; links of pages that were there go with them.
    let counts = report.counts;
    assert_eq!(
        (counts.links_added, counts.links_removed, counts.became_gone),
        (1, 3, 1)
    );
    assert_clean(&bank);
}

#[test]
fn a_list_of_sitemaps_is_not_followed() {
    let index = "<sitemapindex xmlns=\"http://www.sitemaps.org/schemas/sitemap/0.9\"><sitemap><loc>http://a.example/1.xml</loc><lastmod>2026-11-19</lastmod></sitemap>\
        <sitemap><loc>http://a.example/2.xml</loc></sitemap></sitemapindex>";
    for format in [Format::Sitemap, AUTO] {
        for texts in [[index, SITEMAP], [SITEMAP, index]] {
            let texts = texts.map(str::as_bytes);
            let (_folder, _, report) = bank_of(&texts, format.clone(), PLENTY);
            assert_eq!(report.read.records, 4);
            assert_eq!(report.read.passed_over, [(SkipReason::Sitemap, 2)].into());
        }
        let folder = support::scratch();
        let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
        let path = folder.path().join("index.xml");
        fs::write(&path, index).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(path.clone()), Input::File(path)],
            format,
            as_of: AS_OF,
            ..IngestRequest::default()
        };
        let error = bank.ingest(&request).unwrap_err();
        let error = format!("{error:?}");
        assert!(error.contains("index.xml\", sitemaps: 4"), "{error}");
    }
}

/// Works files in one after another, each under its format, and looks at the bank after each.
fn one_after_another(files: &[(&str, Format)]) -> (Vec<u8>, Vec<IngestReport>) {
    let folder = support::scratch();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    let mut reports = Vec::new();
    for (text, format) in files {
        // A portion for every few records, and one for all.
        let path = folder.path().join("input");
        fs::write(&path, text).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(path)],
            format: format.clone(),
            max_loss: 100.0,
            as_of: AS_OF,
            ..IngestRequest::default()
        };
        reports.push(bank.ingest(&request).unwrap());
        assert_clean(&bank);
    }
    (exported(&bank), reports)
}

const ALIAS: &str = "{\"url\": \"http://x.example/\", \"redirect\": \"http://t.example/\"}\n\
    {\"url\": \"http://z.example/\", \"outlinks\": [\"http://x.example/\"]}\n";

#[test]
fn an_alias_that_a_list_names_is_a_page_again() {
    let links = Format::Links { pages: None };
    for list in [
        "http://a.example/\thttp://x.example/\n",
        "http://x.example/\thttp://a.example/\n",
        "http://x.example/\tmailto:x@x.example\n",
    ] {
        let (export, reports) =
            one_after_another(&[(ALIAS, Format::JsonLines), (list, links.clone())]);
        assert_eq!(reports[1].aliases.ended, 1, "{list}");
        let export = String::from_utf8(export).unwrap();
        assert!(!export.contains("redirect"), "{export}");
    }
}

#[test]
fn links_of_a_list_beside_the_record_of_an_alias_leave_it_one() {
    let datum = |day: u32, status: &str, meta: &str| {
        format!(
            "http://x.example/\tVersion: 7\nStatus: {status}\nFetch time: Thu Nov {day} 04:00:00 UTC 2026\n\
             Modified time: Thu Jan 01 00:00:00 UTC 1970\nRetries since fetch: 0\nRetry interval: 86400 seconds (1 days)\n\
             Score: 1.0\nSignature: null\nMetadata: \n{meta}\n"
        )
    };
    let linked = "http://l.example/\tInlinks:\n fromUrl: http://x.example/ anchor: l\n\n";
    let redirect = |day| {
        datum(
            day,
            "5 (db_redir_perm)",
            "\t_pst_=moved(12), lastModified=0: http://t.example/\n",
        )
    };
    let first = redirect(19);
    for (files, is_alias) in [
        (vec![redirect(20), linked.to_owned()], true),
        (vec![linked.to_owned(), redirect(20)], true),
        // A page of which only is said that it is in the database links, so that it was fetched.
        (
            vec![datum(20, "1 (db_unfetched)", ""), linked.to_owned()],
            false,
        ),
        (
            vec![linked.to_owned(), datum(20, "1 (db_unfetched)", "")],
            false,
        ),
        (vec![datum(20, "1 (db_unfetched)", "")], true),
    ] {
        for memory in [PLENTY, 1 << 12] {
            let folder = support::scratch();
            let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
            let ingest = |texts: &[String], format: Format| {
                let inputs = texts.iter().enumerate().map(|(number, text)| {
                    let path = folder.path().join(format!("input-{number}"));
                    fs::write(&path, text).unwrap();
                    Input::File(path)
                });
                let request = IngestRequest {
                    inputs: inputs.collect(),
                    format,
                    max_loss: 100.0,
                    memory,
                    as_of: AS_OF,
                    ..IngestRequest::default()
                };
                bank.ingest(&request).unwrap();
                assert_clean(&bank);
            };
            ingest(std::slice::from_ref(&first), Format::Nutch);
            ingest(
                &[ALIAS.lines().nth(1).unwrap().to_owned()],
                Format::JsonLines,
            );
            ingest(&files, Format::Nutch);
            let export = String::from_utf8(exported(&bank)).unwrap();
            assert_eq!(export.contains("redirect"), is_alias, "{files:?}\n{export}");
        }
    }
}

#[test]
fn links_of_a_list_that_change_back_are_no_repeat() {
    let datum = "http://p.example/\tVersion: 7\nStatus: 2 (db_fetched)\nFetch time: Thu Nov 19 04:00:00 UTC 2026\n\
        Modified time: Thu Jan 01 00:00:00 UTC 1970\nRetries since fetch: 0\nRetry interval: 86400 seconds (1 days)\n\
        Score: 1.0\nSignature: null\nMetadata: \n\n";
    let folder = support::scratch();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    for to in ["b", "c", "b"] {
        let texts = [
            datum.to_owned(),
            format!("http://{to}.example/\tInlinks:\n fromUrl: http://p.example/ anchor: x\n\n"),
        ];
        let inputs = texts.iter().enumerate().map(|(number, text)| {
            let path = folder.path().join(format!("input-{number}"));
            fs::write(&path, text).unwrap();
            Input::File(path)
        });
        let request = IngestRequest {
            inputs: inputs.collect(),
            format: Format::Nutch,
            max_loss: 100.0,
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
        let export = String::from_utf8(exported(&bank)).unwrap();
        assert!(
            export.contains(&format!("[\"http://{to}.example/\"]")),
            "{export}"
        );
    }
}

#[test]
fn a_page_that_is_born_inherits_what_its_site_has_after_the_batch() {
    let folder = support::scratch();
    let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
    for (records, site) in [
        (
            "{\"url\": \"http://b.example/\"}",
            "{\"site\": \"a.example\", \"spam\": true}",
        ),
        (
            "{\"url\": \"http://a.example/\", \"quality\": null}",
            "{\"site\": \"a.example\", \"spam\": null}",
        ),
    ] {
        let [input, sites] = ["input", "sites"].map(|name| folder.path().join(name));
        fs::write(&input, records).unwrap();
        fs::write(&sites, site).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(input)],
            sites: Some(Input::File(sites)),
            as_of: AS_OF,
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
        assert_clean(&bank);
    }
    let status = serde_json::to_value(bank.status().unwrap()).unwrap();
    assert_eq!(status["spam"], 0, "{status}");
}
