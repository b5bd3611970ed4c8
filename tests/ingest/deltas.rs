//! Deltas that say little, or repeat what an earlier one said: nothing may be lost.

use std::fs;
use std::path::PathBuf;

use seedbank::engine::{Bank, EngineError, Format, IngestReport, IngestRequest};
use seedbank::ingest::{Input, SiteMode, UrlRules};
use seedbank::watch::Unwatched;

struct Case {
    folder: tempfile::TempDir,
    bank: Bank,
}

impl Case {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let bank = Bank::create(
            &folder.path().join("bank"),
            SiteMode::Host.with(UrlRules::Whatwg),
        )
        .unwrap();
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
        self.bank.ingest(&request, &Unwatched).unwrap()
    }

    fn links(&self, text: &str, pages: Option<&str>, snapshot: bool) {
        let pages = pages.map(|text| self.file("pages", text));
        let request = IngestRequest {
            format: Format::Links { pages },
            snapshot,
            ..IngestRequest::default()
        };
        self.ingest(text, request);
    }

    fn outlinks(&self, url: &str) -> Vec<String> {
        let mut found = Vec::new();
        let each = |page: seedbank::engine::PageView| {
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
