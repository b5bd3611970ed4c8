//! Random histories of a bank, and the state that a bank has come to, as bytes.
//!
//! ```ignore
//! for_each_history(100, 1, |bank, more| {
//!     let before = exported(bank);
//!     ingest(bank, &more[0], PLENTY);
//!     undo(bank);
//!     assert_eq!(exported(bank), before);
//! });
//! ```

use proptest::prelude::*;
use proptest::sample::select;
use proptest::test_runner::TestRunner;
use seedbank::engine::export::ExportReport;
use seedbank::engine::{Bank, IngestRequest};
use seedbank::ingest::{Input, Naming};

use super::model::ingest;
use super::properties::repeatable;
use super::records::{Batch, batch};

/// Enough memory for all that these banks come to.
pub const PLENTY: usize = 64 << 20;

/// A time after all fetches in tests, so that banks of the same records without times are equal.
pub const AS_OF: Option<u64> = Some(1_795_132_800);

/// How a bank tells pages and sites apart, and what came into it, batch by batch: snapshots and deltas,
/// aliases that come and go, pages that go and come back, attributes of pages and of sites.
pub type History = (Naming, Vec<Batch>);

/// A random history of up to so many batches, perhaps none.
pub fn history(most: usize) -> impl Strategy<Value = History> {
    let batches = proptest::collection::vec(batch(14), 0..=most);
    (select(&Naming::ALL[..]), batches)
}

/// A bank with the batches of a history; it is deleted when the folder is dropped.
pub fn lived(history: &History) -> (tempfile::TempDir, Bank) {
    let (naming, batches) = history;
    let folder = super::scratch();
    let bank = Bank::create(folder.path().join("bank"), *naming).unwrap();
    for batch in batches {
        ingest(&bank, batch, PLENTY);
    }
    (folder, bank)
}

/// Calls `each` for each of `cases` random histories, or [`super::cases`] as many, with the bank that it led to and `more`
/// further batches.
pub fn for_each_history(cases: u32, more: usize, each: impl Fn(&Bank, &[Batch])) {
    let mut runner = TestRunner::new(ProptestConfig {
        max_shrink_iters: 200,
        ..repeatable(cases)
    });
    let more = proptest::collection::vec(batch(14), more);
    let outcome = runner.run(&(history(5), more), |(history, more)| {
        let (_folder, bank) = lived(&history);
        each(&bank, &more);
        Ok(())
    });
    if let Err(failure) = outcome {
        panic!("{failure}");
    }
}

/// Everything of a bank's state that an export has: the records of pages, and then those of sites.
pub fn exported(bank: &Bank) -> Vec<u8> {
    let (records, sites, _) = parts(bank);
    [records, sites].concat()
}

/// What an export of a bank has, but for what fetches brought.
pub fn exported_web(bank: &Bank) -> String {
    without_sums(std::str::from_utf8(&exported(bank)).unwrap(), |_| true)
}

/// Records without what fetches of some pages brought, which depends on how a crawl is cut into batches and on their order.
pub fn without_sums(records: &str, is_left_out: impl Fn(&str) -> bool) -> String {
    let lines = records.lines().map(|line| {
        let mut record: serde_json::Map<String, serde_json::Value> =
            serde_json::from_str(line).unwrap();
        let url = record.get("url").and_then(|url| url.as_str());
        if url.is_some_and(&is_left_out) {
            record.retain(|name, _| name != "observed_days" && name != "new_links");
        }
        serde_json::to_string(&record).unwrap() + "\n"
    });
    lines.collect()
}

/// The records of pages and of sites that an export of a bank has, and what it says of them.
pub fn parts(bank: &Bank) -> (Vec<u8>, Vec<u8>, ExportReport) {
    let (mut records, mut sites) = (Vec::new(), Vec::new());
    let report = bank.export(&mut records, Some(&mut sites));
    (records, sites, report.unwrap())
}

/// A bank made of the export of another one.
pub fn made_of(bank: &Bank) -> (tempfile::TempDir, Bank) {
    let (records, sites, report) = parts(bank);
    let folder = super::scratch();
    let new = Bank::create(folder.path().join("bank"), report.naming()).unwrap();
    let file = |name: &str, bytes: &[u8]| {
        let file = folder.path().join(name);
        std::fs::write(&file, bytes).unwrap();
        Input::File(file)
    };
    let request = IngestRequest {
        inputs: vec![file("export.jsonl", &records)],
        sites: Some(file("sites.jsonl", &sites)),
        // One without records is refused.
        snapshot: !records.is_empty(),
        // Some histories have times that are still to come.
        as_of: Some(4_000_000_000),
        max_rejects: 0.0,
        ..IngestRequest::default()
    };
    let ingested = new.ingest(&request).unwrap();
    assert_eq!(ingested.read.rejected(), 0);
    assert_eq!(ingested.read.records, report.records + report.sites);
    assert!(ingested.read.dropped_outlinks.is_empty() && ingested.read.bad_fields.is_empty());
    assert_eq!(ingested.counts.superseded, report.earlier);
    (folder, new)
}
