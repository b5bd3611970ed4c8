//! A bank whose batches are ingested as of given times.

use crate::support;
use crate::support::model::assert_clean;
use seedbank::engine::{Bank, IngestReport, IngestRequest};
use seedbank::ingest::{Naming, Record};
use tempfile::TempDir;

pub const A: &str = "http://a.example/";
pub const B: &str = "http://b.example/";
pub const C: &str = "http://c.example/";

/// The time of most batches.
pub const NOON: u64 = 1_795_086_000;

pub struct DatedBank {
    _folder: TempDir,
    pub bank: Bank,
    /// The largest share of pages and links that a batch may lose, in percent.
    max_loss: f64,
}

impl DatedBank {
    pub fn new() -> Self {
        let folder = support::scratch();
        let bank = Bank::create(folder.path().join("bank"), Naming::default()).unwrap();
        Self {
            _folder: folder,
            bank,
            max_loss: IngestRequest::default().max_loss,
        }
    }

    /// Creates a bank for batches that may lose every page.
    pub fn accepting_any_loss() -> Self {
        Self {
            max_loss: 100.0,
            ..Self::new()
        }
    }

    /// Ingests a batch whose undated records count as fetched at this time.
    pub fn at(&self, as_of: u64, records: &[Record]) -> IngestReport {
        self.ingest(as_of, false, records)
    }

    pub fn ingest(&self, as_of: u64, snapshot: bool, records: &[Record]) -> IngestReport {
        let request = IngestRequest {
            as_of: Some(as_of),
            snapshot,
            max_loss: self.max_loss,
            ..IngestRequest::default()
        };
        let report = self.bank.ingest_records(&request, records.iter().cloned());
        assert_clean(&self.bank);
        report.unwrap()
    }
}

/// Returns the record of a page with a link, fetched at a time.
pub fn fetched(url: &str, to: &str, time: u64) -> Record {
    Record::new(url).outlinks([to]).fetched(time.to_string())
}
