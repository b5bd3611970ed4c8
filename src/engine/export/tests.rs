//! How the work is cut shows nowhere: sites of more pages and pages of more links than are held at a
//! time.

use std::fmt::Write as _;

use super::*;
use crate::engine::IngestRequest;
use crate::engine::scratch::scratch;
use seedbank_algorithms::watch::Unwatched;
use seedbank_formats::ingest::{Input, SiteMode, UrlRules};

/// Pages of few sites with none to twelve links, within the site and beyond, and some that are gone
/// or aliases. Ids are not in URL order, since later days name pages between those of earlier ones.
fn days() -> Vec<String> {
    let url = |n: u64| {
        format!(
            "http://{}.example/{}",
            ["a", "b", "c"][(n % 7 % 3) as usize],
            n
        )
    };
    let day = |day: u64| {
        let mut text = String::new();
        for n in (day..90).step_by(4) {
            let links: Vec<String> = (0..n * 5 % 13)
                .map(|at| url((n * n + at * (n % 3 + 7)) % 120))
                .collect();
            match n % 11 {
                3 => writeln!(text, r#"{{"url":"{}","gone":true}}"#, url(n)),
                5 => writeln!(
                    text,
                    r#"{{"url":"{}","redirect":"{}"}}"#,
                    url(n),
                    url(n * 3 % 90)
                ),
                _ => writeln!(text, r#"{{"url":"{}","outlinks":{links:?}}}"#, url(n)),
            }
            .unwrap();
        }
        text
    };
    (0..4).map(day).collect()
}

fn bank() -> (tempfile::TempDir, Bank) {
    let folder = scratch();
    let naming = SiteMode::Host.with(UrlRules::Whatwg);
    let bank = Bank::create(folder.path().join("bank"), naming).unwrap();
    for day in days() {
        let file = folder.path().join("day.jsonl");
        std::fs::write(&file, day).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(file)],
            ..IngestRequest::default()
        };
        bank.ingest(&request).unwrap();
    }
    (folder, bank)
}

#[test]
fn the_cut_shows_nowhere() {
    let (_folder, bank) = bank();
    let exported = |pages, links| {
        let mut records = Vec::new();
        let limits = Limits {
            pages,
            links,
            bytes: pages * links,
        };
        let report = export(&bank, &mut records, None, limits, &Unwatched).unwrap();
        (String::from_utf8(records).unwrap(), report)
    };
    let (whole, report) = exported(4096, 1 << 20);
    assert_eq!(report.records, whole.lines().count() as u64);
    assert!(
        report.aliases > 3 && report.gone > 3 && report.links > 300,
        "{report:?}"
    );
    for pages in [1, 2, 7, 40] {
        for links in [1, 3, 20, 150] {
            assert_eq!(exported(pages, links), (whole.clone(), report.clone()));
        }
    }
}

/// Stops after so many questions.
pub(super) struct Patience(std::sync::atomic::AtomicU64);

impl Patience {
    pub(super) fn new(questions: u64) -> Self {
        Self(questions.into())
    }
}

impl Watch for Patience {
    fn stopped(&self) -> bool {
        use std::sync::atomic::Ordering::Relaxed;
        let less = |left: u64| left.checked_sub(1);
        self.0.fetch_update(Relaxed, Relaxed, less).is_err()
    }
}

/// A writer that takes so many bytes.
pub(super) struct Room(pub(super) usize);

impl Write for Room {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let taken = bytes.len().min(self.0);
        self.0 -= taken;
        if taken == 0 && !bytes.is_empty() {
            return Err(io::ErrorKind::StorageFull.into());
        }
        Ok(taken)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

#[test]
fn it_stops_when_asked_and_where_there_is_no_room() {
    let (_folder, bank) = bank();
    let limits = Limits {
        pages: 7,
        links: 20,
        bytes: 99,
    };
    let mut whole = Vec::new();
    export(&bank, &mut whole, None, limits, &Unwatched).unwrap();
    for questions in 0..6 {
        let mut records = Vec::new();
        let watch = Patience::new(questions);
        let ended = export(&bank, &mut records, None, limits, &watch);
        assert!(
            matches!(ended, Err(EngineError::Interrupted(_))),
            "{ended:?}"
        );
        assert!(whole.starts_with(&records) && records.len() < whole.len());
    }
    for room in [0, 1, whole.len() - 1] {
        let ended = export(&bank, &mut Room(room), None, limits, &Unwatched);
        let Err(EngineError::Export { what, source }) = ended else {
            panic!("{ended:?}");
        };
        let full = io::ErrorKind::StorageFull;
        assert_eq!((what, source.kind()), (ExportPart::Records, full));
    }
    export(&bank, &mut Room(whole.len()), None, limits, &Unwatched).unwrap();
}
