//! Records pushed by a caller equal the same records in a file: the same batch, the same rejected
//! records. A batch that is dropped, or that fails, changes nothing.

use std::fs;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::support::histories::exported;
use crate::support::scratch;
use seedbank::engine::error::{ErrorKind, RequestError, StoreError};
use seedbank::engine::{Bank, EngineError, IngestReport, IngestRequest};
use seedbank::ingest::{Input, Naming, Record};
use seedbank::watch::Watch;
use serde_json::Value;

struct Case {
    folder: tempfile::TempDir,
}

impl Case {
    fn new() -> Self {
        let folder = scratch();
        Bank::create(folder.path().join("files"), Naming::default()).unwrap();
        Bank::create(folder.path().join("pushed"), Naming::default()).unwrap();
        Self { folder }
    }

    fn path(&self, name: &str) -> std::path::PathBuf {
        self.folder.path().join(name)
    }

    fn bank(&self, name: &str) -> Bank {
        Bank::at(self.path(name))
    }

    fn request(&self, rejects: &str) -> IngestRequest {
        IngestRequest {
            max_rejects: 50.0,
            rejects: Some(self.path(rejects)),
            as_of: Some(0),
            ..IngestRequest::default()
        }
    }

    fn ingest_file(&self, records: &[Record], bank: &str) -> IngestReport {
        let lines: Vec<String> = records.iter().map(|r| r.to_json() + "\n").collect();
        let file = self.path("day.jsonl");
        fs::write(&file, lines.concat()).unwrap();
        let request = IngestRequest {
            inputs: vec![Input::File(file)],
            ..self.request("from-file")
        };
        self.bank(bank).ingest(&request).unwrap()
    }

    fn one_by_one(&self, records: &[Record], bank: &str) -> IngestReport {
        let bank = self.bank(bank);
        let mut batch = bank.push(self.request("from-push")).unwrap();
        for record in records {
            batch.push(record).unwrap();
        }
        batch.finish().unwrap()
    }

    /// The rejected records of a list, without the source and the place in it, and the places.
    fn rejects(&self, list: &str, place: &str) -> (Vec<Value>, Vec<u64>) {
        let text = fs::read_to_string(self.path(list)).unwrap();
        let lines = text.lines().map(|line| {
            let mut reject: Value = serde_json::from_str(line).unwrap();
            let reject = reject.as_object_mut().unwrap();
            reject.remove("file").unwrap();
            let at = reject.remove(place).unwrap().as_u64().unwrap();
            (Value::Object(reject.clone()), at)
        });
        lines.unzip()
    }
}

/// Records of every kind, good and bad, more than fit into the pieces that wait.
fn records() -> Vec<Record> {
    let page = |n: usize| format!("http://s{}.example/{n}", n % 97);
    let of = |n: usize| {
        let record = Record::new(page(n));
        match n % 13 {
            0 => record
                .outlinks([page(n + 1), page(7 * n), page(n)])
                .digest("d"),
            1 => record.outlinks(vec![
                "mailto:x@a.example".to_owned(),
                page(n + 2),
                page(n + 2),
            ]),
            2 => record.fetched("2026-11-19 04:00:00"),
            3 => record.fetched("20261119040000").outlinks([""; 0]),
            4 => record.spam(true).clicks(n as u64),
            5 => record.uncrawled_outlinks(3),
            6 => record.count_uncrawled_outlinks(),
            7 => record.gone(),
            8 if n.is_multiple_of(5) => record.clicks(u64::MAX),
            9 if n.is_multiple_of(5) => Record::new("a\nb").digest("x".repeat(n % 3_000)),
            10 if n.is_multiple_of(7) => record.fetched("yesterday"),
            11 => Record::new(page(n / 2))
                .digest(n.to_string())
                .fetched("1795060800"),
            _ => record.digest("x".repeat(n % 500)),
        }
    };
    (0..12_000).map(of).collect()
}

#[test]
fn pushed_records_are_the_batch_that_a_file_of_them_is() {
    let case = Case::new();
    let records = records();
    let from_file = case.ingest_file(&records, "files");
    let pushed = case.one_by_one(&records, "pushed");
    assert_eq!(from_file.read, pushed.read);
    assert_eq!(from_file.counts, pushed.counts);
    assert_eq!((from_file.batch, pushed.batch), (Some(1), Some(1)));
    assert!(pushed.read.rejected() > 50 && pushed.read.zones_assumed > 50);
    assert_eq!(pushed.name, "records");
    // The same records are rejected, in the same places.
    let from_file_rejects = case.rejects("from-file", "line");
    assert_eq!(from_file_rejects, case.rejects("from-push", "number"));
    // Either way round, and in one go, it is the same batch: they have one digest.
    assert_eq!(case.one_by_one(&records, "files").same_as, Some(1));
    assert_eq!(case.ingest_file(&records, "pushed").same_as, Some(1));
    let request = case.request("from-iterator");
    let all = case
        .bank("files")
        .ingest_records(&request, records.clone())
        .unwrap();
    assert_eq!((all.same_as, &all.read), (Some(1), &from_file.read));
    assert_eq!(from_file_rejects, case.rejects("from-iterator", "number"));
    let [files, pushed] = ["files", "pushed"].map(|name| case.bank(name));
    assert_eq!(exported(&files), exported(&pushed));
}

#[test]
fn a_batch_that_is_dropped_or_fails_changes_nothing() {
    let case = Case::new();
    let bank = case.bank("pushed");
    let before = bank.status().unwrap().counters;
    let request = IngestRequest::default();
    for count in [0, 1, 12_000] {
        let mut batch = bank.push(request.clone()).unwrap();
        for record in &records()[..count] {
            batch.push(record).unwrap();
        }
        // Meanwhile it is the one writer.
        let error = bank.push(request.clone()).err().unwrap();
        assert!(
            matches!(error, EngineError::Store(StoreError::Busy(_))),
            "{error}"
        );
        drop(batch);
        assert_eq!(bank.status().unwrap().counters, before);
    }
    // Too many bad records: at the end, or already on the way.
    let mut batch = bank.push(request.clone()).unwrap();
    batch.push(&Record::new("no url")).unwrap();
    let error = batch.finish().err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Rejected);
    let words = "1 of 1 record is bad, expected at most 1 %: relative_url 1; \
        the first is record 1 of records: the URL is relative";
    assert!(error.to_string().ends_with(words), "{error}");
    let mut batch = bank.push(request.clone()).unwrap();
    let bad = Record::new("no url");
    let error = (0..10_000_000)
        .find_map(|_| batch.push(&bad).err())
        .unwrap();
    assert!(
        matches!(error, EngineError::MostlyRejected { .. }),
        "{error}"
    );
    for ended in [batch.push(&bad), batch.finish().map(|_| ())] {
        let error = ended.unwrap_err();
        let again = matches!(error, EngineError::Request(RequestError::BatchEnded));
        assert!(again, "{error}");
    }
    // No bank, no batch.
    let nowhere = case.bank("nowhere").push(request.clone());
    let error = nowhere.err().unwrap();
    assert_eq!(error.kind(), ErrorKind::Unavailable);
    assert_eq!(bank.status().unwrap().counters, before);
    let mut batch = bank.push(request).unwrap();
    batch.push(&records()[0]).unwrap();
    assert_eq!(
        batch.finish().unwrap().batch,
        Some(1),
        "the bank can be written"
    );
}

/// A watch that somebody else can stop.
struct Stoppable(AtomicBool);

impl Watch for Stoppable {
    fn stopped(&self) -> bool {
        self.0.load(Ordering::Relaxed)
    }
}

#[test]
fn a_batch_is_stopped_by_its_watch() {
    let case = Case::new();
    let bank = case.bank("pushed");
    let watch = Arc::new(Stoppable(AtomicBool::new(false)));
    let mut batch = bank
        .watched(Arc::clone(&watch))
        .push(IngestRequest::default())
        .unwrap();
    for record in records() {
        batch.push(&record).unwrap();
    }
    watch.0.store(true, Ordering::Relaxed);
    let error = batch.finish().unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Interrupted);
    assert_eq!(bank.status().unwrap().counters.batches, 0);
}

/// The batch's own threads wait for records, and not those of the caller's pool, of which there may
/// be only one.
#[test]
fn a_caller_may_push_from_a_pool_of_one_thread() {
    let case = Case::new();
    let pool = rayon::ThreadPoolBuilder::new()
        .num_threads(1)
        .build()
        .unwrap();
    let report = pool.install(|| case.one_by_one(&records(), "pushed"));
    assert_eq!(report.read.records, 12_000);
}
