//! How the work is cut shows nowhere, and it ends where it is asked to.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;

use super::*;
use crate::engine::IngestRequest;
use crate::engine::scratch::scratch;
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest::{Input, SiteMode, UrlRules};

/// Pages of few sites with none to twelve links, within the site and beyond, some of them gone; ids are
/// not in the order of URLs, since later days name pages between those of earlier ones.
fn bank() -> (tempfile::TempDir, Bank) {
    let url = |n: u64| {
        format!(
            "http://{}.example/{n}",
            ["a", "b", "c"][(n % 7 % 3) as usize]
        )
    };
    let folder = scratch();
    let naming = SiteMode::Host.with(UrlRules::Whatwg);
    let bank = Bank::create(folder.path().join("bank"), naming).unwrap();
    for day in 0..4_u64 {
        let mut text = String::new();
        for n in (day..90).step_by(4) {
            let links: Vec<String> = (0..n * 5 % 13)
                .map(|at| url((n * n + at * (n % 3 + 7)) % 120))
                .collect();
            match n % 11 {
                3 => writeln!(text, r#"{{"url":"{}","gone":true}}"#, url(n)),
                _ => writeln!(text, r#"{{"url":"{}","outlinks":{links:?}}}"#, url(n)),
            }
            .unwrap();
        }
        let file = folder.path().join("day.jsonl");
        fs::write(&file, text).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(file)],
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
    }
    (folder, bank)
}

fn written(bank: &Bank, limits: Limits) -> (BTreeMap<&'static str, Vec<u8>>, GraphReport) {
    let request = GraphRequest {
        of: GraphOf::Pages,
        format: GraphFormat::Tsv,
    };
    let folder = scratch();
    let report = graph(bank, request, limits, folder.path(), &Unwatched).unwrap();
    let read = |name: &&'static str| (*name, fs::read(folder.path().join(name)).unwrap());
    (request.files().iter().map(read).collect(), report)
}

#[test]
fn the_cut_shows_nowhere() {
    let (_folder, bank) = bank();
    let (whole, report) = written(&bank, DEFAULT_LIMITS);
    assert!(report.links > 300 && report.links_to_gone > 3, "{report:?}");
    for pages in [1, 2, 7, 40] {
        for links in [1, 3, 20, 150] {
            let limits = Limits { pages, links };
            assert_eq!(written(&bank, limits), (whole.clone(), report.clone()));
        }
    }
}

/// Stops after so many questions.
struct Patience(std::sync::atomic::AtomicU64);

impl Watch for Patience {
    fn stopped(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        let less = |left: u64| left.checked_sub(1);
        self.0.fetch_update(Relaxed, Relaxed, less).is_err()
    }
}

#[test]
fn it_stops_when_asked_and_writes_over_nothing() {
    let (_folder, bank) = bank();
    for of in [GraphOf::Pages, GraphOf::Sites] {
        let request = GraphRequest {
            of,
            format: GraphFormat::Tsv,
        };
        for questions in 0..6 {
            let folder = scratch();
            let watched = bank.watched(Patience(questions.into()));
            let ended = watched.graph(request, folder.path());
            assert!(
                matches!(ended, Err(EngineError::Interrupted(_))),
                "{ended:?}"
            );
        }
        let folder = scratch();
        bank.graph(request, folder.path()).unwrap();
        let again = bank.graph(request, folder.path());
        assert!(matches!(again, Err(EngineError::Write { .. })), "{again:?}");
    }
}
