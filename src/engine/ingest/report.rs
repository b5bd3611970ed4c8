//! Report of an ingest.

use std::path::PathBuf;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::aliases::AliasCounts;
use super::blocklist::BlockedCounts;
use super::fetch_log::LearnedCounts;
use super::site_records::SiteCounts;
use seedbank_formats::ingest::ReadSummary;
use seedbank_store::records::{BatchCounts, BatchId, BatchKind};

/// Report of an ingest.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize, JsonSchema)]
#[non_exhaustive]
pub struct IngestReport {
    /// The batch's number; `None` if the bank did not change.
    #[schemars(range(min = 1))]
    pub batch: Option<BatchId>,
    /// Its name.
    pub name: String,
    /// Whether the batch is a snapshot or a delta.
    pub kind: BatchKind,
    /// The earlier batch with the same records, because of which nothing changed.
    #[schemars(range(min = 1))]
    pub same_as: Option<BatchId>,
    /// An earlier batch with the same records and no fetch times. Other batches were ingested
    /// since, so this one was applied.
    #[schemars(range(min = 1))]
    pub repeats: Option<BatchId>,
    /// Whether the batch is a delta without valid records. The bank is then unchanged.
    pub is_empty: bool,
    /// Whether this was a dry run.
    pub dry_run: bool,
    /// Counts from reading the input.
    pub read: ReadSummary,
    /// Changes by the batch, or by a dry run if it were applied.
    pub counts: BatchCounts,
    /// Changes of aliases; links to changed aliases count as changed.
    pub aliases: AliasCounts,
    /// Changes of sites; pages that inherit from a changed site count as changed.
    pub sites: SiteCounts,
    /// Number of stale records: skipped, because their pages were fetched later.
    pub stale: u64,
    /// Number of pages whose fetch failed.
    pub failed: u64,
    /// What is learned from the fetches of pages that the bank had before.
    #[serde(default)]
    pub learned: LearnedCounts,
    /// Number of fetches that crawlers attribute to seeds.
    #[serde(default)]
    pub attributed: u64,
    /// Input that was skipped because of the blocklist.
    #[serde(default, skip_serializing_if = "BlockedCounts::is_nothing")]
    pub blocked: BlockedCounts,
    /// The file that lists bad and stale records; `None` if there are none.
    #[serde(serialize_with = "readable")]
    pub rejects_file: Option<PathBuf>,
    /// Number of bad records listed there: at most the first 100,000. All are counted.
    #[schemars(range(max = seedbank_formats::ingest::MAX_LISTED_REJECTS))]
    pub rejects_listed: u64,
    /// Elapsed time, in seconds.
    #[schemars(range(min = 0))]
    pub seconds: f64,
}

/// Serializes a path as text, even if it is not UTF-8: the batch is committed, so the report must
/// not fail.
#[expect(clippy::ref_option, reason = "serde passes a reference to the field")]
pub(in crate::engine) fn readable<S: serde::Serializer>(
    path: &Option<PathBuf>,
    to: S,
) -> Result<S::Ok, S::Error> {
    match path {
        Some(path) => to.serialize_some(&path.to_string_lossy()),
        None => to.serialize_none(),
    }
}

impl IngestReport {
    /// A report of a batch that was read and not applied yet.
    pub(super) fn begun(name: String, kind: BatchKind, read: ReadSummary) -> Self {
        Self {
            batch: None,
            name,
            kind,
            same_as: None,
            repeats: None,
            is_empty: false,
            dry_run: false,
            counts: BatchCounts::default(),
            aliases: AliasCounts::default(),
            sites: SiteCounts::default(),
            stale: 0,
            failed: 0,
            learned: LearnedCounts::default(),
            attributed: 0,
            blocked: BlockedCounts::default(),
            rejects_file: None,
            rejects_listed: 0,
            read,
            seconds: 0.0,
        }
    }
}
