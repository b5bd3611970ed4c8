//! Deltas that contain little, or repeat what an earlier one contained: nothing is lost.

use std::fs;
use std::path::PathBuf;

use crate::support::histories::AS_OF;
use crate::support::scratch;
use seedbank::engine::ingest::Format;
use seedbank::engine::{Bank, EngineError, IngestReport, IngestRequest};
use seedbank::ingest::{Input, SiteMode, UrlRules};

struct Case {
    folder: tempfile::TempDir,
    bank: Bank,
}

impl Case {
    fn new() -> Self {
        Self::with(UrlRules::Whatwg)
    }

    fn with(rules: UrlRules) -> Self {
        let folder = scratch();
        let bank = Bank::create(folder.path().join("bank"), SiteMode::Host.with(rules)).unwrap();
        Self { folder, bank }
    }

    fn file(&self, name: &str, text: &str) -> PathBuf {
        let path = self.folder.path().join(name);
        fs::write(&path, text).unwrap();
        path
    }

    fn ingest(&self, text: &str, request: IngestRequest) -> IngestReport {
        let request = IngestRequest {
            inputs: vec![Input::named(self.file("input", text))],
            memory: 1 << 20,
            ..request
        };
        self.bank.ingest(&request).unwrap()
    }

    fn links(&self, text: &str, pages: Option<&str>, snapshot: bool) {
        let pages = pages.map(|text| Input::named(self.file("pages", text)));
        let request = IngestRequest {
            format: Format::Links { pages },
            snapshot,
            as_of: AS_OF,
            ..IngestRequest::default()
        };
        self.ingest(text, request);
    }

    fn outlinks(&self, url: &str) -> Vec<String> {
        let mut found = Vec::new();
        let each = |page: seedbank::engine::query::PageView| {
            if page.url == url {
                found = page.outlinks;
            }
            Ok::<_, EngineError>(())
        };
        self.bank.pages(each).unwrap();
        found
    }
}

const A: &str = "http://a.example/";
const B: &str = "http://b.example/";
const C: &str = "http://c.example/";

/// A page that changes and changes back has the same contents twice, at different times.
#[test]
fn the_same_content_fetched_later_is_another_batch() {
    let case = Case::new();
    let day = |day: u32, target: &str| {
        let text = format!(
            r#"{{"url":"{A}","outlinks":["{target}"],"fetched":"2026-11-{day}T04:00:00Z"}}"#
        );
        case.ingest(&text, IngestRequest::default())
    };
    day(10, B);
    day(11, C);
    assert_eq!(day(12, B).same_as, None);
    assert_eq!(case.outlinks(A), [B]);
    assert_eq!(day(12, B).same_as, Some(3));
}

/// A delta of links speaks only of the links of its sources.
#[test]
fn a_page_that_a_delta_only_points_to_keeps_its_links() {
    let case = Case::new();
    case.links(&format!("{A}\t{B}\n{B}\t{C}\n"), None, false);
    case.links(
        &format!("{C}\t{A}\n"),
        Some(&format!("{B}\t0\t7\t\n")),
        false,
    );
    assert_eq!(case.outlinks(A), [B]);
    assert_eq!(case.outlinks(B), [C]);
    assert_eq!(case.outlinks(C), [A]);

    case.links(&format!("{A}\tmailto:x@a.example\n"), None, false);
    assert!(case.outlinks(A).is_empty(), "A was a source, of no link");

    case.links(&format!("{C}\t{A}\n{C}\t{B}\n"), None, true);
    assert!(case.outlinks(B).is_empty(), "a snapshot is the whole state");
}

/// Pages whose records come twice, with the URL spelled in two ways, in both orders.
#[test]
fn two_spellings_of_a_url_come_to_the_same_in_any_order() {
    let page = |path: &str, fields: &str| {
        format!("{{\"url\": \"http://people.example/{path}/\", {fields}}}\n")
    };
    let cases = [
        // Neither has a time, and both are of the same size.
        (r#""digest": "one""#, r#""digest": "two""#, None),
        (r#""clicks": 1"#, r#""clicks": 2"#, None),
        // The larger one counts, whole, ...
        (
            r#""digest": "one", "clicks": 3"#,
            r#""digest": "two""#,
            Some(3),
        ),
        (
            r#""outlinks": ["http://b.example/", "http://c.example/"], "clicks": 1"#,
            r#""outlinks": ["http://b.example/"], "clicks": 2"#,
            Some(1),
        ),
        // ... unless the other one is later.
        (
            r#""fetched": "2026-11-19T04:00:00Z", "digest": "one", "clicks": 3"#,
            r#""fetched": "2026-11-19T04:00:01Z", "clicks": 4"#,
            Some(4),
        ),
        (
            r#""digest": "one", "clicks": 3, "spam": true, "quality": 0.5"#,
            r#""fetched": "1970-01-01T00:00:00Z", "clicks": 4"#,
            Some(4),
        ),
    ];
    for (one, other, clicks) in cases {
        let lines = [page("~pe", one), page("%7epe", other)];
        let mut exports = Vec::new();
        for memory in [512 << 20, 0] {
            for text in [lines.concat(), lines[1].clone() + &lines[0]] {
                let case = Case::with(UrlRules::Rfc3986);
                let request = IngestRequest {
                    inputs: vec![Input::named(case.file("input", &text))],
                    memory,
                    as_of: AS_OF,
                    ..IngestRequest::default()
                };
                let report = case.bank.ingest(&request).unwrap();
                assert_eq!(report.counts.superseded, 1);
                let mut records = Vec::new();
                case.bank.export(&mut records, None).unwrap();
                exports.push(String::from_utf8(records).unwrap());
            }
        }
        exports.dedup();
        let [export] = &exports[..] else {
            panic!("{exports:#?}");
        };
        if let Some(clicks) = clicks {
            let clicks = format!("\"clicks\":{clicks}");
            assert!(export.contains(&clicks), "{export}");
        }
    }
}

/// Lines of attributes of one page in a list of pages, in both orders.
#[test]
fn attributes_of_a_page_given_twice_come_to_the_same_in_any_order() {
    let lines = [
        (format!("{A}\t0\t7\t\n"), format!("{A}\t1\t7\t\n")),
        (format!("{A}\t1\t7\t3\n"), format!("{A}\t0\t9\t\n")),
        (format!("{A}\t\t\t\n"), format!("{A}\t0\t9\t\n")),
    ];
    for (one, other) in lines {
        let mut exports = Vec::new();
        for pages in [one.clone() + &other, other + &one] {
            let case = Case::new();
            case.links(&format!("{A}\t{B}\n"), Some(&pages), false);
            let mut records = Vec::new();
            case.bank.export(&mut records, None).unwrap();
            exports.push(String::from_utf8(records).unwrap());
        }
        assert_eq!(exports[0], exports[1]);
        let clicks = ["\"clicks\":7", "\"clicks\":9"];
        assert!(clicks.iter().any(|clicks| exports[0].contains(clicks)));
    }
}
